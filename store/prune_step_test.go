package store

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"

	"blueprintd/blueprint"
)

// While others write no step is large, be it of runs or of the ledger, and many
// such steps remove what a few large ones do.
func TestPruneStepsAreSmallBesideOthers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	newest := end{math.MaxInt64, math.MaxInt64}
	for _, busy := range []bool{false, true} {
		h := newHistory(t, 1000)
		p := &pruner{Store: h.Store}
		most := pruneRows
		if busy {
			most = busyRows
		}
		bounds := firingBounds{upTo: math.MaxInt64, dead: blueprint.TimeOf(start.Add(-24 * day)), started: true}
		total := map[string]int{}
		for what, step := range map[string]func() (bool, int, error){
			"runs": func() func() (bool, int, error) {
				var from end
				return func() (more bool, removed int, err error) {
					from, more, removed, err = p.executionStep(ctx, blueprint.StatusCompleted, from, newest)
					return more, removed, err
				}
			}(),
			"rows of the ledger": func() func() (bool, int, error) {
				var from int64
				return func() (more bool, removed int, err error) {
					from, more, removed, err = p.firingStep(ctx, from, bounds)
					return more, removed, err
				}
			}(),
		} {
			for more := true; more; {
				p.busy = busy
				var removed int
				var err error
				more, removed, err = step()
				check(t, err)
				if removed > most {
					t.Errorf("busy %v: a step removed %d %s, want at most %v", busy, removed, what, most)
				}
				total[what] += removed
			}
		}
		// One run in twenty has failed.
		if got := stored(t, h.Store, "SELECT count(*) FROM executions"); total["runs"] != 950 || got != "50" {
			t.Errorf("busy %v: %d runs are gone and %s left, want 950 and 50", busy, total["runs"], got)
		}
		old := stored(t, h.Store, fmt.Sprintf("SELECT count(*) FROM firings WHERE received_at < %d", int64(bounds.dead)))
		left := stored(t, h.Store, "SELECT count(*) FROM firings")
		if gone := total["rows of the ledger"]; gone != 207 || old != "0" || left != "793" { // six days of 29
			t.Errorf("busy %v: %d rows of the ledger are gone, %s left, %s of them old; want 207, 0 and 793", busy, gone, left, old)
		}
	}
}

// A step sees all that others have written since the one before it, above all
// while it stood aside for them.
func TestPruneSeesOthers(t *testing.T) {
	s := open(t, testOptions(t))
	synctest.Test(t, func(t *testing.T) {
		p := &pruner{Store: s}
		nothing := func(*transaction) error { return nil }
		step := func(others int) bool {
			done := make(chan error)
			go func() { done <- p.step(t.Context(), nothing) }()
			synctest.Wait() // it stands aside
			for range others {
				check(t, s.write(t.Context(), nothing))
			}
			check(t, <-done)
			return p.busy
		}
		step(0)
		for i, others := range []int{0, 1, 0, 3, 1, 0} {
			if busy := step(others); busy != (others > 0) {
				t.Errorf("step %d is busy: %v, though others wrote %d times", i, busy, others)
			}
		}
	})
}
