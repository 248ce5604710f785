package nodes

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestEmitEvent(t *testing.T) {
	kind := typeOf(t, "emit-event")
	var name string
	var told any
	task := newTask(t, kind, `{"event": "custom.order-{{x}}", "data": {"n": "{{n}}"}}`, `{"x": "paid_2.0", "n": 12345678901234567890}`)
	task.Emit = func(_ context.Context, event string, data any) (int, error) {
		name, told = event, data
		return 3, nil
	}
	result, code := run(t, kind, task)
	if code != "" || asJSON(t, result.Output) != `{"delivered":3}` || name != "custom.order-paid_2.0" || asJSON(t, told) != `{"n":12345678901234567890}` {
		t.Errorf("%v %s %s %v, want nothing, {\"delivered\":3}, custom.order-paid_2.0 and {\"n\":12345678901234567890}", result, code, name, told)
	}
	task.Emit = func(context.Context, string, any) (int, error) {
		return 1, blueprint.Errorf(blueprint.CodeUnavailable, "the queue is full")
	}
	if _, err := kind.Run(t.Context(), task); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
		t.Errorf("%v, want %v", err, blueprint.CodeUnavailable)
	}
	// Where there are no triggers, that is said.
	said := ""
	task.Emit, task.Log = nil, func(level, message string, _ any) { said = level + " " + message }
	if result, code := run(t, kind, task); code != "" || asJSON(t, result.Output) != `{"delivered":0}` || !strings.Contains(said, "no triggers here") {
		t.Errorf("%v %s, said %q; want nothing, {\"delivered\":0} and \"no triggers here\" in it", result, code, said)
	}
	for config, want := range map[string]string{
		`{}`:                     "event: required",
		`{"event": null}`:        "event: required",
		`{"event": "custom.a"}`:  "",
		`{"event": "{{x}}"}`:     "",
		`{"event": "order"}`:     "event: must be custom.",
		`{"event": "custom."}`:   "event: must be custom.",
		`{"event": "custom.a/"}`: "event: must be custom.",
		`{"event": ""}`:          "event: must be custom.",
		`{"event": 1}`:           "event: must be a string",
		`{"event": "custom.` + strings.Repeat("x", 194) + `"}`: "event: must be custom.",
	} {
		t.Run(config, func(t *testing.T) {
			if got := issueText(kind.Check(object(t, config))); want == "" && got != "" || !strings.HasPrefix(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
