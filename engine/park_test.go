package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// A parked run is evicted, also one with a timer.
func TestParkedRunIsEvicted(t *testing.T) {
	test(t, func(w *fixture) {
		for _, lines := range []string{`a wait {"ms": 60000}`, "a ask"} {
			start := func() weak.Pointer[any] {
				r := request(w.define(lines))
				input := make([]any, 100)
				r.InputData = input
				w.startWith(r, engine.AtOnce)
				return weak.Make(&input[0])
			}
			input := start()
			w.pass(time.Second)
			runtime.GC()
			if input.Value() != nil {
				t.Errorf("%s: the run is still in memory, want Value nil", lines)
			}
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.define(`
			a pass
			b ask {"prompt": "Who is {{inputData.n}}?"}
			c echo {"value": "{{input.answer}} {{input.prompt}} {{input.input.n}}"}`)
		h := w.start(d)
		x := w.wait(h)
		w.expect(x, `paused: a=completed b=paused c=pending`)
		w.expect(w.view(h.ID), `paused: a=completed b=paused c=pending`)
		a := x.AwaitingInput
		if a == nil || len(x.AwaitingInputs) != 1 {
			t.Fatalf("asked %+v and %d in all, want one", a, len(x.AwaitingInputs))
		}
		if diff := cmp.Diff([]any{"b", blueprint.AwaitHuman, "Who is 1?", blueprint.TimeOf(epoch), blueprint.Time(0)}, []any{a.NodeID, a.Kind, a.Prompt, a.RequestedAt, a.ExpiresAt}); diff != "" {
			t.Errorf("node, kind, prompt, when and until when (-want +got):\n%s", diff)
		}
		if row := w.journal.stored(h.ID).Row; row.Status != blueprint.StatusPaused || row.EndTime != 0 {
			t.Errorf("stored as %s, want %v and EndTime 0", row.Status, blueprint.StatusPaused)
		}
		w.code(w.answer(h.ID, "b", "bad"), blueprint.CodeBadRequest)
		w.expect(w.settle(h.ID), `paused: a=completed b=paused c=pending`)
		w.code(w.answer(h.ID, "nobody", "x"), blueprint.CodeBadRequest)
		w.code(w.answer(h.ID, "a", "x"), blueprint.CodeConflict)
		w.answerOK(h.ID, "b", "me")
		w.code(w.answer(h.ID, "b", "me"), blueprint.CodeConflict)
		x = w.settle(h.ID)
		w.expect(x, `completed: a=completed b=completed c=completed -> "me Who is 1? 1"`)
		if x.AwaitingInput != nil {
			t.Errorf("an ended run asks: %v, want AwaitingInput nil", x.AwaitingInput)
		}
		w.code(w.answer(h.ID, "", "me"), blueprint.CodeConflict)
		w.code(w.answer("exec_1_unknown", "", "me"), blueprint.CodeNotFound)
	})
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		answer      any
		want        string
	}{
		{"a handle", `
			a ask {"handle": "yes"}
			b echo {"value": 1}
			c echo {"value": 2}
			a -yes> b
			a -no> c`, "x", `completed: a=completed b=completed c=skipped -> 1`},
		{"a failure", `a ask`, "fail", `failed: a=failed(rejected) !a:rejected`},
		{"a failure that is handled", `
			a ask {} | {"onError": "continue", "retry": {"maxAttempts": 5}}
			b echo {"value": "{{input.error.code}}"}`, "fail", `completed: a=failed(rejected) b=completed -> "rejected"`},
		{"a crash", `a ask`, "crash", `failed: a=failed(the node crashed; the server's log has the details) !a:the node crashed; the server's log has the details`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testAnswer(t, test.lines, test.answer, test.want)
		})
	}
}

func testAnswer(t *testing.T, lines string, answer any, want string) {
	t.Helper()
	test(t, func(w *fixture) {
		x := w.run(w.define(lines))
		w.answerOK(x.ID, "", answer)
		w.expect(w.settle(x.ID), want)
	})
}

// A run with a running node accepts answers; it is paused only when no node runs.
func TestSeveralQuestions(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("slow")
		h := w.start(w.define(`
			second ask {"prompt": "2"}
			slow pass
			first ask {"prompt": "1"}
			third ask {"prompt": "3"}
			end inputs
			first -> end
			second -> end
			third -> end
			slow -> end`))
		<-gate.came
		x := w.settle(h.ID)
		w.expect(x, `running: second=paused slow=running first=paused third=paused end=pending`)
		w.answerOK(h.ID, "first", "one")
		w.expect(w.settle(h.ID), `running: second=paused slow=running first=completed third=paused end=pending`)
		close(gate.open)
		x = w.wait(h)
		w.expect(x, `paused: second=paused slow=completed first=completed third=paused end=pending`)
		if x.AwaitingInput.NodeID != "second" || len(x.AwaitingInputs) != 2 || x.AwaitingInputs[1].NodeID != "third" {
			t.Errorf("asked %+v, want NodeID second, length 2 and NodeID third", x.AwaitingInputs)
		}
		w.answerOK(h.ID, "third", "three")
		w.expect(w.settle(h.ID), `paused: second=paused slow=completed first=completed third=completed end=pending`)
		w.answerOK(h.ID, "", "two") // the first in the map
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

func TestWhoMayAnswer(t *testing.T) {
	const manager, starter, stranger = "manager", "owner", "stranger"
	for _, test := range []struct {
		kind blueprint.AwaitKind
		may  []string
	}{
		{blueprint.AwaitHuman, []string{manager, starter}},
		{blueprint.AwaitApproval, []string{manager}},
		{blueprint.AwaitBudget, []string{manager}},
		{blueprint.AwaitOAuth, []string{starter}},
	} {
		for _, user := range []string{manager, starter, stranger} {
			testMayAnswer(t, test.kind, user, user == manager, slices.Contains(test.may, user))
		}
	}
}

func testMayAnswer(t *testing.T, kind blueprint.AwaitKind, user string, canManage, may bool) {
	t.Helper()
	test(t, func(w *fixture) {
		x := w.run(w.define(`a ask {"kind": "` + string(kind) + `"}`))
		err := w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: x.ID, Input: map[string]any{"tokens": json.Number("1")}, UserID: user, CanManage: canManage})
		if may && err != nil || !may && blueprint.CodeOf(err) != blueprint.CodeForbidden {
			t.Errorf("%s, %s: %v", kind, user, err)
		}
		asksAgain := kind == blueprint.AwaitBudget || kind == blueprint.AwaitOAuth // the node runs once more
		if got := w.settle(x.ID).Status; (may && !asksAgain) != (got == blueprint.StatusCompleted) {
			t.Errorf("%s, %s: the run is %s", kind, user, got)
		}
	})
}

func TestExpiry(t *testing.T) {
	for _, test := range []struct{ name, lines, before, want string }{
		{"fails", `
			a ask {"expiresMs": 60000}
			b pass`, `paused: a=paused b=pending`, `failed: a=failed(no answer in time) b=pending !a:no answer in time`},
		{"continues", `
			a ask {"expiresMs": 60000, "onExpire": "continue"}
			b pass`, `paused: a=paused b=pending`, `completed: a=completed b=completed -> {"expired":true}`},
		{"is not retried", `a ask {"expiresMs": 60000} | {"retry": {"maxAttempts": 3}}`, `paused: a=paused`, `failed: a=failed(no answer in time) !a:no answer in time`},
		{"of one of two", `
			a ask {"expiresMs": 60000, "onExpire": "continue"}
			b ask
			c pass
			a -> c
			b -> c`, `paused: a=paused b=paused c=pending`, `paused: a=completed b=paused c=pending`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testExpiry(t, test.lines, test.before, test.want)
		})
	}
}

func testExpiry(t *testing.T, lines, before, want string) {
	t.Helper()
	test(t, func(w *fixture) {
		x := w.run(w.define(lines))
		if x.AwaitingInput.ExpiresAt != blueprint.TimeOf(epoch.Add(time.Minute)) {
			t.Errorf("expires at %s", x.AwaitingInput.ExpiresAt)
		}
		w.advance(59_999 * time.Millisecond)
		w.expect(w.settle(x.ID), before)
		w.advance(time.Millisecond)
		w.expect(w.settle(x.ID), want)
	})
}

// An answer cancels the expiry.
func TestAnswerBeforeExpiry(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a ask {"expiresMs": 60000}
			b ask`))
		w.advance(59 * time.Second)
		w.answerOK(x.ID, "a", 1)
		w.advance(time.Hour)
		w.expect(w.settle(x.ID), `paused: a=completed b=paused`)
	})
}

// A wait beside a question does not prevent the run from being paused, and continues.
func TestWaitBesideQuestion(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`
			asks ask
			waits wait {"ms": 60000}
			after act
			end pass
			waits -> after
			after -> end
			asks -> end`))
		w.expect(w.wait(h), `paused: asks=paused waits=running after=pending end=pending`)
		w.advance(time.Minute)
		w.expect(w.settle(h.ID), `paused: asks=paused waits=completed after=completed end=pending`)
		w.answerOK(h.ID, "", "yes")
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// An answer is acknowledged only once it is durable.
func TestAnswerIsDurable(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a ask
			b pass`))
		open := make(chan struct{})
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { <-open; return nil })
		answered := make(chan error, 1)
		go func() { answered <- w.answer(x.ID, "a", "yes") }()
		synctest.Wait()
		select {
		case err := <-answered:
			t.Errorf("acknowledged too early: %v", err)
		default:
		}
		second := make(chan error, 1)
		go func() { second <- w.answer(x.ID, "a", "no") }()
		synctest.Wait()
		w.code(<-second, blueprint.CodeConflict)
		close(open)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		w.expect(w.settle(x.ID), `completed: a=completed b=completed -> {"answer":"yes","input":{"n":1},"prompt":null}`)
	})
}

// An answer that cannot be stored is not acknowledged, and the run still waits for one.
func TestAnswerThatIsNotStored(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`a ask`))
		broken := errors.New("broken disk")
		w.journal.setFault(func(int, *blueprint.JournalCommit) error { return broken })
		if err := w.answer(x.ID, "a", "yes"); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		w.journal.setFault(nil)
		w.expect(w.settle(x.ID), `paused: a=paused`)
		w.answerOK(x.ID, "a", "no")
		w.expect(w.settle(x.ID), `completed: a=completed -> {"answer":"no","input":{"n":1},"prompt":null}`)
	})
}

// A caller whose context ends while a run is being loaded does not affect other callers.
func TestResumeThatCannotLoad(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`
			a wait {"ms": 1000}
			b pass`))
		synctest.Wait()
		w.journal.loadFault = func(string) error { return context.Canceled }
		if err := w.answer(h.ID, "", "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		w.journal.loadFault = nil
		w.advance(time.Second)
		w.expect(w.wait(h), `completed: a=completed b=completed -> {"n":1}`)
	})
}

// A run that cannot be loaded when its timer fires is woken later.
func TestWakeIsRetried(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`a wait {"ms": 1000}`))
		synctest.Wait()
		failures := 2
		w.journal.loadFault = func(string) error {
			if failures--; failures >= 0 {
				return blueprint.Errorf(blueprint.CodeUnavailable, "disk busy")
			}
			return nil
		}
		w.advance(time.Minute)
		x := w.wait(h)
		w.expect(x, `completed: a=completed -> {"n":1}`)
		if took := x.EndTime.Time().Sub(epoch); took != 21*time.Second {
			t.Errorf("it took %v, want %v", took, 21*time.Second)
		}
	})
}

func TestWait(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"passes its input on", `
			a echo {"value": 5}
			b wait {"ms": 3600000}
			c pass`, `completed: a=completed b=completed c=completed -> 5`},
		{"which is over already", `
			a wait {"ms": -5}
			b wait {"ms": 0}`, `completed: a=completed b=completed -> {"n":1}`},
		{"in parallel", `
			a wait {"ms": 3600000}
			b wait {"ms": 1800000}
			c echo {"value": "{{now}}"}
			a -> c
			b -> c`, `completed: a=completed b=completed c=completed -> "2000-01-01T01:00:00.000Z"`},
	} {
		t.Run(test.name, func(t *testing.T) { testWait(t, test.lines, test.want) })
	}
}

func testWait(t *testing.T, lines, want string) {
	t.Helper()
	test(t, func(w *fixture) {
		h := w.start(w.define(lines))
		synctest.Wait()
		w.advance(time.Hour - time.Millisecond)
		w.advance(time.Millisecond)
		x := w.wait(h)
		w.expect(x, want)
		w.expect(w.view(h.ID), want)
	})
}

// A run that hibernates because a question in an item expires soon is paused for its
// callers.
func TestPauseInAnItem(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`a each {"items": [1], "nodes": [{"id": "q", "type": "ask", "title": "Q", "config": {"expiresMs": 30000}}]}`))
		if x := w.wait(h); x.Status != blueprint.StatusPaused || x.AwaitingInput == nil {
			t.Errorf("it is %s, and awaits %v; want %v and not nil", x.Status, x.AwaitingInput, blueprint.StatusPaused)
		}
		w.advance(time.Minute)
		if x := w.settle(h.ID); x.Status != blueprint.StatusFailed {
			t.Errorf("it is %s without an answer, want %v", x.Status, blueprint.StatusFailed)
		}
	})
}
