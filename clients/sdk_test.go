package clients

import (
	"encoding/json"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoIsComplete compares the embedded files with the sources of the client.
func TestGoIsComplete(t *testing.T) {
	var want, got []string
	err := fs.WalkDir(os.DirFS("."), "go", func(at string, entry fs.DirEntry, err error) error {
		if own := path.Base(at) == "built.go"; strings.HasSuffix(at, ".go") && !strings.HasSuffix(at, "_test.go") && !own {
			want = append(want, strings.TrimPrefix(at, "go/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	eachFile(goSources, "go", func(at string, _ []byte) { got = append(got, at) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the embedded files differ from the sources (-want +got):\n%s", diff)
	}
}

// generated is the line by which Go tools recognise generated files.
var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)

func TestGo(t *testing.T) {
	files := Go("1.2.3", "flows", "example.org/app/internal/flows")
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			text := string(data)
			if first, _, _ := strings.Cut(text, "\n"); !generated.MatchString(first) || !strings.Contains(first, "version 1.2.3;") || !IsMarked(data, "go") {
				t.Errorf("the first line is %q", first)
			}
			if strings.Contains(text, goPath) {
				t.Errorf("it names a package of this module:\n%s", text)
			}
			if formatted, err := format.Source(data); err != nil || string(formatted) != text {
				t.Errorf("it is not formatted: %v", err)
			}
		})
	}
	for _, name := range []string{"client.go", "doc.go"} {
		if !strings.Contains(string(files[name]), "\npackage flows\n") {
			t.Errorf("%s is not of package flows", name)
		}
	}
	if text := string(files["doc.go"]); !strings.Contains(text, "Package flows is") || !strings.Contains(text, "&flows.Client{") {
		t.Errorf("the comment of the package does not name it:\n%s", text)
	}
	if !strings.Contains(string(files["blueprintdtest/start.go"]), `"example.org/app/internal/flows/internal/program"`) {
		t.Error("blueprintdtest does not import the package beside it")
	}
}

// TestTypeScript checks that each path in package.json exists, that each module is there for
// import and for require, and that each file is marked.
func TestTypeScript(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "1.2.3", "0.1.0-dev": "0.1.0-dev", "v1": "0.0.0"} {
		t.Run(version, func(t *testing.T) {
			files, err := TypeScript(version)
			if err != nil {
				t.Fatal(err)
			}
			var manifest map[string]any
			if err := json.Unmarshal(files["package.json"], &manifest); err != nil || manifest["version"] != want || manifest["devDependencies"] != nil {
				t.Errorf("%v, %s; want version %s and no devDependencies", err, files["package.json"], want)
			}
			for _, named := range regexp.MustCompile(`"\./(dist/[^"]+)"`).FindAllSubmatch(files["package.json"], -1) {
				if files[string(named[1])] == nil {
					t.Errorf("package.json names %s, which is missing", named[1])
				}
			}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if !IsMarked(files[name], "typescript") || IsMarked(files[name], "go") {
					t.Errorf("%s is not marked as written by the command", name)
				}
				module, esm := strings.CutPrefix(name, "dist/esm/")
				if esm && !strings.HasPrefix(module, "vitest.") && files["dist/cjs/"+module] == nil {
					t.Errorf("%s has no form for require", name)
				}
			}
			if text := string(files["dist/cjs/package.json"]); !json.Valid([]byte(text)) || !strings.Contains(text, `"type":"commonjs"`) {
				t.Errorf("dist/cjs/package.json is %s", text)
			}
		})
	}
}

// TestDistIsComplete checks that each source of the npm package has a compiled module.
// testdata/e2e compares their content.
func TestDistIsComplete(t *testing.T) {
	sources, err := os.ReadDir("typescript/src")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		module := strings.TrimSuffix(source.Name(), ".ts") + ".js"
		if strings.HasSuffix(module, ".d.js") {
			continue
		}
		if _, err := packageSources.ReadFile("typescript/dist/esm/" + module); err != nil {
			t.Errorf("%s is not compiled; run make clients", source.Name())
		}
	}
}

// TestSandboxTypes compares the interfaces of the npm package for the sandbox with the inputs
// of the server.
func TestSandboxTypes(t *testing.T) {
	source, err := packageSources.ReadFile("typescript/dist/esm/sandbox.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	at := func(path ...string) []string {
		t.Helper()
		inner := json.RawMessage(data)
		for _, name := range path {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(inner, &object); err != nil || object[name] == nil {
				t.Fatalf("openapi.json has no %s at %v: %v", name, path, err)
			}
			inner = object[name]
		}
		var s schema
		if err := json.Unmarshal(inner, &s); err != nil {
			t.Fatal(err)
		}
		// Only the server sets these, in the rules and expectations that it returns.
		maps.DeleteFunc(s.Properties, func(name string, _ json.RawMessage) bool { return name == "answered" || name == "came" })
		return slices.Sorted(maps.Keys(s.Properties))
	}
	rule := []string{"components", "schemas", "SandboxRules", "properties", "rules", "items"}
	for name, want := range map[string][]string{
		"Rule":        at(rule...),
		"Match":       at(append(rule, "properties", "match")...),
		"Answer":      at(append(rule, "properties", "answer")...),
		"Expectation": at("components", "schemas", "SandboxExpectations", "properties", "expect", "items"),
		"Sending":     at("components", "schemas", "SandboxSend"),
	} {
		t.Run(name, func(t *testing.T) {
			_, body, found := strings.Cut(string(source), "export interface "+name+" {\n")
			body, _, _ = strings.Cut(body, "\n}")
			var got []string
			for _, member := range regexp.MustCompile(`(?m)^    (\w+)\??: `).FindAllStringSubmatch(body+"\n", -1) {
				got = append(got, member[1])
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); !found || diff != "" {
				t.Errorf("interface %s (found: %v) differs from the server (-want +got):\n%s", name, found, diff)
			}
		})
	}
}
