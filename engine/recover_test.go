package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
)

// crashes returns the journal after each commit of a scenario.
func crashes(t *testing.T, key []byte, scenario func(w *fixture)) []*journal {
	var out []*journal
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, newJournal(), newLab(), key, nil)
		defer w.stop()
		w.journal.keep = true
		scenario(w)
		w.stop()
		out = w.journal.history
	})
	return out
}

// unfinished returns the one unfinished run, "" for none.
func (j *journal) unfinished() string {
	for id, stored := range j.runs {
		if !stored.Row.Status.Terminal() {
			return id
		}
	}
	return ""
}

// After a crash at any commit a run ends as without it. Durable results are kept; an
// interrupted node that may be repeated runs again with the same idempotency key.
func TestCrashAtEveryCommit(t *testing.T) {
	const lines = `
		a act
		b pass
		c wait {"ms": 1000}
		d act
		e ask
		f fail {"times": 1} | {"effect": "idempotent", "retry": {"maxAttempts": 5}, "onError": "continue"}
		g act
		h set {"values": {"v": 1}}
		i echo {"value": "{{v}}{{nodes.d.output.done}}{{nodes.e.output.answer}}{{nodes.f.output}}"}`
	key := secret.NewKey()
	var definition *blueprint.Definition
	disks := crashes(t, key, func(w *fixture) {
		definition = w.defineWith(lines, `[{"name": "token", "secret": true, "default": "some-secret"}]`)
		h := w.start(definition)
		synctest.Wait()
		w.advance(time.Second)
		w.answerOK(h.ID, "", "yes")
		synctest.Wait()
		w.advance(time.Minute)
		w.expect(w.settle(h.ID), `completed: a=completed b=completed c=completed d=completed e=completed f=completed g=completed h=completed i=completed -> "1dyes2"`)
	})
	for n, disk := range disks {
		synctest.Test(t, func(t *testing.T) {
			id := disk.unfinished()
			if id == "" {
				return
			}
			l := newLab()
			l.tries["f"] = 1 // the service remembers the first attempt
			before := asStored(t, disk, key, id)
			w := newFixture(t, disk, l, key, nil)
			defer w.stop()
			synctest.Wait()
			w.advance(time.Hour)
			x := w.settle(id)
			if x.Status == blueprint.StatusPaused {
				w.answerOK(id, "", "yes")
				synctest.Wait()
				w.advance(time.Hour)
				x = w.settle(id)
			}
			if x.Status != blueprint.StatusCompleted || encode(x.Output) != `"1dyes`+encode(step(x, "f").Output)+`"` {
				t.Errorf("after commit %d: %s", n+1, sum(x))
			}
			for _, s := range before.Steps {
				if s.Status == blueprint.StepCompleted && slices.Contains(strings.Fields(w.begunNodes()), s.NodeID) {
					t.Errorf("after commit %d node %s is done again", n+1, s.NodeID)
				}
			}
			for _, key := range w.actions() {
				if !strings.HasPrefix(key, id+"/") {
					t.Errorf("the key is %s, want %q at the start", key, id+"/")
				}
			}
		})
	}
}

// asStored returns the record of a run from its journal.
func asStored(t *testing.T, disk *journal, key []byte, id string) *blueprint.Execution {
	t.Helper()
	x, err := reader(t, disk, key).View(t.Context(), disk.stored(id))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Nodes that finished before a crash do not run again.
func TestFinishedNodesDoNotBeginAgain(t *testing.T) {
	key := secret.NewKey()
	disks := crashes(t, key, func(w *fixture) {
		w.run(w.define(`
			a act
			b act
			c act
			d act`))
	})
	for n, disk := range disks {
		synctest.Test(t, func(t *testing.T) {
			id := disk.unfinished()
			if id == "" {
				return
			}
			w := newFixture(t, disk, newLab(), key, nil)
			defer w.stop()
			synctest.Wait()
			// The n-th commit has the start of the n-th node and the ends of those before it.
			want := strings.Join(strings.Fields("a b c d")[n:], " ")
			if got := w.begunNodes(); got != want {
				t.Errorf("after commit %d began %s, want %s", n+1, got, want)
			}
			x := w.view(id)
			if s := x.Steps[n]; s.Attempt != 1 {
				t.Errorf("attempt %d, want 1", s.Attempt)
			}
			found := false
			for _, line := range x.Logs {
				found = found || line.NodeID != nil && *line.NodeID == x.Steps[n].NodeID && strings.Contains(line.Message, "it runs again")
			}
			if !found || x.Status != blueprint.StatusCompleted {
				t.Errorf("%s; the log does not say so: %v", sum(x), x.Logs)
			}
		})
	}
}

// inFlight returns a journal in which a node was running when the server crashed.
func inFlight(t *testing.T, key []byte, lines, node string) (*journal, string) {
	t.Helper()
	var disk *journal
	var id string
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, newJournal(), newLab(), key, nil)
		gate := w.hold(node)
		h := w.start(w.define(lines))
		<-gate.came
		w.pass(time.Second)
		w.journal.mu.Lock()
		disk, id = w.journal.copy(), h.ID
		w.journal.mu.Unlock()
		close(gate.open)
		w.stop()
	})
	return disk, id
}

func TestUnknownOutcome(t *testing.T) {
	const lines = `
		a pass
		b once {} | {"retry": {"maxAttempts": 3}, "onError": "continue"}
		c pass`
	key := secret.NewKey()
	for _, test := range []struct {
		name         string
		input        any
		want         string
		actions, try int
	}{
		{"retry", map[string]any{"action": "retry"}, `completed: a=completed b=completed c=completed -> {"done":"b"}`, 1, 2},
		{"mark done", map[string]any{"action": "mark-done", "output": "sent"}, `completed: a=completed b=completed c=completed -> "sent"`, 0, 1},
		{"mark done without output", map[string]any{"action": "mark-done"}, `completed: a=completed b=completed c=completed`, 0, 1},
		{"abort", map[string]any{"action": "abort"},
			`failed: a=completed b=failed(aborted: whether the node took effect is unknown) c=pending !b:aborted: whether the node took effect is unknown`, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			disk, id := inFlight(t, key, lines, "b")
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t, disk, newLab(), key, nil)
				defer w.stop()
				x := w.settle(id)
				w.expect(x, `paused: a=completed b=paused c=pending`)
				a := x.AwaitingInput
				if a.Kind != blueprint.AwaitUnknownOutcome || strings.Join(a.Options, " ") != "retry mark-done abort" || a.Prompt == "" {
					t.Errorf("asked %+v, want Kind %v, retry mark-done abort and Prompt not empty", a, blueprint.AwaitUnknownOutcome)
				}
				// The question itself survives, and is asked once.
				w.reboot()
				w.expect(w.settle(id), `paused: a=completed b=paused c=pending`)
				for _, bad := range []any{nil, "retry", map[string]any{"action": "forget"}} {
					w.code(w.answer(id, "", bad), blueprint.CodeBadRequest)
				}
				w.answerOK(id, "b", test.input)
				w.code(w.answer(id, "b", test.input), blueprint.CodeConflict)
				x = w.settle(id)
				w.expect(x, test.want)
				if n := len(w.actions()); n != test.actions || step(x, "b").Attempt != test.try {
					t.Errorf("%d actions, attempt %d; want %v and %v", n, step(x, "b").Attempt, test.actions, test.try)
				}
			})
		})
	}
}

// A node's own effect overrides that of its type.
func TestEffectOfANodeCounts(t *testing.T) {
	key := secret.NewKey()
	for effect, want := range map[string]blueprint.Status{"pure": blueprint.StatusCompleted, "idempotent": blueprint.StatusCompleted, "once": blueprint.StatusPaused} {
		t.Run(effect, func(t *testing.T) {
			for _, kind := range []string{"pass", "act", "once"} {
				disk, id := inFlight(t, key, "a "+kind+` {} | {"effect": "`+effect+`"}`, "a")
				synctest.Test(t, func(t *testing.T) {
					w := newFixture(t, disk, newLab(), key, nil)
					defer w.stop()
					if x := w.settle(id); x.Status != want {
						t.Errorf("%s as %s: %s, want Status %v", kind, effect, sum(x), want)
					}
				})
			}
		})
	}
}

// A cancelled run ends at the next start, and its interrupted node does not run again.
func TestCrashWhileCancelled(t *testing.T) {
	key := secret.NewKey()
	for _, effect := range []string{"pure", "once"} {
		disks := crashes(t, key, func(w *fixture) {
			gate := w.hold("a")
			h := w.start(w.define(`a stubborn {} | {"effect": "` + effect + `"}` + "\nb act"))
			<-gate.came
			w.pass(time.Second)
			if err := w.Cancel(w.Context(), h.ID, "why"); err != nil {
				t.Fatal(err)
			}
			close(gate.open)
			w.wait(h)
		})
		disk := disks[len(disks)-2] // the cancellation is the last entry
		synctest.Test(t, func(t *testing.T) {
			id := disk.unfinished()
			w := newFixture(t, disk, newLab(), key, nil)
			defer w.stop()
			w.expect(w.settle(id), `failed: a=failed(cancelled) b=pending !:cancelled: why`)
			if w.begunNodes() != "" {
				t.Errorf("began %s, want nothing", w.begunNodes())
			}
		})
	}
}

// For any graph and crash, the result is the same as without a crash.
func TestCrashOfAnyGraph(t *testing.T) {
	key := secret.NewKey()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(r, "nodes")
		var lines []string
		for i := range n {
			kind := rapid.SampledFrom([]string{
				`act`, `pass`, `set {"values": {"v": ` + fmt.Sprint(i) + `}}`, `echo {"value": ["{{v ?? null}}", "{{input}}"]}`, `wait {"ms": 500}`, `inputs`,
				`choose {"handle": "x"}`, `fail {} | {"onError": "continue"}`, `fail {} | {"onError": "branch"}`, `pass {} | {"disabled": true}`,
			}).Draw(r, "type")
			lines = append(lines, fmt.Sprintf("n%d %s", i, kind))
		}
		for i := range n {
			for j := range i {
				if rapid.IntRange(0, 2).Draw(r, "edge") == 0 {
					lines = append(lines, fmt.Sprintf("n%d -%s> n%d", j, rapid.SampledFrom([]string{"", "", "x", "error"}).Draw(r, "handle"), i))
				}
			}
		}
		text := strings.Join(lines, "\n")
		var want string
		finish := func(w *fixture, id string) string {
			synctest.Wait()
			w.advance(time.Hour)
			return sum(w.settle(id))
		}
		disks := crashes(t, key, func(w *fixture) {
			h := w.start(w.defineWith(text, `[{"name": "v", "type": "json"}]`))
			want = finish(w, h.ID)
		})
		for at, disk := range disks {
			id := disk.unfinished()
			if id == "" {
				continue
			}
			var got string
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t, disk, newLab(), key, nil)
				defer w.stop()
				got = finish(w, id)
			})
			if got != want {
				r.Fatalf("after commit %d of\n%s\ngot  %s\nwant %s", at+1, text, got, want)
			}
		}
	})
}

// One unreadable run does not stop the others.
func TestUnreadableRun(t *testing.T) {
	for name, damage := range map[string][][]byte{
		"no JSON":           {[]byte(`{`)},
		"nothing":           {},
		"no beginning":      {[]byte(`{"t":"start","n":"a","at":"2000-01-01T00:00:00.000Z","a":1}`)},
		"an empty begin":    {[]byte(`{"t":"begin"}`)},
		"an unknown node":   {beginning, []byte(`{"t":"start","n":"nobody","a":1}`)},
		"out of order":      {beginning, []byte(`{"t":"end","n":"a"}`)},
		"twice":             {beginning, []byte(`{"t":"start","n":"a","a":1}`), []byte(`{"t":"start","n":"a","a":1}`)},
		"no such question":  {beginning, []byte(`{"t":"start","n":"a","a":1}`), []byte(`{"t":"await","n":"a"}`)},
		"an unknown entry":  {beginning, []byte(`{"t":"start","n":"a","a":1}`), []byte(`{"t":"dance","n":"a"}`)},
		"an empty log line": {beginning, []byte(`{"t":"log"}`)},
		"a broken map":      {[]byte(`{"t":"begin","begin":{"user":"owner","input":null,"map":[]}}`)},
		"another key":       {[]byte("\x01sealed")},
	} {
		test(t, func(w *fixture) {
			d := w.define(`a ask`)
			good, bad := w.run(d), w.run(d)
			w.stop()
			w.journal.runs[bad.ID].Entries = damage
			w.boot(w.clock.Now())
			if !strings.Contains(w.logged(), "run recovery failed") || !strings.Contains(w.logged(), bad.ID) {
				t.Errorf("%s: the log says %s, want \"run recovery failed\" in it and %q in it", name, w.logged(), bad.ID)
			}
			w.answerOK(good.ID, "", 1)
			if x := w.settle(good.ID); x.Status != blueprint.StatusCompleted {
				t.Errorf("%s: %s, want Status %v", name, sum(x), blueprint.StatusCompleted)
			}
			if err := w.answer(bad.ID, "", 1); err == nil {
				t.Errorf("%s: a damaged run takes an answer, want an error", name)
			}
			if _, err := w.View(w.Context(), w.journal.stored(bad.ID)); err == nil {
				t.Errorf("%s: a damaged run is shown, want an error", name)
			}
		})
	}
}

// A run that cannot be loaded at the start is loaded soon after, without another start.
func TestTemporaryLoadFailureAtTheStart(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		test(t, func(w *fixture) {
			d := w.define("a wait {\"ms\": 1000}\nb pass")
			h := w.start(d)
			synctest.Wait()
			w.stop()
			w.journal.deleted = deleted
			w.journal.loadFault = func(string) error { return blueprint.Errorf(blueprint.CodeUnavailable, "busy") }
			w.boot(w.clock.Now())
			w.advance(5 * time.Second)
			w.journal.mu.Lock()
			w.journal.loadFault = nil
			w.journal.mu.Unlock()
			w.advance(10 * time.Second)
			want := "completed: a=completed b=completed -> {\"n\":1}"
			if deleted {
				want = "failed: a=skipped b=pending !:cancelled: the blueprint was deleted"
			}
			w.expect(w.settle(h.ID), want)
		})
	}
}

var beginning = []byte(`{"t":"begin","at":"2000-01-01T00:00:00.000Z","begin":{"user":"owner","input":null}}`)

// A caller that waits for a run to be loaded returns when its context ends, whether it
// or another caller loads the run.
func TestWaitingForALoadEndsWithItsContext(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define("a ask"))
		w.wait(h)
		open := make(chan struct{})
		w.journal.mu.Lock()
		w.journal.block = open
		w.journal.mu.Unlock()
		first, stopFirst := context.WithCancel(w.Context())
		firstDone, secondDone := make(chan error, 1), make(chan error, 1)
		go func() { firstDone <- w.Cancel(first, h.ID, "") }()
		synctest.Wait()
		second, stopSecond := context.WithCancel(w.Context())
		go func() {
			secondDone <- w.Resume(second, blueprint.ResumeAnswer{ExecutionID: h.ID, UserID: owner.UserID, CanManage: true})
		}()
		synctest.Wait()
		stopSecond()
		synctest.Wait()
		select {
		case err := <-secondDone:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the second ended with %v, want %v", err, context.Canceled)
			}
		default:
			t.Error("the second still waits")
		}
		stopFirst()
		synctest.Wait()
		select {
		case err := <-firstDone:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the first ended with %v, want %v", err, context.Canceled)
			}
		default:
			t.Error("the first still waits")
		}
		close(open)
		synctest.Wait()
		w.answerOK(h.ID, "", w.decode(`"yes"`))
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// If the process ends between the deletion of a blueprint and the cancellation of its
// runs, the next one cancels them.
func TestRunsOfADeletedBlueprintEndAtTheNextStart(t *testing.T) {
	test(t, func(w *fixture) {
		waiting := w.start(w.define(`a wait {"ms": 60000}
			b act`))
		paused := w.start(w.define(`a ask`))
		w.pass(time.Second)
		w.journal.deleted = true
		w.reboot()
		for _, id := range []string{waiting.ID, paused.ID} {
			x := w.settle(id)
			if x.Status != blueprint.StatusFailed || x.Failure == nil || x.Failure.Message != "cancelled: the blueprint was deleted" {
				t.Errorf("%s: %+v, want Status %v, not nil and Message cancelled: the blueprint was deleted", sum(x), x.Failure, blueprint.StatusFailed)
			}
		}
		if got := w.lab.actions(); len(got) != 0 {
			t.Errorf("acted: %v, want none", got)
		}
	})
}

// panicking is the environment variable that names the call whose journal panics.
const panicking = "ENGINE_TEST_PANICS"

// A panic while a run is driven or stored ends the process, even if the caller recovers
// from panics as net/http does, because locks would stay held.
func TestPanicEndsTheProcess(t *testing.T) {
	calls := map[string]func(w *fixture, h *engine.Handle){
		"start":  func(w *fixture, _ *engine.Handle) { w.startWith(request(w.define("a quick")), engine.AtEnd) },
		"cancel": func(w *fixture, h *engine.Handle) { _ = w.Cancel(w.Context(), h.ID, "") },
	}
	if call := calls[os.Getenv(panicking)]; call != nil {
		test(t, func(w *fixture) {
			h := w.start(w.define("a ask"))
			w.wait(h)
			w.journal.setFault(func(int, *blueprint.JournalCommit) error { panic("planted in the journal") })
			defer func() { _ = recover() }()
			call(w, h)
		})
		return
	}
	for name := range calls {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			child.Env = append(os.Environ(), panicking+"="+name)
			output, err := child.CombinedOutput()
			if err == nil || !strings.Contains(string(output), "planted in the journal") || !strings.Contains(string(output), "recover_test.go") {
				t.Errorf("it ended with %v and printed\n%s", err, output)
			}
		})
	}
}
