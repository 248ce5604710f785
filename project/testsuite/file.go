package testsuite

import (
	"maps"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
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
	Tests      []*Test
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

// Stub answers instead of a node or a host.
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

// path returns the path of a part of the test in the file.
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
