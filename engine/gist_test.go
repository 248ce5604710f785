package engine_test

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

// What a list says of a run is what its record says.
func TestGist(t *testing.T) {
	for lines, want := range map[string]string{
		"a pass":                             "",
		"a ask {\"prompt\": \"?\"}":          "human",
		"a fail":                             "",
		"a fail\n b pass":                    "",
		"a fail {\"onError\": \"continue\"}": "",
	} {
		test(t, func(w *world) {
			h := w.start(w.define(lines))
			x := w.wait(h)
			stored := w.journal.stored(h.ID)
			problem, awaiting, _ := w.Engine.Gist(context.Background(), stored)
			if got := x.Telemetry.ErrorSummary; (got == "") != (problem == nil) || problem != nil && got != *problem {
				t.Errorf("%s: %v, the record says %q", lines, problem, got)
			}
			if (want == "") != (awaiting == nil) || awaiting != nil && *awaiting != blueprint.AwaitKind(want) {
				t.Errorf("%s: awaits %v", lines, awaiting)
			}
			stored.Record = nil // too large for a list
			if problem, _, _ := w.Engine.Gist(context.Background(), stored); problem != nil {
				t.Errorf("%s: %s, of no record", lines, *problem)
			}
		})
	}
	test(t, func(w *world) {
		h := w.start(w.define("a ask {\"prompt\": \"?\"}"))
		w.wait(h)
		if err := w.Engine.Cancel(context.Background(), h.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		w.settle(h.ID)
		if problem, _, _ := w.Engine.Gist(context.Background(), w.journal.stored(h.ID)); problem == nil || *problem != "cancelled: enough" {
			t.Errorf("a cancelled run: %v", problem)
		}
	})
}
