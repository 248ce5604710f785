package testsuite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
	"blueprintd/project"
)

// The limits of a test file.
const (
	MaxTests = 10_000
	MaxStubs = 10_000
)

// defaultClock is the default start of the clock of a test.
var defaultClock = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// File is a test file.
type File struct {
	Document   *document.Document
	Blueprint  string            // path, relative to the file
	Blueprints map[string]string // paths of other blueprints by id
	// Connections are those of all tests, by name or id. One of a test takes precedence.
	Connections map[string]recording.Connection
	Tests       []*Test
}

// Test is a test of a file.
type Test struct {
	File        *File
	Index       int // in the file
	Name        string
	Variables   map[string]any
	InputData   any
	Clock       time.Time
	ClockGiven  bool
	Cassette    string // path, relative to the file; "" for none
	Connections map[string]recording.Connection
	Stubs       []*Stub
	Expect      map[string]any // nil for a test without expectations
}

// Stub answers in place of a node or a host.
type Stub struct {
	Key     string
	Answers []Answer
}

// Answer is an answer of a stub.
type Answer struct {
	HasOutput bool
	Output    any
	Handle    string
	Status    int // of an HTTP response; 0 for none
	Headers   map[string]string
	Body      any
	Error     string
	Times     int // 0 for no limit
	DelayMs   int
}

// ofNode reports whether the answer replaces the work of a node.
func (a *Answer) ofNode() bool { return a.HasOutput || a.Handle != "" }

// wait waits for the delay of the answer in real time, and reports whether ctx did not end.
func (a *Answer) wait(ctx context.Context) bool {
	return a.DelayMs == 0 || clock.Sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond)
}

func (t *Test) path(parts ...any) []any { return append([]any{"tests", t.Index}, parts...) }

// Outcome is the result of the run of a test.
type Outcome struct {
	Recording *blueprint.Recording
	Nodes     []string // the addresses of the blueprint's nodes, as in NodesOf
}

// Placeholders returns the variables of a local run. Required secrets that are not given,
// and numbers and booleans given as "***", get a value of their type.
func Placeholders(declared []blueprint.Variable, given map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, given)
	for i := range declared {
		v := &declared[i]
		value, is := given[v.Name]
		missing := !is && v.Required && !v.HasDefault
		hidden := value == secret.Mask && (v.Type == blueprint.VariableNumber || v.Type == blueprint.VariableBoolean)
		if v.Secret && (missing || hidden) {
			out[v.Name] = recording.Placeholder(v.Type)
		}
	}
	return out
}

// maxWatched is the largest number of watched files in folders.
const maxWatched = 10_000

// IsTestFile reports whether a file is named like a test file.
func IsTestFile(name string) bool { return project.KindOf(filepath.Base(name)) == project.KindTest }

// testFiles lists files, and the test files that project.Scan finds in folders.
func testFiles(names []string) (files []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, blueprint.InputErrorf("check the path", "%s cannot be read: %s", name, fileio.Cause(err))
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		listing, err := project.Scan(name)
		if err != nil {
			return nil, blueprint.InputErrorf("name a smaller folder", "%s: %s", name, fileio.Cause(err))
		}
		for path := range listing {
			if project.KindOf(path) == project.KindTest {
				files = append(files, filepath.Join(name, filepath.FromSlash(path)))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// load reads test files and the files that they name. An invalid one is printed and
// becomes a result of its own.
func (t *Suite) load(files []string) (cases []*testCase, bad []*Result) {
	for _, name := range files {
		found, wrong := t.loadFile(name)
		if wrong != "" {
			fmt.Fprint(t.Errors, wrong)
			bad = append(bad, &Result{File: name, Broken: true, Fault: errors.New(strings.TrimRight(wrong, "\n"))})
			continue
		}
		cases = append(cases, found...)
	}
	return cases, bad
}

func (t *Suite) loadFile(name string) (cases []*testCase, wrong string) {
	data, err := fileio.Read(name, document.MaxSize)
	if err != nil {
		return nil, fmt.Sprintf("%s: cannot be read: %s\n", name, fileio.Cause(err))
	}
	f, issues, err := Read(name, data, t.Update)
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		return nil, syntax.Error() + "\n" + syntax.Excerpt()
	}
	if err != nil {
		return nil, fmt.Sprintf("%s: %s\n", name, err)
	}
	if len(issues) > 0 {
		return nil, project.Pointed(f.Document, issues)
	}
	beside := func(path string) string {
		path = filepath.Join(filepath.Dir(name), path)
		t.addWatched(path)
		return path
	}
	others, names := map[string]*blueprint.Definition{}, map[string]bool{}
	load := func(path string, at ...any) (*project.Blueprint, string) {
		b, wrong := loadTested(f, path, at...)
		if wrong != "" {
			return nil, wrong
		}
		to := project.Follow(path, beside(f.Blueprint), b)
		for path := range to.Files {
			t.addWatched(filepath.FromSlash(path))
		}
		below, wrong := to.Connect()
		maps.Copy(others, below)
		maps.Copy(names, to.Connections())
		return b, wrong
	}
	main, wrong := load(beside(f.Blueprint), "blueprint")
	if wrong != "" {
		return nil, wrong
	}
	for id, path := range f.Blueprints {
		other, wrong := load(beside(path), "blueprints", id)
		if wrong != "" {
			return nil, wrong
		}
		others[id] = project.Definition(id, other)
	}
	definition := project.Definition(testedID, main)
	nodes := NodesOf(main.Map)
	if issues := UnknownConnections(f, names); len(issues) > 0 {
		wrong += project.Pointed(f.Document, issues)
	}
	for _, test := range f.Tests {
		if issues := test.Check(nodes); len(issues) > 0 {
			wrong += project.Pointed(f.Document, issues)
			continue
		}
		one := &testCase{suite: t, name: name, data: data, test: test, definition: definition, others: others, names: names, nodes: nodes, source: beside(f.Blueprint)}
		if test.Cassette != "" {
			if one.cassette, err = recording.ReadCassetteFile(beside(test.Cassette)); err != nil {
				wrong += project.Pointed(f.Document, []blueprint.Issue{{Path: test.path("cassette"), Message: beside(test.Cassette) + ": " + project.MessageOf(err)}})
				continue
			}
		}
		if t.Only.MatchString(test.Name) && (!t.Replay || one.cassette != nil) {
			cases = append(cases, one)
		}
	}
	return cases, wrong
}

// addWatched records a file on which tests depend.
func (t *Suite) addWatched(path string) {
	if info, err := os.Stat(path); err == nil && t.named != nil {
		t.named[path] = info
	}
}

// loadTested reads a blueprint that a test file names at a path. wrong contains its errors,
// one per line. Because a test file may name any file of the machine, errors are shown only
// for files that are named like blueprints.
func loadTested(f *File, path string, at ...any) (b *project.Blueprint, wrong string) {
	pointed := func(message string) string {
		return project.Pointed(f.Document, []blueprint.Issue{{Path: at, Message: message}})
	}
	b, issues, err := project.ReadFile(&project.Inputs{}, path)
	var syntax *document.SyntaxError
	isSyntax := errors.As(err, &syntax)
	if err != nil && !isSyntax {
		return nil, pointed(err.Error())
	}
	bad := project.Errors(issues)
	switch {
	case (isSyntax || len(bad) > 0) && !project.MayShow(path):
		return nil, pointed(path + " is not a valid blueprint; run blueprintd validate for its errors, which are shown only for files named *.blueprint.yaml")
	case isSyntax:
		return nil, syntax.Error() + "\n" + syntax.Excerpt()
	case len(bad) > 0:
		return nil, project.Pointed(b.Document, bad, issues...)
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil || len(m.Nodes) == 0 {
		return nil, pointed(path + " has no nodes to run")
	}
	return b, ""
}

// NodesOf returns the addresses of the nodes of a map. Those inside for-each nodes have
// the prefix loop[*]/.
func NodesOf(m any) (list []string) {
	object, _ := m.(map[string]any)
	nodes, _ := object["nodes"].([]any)
	for _, element := range nodes {
		node, _ := element.(map[string]any)
		id, _ := node["id"].(string)
		list = append(list, id)
		if config, ok := node["config"].(map[string]any); ok && blueprint.NormalType(fmt.Sprint(node["type"])) == "for-each" {
			for _, inner := range NodesOf(config) {
				list = append(list, id+"[*]/"+inner)
			}
			if config["nodes"] == nil && config["blueprintId"] != nil {
				list = append(list, id+"[*]/run")
			}
		}
	}
	return list
}
