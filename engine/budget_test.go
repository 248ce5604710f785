package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// provider is a language model that outlives the engines that call it. It records each
// call.
type provider struct {
	mu    sync.Mutex
	calls []providerCall
	most  int // maximum of simultaneous calls
	busy  int
}

type providerCall struct {
	execution string
	tokens    int64
}

// prompt makes config.calls calls of config.tokens tokens each; every one takes
// config.ms milliseconds of real time. Its state counts those made before a pause.
func (p *provider) prompt(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
	made := number(task.State)
	tokens := int64(number(task.Config["tokens"]))
	for ; made < max(1, number(task.Config["calls"])); made++ {
		if err := task.Budget(ctx, tokens); err != nil {
			var pause *blueprint.Pause
			if errors.As(err, &pause) {
				pause.State = blueprintNumber(made)
			}
			return blueprint.Result{}, err
		}
		p.mu.Lock()
		p.calls = append(p.calls, providerCall{task.ExecutionID, tokens})
		p.busy++
		p.most = max(p.most, p.busy)
		p.mu.Unlock()
		answer := time.NewTimer(milliseconds(task.Config["ms"]))
		var err error
		select {
		case <-answer.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
		answer.Stop()
		p.mu.Lock()
		p.busy--
		p.mu.Unlock()
		if err != nil {
			return blueprint.Result{}, err
		}
		task.Spend(tokens)
	}
	return blueprint.Result{Output: blueprintNumber(made)}, nil
}

func (p *provider) made() (calls int, tokens int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range p.calls {
		tokens += call.tokens
	}
	return len(p.calls), tokens
}

// testBudgets is a test whose runs may start others and call a provider.
func testBudgets(t *testing.T, options func(*engine.Options), f func(w *fixture, p *provider)) {
	t.Helper()
	var l library
	p := &provider{}
	testWith(t, func(o *engine.Options) {
		o.Blueprints, o.Drain = &l, time.Millisecond
		o.Catalogue["prompt"] = &blueprint.NodeType{Type: "prompt", Title: "prompt", Effect: blueprint.EffectIdempotent, Run: p.prompt}
		if options != nil {
			options(o)
		}
	}, func(w *fixture) {
		l.w = w
		f(w, p)
	})
}

// crash ends the engine: nothing is stored from now on, and another engine starts over
// its journal.
func (w *fixture) crash() {
	w.journal.setFault(func(int, *blueprint.JournalCommit) error {
		return blueprint.Errorf(blueprint.CodeUnavailable, "the process is dead")
	})
	w.fail(blueprint.Errorf(blueprint.CodeUnavailable, "the process is dead"))
	w.halt = nil
	<-w.ended
	w.journal.setFault(nil)
	w.boot(w.clock.Now())
}

func limits(tokens, calls int64) *blueprint.Budget {
	b := &blueprint.Budget{}
	if tokens >= 0 {
		b.Tokens = &tokens
	}
	if calls >= 0 {
		b.Calls = &calls
	}
	return b
}

// fan starts five runs of a blueprint at once.
func (w *fixture) fan(child *blueprint.Definition) *blueprint.Definition {
	return w.define(each("l", `"items": [1, 2, 3, 4, 5]`, `, "concurrency": 5`, fmt.Sprintf(`r call {"blueprintId": %q} | {"onError": "continue"}`, child.BlueprintID)))
}

// Parallel runs share one budget.
func TestBudgetOfParallelRuns(t *testing.T) {
	for _, test := range []struct {
		name        string
		budget      *blueprint.Budget
		calls, most int
	}{
		{"tokens for one", limits(10, -1), 1, 1},
		{"tokens for one and a bit", limits(11, -1), 2, 1},
		{"one call", limits(-1, 1), 1, 1},
		{"three calls at once", limits(-1, 3), 3, 3},
		{"both", limits(25, 2), 2, 1},
		{"none", nil, 5, 5},
	} {
		testBudgets(t, nil, func(w *fixture, p *provider) {
			r := request(w.fan(w.define(`m prompt {"tokens": 10, "ms": 5}`)))
			r.Budget = test.budget
			x := w.wait(w.startWith(r, engine.Soon))
			if calls, _ := p.made(); calls != test.calls || p.most != test.most || x.Status != blueprint.StatusCompleted {
				t.Errorf("%s: %d calls, %d at a time: %s; want %v, %v and Status %v", test.name, calls, p.most, sum(x), test.calls, test.most, blueprint.StatusCompleted)
			}
		})
	}
}

// A child blueprint's budget applies to each of its runs separately, in addition to the
// parent's.
func TestBudgetOfChildBlueprint(t *testing.T) {
	testBudgets(t, nil, func(w *fixture, p *provider) {
		child := w.define(`m prompt {"calls": 3, "tokens": 1}`)
		child.Budget = limits(-1, 2)
		r := request(w.fan(child))
		r.Budget = limits(-1, 7)
		x := w.wait(w.startWith(r, engine.Soon))
		perRun := map[string]int{}
		for _, call := range p.calls {
			perRun[call.execution]++
		}
		if calls, _ := p.made(); calls != 7 || slices.Max(slices.Collect(maps.Values(perRun))) != 2 {
			t.Errorf("%d calls, %v: %s; want 7 and 2", calls, perRun, sum(x))
		}
	})
}

// Neither usage nor an interrupted call is lost in a restart.
func TestBudgetSurvivesRestarts(t *testing.T) {
	for name, restart := range map[string]func(w *fixture){"stop": (*fixture).reboot, "crash": (*fixture).crash} {
		for want, budget := range map[string]*blueprint.Budget{"3 of 3": limits(-1, 3), "30 of 30": limits(30, -1)} {
			testBudgets(t, nil, func(w *fixture, p *provider) {
				child := w.define(`m prompt {"calls": 4, "tokens": 10, "ms": 1000}`)
				r := request(w.define(fmt.Sprintf(`a call {"blueprintId": %q}`, child.BlueprintID)))
				r.Budget = budget
				h := w.startWith(r, engine.AtOnce)
				w.pass(1500 * time.Millisecond) // one call is over, one in progress
				restart(w)
				w.pass(10 * time.Second)
				if calls, _ := p.made(); calls != 3 {
					t.Errorf("%s, %s: %d calls", name, want, calls)
				}
				if x := w.settle(h.ID); x.Status != blueprint.StatusFailed || !strings.Contains(x.Failure.Message, want) {
					t.Errorf("%s, %s: %s", name, want, sum(x))
				}
			})
		}
	}
}

// A stored raise resumes every member of the family, even if the process ended before it
// could.
func TestBudgetRaiseSurvivesACrash(t *testing.T) {
	testBudgets(t, nil, func(w *fixture, p *provider) {
		r := request(w.fan(w.define(`m prompt {"tokens": 10, "ms": 5}`)))
		r.Budget = limits(-1, 1)
		r.Budget.OnBreach = blueprint.BreachPauses
		h := w.startWith(r, engine.AtOnce)
		w.pass(time.Minute)
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Row.ID == h.ID {
				return nil
			}
			return blueprint.Errorf(blueprint.CodeUnavailable, "no room")
		})
		w.code(w.answer(w.paused()[0], "", w.decode(`{"calls": 4}`)), blueprint.CodeUnavailable)
		w.crash()
		w.pass(time.Minute)
		if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted || len(p.calls) != 5 {
			t.Errorf("%d calls: %s, want Status %v and 5", len(p.calls), sum(x), blueprint.StatusCompleted)
		}
	})
}

// A raise applies to the whole family, also after a restart.
func TestBudgetIsRaisedForTheFamily(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		testBudgets(t, nil, func(w *fixture, p *provider) {
			r := request(w.fan(w.define(`m prompt {"tokens": 10, "ms": 5}`)))
			r.Budget = limits(-1, 1)
			r.Budget.OnBreach = blueprint.BreachPauses
			h := w.startWith(r, engine.AtOnce)
			w.pass(time.Minute)
			if restarts {
				w.reboot()
				w.pass(time.Minute)
			}
			paused := w.paused()
			if calls, _ := p.made(); calls != 1 || len(paused) != 4 {
				t.Fatalf("%d calls, %d paused; want 1 and 4", calls, len(paused))
			}
			w.answerOK(paused[0], "", w.decode(`{"calls": 2}`))
			w.pass(time.Minute)
			if calls, _ := p.made(); calls != 3 || len(w.paused()) != 2 {
				t.Errorf("%d calls, %d paused; want 3 and 2", calls, len(w.paused()))
			}
			w.answerOK(w.paused()[0], "", w.decode(`{"calls": 2}`))
			w.pass(time.Minute)
			if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
				t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
			}
			if calls, _ := p.made(); calls != 5 {
				t.Errorf("%d calls, want 5", calls)
			}
		})
	}
}

// paused lists the runs that wait for an answer.
func (w *fixture) paused() (ids []string) {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(w.journal.runs)) {
		if w.journal.runs[id].Row.Status == blueprint.StatusPaused {
			ids = append(ids, id)
		}
	}
	return ids
}

// A retry starts a family of its own with the full budget.
func TestBudgetOfARetry(t *testing.T) {
	testBudgets(t, nil, func(w *fixture, p *provider) {
		child := w.define(`m prompt {"calls": 3, "tokens": 10}`)
		r := request(w.define(fmt.Sprintf("a prompt {\"tokens\": 10}\nb call {\"blueprintId\": %q}", child.BlueprintID)))
		r.Budget = limits(-1, 2)
		x := w.wait(w.startWith(r, engine.AtOnce))
		below := w.children()[0].Row.ID
		for _, id := range []string{x.ID, below} {
			before, _ := p.made()
			h, err := w.Retry(w.Context(), w.journal.stored(id), "", owner, true)
			if err != nil {
				t.Fatal(err)
			}
			x := w.wait(h)
			if calls, _ := p.made(); calls-before != 2 || x.Status != blueprint.StatusFailed {
				t.Errorf("%d calls: %s, want 2 and Status %v", calls-before, sum(x), blueprint.StatusFailed)
			}
		}
	})
}

// A restart does not reset the size of a family.
func TestFamilyLimitSurvivesRestarts(t *testing.T) {
	for name, restart := range map[string]func(w *fixture){"stop": (*fixture).reboot, "crash": (*fixture).crash} {
		testBudgets(t, func(o *engine.Options) { o.Limits.Family = 6 }, func(w *fixture, _ *provider) {
			leaf := w.define("w wait {\"ms\": 1000}")
			middle := w.define(fmt.Sprintf("a call {\"blueprintId\": %[1]q}\nb call {\"blueprintId\": %[1]q} | {\"onError\": \"continue\"}", leaf.BlueprintID))
			top := w.define(fmt.Sprintf("a call {\"blueprintId\": %[1]q}\nb call {\"blueprintId\": %[1]q}\nc call {\"blueprintId\": %[1]q}", middle.BlueprintID))
			h := w.start(top)
			for range 10 {
				w.settle(h.ID)
				w.pass(time.Second)
				restart(w)
				w.advance(time.Second)
			}
			if x := w.settle(h.ID); x.Status != blueprint.StatusFailed || x.Failure.Code != "too_many_runs" || len(w.children()) != 6 {
				t.Errorf("%s: %d runs: %s, want Status %v, Code too_many_runs and 6", name, len(w.children()), sum(x), blueprint.StatusFailed)
			}
		})
	}
}

// TestBudgetsHold starts random trees of runs with budgets, restarts the engine in
// the middle of them, and raises budgets: no budget is exceeded by more than one
// call's tokens, or by any call, and every run ends once enough is allowed.
func TestBudgetsHold(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			testBudgets(t, nil, func(w *fixture, p *provider) {
				(&budgetTrial{fixture: w, provider: p, Rand: rand.New(rand.NewPCG(seed, 1)), budgets: map[string]*blueprint.Budget{}}).run()
			})
		})
	}
}

type budgetTrial struct {
	*fixture
	*provider
	*rand.Rand
	budgets map[string]*blueprint.Budget // by blueprint
	given   *blueprint.Budget            // to the first run
	first   string
	raised  []raisedBudget
}

type raisedBudget struct {
	execution     string
	tokens, calls int64
}

func (b *budgetTrial) run() {
	r := request(b.draw(2))
	b.given = b.drawBudget()
	r.Budget = b.given
	b.first = b.startWith(r, engine.AtOnce).ID
	for range 3 + b.IntN(6) {
		b.step(int64(1 + b.IntN(4)))
		switch b.IntN(3) {
		case 0:
			b.reboot()
		case 1:
			b.crash()
		}
		b.check()
	}
	for range 200 {
		if stored := b.journal.stored(b.first); stored.Row.Status.Terminal() {
			break
		}
		b.step(1000)
		b.check()
	}
	b.pass(time.Minute)
	for id, stored := range b.journal.runs {
		if !stored.Row.Status.Terminal() {
			b.Errorf("the run %s is %s", id, stored.Row.Status)
		}
	}
	b.check()
}

// step advances the clock and answers all paused runs with more than enough.
func (b *budgetTrial) step(more int64) {
	b.pass(time.Duration(b.IntN(40)) * time.Millisecond)
	b.advance(time.Minute)
	b.pass(time.Duration(b.IntN(40)) * time.Millisecond)
	for _, id := range b.paused() {
		if more < 1000 && b.IntN(4) > 0 {
			continue
		}
		b.raised = append(b.raised, raisedBudget{id, 10 * more, more})
		if err := b.answer(id, "", b.decode(fmt.Sprintf(`{"calls": %d, "tokens": %d}`, more, 10*more))); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
			b.Error(err)
		}
	}
}

// check compares the calls that were made with the budgets of each run.
func (b *budgetTrial) check() {
	b.journal.mu.Lock()
	defer b.journal.mu.Unlock()
	b.provider.mu.Lock()
	defer b.provider.mu.Unlock()
	for id, stored := range b.journal.runs {
		allowed := b.budgets[stored.Row.BlueprintID]
		if id == b.first {
			allowed = allowed.Stricter(b.given)
		}
		if !allowed.Limits() {
			continue
		}
		var calls, tokens, largest, moreCalls, moreTokens int64
		for _, call := range b.calls {
			if b.below(call.execution, id) {
				calls++
				tokens += call.tokens
				largest = max(largest, call.tokens)
			}
		}
		for _, more := range b.raised {
			if b.below(more.execution, id) {
				moreCalls += more.calls
				moreTokens += more.tokens
			}
		}
		if allowed.Calls != nil && calls > *allowed.Calls+moreCalls || allowed.Tokens != nil && tokens > max(0, *allowed.Tokens+moreTokens-1)+largest {
			b.Errorf("%d calls with %d tokens; allowed are %s and %d calls, %d tokens more", calls, tokens, encode(allowed), moreCalls, moreTokens)
		}
	}
}

// below reports whether a run is another one or its descendant.
func (b *budgetTrial) below(id, above string) bool {
	for ; id != above; id = b.journal.runs[id].Row.ParentExecutionID {
		if id == "" || b.journal.runs[id] == nil {
			return false
		}
	}
	return true
}

func (b *budgetTrial) drawBudget() *blueprint.Budget {
	if b.IntN(3) == 0 {
		return nil
	}
	out := limits(int64(b.IntN(60))-10, int64(b.IntN(8))-2)
	if b.IntN(2) == 0 {
		out.OnBreach = blueprint.BreachPauses
	}
	return out
}

// draw defines a random blueprint whose runs are nested up to depth.
func (b *budgetTrial) draw(depth int) *blueprint.Definition {
	d := b.define(b.lines(depth, 2))
	if depth < 2 {
		d.Budget = b.drawBudget()
		b.budgets[d.BlueprintID] = d.Budget
	}
	return d
}

func (b *budgetTrial) lines(depth, nested int) string {
	var lines []string
	for i := range 1 + b.IntN(3) {
		id := fmt.Sprint("n", i)
		var line string
		switch kind := b.IntN(4); {
		case kind == 0 && nested > 0:
			items := strings.TrimSuffix(strings.Repeat("1,", 1+b.IntN(4)), ",")
			line = each(id, fmt.Sprintf(`"items": [%s]`, items), fmt.Sprintf(`, "concurrency": %d`, 1+b.IntN(4)), b.lines(depth, nested-1))
		case kind <= 2 && depth > 0:
			line = fmt.Sprintf(`%s call {"blueprintId": %q}`, id, b.draw(depth-1).BlueprintID)
		default:
			line = fmt.Sprintf(`%s prompt {"calls": %d, "tokens": %d, "ms": %d}`, id, 1+b.IntN(3), 1+b.IntN(20), b.IntN(20))
		}
		more := `"onError": "continue"`
		if b.IntN(3) == 0 {
			more = `"retry": {"maxAttempts": 2, "delayMs": 10}`
		}
		lines = append(lines, line+" | {"+more+"}")
	}
	return strings.Join(lines, "\n")
}

// An interrupted call counts as estimated, with and without a budget, so that the tokens
// of steps add up to the usage.
func TestTokensOfInterruptedCalls(t *testing.T) {
	for name, budget := range map[string]*blueprint.Budget{"no budget": nil, "calls": limits(-1, 9)} {
		testBudgets(t, nil, func(w *fixture, p *provider) {
			slow := w.define(`m prompt {"calls": 2, "tokens": 10, "ms": 1000}`)
			fast := w.define(`
				m prompt {"tokens": 5, "ms": 1200}
				f fail {"times": 9}`)
			r := request(w.define(fmt.Sprintf(`
				a call {"blueprintId": %q}
				b call {"blueprintId": %q}
				x act
				x -> a
				x -> b`, slow.BlueprintID, fast.BlueprintID)))
			r.Budget = budget
			h := w.startWith(r, engine.AtOnce)
			w.pass(1500 * time.Millisecond)
			w.settle(h.ID)
			for id, row := range w.journal.runs {
				if row.Row.BlueprintID != slow.BlueprintID {
					continue
				}
				if x := w.view(id); x.Failure == nil || x.Failure.Code != "cancelled" || x.Steps[0].TokensUsed == nil || *x.Steps[0].TokensUsed != 20 {
					t.Errorf("%s: %s, want Failure not nil, Code cancelled, TokensUsed not nil and TokensUsed 20", name, encode(x))
				}
			}
		})
	}
}

// A call interrupted by the timeout of its node counts as estimated.
func TestTokensOfCallsThatTimeOut(t *testing.T) {
	for name, budget := range map[string]*blueprint.Budget{"no budget": nil, "tokens": limits(1000, -1), "calls": limits(-1, 9)} {
		testBudgets(t, nil, func(w *fixture, p *provider) {
			r := request(w.define(`m prompt {"calls": 2, "tokens": 10, "ms": 1000} | {"timeoutMs": 1500}`))
			r.Budget = budget
			h := w.startWith(r, engine.AtOnce)
			w.pass(2 * time.Second)
			if x := w.settle(h.ID); x.Status != blueprint.StatusFailed || x.Telemetry.TotalTokensUsed != 20 {
				t.Errorf("%s: %d tokens: %s, want Status %v and 20", name, x.Telemetry.TotalTokensUsed, sum(x), blueprint.StatusFailed)
			}
		})
	}
}
