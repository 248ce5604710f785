package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
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

// layers is the table of allowed imports, lowest layer first. A name that ends in /*
// matches all packages below it. Packages of one layer do not import each other unless
// their row says so, and none imports a higher layer. The standard library and the modules
// of go.mod are allowed everywhere except in blueprint, which may import the standard
// library and one module.
var layers = []struct {
	floor   int
	name    string
	imports string // the module's packages, separated by spaces
}{
	{1, "blueprint", ""},
	{1, "blueprint/document", "blueprint"},
	{1, "blueprint/expression", "blueprint"},
	{1, "blueprint/jsonschema", "blueprint"},

	{1, "docs", ""},

	{2, "foundation/clock", ""},
	{2, "foundation/fileio", ""},
	{2, "foundation/ids", ""},
	{2, "foundation/metrics", ""},
	{2, "foundation/mutant", ""},
	{2, "foundation/smtpsink", ""},
	{2, "foundation/secret", "blueprint"},
	{2, "foundation/form", "blueprint blueprint/jsonschema"},
	{2, "foundation/outbound", "blueprint foundation/clock foundation/secret"},
	{2, "foundation/recording", "blueprint blueprint/document foundation/fileio foundation/outbound foundation/secret foundation/smtpsink"},

	{3, "store", "blueprint blueprint/* foundation/* store/dbfile store/migrations store/postgres"},
	{3, "store/dbfile", "blueprint"},
	{3, "store/masterkey", "blueprint foundation/fileio foundation/secret store store/dbfile"},
	{3, "store/migrations", ""},
	{3, "store/postgres", "blueprint"},
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
	{3, "rpc/agents", "blueprint blueprint/jsonschema"},
	{3, "rpc/mcp", "blueprint foundation/clock foundation/ids foundation/metrics rpc/agents"},
	{3, "connections", "blueprint blueprint/* foundation/*"},
	{3, "web", "foundation/ids"},

	{4, "project", "blueprint blueprint/* foundation/* engine/nodes triggers"},
	{4, "project/local", "blueprint blueprint/* foundation/* project engine engine/nodes engine/nodes/mcp engine/script connections"},
	{4, "project/testsuite", "blueprint blueprint/* foundation/* project project/local engine/script"},
	{4, "project/sdk", "blueprint foundation/fileio clients"},
	{4, "project/deploy", "blueprint blueprint/* foundation/* project triggers clients/go"},

	{5, "server/accounts", "blueprint blueprint/* foundation/*"},
	{5, "server/approvals", "blueprint blueprint/* foundation/*"},
	{5, "server/certificate", "blueprint blueprint/* foundation/*"},
	{5, "server/limits", "blueprint blueprint/* foundation/*"},
	{5, "server/sandbox", "blueprint blueprint/* foundation/*"},
	{5, "server", "clients blueprint blueprint/* foundation/* store store/* engine engine/* engine/nodes/* triggers triggers/* rpc rpc/* connections web project project/local project/testsuite server/* docs"},

	{6, "command/terminal", "blueprint"},
	{6, "command/dev", "blueprint blueprint/* foundation/* engine project project/* server command/terminal"},
	{6, "command", "blueprint blueprint/* foundation/* store store/* engine engine/* triggers/* rpc project project/* server server/* command/* docs"},

	{7, "", "command engine/script"},

	// Clients for other programs, and programs that use the server from outside.
	{0, "clients", ""},
	{0, "clients/go", ""},
	{0, "clients/go/program", ""},
	{1, "clients/go/blueprintdtest", "clients/go clients/go/program"},
	{8, "tests/process", "clients/go clients/go/program"},
	{8, "tests/api", ""},
	{8, "tests/e2e", ""},
	{8, "tests/contributing", ""},
	{8, "tests/bench", "tests/process clients/go/program"},
	{8, "tests/cluster", "tests/process clients/go/program foundation/mutant"},
	{8, "tests/crash", "tests/process clients/go/program foundation/mutant"},
	{8, "tests/describe", "blueprint engine/nodes rpc rpc/trpc project server/sandbox triggers"},
	{8, "tests/faultfs", ""},
	{8, "tests/faults", "tests/process clients/go/program tests/faultfs"},
	{8, "tests/overload", "tests/process clients/go/program"},
	{8, "tests/words", ""},
	{8, "tests/servertest", "blueprint foundation/clock rpc/trpc server store/masterkey tests/process"},
	{8, "tests/stored", ""},
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

// TestLayers checks every import against the table.
func TestLayers(t *testing.T) {
	floors, may := map[string]int{}, map[string][]string{}
	var twice []string
	for _, layer := range layers {
		if _, known := may[layer.name]; known {
			twice = append(twice, layer.name)
		}
		floors[layer.name], may[layer.name] = layer.floor, strings.Fields(layer.imports)
	}
	if len(twice) > 0 {
		t.Errorf("the table names %q twice, want none", twice)
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
				t.Errorf("%s (floor %d) imports %s (floor %d), want at most %v", name, floors[name], imported, floors[imported], floors[name])
			}
		}
	}
	for name := range may {
		if !seen[name] {
			t.Errorf("the table of layers names %s, which does not exist", name)
		}
	}
}

// TestTree limits the number of folders and the size of packages.
func TestTree(t *testing.T) {
	folders := strings.Fields("blueprint clients command connections docs engine foundation packaging project rpc server store testdata tests triggers web")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "."), name == "dist": // git ignores dist, which make release fills
		case entry.IsDir() && !slices.Contains(folders, name):
			t.Errorf("unexpected folder %s; the program has %d, each described in docs/architecture.md", name, len(folders))
		case strings.HasSuffix(name, ".go") && !slices.Contains([]string{"main.go", "script_test.go", "layering_test.go"}, name):
			t.Errorf("%s is in the root, where only main.go and two test files are allowed", name)
		}
	}
	const most = 60
	for _, p := range packages(t) {
		if len(p.GoFiles) > most {
			t.Errorf("%s has %d files, more than %d: two packages live in it; want at most %v", p.ImportPath, len(p.GoFiles), most, most)
		}
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}, p.Name) {
			t.Errorf("%s: %s does not say what is in a package", p.ImportPath, p.Name)
		}
	}
}

// TestFlagsAreReadInCommand checks that only command depends on the command-line library.
func TestFlagsAreReadInCommand(t *testing.T) {
	sources(t, func(path string, data []byte) {
		if !strings.HasPrefix(path, "command/") && path != "layering_test.go" && strings.Contains(string(data), `"github.com/urfave/cli`) {
			t.Errorf("%s reads flags: only package command does", path)
		}
	})
}

// TestNothingIsHalfBuilt checks that a type with a constructor is only created by it, so
// that no method finds a missing part.
func TestNothingIsHalfBuilt(t *testing.T) {
	for _, made := range []struct{ room, name string }{{"server", "Server"}, {"rpc", "Service"}, {"engine", "Engine"}, {"store", "Store"}, {"triggers", "Service"}} {
		t.Run(made.room+"."+made.name, func(t *testing.T) {
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
		})
	}
}

// TestChildren checks that the tests of each package that runs code of blueprints call
// script.Child: otherwise the test binary would start itself recursively.
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
			t.Errorf("%s has no package comment, want length at least 20", p.ImportPath)
		}
	}
}

// sources visits every Go file of the module.
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
				t.Errorf("%s imports database/sql, want Value other than \"database/sql\"", path)
			}
		}
	})
}

// TestTimeHasOneSource checks that packages read the time only from the clock. Exceptions
// are listed here with their reason.
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

// TestFailuresAreSpecific checks tests, and the code in tests/, for two rules. A condition
// has at most four operands joined by ||, because a failure of a longer one does not say
// which of them failed. And each case of a table is a subtest, which a failure names and
// -run selects.
func TestFailuresAreSpecific(t *testing.T) {
	sources(t, func(path string, data []byte) {
		if !strings.HasPrefix(path, "tests/") && !strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if condition, ok := n.(*ast.IfStmt); ok && operands(condition.Cond) > 4 {
				t.Errorf("%s: a condition with %d operands: compare the fields of a value with cmp.Diff, or split it", files.Position(n.Pos()), operands(condition.Cond))
			}
			return true
		})
		for _, table := range tablesWithoutRun(f) {
			t.Errorf("%s: cases of a table are not subtests: call t.Run for each; if each depends on the one before, name the variable step", files.Position(table.Pos()))
		}
	})
}

// operands returns the number of operands joined by ||.
func operands(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return operands(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.LOR {
			return operands(e.X) + operands(e.Y)
		}
	}
	return 1
}

// tablesWithoutRun returns the loops over a table in the tests of a file that check each
// case without t.Run. A table is a non-empty map, or a list of a struct type declared in
// the file, written as a literal and ranged over directly or by its name. Exempt are lists
// of single values, steps that depend on the previous ones, and tests in a bubble of
// synctest, where t.Run panics.
func tablesWithoutRun(f *ast.File) (found []*ast.RangeStmt) {
	structs := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			_, structs[spec.Name.Name] = spec.Type.(*ast.StructType)
		}
		return true
	})
	global := literals(f)
	for _, d := range f.Decls {
		test, ok := d.(*ast.FuncDecl)
		if !ok || test.Body == nil || !strings.HasPrefix(test.Name.Name, "Test") {
			continue
		}
		local := literals(test.Body)
		ast.Inspect(test.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				on, _ := method(n)
				return on != "synctest"
			case *ast.FuncLit:
				return !hasParameter(n, "t") || takesT(n)
			case *ast.RangeStmt:
				table, ok := n.X.(*ast.CompositeLit)
				if name, named := n.X.(*ast.Ident); named {
					if table, ok = local[name.Name]; !ok {
						table, ok = global[name.Name]
					}
				}
				step, _ := n.Value.(*ast.Ident)
				if ok && isTable(table, structs) && (step == nil || step.Name != "step") && calls(n.Body, "Error", "Errorf", "Fatalf") && !calls(n.Body, "Run") {
					found = append(found, n)
				}
			}
			return true
		})
	}
	return found
}

// literals returns the composite literals assigned to variables, by their names.
func literals(n ast.Node) map[string]*ast.CompositeLit {
	found := map[string]*ast.CompositeLit{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				name, named := left.(*ast.Ident)
				if named && n.Tok == token.DEFINE && len(n.Rhs) == len(n.Lhs) {
					if literal, ok := n.Rhs[i].(*ast.CompositeLit); ok {
						found[name.Name] = literal
					}
				}
			}
		case *ast.ValueSpec:
			for i, value := range n.Values {
				if literal, ok := value.(*ast.CompositeLit); ok {
					found[n.Names[i].Name] = literal
				}
			}
		}
		return true
	})
	return found
}

func isTable(literal *ast.CompositeLit, structs map[string]bool) bool {
	if len(literal.Elts) == 0 {
		return false
	}
	list, ok := literal.Type.(*ast.ArrayType)
	if !ok {
		_, ok = literal.Type.(*ast.MapType)
		return ok
	}
	if _, ok = literal.Elts[0].(*ast.CompositeLit); !ok {
		return false
	}
	element := list.Elt
	if pointer, ok := element.(*ast.StarExpr); ok {
		element = pointer.X
	}
	if name, ok := element.(*ast.Ident); ok {
		return structs[name.Name]
	}
	_, ok = element.(*ast.StructType)
	return ok
}

// calls reports whether n calls one of the methods of t, except in functions that run
// elsewhere, as in a goroutine.
func calls(n ast.Node, methods ...string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return takesT(n)
		case *ast.CallExpr:
			on, name := method(n)
			found = found || on == "t" && slices.Contains(methods, name)
		}
		return true
	})
	return found
}

// method returns the names in a call x.name(...), or "".
func method(call *ast.CallExpr) (on, name string) {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if x, ok := selector.X.(*ast.Ident); ok {
			return x.Name, selector.Sel.Name
		}
	}
	return "", ""
}

func hasParameter(f *ast.FuncLit, name string) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		return slices.ContainsFunc(p.Names, func(n *ast.Ident) bool { return n.Name == name })
	})
}

// takesT reports whether f has a parameter of type *testing.T.
func takesT(f *ast.FuncLit) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		pointer, ok := p.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		selector, ok := pointer.X.(*ast.SelectorExpr)
		return ok && selector.Sel.Name == "T" && fmt.Sprint(selector.X) == "testing"
	})
}
