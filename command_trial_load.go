package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
	"blueprintd/cassette"
	"blueprintd/trial"
)

// mostTestFiles bounds what a folder is searched for.
const mostTestFiles = 10_000

func isTestFile(name string) bool {
	return strings.HasSuffix(name, ".test.yaml") || strings.HasSuffix(name, ".test.yml") || strings.HasSuffix(name, ".test.json")
}

// testFiles finds the test files of files and folders; hidden folders and
// node_modules are left out.
func testFiles(names []string) (files []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, usage("check the path", "%s cannot be read: %s", name, cause(err))
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && path == name:
				return err
			case err != nil:
				return nil // what cannot be looked into holds no tests of ours
			case entry.IsDir() && path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case !entry.IsDir() && isTestFile(entry.Name()):
				files = append(files, path)
			}
			if len(files) > mostTestFiles {
				return fmt.Errorf("more than %d test files", mostTestFiles)
			}
			return nil
		})
		if err != nil {
			return nil, usage("name a smaller folder", "%s: %s", name, cause(err))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// load reads test files and what they name. A bad one is pointed at, and bad
// tells that there was one.
func (t *trials) load(files []string) (cases []*trialCase, bad bool) {
	for _, name := range files {
		found, wrong := t.loadFile(name)
		if wrong != "" {
			fmt.Fprint(t.errors, wrong)
			bad = true
			continue
		}
		cases = append(cases, found...)
	}
	return cases, bad
}

// loadFile gives the tests of a file, or what is wrong with it, in lines.
func (t *trials) loadFile(name string) (cases []*trialCase, wrong string) {
	data, err := readFile(name, file.MaxSize)
	if err != nil {
		return nil, fmt.Sprintf("%s: cannot be read: %s\n", name, cause(err))
	}
	f, issues, err := trial.Read(name, data, t.update)
	var syntax *file.SyntaxError
	if errors.As(err, &syntax) {
		return nil, syntax.Error() + "\n" + syntax.Excerpt()
	}
	if err != nil {
		return nil, fmt.Sprintf("%s: %s\n", name, err)
	}
	if len(issues) > 0 {
		return nil, pointed(f.Document, issues)
	}
	beside := func(path string) string { return filepath.Join(filepath.Dir(name), path) }
	main, wrong := loadTested(f, beside(f.Blueprint), "blueprint")
	if wrong != "" {
		return nil, wrong
	}
	others := map[string]*blueprint.Definition{}
	for id, path := range f.Blueprints {
		other, wrong := loadTested(f, beside(path), "blueprints", id)
		if wrong != "" {
			return nil, wrong
		}
		others[id] = newDefinition(id, other)
	}
	definition := newDefinition(testedID, main)
	nodes := nodesOf(main.m)
	for _, test := range f.Tests {
		if issues := test.Check(nodes); len(issues) > 0 {
			wrong += pointed(f.Document, issues)
			continue
		}
		one := &trialCase{trials: t, name: name, data: data, test: test, definition: definition, others: others, nodes: nodes, source: beside(f.Blueprint)}
		if test.Cassette != "" {
			data, err := readFile(beside(test.Cassette), cassette.MaxSize)
			if err == nil {
				one.cassette, err = cassette.Read(data)
			}
			if err != nil {
				wrong += pointed(f.Document, []blueprint.Issue{{Path: []any{"tests", test.Index, "cassette"}, Message: beside(test.Cassette) + ": " + messageOf(err)}})
				continue
			}
		}
		if t.only.MatchString(test.Name) && (!t.replay || one.cassette != nil) {
			cases = append(cases, one)
		}
	}
	return cases, wrong
}

// messageOf is what an error says to who wrote the file.
func messageOf(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return cause(err).Error()
}

// loadTested reads a blueprint that a test file names; wrong tells why it cannot
// be run.
func loadTested(f *trial.File, path string, at ...any) (b *blueprintFile, wrong string) {
	b, issues, err := readBlueprint(&inputs{}, path)
	var syntax *file.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, syntax.Error() + "\n" + syntax.Excerpt()
	case err != nil:
		return nil, pointed(f.Document, []blueprint.Issue{{Path: at, Message: err.Error()}})
	}
	issues = slices.DeleteFunc(issues, func(i blueprint.Issue) bool { return i.Severity == blueprint.SeverityWarning })
	if len(issues) > 0 {
		return nil, pointed(b.document, issues)
	}
	if m, _ := blueprint.ParseMap(b.m); m == nil || len(m.Nodes) == 0 {
		return nil, pointed(f.Document, []blueprint.Issue{{Path: at, Message: path + " has no nodes to run"}})
	}
	return b, ""
}

// pointed shows problems of a file with their places.
func pointed(d *file.Document, issues []blueprint.Issue) string {
	var out strings.Builder
	for _, issue := range issues {
		out.WriteString(d.Point(issue) + "\n" + d.ExcerptOf(issue, issues...))
	}
	return out.String()
}

// nodesOf gives the addresses of a map's nodes, those that run for each item with
// loop[*]/ before them.
func nodesOf(m any) (list []string) {
	object, _ := m.(map[string]any)
	nodes, _ := object["nodes"].([]any)
	for _, element := range nodes {
		node, _ := element.(map[string]any)
		id, _ := node["id"].(string)
		list = append(list, id)
		if config, ok := node["config"].(map[string]any); ok && blueprint.NormalType(fmt.Sprint(node["type"])) == "for-each" {
			for _, inner := range nodesOf(config) {
				list = append(list, id+"[*]/"+inner)
			}
			if config["nodes"] == nil && config["blueprintId"] != nil {
				list = append(list, id+"[*]/run")
			}
		}
	}
	return list
}
