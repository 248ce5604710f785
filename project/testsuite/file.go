package testsuite

import (
	"maps"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
)

// The bounds of a test file.
const (
	MaxTests = 10_000
	MaxStubs = 10_000
)

// defaultClock is where the clock of a test begins that names none.
var defaultClock = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// File is a test file.
type File struct {
	Document   *document.Document
	Blueprint  string            // path, relative to the file
	Blueprints map[string]string // by the id that nodes name
	Tests      []*Test
}

// Test is one test of a file.
type Test struct {
	File        *File
	Index       int // in the file
	Name        string
	Variables   map[string]any
	InputData   any
	Clock       time.Time
	ClockGiven  bool
	Cassette    string // path, relative to the file; "" = none
	Connections map[string]recording.Connection
	Stubs       []*Stub
	Expect      map[string]any // nil when the test expects nothing yet
}

// Stub answers in place of a node, or of a host.
type Stub struct {
	Key     string
	Answers []Answer
}

// Answer is one thing that a stub answers.
type Answer struct {
	HasOutput bool
	Output    any
	Handle    string
	Status    int // of an HTTP answer; 0 = it is none
	Headers   map[string]string
	Body      any
	Error     string
	Times     int // how often it answers; 0 = for ever
	DelayMs   int
}

// ofNode reports whether the answer stands for a node's work.
func (a *Answer) ofNode() bool { return a.HasOutput || a.Handle != "" }

// path is where something of the test stands in the file.
func (t *Test) path(parts ...any) []any { return append([]any{"tests", t.Index}, parts...) }

// Outcome is what came of the run of a test.
type Outcome struct {
	Recording *blueprint.Recording
	// Nodes are the ids of the blueprint's nodes, those within a for-each node
	// with loop[*]/ before them.
	Nodes []string
}

// Placeholders returns the variables of a local run, for which no file has the secrets:
// a secret variable that is required and not given, and one of another type than
// text that is given as "***", gets a value that fits its type.
func StandIns(declared []blueprint.Variable, given map[string]any) map[string]any {
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
