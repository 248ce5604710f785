package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

func TestCancelRunningNode(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("b")
		h := w.start(w.define(`
			a pass
			b act {} | {"retry": {"maxAttempts": 3}, "onError": "continue"}
			c pass`))
		<-gate.came
		if err := w.Cancel(w.Context(), h.ID, "too slow"); err != nil {
			t.Fatal(err)
		}
		const want = `failed: a=completed b=failed(cancelled) c=pending !:cancelled: too slow`
		x := w.wait(h)
		w.expect(x, want)
		w.expect(w.view(h.ID), want)
		if tele := x.Telemetry; tele.ErrorSummary != "cancelled: too slow" || !tele.HasErrors || !tele.CriticalErrors || x.Failure.Code != "cancelled" {
			t.Errorf("telemetry %+v", tele)
		}
		if len(w.actions()) != 0 {
			t.Error("a cancelled node has acted")
		}
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
	})
}

func TestCancelAtRest(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"waiting", `
			a wait {"ms": 1000}
			b pass`, `failed: a=skipped b=pending !:cancelled`},
		{"paused", `
			a ask {"expiresMs": 1000}
			b pass`, `failed: a=skipped b=pending !:cancelled`},
		{"between attempts", `
			a fail {} | {"retry": {"maxAttempts": 2}}
			b pass`, `failed: a=failed(failed: ) b=pending !:cancelled`},
	} {
		t.Run(test.name, func(t *testing.T) { testCancelAtRest(t, test.lines, test.want) })
	}
}

func testCancelAtRest(t *testing.T, lines, want string) {
	t.Helper()
	test(t, func(w *world) {
		h := w.start(w.define(lines))
		synctest.Wait()
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := w.journal.stored(h.ID).Row.Status; got != blueprint.StatusFailed {
			t.Errorf("right after it the run is stored as %s", got)
		}
		x := w.view(h.ID)
		w.expect(x, want)
		if x.Telemetry.ErrorSummary != "cancelled" {
			t.Errorf("summary %q", x.Telemetry.ErrorSummary)
		}
		w.advance(time.Hour)
		w.expect(w.view(h.ID), want)
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
		w.code(w.answer(h.ID, "", 1), blueprint.CodeConflict)
	})
}

// A run that waits for its turn ends at once, and its place is free.
func TestCancelQueued(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 1 }, func(w *world) {
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		d := w.define(`a act`)
		queued := w.start(d)
		synctest.Wait()
		if _, err := w.Start(request(d), engine.Soon); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("the queue takes one more: %v", err)
		}
		if err := w.Cancel(w.Context(), queued.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.expect(w.wait(queued), `failed: a=pending !:cancelled`)
		next := w.start(d)
		close(gate.open)
		w.expect(w.wait(busy), `completed: busy=completed -> {"n":1}`)
		w.expect(w.wait(next), `completed: a=completed -> {"done":"a"}`)
	})
}

// A node that does not let go holds the end up, not the caller.
func TestCancelStubbornNode(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("slow")
		h := w.start(w.define(`
			slow stubborn
			after pass`))
		<-gate.came
		begin := time.Now()
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil || time.Since(begin) != 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if x := w.view(h.ID); x.Status.Terminal() {
			t.Errorf("while a node is at work the run is %s", x.Status)
		}
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(gate.open)
		// What was done was done, but nothing follows.
		w.expect(w.wait(h), `failed: slow=completed after=pending !:cancelled`)
	})
}

// Of two that cancel at the same time one is told that the other does.
func TestCancelTwice(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("a")
		h := w.start(w.define(`a act`))
		<-gate.came
		synctest.Wait()
		open := make(chan struct{})
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		first := make(chan error, 1)
		go func() { first <- w.Cancel(w.Context(), h.ID, "first") }()
		synctest.Wait()
		w.code(w.Cancel(w.Context(), h.ID, "second"), blueprint.CodeConflict)
		close(open)
		if err := <-first; err != nil {
			t.Error(err)
		}
		w.expect(w.wait(h), `failed: a=failed(cancelled) !:cancelled: first`)
	})
}

func TestCancelUnknown(t *testing.T) {
	test(t, func(w *world) {
		w.code(w.Cancel(w.Context(), "exec_1_unknown", ""), blueprint.CodeNotFound)
	})
}

func TestCancelAll(t *testing.T) {
	test(t, func(w *world) {
		d := w.define(`a ask`)
		var ids []string
		for range 40 {
			ids = append(ids, w.run(d).ID)
		}
		w.answerOK(ids[0], "", "x")
		synctest.Wait()
		if err := w.CancelAll(w.Context(), ids, "deleted"); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			want := `failed: a=skipped !:cancelled: deleted`
			if i == 0 {
				want = `completed: a=completed -> {"answer":"x","input":{"n":1},"prompt":null}`
			}
			w.expect(w.view(id), want)
		}
		if err := w.CancelAll(w.Context(), []string{"exec_1_unknown"}, ""); err == nil {
			t.Error("an unknown run was cancelled")
		}
	})
}
