package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
		s := w.Stats()
		if s.Started < 1 {
			t.Errorf("in the middle: %d started, want one or two", s.Started)
		}
		if diff := cmp.Diff([]any{1, 1, int64(0), 1, 5}, []any{s.Working, s.Queued, s.Completed, s.MaxRunning, s.MaxQueued}); diff != "" {
			t.Errorf("in the middle: working, queued, completed, and the limits (-want +got):\n%s", diff)
		}
		close(gate.open)
		w.wait(busy)
		w.wait(queued)
		s = w.Stats()
		if diff := cmp.Diff([]any{0, int64(2), int64(2), int64(0), 0, int64(0), int64(0)}, []any{s.Queued, s.Completed, s.Started, s.Failed, s.Waiting, s.Paused, s.Recovered}); diff != "" {
			t.Errorf("at the end: queued, completed, started, failed, waiting, paused and recovered (-want +got):\n%s", diff)
		}
	})
}
