package jsonschema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

const tooLarge = "is too large to be checked against this schema"

// Each schema is small and each value well-formed, but validation without limits would
// take minutes, or all memory.
func TestHostileSchemas(t *testing.T) {
	doubling := `{"$defs":{"d0":{"type":"string","pattern":"a"}`
	for i := 1; i <= 40; i++ {
		doubling += fmt.Sprintf(`,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1)
	}
	doubling += `},"$ref":"#/$defs/d40"}`
	deep := strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat("}", 100)
	rules := strings.TrimSuffix(strings.Repeat(`{"minimum":0},`, 2000), ",")
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + "]"
	var nested strings.Builder
	nested.WriteString("0")
	for i := 1; i < 3_000; i++ {
		fmt.Fprintf(&nested, ",%d", i)
	}
	unique := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/u"},`, 20), ",")
	tests := []struct{ name, schema, value string }{
		{"doubling references", doubling, `"b"`},
		{"recursion in two branches", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}},"required":["x"]}`, deep},
		{"many rules for many items", `{"items":{"allOf":[` + rules + `]}}`, list},
		{"a costly pattern", `{"items":{"pattern":"(a?){500}b"}}`, `["` + strings.Repeat("a", 1<<20) + `"]`},
		{"a costly pattern for names", `{"patternProperties":{"(a?){500}b":{"type":"string"}}}`, `{"` + strings.Repeat("a", 1<<20) + `":1}`},
		{"compiling values", `{"items":{"format":"regex"}}`, `["((a{10}){10}){10}"` + strings.Repeat(`,"((a{10}){10}){10}"`, 10_000) + `]`},
		{"unique at each level", `{"$defs":{"u":{"uniqueItems":true,"items":{"$ref":"#/$defs/u"}}},"allOf":[` + unique + `]}`, strings.Repeat("[", 60) + nested.String() + strings.Repeat("]", 60)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(compile(t, test.schema).Validate(decode(t, test.value))); got != tooLarge {
				t.Errorf("got %.200q, want %v", got, tooLarge)
			}
		})
	}
}

// Large values are validated if the schema is simple.
func TestLargeValues(t *testing.T) {
	record := `{"id":12345,"name":"a name of usual length","tags":["x","y"],"at":"2026-01-31T12:00:00Z"}`
	list := decode(t, "["+strings.TrimSuffix(strings.Repeat(record+",", 20_000), ",")+"]")
	schema := compile(t, `{"type":"array","items":{"$ref":"#/$defs/record"},"$defs":{"record":{"type":"object","required":["id","name"],
		"properties":{"id":{"type":"integer","minimum":1},"name":{"type":"string","maxLength":80},"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"string","format":"date-time"}}}}}`)
	if issues := schema.Validate(list); issues != nil {
		t.Errorf("got %s, want nil", lines(issues))
	}
}

func TestFailingValueOfMillions(t *testing.T) {
	leaf := make([]any, 100)
	for i := range leaf {
		leaf[i] = json.Number("1")
	}
	value := []any{}
	for range 10_000 {
		value = append(value, any(leaf))
	}
	schema := compile(t, `{"items":{"items":{"type":"string"}}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	issues := schema.Validate(value)
	runtime.ReadMemStats(&after)
	if len(issues) != MaxIssues {
		t.Errorf("%d issues, want %v", len(issues), MaxIssues)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated to report %d issues, want at most %v", used, MaxIssues, 8<<20)
	}
}

func TestDeepValues(t *testing.T) {
	var value any = json.Number("1")
	for range maxValueDepth + 10 {
		value = []any{value}
	}
	if got := compile(t, `{"items":{"$ref":"#"}}`).Validate(value); len(got) != 1 || got[0].Message != "is nested too deeply" {
		t.Errorf("got %s, want length 1 and Message is nested too deeply", lines(got))
	}
	value = json.Number("1")
	for range blueprint.MaxDepth {
		value = []any{value}
	}
	if got := compile(t, `{"items":{"$ref":"#"}}`).Validate(value); got != nil {
		t.Errorf("got %s, want nil", lines(got))
	}
}
