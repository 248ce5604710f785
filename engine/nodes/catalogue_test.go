package nodes

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
	"blueprintd/blueprint/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// The golden file makes an addition to the catalogue, or a loss, show in review.
func TestCatalogue(t *testing.T) {
	var text strings.Builder
	for _, kind := range All(Dependencies{}) {
		fmt.Fprintf(&text, "%s  %s  effect: %s", kind.Type, kind.Category, kind.Effect)
		if len(kind.Handles) > 0 {
			fmt.Fprintf(&text, "  handles: %s", strings.Join(kind.Handles, ", "))
		}
		if kind.PassesInput {
			text.WriteString("  passes its input")
		}
		if kind.Waits != "" {
			fmt.Fprintf(&text, "  waits for: %s", kind.Waits)
		}
		if kind.AnsweredBy != "" {
			fmt.Fprintf(&text, "  answered by: %s", kind.AnsweredBy)
		}
		text.WriteByte('\n')
		fmt.Fprintf(&text, "  starter: %s\n", encoded(kind.Starter))
		if kind.Output != nil {
			fmt.Fprintf(&text, "  output: %s\n", encoded(kind.Output))
		}
		describe(&text, kind.Schema, "  ")
	}
	golden := filepath.Join("testdata", "catalogue.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the catalogue has changed; go test -run TestCatalogue -update ./engine/nodes takes it over\n%s", text.String())
	}
}

func encoded(value map[string]any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func describe(text *strings.Builder, object map[string]any, indent string) {
	required, _ := object["required"].([]any)
	properties := object["properties"].(map[string]any)
	for _, key := range object["x-order"].([]any) {
		property := properties[key.(string)].(map[string]any)
		kind := property
		if either, ok := property["anyOf"].([]any); ok {
			kind = either[0].(map[string]any)
		}
		fmt.Fprintf(text, "%s%s (%s):", indent, key, property["title"])
		switch {
		case kind["enum"] != nil:
			fmt.Fprintf(text, " one of %v", kind["enum"])
		case kind["format"] != nil:
			fmt.Fprintf(text, " %v", kind["format"])
		case kind["type"] != nil:
			fmt.Fprintf(text, " %v", kind["type"])
		default:
			text.WriteString(" any")
		}
		if slices.Contains(required, key) {
			text.WriteString(", required")
		}
		if fmt.Sprint(kind["format"]) != property["x-kind"] {
			fmt.Fprintf(text, ", shown as %s", property["x-kind"])
		}
		if types, ok := property["x-connection-types"]; ok {
			fmt.Fprintf(text, " of %v", types)
		}
		if property["x-lines"] == true {
			text.WriteString(" of several lines")
		}
		if standard, ok := property["default"]; ok {
			fmt.Fprintf(text, ", default %v", standard)
		}
		text.WriteByte('\n')
		if items, ok := kind["items"].(map[string]any); ok && items["properties"] != nil {
			describe(text, items, indent+"  ")
		}
		if kind["properties"] != nil {
			describe(text, kind, indent+"  ")
		}
	}
}

func TestTypes(t *testing.T) {
	all := All(Dependencies{})
	if !slices.IsSortedFunc(all, func(a, b *blueprint.NodeType) int { return strings.Compare(a.Type, b.Type) }) {
		t.Error("not sorted")
	}
	for _, kind := range all {
		t.Run(kind.Type, func(t *testing.T) {
			if !slices.Contains(categories, kind.Category) {
				t.Errorf("category %q: want one of %v", kind.Category, categories)
			}
			if place := kind.Order % 100; place == 0 {
				t.Error("order: want a place within the category, from 1")
			}
			for _, other := range all {
				if other != kind && other.Order == kind.Order {
					t.Errorf("order: %s has the same place", other.Type)
				}
			}
			if !slices.Contains([]string{"", "time", "person", "runs"}, kind.Waits) {
				t.Errorf("waits for %q", kind.Waits)
			}
			for key := range kind.Starter {
				if _, ok := kind.Schema["properties"].(map[string]any)[key]; !ok {
					t.Errorf("starter: unknown key %q", key)
				}
			}
			if kind.Title == "" || kind.Description == "" {
				t.Errorf("title %q, description %q; want both", kind.Title, kind.Description)
			}
			if kind.Run == nil || kind.Check == nil || kind.Verbatim == nil {
				t.Errorf("%+v, want Run, Check and Verbatim", kind)
			}
			if kind.Type != blueprint.NormalType(kind.Type) {
				t.Errorf("its name is not in the form that is looked up: %v, want Type %v", kind.Type, blueprint.NormalType(kind.Type))
			}
			if (kind.Answer == nil) != (kind.Expired == nil) {
				t.Error("an answer and an expiry go together")
			}
			if _, err := blueprint.Plain(kind.Schema); err != nil {
				t.Error(err)
			}
			compiled, err := jsonschema.Compile(kind.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if issues := compiled.Validate(kind.Example); issues != nil {
				t.Errorf("the example does not fit the schema: %v, want nil", issues)
			}
			if issues := kind.Check(kind.Example); issues != nil {
				t.Errorf("the example is refused: %v, want nil", issues)
			}
			if _, issues := expressions.CompileConfig(kind.Example, kind.Verbatim); issues != nil {
				t.Errorf("the example's templates are refused: %v, want nil", issues)
			}
		})
	}
}

// What a schema refuses, a check refuses as well, and the other way round where
// a schema can say it.
func TestCheck(t *testing.T) {
	const either = "must have either durationMs or until"
	tests := []struct{ kind, config, want string }{
		{"set", `{}`, "values: required"},
		{"set", `{"values":1}`, "values: must be an object"},
		{"set", `{"values":"{{x}}"}`, ""},
		{"set", `{"values":{"input":1,"a-b":1,"ok_1":1}}`, "values.a-b: warning: is not a valid variable name: {{...}} allows only letters, digits and _\nvalues.input: \"input\" is a name that the service sets itself"},
		{"set", `{"values":{},"value":1,"other":2}`, "other: warning: is not a key of this node type\nvalue: warning: is not a key of this node type"},
		{"template", `{"text":{"a":1}}`, "text: warning: is not text; it is written as text when the node runs"},
		{"template", `{"text":null}`, "text: warning: is not text; it is written as text when the node runs"},
		{"template", `{"text":"{{x}}"}`, ""},
		{"transform", `{"expression":"1 +"}`, "expression: *"},
		{"transform", `{"expression":"{{ x + 1 }}"}`, "expression: warning: is an expression already: remove the braces"},
		{"transform", `{"expression":["x"]}`, "expression: must be an expression, as a string"},
		{"conditional", `{"condition":true}`, "condition: must be an expression, as a string"},
		{"switch", `{"value":"{{x}}","cases":[{"equals":1,"handle":"a"},{"when":"x > ","handle":"b"},{"handle":1},{"when":"true","equals":1,"handle":"c"},{"when":"","handle":"d"}]}`,
			"cases[1].when: *\ncases[2].handle: must be a string\ncases[4].when: *\ncases[2]: must have equals or when\ncases[3]: must have equals or when, not both"},
		{"switch", `{"cases":"{{x}}"}`, "cases: must be an array: its expressions cannot come from a template"},
		{"switch", `{"cases":["{{x}}",1]}`, "cases[1]: must be an object"},
		{"switch", `{"cases":[{"equals":null,"handle":"a"}]}`, "value: required when a case has equals"},
		{"merge", `{"mode":"all"}`, `mode: must be "object", "array" or "first"`},
		{"merge", `{"mode":"{{x}}"}`, ""},
		{"wait", `{}`, either},
		{"wait", `{"durationMs":1,"until":"{{x}}"}`, either},
		{"wait", `{"durationMs":"{{x}}"}`, ""},
		{"wait", `{"durationMs":"5"}`, "durationMs: must be a whole number"},
		{"wait", `{"durationMs":-5}`, "durationMs: must be from 0 to 3153600000000"},
		{"wait", `{"until":"{{x}}"}`, ""},
		{"wait", `{"until":"soon"}`, "until: must be an instant such as 2026-01-31T12:00:00.000Z"},
		{"human", `{"prompt":"?","schema":{"type":"text"}}`, "schema.type: *"},
		{"human", `{"prompt":"?","schema":{"$ref":"https://example.com/"}}`, "schema: *"},
		{"human", `{"prompt":"?","schema":true,"expiresMs":"{{x}}","onExpire":"{{x}}"}`, ""},
		{"approval-gate", `{"onExpire":"continue"}`, "prompt: required\nonExpire: must be \"fail\", \"approve\" or \"reject\""},
		{"respond", `{"status":99,"headers":{"Set-Cookie":"x","X":"{{x}}"}}`, "status: must be from 200 to 599\nheaders.Set-Cookie: is a header that must not be set"},
		{"log", `{"level":"loud","message":"x"}`, `level: must be "debug", "info", "warn" or "error"`},
		{"stop", `{"failed":"{{x}}","message":1}`, "message: warning: is not text; it is written as text when the node runs"},
		{"http-request", `{}`, "url: required"},
		{"http-request", `{"url":""}`, "url: must begin with http:// or https://"},
		{"blueprint", `{"blueprintId":""}`, "blueprintId: must be the id of a blueprint"},
		{"blueprint", `{}`, "blueprintId: required"},
		{"human", `{"prompt":""}`, "prompt: warning: is empty"},
		{"code", `{"language":"javascript","source":""}`, "source: warning: is empty"},
		{"ai-prompt", `{"connectionId":"{{x}}","model":"m","prompt":""}`, "prompt: must not be empty"},
		{"transform", `{"expression":""}`, "expression: *"},
		{"switch", `{"value":1,"cases":[{"equals":1,"handle":""}]}`, "cases[0].handle: warning: is empty, so the case continues only at edges without a sourceHandle"},
		{"http-request", `{"url":"{{x}}/path","method":"{{x}}","headers":"{{x}}","query":"{{x}}","body":"{{x}}","expectStatus":"{{x}}"}`, ""},
		{"http-request", `{"url":"example.com/path"}`, "url: must begin with http:// or https://"},
		{"http-request", `{"url":"ftp://example.com"}`, "url: must begin with http:// or https://"},
		{"http-request", `{"url":"http:///path"}`, "url: must name a host, as in https://example.com/path"},
		{"http-request", `{"url":"http://u:p@example.com"}`, "url: must not hold a name and password; send them in the header Authorization"},
		{"http-request", `{"url":"http://a","method":"GET /"}`, "method: must be a method such as GET or POST"},
		{"http-request", `{"url":"http://a","method":"connect"}`, "method: must be a method such as GET or POST"},
		{"http-request", `{"url":"http://a","headers":{"Host":"b","X":["{{x}}","a\nb"]}}`, "headers.Host: is a header that must not be set\nheaders.X: must be one line without control characters"},
		{"http-request", `{"url":"http://a","expectStatus":[200,"2xx","{{x}}"]}`, ""},
		{"http-request", `{"url":"http://a","expectStatus":"ok"}`, `expectStatus: must be a status from 100 to 599, a form such as "2xx", or a list of them`},
		{"http-request", `{"url":"http://a","expectStatus":[]}`, `expectStatus: must be a status from 100 to 599, a form such as "2xx", or a list of them`},
		{"http-request", `{"url":"http://a","connectionId":"x"}`, "connectionId: must be the id of a connection, a UUID"},
		{"http-request", `{"url":"http://a","body":"x","multipart":[{"name":"f","fileId":"y"}]}`, "multipart: cannot be combined with body"},
		{"http-request", `{"url":"http://a","multipart":[{"name":"f","fileId":"{{x}}","value":1}]}`, "multipart[0].fileId: cannot be combined with value"},
	}
	for _, test := range tests {
		t.Run(test.kind+" "+test.config, func(t *testing.T) {
			var lines []string
			for _, issue := range typeOf(t, test.kind).Check(object(t, test.config)) {
				line := issueText([]blueprint.Issue{issue})
				if issue.Severity == blueprint.SeverityWarning {
					line = strings.Replace(line, ": ", ": warning: ", 1)
				} else if issue.Severity != blueprint.SeverityError {
					t.Errorf("%s: severity %q, want %v", line, issue.Severity, blueprint.SeverityError)
				}
				lines = append(lines, line)
			}
			wanted := strings.Split(test.want, "\n")
			if test.want == "" {
				wanted = nil
			}
			fits := len(lines) == len(wanted)
			for i := 0; fits && i < len(lines); i++ {
				prefix, open := strings.CutSuffix(wanted[i], "*")
				fits = lines[i] == wanted[i] || open && strings.HasPrefix(lines[i], prefix)
			}
			if !fits {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), test.want)
			}
		})
	}
}

func TestUntouched(t *testing.T) {
	for _, test := range []struct {
		kind string
		path []any
		want bool
	}{
		{"transform", []any{"expression"}, true},
		{"transform", []any{}, false},
		{"transform", []any{"other"}, false},
		{"switch", []any{"cases"}, false},
		{"switch", []any{"cases", 0}, false},
		{"switch", []any{"cases", 0, "when"}, true},
		{"switch", []any{"cases", 0, "equals"}, false},
		{"switch", []any{"value", "when"}, false},
		{"human", []any{"schema"}, true},
		{"human", []any{"schema", "properties", "a"}, true},
		{"human", []any{"prompt"}, false},
		{"http-request", []any{"url"}, false},
	} {
		t.Run(fmt.Sprint(test.kind, test.path), func(t *testing.T) {
			if got := typeOf(t, test.kind).Verbatim(test.path); got != test.want {
				t.Errorf("%s %v: %v, want %v", test.kind, test.path, got, test.want)
			}
		})
	}
	if got := strings.Join(typeOf(t, "switch").Expressions, " "); got != "cases[].when" {
		t.Errorf("got %s, want cases[].when", got)
	}
}

func TestSame(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true}, {"1", "10e-1", true}, {"100", "1e2", true}, {"-0", "0.00", true}, {"0e5", "0", true},
		{"1", "-1", false}, {"1", "1.0000000000000000000001", false}, {"12345678901234567890", "12345678901234567891", false},
		{"1e999999999", "10e999999998", true}, {"1e999999999", "1e999999998", false},
		{"1e99999999999999999999", "1e99999999999999999999", true}, {"1e99999999999999999999", "10e99999999999999999998", false},
		{"1", `"1"`, false}, {"0", "false", false}, {"null", "false", false}, {"null", "null", true}, {`""`, "null", false},
		{`{"a":1,"b":[1,{}]}`, `{"b":[1.0,{}],"a":1}`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false}, {`{"a":1}`, `{"b":1}`, false},
		{`[1,2]`, `[2,1]`, false}, {`[]`, `{}`, false}, {`[1]`, `[1,1]`, false}, {`"é"`, `"\u00e9"`, true},
	} {
		t.Run(test.a+" "+test.b, func(t *testing.T) {
			a, _ := blueprint.Decode([]byte(test.a))
			b, _ := blueprint.Decode([]byte(test.b))
			if blueprint.EqualValues(a, b) != test.want || blueprint.EqualValues(b, a) != test.want {
				t.Errorf("%s, %s: want %v", test.a, test.b, test.want)
			}
		})
	}
}
