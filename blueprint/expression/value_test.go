package expression

import (
	"encoding/json"
	"strings"
	"testing"
)

// A kind, if known, is that of the result.
func TestKind(t *testing.T) {
	scope := MapScope{"list": []any{"b", "a"}, "name": " Ada ", "yes": true, "object": map[string]any{"a": nil}, "n": json.Number("3")}
	for source, want := range map[string]string{
		`"true"`: "a string", "5": "a number", "-n": "a number", "1.5": "a number", "null": "null", "nil": "null", "[yes]": "an array", "{a: yes}": "an object",
		"n * 2": "a number", "n - 1": "a number", "n % 2": "a number", "n ** 2": "a number", "1..3": "an array", "yes ? 1 : 2": "a number",
		"len(list)": "a number", "list | len()": "a number", "count(list, # == name)": "a number", "sum([1, 2])": "a number", "indexOf(name, \"d\")": "a number",
		"abs(n)": "a number", "round(1.5)": "a number", "floor(1.5)": "a number", "ceil(1.5)": "a number", "int(\"3\")": "a number", "float(\"3\")": "a number",
		"lower(name)": "a string", "upper(name)": "a string", "trim(name)": "a string", "string(n)": "a string", "join(list, \",\")": "a string",
		"replace(name, \"A\", \"B\")": "a string", "toJSON(list)": "a string",
		"filter(list, true)": "an array", "map(list, #)": "an array", "keys(object)": "an array", "values(object)": "an array", `split(name, "d")`: "an array", "sort(list)": "an array",
		"name + \"x\"": "a number or a string", "n + 1": "a number or a string",
		"yes": "", "n > 2": "", "not yes": "", "yes ? 1 : true": "", "n == 1 or yes": "", "object.a ?? 5": "", "all(list, true)": "", "let x = 1; x": "", "list[0]": "", "true": "",
	} {
		t.Run(source, func(t *testing.T) {
			x, err := CompileExpression(source)
			if err != nil {
				t.Error(err)
				return
			}
			if x.Kind() != want {
				t.Errorf("%q, want %q", x.Kind(), want)
			}
			value, err := x.Eval(scope)
			if err != nil {
				t.Error(err)
			} else if want != "" && !strings.Contains(want, KindOf(value)) {
				t.Errorf("%s returned %s, want %v", source, KindOf(value), want)
			}
		})
	}
}
