package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

// Each delay is about twice the previous one, and passes on the engine's clock.
func TestRetryWithBackoff(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`a fail {"times": 3} | {"retry": {"maxAttempts": 4, "delayMs": 10000}}`))
		for attempt := 1; attempt <= 3; attempt++ {
			x := w.settle(h.ID)
			if s := step(x, "a"); s.Attempt != attempt || s.Status != blueprint.StepRunning || x.Status != blueprint.StatusRunning || s.Error != nil {
				w.Fatalf("attempt %d: %s, attempt %d; want %v, Status %v, Status %v and nil", attempt, sum(x), s.Attempt, attempt, blueprint.StepRunning, blueprint.StatusRunning)
			}
			delay, percent := 10*time.Second<<(attempt-1), 0
			for x.Status == blueprint.StatusRunning && step(x, "a").Attempt == attempt {
				w.advance(delay / 100)
				x = w.settle(h.ID)
				percent++
			}
			if percent < 80 || percent > 121 {
				w.Errorf("attempt %d comes after %d %% of its delay, want at least 80 and at most 121", attempt+1, percent)
			}
		}
		x := w.wait(h)
		w.expect(x, `completed: a=completed -> 4`)
		if s := step(x, "a"); s.Attempt != 4 || x.FailedSteps != 0 || x.Telemetry.HasErrors || *s.TokensUsed != 6 {
			t.Errorf("attempt %d, %d failed, %d tokens; want 4, 0, not HasErrors and 6", s.Attempt, x.FailedSteps, *s.TokensUsed)
		}
		if got := x.Telemetry.DataSourcesSummary; fmt.Sprint(got) != "[{api 3 [500]}]" {
			t.Errorf("data sources %v, want [{api 3 [500]}]", got)
		}
	})
}

func TestRetries(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		within      time.Duration
		want        string
		attempts    int
	}{
		{"gives up", `a fail {} | {"retry": {"maxAttempts": 3}}`, 4 * time.Second, `failed: a=failed(failed: ) !a:failed: `, 3},
		{"without retry", `a fail`, 0, `failed: a=failed(failed: ) !a:failed: `, 1},
		{"no delay", `a fail {"times": 2} | {"retry": {"maxAttempts": 3, "delayMs": 0, "backoff": 100}}`, 0, `completed: a=completed -> 3`, 3},
		{"a permanent failure", `a fail {"permanent": true} | {"retry": {"maxAttempts": 3}}`, time.Hour, `failed: a=failed(failed: ) !a:failed: `, 1},
		{"at most five minutes", `a fail {"times": 9} | {"retry": {"maxAttempts": 10, "delayMs": 86400000, "backoff": 100}}`, 45 * time.Minute, `completed: a=completed -> 10`, 10},
		{"Retry-After is honoured", `a fail {"times": 1, "retryAfterMs": 600000} | {"retry": {"maxAttempts": 2}}`, 10 * time.Minute, `completed: a=completed -> 2`, 2},
		{"up to an hour", `a fail {"times": 1, "retryAfterMs": 86400000} | {"retry": {"maxAttempts": 2}}`, time.Hour, `completed: a=completed -> 2`, 2},
		{"once is not repeated", `a fail-once {"times": 1} | {"retry": {"maxAttempts": 3}}`, time.Hour, `failed: a=failed(failed: ) !a:failed: `, 1},
		{"once is repeated when nothing was sent", `a fail-once {"times": 1, "notSent": true} | {"retry": {"maxAttempts": 3}}`, time.Hour, `completed: a=completed -> 2`, 2},
		{"a crash is repeated", `a crash {} | {"retry": {"maxAttempts": 2}}`, time.Hour, `failed: a=failed(the node crashed; the server's log has the details) !a:the node crashed; the server's log has the details`, 2},
		{"a plain error is repeated", `a fail-plain {} | {"retry": {"maxAttempts": 2}}`, time.Hour, `failed: a=failed(a plain error) !a:a plain error`, 2},
		{"in a graph", `
			a fail {"times": 1} | {"retry": {"maxAttempts": 2}}
			b pass
			c pass
			a -> c
			b -> c`, time.Hour, `completed: a=completed b=completed c=completed -> {"a":2,"b":{"n":1}}`, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			testRetry(t, test.lines, test.within, test.want, test.attempts)
		})
	}
}

func testRetry(t *testing.T, lines string, within time.Duration, want string, attempts int) {
	t.Helper()
	test(t, func(w *fixture) {
		h := w.start(w.define(lines))
		synctest.Wait()
		w.advance(within)
		x := w.wait(h)
		w.expect(x, want)
		if s := step(x, "a"); s.Attempt != attempts {
			t.Errorf("%d attempts, want %d", s.Attempt, attempts)
		}
		if took := x.EndTime.Time().Sub(x.StartTime.Time()); took > within {
			t.Errorf("took %v, more than %v; want at most %v", took, within, within)
		}
	})
}

// Retry-After is not shortened by the node's own delay.
func TestRetryAfterIsTheLeast(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`a fail {"times": 1, "retryAfterMs": 600000} | {"retry": {"maxAttempts": 2}}`))
		synctest.Wait()
		w.advance(599_999 * time.Millisecond)
		if s := step(w.settle(h.ID), "a"); s.Attempt != 1 {
			t.Errorf("the second attempt comes too early: %v, want Attempt 1", s.Attempt)
		}
	})
}

func TestTimeout(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`a hang {} | {"timeoutMs": 30000, "retry": {"maxAttempts": 2}}`))
		w.pass(29 * time.Second)
		if s := step(w.view(h.ID), "a"); s.Attempt != 1 || s.Status != blueprint.StepRunning {
			t.Errorf("%s, attempt %d; want 1 and %v", s.Status, s.Attempt, blueprint.StepRunning)
		}
		w.pass(time.Second) // of real time, whatever the virtual clock
		w.advance(2 * time.Second)
		w.pass(30 * time.Second)
		x := w.wait(h)
		w.expect(x, `failed: a=failed(took longer than its timeoutMs of 30000) !a:took longer than its timeoutMs of 30000`)
		if s := step(x, "a"); s.Attempt != 2 || s.Error.Code != "timeout" {
			t.Errorf("attempt %d, code %s; want 2 and timeout", s.Attempt, s.Error.Code)
		}
	})
}

func TestOnError(t *testing.T) {
	for _, test := range []struct{ name, lines, want, outputs string }{
		{"continue in a sequence", `
			a fail {"message": "x"} | {"onError": "continue"}
			b pass`, `completed: a=failed(failed: x) b=completed -> {"error":{"code":"test","message":"failed: x"}}`,
			`a={"error":{"code":"test","message":"failed: x"}} b={"error":{"code":"test","message":"failed: x"}}`},
		{"continue without a code", `a fail-plain {} | {"onError": "continue"}`, `completed: a=failed(a plain error) -> {"error":{"message":"a plain error"}}`, `a={"error":{"message":"a plain error"}}`},
		{"continue in a graph", `
			a fail {} | {"onError": "continue"}
			b echo {"value": 1}
			c echo {"value": 2}
			a -> b
			a -error> c`, `completed: a=failed(failed: ) b=completed c=skipped -> 1`, `a={"error":{"code":"test","message":"failed: "}} b=1`},
		{"branch", `
			a fail {} | {"onError": "branch"}
			b echo {"value": 1}
			c echo {"value": "{{input.error.message}}"}
			a -> b
			a -error> c`, `completed: a=failed(failed: ) b=skipped c=completed -> "failed: "`, `a={"error":{"code":"test","message":"failed: "}} c="failed: "`},
		{"branch in a sequence", `
			a fail {} | {"onError": "branch"}
			b pass`, `completed: a=failed(failed: ) b=skipped -> {"error":{"code":"test","message":"failed: "}}`, `a={"error":{"code":"test","message":"failed: "}}`},
		{"after all attempts", `a fail {} | {"onError": "continue", "retry": {"maxAttempts": 2, "delayMs": 0}}`,
			`completed: a=failed(failed: ) -> {"error":{"code":"test","message":"failed: "}}`, `a={"error":{"code":"test","message":"failed: "}}`},
		{"stop", `
			a fail
			b pass`, `failed: a=failed(failed: ) b=pending !a:failed: `, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			testOnError(t, test.lines, test.want, test.outputs)
		})
	}
}

func testOnError(t *testing.T, lines, want, wantOutputs string) {
	t.Helper()
	test(t, func(w *fixture) {
		x := w.run(w.define(lines))
		w.expect(x, want)
		w.expect(w.view(x.ID), want)
		if got := outputs(x); got != wantOutputs {
			t.Errorf("outputs %s, want %s", got, wantOutputs)
		}
		failed := x.Status == blueprint.StatusFailed
		if x.FailedSteps != 1 || x.Telemetry.ErrorCount != 1 {
			t.Errorf("%d failed steps and %d errors, want one", x.FailedSteps, x.Telemetry.ErrorCount)
		}
		if !x.Telemetry.HasErrors || x.Telemetry.CriticalErrors != failed || x.Telemetry.ErrorSummary == "" {
			t.Errorf("telemetry %+v, want a summary of errors, critical: %v", x.Telemetry, failed)
		}
		if !failed && x.Progress != 100 {
			t.Errorf("progress %d", x.Progress)
		}
	})
}

func TestCounts(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a pass
			b pass | {"disabled": true}
			c fail
			d pass`))
		w.expect(x, `failed: a=completed b=skipped c=failed(failed: ) d=pending !c:failed: `)
		if x.TotalSteps != 4 || x.CompletedSteps != 1 || x.FailedSteps != 1 || x.Progress != 50 {
			t.Errorf("%d steps, %d completed, %d failed, progress %d; want 4, 1, 1 and 50", x.TotalSteps, x.CompletedSteps, x.FailedSteps, x.Progress)
		}
		if got := x.Telemetry.ErrorSummary; got != "c: failed: " {
			t.Errorf("summary %q, want c: failed: ", got)
		}
	})
	test(t, func(w *fixture) {
		gate := w.hold("c")
		h := w.start(w.define(`
			a pass
			b pass
			c pass`))
		<-gate.came
		x := w.settle(h.ID)
		if x.Progress != 66 || x.CurrentStep == nil || *x.CurrentStep != "c" || x.EndTime != 0 {
			t.Errorf("progress %d at %v, want 66, not nil, c and EndTime 0", x.Progress, x.CurrentStep)
		}
		close(gate.open)
		if x := w.wait(h); x.CurrentStep != nil || x.Progress != 100 || x.EndTime == 0 {
			t.Errorf("progress %d at %v, want nil, 100 and EndTime other than 0", x.Progress, x.CurrentStep)
		}
	})
}

// After a failure that stops the run nothing new starts, running nodes finish, waits and
// questions are skipped, and a node between attempts has failed.
func TestStoppingFailure(t *testing.T) {
	test(t, func(w *fixture) {
		slow, bad, later := w.hold("slow"), w.hold("bad"), w.hold("later")
		h := w.start(w.define(`
			root pass
			retrying fail {} | {"retry": {"maxAttempts": 3}}
			slow pass
			after pass
			waits wait {"ms": 1000}
			asks ask
			bad fail {"message": "bad"}
			later ask
			root -> retrying
			root -> slow
			slow -> after
			root -> waits
			root -> asks
			root -> bad
			root -> later`))
		<-slow.came
		<-bad.came
		<-later.came
		synctest.Wait()
		close(bad.open)
		synctest.Wait()
		close(later.open) // asks only after the run has failed
		synctest.Wait()
		x := w.view(h.ID)
		if x.Status != blueprint.StatusRunning || x.AwaitingInput != nil {
			t.Errorf("while a node runs: %s, want Status %v and AwaitingInput nil", sum(x), blueprint.StatusRunning)
		}
		close(slow.open)
		const want = `failed: root=completed retrying=failed(failed: ) slow=completed after=pending waits=skipped asks=skipped bad=failed(failed: bad) later=skipped !retrying:failed: `
		x = w.wait(h)
		w.expect(x, want)
		w.expect(w.view(h.ID), want)
		if s := step(x, "waits"); s.StartTime == 0 || s.EndTime == 0 || s.Output != nil {
			t.Errorf("a wait that was cut short: %+v, want StartTime other than 0, EndTime other than 0 and Output nil", s)
		}
		w.advance(time.Hour)
		w.expect(w.view(h.ID), want)
	})
}

// Of several failures the first in map order is reported.
func TestFirstFailureInMapOrder(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		test(t, func(w *fixture) {
			gates := map[string]*chanMutex{"a": w.hold("a"), "b": w.hold("b")}
			h := w.start(w.define(`
				a fail {"message": "a"}
				b fail {"message": "b"}
				end pass
				a -> end
				b -> end`))
			<-gates["a"].came
			<-gates["b"].came
			close(gates[first].open)
			synctest.Wait()
			for name, gate := range gates {
				if name != first {
					close(gate.open)
				}
			}
			x := w.wait(h)
			w.expect(x, `failed: a=failed(failed: a) b=failed(failed: b) end=pending !a:failed: a`)
			if got := x.Telemetry.ErrorSummary; got != "a: failed: a; b: failed: b" {
				t.Errorf("summary %q, want a: failed: a; b: failed: b", got)
			}
		})
	}
}

// A stop after a failure does not make the run successful.
func TestStopAfterFailure(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("b")
		h := w.start(w.define(`
			a fail
			b stop
			c pass
			b -> c`))
		<-gate.came
		synctest.Wait()
		close(gate.open)
		w.expect(w.wait(h), `failed: a=failed(failed: ) b=completed c=pending !a:failed: `)
	})
}

// Waits are skipped when a stop node ends the run.
func TestStopSkipsWaits(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("end")
		h := w.start(w.define(`
			waits wait {"ms": 1000}
			asks ask
			end stop
			after pass
			waits -> after`))
		<-gate.came
		synctest.Wait()
		close(gate.open)
		w.expect(w.wait(h), `completed: waits=skipped asks=skipped end=completed after=skipped -> {"n":1}`)
	})
}

// A node between attempts has failed when a stop node completes the run.
func TestStopBetweenAttempts(t *testing.T) {
	test(t, func(w *fixture) {
		gate := w.hold("end")
		h := w.start(w.define(`
			root pass
			retrying fail {} | {"retry": {"maxAttempts": 3}}
			end stop
			root -> retrying
			root -> end`))
		<-gate.came
		synctest.Wait()
		close(gate.open)
		x := w.wait(h)
		w.expect(x, `completed: root=completed retrying=failed(failed: ) end=completed -> {"n":1}`)
		if !x.Telemetry.HasErrors || x.Telemetry.CriticalErrors || x.Progress != 100 {
			t.Errorf("telemetry %+v, want HasErrors, not CriticalErrors and Progress 100", x.Telemetry)
		}
	})
}

func TestErrorSummaryIsShort(t *testing.T) {
	test(t, func(w *fixture) {
		lines := ""
		for i := range 5 {
			lines += fmt.Sprintf("n%d fail {} | {\"onError\": \"continue\"}\n", i)
		}
		if got := w.run(w.define(lines)).Telemetry.ErrorSummary; got != "n0: failed: ; n1: failed: ; n2: failed:  (and 2 more)" {
			t.Errorf("got %q, want n0: failed: ; n1: failed: ; n2: failed:  (and 2 more)", got)
		}
	})
}

func TestLogs(t *testing.T) {
	test(t, func(w *fixture) {
		h := w.start(w.define(`
			a log {"message": "hello {{inputData.n}}", "data": {"x": [1]}}
			b wait {"ms": 1000}
			c fail`))
		synctest.Wait()
		w.advance(time.Second)
		var got string
		for _, line := range w.wait(h).Logs {
			node := "-"
			if line.NodeID != nil {
				node = *line.NodeID
			}
			got += fmt.Sprintf("%s %s %s %s %s\n", line.Timestamp, line.Level, node, line.Message, encode(line.Data))
		}
		const want = `2000-01-01T00:00:00.000Z info - the run started null
2000-01-01T00:00:00.000Z info a hello 1 {"x":[1]}
2000-01-01T00:00:00.000Z info a completed in 0 ms null
2000-01-01T00:00:01.000Z info b completed in 1000 ms null
2000-01-01T00:00:01.000Z error c failed: failed:  null
2000-01-01T00:00:01.000Z error - the run failed: failed:  null
`
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestLogIsBounded(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`a log {"message": "x", "times": 10010}`))
		if n := len(x.Logs); n != 10_001+3 {
			t.Errorf("%d lines, want %v", n, 10_001+3)
		}
		last := x.Logs[10_001]
		if last.Level != "warn" || last.Message != "the log of this run is full at 10000 lines; the rest is dropped" {
			t.Errorf("the last line is %+v", last)
		}
	})
}
