package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	config := decode(t, `{
		"url": "https://x/{{inputData.action}}",
		"body": {"n": "{{limit}}", "fixed": {"a": [1, "b"]}, "{{limit}}": "key", "list": ["a", "{{inputData.user.tags[0]}}", {"x": "{{= limit * 2 }}"}]},
		"condition": "limit > {{ not a template }}",
		"schema": {"pattern": "{{"},
		"count": 1.10, "flag": true, "nothing": null
	}`).(map[string]any)
	before := encode(t, config)
	skip := func(path []any) bool { return path[0] == "condition" || path[0] == "schema" }
	compiled, issues := CompileConfig(config, skip)
	if len(issues) != 0 {
		t.Fatalf("%v, want none", issues)
	}
	if got := compiled.Names(); !slices.Equal(got, []string{"inputData", "limit"}) {
		t.Errorf("%v, want %v", got, []string{"inputData", "limit"})
	}
	got, err := compiled.Resolve(testScope(t))
	if err != nil {
		t.Fatal(err)
	}
	want := encode(t, decode(t, `{
		"url": "https://x/open",
		"body": {"n": 3, "fixed": {"a": [1, "b"]}, "{{limit}}": "key", "list": ["a", "a", {"x": 6}]},
		"condition": "limit > {{ not a template }}",
		"schema": {"pattern": "{{"},
		"count": 1.10, "flag": true, "nothing": null
	}`))
	if encode(t, got) != want {
		t.Errorf("got  %s\nwant %s", encode(t, got), want)
	}
	got["url"] = "changed"
	if encode(t, config) != before {
		t.Error("the config was changed")
	}
}

func TestConfigConstant(t *testing.T) {
	config := map[string]any{"a": map[string]any{"b": "c"}}
	compiled, issues := CompileConfig(config, nil)
	got, err := compiled.Resolve(MapScope{})
	if err != nil || issues != nil || encode(t, got) != `{"a":{"b":"c"}}` || len(compiled.Names()) != 0 {
		t.Error(got, err, issues)
	}
	got["new"] = 1
	if len(config) != 1 {
		t.Errorf("the config itself was returned: %v, want length 1", len(config))
	}
	compiled, _ = CompileConfig(nil, nil)
	if got, err := compiled.Resolve(MapScope{}); err != nil || got == nil || len(got) != 0 {
		t.Error(got, err)
	}
	compiled, _ = CompileConfig(map[string]any{}, func([]any) bool { return true })
	if got, err := compiled.Resolve(MapScope{}); err != nil || got == nil {
		t.Error(got, err)
	}
}

func TestConfigIssues(t *testing.T) {
	config := decode(t, `{"z": "{{", "a": {"b": ["ok", "x {{y z}}"]}, "good": "{{limit}}"}`).(map[string]any)
	compiled, issues := CompileConfig(config, nil)
	var lines []string
	for _, issue := range issues {
		lines = append(lines, fmt.Sprintf("%v %s %s", issue.Path, issue.Severity, issue.Message))
	}
	want := []string{
		`[a b 1] error template "x {{y z}}", column 7: expected "}}", found 'z' (to write "{{" itself: {{= "{{" }})`,
		`[z] error template "{{", column 3: expected a name, found the end (to write "{{" itself: {{= "{{" }})`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	value, err := compiled.Resolve(testScope(t))
	wantError(t, "broken config", value, err, CodeBadTemplate, "column 7")

	many := []any{}
	for range 500 {
		many = append(many, "{{")
	}
	if _, issues := CompileConfig(map[string]any{"many": many}, nil); len(issues) != maxIssues {
		t.Errorf("%d issues, want %v", len(issues), maxIssues)
	}
	many = many[:0]
	for range maxPlaceholders + 1 {
		many = append(many, "{{a}}")
	}
	if _, issues := CompileConfig(map[string]any{"many": many}, nil); len(issues) != 1 || !strings.Contains(issues[0].Message, "placeholders") {
		t.Errorf("%d issues, want 1 and \"placeholders\" in it", len(issues))
	}
}

func TestConfigFails(t *testing.T) {
	compiled, _ := CompileConfig(map[string]any{"b": "{{nope.b}}", "a": "{{nope.a}}", "c": []any{"{{nope.c}}"}}, nil)
	for range 10 { // always the first of several
		value, err := compiled.Resolve(testScope(t))
		wantError(t, "config", value, err, CodeUnknownName, "nope.a: ")
	}
}

// Many small strings share the budget of one.
func TestConfigBudget(t *testing.T) {
	mega := strings.Repeat("x", 1<<20)
	list := []any{}
	for i := range 50_000 {
		list = append(list, i)
	}
	scope := MapScope{"mega": mega, "list": list}
	for _, source := range []string{"{{mega}}", "a{{mega}}", "{{= mega }}", "{{= all(list, all(list, true)) }}", "{{= map(list, #) }}", "{{= any(list, # == -1) }}"} {
		strings := []any{}
		for range 300 {
			strings = append(strings, source)
		}
		compiled, issues := CompileConfig(map[string]any{"strings": strings}, nil)
		if len(issues) > 0 {
			t.Fatalf("%v, want none", issues)
		}
		value, err := compiled.Resolve(scope)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeBudgetExceeded {
			t.Errorf("%s: %v, %v; want Code %v", source, len(value), err, CodeBudgetExceeded)
		}
	}
	compiled, _ := CompileConfig(map[string]any{"one": "{{mega}}", "two": "{{mega}}", "text": "{{mega}}!"}, nil)
	if _, err := compiled.Resolve(scope); err != nil {
		t.Error(err)
	}
}
