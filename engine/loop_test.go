package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// each returns the line of a for-each node over a list.
func each(id, over, more, lines string) string {
	body := mapText(lines)
	return fmt.Sprintf(`%s each {%s %s, "nodes": %s, "edges": %s}`, id, over, more, member(body, "nodes"), member(body, "edges"))
}

// member returns a member of the result of mapText.
func member(body, name string) string {
	nodes, edges, _ := strings.Cut(strings.TrimSuffix(body, "}"), `, "edges": `)
	if name == "edges" {
		return edges
	}
	return strings.TrimPrefix(nodes, `{"nodes": `)
}

const abc = `"items": ["a", "b", "c"]`

func TestForEach(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"outputs in order", each("l", abc, "", `x echo {"value": "{{index}}{{item}}"}`),
			`completed: l=completed l[0]/x=completed l[1]/x=completed l[2]/x=completed -> ["0a","1b","2c"]`},
		{"the item is the first input", each("l", `"items": [1, {"k": null}]`, "", `x pass`),
			`completed: l=completed l[0]/x=completed l[1]/x=completed -> [1,{"k":null}]`},
		{"no items", "l each {\"items\": [], \"nodes\": []}\nz echo {\"value\": \"{{input}}\"}",
			`completed: l=completed z=completed -> []`},
		{"from an expression", "s echo {\"value\": [5, 6]}\n" + each("l", `"over": "nodes.s.output"`, "", `x eval {"expression": "item * 2"}`),
			`completed: s=completed l=completed l[0]/x=completed l[1]/x=completed -> [10,12]`},
		{"within each other", each("l", `"items": [[1, 2], [3]]`, "", each("m", `"over": "item"`, "", `x eval {"expression": "[index, item]"}`)),
			`completed: l=completed l[0]/m=completed l[0]/m[0]/x=completed l[0]/m[1]/x=completed l[1]/m=completed l[1]/m[0]/x=completed -> [[[0,1],[1,2]],[[0,3]]]`},
		{"several ends", each("l", `"items": [1]`, "", "x echo {\"value\": \"{{item}}\"}\ny echo {\"value\": 2}\nz pass\nz -> x\nz -> y"),
			`completed: l=completed l[0]/x=completed l[0]/y=completed l[0]/z=completed -> [{"x":1,"y":2}]`},
		{"nodes outside", "o echo {\"value\": \"out\"}\n" + each("l", abc, "", `x eval {"expression": "nodes.o.output + item"}`),
			`completed: o=completed l=completed l[0]/x=completed l[1]/x=completed l[2]/x=completed -> ["outa","outb","outc"]`},
		{"variables of its own", "s set {\"values\": {\"v\": \"0\"}}\n" + each("l", abc, "", "x set {\"values\": {\"v\": \"{{v}}{{item}}\"}}\ny eval {\"expression\": \"v\"}") + "\nz eval {\"expression\": \"[v, input]\"}",
			`completed: s=completed l=completed l[0]/x=completed l[0]/y=completed l[1]/x=completed l[1]/y=completed l[2]/x=completed l[2]/y=completed z=completed -> ["0",["0a","0b","0c"]]`},
		{"a disabled node", each("l", `"items": [7]`, "", "x pass | {\"disabled\": true}\ny eval {\"expression\": \"input\"}"),
			`completed: l=completed l[0]/x=skipped l[0]/y=completed -> [7]`},
		{"only disabled nodes", each("l", `"items": [7, 8]`, "", "x pass | {\"disabled\": true}"),
			`completed: l=completed l[0]/x=skipped l[1]/x=skipped -> [7,8]`},
		{"an item that ends early", each("l", abc, "", "x skip {\"unless\": \"item != \\\"b\\\"\"}\ny echo {\"value\": \"{{item}}!\"}"),
			`completed: l=completed l[0]/x=completed l[0]/y=completed l[1]/x=completed l[1]/y=skipped l[2]/x=completed l[2]/y=completed -> ["a!","b","c!"]`},
		{"a failure stops it", each("l", abc, "", `x fail {"times": 0}`) + "\nz pass", // the first attempt of each gives 1
			`completed: l=completed l[0]/x=completed l[1]/x=completed l[2]/x=completed z=completed -> [1,1,1]`},
		{"an item fails", each("l", abc, "", `x fail {"message": "{{item}}"}`) + "\nz pass",
			`failed: l=failed(item 0: node "x" failed: failed: a) l[0]/x=failed(failed: a) z=pending !l:item 0: node "x" failed: failed: a`},
		{"an item fails and the run continues", each("l", abc, "", "x eval {\"expression\": \"item == \\\"b\\\" ? int(\\\"q\\\") : item\"}") + " | {\"onError\": \"continue\"}\nz eval {\"expression\": \"input.error.message != nil\"}",
			`completed: l=failed(X) l[0]/x=completed l[1]/x=failed(X) z=completed -> true`},
		{"a failure inside that continues", each("l", `"items": [1]`, "", "x fail {\"message\": \"m\"} | {\"onError\": \"continue\"}\ny eval {\"expression\": \"input.error.message\"}"),
			`completed: l=completed l[0]/x=failed(failed: m) l[0]/y=completed -> ["failed: m"]`},
		{"a stop ends the run", each("l", abc, "", "x stop") + "\nz pass",
			`completed: l=skipped l[0]/x=completed z=skipped`},
		{"a failing stop fails the run", each("l", abc, "", "x stop {\"failed\": true, \"message\": \"no\"}") + " | {\"onError\": \"continue\"}\nz pass",
			`failed: l=failed(item 0: node "x" failed: no) l[0]/x=failed(no) z=pending !l[0]/x:no`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testWith(t, nil, func(w *fixture) {
				x := w.run(w.define(test.lines))
				got := sum(x)
				for _, step := range x.Steps {
					if step.Error != nil && strings.Contains(test.want, "(X)") {
						got = strings.Replace(got, "("+step.Error.Message+")", "(X)", 1)
					}
				}
				if got != test.want {
					t.Errorf("\ngot  %s\nwant %s", got, test.want)
				}
				again := w.view(x.ID)
				if a, b := encode(x.Steps), encode(again.Steps); a != b || encode(x.Output) != encode(again.Output) {
					t.Errorf("the record differs from the returned one\nreturned %s\nrecord   %s", a, b)
				}
				if x.TotalSteps > 3 || x.CompletedSteps > x.TotalSteps {
					t.Errorf("%d of %d steps, want at most 3 and at most %v", x.CompletedSteps, x.TotalSteps, x.TotalSteps)
				}
			})
		})
	}
}

func TestForEachKeepsToItsConcurrency(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(each("l", `"items": [1, 2, 3, 4, 5]`, `, "concurrency": 2`, `x wait {"ms": 1000}`)))
		for second, want := range []string{"5 2", "3 2", "1 1"} {
			x := w.settle(h.ID)
			running := 0
			for _, step := range x.Steps[1:] {
				if step.Status == blueprint.StepRunning {
					running++
				}
			}
			if got := fmt.Sprint(5-2*second, running); got != strings.ReplaceAll(want, " ", " ") {
				t.Errorf("after %d s: %s, want %s", second, got, want)
			}
			if x.CurrentStep == nil || !strings.HasPrefix(*x.CurrentStep, "l[") {
				t.Errorf("current step %v, want not nil and \"l[\" at the start", x.CurrentStep)
			}
			w.advance(time.Second)
		}
		w.expect(w.settle(h.ID), `completed: l=completed l[0]/x=completed l[1]/x=completed l[2]/x=completed l[3]/x=completed l[4]/x=completed -> [1,2,3,4,5]`)
	})
}

// Another attempt keeps the items that the first one finished.
func TestForEachIsRepeated(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(each("l", `"items": [1, 2]`, "", "a act\nx fail {\"times\": 2}") + ` | {"retry": {"maxAttempts": 5, "delayMs": 1000}}`))
		for range 10 {
			w.settle(h.ID)
			w.advance(2 * time.Second)
		}
		w.expect(w.settle(h.ID), `completed: l=completed l[0]/a=completed l[0]/x=completed l[1]/a=completed l[1]/x=completed -> [1,1]`)
		if x := w.view(h.ID); x.Steps[0].Attempt != 5 {
			t.Errorf("attempt %d, want 5", x.Steps[0].Attempt)
		}
	})
}

func TestQuestionsWithinItems(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", abc, `, "concurrency": 3`, `q ask {"prompt": "{{item}}?"}`)))
		if len(x.AwaitingInputs) != 3 || x.AwaitingInput.NodeID != "l[0]/q" || x.AwaitingInput.Prompt != "a?" {
			t.Fatalf("asks %+v, want length 3, NodeID l[0]/q and Prompt a?", x.AwaitingInputs)
		}
		w.reboot()
		w.code(w.answer(x.ID, "l[7]/q", "x"), blueprint.CodeBadRequest)
		w.code(w.answer(x.ID, "l", "x"), blueprint.CodeConflict)
		w.answerOK(x.ID, "l[1]/q", "two")
		w.answerOK(x.ID, "", "one")
		w.answerOK(x.ID, "l[2]/q", "three")
		x = w.settle(x.ID)
		if got := encode(x.Output); x.Status != blueprint.StatusCompleted || !strings.Contains(got, `"answer":"one"`) {
			t.Errorf("%v, want Status %v and \"answer\":\"one\" in it", sum(x), blueprint.StatusCompleted)
		}
	})
}

func TestForEachIsCancelled(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(each("l", abc, `, "concurrency": 2`, `x hang`) + "\nz pass"))
		w.settle(h.ID)
		if err := w.Cancel(w.Context(), h.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		w.expect(w.settle(h.ID), `failed: l=failed(cancelled) l[0]/x=failed(cancelled) l[1]/x=failed(cancelled) z=pending !:cancelled: enough`)
	})
}

func TestRetryWithinItems(t *testing.T) {
	for _, test := range []struct{ name, from, begun string }{
		{"what failed", "", "l l[1]/b l[2]/a l[2]/b z"},
		{"the node", "l", "l l[0]/a l[0]/b l[1]/a l[1]/b l[2]/a l[2]/b z"},
		{"a node of an item", "l[1]/a", "l l[1]/a l[1]/b l[2]/a l[2]/b z"},
		{"behind it", "z", "l l[1]/b l[2]/a l[2]/b z"},
	} {
		testWith(t, nil, func(w *fixture) {
			// The second item fails once.
			w.lab.tries["l[0]/b"] = 1
			x := w.run(w.define(each("l", abc, "", "a act\nb fail {\"times\": 1}") + "\nz pass"))
			w.expect(x, `failed: l=failed(item 1: node "b" failed: failed: ) l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=failed(failed: ) z=pending !l:item 1: node "b" failed: failed: `)
			w.lab.tries["l[2]/b"] = 1
			w.lab.begun = nil
			again := w.repeat(x.ID, test.from)
			if got := w.begunNodes(); got != test.begun {
				t.Errorf("%s: began %s, want %s", test.name, got, test.begun)
			}
			w.expect(again, `completed: l=completed l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=completed l[2]/a=completed l[2]/b=completed z=completed -> [1,1,1]`)
		})
	}
}

// After a crash at any commit the run ends as without it, and no finished node runs
// again.
func TestForEachSurvivesEveryCrash(t *testing.T) {
	lines := "s echo {\"value\": [[1, 2], [3], []]}\n" +
		each("l", `"over": "nodes.s.output"`, `, "concurrency": 2`, "a act\n"+each("m", `"over": "index == 2 ? [] : nodes.a.output != nil ? item : []"`, `, "concurrency": 2`, "b act\nw wait {\"ms\": 1000}\nc eval {\"expression\": \"item + 1\"}")) + "\nz act"
	var want string
	var histories []*journal
	var id string
	test(t, func(w *fixture) {
		w.journal.keep = true
		h := w.start(w.define(lines))
		for range 5 {
			w.settle(h.ID)
			w.advance(time.Second)
		}
		x := w.settle(h.ID)
		if x.Status != blueprint.StatusCompleted {
			t.Fatalf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
		want, histories, id = sum(x), w.journal.history, h.ID
	})
	if len(histories) < 6 { // items that act at the same time share some
		t.Fatalf("only %d commits, want at least 6", len(histories))
	}
	for k, disk := range histories {
		if disk.runs[id] == nil || disk.runs[id].Row.Status.Terminal() {
			continue
		}
		testOver(t, disk, func(w *fixture) {
			for range 5 {
				w.settle(id)
				w.advance(time.Second)
			}
			if got := sum(w.settle(id)); got != want {
				t.Errorf("after a crash behind commit %d:\ngot  %s\nwant %s", k, got, want)
			}
		})
	}
}

// testOver runs a test over the journal after a crash.
func testOver(t *testing.T, disk *journal, f func(w *fixture)) {
	t.Helper()
	testWith(t, nil, func(w *fixture) {
		w.stop()
		w.journal = disk.copy()
		w.boot(epoch)
		f(w)
	})
}

// Ids that look like the address of an item's node are refused.
func TestForEachBesideAmbiguousIDs(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", abc, "", `x pass`) + "\nl[0]/x pass"))
		if x.Failure == nil || x.Failure.Code != "bad_config" {
			t.Errorf("%+v, want not nil and Code bad_config", x.Failure)
		}
	})
}

func TestManyItems(t *testing.T) {
	const items = 10_000
	testWith(t, func(o *engine.Options) { o.Limits.Record = 512 << 20 }, func(w *fixture) {
		r := request(w.define(each("l", `"over": "inputData"`, `, "concurrency": 8`, "a pass\nb eval {\"expression\": \"item + 1\"}\nc log {\"message\": \"x\"}")))
		list := make([]any, items)
		for i := range list {
			list[i] = blueprintNumber(i)
		}
		r.InputData = list
		x := w.wait(w.startWith(r, engine.Soon))
		if out, ok := x.Output.([]any); x.Status != blueprint.StatusCompleted || !ok || len(out) != items || encode(out[items-1]) != fmt.Sprint(items) {
			t.Errorf("%s: %d steps, want %v, length %v and %v", x.Status, len(x.Steps), blueprint.StatusCompleted, items, fmt.Sprint(items))
		}
		if !slices.ContainsFunc(x.Steps, func(s blueprint.Step) bool { return s.NodeID == "l[9999]/b" }) {
			t.Error("the last item is missing")
		}
	})
}

// An item that is stopped while a nested for-each node waits counts once.
func TestForEachWithinAnItemThatIsStopped(t *testing.T) {
	test(t, func(w *fixture) {
		inner := each("m", `"items": [1]`, "", `w wait {"ms": 3600000}`)
		h := w.start(w.define(each("l", `"items": [1, 2]`, `, "concurrency": 2`, "c choose {\"handle\": \"h{{item}}\"}\n"+inner+"\nx fail {}\nc -h1> m\nc -h2> x") + ` | {"onError": "continue"}` + "\nz pass"))
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
			t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// The output of a failed for-each node is that of its record.
func TestRecordOfAFailedForEach(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", abc, "", `x fail {"message": "m"}`) + ` | {"onError": "continue"}` + "\nz pass"))
		z := step(x, "z")
		if got := encode(z.Input); !strings.Contains(got, "failed: m") || got != encode(z.Output) || got != encode(step(x, "l").Output) {
			t.Errorf("z got %s", got)
		}
	})
}

// A retry keeps the nodes after a for-each node that runs its items again.
func TestRetryKeepsWhatIsBehindAForEach(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", abc, "", "a act") + "\ny act\nz pass"))
		w.lab.begun = nil
		w.repeat(x.ID, "z")
		if got := w.begunNodes(); got != "l z" {
			t.Errorf("began %s, want l z", got)
		}
	})
}

// An item that ended early is finished: neither another attempt nor a retry of the run
// repeats it.
func TestItemsThatEndEarlyAreKept(t *testing.T) {
	test(t, func(w *fixture) {
		w.lab.tries["l[0]/b"] = 2
		lines := each("l", abc, "", "a act\ns skip {\"unless\": \"item != \\\"a\\\"\"}\nb fail {\"times\": 2}") + ` | {"retry": {"maxAttempts": 2, "delayMs": 1000}}`
		h := w.start(w.define(lines))
		for range 3 {
			w.settle(h.ID)
			w.advance(2 * time.Second)
		}
		x := w.settle(h.ID)
		if got := strings.Count(w.begunNodes(), "l[0]/a"); got != 1 || x.Status != blueprint.StatusFailed {
			t.Errorf("the first item began %d times: %s, want 1 and Status %v", got, sum(x), blueprint.StatusFailed)
		}
		if tokens := x.Telemetry.TotalTokensUsed; tokens != 3+3+2*2 {
			t.Errorf("%d tokens, want %v", tokens, 3+3+2*2) // of an attempt whose steps are gone, too
		}
		w.lab.begun = nil
		w.lab.tries["l[2]/b"] = 2
		w.repeat(h.ID, "")
		if got := w.begunNodes(); strings.Contains(got, "l[0]") {
			t.Errorf("began %s, want no \"l[0]\"", got)
		}
	})
}

// A for-each node that failed before its items began is retried.
func TestRetryOfAForEachThatDidNotBegin(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", `"over": "int(\"q\")"`, "", "a act") + ` | {"onError": "continue"}`))
		w.lab.begun = nil
		w.repeat(x.ID, "")
		if got := w.begunNodes(); got != "l" {
			t.Errorf("began %q, want l", got)
		}
	})
}

// A for-each node whose items are ready after the run has failed begins none.
func TestForEachBeginsNothingInAFailedRun(t *testing.T) {
	test(t, func(w *fixture) {
		g := w.lab.hold("l")
		h := w.start(w.define("s pass\nx fail {}\n" + each("l", abc, "", "a act") + "\ns -> x\ns -> l"))
		w.settle(h.ID)
		close(g.open)
		if x := w.settle(h.ID); x.Status != blueprint.StatusFailed || strings.Contains(w.begunNodes(), "l[") {
			t.Error(sum(x), w.begunNodes())
		}
	})
}

// A node that ended its item early is kept by a retry, with the nodes that ran beside
// it.
func TestRetryKeepsWhatEndedBesideAnEarlyEnd(t *testing.T) {
	test(t, func(w *fixture) {
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
			t.Errorf("acted %d times: %s, want Status %v, Status %v and 1", len(w.actions()), sum(x), blueprint.StatusCompleted, blueprint.StepCompleted)
		}
	})
}

// A node that was stopped between two attempts is not finished, although its onError
// would continue: it runs again with its item.
func TestForEachRepeatsWhatWasStopped(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("l[0]/f")
		h := w.start(w.define(each("l", `"items": [1]`, "", "p pass\nr fail {\"times\": 1} | {\"onError\": \"continue\", \"retry\": {\"maxAttempts\": 2, \"delayMs\": 60000}}\nf fail {\"times\": 1}\np -> r\np -> f") + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		w.expect(w.pace(h.ID), `completed: l=completed l[0]/p=completed l[0]/r=completed l[0]/f=completed -> [{"f":1,"r":1}]`)
	})
}

// A run with an orphaned child run may have acted.
func TestChildRunWithOrphanIsNotRepeated(t *testing.T) {
	testRuns(t, func(w *fixture) {
		gate := w.hold("f")
		inner := w.define("o once\nw wait {\"ms\": 600000}")
		outer := w.define(fmt.Sprintf("p pass\nc call {\"blueprintId\": %q}\nf fail\np -> c\np -> f", inner.BlueprintID))
		h := w.start(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, outer.BlueprintID) + repeated))
		<-gate.came
		w.settle(h.ID)
		close(gate.open)
		if x := w.pace(h.ID); x.Status != blueprint.StatusFailed || len(w.actions()) != 1 || len(w.children()) != 2 {
			t.Errorf("acted %d times, %d runs: %s; want Status %v, 1 and 2", len(w.actions()), len(w.children()), sum(x), blueprint.StatusFailed)
		}
	})
}

// An action of an item counts also if the item was repeated and has not reached that
// node again.
func TestChildRunWithRepeatedItemIsNotRepeated(t *testing.T) {
	testRuns(t, func(w *fixture) {
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
			t.Errorf("acted %d times, %d runs: %s; want Status %v, 1 and 1", len(w.actions()), len(w.children()), sum(x), blueprint.StatusFailed)
		}
	})
}

// A finished for-each node does not iterate again with the item that it belongs to: the
// nodes after it, which keep their results, would be reached by another path.
func TestForEachKeepsItsPathThroughAnItem(t *testing.T) {
	test(t, func(w *fixture) {
		body := each("m", `"items": [1]`, "", "e pass") + " | {\"onError\": \"branch\", \"timeoutMs\": 1000}\nx pass\nn once\nf fail {\"times\": 1}\nm -> n\nm -error> x\nx -> n\nn -> f"
		h := w.start(w.define(each("l", `"items": [1]`, "", body) + repeated))
		w.settle(h.ID)
		w.hold("l[0]/m") // it would never end
		x := w.pace(h.ID)
		if x.Status != blueprint.StatusCompleted || step(x, "l[0]/x").Status != blueprint.StepSkipped || len(w.actions()) != 1 {
			t.Errorf("acted %d times: %s, want Status %v, Status %v and 1", len(w.actions()), sum(x), blueprint.StatusCompleted, blueprint.StepSkipped)
		}
	})
}
