package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// library makes every blueprint of the journal available to all users except "stranger".
type library struct{ w *fixture }

func (l library) Runnable(_ context.Context, userID, id string) (*blueprint.Definition, bool, error) {
	d, err := l.w.journal.DefinitionVersion(context.Background(), id, "1.0.0")
	switch {
	case err != nil:
		return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "no such blueprint")
	case userID == "stranger":
		return nil, false, blueprint.Errorf(blueprint.CodeForbidden, "not yours")
	}
	return d, true, nil
}

// testRuns is a test whose runs may start others.
func testRuns(t *testing.T, f func(w *fixture)) {
	t.Helper()
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints = &l }, func(w *fixture) {
		l.w = w
		f(w)
	})
}

// children returns the child runs.
func (w *fixture) children() (all []*blueprint.StoredExecution) {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, stored := range w.journal.runs {
		if stored.Row.ParentExecutionID != "" {
			all = append(all, stored)
		}
	}
	return all
}

func TestChildRun(t *testing.T) {
	for _, test := range []struct{ name, child, node, user, want string }{
		{"gives its output", `x eval {"expression": "[inputData.n, v]"}`, `{"blueprintId": "%s", "variables": {"v": 2}}`, "owner",
			`completed: a=completed z=completed -> [1,2]`},
		{"fails", `x fail {"message": "why"}`, `{"blueprintId": "%s"}`, "owner",
			`failed: a=failed(the run CHILD failed: failed: why) z=pending !a:the run CHILD failed: failed: why`},
		{"fails and the run continues", `x fail {"message": "why"}`, `{"blueprintId": "%s"} | {"onError": "continue"}`, "owner",
			`completed: a=failed(the run CHILD failed: failed: why) z=completed -> {"error":{"code":"run_failed","message":"the run CHILD failed: failed: why"}}`},
		{"is of no blueprint", `x pass`, `{"blueprintId": "other%.0s"}`, "owner",
			`failed: a=failed(there is no blueprint other that this run may start) z=pending !a:there is no blueprint other that this run may start`},
		{"may not be started", `x pass`, `{"blueprintId": "%s"}`, "stranger",
			`failed: a=failed(there is no blueprint ID that this run may start) z=pending !a:there is no blueprint ID that this run may start`},
	} {
		testRuns(t, func(w *fixture) {
			child := w.defineWith(test.child, `[{"name": "v", "type": "number", "default": 1}]`)
			r := request(w.define("a call " + fmt.Sprintf(test.node, child.BlueprintID) + "\nz pass"))
			r.Principal.UserID = test.user
			x := w.wait(w.startWith(r, engine.Soon))
			got := strings.ReplaceAll(sum(x), child.BlueprintID, "ID")
			for _, c := range w.children() {
				got = strings.ReplaceAll(got, c.Row.ID, "CHILD")
				if c.Row.ParentExecutionID != x.ID || c.Row.UserID != test.user {
					t.Errorf("%s: the child is %+v, want ParentExecutionID %v and UserID %v", test.name, c.Row, x.ID, test.user)
				}
			}
			if got != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.name, got, test.want)
			}
		})
	}
}

// A run that waits for a child run for a day holds neither memory nor the clock.
func TestLongChildRun(t *testing.T) {
	testRuns(t, func(w *fixture) {
		child := w.define("q ask {}\nw wait {\"ms\": 86400000}")
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, child.BlueprintID)))
		x := w.settle(h.ID)
		w.expect(x, `running: a=running`)
		w.reboot()
		w.answerOK(w.children()[0].Row.ID, "q", "x")
		w.settle(h.ID)
		w.reboot()
		w.advance(24 * time.Hour)
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

func TestChildRunDepth(t *testing.T) {
	testRuns(t, func(w *fixture) {
		d := w.define(`a call {"blueprintId": "00000000-0000-0000-0000-999999999999"}`)
		self := *d
		self.BlueprintID = "00000000-0000-0000-0000-999999999999"
		w.journal.add(&self)
		x := w.run(d)
		if x.Status != blueprint.StatusFailed || !strings.HasSuffix(x.Failure.Message, "runs are nested more than 16 deep") || len(w.children()) != 15 {
			t.Errorf("%d children: %s, want Status %v, \"runs are nested more than 16 deep\" at the end and 15", len(w.children()), sum(x), blueprint.StatusFailed)
		}
	})
}

func TestChildRunIsCancelledWithItsParent(t *testing.T) {
	testRuns(t, func(w *fixture) {
		child := w.define(`x wait {"ms": 3600000}`)
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, child.BlueprintID)))
		w.settle(h.ID)
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.expect(w.settle(h.ID), `failed: a=skipped !:cancelled`)
		w.expect(w.settle(w.children()[0].Row.ID), `failed: x=skipped !:cancelled: the run that started it no longer waits for it`)
	})
}

// After a crash at any commit all runs end as without it, and each exists once.
func TestChildRunsSurviveEveryCrash(t *testing.T) {
	var want, id string
	var histories []*journal
	most := 0
	testRuns(t, func(w *fixture) {
		w.journal.keep = true
		child := w.define("x act\nw wait {\"ms\": 1000}\ny eval {\"expression\": \"inputData * 2\"}")
		body := mapText(fmt.Sprintf(`r call {"blueprintId": %q}`, child.BlueprintID))
		h := w.start(w.define(fmt.Sprintf("l each {\"items\": [1, 2, 3], \"concurrency\": 2, \"nodes\": %s, \"edges\": []}\nz act", member(body, "nodes"))))
		for range 4 {
			w.settle(h.ID)
			w.advance(time.Second)
		}
		want, histories, id, most = sum(w.settle(h.ID)), w.journal.history, h.ID, len(w.children())
	})
	if !strings.Contains(want, `completed: `) || !strings.Contains(want, `l[2]/r=completed`) || len(histories) < 9 || most != 3 {
		t.Fatalf("%d commits, %d children: %s", len(histories), most, want)
	}
	for k, disk := range histories {
		var l library
		testWith(t, func(o *engine.Options) { o.Blueprints = &l }, func(w *fixture) {
			w.stop()
			w.journal = disk.copy()
			l.w = w
			w.boot(epoch)
			for range 8 {
				w.settle(id)
				w.advance(time.Second)
			}
			if got := sum(w.settle(id)); got != want || len(w.children()) != 3 {
				t.Errorf("after a crash behind commit %d: %d children\ngot  %s\nwant %s", k, len(w.children()), got, want)
			}
		})
	}
}

func TestManyChildRuns(t *testing.T) {
	const items = 1000
	testRuns(t, func(w *fixture) {
		child := w.define(`x eval {"expression": "inputData + 1"}`)
		body := mapText(fmt.Sprintf(`r call {"blueprintId": %q}`, child.BlueprintID))
		r := request(w.define(fmt.Sprintf("l each {\"over\": \"inputData\", \"concurrency\": 16, \"nodes\": %s, \"edges\": []}", member(body, "nodes"))))
		list := make([]any, items)
		for i := range list {
			list[i] = blueprintNumber(i)
		}
		r.InputData = list
		x := w.wait(w.startWith(r, engine.Soon))
		if out, _ := x.Output.([]any); x.Status != blueprint.StatusCompleted || len(out) != items || encode(out[items-1]) != fmt.Sprint(items) || len(w.children()) != items {
			t.Errorf("%s: %d of %d, %d children; want %v, %v, %v and %v", x.Status, len(out), items, len(w.children()), blueprint.StatusCompleted, items, fmt.Sprint(items), items)
		}
	})
}

// A node whose child run failed is retried, also when it is not in memory.
func TestChildRunIsRetried(t *testing.T) {
	testRuns(t, func(w *fixture) {
		child := w.define(`x fail {"times": 1}`)
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q} | {"retry": {"maxAttempts": 2, "delayMs": 1000}}`, child.BlueprintID)))
		w.settle(h.ID)
		w.reboot()
		w.advance(2 * time.Second)
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted || len(w.children()) != 2 {
			t.Errorf("%d children: %s, want Status %v and 2", len(w.children()), sum(x), blueprint.StatusCompleted)
		}
	})
}

// A blueprint that starts itself repeatedly reaches the limit of its family.
func TestFamilyLimit(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints, o.Limits.Family = &l, 100 }, func(w *fixture) {
		l.w = w
		const id = "00000000-0000-0000-0000-999999999998"
		body := mapText(fmt.Sprintf(`r call {"blueprintId": %q}`, id))
		d := w.define(fmt.Sprintf("l each {\"items\": [1, 2, 3, 4], \"concurrency\": 4, \"nodes\": %s, \"edges\": []} | {\"onError\": \"continue\"}", member(body, "nodes")))
		self := *d
		self.BlueprintID = id
		w.journal.add(&self)
		w.run(d)
		if got := len(w.children()); got > 100 || got < 50 {
			t.Errorf("%d runs, want at most 100 and at least 50", got)
		}
	})
}

// TestRunBelowASuspendedOne cancels a run whose child can no longer be stored, and so cannot
// cancel the run below it: the lowest of the three ends when it is about to start another one.
func TestRunBelowASuspendedOne(t *testing.T) {
	testRuns(t, func(w *fixture) {
		calls := func(node string, d *blueprint.Definition) *blueprint.Definition {
			return w.define(node + ` call {"blueprintId": "` + d.BlueprintID + `"}`)
		}
		lowest := calls("w wait {\"ms\": 1000}\na", w.define(`x pass`))
		first := w.start(calls("a", calls("a", lowest)))
		w.advance(0)
		ids := map[string]string{} // of runs, by those that have started them
		for _, child := range w.children() {
			ids[child.Row.ParentExecutionID] = child.Row.ID
		}
		middle := ids[first.ID]
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Row.ID == middle {
				return errors.New("cannot be written")
			}
			return nil
		})
		if err := w.Cancel(context.Background(), first.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Second)
		if x := w.settle(ids[middle]); x.Status != blueprint.StatusFailed || len(w.children()) != 2 {
			t.Errorf("%d children, the last of them: %s, want 2 and Status %v", len(w.children()), sum(x), blueprint.StatusFailed)
		}
	})
}

// TestChildAfterLateRecovery starts a child run only once its call is stored, also when the
// recovery of its parent, which could not be read at first, finds the call meanwhile.
func TestChildAfterLateRecovery(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints, o.Clock = &l, clock.Real{} }, func(w *fixture) {
		l.w = w
		child := w.define(`x pass`)
		h := w.start(w.define(`
			a ask
			b call {"blueprintId": "` + child.BlueprintID + `"}`))
		synctest.Wait()
		w.stop()
		w.journal.loadFault = func(string) error { return blueprint.Errorf(blueprint.CodeUnavailable, "cannot be read") }
		w.boot(w.clock.Now())
		w.journal.mu.Lock()
		w.journal.loadFault = nil
		w.journal.mu.Unlock()
		// All goes well until the call of b, whose commit fails for a while.
		stored := len(w.journal.stored(h.ID).Entries)
		fails := true
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if fails && c.Row.ID == h.ID && len(w.journal.stored(h.ID).Entries) > stored {
				return blueprint.Errorf(blueprint.CodeUnavailable, "cannot be written")
			}
			return nil
		})
		w.answerOK(h.ID, "a", "yes")
		w.pass(time.Minute)
		if got := len(w.children()); got != 0 {
			t.Errorf("%d child runs before the call is stored, want none", got)
		}
		w.journal.mu.Lock()
		fails = false
		w.journal.mu.Unlock()
		w.pass(time.Minute)
		w.expect(w.settle(h.ID), `completed: a=completed b=completed -> {"answer":"yes","input":{"n":1},"prompt":null}`)
		if got := len(w.children()); got != 1 {
			t.Errorf("%d child runs, want 1", got)
		}
	})
}
