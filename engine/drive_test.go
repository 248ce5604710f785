package engine_test

import (
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// Who waits for a run of quick nodes has worked on it to its end when Start returns.
func TestCallerWorksOnQuickRun(t *testing.T) {
	test(t, func(w *world) {
		h := w.startWith(request(w.define(`
			a quick
			b quick`)), engine.AtEnd)
		select {
		case <-h.Ended(): // nobody else has had the time
		default:
			t.Error("the run has not ended")
		}
		w.wait(h)
	})
}

// A caller is kept neither by a node that may take long, nor by a fork, nor by
// many quick ones.
func TestCallerIsNotKept(t *testing.T) {
	for name, definition := range map[string]string{
		"a node that is not quick":    "a quick\nb pass",
		"one with an effect":          "a quick\nb act",
		"a fork":                      "a quick\nb quick\nc quick\na -> b\na -> c",
		"the first is not quick":      "b pass",
		"quick, after more than that": "slow quick\nb quick",
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *world) {
				slow, held := w.hold("slow"), w.hold("b")
				begun := make(chan *engine.Handle)
				go func() { begun <- w.startWith(request(w.define(definition)), engine.AtEnd) }()
				if definition[0] == 's' {
					<-slow.came
					w.pass(3 * time.Millisecond)
					close(slow.open)
				}
				h := <-begun
				<-held.came
				if isDone(h.Ended()) {
					t.Error("the run has ended before its node")
				}
				close(held.open)
				w.wait(h)
			})
		})
	}
}

// Whoever has the answer of a respond node is not kept by what comes behind it,
// not even when the disk fails.
func TestAnsweredCallerIsNotKept(t *testing.T) {
	test(t, func(w *world) {
		stuck := make(chan struct{})
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Row.Status.Terminal() {
				<-stuck
			}
			return nil
		})
		begun := make(chan *engine.Handle)
		go func() { begun <- w.startWith(request(w.define("a respond\nb quick")), engine.AtEnd) }()
		h := <-begun
		if !isDone(h.Responded()) || isDone(h.Ended()) {
			t.Error("the run should have answered, and not ended")
		}
		close(stuck)
		w.wait(h)
	})
}
