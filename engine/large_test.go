package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
)

// Parked runs hold no goroutine.
func TestWaitingRunsHoldNoGoroutine(t *testing.T) {
	test(t, func(w *fixture) {
		before := runtime.NumGoroutine()
		d := w.define(`
			a wait {"ms": 3600000}
			b pass`)
		const n = 10_000
		for range n {
			w.start(d)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before+n/100 { // some may just be ending
			t.Errorf("%d goroutines, %d before; want at most %v", after, before, before+n/100)
		}
		w.advance(time.Hour)
		for id := range w.journal.runs {
			if stored := w.journal.stored(id); stored.Row.Status != blueprint.StatusCompleted {
				t.Fatalf("%s is %s, want %v", id, stored.Row.Status, blueprint.StatusCompleted)
			}
		}
		if len(w.journal.runs) != n {
			t.Errorf("%d runs, want %v", len(w.journal.runs), n)
		}
	})
}

// quick fails the test if f takes very long.
func quick(t *testing.T, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	took := time.Since(begin)
	t.Logf("%s took %v", what, took)
	if took > 20*time.Second {
		t.Errorf("%s took %v, want at most %v", what, took, 20*time.Second)
	}
}

func TestLargeGraphs(t *testing.T) {
	sequence := func(n int, kind func(i int) string) string {
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, "n%d %s\n", i, kind(i))
		}
		return lines.String()
	}
	for _, test := range []struct {
		name, lines string
	}{
		{"a long sequence", sequence(10_000, func(int) string { return "pass" })},
		{"a long sequence of variables", sequence(10_000, func(i int) string { return fmt.Sprintf(`set {"values": {"v%d": %d, "all": "{{v0 ?? 0}}"}}`, i, i) })},
		{"a long sequence that is off", "first pass\n" + sequence(9_998, func(int) string { return `pass {} | {"disabled": true}` }) + "last pass"},
		{"a long sequence with side effects", sequence(2_000, func(int) string { return "act" })},
		{"a wide fork and join", wide(5_000, `echo {"value": 1}`)},
		{"a wide fork of variables", wide(3_000, `set {"values": {"all": 1, "v": 2}}`)},
		{"a wide fork that fails", wide(3_000, `fail {} | {"onError": "continue"}`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t, newJournal(), newLab(), secret.NewKey(), nil)
			defer w.stop()
			d := w.defineWith(test.lines, `[{"name": "v0", "type": "json"}]`)
			var x *blueprint.Execution
			quick(t, "the run", func() { x = w.run(d) })
			if x.Status != blueprint.StatusCompleted {
				t.Errorf("%.500s, want Status %v", sum(x), blueprint.StatusCompleted)
			}
			quick(t, "the view", func() { w.view(x.ID) })
		})
	}
}

func wide(n int, kind string) string {
	var lines strings.Builder
	lines.WriteString("root pass\nend pass\n")
	for i := range n {
		fmt.Fprintf(&lines, "n%d %s\nroot -> n%d\nn%d -> end\n", i, kind, i, i)
	}
	return lines.String()
}

// Many waits in one run share a timer and end in time.
func TestManyWaitsInOneRun(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(wide(2_000, `wait {"ms": 1000}`)))
		synctest.Wait()
		w.advance(time.Second)
		if x := w.wait(h); x.CompletedSteps != 2_002 {
			t.Errorf("%.500s, want CompletedSteps %v", sum(x), 2_002)
		}
	})
}

// ladder returns a graph in which every value contains the previous one twice.
func ladder(rungs int, kind string) string {
	var lines strings.Builder
	lines.WriteString("j0 pass\n")
	for i := 1; i <= rungs; i++ {
		fmt.Fprintf(&lines, "a%d %s\nb%d %s\nj%d %s\n", i, kind, i, kind, i, kind)
		fmt.Fprintf(&lines, "j%d -> a%d\nj%d -> b%d\na%d -> j%d\nb%d -> j%d\n", i-1, i, i-1, i, i, i, i, i)
	}
	return lines.String()
}

// Values that contain others twice at each level do not grow without bound.
func TestLadder(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		want        blueprint.Status
	}{
		{"small", ladder(5, "pass"), blueprint.StatusCompleted},
		{"nodes that pass on", ladder(60, "pass"), blueprint.StatusFailed},
		{"expressions that pass on", ladder(60, `eval {"expression": "input"}`), blueprint.StatusFailed},
		{"disabled nodes alone", ladder(60, `pass {} | {"disabled": true}`), blueprint.StatusCompleted},
		{"disabled nodes and one behind them", ladder(60, `pass {} | {"disabled": true}`) + "last echo {\"value\": \"{{input.a60}}\"}\nj60 -> last", blueprint.StatusFailed},
	} {
		t.Run(test.name, func(t *testing.T) { testLadder(t, test.lines, test.want) })
	}
}

func testLadder(t *testing.T, lines string, want blueprint.Status) {
	t.Helper()
	testWith(t, func(o *engine.Options) { o.Limits = small }, func(w *fixture) {
		x := w.run(w.define(lines))
		if x.Status != want {
			t.Errorf("%.500s, want Status %v", sum(x), want)
		}
		if n := len(encode(w.view(x.ID).Steps)); n > 200<<10 {
			t.Errorf("the record has %d bytes, want at most %v", n, 200<<10)
		}
	})
}

// small are limits that tests reach quickly.
var small = engine.Limits{Value: 16 << 10, Outputs: 64 << 10, Record: 64 << 10}

func TestLimits(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct {
		name, lines string
		input       any
		want        string
	}{
		{"an output as large as may be", `a echo {"value": "` + long(16<<10-2) + `"}`, nil, `completed: a=completed`},
		{"a larger one", `a echo {"value": "` + long(16<<10-1) + `"}`, nil, `failed: a=failed(the output is larger than 16 KiB) !a:the output is larger than 16 KiB`},
		{"a larger one continues as an error", `a echo {"value": "` + long(16<<10-1) + `"} | {"onError": "continue"}` + "\nb pass", nil, `completed: a=failed(the output is larger than 16 KiB) b=completed`},
		{"two that are too large together", "a pass\nb pass\nc pass\na -> c\nb -> c", long(9 << 10), `failed: a=completed b=completed c=failed(the input is larger than 16 KiB) !c:the input is larger than 16 KiB`},
		{"many that are too large together", strings.Repeat(`%s echo {"value": "{{inputData}}"}`+"\n", 5), long(15 << 10),
			`failed: n0=completed n1=completed n2=completed n3=completed n4=failed(with this output, the outputs of the run are larger than 64 KiB together) !n4:with this output, the outputs of the run are larger than 64 KiB together`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := 0; strings.Contains(test.lines, "%s"); i++ {
				test.lines = strings.Replace(test.lines, "%s", fmt.Sprintf("n%d", i), 1)
			}
			testLimit(t, test.lines, test.input, test.want)
		})
	}
}

func testLimit(t *testing.T, lines string, input any, want string) {
	t.Helper()
	testWith(t, func(o *engine.Options) { o.Limits = small }, func(w *fixture) {
		r := request(w.define(lines))
		r.InputData = input
		x := w.wait(w.startWith(r, engine.Soon))
		x.Output = nil
		w.expect(x, want)
	})
}

func TestInputDataIsChecked(t *testing.T) {
	deep := any(map[string]any{})
	for range 300 {
		deep = []any{deep}
	}
	testWith(t, func(o *engine.Options) { o.Limits = small }, func(w *fixture) {
		for want, value := range map[string]any{
			"inputData: is larger than 16 KiB":                                      strings.Repeat("x", 16<<10),
			"inputData: is nested deeper than 256 levels":                           deep,
			"inputData: holds a Go value of type int, which is not JSON":            []any{1},
			`inputData: holds "1,2", which is not a number`:                         json.Number("1,2"),
			`inputData: holds "", which is not a number`:                            json.Number(""),
			"inputData: holds a Go value of type chan int, which is not JSON":       map[string]any{"a": make(chan int)},
			"inputData: holds a Go value of type map[string]int, which is not JSON": map[string]int{},
		} {
			t.Run(want, func(t *testing.T) {
				r := request(w.define(`a pass`))
				r.InputData = value
				if _, err := w.Start(r, engine.Soon); blueprint.CodeOf(err) != blueprint.CodeBadRequest || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
			})
		}
	})
}

// A record beyond the limit omits values, and its log says so.
func TestLargeRecord(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits = small }, func(w *fixture) {
		r := request(w.define("a pass\nb pass\nc pass\nd echo {\"value\": 1}"))
		r.InputData = strings.Repeat("x", 12<<10)
		x := w.wait(w.startWith(r, engine.Soon))
		for _, x := range []*blueprint.Execution{x, w.view(x.ID)} {
			if x.Status != blueprint.StatusCompleted || step(x, "a").Output == nil || step(x, "c").Input != nil || step(x, "d").Output == nil {
				t.Errorf("%.200s, want Status %v, Output not nil, Input nil and Output not nil", sum(x), blueprint.StatusCompleted)
			}
			last := x.Logs[len(x.Logs)-1]
			if last.Level != "warn" || last.Message != "the record is too large to show all of it: inputs or outputs of 2 nodes are left out" {
				t.Errorf("the log ends with %+v", last)
			}
		}
	})
}

// The outputs of child runs count as outputs of the run that waits for them.
func TestLargeChildOutputs(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints, o.Limits = &l, small }, func(w *fixture) {
		l.w = w
		child := w.define(fmt.Sprintf(`x echo {"value": %q}`, strings.Repeat("x", small.Value/2)))
		items := "[" + strings.Repeat("1,", 20) + "1]"
		x := w.run(w.define(each("a", `"items": `+items, "", fmt.Sprintf(`x call {"blueprintId": %q}`, child.BlueprintID))))
		if x.Status != blueprint.StatusFailed || !strings.Contains(x.Failure.Message, "outputs of the run are larger") {
			t.Errorf("%.500s, want a failure for too large outputs", sum(x))
		}
	})
}

// A record that is too large for a list is read when it is shown.
func TestViewReadsRecord(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`a echo {"value": 1}`))
		stored := w.journal.stored(x.ID)
		listed := &blueprint.StoredExecution{Row: stored.Row}
		if got, err := w.Engine.View(context.Background(), listed); err != nil || got.CompletedSteps != 1 {
			t.Errorf("%v, %v; want the view of the run", got, err)
		}
	})
}
