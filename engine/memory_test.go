package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

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
