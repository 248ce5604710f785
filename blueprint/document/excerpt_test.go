package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// An excerpt underlines a value, its name, or a part of a string in any notation.
func TestExcerpt(t *testing.T) {
	const spotted = "{{bad}}"
	for _, c := range []struct {
		name, text string
		path       []any
		spot       bool // at {{bad}} in the value
		key        bool
		want       string
	}{
		{"plain", "a: {{x}\n", nil, false, false, ""},
		{"plain", "a: hello world # note\n", []any{"a"}, false, false, "  1 | a: hello world # note\n    |    ^~~~~~~~~~~\n"},
		{"name", "b: 1\n'a b': hello\n", []any{"a b"}, false, true, "  2 | 'a b': hello\n    | ^~~~~\n"},
		{"number", "a: [1, -25, x]\n", []any{"a", 1}, false, false, "  1 | a: [1, -25, x]\n    |        ^~~\n"},
		{"boolean at the end", "a: true", []any{"a"}, false, false, "  1 | a: true\n    |    ^~~~\n"},
		{"empty", "a:\nb: 2\n", []any{"a"}, false, false, "  1 | a:\n    | ^\n"},
		{"null", "a: ~\n", []any{"a"}, false, false, "  1 | a: ~\n    |    ^\n"},
		{"missing in a block", "a:\n  - b: 1\n    c: 2\n", []any{"a", 0, "d"}, false, false, "  2 |   - b: 1\n    |     ^\n"},
		{"missing in a flow", "a: {b: {c: 1}}\n", []any{"a", "b", "d"}, false, false, "  1 | a: {b: {c: 1}}\n    |        ^\n"},
		{"single quotes", "a: 'it''s {{bad}}'\n", []any{"a"}, true, false, "  1 | a: 'it''s {{bad}}'\n    |           ^~~~~~~\n"},
		{"double quotes", `a: "\u00e9\n\"{{bad}}\""`, []any{"a"}, true, false, "  1 | a: \"\\u00e9\\n\\\"{{bad}}\\\"\"\n    |               ^~~~~~~\n"},
		{"all of double quotes", `a: "x y"  # z`, []any{"a"}, false, false, "  1 | a: \"x y\"  # z\n    |    ^~~~~\n"},
		{"over lines", "a: \"one\n\n   two {{bad}}\n  three\"\n", []any{"a"}, true, false, "  3 |    two {{bad}}\n    |        ^~~~~~~\n"},
		{"over lines, whole", "a: \"one\n  two\"\n", []any{"a"}, false, false, "  1 | a: \"one\n    |    ^\n"},
		{"plain over lines", "a: one\n  two {{bad}}\nb: 1\n", []any{"a"}, true, false, "  2 |   two {{bad}}\n    |       ^~~~~~~\n"},
		{"literal", "a:\n  b: |  # {{bad}}\n    one\n\n      two {{bad}}\n", []any{"a", "b"}, true, false, "  5 |       two {{bad}}\n    |           ^~~~~~~\n"},
		{"folded", "a: >-\n  one\n  two {{bad}}\n  three\n", []any{"a"}, true, false, "  3 |   two {{bad}}\n    |       ^~~~~~~\n"},
		{"line ends of Windows", "a: |\r\n  one\r\n  {{bad}}\r\nb: \"x\r\n  y\"\r\nc: 1\r\n", []any{"a"}, true, false, "  3 |   {{bad}}\n    |   ^~~~~~~\n"},
		{"after them", "a: |\r\n  one\r\n  {{bad}}\r\nb: \"x\r\n  y\"\r\nc: 17\r\n", []any{"c"}, false, false, "  6 | c: 17\n    |    ^~\n"},
		{"after a byte order mark", "\ufeffa: 17\n", []any{"a"}, false, false, "  1 | a: 17\n    |    ^~\n"},
		{"an alias", "a: &x {b: 'z {{bad}}'}\nc: *x\n", []any{"c", "b"}, true, false, "  1 | a: &x {b: 'z {{bad}}'}\n    |              ^~~~~~~\n"},
		{"an alias of a text", "a: &x 'z {{bad}}'\nc: *x\n", []any{"c"}, true, false, "  1 | a: &x 'z {{bad}}'\n    |          ^~~~~~~\n"},
		{"an alias itself", "a: &x 5\nc: *x\n", []any{"c"}, false, false, "  2 | c: *x\n    |    ^\n"},
		{"anchored", "a: &x 5\n", []any{"a"}, false, false, "  1 | a: &x 5\n    |       ^\n"},
		{"merged", "a: &x {b: 5}\nc:\n  <<: *x\n", []any{"c", "b"}, false, false, "  1 | a: &x {b: 5}\n    |           ^\n"},
		{"JSON", `{"a": "x\ty {{bad}}", "b": 1}`, []any{"a"}, true, false, "  1 | {\"a\": \"x\\ty {{bad}}\", \"b\": 1}\n    |             ^~~~~~~\n"},
		{"a name in JSON", `{"a": "x"}`, []any{"a"}, false, true, "  1 | {\"a\": \"x\"}\n    |  ^~~\n"},
		{"pairs in JSON", `{"a": "\ud83d\ude00{{bad}}"}`, []any{"a"}, true, false, "  1 | {\"a\": \"\\ud83d\\ude00{{bad}}\"}\n    |                    ^~~~~~~\n"},
		{"a tab in JSON", "{\n\t\"a\": 17}", []any{"a"}, false, false, "  2 |     \"a\": 17}\n    |          ^~\n"},
		{"wide", "日本: '日本 {{bad}}'\n", []any{"日本"}, true, false, "  1 | 日本: '日本 {{bad}}'\n    |             ^~~~~~~\n"},
		{"wide value", "a: 日本\n", []any{"a"}, false, false, "  1 | a: 日本\n    |    ^~~~\n"},
		{"combining", "e\u0301: 17\n", []any{"e\u0301"}, false, false, "  1 | e\u0301: 17\n    |    ^~\n"},
		{"control", "{\"a\": [\"\u009b31m\", 17]}", []any{"a", 1}, false, false, "  1 | {\"a\": [\"\ufffd31m\", 17]}\n    |                ^~\n"},
	} {
		t.Run(c.name+" "+c.want, func(t *testing.T) {
			file2 := "x.yaml"
			if strings.HasPrefix(c.text, "{") {
				file2 = "x.json"
			}
			d, err := document.Parse(file2, []byte(c.text))
			if err != nil {
				if c.want != "" {
					t.Errorf("%s: %v, want want nothing", c.name, err)
				}
				return
			}
			issue := blueprint.Issue{Path: c.path, Spot: blueprint.Spot{OnKey: c.key}}
			if c.spot {
				value := d.Value
				for _, part := range c.path {
					value = value.(map[string]any)[part.(string)]
				}
				before, _, _ := strings.Cut(value.(string), spotted)
				line := before[strings.LastIndexByte(before, '\n')+1:]
				issue.Spot = blueprint.Spot{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Length: len(spotted)}
			}
			if got := d.ExcerptOf(issue); got != c.want {
				t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
			}
		})
	}
}

// Long lines are cut around the caret.
func TestExcerptOfALongLine(t *testing.T) {
	d, err := document.Parse("x.json", []byte(`{"a": "`+strings.Repeat("x", 300)+`", "b": 17, "c": "`+strings.Repeat("y", 300)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "  1 | …" + strings.Repeat("x", 24) + `", "b": 17, "c": "` + strings.Repeat("y", 53) + "…\n    |  " + strings.Repeat(" ", 32) + "^~\n"
	if got := d.ExcerptOf(blueprint.Issue{Path: []any{"b"}}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, at := range []document.Position{{}, {Line: 2, Column: 1}, {Line: 1, Column: 10_000}, {Line: -1, Column: -1}, {Line: 1}} {
		if text := d.Excerpt(at); text != "" && strings.Count(text, "\n") != 2 {
			t.Errorf("%+v: %q", at, text)
		}
	}
}

// FuzzExcerpt checks that the positions of existing and missing values are inside the
// file.
func FuzzExcerpt(f *testing.F) {
	f.Add("x.yaml", []byte(sample), 1, 1, 1)
	f.Add("x.json", []byte(`{"a":[1,{"b":"\u00e9\n x"}]}`), 1, 2, 3)
	f.Add("x.yaml", []byte("a: &a >\n x\n\ty\n\n z\nb: *a\n'c\n d': \"\\x41\\\n  b\"\n"), 2, 1, 9)
	f.Fuzz(func(t *testing.T, name string, data []byte, line, column, length int) {
		d, err := document.Parse(name, data)
		if err != nil {
			if syntax, ok := err.(*document.SyntaxError); ok { //nolint:errorlint // Parse promises it
				shows(t, data, syntax.Excerpt())
			}
			return
		}
		var walk func(path []any, value any)
		walk = func(path []any, value any) {
			for _, spot := range []blueprint.Spot{{}, {OnKey: true}, {Line: 1, Column: 1, Length: 1}, {Line: line, Column: column, Length: min(length, 1000)}} {
				issue := blueprint.Issue{Path: path, Spot: spot}
				at := d.SpanOf(issue)
				if at.Start.Line < 1 || at.Start.Line > 1+strings.Count(string(data), "\n")+strings.Count(string(data), "\r") || at.Start.Column < 1 || at.Start.Column > len(data)+1 {
					t.Fatalf("%q: %v is at %+v", data, path, at)
				}
				if at.End != (document.Position{}) && (at.End.Line != at.Start.Line || at.End.Column <= at.Start.Column) {
					t.Fatalf("%q: %v is at %+v", data, path, at)
				}
				shows(t, data, d.ExcerptOf(issue))
			}
			switch v := value.(type) {
			case map[string]any:
				for key, inside := range v {
					walk(append(path[:len(path):len(path)], key), inside)
				}
			case []any:
				for i, inside := range v {
					walk(append(path[:len(path):len(path)], i), inside)
				}
			}
		}
		walk(nil, d.Value)
		shows(t, data, d.Excerpt(document.Position{Line: line, Column: column}))
	})
}

func shows(t *testing.T, data []byte, text string) {
	t.Helper()
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if len(lines) != 3 || lines[2] != "" || strings.Count(lines[1], "^") != 1 {
		t.Fatalf("%q: %q, want a line and one mark below it", data, text)
	}
	if utf8.RuneCountInString(lines[0]) > 400+len(data) || strings.ContainsAny(text, "\r\x1b\x00\t") {
		t.Fatalf("%q: %q, want at most %d characters and none of control", data, text, 400+len(data))
	}
}
