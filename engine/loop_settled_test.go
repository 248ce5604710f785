package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

// A node that ended its item early is kept by a retry together with what was at
// work beside it.
func TestRetryKeepsWhatEndedBesideAnEarlyEnd(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("l[0]/a")
		h := w.start(w.define(each("l", `"items": [1]`, "", "p pass\ns skip {\"unless\": \"false\"}\na once\nb pass\np -> s\np -> a\na -> b") + "\nz fail {\"times\": 1}"))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		x := w.settle(h.ID)
		w.expect(x, `failed: l=completed l[0]/p=completed l[0]/s=completed l[0]/a=completed l[0]/b=skipped z=failed(failed: ) !z:failed: `)
		again, err := w.Retry(w.Context(), w.journal.stored(x.ID), "", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		if x := w.settle(again.ID); x.Status != blueprint.StatusCompleted || step(x, "l[0]/a").Status != blueprint.StepCompleted || len(w.actions()) != 1 {
			t.Errorf("acted %d times: %s", len(w.actions()), sum(x))
		}
	})
}

// A node that was stopped between two attempts is not finished, though the walk
// would go on behind its failure: its item begins anew with it.
func TestForEachRepeatsWhatWasStopped(t *testing.T) {
	test(t, func(w *world) {
		gate := w.hold("l[0]/f")
		h := w.start(w.define(each("l", `"items": [1]`, "", "p pass\nr fail {\"times\": 1} | {\"onError\": \"continue\", \"retry\": {\"maxAttempts\": 2, \"delayMs\": 60000}}\nf fail {\"times\": 1}\np -> r\np -> f") + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		w.expect(w.pace(h.ID), `completed: l=completed l[0]/p=completed l[0]/r=completed l[0]/f=completed -> [{"f":1,"r":1}]`)
	})
}

// A run that nobody waits for any more may have acted, and so has the one that
// started it.
func TestSubRunThatLeftOneIsNotRepeated(t *testing.T) {
	testRuns(t, func(w *world) {
		gate := w.hold("f")
		inner := w.define("o once\nw wait {\"ms\": 600000}")
		outer := w.define(fmt.Sprintf("p pass\nc call {\"blueprintId\": %q}\nf fail\np -> c\np -> f", inner.BlueprintID))
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, outer.BlueprintID) + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		if x := w.pace(h.ID); x.Status != blueprint.StatusFailed || len(w.actions()) != 1 || len(w.children()) != 2 {
			t.Errorf("acted %d times, %d runs: %s", len(w.actions()), len(w.children()), sum(x))
		}
	})
}

// What a node of an item did counts also when the item has begun anew and not
// come to that node again.
func TestSubRunWhoseItemBeganAnewIsNotRepeated(t *testing.T) {
	testRuns(t, func(w *world) {
		gate := w.hold("l[0]/x")
		body := "p pass\nx fail\n" + each("m", `"items": [1]`, "", "c once\nd fail {\"times\": 1}") + "\np -> x\np -> m"
		child := w.define(each("l", `"items": [1]`, "", body) + ` | {"retry": {"maxAttempts": 2, "delayMs": 1000}}`)
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, child.BlueprintID) + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		w.settle(h.ID)
		late := w.hold("l[0]/m")
		go func() {
			<-late.came
			synctest.Wait() // until the other one has failed
			close(late.open)
		}()
		w.advance(2 * time.Second)
		if x := w.pace(h.ID); x.Status != blueprint.StatusFailed || len(w.actions()) != 1 || len(w.children()) != 1 {
			t.Errorf("acted %d times, %d runs: %s", len(w.actions()), len(w.children()), sum(x))
		}
	})
}

// What was finished is kept also when the item comes to it on another way.
func TestForEachKeepsWhatItReachesOtherwise(t *testing.T) {
	test(t, func(w *world) {
		body := each("m", `"items": [1]`, "", "e pass") + " | {\"onError\": \"branch\", \"timeoutMs\": 1000}\nx pass\nn once\nf fail {\"times\": 1}\nm -> n\nm -error> x\nx -> n\nn -> f"
		h := w.start(w.define(each("l", `"items": [1]`, "", body) + repeated))
		w.settle(h.ID)
		late := w.hold("l[0]/m") // until its time is up
		go func() { <-late.came }()
		x := w.pace(h.ID)
		if x.Status != blueprint.StatusCompleted || step(x, "l[0]/x").Status != blueprint.StepCompleted || len(w.actions()) != 1 {
			t.Errorf("acted %d times: %s", len(w.actions()), sum(x))
		}
	})
}
