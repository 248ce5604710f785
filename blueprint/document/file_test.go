package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

const sample = `title: Greet   # a comment
tags: [a, "b"]
blueprint_map:
  nodes:
    - id: hello
      type: template
      title: Say hello
      config:
        text: |
          Hello {{name}}
          and goodbye
    - {id: big, type: set, title: Big, config: {values: {n: 12345678901234567890, f: 1.50, hex: 0x1F}}}
  edges: []
`

func TestParseYAML(t *testing.T) {
	d, err := document.Parse("greet.blueprint.yaml", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	want, err := blueprint.Decode([]byte(`{"title":"Greet","tags":["a","b"],"blueprint_map":{"edges":[],"nodes":[
		{"id":"hello","type":"template","title":"Say hello","config":{"text":"Hello {{name}}\nand goodbye\n"}},
		{"id":"big","type":"set","title":"Big","config":{"values":{"n":12345678901234567890,"f":1.50,"hex":31}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Value); diff != "" {
		t.Fatal(diff)
	}
	for _, c := range []struct {
		path []any
		want document.Position
	}{
		{nil, document.Position{Line: 1, Column: 1}},
		{[]any{"blueprint_map", "nodes", 0, "type"}, document.Position{Line: 6, Column: 13}},
		{[]any{"blueprint_map", "nodes", 0, "config", "text"}, document.Position{Line: 9, Column: 15}},
		{[]any{"blueprint_map", "nodes", 1, "config", "values", "nope"}, document.Position{Line: 12, Column: 57}},
	} {
		t.Run(fmt.Sprint(c.path), func(t *testing.T) {
			if got := d.At(c.path); got != c.want {
				t.Errorf("At(%v) = %v, want %v", c.path, got, c.want)
			}
		})
	}
}

func TestJSONPositions(t *testing.T) {
	d, err := document.Parse("x.json", []byte("{\n\t\"a\": [1,\n\t\t{\"b\": null}]\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.At([]any{"a", 1, "b"}), (document.Position{Line: 3, Column: 9}); got != want {
		t.Errorf("At = %v, want %v", got, want)
	}
	if got, want := d.Point(blueprint.Issue{Path: []any{"a", 0}, Message: "is odd"}), "x.json:2:8: a[0]: is odd"; got != want {
		t.Errorf("Point = %q, want %q", got, want)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "{\"a\": 1,\n \"b\": }", "a.json:2:7: "},
		{"a.json", "{\"a\": 1", "the file ends unexpectedly"},
		{"a.json", "{\"a\": 1} x", "followed by more text"},
		{"a.yaml", "a: 1\nb: [1, 2\n", "a.yaml:"},
		{"a.yaml", "a: 1\na: 2\n", "a.yaml:2:1: "},
		{"a.yaml", "a: *nobody\n", `a.yaml:1:4: this alias (*name) has no anchor; a text that begins with * needs quotes`},
		{"a.yaml", "a: .inf\n", "not a JSON number"},
		{"a.yaml", "a: !!binary aGk=\n", "a.yaml:1:4: this tag (!name) is not supported; a text that begins with ! needs quotes"},
		{"a.yaml", "", "the file is empty"},
		{"a.yaml", "a: 1\n---\nb: 2\n", "a second document"},
		{"a.yaml", strings.Repeat("- ", 200) + "x\n", "nested deeper"},
	} {
		t.Run(c.name+" "+c.want, func(t *testing.T) {
			_, err := document.Parse(c.name, []byte(c.text))
			var syntax *document.SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%q) = %v, want %q", c.text, err, c.want)
			}
		})
	}
}

func values() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "yes", "null", "~", "1e3", "0x10", "- a", "a: b", "{{= x }}", "#", "line\nbreak", " lead", "trail ", "\t", "true", "*a", "&a", "!t", "2024-01-01", "'", "\"", "\\n", "é", "a\n\n\nb\n", "|", ">", "%", "@", "`", "012", "1_000", ".inf", "=", "<<", "a #b", "\u0000", "\u2028", "\ufeff"}))
	leaf := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"0", "-1", "1.50", "1e400", "12345678901234567890", "1E-7"}), func(s string) any { return json.Number(s) }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	var level func(depth int) *rapid.Generator[any]
	level = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(level(depth-1), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, level(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	return level(3)
}

func TestMarshalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := values().Draw(t, "value")
		// Invalid UTF-8 becomes U+FFFD, as in JSON.
		plain, err := blueprint.Plain(value)
		if err != nil {
			t.Fatal(err)
		}
		for _, asJSON := range []bool{true, false} {
			name := map[bool]string{true: "x.json", false: "x.yaml"}[asJSON]
			text, err := document.Marshal([]document.Member{{Name: "title", Value: "t"}, {Name: "value", Value: plain}}, asJSON)
			if err != nil {
				t.Fatal(err)
			}
			d, err := document.Parse(name, text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if got := d.Value.(map[string]any)["value"]; !blueprint.Equal(got, plain) {
				t.Fatalf("%s: got %#v, want %#v from\n%s", name, got, plain, text)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("x.yaml", []byte(sample))
	f.Add("x.json", []byte(`{"a":[1,{"b":null}]}`))
	f.Add("x.yaml", []byte("a: &a [1]\nb: *a\n<<: {c: 1}\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d, err := document.Parse(name, data)
		if err != nil {
			checkSyntaxError(t, data, err)
			return
		}
		encoded, err := blueprint.Encode(d.Value)
		if err != nil {
			t.Fatalf("a parsed file does not encode: %v", err)
		}
		if strings.HasSuffix(name, ".json") {
			second, err := blueprint.Decode(bytes.TrimPrefix(data, []byte("\ufeff")))
			if err != nil || !blueprint.Equal(second, d.Value) {
				t.Fatalf("%q is %s, but blueprint.Decode returns %v, %v; want %v", data, encoded, second, err, d.Value)
			}
		}
		object, ok := d.Value.(map[string]any)
		if !ok {
			return
		}
		var members []document.Member
		for key, value := range object {
			members = append(members, document.Member{Name: key, Value: value})
		}
		text, err := document.Marshal(members, false)
		if err != nil {
			t.Fatal(err)
		}
		again, err := document.Parse("again.yaml", text)
		if err != nil || !blueprint.Equal(again.Value, d.Value) {
			t.Fatalf("%q is written as %q, which reads back with %v; want %v", data, text, err, d.Value)
		}
	})
}

// checkSyntaxError checks that an error has a position in the file and a message of one
// line.
func checkSyntaxError(t *testing.T, data []byte, err error) {
	t.Helper()
	var syntax *document.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("%q: %v has no position in the file", data, err)
	}
	lines := 1 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
	if syntax.Line < 1 || syntax.Line > lines+1 || syntax.Column < 1 {
		t.Fatalf("%q: %+v, want a place in the %d lines", data, syntax, lines)
	}
	if syntax.Message == "" || strings.Contains(syntax.Message, "\n") {
		t.Fatalf("%q: message %q, want one line", data, syntax.Message)
	}
}
