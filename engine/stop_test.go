package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// A running node finishes, nothing new starts, callers get the unfinished run, and the
// next start continues it.
func TestStopLetsNodesFinish(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("b")
		h := w.start(w.define(`
			a act
			b once
			c act`))
		<-gate.came
		w.halt()
		synctest.Wait()
		for name, call := range map[string]func() error{
			"start":  func() error { _, err := w.Start(request(w.define(`a pass`)), engine.AtEnd); return err },
			"resume": func() error { return w.answer(h.ID, "", 1) },
			"cancel": func() error { return w.Cancel(w.Context(), h.ID, "") },
		} {
			t.Run(name, func(t *testing.T) {
				if err := call(); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
					t.Errorf("%s while it stops: %v, want %v", name, err, blueprint.CodeUnavailable)
				}
			})
		}
		close(gate.open)
		w.expect(w.wait(h), `running: a=completed b=completed c=pending`)
		w.stop()
		w.lab.begun = nil
		w.boot(w.clock.Now())
		w.expect(w.settle(h.ID), `completed: a=completed b=completed c=completed -> {"done":"c"}`)
		if got := w.begunNodes(); got != "c" {
			t.Errorf("began %s, want c", got)
		}
	})
}

// A node that exceeds the drain time is interrupted and treated as after a crash.
func TestStopInterruptsSlowNodes(t *testing.T) {
	for kind, want := range map[string]string{
		"pass": `completed: a=completed b=completed c=completed -> {"done":"c"}`,
		"act":  `completed: a=completed b=completed c=completed -> {"done":"c"}`,
		"once": `paused: a=completed b=paused c=pending`,
	} {
		testWith(t, func(o *engine.Options) { o.Drain = 3 * time.Second }, func(w *fixture) {
			gate := w.hold("b")
			h := w.start(w.define(`
				a act
				b ` + kind + ` {} | {"onError": "continue", "retry": {"maxAttempts": 9}}
				c act`))
			<-gate.came
			begin := time.Now()
			w.stop()
			if took := time.Since(begin); took != 3*time.Second {
				t.Errorf("stopping took %v, want %v", took, 3*time.Second)
			}
			w.expect(w.wait(h), `running: a=completed b=running c=pending`)
			close(gate.open)
			w.boot(w.clock.Now())
			x := w.settle(h.ID)
			w.expect(x, want)
			if step(x, "b").Attempt != 1 {
				t.Errorf("attempt %d, want 1", step(x, "b").Attempt)
			}
		})
	}
}

// Parked runs do not delay a stop, and their handles are settled.
func TestStopSettlesHandles(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 2 }, func(w *fixture) {
		waits := w.start(w.define(`
			a wait {"ms": 1000}
			b pass`))
		w.run(w.define(`a ask {"expiresMs": 1000, "onExpire": "continue"}`))
		synctest.Wait()
		busyGate := w.hold("busy")
		busy := []*engine.Handle{w.start(w.define(`busy pass`)), w.startWith(requestOf("guest", w.define(`busy pass`)), engine.Soon)}
		<-busyGate.came
		<-busyGate.came
		queued := w.startWith(request(w.define(`q act`)), engine.AtEnd)
		w.halt()
		w.expect(w.wait(waits), `running: a=running b=pending`)
		w.expect(w.wait(queued), `running: q=pending`)
		if err := queued.Accepted(w.Context()); err != nil || w.journal.stored(queued.ID) == nil {
			t.Error("a queued run is promised and not stored")
		}
		close(busyGate.open)
		for _, h := range busy {
			w.wait(h)
		}
		w.stop()
		w.boot(w.clock.Now())
		synctest.Wait()
		w.expect(w.view(queued.ID), `completed: q=completed -> {"done":"q"}`)
		w.advance(time.Second)
		w.expect(w.settle(waits.ID), `completed: a=completed b=completed -> {"n":1}`)
		for id := range w.journal.runs {
			if x := w.view(id); x.Status != blueprint.StatusCompleted {
				t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
			}
		}
	})
}

// A queued run that cannot be stored is refused when the engine stops.
func TestStopRefusesWhatIsNotStored(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 1 }, func(w *fixture) {
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		open := make(chan struct{})
		full := blueprint.Errorf(blueprint.CodeUnavailable, "disk full")
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Row.ID == busy.ID {
				return nil
			}
			<-open
			return full
		})
		queued := w.start(w.define(`q act`))
		synctest.Wait()
		w.halt()
		synctest.Wait()
		close(open)
		if err := queued.Accepted(w.Context()); err != error(full) {
			t.Errorf("got %v", err)
		}
		close(gate.open)
		w.wait(busy)
	})
}

// A stop does not wait longer than the drain time for an unavailable journal.
func TestStopWithoutJournal(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Drain = 3 * time.Second }, func(w *fixture) {
		gate := w.hold("a")
		h := w.start(w.define(`
			a act
			b act`))
		<-gate.came
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return blueprint.Errorf(blueprint.CodeUnavailable, "disk gone")
		})
		close(gate.open)
		w.pass(time.Minute)
		begin := time.Now()
		w.stop()
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("stopping took %v, want at most %v", took, 3*time.Second)
		}
		if _, err := h.Wait(w.Context()); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("got %v, want %v", err, blueprint.CodeUnavailable)
		}
		w.journal.setFault(nil)
		w.boot(w.clock.Now())
		w.expect(w.settle(h.ID), `completed: a=completed b=completed -> {"done":"b"}`)
	})
}

// After a permanent failure of the journal a stop waits for nothing, since results could
// not be stored.
func TestStopAtOnceAfterJournalFailure(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Drain = 10 * time.Second }, func(w *fixture) {
		gate := w.hold("a")
		working := w.start(w.define(`a act`))
		<-gate.came
		failure := blueprint.Errorf(blueprint.CodeUnavailable, "the database has failed")
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { return failure })
		begin := time.Now()
		w.fail(fmt.Errorf("store: %w", failure))
		w.stop()
		if took := time.Since(begin); took > 0 {
			t.Errorf("stopping took %v, want at most 0", took)
		}
		w.journal.setFault(nil)
		close(gate.open)
		w.boot(w.clock.Now())
		w.expect(w.settle(working.ID), `completed: a=completed -> {"done":"a"}`)
	})
}

// The same if the journal fails during a stop.
func TestStopEndsOnJournalFailure(t *testing.T) {
	var lost chan struct{}
	testWith(t, func(o *engine.Options) { lost = make(chan struct{}); o.Drain, o.Lost = 10*time.Second, lost }, func(w *fixture) {
		gate := w.hold("a")
		working := w.start(w.define(`a act`))
		<-gate.came
		begin := time.Now()
		w.halt()
		w.pass(3 * time.Second)
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return blueprint.Errorf(blueprint.CodeUnavailable, "the database has failed")
		})
		close(lost)
		w.stop()
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("stopping took %v, want %v", took, 3*time.Second)
		}
		w.journal.setFault(nil)
		close(gate.open)
		w.boot(w.clock.Now())
		w.expect(w.settle(working.ID), `completed: a=completed -> {"done":"a"}`)
	})
}

// A queued run that waits for the journal does not delay a stop beyond the drain time.
func TestStopWithoutJournalWhileQueued(t *testing.T) {
	options := func(o *engine.Options) { o.Clock, o.Drain, o.MaxRunning = clock.Real{}, 3*time.Second, 1 }
	testWith(t, options, func(w *fixture) {
		h := w.start(w.define(`
			a wait {"ms": 1000}
			b act`))
		synctest.Wait()
		gate := w.hold("busy")
		w.start(w.define(`busy pass`))
		<-gate.came
		w.pass(900 * time.Millisecond)
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return blueprint.Errorf(blueprint.CodeUnavailable, "disk gone")
		})
		w.pass(time.Minute)
		begin := time.Now()
		w.stop()
		if took := time.Since(begin); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("stopping took %v, want at least %v and at most %v", took, 3*time.Second, 4*time.Second)
		}
		if _, err := h.Wait(w.Context()); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("got %v, want %v", err, blueprint.CodeUnavailable)
		}
		w.journal.setFault(nil)
		close(gate.open)
		w.boot(w.clock.Now())
		synctest.Wait()
		w.expect(w.view(h.ID), `completed: a=completed b=completed -> {"done":"b"}`)
	})
}

// A stop is immediate when nothing runs.
func TestStopWhenIdle(t *testing.T) {
	test(t, func(w *fixture) {
		w.start(w.define(`a wait {"ms": 1000}`))
		synctest.Wait()
		begin := time.Now()
		w.stop()
		if took := time.Since(begin); took != 0 {
			t.Errorf("stopping took %v, want 0", took)
		}
		w.advance(time.Hour) // wakes no run
	})
}
