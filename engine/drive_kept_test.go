package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// Somebody else makes a run durable while its caller works on it: a timer, a look,
// or the next delivery to a lane that is full. From then on commits are tried for
// ever, and that must not be the caller's to do.
func TestCallerIsNotKeptByTheDisk(t *testing.T) {
	lane := func(r *blueprint.StartRequest) *blueprint.StartRequest {
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerWebhook}
		r.Lane = &blueprint.Lane{Key: "t", Limit: 1, OnLimit: blueprint.LimitSkip}
		return r
	}
	for name, c := range map[string]struct {
		definition string
		hurry      func(w *world, d *blueprint.Definition)
	}{
		"its last commit, behind a timer": {"a quick", func(w *world, _ *blueprint.Definition) { w.pass(1100 * time.Millisecond) }},
		"its answer, behind a timer":      {"a respond\nb quick", func(w *world, _ *blueprint.Definition) { w.pass(1100 * time.Millisecond) }},
		"its answer, behind a full lane": {"a respond\nb quick", func(w *world, d *blueprint.Definition) {
			if _, err := w.Start(lane(request(d)), engine.AtEnd); err == nil {
				w.Error("the second run is not skipped")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *world) {
				held := w.hold("a")
				var full atomic.Bool
				full.Store(true)
				w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
					if !c.New && full.Load() {
						return blueprint.Errorf(blueprint.CodeUnavailable, "the disk is full")
					}
					return nil
				})
				d := w.define(c.definition)
				begun := make(chan *engine.Handle, 1)
				go func() { begun <- w.startWith(lane(request(d)), engine.AtEnd) }()
				<-held.came
				c.hurry(w, d)
				close(held.open)
				w.pass(time.Minute)
				var h *engine.Handle
				select {
				case h = <-begun:
				default:
					t.Error("the caller is kept")
				}
				full.Store(false)
				if h == nil {
					h = <-begun
				}
				w.wait(h)
			})
		})
	}
}

// As above, where the other one's commit is under way when the caller comes to its
// last one.
func TestCallerDoesNotWaitForACommit(t *testing.T) {
	test(t, func(w *world) {
		held, first, goOn := w.hold("a"), make(chan struct{}), make(chan struct{})
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.New {
				close(first)
				<-goOn
			}
			return nil
		})
		begun := make(chan *engine.Handle, 1)
		go func() { begun <- w.startWith(request(w.define("a quick")), engine.AtEnd) }()
		<-held.came
		w.pass(1100 * time.Millisecond)
		<-first
		close(held.open)
		h := <-begun
		if isDone(h.Ended()) {
			t.Error("it has ended before it was durable")
		}
		close(goOn)
		w.wait(h)
	})
}
