package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says what each package may import of ours. The standard library and
// the modules of go.mod are free for all but blueprint, which has only the
// standard library and the one module that counts misspellings.
var rooms = map[string][]string{
	"server/accounts":           {"blueprint", "small"},
	"blueprint":                 {},
	"blueprint/expression":      {"blueprint"},
	"blueprint/document":        {"blueprint"},
	"blueprint/jsonschema":      {"blueprint"},
	"clients/go":                {}, // for other programs: clients know a server from outside only
	"clients/go/program":        {},
	"clients/go/blueprintdtest": {"clients/go", "clients/go/program"},
	"foundation/clock":          {},
	"foundation/fileio":         {},
	"server/sandbox":            {"blueprint", "foundation/clock", "foundation/ids", "foundation/outbound", "foundation/secret", "foundation/smtpsink"},
	"server/limits":             {"blueprint", "foundation/clock"},
	"server":                    {"blueprint", "small", "connections", "engine", "engine/nodes", "project", "rpc", "rpc/mcp", "rpc/trpc", "server/accounts", "server/limits", "server/sandbox", "store", "store/masterkey", "triggers", "triggers/explain", "triggers/mail", "web"},
	"foundation/ids":            {},
	"engine/nodes/llm":          {"blueprint", "foundation/clock", "foundation/outbound"},
	"triggers/mail":             {"blueprint", "foundation/clock"},
	"engine/nodes/smtp":         {"blueprint", "foundation/outbound"},
	"engine/nodes/mcp":          {"blueprint", "foundation/outbound"},
	"foundation/metrics":        {},
	"foundation/outbound":       {"blueprint", "foundation/clock", "foundation/secret"},
	"foundation/mutant":         {},
	"foundation/recording":      {"blueprint", "blueprint/document", "foundation/fileio", "foundation/outbound", "foundation/secret", "foundation/smtpsink"},
	"engine/script":             {"blueprint"},
	"foundation/secret":         {"blueprint"},
	"foundation/smtpsink":       {},
	"project/testsuite":         {"blueprint", "small", "engine/nodes", "project", "project/local"},
	"connections":               {"blueprint", "small"},
	"engine":                    {"blueprint", "small"},
	"engine/nodes":              {"blueprint", "small"},
	"rpc/trpc":                  {"blueprint", "foundation/clock", "foundation/metrics"},
	"project":                   {"blueprint", "small", "engine/nodes", "triggers"},
	"project/deploy":            {"blueprint", "clients/go", "blueprint/document", "foundation/clock", "foundation/fileio", "project", "store", "triggers"},
	"project/local":             {"blueprint", "small", "connections", "engine", "engine/nodes", "project"},
	"rpc":                       {"blueprint", "small", "rpc/trpc"},
	"rpc/mcp":                   {"blueprint"},
	"command":                   {"blueprint", "small", "command/dev", "command/terminal", "engine", "project", "project/deploy", "project/local", "project/testsuite", "rpc", "server", "server/accounts", "server/sandbox", "store", "store/dbfile", "store/masterkey", "triggers/explain"},
	"command/terminal":          {"blueprint"},
	"command/dev":               {"blueprint", "small", "command/terminal", "engine", "project", "project/deploy", "project/testsuite", "server"},
	"store":                     {"blueprint", "small", "store/dbfile"},
	"store/masterkey":           {"blueprint", "foundation/fileio", "foundation/secret", "store", "store/dbfile"},
	"store/dbfile":              {"blueprint"},
	"triggers":                  {"blueprint", "small", "triggers/cron", "triggers/signature"},
	"triggers/cron":             {},
	"triggers/explain":          {"blueprint", "foundation/secret", "triggers", "triggers/signature"},
	"triggers/signature":        {"blueprint"},
	"web":                       {"foundation/ids"},
	"tests/bench":               {"tests/process", "clients/go/program"}, // a tool: it measures the program from outside
	"tests/e2e":                 {},
	"tests/api":                 {},
	"tests/process":             {"clients/go", "clients/go/program"},                         // the tools' own: how they run and call the program
	"packaging/release":         {},                                                           // a tool: it builds the program
	"tests/simulation":          {"blueprint", "small", "engine", "triggers"},                 // a tool: it wires rooms as main does
	"tests/crash":               {"tests/process", "clients/go/program", "foundation/mutant"}, // a tool: it knows the program from outside only
	"tests/faultfs":             {},                                                           // a tool's disk
	"tests/faults":              {"tests/process", "clients/go/program", "tests/faultfs"},     // a tool: it knows the program from outside only
	"tests/overload":            {"tests/process", "clients/go/program"},                      // a tool: it knows the program from outside only
}

// small are the rooms that every big room may use.
var small = []string{"foundation/fileio", "blueprint/expression", "blueprint/document", "blueprint/jsonschema", "foundation/clock", "foundation/ids", "engine/nodes/llm", "engine/nodes/mcp", "engine/nodes/smtp", "foundation/metrics", "foundation/outbound", "foundation/mutant", "foundation/recording", "engine/script", "foundation/secret"}

const module = "blueprintd"

// spelling is the only module that blueprint may import.
const spelling = "github.com/hbollon/go-edlib"

type listed struct {
	ImportPath string
	Imports    []string
	Doc        string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if room == "" {
			continue // main may import all
		}
		seen[room] = true
		may, known := rooms[room]
		if !known {
			t.Errorf("%s has no line in the table of rooms", room)
			continue
		}
		if slices.Contains(may, "small") {
			may = append(slices.Clone(may), small...)
		}
		for _, path := range p.Imports {
			ours, isOurs := strings.CutPrefix(path, module+"/")
			if isOurs && !slices.Contains(may, ours) {
				t.Errorf("%s must not import %s", room, ours)
			}
			if room == "blueprint" && path != spelling && (isOurs || strings.Contains(strings.SplitN(path, "/", 2)[0], ".")) {
				t.Errorf("blueprint imports only the standard library and %s, not %s", spelling, path)
			}
		}
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("the table of rooms names %s, which does not exist", room)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.Doc) < 20 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// sources visits every Go file of ours.
func sources(t *testing.T, visit func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			visit(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreShort(t *testing.T) {
	const most = 700
	sources(t, func(path string, data []byte) {
		if n := strings.Count(string(data), "\n"); n > most && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines: two things live in it (at most %d)", path, n, most)
		}
	})
}

func TestSQLIsOnlyInTheStore(t *testing.T) {
	sources(t, func(path string, _ []byte) {
		if strings.HasPrefix(path, "store/") || strings.HasPrefix(path, "tests/") || strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range f.Imports {
			if imported.Path.Value == `"database/sql"` {
				t.Errorf("%s imports database/sql", path)
			}
		}
	})
}

// TestTimeHasOneSource keeps rooms from asking the machine for the time behind
// the clock's back. Real time-outs are named here, with their reason.
func TestTimeHasOneSource(t *testing.T) {
	real := map[string]string{
		"clients/go/program/process.go": "says when a process started and ended",
		"foundation/clock/clock.go":     "is the clock",
		"engine/flush.go":               "measures how long the disk is away, in real time",
		"foundation/metrics/time.go":    "measures how long work takes, in real time",
		"triggers/scheduler.go":         "looks at least once a minute of real time for what other processes changed",
	}
	sources(t, func(path string, data []byte) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/") || real[path] != "" {
			return
		}
		for _, call := range []string{"time.Now(", "time.Sleep("} {
			if strings.Contains(string(data), call) {
				t.Errorf("%s calls %s...): ask a clock.Clock", path, call)
			}
		}
	})
}
