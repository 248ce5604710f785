package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"blueprintd/blueprint"
)

// Every character of a marshalled string is found at its offset in the file, in plain or
// escaped form.
func TestTraceFindsEveryCharacter(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab"'\\ \n\t{}#:é日|>-]{0,12}`), rapid.SampledFrom([]string{"{{a}}\n  {{b}}\n", "a\n\n\nb", " a", "a ", "\u0085x\u2028y", "'", `"`, "\\", "x\ty", "\U0001f600 z"}))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(texts, 1, 4).Draw(t, "texts")
		value := make([]any, len(list))
		for i, text := range list {
			value[i] = strings.ToValidUTF8(text, "?")
		}
		for _, asJSON := range []bool{true, false} {
			data, err := Marshal([]Member{{Name: "k", Value: map[string]any{"list": value}}}, asJSON)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(map[bool]string{true: "x.json", false: "x.yaml"}[asJSON], data)
			if err != nil {
				t.Fatal(err)
			}
			for i := range value {
				text := value[i].(string)
				here, read, whole := d.find([]any{"k", "list", i})
				if !whole || read != text {
					t.Fatalf("%q reads back as %q", text, read)
				}
				from, ok := d.source.offset(here.text)
				if !ok {
					t.Fatalf("%q has no position in %q", text, data)
				}
				trace := newTrace(d.source.data, from)
				for offset, r := range text {
					at, ok := trace.reach(text, offset)
					if !ok {
						t.Fatalf("%q is not found in\n%s", text, data)
					}
					found, _ := utf8.DecodeRune(d.source.data[at:])
					if !blank(r) && found != r && found != '\\' && !(r == '\'' && found == '\'') {
						t.Fatalf("%q of %q is found at %q", r, text, d.source.data[at:])
					}
				}
				if end, ok := trace.reach(text, len(text)); !ok {
					t.Fatalf("the end of %q is not found", text)
				} else if _, ok = trace.close(end); !ok {
					t.Fatalf("the quote of %q is not found in\n%s", text, data)
				}
				if span := d.SpanOf(blueprint.Issue{Path: []any{"k", "list", i}}); span.Start != here.at {
					t.Fatalf("%v, want Start %v", span, here.at)
				}
			}
		}
	})
}
