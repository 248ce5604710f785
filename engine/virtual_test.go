package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// Advance runs waits, retries and expiries in the order in which they are due, and lets
// all work finish before the clock advances further.
func TestAdvanceThroughWhatIsDue(t *testing.T) {
	test(t, func(w *fixture) {
		stamp := func(name string) string { return name + ` echo {"value": "{{now}}"}` }
		first := w.start(w.define("a1 wait {\"ms\": 2000}\n" + stamp("a2") + "\na3 wait {\"ms\": 2000}\n" + stamp("a4")))
		second := w.start(w.define("b1 ask {\"expiresMs\": 3000, \"onExpire\": \"continue\"}\n" + stamp("b2")))
		third := w.start(w.define("c1 fail {\"times\": 1, \"retryAfterMs\": 1000} | {\"retry\": {\"maxAttempts\": 2, \"delayMs\": 0}}\n" + stamp("c2")))
		w.wait(second)
		synctest.Wait()
		w.advance(3500 * time.Millisecond)
		// No waiting here: all due work has finished when Advance returns.
		at := func(h *engine.Handle, node string) string {
			return strings.TrimSuffix(strings.TrimPrefix(encode(step(w.view(h.ID), node).Output), `"2000-01-01T00:00:0`), `Z"`)
		}
		if got := fmt.Sprint(at(first, "a2"), " ", at(second, "b2"), " ", at(third, "c2")); got != "2.000 3.000 1.000" {
			t.Errorf("at %s, want 2.000 3.000 1.000", got)
		}
		w.expect(w.view(third.ID), `completed: c1=completed c2=completed -> "2000-01-01T00:00:01.000Z"`)
		if s := step(w.view(first.ID), "a3"); s.Status != blueprint.StepRunning {
			t.Errorf("a3 is %s, want %v", s.Status, blueprint.StepRunning)
		}
		w.advance(500 * time.Millisecond) // exactly to the end of a3
		if got := at(first, "a4"); got != "4.000" {
			t.Errorf("a4 ran at %s, want 4.000", got)
		}
		if got := w.begunNodes(); sortedWords(got) != "a1 a2 a3 a4 b1 b2 c1 c1 c2" || !strings.HasSuffix(got, "c1 c2 a2 a3 b2 a4") {
			t.Errorf("began %s, want a1 a2 a3 a4 b1 b2 c1 c1 c2 and \"c1 c2 a2 a3 b2 a4\" at the end", got)
		}
	})
}

// The clock is held while anything works, and released when all runs are parked or have
// ended.
func TestClockIsNotHeldWhenIdle(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`
			a act
			q ask
			w wait {"ms": 5}
			f fail {} | {"retry": {"maxAttempts": 2}}`)
		for range 3 {
			h := w.start(d)
			w.wait(h)
			w.code(w.answer(h.ID, "q", "bad"), blueprint.CodeBadRequest)
			w.code(w.answer(h.ID, "a", 1), blueprint.CodeConflict)
			w.answerOK(h.ID, "q", 1)
			synctest.Wait()
			w.advance(time.Hour)
			w.code(w.answer(h.ID, "q", 1), blueprint.CodeConflict)
			w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
		}
		x := w.run(d)
		if err := w.Cancel(w.Context(), x.ID, ""); err != nil {
			t.Error(err)
		}
		w.code(w.Cancel(w.Context(), "exec_1_unknown", ""), blueprint.CodeNotFound)
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { return blueprint.Errorf(blueprint.CodeUnavailable, "full") })
		if err := w.start(d).Accepted(w.Context()); err == nil {
			t.Error("accepted, want an error")
		}
		synctest.Wait()
		w.advance(time.Hour)
	})
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 1 }, func(w *fixture) {
		gate := w.hold("a")
		d := w.define(`a pass`)
		w.start(d)
		<-gate.came
		w.start(d)
		if _, err := w.Start(request(d), engine.Soon); err == nil {
			t.Error("the queue is longer than it may be, want an error")
		}
		close(gate.open)
		synctest.Wait()
		w.advance(time.Hour)
		w.stop()
		w.advance(time.Hour)
	})
}

// Working runs hold the clock.
func TestClockIsHeldDuringWork(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("a")
		h := w.start(w.define(`a pass`))
		<-gate.came
		moved := make(chan error, 1)
		go func() { moved <- w.clock.Advance(w.Context(), epoch.Add(time.Hour)) }()
		w.pass(time.Hour)
		if !w.clock.Now().Equal(epoch) {
			t.Error("the clock has moved")
		}
		close(gate.open)
		if err := <-moved; err != nil {
			t.Error(err)
		}
		if x := w.wait(h); x.EndTime != blueprint.TimeOf(epoch) {
			t.Errorf("ended at %s, want %v", x.EndTime, blueprint.TimeOf(epoch))
		}
	})
}

// With the machine's clock waits end by themselves.
func TestRealClock(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Clock = clock.Real{} }, func(w *fixture) {
		begin := time.Now()
		x := w.run(w.define(`
			a wait {"ms": 3600000}
			b fail {"times": 1} | {"retry": {"maxAttempts": 2, "delayMs": 0}}`))
		w.expect(x, `completed: a=completed b=completed -> 2`)
		if took := time.Since(begin); took < time.Hour || took > time.Hour+time.Second {
			t.Errorf("it took %v, want at least %v and at most %v", took, time.Hour, time.Hour+time.Second)
		}
	})
}

// A wait ends in time also while another node of the run is running.
func TestWaitBesideWork(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Clock = clock.Real{} }, func(w *fixture) {
		slow, after := w.hold("slow"), w.hold("after")
		h := w.start(w.define(`
			slow pass
			waits wait {"ms": 1000}
			after pass
			waits -> after`))
		<-slow.came
		begin := time.Now()
		<-after.came
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %v, want %v", took, time.Second)
		}
		close(after.open)
		close(slow.open)
		w.wait(h)
	})
}

// A run that is woken while it is being parked loses nothing.
func TestWokenWhileParking(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Clock = clock.Real{} }, func(w *fixture) {
		open := make(chan struct{})
		w.journal.setFault(func(n int, _ *blueprint.JournalCommit) error {
			if n == 1 {
				<-open
			}
			return nil
		})
		h := w.startWith(request(w.define(`
			a wait {"ms": 1000}
			b pass
			c wait {"ms": 1000}
			d pass`)), engine.AtEnd)
		w.pass(1500 * time.Millisecond)
		if got := w.begunNodes(); got != "a b c" {
			t.Errorf("began %s, want a b c", got)
		}
		close(open)
		w.expect(w.wait(h), `completed: a=completed b=completed c=completed d=completed -> {"n":1}`)
		if got := w.begunNodes(); got != "a b c d" {
			t.Errorf("began %s, want a b c d", got)
		}
	})
}

// Watch signals each change, and after the last signal the stored run has ended.
func TestWatch(t *testing.T) {
	test(t, func(w *fixture) {
		first, gate := w.hold("a"), w.hold("b")
		h := w.start(w.define(`
			a ask
			b act`))
		<-first.came
		changes, stop := w.Watch(h.ID)
		other, stopOther := w.Watch(h.ID)
		stopOther()
		close(first.open)
		w.wait(h)
		signalled := func() bool {
			synctest.Wait()
			select {
			case <-changes:
				return true
			default:
				return false
			}
		}
		if !signalled() || signalled() {
			t.Error("a change is signalled twice")
		}
		w.answerOK(h.ID, "", 1)
		<-gate.came
		if !signalled() || w.view(h.ID).Steps[1].Status != blueprint.StepRunning {
			t.Error("no signal for the start of a node")
		}
		open := make(chan struct{})
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		close(gate.open)
		for signalled() {
		}
		close(open)
		if !signalled() || w.journal.stored(h.ID).Row.Status != blueprint.StatusCompleted {
			t.Error("no signal for the end")
		}
		stop()
		stop()
		select {
		case <-other:
			t.Error("signals after stop")
		default:
		}
	})
}

// A watcher that reads the record after each signal sees the end.
func TestWatchUntilTheEnd(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`
			a act
			b pass
			c act`)
		for range 50 {
			h := w.start(d)
			changes, stop := w.Watch(h.ID)
			if err := h.Accepted(w.Context()); err != nil {
				t.Fatal(err)
			}
			for w.view(h.ID).Status != blueprint.StatusCompleted {
				<-changes
			}
			stop()
		}
	})
}
