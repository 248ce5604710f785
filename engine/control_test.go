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
	test(t, func(w *fixture) {
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
			t.Errorf("telemetry %+v, want ErrorSummary cancelled: too slow, HasErrors, CriticalErrors and Code cancelled", tele)
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
	test(t, func(w *fixture) {
		h := w.start(w.define(lines))
		synctest.Wait()
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := w.journal.stored(h.ID).Row.Status; got != blueprint.StatusFailed {
			t.Errorf("right after it the run is stored as %s, want %v", got, blueprint.StatusFailed)
		}
		x := w.view(h.ID)
		w.expect(x, want)
		if x.Telemetry.ErrorSummary != "cancelled" {
			t.Errorf("summary %q, want cancelled", x.Telemetry.ErrorSummary)
		}
		w.advance(time.Hour)
		w.expect(w.view(h.ID), want)
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
		w.code(w.answer(h.ID, "", 1), blueprint.CodeConflict)
	})
}

// A queued run ends at once and releases its place.
func TestCancelQueued(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.MaxRunning, o.MaxQueued = 1, 1 }, func(w *fixture) {
		gate := w.hold("busy")
		busy := w.start(w.define(`busy pass`))
		<-gate.came
		d := w.define(`a act`)
		queued := w.start(d)
		synctest.Wait()
		if _, err := w.Start(request(d), engine.Soon); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("the queue takes one more: %v, want %v", err, blueprint.CodeUnavailable)
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

// A node that ignores its context delays the end of the run, but not the caller.
func TestCancelStubbornNode(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("slow")
		h := w.start(w.define(`
			slow stubborn
			after pass`))
		<-gate.came
		begin := time.Now()
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil || time.Since(begin) != 5*time.Second {
			t.Errorf("got %v after %v, want %v", err, time.Since(begin), 5*time.Second)
		}
		if x := w.view(h.ID); x.Status.Terminal() {
			t.Errorf("while a node is at work the run is %s", x.Status)
		}
		w.code(w.Cancel(w.Context(), h.ID, ""), blueprint.CodeConflict)
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		close(gate.open)
		// The node completes, but no other starts.
		w.expect(w.wait(h), `failed: slow=completed after=pending !:cancelled`)
	})
}

// The second of two concurrent cancellations fails with a conflict.
func TestCancelTwice(t *testing.T) {
	test(t, func(w *fixture) {
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
	test(t, func(w *fixture) {
		w.code(w.Cancel(w.Context(), "exec_1_unknown", ""), blueprint.CodeNotFound)
	})
}

func TestCancelAll(t *testing.T) {
	test(t, func(w *fixture) {
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
			t.Error("an unknown run was cancelled, want an error")
		}
	})
}

// repeat retries a run and waits for the end of the new one.
func (w *fixture) repeat(id, from string) *blueprint.Execution {
	w.Helper()
	h, err := w.Retry(w.Context(), w.journal.stored(id), from, owner, true)
	if err != nil {
		w.Fatal(err)
	}
	return w.wait(h)
}

func TestRetryRun(t *testing.T) {
	for _, test := range []struct{ name, lines, from, first, begun, want string }{
		{"what failed", `
			a act
			b fail {"times": 1}
			c echo {"value": "{{nodes.a.output.done}}{{input}}"}`, "",
			`failed: a=completed b=failed(failed: ) c=pending !b:failed: `, "b c", `completed: a=completed b=completed c=completed -> "a1"`},
		{"from a node", `
			a act
			b act
			c act`, "b",
			`completed: a=completed b=completed c=completed -> {"done":"c"}`, "b c", `completed: a=completed b=completed c=completed -> {"done":"c"}`},
		{"from the first", `
			a act
			b act`, "a",
			`completed: a=completed b=completed -> {"done":"b"}`, "a b", `completed: a=completed b=completed -> {"done":"b"}`},
		{"what is not downstream is reused", `
			a act
			b act
			c inputs
			a -> c
			b -> c`, "b",
			`completed: a=completed b=completed c=completed -> ["a",{"done":"a"},"b",{"done":"b"}]`, "b c", `completed: a=completed b=completed c=completed -> ["a",{"done":"a"},"b",{"done":"b"}]`},
		{"handles, variables and passed inputs are reused", `
			a set {"values": {"v": 7}}
			b choose {"handle": "yes"}
			c pass
			d fail {"times": 1}
			e echo {"value": ["{{v}}", "{{nodes.c.output.v}}", "{{nodes.b.output.v}}"]}
			no pass
			a -> b
			b -yes> c
			b -no> no
			c -> d
			d -> e`, "",
			`failed: a=completed b=completed c=completed d=failed(failed: ) e=pending no=skipped !d:failed: `, "d e", `completed: a=completed b=completed c=completed d=completed e=completed no=skipped -> [7,7,7]`},
		{"a failure that the run went on with did not complete", `
			a fail {"times": 1} | {"onError": "continue"}
			b pass`, "",
			`completed: a=failed(failed: ) b=completed -> {"error":{"code":"test","message":"failed: "}}`, "a b", `completed: a=completed b=completed -> 1`},
		{"but it is reused beside the node to begin at", `
			a fail {"times": 1} | {"onError": "continue"}
			b act
			c pass
			a -> c
			b -> c`, "b",
			`completed: a=failed(failed: ) b=completed c=completed -> {"a":{"error":{"code":"test","message":"failed: "}},"b":{"done":"b"}}`, "b c",
			`completed: a=failed(failed: ) b=completed c=completed -> {"a":{"error":{"code":"test","message":"failed: "}},"b":{"done":"b"}}`},
		{"a failure that stopped the run is not reused", `
			a fail {"times": 1}
			b act
			c pass
			a -> c
			b -> c`, "b",
			`failed: a=failed(failed: ) b=completed c=pending !a:failed: `, "a b c", `completed: a=completed b=completed c=completed -> {"a":1,"b":{"done":"b"}}`},
		{"what a stop left out", `
			a act
			b stop
			c echo {"value": 1}`, "c",
			`completed: a=completed b=completed c=skipped -> {"done":"a"}`, "c", `completed: a=completed b=completed c=completed -> 1`},
		{"disabled nodes", `
			a act
			b act | {"disabled": true}
			c fail {"times": 1}`, "",
			`failed: a=completed b=skipped c=failed(failed: ) !c:failed: `, "c", `completed: a=completed b=skipped c=completed -> 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testRetryRun(t, test.lines, test.from, test.first, test.begun, test.want)
		})
	}
}

func testRetryRun(t *testing.T, lines, from, first, begun, want string) {
	t.Helper()
	test(t, func(w *fixture) {
		x := w.run(w.define(lines))
		w.expect(x, first)
		w.lab.begun = nil
		w.advance(time.Hour)
		y := w.repeat(x.ID, from)
		w.expect(y, want)
		w.expect(w.view(y.ID), want)
		if got := sortedWords(w.begunNodes()); got != sortedWords(begun) {
			t.Errorf("began %s, want %s", got, begun)
		}
		if y.ID == x.ID || y.RetryOf != x.ID || y.BlueprintVersion != x.BlueprintVersion || encode(y.InputData) != encode(x.InputData) {
			t.Errorf("the new run is %+v", y)
		}
		if y.StartTime != blueprint.TimeOf(w.clock.Now()) {
			t.Errorf("it started at %s", y.StartTime)
		}
		for _, line := range y.Logs {
			if line.Timestamp < y.StartTime {
				t.Errorf("its log mentions the first run: %+v, want Timestamp at least %v", line, y.StartTime)
			}
		}
	})
}

func TestRetryRefuses(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`a act`))
		for from, want := range map[string]blueprint.Code{"": blueprint.CodeBadRequest, "nobody": blueprint.CodeBadRequest} {
			_, err := w.Retry(w.Context(), w.journal.stored(x.ID), from, owner, true)
			w.code(err, want)
		}
		p := w.run(w.define(`a ask`))
		_, err := w.Retry(w.Context(), w.journal.stored(p.ID), "", owner, true)
		w.code(err, blueprint.CodeConflict)
	})
}

// A retry of a cancelled run continues with the interrupted node.
func TestRetryCancelled(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`
			a act
			b wait {"ms": 1000}
			c act`))
		synctest.Wait()
		if err := w.Cancel(w.Context(), h.ID, ""); err != nil {
			t.Fatal(err)
		}
		again, err := w.Retry(w.Context(), w.journal.stored(h.ID), "", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.advance(time.Second)
		w.expect(w.wait(again), `completed: a=completed b=completed c=completed -> {"done":"c"}`)
		if got := sortedWords(w.begunNodes()); got != "a b b c" {
			t.Errorf("began %s, want a b b c", got)
		}
	})
}

// A retried run that pauses and waits is restored with the steps that it reuses.
func TestRetriedRunSurvivesRestart(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a set {"values": {"v": 1}}
			b fail {"times": 1}
			c ask
			d echo {"value": "{{v}}{{nodes.a.output.v}}"}`))
		y := w.repeat(x.ID, "")
		w.expect(y, `paused: a=completed b=completed c=paused d=pending`)
		w.reboot()
		w.answerOK(y.ID, "", "x")
		z := w.settle(y.ID)
		w.expect(z, `completed: a=completed b=completed c=completed d=completed -> "11"`)
		w.lab.begun = nil
		w.expect(w.repeat(y.ID, "d"), `completed: a=completed b=completed c=completed d=completed -> "11"`)
		if got := w.begunNodes(); got != "d" {
			t.Errorf("began %s, want d", got)
		}
	})
}

// A run of an ad hoc map is retried with that map.
func TestRetryAdHoc(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`a pass`)
		m, issues := blueprint.ParseMap(w.decode(mapText(`
			x act
			y fail {"times": 1}
			z ask`)))
		if issues != nil {
			t.Fatalf("%v, want nil", issues)
		}
		adHoc := *d
		adHoc.Map = m
		r := request(&adHoc)
		r.AdHoc = true
		x := w.wait(w.startWith(r, engine.Soon))
		w.expect(x, `failed: x=completed y=failed(failed: ) z=pending !y:failed: `)
		y := w.repeat(x.ID, "")
		w.expect(y, `paused: x=completed y=completed z=paused`)
		w.reboot()
		w.expect(w.view(y.ID), `paused: x=completed y=completed z=paused`)
		w.answerOK(y.ID, "", 5)
		w.expect(w.settle(y.ID), `completed: x=completed y=completed z=completed -> {"answer":5,"input":1,"prompt":null}`)
		// Other runs use the stored map.
		w.expect(w.run(d), `completed: a=completed -> {"n":1}`)
	})
}

// An answer or a cancellation returns within seconds while commits fail, and takes
// effect once they succeed.
func TestCommandWhileTheDiskIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		order func(w *fixture, id string) error
		ends  blueprint.Status
	}{
		"an answer":      {func(w *fixture, id string) error { return w.answer(id, "a", true) }, blueprint.StatusCompleted},
		"a cancellation": {func(w *fixture, id string) error { return w.Cancel(w.Context(), id, "") }, blueprint.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(w *fixture) {
				h := w.start(w.define("a ask"))
				w.wait(h)
				w.journal.setFault(func(int, *blueprint.JournalCommit) error {
					return blueprint.Errorf(blueprint.CodeUnavailable, "the disk is full")
				})
				begun := time.Now()
				w.code(c.order(w, h.ID), blueprint.CodeUnavailable)
				if took := time.Since(begun); took > 15*time.Second {
					t.Errorf("it took %s, want at most %v", took, 15*time.Second)
				}
				w.code(c.order(w, h.ID), blueprint.CodeConflict) // the run has it
				if x := w.view(h.ID); x.Status != blueprint.StatusPaused {
					t.Errorf("it is shown as %s, which is not on the disk; want %v", x.Status, blueprint.StatusPaused)
				}
				w.journal.setFault(nil)
				w.pass(10 * time.Second)
				if x := w.settle(h.ID); x.Status != c.ends {
					t.Errorf("it is %s, not %s", x.Status, c.ends)
				}
			})
		})
	}
}
