package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// isDone reports whether done is closed.
func isDone(done <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// accepted returns a channel that closes once a handle is accepted.
func accepted(w *fixture, h *engine.Handle) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		if err := h.Accepted(context.Background()); err == nil {
			close(done)
		}
	}()
	return done
}

// A run of pure nodes is one commit at its end.
func TestPureRunIsOneCommit(t *testing.T) {
	for _, urgency := range []engine.Urgency{engine.Soon, engine.AtEnd} {
		test(t, func(w *fixture) {
			w.wait(w.startWith(request(w.define(`
				a pass
				b set {"values": {"v": 1}}
				c echo {"value": "{{v}}"}`)), urgency))
			w.pass(time.Hour)
			if n := w.journal.count(); n != 1 {
				t.Errorf("%d commits, want 1", n)
			}
		})
	}
}

// Each urgency makes a run durable in time, whatever it is doing.
func TestUrgency(t *testing.T) {
	for _, test := range []struct {
		urgency engine.Urgency
		within  time.Duration
	}{{engine.Soon, 5 * time.Millisecond}, {engine.AtEnd, time.Second}} {
		testUrgency(t, test.urgency, test.within)
	}
}

func testUrgency(t *testing.T, urgency engine.Urgency, within time.Duration) {
	t.Helper()
	test(t, func(w *fixture) {
		gate := w.hold("b")
		h := w.startWith(request(w.define(`
			a pass
			b pass`)), urgency)
		done := accepted(w, h)
		<-gate.came
		w.pass(within - time.Millisecond)
		if isDone(done) || w.journal.stored(h.ID) != nil {
			t.Error("stored too early")
		}
		w.pass(time.Millisecond)
		if !isDone(done) || w.journal.stored(h.ID) == nil {
			t.Error("stored too late")
		}
		close(gate.open)
		w.wait(h)
		if n := w.journal.count(); n != 2 {
			t.Errorf("%d commits, want 2", n)
		}
	})
}

// During a commit nothing is acknowledged and no node with a side effect starts.
func TestCommitBeforePromiseAndAct(t *testing.T) {
	test(t, func(w *fixture) {
		open := make(chan struct{})
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		h := w.start(w.define(`
			a pass
			b act
			c pass`))
		done := accepted(w, h)
		w.pass(time.Hour)
		if isDone(done) {
			t.Error("accepted before it was stored")
		}
		if got := w.begunNodes(); got != "a" {
			t.Errorf("began %s, want a", got)
		}
		close(open)
		w.expect(w.wait(h), `completed: a=completed b=completed c=completed -> {"done":"b"}`)
		if !isDone(done) {
			t.Error("not accepted")
		}
	})
}

// The start of each side effect is durable before it, and its end soon after.
func TestEffectsAreDurable(t *testing.T) {
	test(t, func(w *fixture) {
		first, second, last := w.hold("b"), w.hold("c"), w.hold("d")
		h := w.start(w.define(`
			a pass
			b act
			c once
			d pass`))
		entries := func() int {
			if stored := w.journal.stored(h.ID); stored != nil {
				return len(stored.Entries)
			}
			return 0
		}
		<-first.came
		if n := entries(); n != 4 { // begin, start and end of a, start of b
			t.Errorf("when b acts, %d entries are stored; want 4", n)
		}
		close(first.open)
		<-second.came
		if n := entries(); n != 6 { // end of b, start of c
			t.Errorf("when c acts, %d entries are stored; want 6", n)
		}
		w.pass(time.Minute)
		close(second.open)
		<-last.came
		w.pass(5 * time.Millisecond)
		if n := entries(); n != 8 { // end of c, start of d
			t.Errorf("soon after c acted, %d entries are stored; want 8", n)
		}
		close(last.open)
		w.wait(h)
		if n := w.journal.count(); n != 4 {
			t.Errorf("%d commits, want 4", n)
		}
	})
}

// Entries of pure nodes are durable within a second.
func TestLongPureRunIsStoredMeanwhile(t *testing.T) {
	test(t, func(w *fixture) {
		gates := []*chanMutex{w.hold("a"), w.hold("b"), w.hold("c")}
		h := w.start(w.define(`
			a pass
			b pass
			c pass`))
		for i, gate := range gates {
			<-gate.came
			w.pass(10 * time.Second)
			if n := len(w.journal.stored(h.ID).Entries); n != 2+2*i {
				t.Errorf("at node %d %d entries are stored, want %v", i, n, 2+2*i)
			}
			close(gate.open)
		}
		w.wait(h)
	})
}

func TestAtOnceStoresFirst(t *testing.T) {
	test(t, func(w *fixture) {
		open := make(chan struct{})
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		h := w.startWith(request(w.define(`a pass`)), engine.AtOnce)
		w.pass(time.Hour)
		if got := w.begunNodes(); got != "" {
			t.Errorf("began %s, want nothing", got)
		}
		close(open)
		w.wait(h)
	})
}

func firing(id, key string) *blueprint.Firing {
	return &blueprint.Firing{ID: id, TriggerID: "trigger", Source: blueprint.SourceWebhook, Key: key, ReceivedAt: blueprint.TimeOf(epoch)}
}

// A repeated delivery starts one run; the second caller gets its id.
func TestDuplicateFiring(t *testing.T) {
	for _, urgency := range []engine.Urgency{engine.AtOnce, engine.Soon} {
		test(t, func(w *fixture) {
			d := w.define(`
				a pass
				b act`)
			r := request(d)
			r.Firing, r.Coalesced, r.Cursor = firing("f1", "k"), firing("f0", ""), 7
			first := w.startWith(r, urgency)
			w.wait(first)
			if first.FiringID != "f1" || r.Firing.Decision != blueprint.DecisionStarted || *r.Firing.ExecutionID != first.ID {
				t.Errorf("the firing is %+v, want FiringID f1, Decision %v and ExecutionID %v", r.Firing, blueprint.DecisionStarted, first.ID)
			}
			if row := w.journal.stored(first.ID).Row; row.TriggerID != "trigger" || row.FiringID != "f1" {
				t.Errorf("stored as %+v, want TriggerID trigger and FiringID f1", row)
			}
			w.lab.begun = nil
			r = request(d)
			r.Firing = firing("f2", "k")
			second := w.startWith(r, urgency)
			var duplicate *blueprint.DuplicateFiringError
			if err := second.Accepted(w.Context()); !errors.As(err, &duplicate) || duplicate.FiringID != "f1" || duplicate.ExecutionID != first.ID {
				t.Errorf("got %v, want FiringID f1 and ExecutionID %v", err, first.ID)
			}
			if _, err := second.Wait(w.Context()); !errors.As(err, &duplicate) {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
			if got := w.begunNodes(); urgency == engine.AtOnce && got != "" || len(w.actions()) != 1 {
				t.Errorf("began %s, acted %v", got, w.actions())
			}
			if w.journal.stored(second.ID) != nil || w.logged() != "" {
				t.Errorf("the second run exists, or somebody complains: %s; want nil and nothing", w.logged())
			}
		})
	}
}

// Entries recorded during a commit are stored soon after it.
func TestEntriesDuringACommit(t *testing.T) {
	test(t, func(w *fixture) {
		open, a, b := make(chan struct{}), w.hold("a"), w.hold("b")
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		h := w.start(w.define(`
			a pass
			b pass
			c pass
			a -> c
			b -> c`))
		<-a.came
		<-b.came
		w.pass(time.Second)
		close(a.open)
		synctest.Wait()
		close(open)
		w.pass(5 * time.Millisecond)
		if n := len(w.journal.stored(h.ID).Entries); n != 4 {
			t.Errorf("%d entries are stored, want 4", n)
		}
		close(b.open)
		w.wait(h)
	})
}

// A run whose first commit failed starts no more nodes.
func TestRefusedRunStartsNothing(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("b")
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { return errors.New("broken disk") })
		h := w.start(w.define(`
			root pass
			a act
			b stubborn
			c pass
			root -> a
			root -> b
			b -> c`))
		<-gate.came
		if err := h.Accepted(w.Context()); err == nil {
			t.Error("accepted, want an error")
		}
		close(gate.open)
		synctest.Wait()
		if got := sortedWords(w.begunNodes()); got != "b root" {
			t.Errorf("began %s, want b root", got)
		}
	})
}

// A new run that cannot be stored does not exist, whatever the reason.
func TestNewRunThatIsNotStored(t *testing.T) {
	for _, failure := range []error{blueprint.Errorf(blueprint.CodeUnavailable, "disk full"), errors.New("broken disk")} {
		for _, urgency := range []engine.Urgency{engine.AtOnce, engine.Soon, engine.AtEnd} {
			for _, lines := range []string{"a pass", "a pass\nb act", "a wait {\"ms\": 5}", "a ask"} {
				testNotStored(t, failure, urgency, lines)
			}
		}
	}
}

func testNotStored(t *testing.T, failure error, urgency engine.Urgency, lines string) {
	t.Helper()
	test(t, func(w *fixture) {
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { return failure })
		h := w.startWith(request(w.define(lines)), urgency)
		if err := h.Accepted(w.Context()); !errors.Is(err, failure) {
			t.Errorf("got %v, want %v", err, failure)
		}
		if _, err := h.Wait(w.Context()); !errors.Is(err, failure) {
			t.Errorf("got %v, want %v", err, failure)
		}
		synctest.Wait()
		if len(w.actions()) != 0 {
			t.Error("a run that does not exist has acted")
		}
		w.journal.setFault(nil)
		w.advance(time.Hour)
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeNotFound)
		if w.logged() != "" {
			t.Errorf("returned and logged: %s, want nothing", w.logged())
		}
	})
}

// A stored run waits for a temporarily unavailable journal, however long.
func TestTemporaryCommitFailure(t *testing.T) {
	for failing := 2; failing <= 5; failing++ {
		test(t, func(w *fixture) {
			broken := time.Now().Add(time.Minute)
			w.journal.setFault(func(n int, _ *blueprint.JournalCommit) error {
				if n >= failing && time.Now().Before(broken) {
					return blueprint.Errorf(blueprint.CodeUnavailable, "disk busy")
				}
				return nil
			})
			h := w.start(w.define(`
				a act
				b wait {"ms": 1000}
				c once
				d pass`))
			w.pass(2 * time.Minute)
			w.advance(time.Second)
			w.pass(2 * time.Minute)
			w.expect(w.wait(h), `completed: a=completed b=completed c=completed d=completed -> {"done":"c"}`)
			if n := len(w.actions()); n != 2 {
				t.Errorf("%d actions, want 2", n)
			}
		})
	}
}

// After a permanent failure a run is suspended at its last commit, callers get the
// error, and the next start resumes it.
func TestPermanentCommitFailure(t *testing.T) {
	for failing := 2; failing <= 4; failing++ {
		test(t, func(w *fixture) {
			broken := errors.New("broken disk")
			w.journal.setFault(func(n int, _ *blueprint.JournalCommit) error {
				if n == failing {
					return broken
				}
				return nil
			})
			h := w.start(w.define(`
				a act
				b act
				c act
				d pass`))
			if err := h.Accepted(w.Context()); err != nil {
				t.Error(err)
			}
			if _, err := h.Wait(w.Context()); !errors.Is(err, broken) {
				t.Errorf("got %v, want %v", err, broken)
			}
			if x := w.settle(h.ID); x.Status != blueprint.StatusRunning {
				t.Errorf("%v, want Status %v", sum(x), blueprint.StatusRunning)
			}
			w.reboot()
			w.expect(w.settle(h.ID), `completed: a=completed b=completed c=completed d=completed -> {"done":"c"}`)
		})
	}
}

// A suspended run can be cancelled, though one of its nodes is recorded as running.
func TestCancelSuspendedRun(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("b")
		close(gate.open)
		w.journal.setFault(func(n int, _ *blueprint.JournalCommit) error {
			if n == 2 {
				return errors.New("broken disk")
			}
			return nil
		})
		h := w.start(w.define(`
			a act
			b act`))
		if _, err := h.Wait(w.Context()); err == nil {
			t.Error("it ended, want an error")
		}
		w.expect(w.settle(h.ID), `running: a=running b=pending`)
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.expect(w.view(h.ID), `failed: a=skipped b=pending !:cancelled`)
	})
}

// The response of a respond node is available once it is durable, and before the run
// ends.
func TestRespond(t *testing.T) {
	test(t, func(w *fixture) {
		open, gate := make(chan struct{}), w.hold("c")
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		h := w.startWith(request(w.define(`
			a echo {"value": 5}
			b respond {"body": {"got": "{{input}}"}, "header": "x"}
			c act
			d respond {"body": "too late"}`)), engine.AtEnd)
		if isDone(h.Responded()) || h.Response() != nil {
			t.Error("answered before it is on the disk")
		}
		close(open)
		<-h.Responded()
		if got := h.Response(); encode(got) != `{"status":200,"headers":{"x-a":"x"},"body":{"got":5}}` {
			t.Errorf("answered %s, want {\"status\":200,\"headers\":{\"x-a\":\"x\"},\"body\":{\"got\":5}}", encode(got))
		}
		if len(w.journal.stored(h.ID).Entries) == 0 {
			t.Error("nothing is on the disk")
		}
		<-gate.came
		close(gate.open)
		w.expect(w.wait(h), `completed: a=completed b=completed c=completed d=completed -> {"done":"c"}`)
		if h.Response().Body == "too late" {
			t.Errorf("the second answer counts: %v, want Body other than too late", h.Response().Body)
		}
	})
}

func TestRespondAtTheEnd(t *testing.T) {
	for _, lines := range []string{"a respond {\"body\": 1}", "a respond {\"body\": 1}\nb ask", "a respond {\"body\": 1}\nb fail"} {
		test(t, func(w *fixture) {
			h := w.start(w.define(lines))
			w.wait(h)
			if !isDone(h.Responded()) || h.Response().Body != blueprintNumber(1) {
				t.Errorf("%s: no answer", lines)
			}
		})
	}
	test(t, func(w *fixture) {
		h := w.start(w.define(`a pass`))
		w.wait(h)
		if isDone(h.Responded()) || h.Response() != nil {
			t.Error("an answer without respond")
		}
	})
}

func TestStartRefuses(t *testing.T) {
	test(t, func(w *fixture) {
		for name, test := range map[string]struct {
			definition *blueprint.Definition
			given      map[string]any
			want       string
		}{
			"no map":      {&blueprint.Definition{BlueprintID: "x", Version: "1"}, nil, "the blueprint has no nodes to execute"},
			"no nodes":    {w.define(``), nil, "the blueprint has no nodes to execute"},
			"a cycle":     {w.define("a pass\nb pass\na -> b\nb -> a"), nil, "blueprint_map.edges form a cycle: a -> b -> a"},
			"no variable": {w.defineWith(`a pass`, `[{"name": "v", "required": true}]`), nil, "variables.v: required"},
			"wrong variables": {w.defineWith(`a pass`, `[{"name": "v", "type": "number"}]`), map[string]any{"v": "1", "now": 1},
				"variables.v: must be a number; variables.now: is a name that the service sets itself"},
		} {
			t.Run(name, func(t *testing.T) {
				r := request(test.definition)
				r.Variables = test.given
				_, err := w.Start(r, engine.Soon)
				if blueprint.CodeOf(err) != blueprint.CodeBadRequest || err.Error() != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
			})
		}
		r := request(w.define(`a pass`))
		r.InputData = map[string]any{"x": make(chan int)}
		_, err := w.Start(r, engine.Soon)
		w.code(err, blueprint.CodeBadRequest)
	})
}

// The server's log has one line for each failed run, and none for others.
func TestFailedRunsAreLogged(t *testing.T) {
	for _, c := range []struct {
		name, lines, want string
		cancel            bool
	}{
		{"completed", "a pass", "", false},
		{"failed and went on", `a fail | {"onError": "continue"}`, "", false},
		{"stopped well", `a stop {"message": "enough"}`, "", false},
		{"failed", "a pass\nb fail {\"message\": \"with {{token}}\", \"code\": \"odd\"}\nc pass", `level=WARN msg="run failed" execution=ID blueprint=BLUEPRINT node=b code=odd error="failed: with ***"`, false},
		{"failed after attempts", `a fail {"times": 5} | {"retry": {"maxAttempts": 3, "delayMs": 0}}`, `level=WARN msg="run failed" execution=ID blueprint=BLUEPRINT node=a code=test error="failed: "`, false},
		{"cancelled", `a ask {"prompt": "?"}`, `level=INFO msg="run failed" execution=ID blueprint=BLUEPRINT node="" code=cancelled error="cancelled: enough"`, true},
	} {
		test(t, func(w *fixture) {
			d := w.defineWith(c.lines, `[{"name": "token", "secret": true, "default": "`+token+`"}]`)
			h := w.startWith(request(d), engine.Soon)
			w.settle(h.ID)
			if c.cancel {
				if err := w.Engine.Cancel(context.Background(), h.ID, "enough"); err != nil {
					t.Fatal(err)
				}
				w.settle(h.ID)
			}
			w.reboot() // a run is logged once
			var found []string
			for line := range strings.Lines(w.logged()) {
				if strings.Contains(line, "run failed") {
					found = append(found, strings.TrimSpace(line[strings.Index(line, "level="):]))
				}
			}
			want := strings.NewReplacer("=ID ", "="+h.ID+" ", "=BLUEPRINT ", "="+d.BlueprintID+" ").Replace(c.want)
			if got := strings.Join(found, "\n"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
			}
		})
	}
}
