package engine_test

import (
	"errors"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// What a look at a run at work shows cannot be undone by a crash: it is on the
// disk, or, while the disk takes nothing, it is what the disk had before.
func TestViewShowsWhatIsOnTheDisk(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("b")
		h := w.startWith(request(w.define(`
			a pass
			b pass`)), engine.AtOnce)
		<-gate.came
		if got := step(w.view(h.ID), "a").Status; got != blueprint.StepCompleted {
			t.Errorf("the first step is shown as %s", got)
		}
		if n := len(w.journal.stored(h.ID).Entries); n < 4 { // begin, start, end, start
			t.Errorf("%d entries are on the disk of what was shown", n)
		}
		close(gate.open)
		w.wait(h)
	})
	test(t, func(w *world) {
		gate := w.hold("b")
		h := w.startWith(request(w.define(`
			a pass
			b pass`)), engine.AtOnce)
		<-gate.came
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the disk is full", RetryAfter: time.Second, Err: errors.New("full")}
		})
		if got := step(w.view(h.ID), "a").Status; got == blueprint.StepCompleted {
			t.Error("a step is shown that is not on the disk")
		}
		w.journal.setFault(nil)
		close(gate.open)
		w.wait(h)
	})
}
