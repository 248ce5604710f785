package testsuite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/project"
)

const whole = `{"$schema": "test.schema.json", "blueprint": "a.yaml", "blueprints": {"00000000-0000-4000-8000-000000000000": "b.yaml"}, "connections": {"x": {"type": "http", "name": "y"}}, "tests": [{"name": "a", "variables": {"x": 1}, "inputData": [1],
 "clock": "2030-01-01T00:00:00Z", "cassette": "c.json", "connections": {"x": {"type": "smtp", "config": {}}},
 "stubs": {"n": [{"output": 1, "times": 2}, {"error": "no", "delayMs": 5}], "api.example.com": {"status": 200, "headers": {"X-A": "b"}, "body": {}}},
 "expect": {"status": "completed", "output": {"$any": true}, "error": "x", "steps": {"n": {"status": "completed", "output": 1}}, "branches": {"n": "main"}, "calls": [{"method": "GET"}]}}]}`

func TestReadTellsWhatIsWrong(t *testing.T) {
	one := func(members string) string {
		return `{"blueprint": "a", "tests": [{"name": "a", "expect": {"status": "completed"}, ` + members + `}]}`
	}
	for _, test := range []struct{ text, want string }{
		{whole, ""},
		{`[]`, "must be an object"},
		{`{"tests": []}`, "blueprint: required; tests: must hold at least one test"},
		{`{"blueprint": "a", "tests": 1, "x": 1}`, "tests: must be an array of tests; x: unknown field; the fields are $schema, blueprint, blueprints, connections, tests"},
		{one(`"stubs": {"n": {}}`), "tests[0].stubs.n: must have either output (or handle), or status, or error"},
		{one(`"stubs": {"n": {"output": 1, "status": 200}}`), "tests[0].stubs.n: must have either output (or handle), or status, or error"},
		{one(`"stubs": {"n": {"output": 1, "body": 1}}`), "tests[0].stubs.n: body and headers require status"},
		{one(`"stubs": {"n": []}`), "tests[0].stubs.n: must hold at least one answer"},
		{one(`"stubs": {"n": {"status": 99}}`), "tests[0].stubs.n.status: must be a whole number from 100 to 999"},
		{one(`"stubs": {"n": {"status": 200, "headers": {"a b": "c"}}}`), "tests[0].stubs.n.headers.a b: is not a valid header"},
		{one(`"clock": "soon"`), "tests[0].clock: must be an instant such as 2030-01-31T09:00:00Z"},
		{one(`"connections": {"x": {"type": "ftp"}}`), `tests[0].connections.x.type: there is no connection type "ftp"`},
		{`{"blueprint": "a", "connections": {"x": {"type": "ftp", "config": []}, "y": 1}, "tests": [{"name": "a", "expect": {"status": "completed"}}]}`,
			`connections.x.type: there is no connection type "ftp"; connections.x.config: must be an object; connections.y: must be an object`},
		{`{"blueprint": "a", "tests": [{"name": "a", "expect": {"status": "done", "output": {"$what": 1}}}]}`,
			"tests[0].expect.status: must be one of completed, failed, paused, running; tests[0].expect.output.$what: unknown matcher $what; the matchers are $any, $exact, $match, $partial, $type; write a literal value as {\"$exact\": {\"$what\": ...}}"},
		{`{"blueprint": "a", "tests": [{"name": "a", "expect": {"status": "completed", "output": {"$match": "("}}}]}`, "tests[0].expect.output.$match: must be a regular expression in the syntax of RE2: the pattern is malformed"},
		{`{"blueprint": "a", "tests": [{"name": "a", "expect": {"status": "completed", "output": {"$match": "(a?){1000}"}}}]}`, "tests[0].expect.output.$match: must be a regular expression in the syntax of RE2: the pattern repeats too much"},
	} {
		t.Run(fmt.Sprintf("%.200s", test.text), func(t *testing.T) {
			_, issues, err := Read("a.test.json", []byte(test.text), false)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, issue := range issues {
				text := issue.Message
				if where := blueprint.PathText(issue.Path); where != "" {
					text = where + ": " + text
				}
				lines = append(lines, text)
			}
			if got := strings.Join(lines, "; "); got != test.want {
				t.Errorf("%s:\n got %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

// The schema for editors takes what the reader takes.
func TestTheSchemaFits(t *testing.T) {
	text, err := project.SchemaText("test")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := blueprint.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := jsonschema.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/blueprints/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	texts := map[string]string{"whole.test.json": whole}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			f, issues, err := Read(name, []byte(text), false)
			if err != nil || len(issues) > 0 {
				t.Fatal(name, issues, err)
			}
			if wrong := compiled.Validate(f.Document.Value); wrong != nil {
				t.Errorf("%v, want nil", wrong)
			}
		})
	}
	if compiled.Validate(decoded(t, `{"blueprint": "a", "tests": [{"name": "a", "expect": {"status": "done"}}]}`)) == nil {
		t.Error("a wrong file fits")
	}
}

// FuzzRead reads test files; whatever is accepted can be checked and written again.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("blueprint: a.yaml\ntests:\n  - name: one\n    expect:\n      status: completed\n  - expect: {status: failed}\n    name: two\n")
	f.Add("blueprint: a\ntests:\n- name: x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.test.yaml", "a.test.json"} {
			file, issues, err := Read(name, []byte(text), true)
			if err != nil || len(issues) > 0 {
				continue
			}
			expectations := map[int]map[string]any{}
			for _, test := range file.Tests {
				test.Check([]string{"n"})
				expectations[test.Index] = map[string]any{"status": "completed", "output": map[string]any{"a": "b: c\nd"}}
			}
			written, err := file.withExpectations([]byte(text), expectations)
			if err != nil {
				continue
			}
			data := written.Data
			again, issues, err := Read(name, data, false)
			if err != nil || len(issues) > 0 || len(again.Tests) != len(file.Tests) {
				t.Fatalf("%q became %q: %v %v, want none and length %v", text, data, issues, err, len(file.Tests))
			}
			for _, test := range again.Tests {
				if !fits(expectations[test.Index], any(test.Expect)) {
					t.Fatalf("%q became %q", text, data)
				}
			}
		}
	})
}

func fits(want, got any) bool {
	m := &matching{}
	m.value(nil, want, got, false)
	return len(m.found) == 0
}
