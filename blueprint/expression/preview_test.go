package expression

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownScope holds values as a user sees them, with "***" in place of secrets.
var shownScope = MapScope{
	"input": map[string]any{
		"total": json.Number("12"), "token": "***", "note": "Bearer ***!",
		"items": []any{map[string]any{"price": json.Number("3"), "key": "***"}, map[string]any{"price": json.Number("4"), "key": "k"}},
		"***":   "a masked key",
	},
	"name": "Ada",
}

// A value that depends on a masked one says so, however it uses it.
func TestPreviewOfMaskedValues(t *testing.T) {
	for _, test := range []struct {
		expression string
		value      any
		masked     bool
	}{
		{`input.total > 10`, true, false},
		{`name + "!"`, "Ada!", false},
		{`input.items[1].key`, "k", false},
		{`input?.items?.[1]?.key`, "k", false},
		{`input.items[-1].key == "k"`, true, true}, // conservative
		{`input["total"]`, json.Number("12"), false},
		{`input.gone.token`, nil, false},
		{`let input = 1; input`, json.Number("1"), true}, // the name alone is taken for the whole input
		{`input.token`, "***", true},
		{`input.token == "s3cret"`, false, true},
		{`input.token startsWith "s"`, false, true},
		{`len(input.token)`, json.Number("3"), true},
		{`input["tok" + "en"] == "s3cret"`, false, true},
		{`input.token[0]`, "*", true},
		{`name == "Ada" ? input.token : 1`, "***", true},
		{`any(input.items, #.key == "s3cret")`, false, true},
		{`let t = input.token; t == "s3cret"`, false, true},
		{`"s3cret" in values(input)`, false, true},
		{`input.items[0].key == "s3cret"`, false, true},
		{`map(input.items, .price)`, []any{json.Number("3"), json.Number("4")}, true}, // conservative
	} {
		t.Run(test.expression, func(t *testing.T) {
			got, err := NewPreview(shownScope, "***", 1<<20).Expression(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Previewed{Value: test.value, Masked: test.masked}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			inside, err := NewPreview(shownScope, "***", 1<<20).Template("{{= " + test.expression + " }}")
			if err != nil || inside.Masked != test.masked {
				t.Errorf("in a template: %v, %v; want masked %v", inside, err, test.masked)
			}
		})
	}
	for template, want := range map[string]Previewed{
		`Dear {{name}}, {{= input.total * 2 }}`: {Value: "Dear Ada, 24"},
		`{{input.token}}`:                       {Value: "***", Masked: true},
		`{{input.note}} {{name}}`:               {Value: "Bearer ***! Ada", Masked: true},
		`{{input.gone ?? "x"}}`:                 {Value: "x"},
		`plain ***`:                             {Value: "plain ***"},
	} {
		t.Run(template, func(t *testing.T) {
			got, err := NewPreview(shownScope, "***", 1<<20).Template(template)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// All expressions of a preview share one budget and one room for values.
func TestPreviewIsBounded(t *testing.T) {
	p := NewPreview(MapScope{"s": strings.Repeat("x", 600)}, "***", 1000)
	for i, want := range []Previewed{{Value: strings.Repeat("x", 600)}, {Omitted: true}} {
		got, err := p.Expression("s")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("value %d: %v (-want +got):\n%s", i, err, diff)
		}
	}
	if got, err := p.Expression("len(s)"); err != nil || got.Value != json.Number("600") {
		t.Errorf("after one that did not fit: %v, %v; want 600", got, err)
	}
	heavy := `count(1..1000000, # > 0)`
	var err error
	calls := 0
	for ; err == nil && calls < 100; calls++ {
		_, err = p.Expression(heavy)
	}
	refused, ok := err.(*Error)
	if !ok || refused.Code != CodeBudgetExceeded {
		t.Fatalf("after %d evaluations: %v, want %s", calls, err, CodeBudgetExceeded)
	}
	alone, err := NewPreview(MapScope{}, "***", 1000).Expression(heavy)
	if err != nil || alone.Value != json.Number("1000000") {
		t.Errorf("alone: %v, %v; want it to end within a budget", alone, err)
	}
}

// The search for the mask has a budget too; beyond it a value is taken for masked.
func TestPreviewSearchIsBounded(t *testing.T) {
	many := make([]any, maxSteps)
	p := NewPreview(MapScope{"list": many}, "***", 1000)
	got, err := p.Expression("list[0:0]")
	if err != nil || !got.Masked {
		t.Errorf("%v, %v; want it taken for masked", got, err)
	}
}

// An error of an expression in a template has its place in the template.
func TestPreviewErrorPlaces(t *testing.T) {
	for template, want := range map[string]string{
		`{{= name * 2 }}`:                       "1:10",
		"Dear {{name}},\n{{= 1 +\n name * 2 }}": "3:7",
		`{{= gone.x }}`:                         "0:0",
		`é {{= 1 + }}`:                          "1:10",
	} {
		t.Run(template, func(t *testing.T) {
			_, err := NewPreview(shownScope, "***", 1000).Template(template)
			refused, ok := err.(*Error)
			if !ok {
				t.Fatalf("%v is no *Error", err)
			}
			if got := fmt.Sprintf("%d:%d", refused.Line, refused.Column); got != want {
				t.Errorf("%v is at %s, want %s", err, got, want)
			}
		})
	}
}
