package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// inTurns has runs take turns by the clock.
func inTurns(o *engine.Options) {
	o.Turn = func(f func()) { o.Clock.(*clock.Virtual).Turn(f) }
}

// Where runs take turns they work one after the other, in the order in which they
// were started, and of each one node at a time: it goes the same way each time.
func TestRunsTakeTurns(t *testing.T) {
	var first string
	for range 5 {
		testWith(t, inTurns, func(w *world) {
			d := w.define("a pass\nb pass\nc wait {\"ms\": 1000}\nd pass")
			hold := w.clock.Hold() // nobody has a turn yet
			var handles []*engine.Handle
			for range 4 {
				handles = append(handles, w.start(d))
			}
			synctest.Wait()
			if got := w.begunNodes(); got != "" {
				t.Errorf("began %s while somebody held the clock", got)
			}
			hold()
			synctest.Wait()
			if got, want := w.begunNodes(), strings.TrimSpace(strings.Repeat("a b c ", 4)); got != want {
				t.Errorf("began %s, want %s", got, want)
			}
			w.advance(time.Second)
			for _, h := range handles {
				if x := w.view(h.ID); x.Status != "completed" {
					t.Errorf("%s is %s", h.ID, x.Status)
				}
			}
			if got := w.begunNodes(); first == "" {
				first = got
			} else if got != first {
				t.Errorf("began %s, before %s", got, first)
			}
		})
	}
}

// A run that waits for its turn is on the disk, and may be cancelled before it.
func TestWaitingForATurn(t *testing.T) {
	testWith(t, inTurns, func(w *world) {
		d := w.define("a pass")
		hold := w.clock.Hold()
		h := w.start(d)
		if err := h.Accepted(w.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.Cancel(w.Context(), h.ID, "no"); err != nil {
			t.Error(err)
		}
		hold()
		synctest.Wait()
		if x := w.view(h.ID); x.Status != "failed" {
			t.Errorf("cancelled: %s, began %q", x.Status, w.begunNodes())
		}
		w.advance(time.Hour)
	})
}
