package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// layers is the program from the ground up: what each package may import of ours. A
// name that ends in /* stands for all packages below it. Packages of one floor do not
// import each other unless their line says so, and none imports a higher floor. The
// standard library and the modules of go.mod are free for all but blueprint, which has
// the standard library and one module.
var layers = []struct {
	floor   int
	name    string
	imports string // of ours, separated by spaces
}{
	{1, "blueprint", ""},
	{1, "blueprint/document", "blueprint"},
	{1, "blueprint/expression", "blueprint blueprint/expression/ast"},
	{1, "blueprint/expression/ast", ""},
	{1, "blueprint/jsonschema", "blueprint"},

	{1, "docs", ""},

	{2, "foundation/clock", ""},
	{2, "foundation/fileio", ""},
	{2, "foundation/ids", ""},
	{2, "foundation/metrics", ""},
	{2, "foundation/mutant", ""},
	{2, "foundation/smtpsink", ""},
	{2, "foundation/secret", "blueprint"},
	{2, "foundation/outbound", "blueprint foundation/clock foundation/secret"},
	{2, "foundation/recording", "blueprint blueprint/document foundation/fileio foundation/outbound foundation/secret foundation/smtpsink"},

	{3, "store", "blueprint blueprint/* foundation/* store/dbfile store/migrations"},
	{3, "store/dbfile", "blueprint"},
	{3, "store/masterkey", "blueprint foundation/fileio foundation/secret store store/dbfile"},
	{3, "store/migrations", ""},
	{3, "engine", "blueprint blueprint/* foundation/*"},
	{3, "engine/script", "blueprint foundation/clock"},
	{3, "engine/nodes", "blueprint blueprint/* foundation/* engine/nodes/* engine/script"},
	{3, "engine/nodes/llm", "blueprint foundation/clock foundation/outbound"},
	{3, "engine/nodes/mcp", "blueprint foundation/clock foundation/outbound"},
	{3, "engine/nodes/smtp", "blueprint foundation/clock foundation/outbound"},
	{3, "triggers", "blueprint blueprint/* foundation/* triggers/cron triggers/signature"},
	{3, "triggers/cron", ""},
	{3, "triggers/signature", "blueprint foundation/clock"},
	{3, "triggers/mail", "blueprint foundation/clock"},
	{3, "triggers/explain", "blueprint foundation/clock foundation/secret triggers triggers/cron triggers/signature"},
	{3, "rpc", "blueprint blueprint/* foundation/* rpc/trpc"},
	{3, "rpc/trpc", "blueprint foundation/clock foundation/ids foundation/metrics"},
	{3, "rpc/mcp", "blueprint foundation/clock foundation/ids foundation/metrics"},
	{3, "connections", "blueprint blueprint/* foundation/*"},
	{3, "web", "foundation/ids"},

	{4, "project", "blueprint blueprint/* foundation/* engine/nodes triggers"},
	{4, "project/local", "blueprint blueprint/* foundation/* project engine engine/nodes engine/nodes/mcp engine/script connections"},
	{4, "project/testsuite", "blueprint blueprint/* foundation/* project project/local engine/script"},
	{4, "project/deploy", "blueprint blueprint/* foundation/* project triggers clients/go"},

	{5, "server/accounts", "blueprint blueprint/* foundation/*"},
	{5, "server/certificate", "blueprint blueprint/* foundation/*"},
	{5, "server/limits", "blueprint blueprint/* foundation/*"},
	{5, "server/sandbox", "blueprint blueprint/* foundation/*"},
	{5, "server", "clients blueprint blueprint/* foundation/* store store/* engine engine/* engine/nodes/* triggers triggers/* rpc rpc/* connections web project server/* docs"},

	{6, "command/terminal", "blueprint"},
	{6, "command/dev", "blueprint blueprint/* foundation/* engine project project/* server command/terminal"},
	{6, "command", "blueprint blueprint/* foundation/* store store/* engine engine/* triggers/* rpc project project/* server server/* command/* docs"},

	{7, "", "command engine/script"},

	// What other programs use, and what looks at this one from outside.
	{0, "clients", ""},
	{0, "clients/go", ""},
	{0, "clients/go/program", ""},
	{1, "clients/go/blueprintdtest", "clients/go clients/go/program"},
	{8, "tests/process", "clients/go clients/go/program"},
	{8, "tests/api", ""},
	{8, "tests/e2e", ""},
	{8, "tests/contributing", ""},
	{8, "tests/bench", "tests/process clients/go/program"},
	{8, "tests/crash", "tests/process clients/go/program foundation/mutant"},
	{8, "tests/describe", "blueprint engine/nodes rpc rpc/trpc project server/sandbox triggers"},
	{8, "tests/faultfs", ""},
	{8, "tests/faults", "tests/process clients/go/program tests/faultfs"},
	{8, "tests/overload", "tests/process clients/go/program"},
	{8, "tests/words", ""},
	{8, "tests/servertest", "blueprint foundation/clock rpc/trpc server tests/process"},
	{8, "tests/simulation", "blueprint foundation/* engine triggers"},
	{8, "packaging/release", ""},
}

const module = "blueprintd"

// spelling is the only module that blueprint may import.
const spelling = "github.com/hbollon/go-edlib"

type listed struct {
	ImportPath string
	Name       string
	Imports    []string
	GoFiles    []string
	Doc        string
}

// packages returns the packages of the module.
func packages(t *testing.T) []listed {
	t.Helper()
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var listPackages = sync.OnceValues(func() (all []listed, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,GoFiles,Doc", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

// TestLayers holds every import against the table.
func TestLayers(t *testing.T) {
	floors, may := map[string]int{}, map[string][]string{}
	for _, layer := range layers {
		if _, twice := may[layer.name]; twice {
			t.Errorf("the table names %s twice", layer.name)
		}
		floors[layer.name], may[layer.name] = layer.floor, strings.Fields(layer.imports)
	}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, known := may[name]
		if seen[name] = true; !known {
			t.Errorf("%s has no line in the table of layers", name)
			continue
		}
		for _, path := range p.Imports {
			if name == "blueprint" && path != spelling && strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
				t.Errorf("blueprint imports only the standard library and %s, not %s", spelling, path)
			}
			imported, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			if !slices.Contains(allowed, imported) && !slices.Contains(allowed, imported[:max(0, strings.LastIndex(imported, "/"))]+"/*") {
				t.Errorf("%s must not import %s", name, imported)
			}
			if floors[imported] > floors[name] {
				t.Errorf("%s (floor %d) imports %s (floor %d)", name, floors[name], imported, floors[imported])
			}
		}
	}
	for name := range may {
		if !seen[name] {
			t.Errorf("the table of layers names %s, which does not exist", name)
		}
	}
}

// TestTree keeps the folders few and the packages readable.
func TestTree(t *testing.T) {
	folders := strings.Fields("blueprint clients command connections docs engine foundation packaging project rpc server store testdata tests triggers web")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case entry.IsDir() && !slices.Contains(folders, name):
			t.Errorf("the folder %s is new: the program has %d, and each says what is in it", name, len(folders))
		case strings.HasSuffix(name, ".go") && !slices.Contains([]string{"main.go", "script_test.go", "layering_test.go"}, name):
			t.Errorf("%s stands in the root, where only main.go and two test files do", name)
		}
	}
	const most = 60
	for _, p := range packages(t) {
		if len(p.GoFiles) > most {
			t.Errorf("%s has %d files, more than %d: two packages live in it", p.ImportPath, len(p.GoFiles), most)
		}
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}, p.Name) {
			t.Errorf("%s: %s does not say what is in a package", p.ImportPath, p.Name)
		}
	}
}

// TestFlagsAreReadInCommand keeps the command line out of what it calls.
func TestFlagsAreReadInCommand(t *testing.T) {
	sources(t, func(path string, data []byte) {
		if !strings.HasPrefix(path, "command/") && path != "layering_test.go" && strings.Contains(string(data), `"github.com/urfave/cli`) {
			t.Errorf("%s reads flags: only package command does", path)
		}
	})
}

// TestNothingIsHalfBuilt: what has a constructor is made by it alone, so that no method
// finds a part missing.
func TestNothingIsHalfBuilt(t *testing.T) {
	for _, made := range []struct{ room, name string }{{"server", "Server"}, {"rpc", "Service"}, {"engine", "Engine"}, {"store", "Store"}, {"triggers", "Service"}} {
		literals := 0
		sources(t, func(path string, data []byte) {
			switch {
			case filepath.Dir(path) != made.room:
				if literal := made.room + "." + made.name + "{"; strings.Contains(string(data), literal) && path != "layering_test.go" {
					t.Errorf("%s writes %s...}, which only its constructor does", path, literal)
				}
			case !strings.HasSuffix(path, "_test.go"):
				literals += strings.Count(string(data), "&"+made.name+"{")
			}
		})
		if literals != 1 {
			t.Errorf("%s.%s is made in %d places, want its constructor alone", made.room, made.name, literals)
		}
	}
}

// TestChildren: a package whose tests run code of blueprints must be able to be the
// process that the code runs in; without script.Child its test binary would start
// itself over and over.
func TestChildren(t *testing.T) {
	needs, has := map[string]string{}, map[string]bool{}
	sources(t, func(path string, data []byte) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		folder := filepath.Dir(path)
		has[folder] = has[folder] || strings.Contains(string(data), "script.Child()")
		for _, runs := range []string{"blueprintd/engine/script", "blueprintd/server", "blueprintd/project/local", "blueprintd/project/testsuite"} {
			if strings.Contains(string(data), `"`+runs+`"`) {
				needs[folder] = path
			}
		}
	})
	for folder, path := range needs {
		if !has[folder] && folder != "." {
			t.Errorf("%s runs code of blueprints, but no TestMain of %s calls script.Child", path, folder)
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

// TestTimeHasOneSource keeps packages from asking the machine for the time behind
// the clock's back. Real time-outs are named here, with their reason.
func TestTimeHasOneSource(t *testing.T) {
	real := map[string]string{
		"clients/go/program/process.go": "says when a process started and ended",
		"foundation/clock/clock.go":     "is the clock",
		"engine/flush.go":               "measures how long the disk is away, in real time",
		"foundation/metrics/count.go":   "measures how long work takes, in real time",
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
