package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

func TestQueueIsFirstInFirstOut(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 5 }, func(w *world) {
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
				t.Errorf("while it waits: %s", sum(x))
			}
			handles = append(handles, h)
		}
		_, err := w.Start(request(w.define(`late act`)), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		if e, ok := err.(*blueprint.Error); !ok || e.RetryAfter <= 0 {
			t.Errorf("%v does not say when to come again", err)
		}
		close(gate.open)
		w.wait(busy)
		for _, h := range handles {
			w.wait(h)
		}
		if got := w.begunNodes(); got != "busy n0 n1 n2 n3 n4" {
			t.Errorf("began %s", got)
		}
	})
}

// A run that is to be on the disk before its first node starts is, even when
// its turn comes while the disk is at it.
func TestTurnComesBeforeTheDisk(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 1 }, func(w *world) {
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
			t.Errorf("began %s before the run was on the disk", got)
		}
		disk <- blueprint.Errorf(blueprint.CodeUnavailable, "full")
		w.code(h.Accepted(w.Context()), blueprint.CodeUnavailable)
		synctest.Wait()
		if got := w.begunNodes(); got != "busy" {
			t.Errorf("began %s of a run that does not exist", got)
		}
	})
}

// A run at rest has no turn: it neither keeps others waiting nor goes ahead of
// them when it wakes.
func TestRestingRunsGiveUpTheirTurn(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 1 }, func(w *world) {
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
			t.Error(sum(x))
		}
		if got := w.begunNodes(); got != "w q busy first answered woken" {
			t.Errorf("began %s", got)
		}
	})
}

// An answer to a run that waits for its turn does not give it one.
func TestAnswerWhileQueued(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning = 1 }, func(w *world) {
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
			t.Errorf("began %s", got)
		}
		w.expect(w.view(x.ID), `running: a=completed b=completed c=pending d=pending`)
		close(gate.open)
		w.wait(busy)
		if x := w.settle(x.ID); x.Status != blueprint.StatusCompleted || x.CompletedSteps != 4 {
			t.Error(sum(x))
		}
	})
}

// Whatever order they come in, no more runs work at once than may, all of them
// end, and the place of each is given back.
func TestManyRunsShareFewTurns(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 3, 1000 }, func(w *world) {
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
				t.Errorf("run %d: %s", i, sum(x))
			}
		}
		if n := len(w.actions()); n != 250 {
			t.Errorf("%d actions", n)
		}
		if s := w.Stats(); s.Working != 0 || s.Queued != 0 || s.Flows != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// A fork works on at most 64 nodes at once, and on all of them in the end.
func TestForkIsBounded(t *testing.T) {
	test(t, func(w *world) {
		lines := "root pass\n"
		var gates []*gate
		for i := range 200 {
			lines += fmt.Sprintf("n%d act\nroot -> n%d\n", i, i)
			gates = append(gates, w.hold(fmt.Sprintf("n%d", i)))
		}
		h := w.start(w.define(lines))
		synctest.Wait()
		if n := len(strings.Fields(w.begunNodes())); n != 65 {
			t.Errorf("%d nodes began at first", n)
		}
		for i, g := range gates {
			close(g.open)
			synctest.Wait()
			if n := len(strings.Fields(w.begunNodes())); n != min(201, 66+i) {
				t.Fatalf("%d nodes began after %d ended", n, i+1)
			}
		}
		if x := w.wait(h); x.CompletedSteps != 201 {
			t.Error(sum(x))
		}
		if w.peak != 64 {
			t.Errorf("%d at once", w.peak)
		}
	})
}
