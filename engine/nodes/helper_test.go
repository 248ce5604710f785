package nodes

import (
	"context"
	"errors"
	"testing"
	"time"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
)

// now is the instant at which nodes run in tests.
var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func typeOf(t testing.TB, name string) *blueprint.NodeType {
	t.Helper()
	for _, kind := range All(Dependencies{}) {
		if kind.Type == name {
			return kind
		}
	}
	t.Fatalf("no type %q", name)
	return nil
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value.(map[string]any)
}

// newTask resolves a config as the engine does, over the names of scope.
func newTask(t testing.TB, kind *blueprint.NodeType, config, scope string) *blueprint.Task {
	t.Helper()
	names := expressions.MapScope(object(t, scope))
	compiled, issues := expressions.CompileConfig(object(t, config), kind.Verbatim)
	if issues != nil {
		t.Fatalf("%s: %v, want nil", config, issues)
	}
	resolved, err := compiled.Resolve(names)
	if err != nil {
		t.Fatalf("%s: %v", config, err)
	}
	return &blueprint.Task{
		ExecutionID: "exec_1_x", Address: "node", Attempt: 1, Config: resolved, Input: names["input"], InputData: names["inputData"],
		Now: now, IdempotencyKey: "exec_1_x/node",
		Evaluate: func(source string) (any, error) {
			compiled, err := expressions.CompileExpression(source)
			if err != nil {
				return nil, err
			}
			return compiled.Eval(names)
		},
		Log: func(level, message string, data any) { t.Errorf("unexpected log line %s %q %v", level, message, data) },
	}
}

// run runs a node and gives the code of its failure, "" for none.
func run(t testing.TB, kind *blueprint.NodeType, task *blueprint.Task) (blueprint.Result, string) {
	t.Helper()
	result, err := kind.Run(context.Background(), task)
	return result, codeOf(err)
}

func codeOf(err error) string {
	var failure *blueprint.Failure
	var bad *expressions.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &failure):
		return failure.Code
	case errors.As(err, &bad):
		return bad.Code
	default:
		return "error: " + err.Error()
	}
}

// asJSON writes any value for comparing.
func asJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
