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

func TestQueueIsFirstInFirstOut(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 5 }, func(w *fixture) {
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		var handles []*engine.Handle
		for i := range 5 {
			h := w.start(w.define(fmt.Sprintf(`n%d act`, i)))
			if err := h.Accepted(w.Context()); err != nil {
				t.Fatal(err) // stored while it waits
			}
			if x := w.view(h.ID); x.Status != blueprint.StatusRunning || x.Steps[0].Status != blueprint.StepPending {
				t.Errorf("while it waits: %s, want Status %v and Status %v", sum(x), blueprint.StatusRunning, blueprint.StepPending)
			}
			handles = append(handles, h)
		}
		_, err := w.Start(request(w.define(`late act`)), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		if e, ok := err.(*blueprint.Error); !ok || e.RetryAfter <= 0 {
			t.Errorf("%v has no RetryAfter, want more than 0", err)
		}
		close(gate.open)
		w.wait(busy)
		for _, h := range handles {
			w.wait(h)
		}
		if got := w.begunNodes(); got != "busy n0 n1 n2 n3 n4" {
			t.Errorf("began %s, want busy n0 n1 n2 n3 n4", got)
		}
	})
}

// A run that must be durable before its first node starts is, even when it gets its slot
// during a commit.
func TestSlotBeforeCommit(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 1 }, func(w *fixture) {
		gate := w.hold("busy")
		busy := w.startWith(request(w.define(`busy pass`)), engine.AtEnd)
		<-gate.came
		disk := make(chan error)
		d := w.define(`a pass`)
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Row.BlueprintID == d.BlueprintID && c.New {
				return <-disk
			}
			return nil
		})
		h := w.startWith(request(d), engine.AtOnce)
		close(gate.open)
		w.wait(busy)
		synctest.Wait()
		if got := w.begunNodes(); got != "busy" {
			t.Errorf("began %s before the run was durable, want busy", got)
		}
		disk <- blueprint.Errorf(blueprint.CodeUnavailable, "full")
		w.code(h.Accepted(w.Context()), blueprint.CodeUnavailable)
		synctest.Wait()
		if got := w.begunNodes(); got != "busy" {
			t.Errorf("began %s of a run that does not exist, want busy", got)
		}
	})
}

// A parked run holds no slot, and queues again when it wakes.
func TestParkedRunsHoldNoSlot(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 1 }, func(w *fixture) {
		waits := w.define(`
			w wait {"ms": 1000}
			woken act`)
		asks := w.define(`
			q ask
			answered act`)
		a, b := w.start(waits), w.start(asks)
		w.wait(b)
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		synctest.Wait()
		first := w.start(w.define(`first act`))
		w.answerOK(b.ID, "", 1)
		synctest.Wait()
		advanced := make(chan error, 1)
		go func() { advanced <- w.clock.Advance(w.Context(), epoch.Add(time.Second)) }()
		synctest.Wait()
		if !w.clock.Now().Equal(epoch) {
			t.Error("the clock moves while runs work or wait for their turn")
		}
		close(gate.open)
		w.wait(busy)
		w.wait(first)
		if err := <-advanced; err != nil {
			t.Fatal(err)
		}
		w.wait(a)
		if x := w.settle(b.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
		if got := w.begunNodes(); got != "w q busy first answered woken" {
			t.Errorf("began %s, want w q busy first answered woken", got)
		}
	})
}

// An answer to a queued run does not start it ahead of the queue.
func TestAnswerWhileQueued(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 1 }, func(w *fixture) {
		x := w.run(w.define(`
			a ask
			b ask
			c act
			d act
			a -> c
			b -> d`))
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		w.answerOK(x.ID, "a", 1)
		w.answerOK(x.ID, "b", 2)
		w.code(w.answer(x.ID, "b", 2), blueprint.CodeConflict)
		synctest.Wait()
		if got := w.begunNodes(); strings.Contains(got, "c") || strings.Contains(got, "d") {
			t.Errorf("began %s, want no \"c\" and no \"d\"", got)
		}
		w.expect(w.view(x.ID), `running: a=completed b=completed c=pending d=pending`)
		close(gate.open)
		w.wait(busy)
		if x := w.settle(x.ID); x.Status != blueprint.StatusCompleted || x.CompletedSteps != 4 {
			t.Errorf("%v, want Status %v and CompletedSteps 4", sum(x), blueprint.StatusCompleted)
		}
	})
}

// No more runs work at once than there are slots, all of them end, and all slots are
// released.
func TestManyRunsShareFewSlots(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 3, 1000 }, func(w *fixture) {
		d := w.define(`
			a act
			w wait {"ms": 10}
			x pass
			y act
			q ask
			z act
			a -> w
			a -> x
			w -> y
			x -> y
			y -> q
			q -> z`)
		var handles []*engine.Handle
		for range 100 {
			handles = append(handles, w.start(d))
		}
		synctest.Wait()
		w.advance(time.Second)
		for i, h := range handles {
			w.wait(h)
			if i%2 == 0 {
				w.answerOK(h.ID, "", i)
			} else if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for i, h := range handles {
			want := blueprint.StatusCompleted
			if i%2 == 1 {
				want = blueprint.StatusFailed
			}
			if x := w.view(h.ID); x.Status != want {
				t.Errorf("run %d: %s, want Status %v", i, sum(x), want)
			}
		}
		if n := len(w.actions()); n != 250 {
			t.Errorf("%d actions, want 250", n)
		}
		if s := w.Stats(); s.Working != 0 || s.Queued != 0 || s.Flows != 0 {
			t.Errorf("at the end: %+v, want Working 0, Queued 0 and Flows 0", s)
		}
	})
}

// A fork runs at most 64 nodes at once, and all of them eventually.
func TestForkIsBounded(t *testing.T) {
	test(t, func(w *fixture) {
		lines := "root pass\n"
		var gates []*chanMutex
		for i := range 200 {
			lines += fmt.Sprintf("n%d act\nroot -> n%d\n", i, i)
			gates = append(gates, w.hold(fmt.Sprintf("n%d", i)))
		}
		h := w.start(w.define(lines))
		synctest.Wait()
		if n := len(strings.Fields(w.begunNodes())); n != 65 {
			t.Errorf("%d nodes began at first, want 65", n)
		}
		for i, g := range gates {
			close(g.open)
			synctest.Wait()
			if n := len(strings.Fields(w.begunNodes())); n != min(201, 66+i) {
				t.Fatalf("%d nodes began after %d ended", n, i+1)
			}
		}
		if x := w.wait(h); x.CompletedSteps != 201 {
			t.Errorf("%v, want CompletedSteps 201", sum(x))
		}
		if w.peak != 64 {
			t.Errorf("%d at once, want 64", w.peak)
		}
	})
}

// scheduled sets Options.Schedule to the clock.
func scheduled(o *engine.Options) {
	o.Schedule = func(f func()) { o.Clock.(*clock.Virtual).WhenIdle(f) }
}

// With Options.Schedule, runs and their nodes work one after the other in a repeatable
// order.
func TestScheduledRuns(t *testing.T) {
	var first string
	for range 5 {
		testWith(t, scheduled, func(w *fixture) {
			d := w.define("a pass\nb pass\nc wait {\"ms\": 1000}\nd pass")
			hold := w.clock.Hold() // no run may work yet
			var handles []*engine.Handle
			for range 4 {
				handles = append(handles, w.start(d))
			}
			synctest.Wait()
			if got := w.begunNodes(); got != "" {
				t.Errorf("began %s while the clock was held, want nothing", got)
			}
			hold()
			synctest.Wait()
			if got, want := w.begunNodes(), strings.TrimSpace(strings.Repeat("a b c ", 4)); got != want {
				t.Errorf("began %s, want %s", got, want)
			}
			w.advance(time.Second)
			for _, h := range handles {
				if x := w.view(h.ID); x.Status != "completed" {
					t.Errorf("%s is %s, want completed", h.ID, x.Status)
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

// A run that waits for Options.Schedule is durable and can be cancelled.
func TestWaitingForSchedule(t *testing.T) {
	testWith(t, scheduled, func(w *fixture) {
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
			t.Errorf("cancelled: %s, began %q; want failed", x.Status, w.begunNodes())
		}
		w.advance(time.Hour)
	})
}

// New runs are refused while the inputs in memory exceed the limit, and accepted once
// runs have ended.
func TestInputInMemoryIsBounded(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits.Held = 1000 }, func(w *fixture) {
		gate := w.hold("a")
		large := func() *blueprint.StartRequest {
			r := request(w.define(`a pass`))
			r.InputData = strings.Repeat("x", 600)
			return r
		}
		first := w.startWith(large(), engine.AtOnce)
		<-gate.came
		_, err := w.Start(large(), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		close(gate.open)
		w.wait(first)
		w.wait(w.startWith(large(), engine.AtOnce))
	})
}

// Callers that wait for memory get it first come, first served, or are refused after
// InputWait.
func TestInputWaitsForMemory(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits.Held, o.InputWait = 1<<20, 10*time.Second }, func(w *fixture) {
		gate := w.hold("a")
		d := w.define(`a pass`)
		large := func() *blueprint.StartRequest {
			r := request(d)
			r.InputData = strings.Repeat("x", 600<<10)
			return r
		}
		first := w.startWith(large(), engine.AtOnce)
		<-gate.came
		_, err := w.StartOrWait(w.Context(), large(), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)

		const waiting = 8
		handles := make(chan *engine.Handle, waiting)
		for range waiting {
			go func() {
				handle, err := w.StartOrWait(w.Context(), large(), engine.AtOnce)
				if err != nil {
					t.Error(err)
				}
				handles <- handle
			}()
		}
		synctest.Wait()
		w.wait(w.startWith(request(w.define(`b pass`)), engine.AtOnce)) // a small one does not wait
		if held := w.Stats().Held; held > 1<<20 || len(handles) > 0 {
			t.Errorf("%d bytes are held, %d runs were accepted; want at most %v and none", held, len(handles), 1<<20)
		}
		close(gate.open)
		w.wait(first)
		for range waiting {
			w.wait(<-handles)
		}
		synctest.Wait()
		if held := w.Stats().Held; held != 0 {
			t.Errorf("%d bytes are still held, want 0", held)
		}
		w.wait(w.startWith(large(), engine.AtOnce))
	})
}

// Small inputs are accepted while large ones use up the limit.
func TestLargeInputsDoNotBlockSmallOnes(t *testing.T) {
	const most = 1 << 20
	testWith(t, func(o *engine.Options) { o.Limits.Held = most }, func(w *fixture) {
		gate := w.hold("a")
		sized := func(size int) *blueprint.StartRequest {
			r := request(w.define(`a pass`))
			r.InputData = strings.Repeat("x", size)
			return r
		}
		large := w.startWith(sized(most-200), engine.AtOnce)
		<-gate.came
		_, err := w.Start(sized(3000), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		small := w.startWith(sized(300), engine.AtOnce)
		close(gate.open)
		w.wait(large)
		w.wait(small)
	})
}

// The exchanges of a recorded run count like its input, and are released.
func TestTapesInMemoryAreCounted(t *testing.T) {
	testWith(t, func(o *engine.Options) {
		o.Limits.Held = 100_000
		calling(o)
	}, func(w *fixture) {
		gate := w.hold("b")
		plan := w.define("a ring {\"size\": 60000}\nb pass")
		first := w.recorded(plan)
		<-gate.came
		if held := w.Stats().Held; held < 120_000 {
			t.Errorf("%d bytes are held, want at least %v", held, 120_000)
		}
		_, err := w.Start(request(plan), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		close(gate.open)
		w.wait(first)
		if held := w.Stats().Held; held != 0 {
			t.Errorf("%d bytes are still held, want 0", held)
		}
		w.wait(w.startWith(request(plan), engine.AtOnce))
	})
}
