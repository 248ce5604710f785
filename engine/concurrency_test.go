package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
)

// fired returns a request for a run of a trigger with a limit; 0 = none.
func fired(d *blueprint.Definition, limit int, rule blueprint.OnLimit) *blueprint.StartRequest {
	r := request(d)
	r.Trigger = &blueprint.TriggerContext{ID: "trigger", Type: blueprint.TriggerWebhook}
	if limit > 0 {
		r.Concurrency = &blueprint.ConcurrencyGroup{Key: "trigger", Limit: limit, OnLimit: rule}
	}
	return r
}

// fire starts such a run and waits until it is durable.
func (w *fixture) fire(d *blueprint.Definition, limit int, rule blueprint.OnLimit) *engine.Handle {
	w.Helper()
	h := w.startWith(fired(d, limit, rule), engine.Soon)
	if err := h.Accepted(w.Context()); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
	return h
}

// Runs beyond the limit begin one by one in their order, whatever the others do
// meanwhile.
func TestConcurrencyQueues(t *testing.T) {
	test(t, func(w *fixture) {
		var handles []*engine.Handle
		for i := range 5 {
			handles = append(handles, w.fire(w.define(fmt.Sprintf("b%d act\nw%d wait {\"ms\": 1000}\nq%d ask\ne%d act", i, i, i, i)), 2, blueprint.LimitQueue))
		}
		if s := w.Stats(); s.Blocked != 3 || s.Queued != 0 || s.Held != 0 {
			t.Errorf("%+v, want Blocked 3, Queued 0 and Held 0", s)
		}
		w.expect(w.view(handles[1].ID), `running: b1=completed w1=running q1=pending e1=pending`)
		w.expect(w.view(handles[2].ID), `running: b2=pending w2=pending q2=pending e2=pending`)
		w.advance(time.Second)
		synctest.Wait()
		for i, h := range handles { // paused ones keep their place
			if s := w.Stats(); s.Blocked != max(0, 3-i) {
				t.Errorf("before the end of run %d: %+v", i, s)
			}
			w.answerOK(h.ID, "", "yes")
			if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
				t.Errorf("run %d: %s, want Status %v", i, sum(x), blueprint.StatusCompleted)
			}
			w.advance(time.Second)
			synctest.Wait()
		}
		if s := w.Stats(); s.Blocked != 0 || s.Working != 0 || s.Held != 0 {
			t.Errorf("%+v, want Blocked 0, Working 0 and Held 0", s)
		}
		got := w.begunNodes()
		for i := range 4 {
			if strings.Index(got, fmt.Sprintf("b%d", i)) > strings.Index(got, fmt.Sprintf("b%d", i+1)) {
				t.Errorf("began %s, want at most %v", got, strings.Index(got, fmt.Sprintf("b%d", i+1)))
			}
		}
	})
}

// A full group that skips refuses a run before anything is stored. A caller that waited
// for the end of a run can start the next one at once.
func TestConcurrencySkips(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`a ask`)
		h := w.fire(d, 1, blueprint.LimitSkip)
		before := w.journal.count()
		_, err := w.Start(fired(d, 1, blueprint.LimitSkip), engine.Soon)
		var full *blueprint.ConcurrencyLimitError
		if !errors.As(err, &full) || full.Limit != 1 || full.Running != 1 || w.journal.count() != before {
			t.Errorf("got %v, want Limit 1, Running 1 and count %v", err, before)
		}
		w.fire(d, 2, blueprint.LimitSkip)
		other := fired(d, 1, blueprint.LimitSkip)
		other.Trigger.ID, other.Concurrency.Key = "another", "another"
		w.startWith(other, engine.Soon)
		gate := w.hold("b")
		d = w.define(`b pass`)
		for range 3 {
			r := fired(d, 1, blueprint.LimitSkip)
			r.Trigger.ID, r.Concurrency.Key = "third", "third"
			h := w.startWith(r, engine.AtEnd)
			<-gate.came
			gate.open <- struct{}{}
			w.wait(h)
		}
		// A retry is a run as any other.
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_, err = w.Retry(w.Context(), w.journal.stored(h.ID), "", owner, true)
		if err != nil {
			t.Errorf("a retry with room: %v", err)
		}
		_, err = w.Retry(w.Context(), w.journal.stored(h.ID), "", owner, true)
		w.code(err, blueprint.CodeConflict)
	})
}

// The oldest runs are cancelled once the newer one is durable, and it begins when they
// have ended.
func TestConcurrencyCancels(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("s")
		old := w.startWith(fired(w.define(`s stubborn`), 1, blueprint.LimitCancel), engine.Soon)
		<-gate.came
		synctest.Wait()
		// A duplicate displaces no run.
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.New {
				return &blueprint.DuplicateFiringError{ExecutionID: old.ID}
			}
			return nil
		})
		twice := w.startWith(fired(w.define(`twice act`), 1, blueprint.LimitCancel), engine.AtOnce)
		var duplicate *blueprint.DuplicateFiringError
		if err := twice.Accepted(w.Context()); !errors.As(err, &duplicate) {
			t.Error(err)
		}
		synctest.Wait()
		w.journal.setFault(nil)
		w.expect(w.view(old.ID), `running: s=running`)

		first := w.fire(w.define(`first act`), 1, blueprint.LimitCancel)
		last := w.fire(w.define(`last act`), 1, blueprint.LimitCancel)
		w.expect(w.settle(first.ID), `failed: first=pending !:cancelled: a newer run of its trigger took its place`)
		w.expect(w.view(last.ID), `running: last=pending`)
		close(gate.open)
		w.expect(w.wait(old), `failed: s=completed !:cancelled: a newer run of its trigger took its place`)
		w.expect(w.wait(last), `completed: last=completed -> {"done":"last"}`)
	})
}

// A duplicate displaces no run, even if the commit that detects it is slow.
func TestConcurrencyOfDuplicate(t *testing.T) {
	test(t, func(w *fixture) {
		gate, slow := w.hold("s"), make(chan struct{})
		old := w.startWith(fired(w.define(`s stubborn`), 2, blueprint.LimitCancel), engine.Soon)
		<-gate.came
		synctest.Wait()
		d := w.define(`twice act`)
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if !c.New || c.Row.BlueprintID != d.BlueprintID {
				return nil
			}
			<-slow
			return &blueprint.DuplicateFiringError{ExecutionID: old.ID}
		})
		w.startWith(fired(d, 2, blueprint.LimitCancel), engine.AtOnce)
		last := w.fire(w.define(`last ask`), 2, blueprint.LimitCancel)
		w.expect(w.view(old.ID), `running: s=running`)
		close(slow)
		w.expect(w.settle(last.ID), `paused: last=paused`)
		close(gate.open)
		w.expect(w.wait(old), `completed: s=completed -> {"n":1}`)
		if w.logged() != "" {
			t.Errorf("unexpected log: %s", w.logged())
		}
	})
}

// The newest limit applies, also to blocked runs.
func TestConcurrencyLimitChanges(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`a ask`)
		begun := func() int { return len(strings.Fields(w.begunNodes())) }
		for i, step := range []struct {
			limit int
			want  int // runs that have begun afterwards
		}{{0, 1}, {1, 1}, {1, 1}, {2, 2}, {1, 2}, {4, 4}, {4, 4}, {4, 4}, {0, 9}, {1, 9}} {
			w.fire(d, step.limit, blueprint.LimitQueue)
			if got := begun(); got != step.want {
				t.Errorf("after %d: %d have begun, want %d", i+1, got, step.want)
			}
		}
		full, err := w.Start(fired(d, 1, blueprint.LimitSkip), engine.Soon)
		if err == nil {
			t.Errorf("accepted %s, want an error", full.ID)
		}
	})
}

// At most a thousand runs are blocked.
func TestConcurrencyIsBounded(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`a ask`)
		for range 1001 {
			w.startWith(fired(d, 1, blueprint.LimitQueue), engine.Soon)
		}
		_, err := w.Start(fired(d, 1, blueprint.LimitQueue), engine.Soon)
		w.code(err, blueprint.CodeTooManyRequests)
		synctest.Wait()
		if s := w.Stats(); s.Blocked != 1000 || s.Held != 0 || len(strings.Fields(w.begunNodes())) != 1 {
			t.Errorf("%+v, want Blocked 1000, Held 0 and length 1", s)
		}
	})
}

// A blocked run can be cancelled, and child runs need no slot.
func TestConcurrencyOfCancelledAndChildRuns(t *testing.T) {
	test(t, func(w *fixture) {
		first := w.fire(w.define(`a ask`), 1, blueprint.LimitQueue)
		second := w.fire(w.define(`b act`), 1, blueprint.LimitQueue)
		third := w.fire(w.define(`c act`), 1, blueprint.LimitQueue)
		if err := w.Cancel(w.Context(), second.ID, "why"); err != nil {
			t.Fatal(err)
		}
		w.expect(w.wait(second), `failed: b=pending !:cancelled: why`)
		w.code(w.answer(third.ID, "", 1), blueprint.CodeConflict)
		w.expect(w.settle(third.ID), `running: c=pending`)
		if err := w.Cancel(w.Context(), first.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.expect(w.wait(third), `completed: c=completed -> {"done":"c"}`)
	})
}

// After a crash, runs that had begun continue within the limit, and the others follow in
// order.
func TestConcurrencyAfterACrash(t *testing.T) {
	key := secret.NewKey()
	var order []string
	disks := crashes(t, key, func(w *fixture) {
		for i := range 4 {
			order = append(order, w.fire(w.define(fmt.Sprintf("b%d act\nw%d wait {\"ms\": 1000}\ne%d act", i, i, i)), 1, blueprint.LimitQueue).ID)
		}
		for range 4 {
			w.advance(time.Second)
			synctest.Wait()
		}
	})
	for n, disk := range disks {
		synctest.Test(t, func(t *testing.T) {
			w := newFixture(t, disk, newLab(), key, nil)
			defer w.stop()
			for range 5 {
				synctest.Wait()
				under := 0
				for _, id := range order {
					if disk.stored(id) == nil {
						continue
					}
					if x := w.view(id); !x.Status.Terminal() && x.Steps[0].Status != blueprint.StepPending {
						under++
					}
				}
				if under > 1 {
					t.Errorf("after commit %d %d runs work at once, want at most 1", n+1, under)
				}
				w.advance(time.Second)
			}
			for _, id := range order {
				if disk.stored(id) != nil && w.view(id).Status != blueprint.StatusCompleted {
					t.Errorf("after commit %d: %s", n+1, sum(w.view(id)))
				}
			}
			got := strings.Fields(w.begunNodes())
			for i := 1; i < len(got); i++ {
				if got[i-1][1] > got[i][1] {
					t.Errorf("after commit %d began %v, want at most %v", n+1, got, got[i][1])
				}
			}
		})
	}
}

// A run that cannot be loaded at the start keeps its place.
func TestConcurrencyOfRunLoadedLater(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define("a ask")
		first := w.fire(d, 1, blueprint.LimitQueue)
		second := w.fire(d, 1, blueprint.LimitQueue)
		w.journal.runs[first.ID].Row.TriggerID = "trigger" // which comes with a firing
		w.stop()
		w.journal.loadFault = func(id string) error {
			if id == first.ID {
				return blueprint.Errorf(blueprint.CodeUnavailable, "busy")
			}
			return nil
		}
		w.boot(w.clock.Now())
		w.expect(w.settle(second.ID), `running: a=pending`)
		w.journal.mu.Lock()
		w.journal.loadFault = nil
		w.journal.mu.Unlock()
		w.advance(10 * time.Second)
		w.expect(w.settle(second.ID), `running: a=pending`)
		w.answerOK(first.ID, "", 1)
		w.expect(w.settle(second.ID), `paused: a=paused`)
	})
}

// The limit holds under random operations, and all runs end.
func TestConcurrencyUnderStress(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		test(t, func(w *fixture) {
			d := w.define("a act\nw wait {\"ms\": 1000}\nq ask\nb act")
			var all []string
			check := func() (open int) {
				synctest.Wait()
				under := 0
				for _, id := range all {
					if x := w.view(id); !x.Status.Terminal() {
						open++
						if x.Steps[0].Status != blueprint.StepPending {
							under++
						}
					}
				}
				if under > 2 || open >= 2 && under < 2 {
					t.Fatalf("seed %d: %d of %d that are open go on", seed, under, open)
				}
				return open
			}
			for range 60 {
				switch pick := random.IntN(10); {
				case pick < 4:
					all = append(all, w.fire(d, 2, blueprint.LimitQueue).ID)
				case pick < 5:
					w.reboot()
				case pick < 7:
					w.advance(time.Second)
				case len(all) > 0 && pick < 8:
					w.Cancel(w.Context(), all[random.IntN(len(all))], "")
				case len(all) > 0:
					w.answer(all[random.IntN(len(all))], "", 1)
				}
				check()
			}
			for check() > 0 {
				w.advance(time.Second)
				synctest.Wait()
				for _, id := range all {
					w.answer(id, "", 1)
				}
			}
		})
	}
}
