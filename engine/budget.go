package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// bound is the budget of a run, which holds for all that the run starts as well.
type bound struct {
	Run    string           `json:"run"`
	Budget blueprint.Budget `json:"budget"`
}

// spending is what a family of runs has used of its budgets. The outermost run
// that has one keeps it for all runs below, in entries of its own journal, so
// that a call counts once however many budgets hold for it, and a restart
// forgets none.
type spending struct {
	used    map[string]*used // by the run that has the budget
	open    map[int64]openCall
	number  int64         // of the last call
	largest int64         // tokens of the largest call
	free    chan struct{} // closed when a call ends; nil while no call waits
}

// used is what counts against one budget, and what was allowed besides.
type used struct {
	tokens, calls         int64
	moreTokens, moreCalls int64
}

// openCall is a call under way: whose budgets it counts against, and about how
// many tokens it takes.
type openCall struct {
	runs     []string
	estimate int64
}

func (s *spending) of(run string) *used {
	u := s.used[run]
	if u == nil {
		u = &used{}
		if s.used == nil {
			s.used = map[string]*used{}
		}
		s.used[run] = u
	}
	return u
}

// ask counts a call that is about to be made.
func (s *spending) ask(number int64, runs []string, estimate int64) {
	s.number = max(s.number, number)
	if s.open == nil {
		s.open = map[int64]openCall{}
	}
	s.open[number] = openCall{runs, estimate}
	for _, run := range runs {
		s.of(run).calls++
	}
}

// end counts the tokens of a call that is over.
func (s *spending) end(number, tokens int64) {
	for _, run := range s.open[number].runs {
		s.of(run).tokens += tokens
	}
	delete(s.open, number)
	s.largest = max(s.largest, tokens)
	if s.free != nil {
		close(s.free)
		s.free = nil
	}
}

// raise allows more.
func (s *spending) raise(runs []string, by *blueprint.Budget) {
	for _, run := range runs {
		u := s.of(run)
		if by.Tokens != nil {
			u.moreTokens += *by.Tokens
		}
		if by.Calls != nil {
			u.moreCalls += *by.Calls
		}
	}
}

// breach says which limit of a budget is spent; "" while another call is allowed.
func (s *spending) breach(b *bound, asking string) string {
	u, of := s.of(b.Run), "the run"
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

// spent returns the bounds that allow no other call.
func (s *spending) spent(bounds []bound) (all []*bound) {
	for i := range bounds {
		if s.breach(&bounds[i], "") != "" {
			all = append(all, &bounds[i])
		}
	}
	return all
}

// crowded reports whether a call is under way that counts against the same
// tokens. What a call takes is known only after it, so such calls are made one
// at a time: no more than the last one can exceed the budget.
func (s *spending) crowded(bounds []bound) bool {
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

// freed returns a channel that closes when a call ends.
func (s *spending) freed() <-chan struct{} {
	if s.free == nil {
		s.free = make(chan struct{})
	}
	return s.free
}

// asked identifies a call that an attempt in this process makes: by the run that
// keeps the family's spending and the number there.
type asked struct {
	keeper string
	number int64
}

// bind sets the budgets that hold for the run: those of the runs above it, and its
// own.
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

// limit returns what all budgets that hold for the run allow together, for a
// retry of a run below: that begins a family of its own.
func (r *fold) limit() (all *blueprint.Budget) {
	for i := range r.bounds {
		all = all.Stricter(&r.bounds[i].Budget)
	}
	return all
}

// reserve asks for one more call to a language model, which is on the disk as
// made when it returns nil. estimate is about how many tokens the call takes.
func (a *attempt) reserve(ctx context.Context, estimate int64) error {
	r := a.run
	if _, err := a.endCall(0); err != nil {
		return err
	}
	a.estimate, a.granted = 0, false
	for {
		var refusal error
		var wait <-chan struct{}
		if len(r.bounds) > 0 {
			err := r.engine.within(ctx, r.bounds[0].Run, func(k *run) {
				if refusal = a.refused(k); refusal == nil && k.spending.crowded(r.bounds) {
					wait = k.spending.freed()
				} else if refusal == nil {
					a.ask(k, estimate)
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
			a.models++
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

// ask records the call with the run that keeps the spending. k.mu is held.
func (a *attempt) ask(k *run, estimate int64) {
	a.call = k.spending.number + 1
	e := k.engine
	e.mu.Lock()
	e.asking[asked{k.id, a.call}] = struct{}{}
	e.mu.Unlock()
	out := &entry{Kind: entryAsk, At: blueprint.TimeOf(e.Clock.Now()), Number: a.call, Tokens: estimate, Child: a.run.id, Asker: a.address}
	for i := range a.run.bounds {
		out.Runs = append(out.Runs, a.run.bounds[i].Run)
	}
	k.record(out)
}

// refused returns why no call may be made, nil when one may: a pause only when
// every budget that is spent pauses. k.mu is held.
func (a *attempt) refused(k *run) error {
	a.raises = k.engine.raises.Load()
	all := k.spending.spent(a.run.bounds)
	if len(all) == 0 {
		return nil
	}
	told := all[0]
	for _, b := range all {
		if b.Budget.OnBreach != blueprint.BreachPauses {
			return &blueprint.Failure{Code: "budget_exceeded", Message: k.spending.breach(b, a.run.id), Permanent: true, NotSent: true}
		}
	}
	return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitBudget, Prompt: k.spending.breach(told, a.run.id) + ". Answer with the tokens or calls to add."}}
}

// spend counts the tokens of the call that was made.
func (a *attempt) spend(tokens int64) {
	a.run.mu.Lock()
	a.tokens += tokens
	a.run.mu.Unlock()
	a.estimate, a.granted = 0, false
	_, _ = a.endCall(tokens) // only when the engine is cut off: the next start counts the call
}

// unknown stands for the tokens of a call that was sent and has no answer.
const unknown = -1

// unanswered settles a call that the node made and did not count: what one took
// that was cut off is unknown, one that was refused took nothing, and neither did one
// that the node gave up before it was granted.
func (a *attempt) unanswered(err error) {
	tokens, took := int64(0), int64(0)
	if a.granted && (a.run.ctx.Err() != nil || err != nil && failureOf(err).Code == "timeout") {
		tokens, took = unknown, a.estimate
	}
	if a.call != 0 {
		took, _ = a.endCall(tokens) // an error only when the engine is cut off: the next start counts the call
	}
	a.run.mu.Lock()
	a.tokens += took
	a.run.mu.Unlock()
}

// endCall settles the call that is under way, if there is one, and returns the
// tokens that it counts. Members of the family that wait for them go on. No lock is
// held.
func (a *attempt) endCall(tokens int64) (counted int64, err error) {
	if a.call == 0 {
		return 0, nil
	}
	e, key := a.run.engine, asked{a.run.bounds[0].Run, a.call}
	err = e.within(e.ctx, key.keeper, func(k *run) {
		counted = k.endCall(key.number, tokens)
		k.soon(Soon)
	}, later)
	var over *blueprint.Failure
	if err != nil && !errors.As(err, &over) {
		return 0, err
	}
	if over != nil { // the run that keeps the spending has ended
		counted = tokens
		if tokens == unknown {
			counted = a.estimate
		}
	}
	a.call = 0
	e.mu.Lock()
	delete(e.asking, key)
	e.mu.Unlock()
	return counted, nil
}

// usage is what the node is recorded to have used: a node that reserves no calls
// tells its tokens itself. r.mu is held.
func (a *attempt) usage(told int64) int64 {
	if a.models > 0 {
		return a.tokens
	}
	return told
}

// endCall records the end of a call and returns its tokens. Unknown tokens count as estimated, or as the
// largest call of the family when that took more. r.mu is held.
func (r *run) endCall(number, tokens int64) int64 {
	if tokens == unknown {
		tokens = max(r.spending.open[number].estimate, r.spending.largest)
	}
	r.record(&entry{Kind: entrySpent, At: blueprint.TimeOf(r.engine.Clock.Now()), Number: number, Tokens: tokens})
	return tokens
}

// cutOff ends the calls that an earlier process had under way. r.mu is held.
func (r *run) cutOff() {
	e := r.engine
	for _, number := range slices.Sorted(maps.Keys(r.spending.open)) {
		e.mu.Lock()
		_, here := e.asking[asked{r.id, number}]
		e.mu.Unlock()
		if !here {
			r.endCall(number, unknown)
		}
	}
}

// durability says when what a run is told of another has to be on the disk.
type durability bool

const later durability = true // soon enough by itself

// within calls f with another run of the family, or the run itself, locked; what
// f records is on the disk when it returns, unless that may come later. It works
// for nodes at work while the engine stops, and waits for the disk. The caller
// holds a unit of a run and no lock. A run that is over, or was never, is a
// *blueprint.Failure.
func (e *Engine) within(ctx context.Context, id string, f func(r *run), when ...durability) error {
	for delay := firstCommitDelay; ; delay = min(2*delay, lastCommitDelay) {
		r, err := e.member(ctx, id)
		switch code := blueprint.CodeOf(err); {
		case err == nil:
			r.shared = true
			f(r)
			if len(when) == 0 && len(r.pending) > 0 {
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
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// allow takes an answer that raises the budgets that are spent, and lets every
// run of the family go on that waited for that. It takes over the caller's lock
// and unit of r.
func (e *Engine) allow(ctx context.Context, r *run, n *nodeRun, input any) error {
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
		err = e.raise(ctx, r.bounds, more)
		r.mu.Lock()
		n.raising = false
	}
	if err == nil || errors.Is(err, errOrderWaits) {
		r.askAgain()
	}
	if err != nil {
		e.release(r)
	} else {
		r.mu.Unlock()
		err = e.carryOut(r)
	}
	if len(r.bounds) > 0 && (err == nil || errors.Is(err, errOrderWaits)) {
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.goOn(r.bounds[0].Run)
		}()
	}
	return err
}

// raise adds to the budgets among bounds that are spent; to the outermost when
// none is (any more).
func (e *Engine) raise(ctx context.Context, bounds []bound, more *blueprint.Budget) error {
	k, err := e.acquire(ctx, bounds[0].Run)
	if err != nil {
		return err
	}
	spent := k.spending.spent(bounds)
	if len(spent) == 0 {
		spent = []*bound{&bounds[0]}
	}
	out := &entry{Kind: entryRaise, At: blueprint.TimeOf(e.Clock.Now()), Raise: more}
	for _, b := range spent {
		out.Runs = append(out.Runs, b.Run)
	}
	k.record(out)
	e.raises.Add(1)
	k.mu.Unlock()
	return e.carryOut(k)
}

// askAgain lets the nodes ask again that wait for more of a budget. r.mu is held.
func (r *run) askAgain() {
	at := blueprint.TimeOf(r.engine.Clock.Now())
	for _, n := range r.wanting() {
		r.record(&entry{Kind: entryAgain, Node: n.address(), At: at, Attempt: n.attempt})
	}
}

// wanting returns the nodes that wait for more of a budget. The run's mu is held.
func (r *fold) wanting() (all []*nodeRun) {
	if r.count[awaiting] > 0 {
		r.each(func(n *nodeRun) {
			if n.phase == awaiting && n.await.Kind == blueprint.AwaitBudget && !n.raising {
				all = append(all, n)
			}
		})
	}
	return all
}

// goOn lets a run, and those below it, ask again for calls that their budgets
// allow by now.
func (e *Engine) goOn(id string) {
	r, err := e.acquire(e.ctx, id)
	if err != nil {
		if blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errShuttingDown) {
			e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.goOn(id) })
		}
		return
	}
	calls := r.calls()
	e.reconsider(r)
	for _, c := range calls {
		e.goOn(c.child)
	}
}

// reconsider lets the nodes of a run ask again that wait for more of a budget,
// when there is more. It takes over the caller's lock and unit.
func (e *Engine) reconsider(r *run) {
	if len(r.bounds) > 0 && len(r.wanting()) > 0 {
		spent := true
		r.mu.Unlock()
		err := e.within(e.ctx, r.bounds[0].Run, func(k *run) { spent = len(k.spending.spent(r.bounds)) > 0 }, later)
		r.mu.Lock()
		if err == nil && !spent {
			r.askAgain()
		}
	}
	e.release(r)
}
