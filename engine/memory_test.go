package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/memory"
)

// While memory is full no run starts.
func TestMemoryFull(t *testing.T) {
	test(t, func(w *fixture) {
		defer memory.SetLimit(0)
		d := w.define(`a pass`)
		memory.SetLimit(1)
		if _, err := w.Engine.Start(&blueprint.StartRequest{Definition: d}, engine.AtOnce); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("error %v, want CodeUnavailable", err)
		}
		memory.SetLimit(0)
		if x := w.run(d); x.Status != blueprint.StatusCompleted {
			t.Errorf("%.500s, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// The outputs of child runs count as outputs of the run that waits for them.
func TestLargeChildOutputs(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints, o.Limits = &l, small }, func(w *fixture) {
		l.w = w
		child := w.define(fmt.Sprintf(`x echo {"value": %q}`, strings.Repeat("x", small.Value/2)))
		items := "[" + strings.Repeat("1,", 20) + "1]"
		x := w.run(w.define(each("a", `"items": `+items, "", fmt.Sprintf(`x call {"blueprintId": %q}`, child.BlueprintID))))
		if x.Status != blueprint.StatusFailed || !strings.Contains(x.Failure.Message, "outputs of the run are larger") {
			t.Errorf("%.500s, want a failure for too large outputs", sum(x))
		}
	})
}

// Limits.Dense counts values that take much more memory than text.
func TestDenseOutput(t *testing.T) {
	for dense, want := range map[int]blueprint.Status{0: blueprint.StatusCompleted, 2: blueprint.StatusFailed} {
		t.Run(string(want), func(t *testing.T) {
			limits := small
			limits.Dense, limits.Loads = dense, 1
			testWith(t, func(o *engine.Options) { o.Limits = limits }, func(w *fixture) {
				x := w.run(w.define(`a echo {"value": [` + strings.Repeat("[],", 3000) + `[]]}`))
				if x.Status != want {
					t.Errorf("%.500s, want Status %v", sum(x), want)
				}
			})
		})
	}
}

// A record that is too large for a list is read when it is shown.
func TestViewReadsRecord(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`a echo {"value": 1}`))
		stored := w.journal.stored(x.ID)
		listed := &blueprint.StoredExecution{Row: stored.Row}
		if got, err := w.Engine.View(context.Background(), listed); err != nil || got.CompletedSteps != 1 {
			t.Errorf("%v, %v; want the view of the run", got, err)
		}
	})
}
