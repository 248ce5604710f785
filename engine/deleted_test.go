package engine_test

import (
	"testing"
	"time"

	"blueprintd/blueprint"
)

// A blueprint is deleted and the process ends before its runs are cancelled:
// the next one does it.
func TestRunsOfADeletedBlueprintEndAtTheNextStart(t *testing.T) {
	test(t, func(w *world) {
		waiting := w.start(w.define(`a wait {"ms": 60000}
			b act`))
		paused := w.start(w.define(`a ask`))
		w.pass(time.Second)
		w.journal.deleted = true
		w.reboot()
		for _, id := range []string{waiting.ID, paused.ID} {
			x := w.settle(id)
			if x.Status != blueprint.StatusFailed || x.Failure == nil || x.Failure.Message != "cancelled: the blueprint was deleted" {
				t.Errorf("%s: %+v", sum(x), x.Failure)
			}
		}
		if got := w.lab.actions(); len(got) != 0 {
			t.Errorf("acted: %v", got)
		}
	})
}
