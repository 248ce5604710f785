package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// bound is the budget of a run, shared with its descendants.
type bound struct {
	Run    string           `json:"run"`
	Budget blueprint.Budget `json:"budget"`
}

// budgetUsage is what a family of runs has used of its budgets. The outermost run with
// a budget stores it for all runs below, in entries of its own journal: a call counts
// once however many budgets apply, and survives restarts.
type budgetUsage struct {
	used    map[string]*budgetCounters // by the run with the budget
	open    map[int64]openCall
	number  int64         // of the last call
	largest int64         // tokens of the largest call
	free    chan struct{} // closed when a call ends; nil = nothing waits
}

// budgetCounters is the usage of one budget, and what was added to it.
type budgetCounters struct {
	tokens, calls         int64
	moreTokens, moreCalls int64
}

// openCall is a call in progress: the budgets it counts against and its estimated tokens.
type openCall struct {
	runs     []string
	estimate int64
}

func (s *budgetUsage) forRun(run string) *budgetCounters {
	u := s.used[run]
	if u == nil {
		u = &budgetCounters{}
		if s.used == nil {
			s.used = map[string]*budgetCounters{}
		}
		s.used[run] = u
	}
	return u
}

// addCall counts a call that is about to be made.
func (s *budgetUsage) addCall(number int64, runs []string, estimate int64) {
	s.number = max(s.number, number)
	if s.open == nil {
		s.open = map[int64]openCall{}
	}
	s.open[number] = openCall{runs, estimate}
	for _, run := range runs {
		s.forRun(run).calls++
	}
}

func (s *budgetUsage) endCall(number, tokens int64) {
	for _, run := range s.open[number].runs {
		s.forRun(run).tokens += tokens
	}
	delete(s.open, number)
	s.largest = max(s.largest, tokens)
	if s.free != nil {
		close(s.free)
		s.free = nil
	}
}

func (s *budgetUsage) raise(runs []string, by *blueprint.Budget) {
	for _, run := range runs {
		u := s.forRun(run)
		if by.Tokens != nil {
			u.moreTokens += *by.Tokens
		}
		if by.Calls != nil {
			u.moreCalls += *by.Calls
		}
	}
}

// exceeded says which limit of a budget is exhausted; "" when another call is allowed.
func (s *budgetUsage) exceeded(b *bound, asking string) string {
	u, of := s.forRun(b.Run), "the run"
	if b.Run != asking {
		of = "run " + b.Run + " and its sub-runs"
	}
	if most := b.Budget.Tokens; most != nil && u.tokens >= *most+u.moreTokens {
		return fmt.Sprintf("the token budget of %s is spent: %d of %d used", of, u.tokens, *most+u.moreTokens)
	}
	if most := b.Budget.Calls; most != nil && u.calls >= *most+u.moreCalls {
		return fmt.Sprintf("the budget of language model calls of %s is spent: %d of %d used", of, u.calls, *most+u.moreCalls)
	}
	return ""
}

// exhausted returns the bounds that allow no other call.
func (s *budgetUsage) exhausted(bounds []bound) (all []*bound) {
	for i := range bounds {
		if s.exceeded(&bounds[i], "") != "" {
			all = append(all, &bounds[i])
		}
	}
	return all
}

// hasOpenCall reports whether a call in progress counts against the same tokens. The
// tokens of a call are known only after it, so such calls are made one at a time: only
// the last one can exceed the budget.
func (s *budgetUsage) hasOpenCall(bounds []bound) bool {
	for _, b := range bounds {
		if b.Budget.Tokens == nil {
			continue
		}
		for _, call := range s.open {
			if slices.Contains(call.runs, b.Run) {
				return true
			}
		}
	}
	return false
}

func (s *budgetUsage) callEnded() <-chan struct{} {
	if s.free == nil {
		s.free = make(chan struct{})
	}
	return s.free
}

// callKey identifies a call: the run that stores its family's usage, and the number there.
type callKey struct {
	keeper string
	number int64
}

// bind sets the budgets of the run: those of its ancestors and its own.
func (r *fold) bind() {
	r.bounds = slices.Clip(r.begin.Bounds)
	own := r.program.definition.Budget
	if r.begin.Parent == "" {
		own = own.Stricter(r.begin.Budget)
	}
	if own.Limits() {
		r.bounds = append(r.bounds, bound{r.id, *own})
	}
}

// limit returns the combined limit of all budgets of the run, for a retry of a child run,
// which starts a family of its own.
func (r *fold) limit() (all *blueprint.Budget) {
	for i := range r.bounds {
		all = all.Stricter(&r.bounds[i].Budget)
	}
	return all
}

// reserveCall requests one more language model call, which is durable when it returns
// nil. estimate is its approximate number of tokens.
func (a *attempt) reserveCall(ctx context.Context, estimate int64) error {
	r := a.run
	if _, err := a.endCall(0); err != nil {
		return err
	}
	a.estimate, a.granted = 0, false
	for {
		var refusal error
		var wait <-chan struct{}
		if len(r.bounds) > 0 {
			err := r.engine.withMember(ctx, r.bounds[0].Run, true, func(k *run) {
				if refusal = a.budgetRefusal(k); refusal == nil && k.usage.hasOpenCall(r.bounds) {
					wait = k.usage.callEnded()
				} else if refusal == nil {
					a.recordCall(k, estimate)
				}
			})
			if err != nil {
				return err
			}
		}
		switch {
		case refusal != nil:
			return refusal
		case wait == nil:
			r.mu.Lock()
			a.modelCalls++
			r.mu.Unlock()
			a.estimate, a.granted = estimate, true
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// recordCall records a call in k, the run that stores the usage. The caller holds k.mu.
func (a *attempt) recordCall(k *run, estimate int64) {
	a.call = k.usage.number + 1
	e := k.engine
	e.mu.Lock()
	e.openCalls[callKey{k.id, a.call}] = struct{}{}
	e.mu.Unlock()
	out := &entry{Kind: entryAsk, At: e.now(), details: &details{Number: a.call, Tokens: estimate, Child: a.run.id, Asker: a.address}}
	for i := range a.run.bounds {
		out.Runs = append(out.Runs, a.run.bounds[i].Run)
	}
	k.record(out)
}

// budgetRefusal returns the reason why no call may be made, nil if one may: a pause only if
// every exhausted budget pauses. The caller holds k.mu.
func (a *attempt) budgetRefusal(k *run) error {
	a.budgetRaises = k.engine.budgetRaises.Load()
	all := k.usage.exhausted(a.run.bounds)
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	for _, b := range all {
		if b.Budget.OnBreach != blueprint.BreachPauses {
			return &blueprint.Failure{Code: "budget_exceeded", Message: k.usage.exceeded(b, a.run.id), Permanent: true, NotSent: true}
		}
	}
	return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitBudget, Prompt: k.usage.exceeded(first, a.run.id) + ". Answer with the tokens or calls to add."}}
}

// spend counts the tokens of the call that was made.
func (a *attempt) spend(tokens int64) {
	a.run.mu.Lock()
	a.tokens += tokens
	a.run.mu.Unlock()
	a.estimate, a.granted = 0, false
	_, _ = a.endCall(tokens) // an error only when the engine is cancelled: the next start counts the call
}

// unknownTokens stands for the tokens of a call without a response.
const unknownTokens = -1

// settleOpenCall settles a call that the node did not count: the tokens of an
// interrupted one are unknown; one that was refused, or not granted, used none.
func (a *attempt) settleOpenCall(err error) {
	tokens, took := int64(0), int64(0)
	if a.granted && (a.run.ctx.Err() != nil || err != nil && failureOf(err).Code == "timeout") {
		tokens, took = unknownTokens, a.estimate
	}
	if a.call != 0 {
		took, _ = a.endCall(tokens) // see spend
	}
	a.run.mu.Lock()
	a.tokens += took
	a.run.mu.Unlock()
}

// endCall settles the call in progress, if any, and returns the tokens it counts;
// waiting members of the family continue. The caller holds no lock.
func (a *attempt) endCall(tokens int64) (counted int64, err error) {
	if a.call == 0 {
		return 0, nil
	}
	e, key := a.run.engine, callKey{a.run.bounds[0].Run, a.call}
	err = e.withMember(e.ctx, key.keeper, false, func(k *run) {
		counted = k.endCall(key.number, tokens)
		k.flushWithin(Soon)
	})
	var over *blueprint.Failure
	if err != nil && !errors.As(err, &over) {
		return 0, err
	}
	if over != nil { // the run that stores the usage has ended
		counted = tokens
		if tokens == unknownTokens {
			counted = a.estimate
		}
	}
	a.call = 0
	e.mu.Lock()
	delete(e.openCalls, key)
	e.mu.Unlock()
	return counted, nil
}

// tokensUsed returns the tokens to record; a node that reserves no calls reports them
// itself. The caller holds r.mu.
func (a *attempt) tokensUsed(reported int64) int64 {
	if a.modelCalls > 0 {
		return a.tokens
	}
	return reported
}

// endCall records the end of a call and returns its tokens. Unknown tokens count as
// estimated, or as the family's largest call if that is more. The caller holds r.mu.
func (r *run) endCall(number, tokens int64) int64 {
	if tokens == unknownTokens {
		tokens = max(r.usage.open[number].estimate, r.usage.largest)
	}
	r.record(&entry{Kind: entrySpent, At: r.engine.now(), details: &details{Number: number, Tokens: tokens}})
	return tokens
}

// endInterruptedCalls ends calls of an earlier process. The caller holds r.mu.
func (r *run) endInterruptedCalls() {
	e := r.engine
	for _, number := range slices.Sorted(maps.Keys(r.usage.open)) {
		e.mu.Lock()
		_, here := e.openCalls[callKey{r.id, number}]
		e.mu.Unlock()
		if !here {
			r.endCall(number, unknownTokens)
		}
	}
}

// withMember calls f with a run of the family, locked; what f records is durable when
// it returns if commit is set. It works for nodes that run while the engine stops, and
// waits for the journal. The caller holds a reference of a run and no lock. A run that
// has ended or never existed is a *blueprint.Failure.
func (e *Engine) withMember(ctx context.Context, id string, commit bool, f func(r *run)) error {
	for delay := firstCommitDelay; ; delay = min(2*delay, lastCommitDelay) {
		r, err := e.find(ctx, id, true)
		switch code := blueprint.CodeOf(err); {
		case err == nil:
			r.shared = true
			f(r)
			if commit && len(r.pending) > 0 {
				r.mu.Unlock()
				err = r.flush()
				r.mu.Lock()
			}
			e.release(r)
			return err
		case code == blueprint.CodeConflict, code == blueprint.CodeNotFound:
			return &blueprint.Failure{Code: "cancelled", Message: orphaned, Permanent: true, NotSent: true}
		case code != blueprint.CodeUnavailable || ctx.Err() != nil:
			return err
		}
		if !clock.Sleep(ctx, delay) {
			return context.Cause(ctx)
		}
	}
}

// raiseBudget applies an answer that raises exhausted budgets and continues every run
// of the family that waited for it. It takes over the caller's lock and reference of r.
func (e *Engine) raiseBudget(ctx context.Context, r *run, n *nodeRun, input any) error {
	more, issues := blueprint.ParseRaise(input)
	if len(issues) > 0 {
		for k := range issues {
			issues[k].Path = append([]any{"input"}, issues[k].Path...)
		}
		e.release(r)
		return blueprint.InvalidInput(issues)
	}
	var err error
	if len(r.bounds) > 0 {
		n.raising = true // another answer has nothing to add
		r.mu.Unlock()
		err = e.addToBudgets(ctx, r.bounds, more)
		r.mu.Lock()
		n.raising = false
	}
	if err == nil || errors.Is(err, errNotDurableYet) {
		r.restartBudgetPauses()
	}
	if err != nil {
		e.release(r)
	} else {
		r.mu.Unlock()
		err = e.commitCommand(r)
	}
	if len(r.bounds) > 0 && (err == nil || errors.Is(err, errNotDurableYet)) {
		e.goHeld(func() { e.resumeFamily(r.bounds[0].Run) })
	}
	return err
}

// addToBudgets raises the exhausted budgets among bounds, else the outermost.
func (e *Engine) addToBudgets(ctx context.Context, bounds []bound, more *blueprint.Budget) error {
	k, err := e.acquire(ctx, bounds[0].Run)
	if err != nil {
		return err
	}
	spent := k.usage.exhausted(bounds)
	if len(spent) == 0 {
		spent = []*bound{&bounds[0]}
	}
	out := &entry{Kind: entryRaise, At: e.now(), details: &details{Raise: more}}
	for _, b := range spent {
		out.Runs = append(out.Runs, b.Run)
	}
	k.record(out)
	e.budgetRaises.Add(1)
	k.mu.Unlock()
	return e.commitCommand(k)
}

// restartBudgetPauses restarts nodes that wait for more budget. The caller holds r.mu.
func (r *run) restartBudgetPauses() {
	at := r.engine.now()
	for _, n := range r.budgetPauses() {
		r.record(&entry{Kind: entryAgain, Node: n.address(), At: at, Attempt: n.attempt})
	}
}

// budgetPauses returns the nodes that wait for more budget.
func (r *fold) budgetPauses() (all []*nodeRun) {
	if r.count[awaiting] > 0 {
		r.each(func(n *nodeRun) {
			if n.phase == awaiting && n.await.Kind == blueprint.AwaitBudget && !n.raising {
				all = append(all, n)
			}
		})
	}
	return all
}

// resumeFamily restarts nodes of a run and its descendants that wait for more budget.
func (e *Engine) resumeFamily(id string) {
	r := e.acquireOrRetry(id, func() { e.resumeFamily(id) })
	if r == nil {
		return
	}
	calls := r.calls()
	e.resumeWithinBudget(r)
	for _, c := range calls {
		e.resumeFamily(c.child)
	}
}

// resumeWithinBudget restarts nodes that wait for more budget if there is any. It takes
// over the caller's lock and reference.
func (e *Engine) resumeWithinBudget(r *run) {
	if len(r.bounds) > 0 && len(r.budgetPauses()) > 0 {
		spent := true
		r.mu.Unlock()
		err := e.withMember(e.ctx, r.bounds[0].Run, false, func(k *run) { spent = len(k.usage.exhausted(r.bounds)) > 0 })
		r.mu.Lock()
		if err == nil && !spent {
			r.restartBudgetPauses()
		}
	}
	e.release(r)
}
