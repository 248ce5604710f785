package engine_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// A view of a run in memory shows only durable state, or, while commits fail, the last
// stored one.
func TestViewIsDurable(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("b")
		h := w.startWith(request(w.define(`
			a pass
			b pass`)), engine.AtOnce)
		<-gate.came
		if got := step(w.view(h.ID), "a").Status; got != blueprint.StepCompleted {
			t.Errorf("the first step is shown as %s, want %v", got, blueprint.StepCompleted)
		}
		if n := len(w.journal.stored(h.ID).Entries); n < 4 { // begin, start, end, start
			t.Errorf("%d entries are on the disk of what was shown, want at least 4", n)
		}
		close(gate.open)
		w.wait(h)
	})
	test(t, func(w *fixture) {
		gate := w.hold("b")
		h := w.startWith(request(w.define(`
			a pass
			b pass`)), engine.AtOnce)
		<-gate.came
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the disk is full", RetryAfter: time.Second, Err: errors.New("full")}
		})
		if got := step(w.view(h.ID), "a").Status; got == blueprint.StepCompleted {
			t.Errorf("a step is shown that is not on the disk: %v, want other than %v", got, blueprint.StepCompleted)
		}
		w.journal.setFault(nil)
		close(gate.open)
		w.wait(h)
	})
}

// The summary of a run in lists agrees with its record.
func TestSummary(t *testing.T) {
	for lines, want := range map[string]string{
		"a pass":                             "",
		"a ask {\"prompt\": \"?\"}":          "human",
		"a fail":                             "",
		"a fail\n b pass":                    "",
		"a fail {\"onError\": \"continue\"}": "",
	} {
		test(t, func(w *fixture) {
			h := w.start(w.define(lines))
			x := w.wait(h)
			stored := w.journal.stored(h.ID)
			problem, awaiting, _ := w.Engine.Summary(context.Background(), stored)
			if got := x.Telemetry.ErrorSummary; (got == "") != (problem == nil) || problem != nil && got != *problem {
				t.Errorf("%s: %v, the record says %q", lines, problem, got)
			}
			if (want == "") != (awaiting == nil) || awaiting != nil && *awaiting != blueprint.AwaitKind(want) {
				t.Errorf("%s: awaits %v, want %v", lines, awaiting, want)
			}
			stored.Record = nil // too large for a list
			if problem, _, _ := w.Engine.Summary(context.Background(), stored); problem != nil {
				t.Errorf("%s: %s, of no record; want nil", lines, *problem)
			}
		})
	}
	for _, manages := range []bool{false, true} {
		test(t, func(w *fixture) {
			asked := request(w.define("a fail"))
			asked.CanManage = manages
			h := w.startWith(asked, engine.AtOnce)
			want := w.wait(h).PrivateTo
			problem, _, got := w.Engine.Summary(context.Background(), w.journal.stored(h.ID))
			if problem == nil || got != want || (got == "") != manages {
				t.Errorf("can manage: %v; summary %v is private to %q, the record to %q", manages, problem, got, want)
			}
		})
	}
	test(t, func(w *fixture) {
		h := w.start(w.define("a ask {\"prompt\": \"?\"}"))
		w.wait(h)
		if err := w.Engine.Cancel(context.Background(), h.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		w.settle(h.ID)
		if problem, _, _ := w.Engine.Summary(context.Background(), w.journal.stored(h.ID)); problem == nil || *problem != "cancelled: enough" {
			t.Errorf("a cancelled run: %v, want not nil and cancelled: enough", problem)
		}
	})
}

// A Reader shows a stored run as the engine does, whether or not it has ended.
func TestReaderNeedsNoEngine(t *testing.T) {
	for lines, status := range map[string]blueprint.Status{
		"a pass":                            blueprint.StatusCompleted,
		"a fail":                            blueprint.StatusFailed,
		"a pass\nb ask {\"prompt\": \"?\"}": blueprint.StatusPaused,
		"a pass\nb wait {\"ms\": 120000}":   blueprint.StatusRunning,
	} {
		test(t, func(w *fixture) {
			h := w.startWith(request(w.define(lines)), engine.AtOnce)
			want := w.settle(h.ID)
			stored := w.journal.stored(h.ID)
			reader := engine.NewReader(w.Catalogue, w.journal, w.Sealer)
			got, err := reader.View(context.Background(), stored)
			if err != nil || got.Status != status || sum(got) != sum(want) {
				t.Fatalf("%s: %v, %v, want %v", lines, got, err, want)
			}
			problem, awaiting, _ := reader.Summary(context.Background(), stored)
			wantProblem, wantAwaiting, _ := w.Summary(context.Background(), stored)
			if !reflect.DeepEqual(problem, wantProblem) || !reflect.DeepEqual(awaiting, wantAwaiting) {
				t.Errorf("%s: summary %v %v, want %v %v", lines, problem, awaiting, wantProblem, wantAwaiting)
			}
			if recording, err := reader.Recording(context.Background(), stored); err != nil || sum(recording.Execution) != sum(want) {
				t.Errorf("%s: recording %v, %v; want %v", lines, recording, err, want)
			}
		})
	}
}
