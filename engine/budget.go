package engine

import (
	"fmt"

	"blueprintd/blueprint"
)

// budget is what a run may ask of language models, and what it has asked.
type budget struct {
	allowed *blueprint.Budget
	raised  struct{ tokens, calls int64 } // allowed later
	settled struct{ tokens, calls int64 } // of attempts that are over
	open    struct{ tokens, calls int64 } // of those under way
}

// take counts what an attempt that is over used.
func (b *budget) take(tokens, calls int64) {
	b.settled.tokens += tokens
	b.settled.calls += calls
}

// raise allows more.
func (b *budget) raise(by *blueprint.Budget) {
	if by == nil {
		return
	}
	if by.Tokens != nil {
		b.raised.tokens += *by.Tokens
	}
	if by.Calls != nil {
		b.raised.calls += *by.Calls
	}
}

// breach says what is spent; "" while another call is allowed. What a call
// takes is known only behind it, so the last one may go beyond the tokens.
func (b *budget) breach() string {
	if b.allowed == nil {
		return ""
	}
	if most := b.allowed.Tokens; most != nil && b.settled.tokens+b.open.tokens >= *most+b.raised.tokens {
		return fmt.Sprintf("the run's budget of %d tokens is spent (%d were used)", *most+b.raised.tokens, b.settled.tokens+b.open.tokens)
	}
	if most := b.allowed.Calls; most != nil && b.settled.calls+b.open.calls >= *most+b.raised.calls {
		return fmt.Sprintf("the run's budget of calls to language models is spent: %d of %d", b.settled.calls+b.open.calls, *most+b.raised.calls)
	}
	return ""
}

// left gives what a run that this one starts may use.
func (b *budget) left() *blueprint.Budget {
	if b.allowed == nil {
		return nil
	}
	out := &blueprint.Budget{OnBreach: b.allowed.OnBreach}
	if b.allowed.Tokens != nil {
		tokens := max(0, *b.allowed.Tokens+b.raised.tokens-b.settled.tokens-b.open.tokens)
		out.Tokens = &tokens
	}
	if b.allowed.Calls != nil {
		calls := max(0, *b.allowed.Calls+b.raised.calls-b.settled.calls-b.open.calls)
		out.Calls = &calls
	}
	return out
}

// reserve asks for one more call to a language model.
func (a *attempt) reserve() error {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	spent := r.budget.breach()
	switch {
	case spent == "":
		a.models++
		r.budget.open.calls++
		return nil
	case r.budget.allowed.OnBreach == blueprint.BreachPauses:
		return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitBudget, Prompt: spent + ". Answer with the tokens or calls to add."}}
	default:
		return &blueprint.Failure{Code: "budget_exceeded", Message: spent, Permanent: true, NotSent: true}
	}
}

// spend counts the tokens of a call that was made.
func (a *attempt) spend(tokens int64) {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	a.tokens += tokens
	r.budget.open.tokens += tokens
}

// spent closes the account of an attempt that is over: what it used is in its
// entry from now on. A node that reserves no calls tells its tokens itself.
// r.mu is held.
func (a *attempt) spent(told int64) int64 {
	b := &a.run.budget
	b.open.tokens -= a.tokens
	b.open.calls -= a.models
	if a.models > 0 {
		return a.tokens
	}
	return told
}

// allow takes an answer that raises the budget, and lets a node go on. r.mu is
// held.
func (r *run) allow(n *nodeRun, e *entry, input any) error {
	more, issues := blueprint.ParseRaise(input)
	if len(issues) > 0 {
		for k := range issues {
			issues[k].Path = append([]any{"input"}, issues[k].Path...)
		}
		return blueprint.InvalidInput(issues)
	}
	e.Kind, e.Attempt, e.Raise = entryAgain, n.attempt, more
	r.record(e)
	var others []*nodeRun // who asked the same
	r.each(func(other *nodeRun) {
		if other.phase == awaiting && other.await.Kind == blueprint.AwaitBudget {
			others = append(others, other)
		}
	})
	for _, other := range others {
		r.record(&entry{Kind: entryAgain, Node: other.address(), At: e.At, Attempt: other.attempt})
	}
	return nil
}
