package engine_test

import (
	"testing"
	"time"

	"blueprintd/blueprint"
)

// Who answers or cancels a run while the disk takes nothing is told so within
// seconds, and the run does what was asked once the disk takes it.
func TestOrderWhileTheDiskIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		order func(w *world, id string) error
		ends  blueprint.Status
	}{
		"an answer":      {func(w *world, id string) error { return w.answer(id, "a", true) }, blueprint.StatusCompleted},
		"a cancellation": {func(w *world, id string) error { return w.Cancel(w.Context(), id, "") }, blueprint.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *world) {
				h := w.start(w.define("a ask"))
				w.wait(h)
				w.journal.setFault(func(int, *blueprint.JournalCommit) error {
					return blueprint.Errorf(blueprint.CodeUnavailable, "the disk is full")
				})
				begun := time.Now()
				w.code(c.order(w, h.ID), blueprint.CodeUnavailable)
				if took := time.Since(begun); took > 15*time.Second {
					t.Errorf("it took %s", took)
				}
				w.code(c.order(w, h.ID), blueprint.CodeConflict) // the run has it
				if x := w.view(h.ID); x.Status != blueprint.StatusPaused {
					t.Errorf("it is shown as %s, which is not on the disk", x.Status)
				}
				w.journal.setFault(nil)
				w.pass(10 * time.Second)
				if x := w.settle(h.ID); x.Status != c.ends {
					t.Errorf("it is %s, not %s", x.Status, c.ends)
				}
			})
		})
	}
}
