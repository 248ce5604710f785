package document_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// bomb returns nine anchors of ten aliases each to the previous one.
func bomb() string {
	var text strings.Builder
	text.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return text.String()
}

func members(n int, format string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

func staircase(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return text.String()
}

// Files whose parsing or expansion would take much memory are refused cheaply.
func TestHostileFiles(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"brackets", "a.yaml", strings.Repeat("[", 20_000), "a.yaml:1:129: nested deeper than 128 levels"},
		{"braces", "a.yaml", "x: " + strings.Repeat("{a: ", 20_000), "a.yaml:1:516: nested deeper"},
		{"dashes", "a.yaml", strings.Repeat("- ", 20_000) + "x\n", "a.yaml:1:259: nested deeper"},
		{"explicit keys", "a.yaml", strings.Repeat("? ", 20_000) + "x\n", "a.yaml:1:259: nested deeper"},
		{"indentation", "a.yaml", staircase(1000), "a.yaml:130:130: nested deeper"},
		{"tags", "a.yaml", "a: " + strings.Repeat("!!str ", 20_000) + "x\n", "a.yaml:1:44: too many tags"},
		{"dashes in brackets", "a.yaml", "[" + strings.Repeat("- ", 20_000), "a.yaml:1:18: too many values in one entry"},
		{"question marks in braces", "a.yaml", "a: {" + strings.Repeat("? ", 20_000), "a.yaml:1:21: too many values in one entry"},
		{"anchors of names in brackets", "a.yaml", "[" + strings.Repeat("&a <<: ", 20_000), "a.yaml:1:63: too many values in one entry"},
		{"documents", "a.yaml", strings.Repeat("a\n---\n", 20_000), "a.yaml:202:1: too many documents in one file"},
		{"anchors", "a.yaml", strings.Repeat("&a ", 40_000) + "x\n", "a.yaml:1:4: unexpected scalar"},
		{"commas", "a.yaml", "[" + strings.Repeat(",", 200_000) + "]\n", "a.yaml:1:2: expected sequence element"},
		{"quotes", "a.yaml", strings.Repeat("\"", 200_000) + "\n", "a.yaml:1:3: value is not allowed in this context"},
		{"aliases", "a.yaml", bomb(), "a.yaml:5:45: the file's aliases add more than 100000 values"},
		{"an alias in itself", "a.yaml", "a: &a [1, *a]\n", `a.yaml:1:11: this alias (*name) has no anchor`},
		{"a long mapping", "a.yaml", members(100_000, "k%d: 1\n"), "too large to read"},
		{"a long name", "a.yaml", strings.Repeat("n", 1<<20) + ": [" + strings.Repeat("1,", 100_000) + "1]\n", "too large to read"},
		{"many values", "a.yaml", "a: [" + strings.Repeat("1,", 3_000_000) + "1]\n", "a.yaml:1:1000002: the file has more than 500000 values"},
		{"JSON brackets", "a.json", strings.Repeat("[", 1_000_000), "a.json:1:129: nested deeper than 128 levels"},
		{"JSON objects", "a.json", strings.Repeat(`{"a":`, 1_000_000), "a.json:1:641: nested deeper than 128 levels"},
		{"JSON values", "a.json", "[" + strings.Repeat("1,", 3_000_000) + "1]\n", "a.json:1:1000000: the file has more than 500000 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := document.Parse(c.file, []byte(c.text))
			runtime.ReadMemStats(&after)
			var syntax *document.SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v, want %q", err, c.want)
			}
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d MiB", used)
			if used > 160 {
				t.Errorf("refusing the file allocated %d MiB, want at most 160", used)
			}
		})
	}
}

// Files just within the limits are accepted.
func TestWithinLimits(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"brackets", "a.yaml", strings.Repeat("[", 128) + strings.Repeat("]", 128)},
		{"dashes", "a.yaml", strings.Repeat("- ", 128) + "x\n"},
		{"dashes and brackets", "a.yaml", strings.Repeat("- ", 127) + "[x]\n"},
		{"indentation", "a.yaml", staircase(128)},
		{"brackets in texts", "a.yaml", "a: |\n" + strings.Repeat("  if [ -f x\n", 1000) + "b: '" + strings.Repeat("[", 1000) + "'\nc: x" + strings.Repeat("[", 1000) + "\n# " + strings.Repeat("[", 1000) + "\n"},
		{"many short lists", "a.yaml", "a:\n" + strings.Repeat("  - [1, {b: 2}]\n", 1000)},
		{"a long list", "a.yaml", "a:\n" + strings.Repeat("- x\n", 50_000)},
		{"a mapping", "a.yaml", members(5000, "k%d: 1\n")},
		{"aliases", "a.yaml", "a: &a [" + strings.Repeat("1, ", 900) + "1]\nb: [" + strings.Repeat("*a, ", 100) + "*a]\n"},
		{"JSON brackets", "a.json", strings.Repeat("[", 128) + strings.Repeat("]", 128)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := document.Parse(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			data, err := blueprint.Encode(d.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := blueprint.Decode(data); err != nil {
				t.Errorf("the value does not decode as JSON: %v", err)
			}
		})
	}
}

func TestInvalidCharacters(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.yaml", "title: x\nb: é\xffz\n", "a.yaml:2:5: is not valid UTF-8"},
		{"a.json", "{\"a\":\n \"\xc3(\"}", "a.json:2:3: is not valid UTF-8"},
		{"a.yaml", "\xff\xfet\x00", "a.yaml:1:1: is not valid UTF-8"},
		{"a.json", "{\"é\":\n \"ü\\ud83d\"}", "a.json:2:4: this escape is half of a surrogate pair"},
		{"a.json", `{"\uDE00": 1}`, "a.json:1:3: this escape is half of a surrogate pair"},
		{"a.json", `["\ud83d\ud83d\ude00"]`, "a.json:1:3: this escape is half of a surrogate pair"},
		{"a.yaml", `a: "\ud83d"`, "a.yaml:1:5: "},
	} {
		t.Run(c.name+" "+c.want, func(t *testing.T) {
			_, err := document.Parse(c.name, []byte(c.text))
			var syntax *document.SyntaxError
			if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("Parse(%q) = %v, want %q", c.text, err, c.want)
			}
		})
	}
	for _, text := range []string{`["\ud83d\ude00"]`, `["\\ud83d"]`, `["\u00e9\"\\", "\uD83D\uDE00"]`} {
		if _, err := document.Parse("a.json", []byte(text)); err != nil {
			t.Errorf("Parse(%s) = %v", text, err)
		}
	}
}

func TestMergeKeys(t *testing.T) {
	const text = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nx:\n  <<: [*base, *more]\n  a: 5\ny:\n  d: 6\n  <<: *base\n"
	d, err := document.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want, err := blueprint.Decode([]byte(`{"base":{"a":1,"b":2},"more":{"b":3,"c":4},"x":{"a":5,"b":2,"c":4},"y":{"d":6,"a":1,"b":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !blueprint.Equal(d.Value, want) {
		t.Errorf("Parse = %v, want %v", d.Value, want)
	}
	for path, want := range map[string]document.Position{"a": {Line: 5, Column: 6}, "c": {Line: 2, Column: 23}} {
		t.Run(path, func(t *testing.T) {
			if got := d.At([]any{"x", path}); got != want {
				t.Errorf("At(x.%s) = %v, want %v", path, got, want)
			}
		})
	}
}
