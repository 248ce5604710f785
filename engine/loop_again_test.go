package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// pace advances the clock until the run has ended.
func (w *fixture) pace(id string) *blueprint.Execution {
	for range 12 {
		w.settle(id)
		w.advance(5 * time.Second)
	}
	return w.settle(id)
}

const repeated = ` | {"retry": {"maxAttempts": 3, "delayMs": 1000}}`

// Another attempt of a for-each node continues its items: no finished node runs again,
// and none that may have acted once.
func TestForEachRepeatsNoFinishedNode(t *testing.T) {
	for _, test := range []struct{ name, lines, want, acts string }{
		{"a once node before the failure", each("l", `"items": [1]`, "", "a once\nb fail {\"times\": 1}") + repeated,
			`completed: l=completed l[0]/a=completed l[0]/b=completed -> [1]`, "l[0]/a"},
		{"a once node that failed", each("l", `"items": [1]`, "", "a act\nb fail-once {\"times\": 1}") + repeated,
			`failed: l=failed(item 0: node "b" failed: failed: ) l[0]/a=completed l[0]/b=failed(failed: ) !l:item 0: node "b" failed: failed: `, "l[0]/a"},
		{"a once node that sent nothing", each("l", `"items": [1]`, "", "a act\nb fail-once {\"times\": 1, \"notSent\": true}") + repeated,
			`completed: l=completed l[0]/a=completed l[0]/b=completed -> [1]`, "l[0]/a"},
		{"within each other", each("l", `"items": [1]`, "", "a once\n"+each("m", `"items": [1, 2]`, "", "c once\nb fail {\"times\": 1}")) + repeated,
			`completed: l=completed l[0]/a=completed l[0]/m=completed l[0]/m[0]/c=completed l[0]/m[0]/b=completed l[0]/m[1]/c=completed l[0]/m[1]/b=completed -> [[1,1]]`,
			"l[0]/a l[0]/m[0]/c l[0]/m[1]/c"},
		{"after a nested one that failed", nestedFailure("fail"),
			`completed: l=completed l[0]/m=failed(item 0: node "x" failed: failed: ) l[0]/m[0]/a=completed l[0]/m[0]/x=failed(failed: ) l[0]/b=completed l[0]/c=completed -> [1]`,
			"l[0]/m[0]/a l[0]/b"},
		{"after a nested one in which a once node failed", nestedFailure("fail-once"),
			`completed: l=completed l[0]/m=failed(item 0: node "x" failed: failed: ) l[0]/m[0]/a=completed l[0]/m[0]/x=failed(failed: ) l[0]/b=completed l[0]/c=completed -> [1]`,
			"l[0]/m[0]/a l[0]/b"},
	} {
		testWith(t, nil, func(w *fixture) {
			h := w.start(w.define(test.lines))
			x := w.pace(h.ID)
			w.expect(x, test.want)
			if got := strings.ReplaceAll(strings.Join(w.actions(), " "), h.ID+"/", ""); got != test.acts {
				t.Errorf("%s: acted %s, want %s", test.name, got, test.acts)
			}
		})
	}
}

// nestedFailure returns a for-each node whose items continue after a nested for-each node
// that fails at its first attempt, as the last node of the item does.
func nestedFailure(kind string) string {
	nested := each("m", `"items": [1]`, "", "a act\nx "+kind+` {"times": 1}`) + ` | {"onError": "continue"}`
	return each("l", `"items": [1]`, "", nested+"\nb act\nc fail {\"times\": 1}") + repeated
}

// An item that was running when another failed and then completed is not repeated.
func TestForEachKeepsRunningItems(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("l[1]/a")
		h := w.start(w.define(each("l", `"items": [1, 2]`, `, "concurrency": 2`, "a once\nb fail {\"times\": 1}") + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		x := w.pace(h.ID)
		w.expect(x, `completed: l=completed l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=completed -> [1,1]`)
		if got := len(w.actions()); got != 2 {
			t.Errorf("acted %d times, want 2", got)
		}
	})
}

// A nested for-each node whose item fails early ends once, whatever runs beside it.
func TestForEachThatIsHaltedEndsOnce(t *testing.T) {
	test(t, func(w *fixture) {
		gate, other := w.hold("l[0]/s"), w.hold("l[1]/f")
		lines := each("l", `"items": [0, 1]`, `, "concurrency": 2`, "p eval {\"expression\": \"item\"}\ns act\n"+each("m", `"items": [1]`, "", "w wait {\"ms\": 60000}")+"\nf fail\nc choose {\"handle\": \"{{= item == 0 ? \\\"zero\\\" : \\\"one\\\" }}\"}\np -> c\nc -zero> s\nc -one> m\nc -one> f")
		h := w.start(w.define(lines + ` | {"onError": "continue", "retry": {"maxAttempts": 2, "delayMs": 1000}}` + "\nz pass"))
		<-gate.came
		close(other.open) // the other item fails only now, or this one might never begin
		x := w.settle(h.ID)
		if x.Status != blueprint.StatusRunning || x.Steps[0].Status != blueprint.StepRunning {
			t.Errorf("while an item is at work: %s, want Status %v and Status %v", sum(x), blueprint.StatusRunning, blueprint.StepRunning)
		}
		close(gate.open)
		if x := w.pace(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

func TestRetryFromAddressesThatAreNot(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", abc, "", `a pass`)))
		for _, from := range []string{"l[3]/a", "l[-1]/a", "l[01]/a", "l[x]/a", "l[0]/b", "a]/b", "]/", "l[0]"} {
			_, err := w.Retry(w.Context(), w.journal.stored(x.ID), from, owner, true)
			w.code(err, blueprint.CodeBadRequest)
		}
	})
}

func TestRunHasOnlySoManySteps(t *testing.T) {
	test(t, func(w *fixture) {
		// Nodes that never run count as well, and are cheaper.
		body := "a pass\nz pass\na -never> z\n"
		for i := range 500 {
			body += fmt.Sprintf("n%d pass\nz -> n%d\n", i, i)
		}
		r := request(w.define(each("l", `"over": "inputData"`, `, "concurrency": 8`, each("m", `"over": "inputData"`, "", body))))
		list := make([]any, 20)
		for i := range list {
			list[i] = nil
		}
		r.InputData = list
		x := w.wait(w.startWith(r, engine.Soon))
		if x.Status != blueprint.StatusFailed || !strings.Contains(x.Failure.Message, "more than 200000 steps") {
			t.Errorf("%s: %+v, want %v and \"more than 200000 steps\" in it", x.Status, x.Failure, blueprint.StatusFailed)
		}
	})
}

// Child runs share the budget of their parent.
func TestBudgetOfChildRuns(t *testing.T) {
	testRuns(t, func(w *fixture) {
		child := w.define(`m model {"calls": 2, "tokens": 10}`)
		r := request(w.define(fmt.Sprintf("a call {\"blueprintId\": %q}\nb call {\"blueprintId\": %q}", child.BlueprintID, child.BlueprintID)))
		three := int64(3)
		r.Budget = &blueprint.Budget{Calls: &three}
		x := w.wait(w.startWith(r, engine.Soon))
		if x.Status != blueprint.StatusFailed || x.Failure.NodeID != "b" || len(w.actions()) != 3 || x.Telemetry.TotalTokensUsed != 30 {
			t.Errorf("%d calls, %d tokens: %s; want Status %v, NodeID b, 3 and 30", len(w.actions()), x.Telemetry.TotalTokensUsed, sum(x), blueprint.StatusFailed)
		}
	})
}

// Secrets of a run are secret in its child runs.
func TestSecretsGivenToChildRuns(t *testing.T) {
	testRuns(t, func(w *fixture) {
		w.journal.keep = true
		child := w.define("l log {\"message\": \"{{inputData.t}}\"}\nw wait {\"ms\": 1000}\ne pass")
		h := w.start(w.defineWith(fmt.Sprintf("s echo {\"value\": {\"t\": \"{{token}}\"}}\na call {\"blueprintId\": %q}", child.BlueprintID), secretVariables))
		w.settle(h.ID)
		id := w.children()[0].Row.ID
		w.noSecret("the run that was started", w.settle(id))
		for _, disk := range w.journal.history {
			if stored := disk.runs[id]; stored != nil && strings.Contains(encode(string(joined(stored.Entries))), token) {
				t.Error("its journal is readable")
			}
		}
		w.advance(time.Second)
		w.noSecret("its record", w.settle(id))
		w.noSecret("the record of the run that started it", w.settle(h.ID))
	})
}

func joined(entries [][]byte) (all []byte) {
	for _, e := range entries {
		all = append(all, e...)
	}
	return all
}

// A child run that did what must not be done twice is not started again.
func TestChildRunThatActedIsNotRepeated(t *testing.T) {
	for _, test := range []struct {
		name, child string
		children    int
	}{{"acted", "a once\nf fail", 1}, {"only computed", "a pass\nf fail", 3}} {
		testRuns(t, func(w *fixture) {
			child := w.define(test.child)
			h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, child.BlueprintID) + repeated))
			if x := w.pace(h.ID); x.Status != blueprint.StatusFailed || len(w.children()) != test.children {
				t.Errorf("%s: %d runs: %s, want Status %v and %v", test.name, len(w.children()), sum(x), blueprint.StatusFailed, test.children)
			}
		})
	}
}

// A raise resumes every node that waited for it.
func TestBudgetIsRaisedForAll(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Connections = known() }, func(w *fixture) {
		r := request(w.define(each("l", `"items": [1, 2, 3, 4]`, `, "concurrency": 4`, `m model {"tokens": 1}`)))
		none := int64(0)
		r.Budget = &blueprint.Budget{Calls: &none, OnBreach: blueprint.BreachPauses}
		x := w.wait(w.startWith(r, engine.AtOnce))
		if len(x.AwaitingInputs) != 4 {
			t.Fatalf("%v, want length 4", sum(x))
		}
		w.answerOK(x.ID, "", w.decode(`{"calls": 4}`))
		w.expect(w.settle(x.ID), `completed: l=completed l[0]/m=completed l[1]/m=completed l[2]/m=completed l[3]/m=completed -> [1,1,1,1]`)
	})
}

// A for-each node over items with short waits stays in memory: its journal is only
// loaded after a restart.
func TestWaitsWithinItemsAreCheap(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(each("l", `"items": [1, 2, 3, 4, 5, 6]`, "", `w wait {"ms": 1000}`)))
		w.settle(h.ID)
		w.journal.mu.Lock()
		w.journal.loads = 0
		w.journal.mu.Unlock()
		for range 6 {
			w.advance(time.Second)
		}
		w.journal.mu.Lock()
		if got := w.journal.loads; got > 0 {
			t.Errorf("the journal was read %d times, want at most 0", got)
		}
		w.journal.mu.Unlock()
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}
