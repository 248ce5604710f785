package expression

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
)

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		``, `plain`, `{{limit}}`, `a {{ inputData.user.name }} b`, `{{inputData.items[1]["id"]}}`, `{{x ?? "}}"}}`, `{{= {a: {b: limit}} }}`, `{{= "}}" }}`,
		`{{`, `{{}}`, `}}{{`, `{{{a}}}`, `{{a ?? {"b":{"c":[1]}}}}`, "{{= `a``b` // x\n }}", `{{text}}{{evil}}`, `{{inputData["weird-key"]}}`, `{{= 1 /* }} */ }}`,
	} {
		f.Add(seed)
	}
	scope := testScope(f)
	longest := 0
	for _, value := range scope {
		data, _ := blueprint.Encode(value)
		longest = max(longest, len(data))
	}
	f.Fuzz(func(t *testing.T, source string) {
		template, err := compileTemplate(source)
		if err != nil {
			checkError(t, err)
			return
		}
		if template.constant() != !strings.Contains(source, "{{") {
			t.Fatalf("constant: %v, want %v", template.constant(), !strings.Contains(source, "{{"))
		}
		b := &budget{steps: 100_000, bytes: 1 << 20, text: 1 << 20}
		value, err := template.resolve(scope, b, false)
		if err != nil {
			checkError(t, err)
			return
		}
		again, err := template.Resolve(scope)
		if err != nil || encode(t, again) != encode(t, value) {
			t.Fatalf("resolved again: %v, %v, first %v", again, err, value)
		}
		text, ok := value.(string)
		if !ok {
			return
		}
		if len(text) > 1<<20 {
			t.Fatalf("%d bytes of text, want at most %v", len(text), 1<<20)
		}
		if !strings.Contains(source, "{{=") && len(text) > len(source)*(1+longest/4) {
			t.Fatalf("%d bytes of %d", len(text), len(source))
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`1 + 2 * limit`, `inputData.user.name ?? "x"`, `filter(inputData.items, .price > 2) | map(.id)`, `let a = 1; a..10`, `"a" matches "b+"`, `{a: [1, 2], (text): nil}`,
		`if yes {1} else {2}`, `1 < 2 < 3`, `yes ?: no`, `text[1:-1]`, `sortBy(inputData.items, .kind, "desc")`, `groupBy(empty, #)`, `fromJSON("[1e999]")[0] + 1`, `b"x"`, `'\u{1F600}'`,
		`-inputData.big % 2 ** 3`, `not ("a" not in inputData)`, `::len("x")`, `a?.[0]?.b`, `map(1..3, {#index; #})`, "`a``b`", `toJSON(nodes) + string(none)`, `split(text, "") | join("-") | upper()`,
	} {
		f.Add(seed)
	}
	scope := testScope(f)
	f.Fuzz(func(t *testing.T, source string) {
		x, err := CompileExpression(source)
		if err != nil {
			checkError(t, err)
			return
		}
		for _, name := range x.Names() {
			if name == "" {
				t.Fatal("an empty name")
			}
		}
		b := &budget{steps: 100_000, bytes: 1 << 20, text: 1 << 16}
		value, err := x.run(scope, b)
		if err != nil {
			checkError(t, err)
			return
		}
		data, err := blueprint.Encode(value)
		if err != nil {
			t.Fatalf("the result is not a JSON value: %v", err)
		}
		if _, err := blueprint.Decode(data); err != nil {
			t.Fatalf("the result does not survive JSON: %v", err)
		}
		b = &budget{steps: 100_000, bytes: 1 << 20, text: 1 << 16}
		again, err := x.run(scope, b)
		if err != nil || encode(t, again) != string(data) {
			t.Fatalf("evaluated again: %v, %v, first %s; want %v", again, err, data, string(data))
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("a %T: %v", err, err)
	}
	switch e.Code {
	case CodeUnknownName, CodeBadTemplate, CodeBadExpression, CodeExpressionFailed, CodeBudgetExceeded:
	default:
		t.Fatalf("code %q", e.Code)
	}
	if e.Message == "" || len(e.Error()) > 5000 {
		t.Fatalf("message %q, want Message not empty and length at most 5000", e.Error())
	}
}

// Compiled values are safe for concurrent use.
func TestConcurrentUse(t *testing.T) {
	x, err := CompileExpression(`map(inputData.items, let p = .price; any([p], # > limit)) == [false, true, false] and text matches "^h" and text matches inputData.action + "|h"`)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := CompileConfig(map[string]any{"a": "{{limit}} {{= text }}", "b": []any{"{{none}}"}}, nil)
	scope := testScope(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if value, err := x.Eval(scope); err != nil || value != true {
					t.Errorf("%v, %v; want true", value, err)
				}
				if value, err := config.Resolve(scope); err != nil || value["a"] != "3 héllo" {
					t.Errorf("%v, %v; want a 3 héllo", value, err)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkTemplate(b *testing.B) {
	template, _ := compileTemplate(`Hello {{inputData.user.name}}, you have {{limit}} items`)
	scope := testScope(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Resolve(scope); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCondition(b *testing.B) {
	condition, _ := CompileExpression(`inputData.user.age >= 18 and inputData.action == "open"`)
	scope := testScope(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := condition.Eval(scope); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := CompileExpression(`inputData.user.age >= 18 and inputData.action == "open"`); err != nil {
			b.Fatal(err)
		}
	}
}
