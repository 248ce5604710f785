package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// shifted is a clock that can be set back.
type shifted struct {
	*clock.Virtual
	by atomic.Int64
}

func (s *shifted) Now() time.Time { return s.Virtual.Now().Add(time.Duration(s.by.Load())) }

// The order of runs does not depend on the clock.
func TestConcurrencyWhenTheClockIsSetBack(t *testing.T) {
	for rule, want := range map[blueprint.OnLimit]string{
		blueprint.LimitQueue:  "running: a=pending, paused: a=paused, running: a=pending",
		blueprint.LimitCancel: "failed: a=skipped, failed: a=skipped, paused: a=paused",
	} {
		set := &shifted{}
		testWith(t, func(o *engine.Options) { set.Virtual, o.Clock = o.Clock.(*clock.Virtual), set }, func(w *fixture) {
			d := w.define(`a ask`)
			all := []*engine.Handle{w.fire(d, 1, rule), w.fire(d, 1, rule)}
			set.by.Store(int64(-time.Minute))
			all = append(all, w.fire(d, 1, rule))
			if rule == blueprint.LimitQueue {
				w.reboot() // and that is remembered
				w.answerOK(all[0].ID, "", 1)
				all[0] = w.fire(d, 1, rule)
			}
			var got []string
			for _, h := range all {
				text, _, _ := strings.Cut(sum(w.settle(h.ID)), " !")
				got = append(got, text)
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%s: %s, want %s", rule, got, want)
			}
		})
	}
}

// A blocked run that is cancelled never begins, even if its cancellation waits for a
// commit.
func TestConcurrencyOfCancelledRun(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("s")
		w.startWith(fired(w.define(`s stubborn`), 1, blueprint.LimitCancel), engine.Soon)
		<-gate.came
		second := w.fire(w.define(`b act`), 1, blueprint.LimitCancel)
		w.journal.failLoad(second.ID, blueprint.CodeUnavailable)
		third := w.fire(w.define(`c act`), 1, blueprint.LimitCancel)
		w.journal.failLoad("", "")
		close(gate.open)
		w.expect(w.wait(third), `completed: c=completed -> {"done":"c"}`)
		w.advance(time.Minute)
		w.expect(w.settle(second.ID), `failed: b=pending !:cancelled: a newer run of its trigger took its place`)
	})
}

// A retry belongs to the trigger of its run, and keeps its place in the concurrency group
// while a process that starts cannot load it.
func TestConcurrencyOfRetryAfterARestart(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define("a fail {\"times\": 1}\nb ask")
		first := w.wait(w.fire(d, 1, blueprint.LimitQueue))
		again, err := w.Retry(w.Context(), w.journal.stored(first.ID), "", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.settle(again.ID); got.TriggerID != "trigger" || got.FiringID != "" {
			t.Errorf("trigger %q and firing %q, want trigger \"trigger\" and none", got.TriggerID, got.FiringID)
		}
		next := w.fire(w.define("c act"), 1, blueprint.LimitQueue)
		w.journal.failLoad(again.ID, blueprint.CodeUnavailable)
		w.reboot()
		w.expect(w.settle(next.ID), `running: c=pending`)
		w.journal.failLoad("", "")
		w.advance(10 * time.Second)
		w.answerOK(again.ID, "", 1)
		w.expect(w.settle(next.ID), `completed: c=completed -> {"done":"c"}`)
	})
}

// failLoad makes loading a run fail.
func (j *journal) failLoad(id string, code blueprint.Code) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.loadFault = func(asked string) error {
		if asked == id {
			return blueprint.Errorf(code, "not now")
		}
		return nil
	}
}

// A run that cannot be loaded to be cancelled still releases its slot.
func TestConcurrencyOfUnreadableRun(t *testing.T) {
	test(t, func(w *fixture) {
		first := w.fire(w.define(`a ask`), 1, blueprint.LimitCancel)
		w.journal.failLoad(first.ID, blueprint.CodeInternal)
		w.expect(w.settle(w.fire(w.define(`b ask`), 1, blueprint.LimitCancel).ID), `paused: b=paused`)
		if !strings.Contains(w.logged(), "run cancellation failed") {
			t.Errorf("logged %q, want \"run cancellation failed\" in it", w.logged())
		}
	})
}

// No run of a deleted blueprint begins in place of another.
func TestConcurrencyOfDeletedBlueprint(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define("s act\na hang")
		var all []string
		for range 50 {
			all = append(all, w.fire(d, 1, blueprint.LimitQueue).ID)
		}
		if err := w.CancelAll(w.Context(), all, "deleted"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if s := w.Stats(); len(strings.Fields(w.begunNodes())) != 2 || s.Blocked != 0 || s.Working != 0 || s.Held != 0 {
			t.Errorf("began %s, %+v; want length 2, Blocked 0, Working 0 and Held 0", w.begunNodes(), s)
		}
	})
}

// Blocked runs are admitted only as there is memory for their input.
func TestConcurrencyMemory(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits.Held = 1 << 20 }, func(w *fixture) {
		gate := w.hold("a")
		first := w.fire(w.define(`q ask`), 1, blueprint.LimitQueue)
		d := w.define(`a pass`)
		for range 20 {
			r := fired(d, 1, blueprint.LimitQueue)
			r.InputData = map[string]any{"x": strings.Repeat("x", 300<<10)}
			if err := w.startWith(r, engine.AtOnce).Accepted(w.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		w.answerOK(first.ID, "", 1)
		last := w.startWith(fired(d, 1000, blueprint.LimitQueue), engine.AtOnce)
		synctest.Wait()
		for came := 0; came < 21; {
			s := w.Stats()
			if now := len(gate.came); now < 1 || now > 4 || s.Held > 1<<20+1<<18 {
				t.Fatalf("after %d: %d at work, %+v; want at least 1, at most 4 and Held at most %v", came, now, s, 1<<20+1<<18)
			}
			for range len(gate.came) {
				<-gate.came
				gate.open <- struct{}{}
				came++
			}
			synctest.Wait()
		}
		w.expect(w.wait(last), `completed: a=completed -> {"n":1}`)
		if s := w.Stats(); s.Held != 0 || s.Blocked != 0 {
			t.Errorf("%+v, want Held 0 and Blocked 0", s)
		}
	})
}

// A changed or removed limit applies without another run, and after a restart.
func TestRelimit(t *testing.T) {
	present := &blueprint.ConcurrencyGroup{Limit: 3, OnLimit: blueprint.LimitQueue}
	var failure error
	testWith(t, func(o *engine.Options) {
		o.Concurrency = func(context.Context, string) (*blueprint.ConcurrencyGroup, error) { return present, failure }
	}, func(w *fixture) {
		d := w.define(`a ask`)
		for range 10 {
			w.fire(d, 3, blueprint.LimitQueue)
		}
		for i, step := range []struct {
			limit  int
			lost   error
			reboot bool
			want   int // runs that have begun afterwards
		}{{3, nil, false, 3}, {4, errors.New("lost"), false, 3}, {4, nil, false, 4}, {1, nil, true, 4}, {5, nil, true, 5}, {0, nil, false, 10}} {
			if present, failure = nil, step.lost; step.limit > 0 {
				present = &blueprint.ConcurrencyGroup{Limit: step.limit, OnLimit: blueprint.LimitQueue}
			}
			if step.reboot {
				w.reboot()
			} else {
				w.Relimit(w.Context())
			}
			synctest.Wait()
			if got := 10 - w.Stats().Blocked; got != step.want {
				t.Errorf("step %d: %d have begun, want %d", i, got, step.want)
			}
		}
	})
}

// A run is skipped only once the commits of the runs before it have succeeded.
func TestConcurrencySkipAwaitsCommits(t *testing.T) {
	for _, stays := range []bool{true, false} {
		test(t, func(w *fixture) {
			slow, d := make(chan struct{}), w.define(`a ask`)
			w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
				if !c.New || c.Row.BlueprintID != d.BlueprintID {
					return nil
				}
				if <-slow; stays {
					return nil
				}
				return &blueprint.DuplicateFiringError{ExecutionID: "first"}
			})
			w.startWith(fired(d, 1, blueprint.LimitSkip), engine.AtEnd) // which would take a second
			answer := make(chan error, 3)
			for range 3 {
				go func() {
					_, err := w.Start(fired(w.define(`b ask`), 1, blueprint.LimitSkip), engine.AtOnce)
					answer <- err
				}()
			}
			synctest.Wait()
			if len(answer) > 0 {
				t.Fatalf("decided already: %v, want none", <-answer)
			}
			close(slow)
			left := 0
			for range 3 {
				err := <-answer
				var full *blueprint.ConcurrencyLimitError
				switch {
				case errors.As(err, &full):
					left++
				case err != nil:
					t.Error(err)
				}
			}
			if want := map[bool]int{true: 3, false: 2}[stays]; left != want {
				t.Errorf("%v: %d are skipped, want %d", stays, left, want)
			}
		})
	}
}

// A run that starts during recovery waits for it and is ordered behind recovered runs,
// whatever the clock says.
func TestConcurrencyDuringRecovery(t *testing.T) {
	set := &shifted{}
	testWith(t, func(o *engine.Options) { set.Virtual, o.Clock = o.Clock.(*clock.Virtual), set }, func(w *fixture) {
		d := w.define(`a ask`)
		first, second := w.fire(d, 1, blueprint.LimitQueue), w.fire(d, 1, blueprint.LimitQueue)
		w.stop()
		slow, booted := make(chan struct{}), make(chan struct{})
		w.journal.loadFault = func(string) error { <-slow; return nil }
		set.by.Store(int64(-time.Hour))
		go func() {
			w.boot(w.clock.Now())
			close(booted)
		}()
		synctest.Wait()
		third := make(chan *engine.Handle, 1)
		go func() { third <- w.startWith(fired(d, 1, blueprint.LimitQueue), engine.AtOnce) }()
		synctest.Wait()
		if len(third) > 0 {
			t.Errorf("it was admitted during recovery: %v, want none", third)
		}
		close(slow)
		<-booted
		last := <-third
		w.answerOK(first.ID, "", 1)
		w.expect(w.settle(second.ID), `paused: a=paused`)
		w.expect(w.settle(last.ID), `running: a=pending`)
	})
}
