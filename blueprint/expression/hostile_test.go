package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// hostileScope returns about 5 MiB of JSON, divided by scale, of each of the most
// expensive kinds.
func hostileScope(scale int) MapScope {
	fill := func(n int, item func(i int) any) []any {
		items := make([]any, n/scale)
		for i := range items {
			items[i] = item(i)
		}
		return items
	}
	return MapScope{
		"ones":     fill(2_500_000, func(int) any { return json.Number("1") }),
		"denormal": fill(400_000, func(int) any { return json.Number("4.9e-324") }),
		"digits":   fill(50_000, func(int) any { return json.Number("0." + strings.Repeat("123456789", 10)) }),
		"whole":    fill(50_000, func(int) any { return json.Number("1" + strings.Repeat("123456789", 10)) }),
		"strings":  fill(400_000, func(i int) any { return fmt.Sprintf("abc%07d", i*7919%400_000) }),
		"objects":  fill(300_000, func(int) any { return map[string]any{"a": json.Number("1"), "b": "x"} }),
		"nested":   fill(1000, func(int) any { return fill(1000, func(int) any { return json.Number("1") }) }),
		"small":    fill(3000, func(i int) any { return json.Number(fmt.Sprint(i)) }),
		"text":     strings.Repeat("abcdefghij", 500_000/scale),
		"letters":  strings.Repeat("é", 2_500_000/scale),
		"json":     "[" + strings.Repeat("{},", 1_000_000/scale) + "1]",
		"deep":     strings.Repeat("[", 1_000_000),
		"number":   json.Number(strings.Repeat("1", 5_000_000/scale)),
	}
}

// TestHostile evaluates expensive expressions. Each must exceed the budget or end within
// it. Steps and bytes are counted, so the test does not depend on the speed of the
// machine. Input and budget are an eighth of the real ones, because the race detector is
// slow.
func TestHostile(t *testing.T) {
	tests := []string{
		// Nested predicates over big inputs.
		`any(ones, any(ones, # == 2))`, `map(ones, map(ones, #))`, `filter(ones, any(strings, # == "x"))`, `count(strings, any(strings, # == "no"))`,
		`sum(map(ones, sum(ones)))`, `groupBy(ones, count(ones, true))`, `sortBy(ones, sum(small))`, `all(small, all(small, all([1], true)) or true)`,
		// Costly operators inside one predicate.
		`any(small, ones == [])`, `any(small, ones == ones and false)`, `any(small, objects == concat(objects, []) and false)`, `any(small, -1 in ones)`,
		`any(small, text contains "zzz")`, `any(small, text + "x" == "")`, `any(small, text matches "(a|b|c|d|e|f|.*x){20}y$")`, `any(small, string(#) matches (string(#) + "a{999}b{900}"))`,
		`any(small, letters[2000000] == "x")`, `any(small, letters[1:] == "x")`, `any(small, len(letters) == 1)`,
		// Ranges and repetition.
		`1..1000000000`, `-9223372036854775807..9223372036854775807`, `len(1..9223372036854775807)`, `map(1..1000000, map(1..1000000, #))`,
		`repeat("x", 1000000000)`, `repeat(text, 100)`, `repeat("x", 9223372036854775807)`, `map(small, repeat("x", 1000000))`,
		`map(1..3000, 1..3000)`,
		// Doubling.
		`let a = text + text; let b = a + a; let c = b + b; let d = c + c; d + d`,
		`let a = [text, text, text, text]; let b = [a, a, a, a]; let c = [b, b, b, b]; let d = [c, c, c, c]; toJSON([d, d, d, d])`,
		`let a = [ones, ones]; let b = [a, a]; let c = [b, b]; let d = [c, c]; let e = [d, d]; [e, e]`,
		`let a = [1,1,1,1,1,1,1,1,1,1]; let b = [a,a,a,a,a,a,a,a,a,a]; let c = [b,b,b,b,b,b,b,b,b,b]; let d = [c,c,c,c,c,c,c,c,c,c]; let e = [d,d,d,d,d,d,d,d,d,d]; let f = [e,e,e,e,e,e,e,e,e,e]; let g = [f,f,f,f,f,f,f,f,f,f]; [g,g,g,g,g,g,g,g,g,g]`,
		`let a = [1,1,1,1,1,1,1,1,1,1]; let b = [a,a,a,a,a,a,a,a,a,a]; let c = [b,b,b,b,b,b,b,b,b,b]; let d = [c,c,c,c,c,c,c,c,c,c]; let e = [d,d,d,d,d,d,d,d,d,d]; let f = [e,e,e,e,e,e,e,e,e,e]; let g = [f,f,f,f,f,f,f,f,f,f]; len(flatten([g, g])) + sum(flatten(g)) + max(g)`,
		`let a = [1,1,1,1,1,1,1,1,1,1]; let b = [a,a,a,a,a,a,a,a,a,a]; let c = [b,b,b,b,b,b,b,b,b,b]; let d = [c,c,c,c,c,c,c,c,c,c]; let e = [d,d,d,d,d,d,d,d,d,d]; let f = [e,e,e,e,e,e,e,e,e,e]; let g = [f,f,f,f,f,f,f,f,f,f]; [g] == [concat(g, [])] or uniq([g, concat(g, [])]) == []`,
		`map(ones, ones)`, `map(small, objects)`, `map(ones, ({a: 1, b: 2}))`, `map(nested, flatten(nested))`, `flatten([nested, nested, nested, nested])`,
		`concat(ones, ones, ones, ones)`, `map(small, reverse(ones))`, `map(small, sort(strings))`, `sort(strings)`, `sort(ones)`, `uniq(strings)`, `uniq(nested)`, `groupBy(strings, #)`, `groupBy(nested, #)`,
		// Text.
		`split(text, "")`, `map(small, split(text, "a"))`, `replace(text, "", text)`, `replace(text, "a", text)`, `map(small, replace(text, "zz", ""))`, `join(ones, text)`, `join(map(small, text), text)`,
		`trim(letters, letters)`, `map(small, upper(letters))`, `map(small, indexOf(text, "zz"))`, `map(small, toBase64(text))`, `map(small, fromBase64(text))`,
		// JSON and numbers.
		`fromJSON(json)`, `map(small, fromJSON("[1,{},[]]"))`, `fromJSON(deep)`, `map(small, toJSON(objects))`, `toJSON(toJSON(toJSON(text)))`,
		`sum(denormal)`, `any(small, any(denormal, # > 1))`, `any(small, any(digits, # > 1))`, `any(small, any(whole, # < 1))`, `sort(denormal)`, `any(small, number > 1 and false)`, `any(small, number == number and false)`, `median(ones)`, `any(small, median(ones) == 0)`,
		`any(small, keys(objects[0]) == [])`, `map(objects, toPairs(#))`, `2 ** 1000000`, `bitshl(1, 1000000)`,
		`filter(ones, # == 1)`, `map(ones, # + 1)`, `sortBy(objects, .b) | map(.a) | sum()`, `text`, `ones`,
	}
	const scale = 8
	scope := hostileScope(scale)
	for _, source := range tests {
		x, err := CompileExpression(source)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeBadExpression {
				t.Errorf("%s: %v, want Code %v", source, err, CodeBadExpression)
			}
			continue
		}
		b := &budget{steps: maxSteps / scale, bytes: maxBytes / scale, text: maxText / scale}
		value, err := x.run(scope, b)
		e := (*Error)(nil)
		if err != nil && (!errors.As(err, &e) || e.Code != CodeBudgetExceeded && e.Code != CodeExpressionFailed) {
			t.Errorf("%s: %v", source, err)
		}
		if err == nil && value == nil {
			t.Errorf("%s: no value", source)
		}
		if b.steps < 0 || b.bytes < 0 || b.text < 0 {
			t.Errorf("%s: overdrawn: %+v, want steps at least 0, bytes at least 0 and text at least 0", source, b)
		}
	}
}

// These expressions must always exceed the budget.
func TestBudgetExceeded(t *testing.T) {
	scope := hostileScope(1)
	for source, message := range map[string]string{
		`any(ones, any(ones, # == 2))`:                          "too much work",
		`any(small, text contains "zzz")`:                       "too much work",
		`text matches "(a|b|c|d|e|f|.*x){20}y$"`:                "too much work",
		`trim(letters, letters)`:                                "too much work",
		`1..1000000000`:                                         "too much memory",
		`repeat("x", 1000000000)`:                               "too much memory",
		`text + text + text + text + text + text + text + text`: "too much memory",
		`fromJSON(json)`:                                        "too much memory",
		`map(ones, ({a: #}))`:                                   "too much memory",
		`[text, text, text, text]`:                              "the result is longer than 16 MiB",
		`map(1..1000, strings)`:                                 "the result is longer than 16 MiB",
		`toJSON([text, text, text, text])`:                      "too much memory",
	} {
		x, err := CompileExpression(source)
		if err != nil {
			t.Fatal(err)
		}
		value, err := x.Eval(scope)
		wantError(t, source, value, err, CodeBudgetExceeded, message)
	}
}

// A result nested too deeply could be stored but not decoded again.
func TestResultDepth(t *testing.T) {
	scope := MapScope{"deep": decode(t, strings.Repeat("[", 128)+strings.Repeat("]", 128))}
	x, _ := CompileExpression(`deep`)
	if _, err := x.Eval(scope); err != nil {
		t.Error(err)
	}
	x, _ = CompileExpression(`deep[0] | map(#)`)
	if _, err := x.Eval(scope); err != nil {
		t.Error(err)
	}
	x, _ = CompileExpression(`[deep]`)
	value, err := x.Eval(scope)
	wantError(t, "[deep]", value, err, CodeBudgetExceeded, "nested deeper than 128")
}

// Equal evaluations cost the same, so that a replay ends like the run that it repeats.
func TestBudgetIsDeterministic(t *testing.T) {
	object := map[string]any{}
	for i := range 500 {
		object[fmt.Sprint("key", i)] = []any{json.Number(fmt.Sprint(i)), "text"}
	}
	other := map[string]any{}
	for key, value := range object {
		other[key] = value
	}
	other["key250"] = nil
	scope := MapScope{"a": object, "b": other}
	x, err := CompileExpression(`[a == b, keys(a), values(a), toPairs(b), toJSON(a), uniq([a, b, a]), groupBy(values(a), #[0]), sortBy(keys(a), len(#))]`)
	if err != nil {
		t.Fatal(err)
	}
	var first string
	var spent budget
	for i := range 20 {
		b := newBudget()
		value, err := x.run(scope, b)
		if err != nil {
			t.Fatal(err)
		}
		text := encode(t, value)
		if i == 0 {
			first, spent = text, *b
		}
		if text != first || *b != spent {
			t.Fatalf("run %d: %+v, first %+v, same result %v; want %v and %v", i, *b, spent, text == first, first, spent)
		}
	}
}
