package engine_test

import (
	"testing"

	"blueprintd/engine"
)

func TestStats(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 5 }, func(w *fixture) {
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		queued := w.start(w.define(`next pass`))
		if err := queued.Accepted(w.Context()); err != nil {
			t.Fatal(err)
		}
		if s := w.Stats(); s.Working != 1 || s.Queued != 1 || s.Completed != 0 || s.Started < 1 || s.MaxRunning != 1 || s.MaxQueued != 5 {
			t.Errorf("in the middle: %+v", s)
		}
		close(gate.open)
		w.wait(busy)
		w.wait(queued)
		if s := w.Stats(); s.Queued != 0 || s.Completed != 2 || s.Started != 2 || s.Failed != 0 || s.Waiting != 0 || s.Paused != 0 || s.Recovered != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}
