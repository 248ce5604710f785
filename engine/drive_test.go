package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// Start returns after the end of a run of quick nodes if its caller waits for it.
func TestCallerWorksOnQuickRun(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.startWith(request(w.define(`
			a quick
			b quick`)), engine.AtEnd)
		select {
		case <-h.Ended(): // no other goroutine had the time
		default:
			t.Error("the run has not ended")
		}
		w.wait(h)
	})
}

// Start is not delayed by slow nodes, forks, or many quick nodes.
func TestCallerIsNotDelayed(t *testing.T) {
	for name, definition := range map[string]string{
		"a node that is not quick":    "a quick\nb pass",
		"one with an effect":          "a quick\nb act",
		"a fork":                      "a quick\nb quick\nc quick\na -> b\na -> c",
		"the first is not quick":      "b pass",
		"quick, after more than that": "slow quick\nb quick",
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *fixture) {
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

// A caller that has the response of a respond node is not delayed by later nodes, even
// if commits fail.
func TestAnsweredCallerIsNotDelayed(t *testing.T) {
	test(t, func(w *fixture) {
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

// A timer, a view, or the next delivery to a full concurrency group may store a run
// while its caller drives it. From then on commits are retried indefinitely, which must
// not happen on the caller's goroutine.
func TestCallerIsNotDelayedByCommits(t *testing.T) {
	limited := func(r *blueprint.StartRequest) *blueprint.StartRequest {
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerWebhook}
		r.Concurrency = &blueprint.ConcurrencyGroup{Key: "t", Limit: 1, OnLimit: blueprint.LimitSkip}
		return r
	}
	for name, c := range map[string]struct {
		definition string
		hurry      func(w *fixture, d *blueprint.Definition)
	}{
		"its last commit, behind a timer": {"a quick", func(w *fixture, _ *blueprint.Definition) { w.pass(1100 * time.Millisecond) }},
		"its answer, behind a timer":      {"a respond\nb quick", func(w *fixture, _ *blueprint.Definition) { w.pass(1100 * time.Millisecond) }},
		"its answer, behind a full concurrency group": {"a respond\nb quick", func(w *fixture, d *blueprint.Definition) {
			if _, err := w.Start(limited(request(d)), engine.AtEnd); err == nil {
				w.Error("the second run is not skipped, want an error")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *fixture) {
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
				go func() { begun <- w.startWith(limited(request(d)), engine.AtEnd) }()
				<-held.came
				c.hurry(w, d)
				close(held.open)
				w.pass(time.Minute)
				var h *engine.Handle
				select {
				case h = <-begun:
				default:
					t.Error("the caller is delayed")
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

// The same while the other commit is in progress.
func TestCallerDoesNotWaitForACommit(t *testing.T) {
	test(t, func(w *fixture) {
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
