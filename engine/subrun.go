package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// maxRuns is how deeply runs may start each other; the first counts.
const maxRuns = 16

// call is a run that a node of another waits for.
type call struct {
	parent, address string
	root            string // the run that all began with
	flow            string // the trigger that did
	chain           int    // how many events led there
	cause           string // the key of the first of them
	child           string
	authority       blueprint.Authority
	dataOf          string // as of the run that waits
	depth           int
	budget          *blueprint.Budget // that a retry of it has
	bounds          []bound
	hidden          []string // secrets that it may be given
	record          bool     // the exchanges of the run that waits are kept
	what            *blueprint.SubRun
}

// mayCall reports why the node may not start a run, nil when it may, and counts it
// for a first run above.
func (a *attempt) mayCall(ctx context.Context) error {
	switch r := a.run; {
	case r.engine.Blueprints == nil:
		return &blueprint.Failure{Code: "blueprint_unavailable", Message: "a file runs by itself: there are no other blueprints to run", Permanent: true}
	case r.begin.Depth+1 >= maxRuns:
		return &blueprint.Failure{Code: "too_deep", Message: fmt.Sprintf("runs start each other more than %d deep", maxRuns), Permanent: true}
	case r.begin.Root == "": // counted with its entry
		return nil
	}
	e := a.run.engine
	var full error
	err := e.within(ctx, a.run.begin.Root, func(first *run) {
		if first.led >= e.Limits.Family {
			full = first.tooMany()
			return
		}
		first.record(&entry{Kind: entryLed, At: blueprint.TimeOf(e.Clock.Now())})
		first.soon(Soon)
	}, later)
	if _, over := err.(*blueprint.Failure); over { // this run is about to be cancelled, and starts nothing more
		<-ctx.Done()
		return ctx.Err()
	}
	return cmp.Or(err, full)
}

func (r *run) tooMany() *blueprint.Failure {
	return &blueprint.Failure{Code: "too_many_runs", Message: fmt.Sprintf("the run %s has led to %d others, which is the most", r.id, r.engine.Limits.Family), Permanent: true}
}

// firstRun returns the run that this one, and all above it, began with.
func (r *fold) firstRun() string { return cmp.Or(r.begin.Root, r.id) }

// firstTrigger returns the trigger that all began with, "" when none did.
func (r *fold) firstTrigger() string {
	if r.begin.Flow == "" && r.begin.Trigger != nil {
		return r.begin.Trigger.ID
	}
	return r.begin.Flow
}

// callOf returns the run that a node waits for; nil when it waits for none. The run's mu
// is held.
func (r *fold) callOf(n *nodeRun) *call {
	if n.phase != calling {
		return nil
	}
	return &call{parent: r.id, address: n.address(), root: r.firstRun(), flow: r.firstTrigger(), chain: r.chain(), cause: r.cause(), child: n.child, authority: r.authority(), dataOf: r.begin.DataOf, depth: r.begin.Depth + 1, budget: r.limit(), bounds: r.bounds, hidden: r.allSecrets(), record: r.begin.Record, what: n.call}
}

// allSecrets returns what nobody may see of the run, as text. The run's mu is held.
func (r *fold) allSecrets() []string {
	return slices.Concat(r.hidden, secret.Strings(r.secrets))
}

// wanted reports whether a node still waits for the run that it asked for.
func (e *Engine) wanted(c *call) (bool, error) {
	r, err := e.acquire(e.ctx, c.parent)
	if code := blueprint.CodeOf(err); code == blueprint.CodeConflict || code == blueprint.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n := r.find(c.address)
	wanted := n != nil && n.phase == calling && n.child == c.child
	e.release(r)
	return wanted, nil
}

// calls returns all that nodes of the run wait for. The run's mu is held.
func (r *fold) calls() (all []*call) {
	if r.count[calling] == 0 {
		return nil
	}
	r.each(func(n *nodeRun) {
		if c := r.callOf(n); c != nil {
			all = append(all, c)
		}
	})
	return all
}

// startChild starts a run that a node waits for. When it cannot be, the node
// fails.
func (e *Engine) startChild(c *call) {
	wanted, err := e.wanted(c)
	if err == nil {
		if !wanted {
			return
		}
		err = e.launchChild(c)
	}
	switch code := blueprint.CodeOf(err); {
	case err == nil, errors.Is(err, errShuttingDown):
	case code == blueprint.CodeConflict: // it exists: an earlier process came this far
		e.attend([]*call{c})
	case code == blueprint.CodeUnavailable:
		e.Logger.Warn("a run waits to be started", "execution", c.child, "parent", c.parent, "error", err)
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.attend([]*call{c}) })
	case code == blueprint.CodeNotFound, code == blueprint.CodeForbidden:
		e.returned(c, outcome{}, &blueprint.Failure{Code: "blueprint_unavailable", Message: "there is no blueprint " + c.what.BlueprintID + " that this run may start", Permanent: true})
	default:
		e.returned(c, outcome{}, failureOf(err))
	}
}

func (e *Engine) launchChild(c *call) error {
	definition, canManage, err := e.Blueprints.Runnable(e.ctx, c.authority.PrincipalID, c.what.BlueprintID)
	if err == nil {
		err = e.authorize(e.ctx, c.authority, blueprint.Resource{Kind: blueprint.ResourceBlueprint, ID: c.what.BlueprintID})
	}
	if err != nil {
		return err
	}
	p, err := e.program(definition, false)
	if err != nil {
		return err
	}
	b := &begin{UserID: c.authority.PrincipalID, DataOf: c.dataOf, Lineage: c.authority.Versions, CanManage: canManage, Given: c.what.Variables, InputData: c.what.InputData, Parent: c.parent, Address: c.address, Root: c.root, Depth: c.depth, Budget: c.budget, Bounds: c.bounds, Hidden: c.hidden, Flow: c.flow, Chain: c.chain, Cause: c.cause, Record: c.record}
	handle, err := e.launch(noWait, c.child, p, b, ledger{}, AtOnce)
	if err != nil {
		return err
	}
	return handle.Accepted(e.ctx)
}

// report tells the run that waits for this one that it has ended. The clock
// stands still until that has heard of it. r.mu is held.
func (r *run) report() {
	if !r.ended || r.begin == nil || r.begin.Parent == "" {
		return
	}
	e, c := r.engine, &call{parent: r.begin.Parent, address: r.begin.Address, child: r.id}
	unhold := e.Clock.Hold()
	go func() {
		defer unhold()
		e.ended(c)
	}()
}

// ended hands the outcome of a run to the node that waits for it.
func (e *Engine) ended(c *call) {
	read, err := e.Journal.Load(e.ctx, c.child)
	if err == nil {
		var s *stored
		if s, err = e.decodeRecord(read, true); err == nil {
			e.returned(c, s.outcome(&read.Row), nil)
			return
		}
	}
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable {
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.ended(c) })
		return
	}
	e.Logger.Error("the outcome of a run is unreadable", "execution", c.child, "parent", c.parent, "error", err)
	e.returned(c, outcome{}, &blueprint.Failure{Code: "internal", Message: "the outcome of the run " + c.child + " is unreadable", Permanent: true})
}

// returned settles a node that waits for a run: that has ended, or could not be
// started. A node that does not wait for it (any more) is left alone.
func (e *Engine) returned(c *call, o outcome, failure *blueprint.Failure) {
	r, err := e.acquire(e.ctx, c.parent)
	if err != nil {
		if blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errShuttingDown) {
			e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.returned(c, o, failure) })
		}
		return
	}
	if n := r.find(c.address); n != nil && n.phase == calling && n.child == c.child {
		now := e.Clock.Now()
		r.learn(o.hidden) // what it hands on may hold them
		out := &entry{Kind: entryEnd, Node: c.address, At: blueprint.TimeOf(now)}
		if x := o.record; x != nil {
			out.Output, out.Tokens, out.Models, out.Acted = x.Output, o.tokens, o.models, o.acted
			if x.Status != blueprint.StatusCompleted {
				failure = childFailure(c.child, x.Failure)
				failure.Permanent = o.acted // another run would do it again
			}
		}
		if failure != nil {
			out.Output, out.Error = nil, stepError(failure)
			if mayRepeat(n, n.attempt, failure) {
				out.Kind, out.Due = entryRetry, blueprint.TimeOf(now.Add(r.delay(n, n.attempt, failure)))
			}
		}
		r.record(out)
		r.armNode(n)
		e.changed(r.id)
	}
	e.release(r)
}

// outcome is what came of a run that a node waited for; no record when it could
// not be started.
type outcome struct {
	record         *blueprint.Execution
	tokens, models int64
	acted          bool // it did what must not be done twice
	hidden         []string
}

// outcome returns what the node that waits for the run is told.
func (s *stored) outcome(row *blueprint.ExecutionRow) outcome {
	o := outcome{record: s.render(row), acted: s.Acted, hidden: s.Hidden}
	for i := range s.Steps {
		o.tokens += s.Steps[i].Tokens
		o.models += s.Steps[i].Models
		o.acted = o.acted || s.Steps[i].Acted
	}
	return o
}

// childFailure says why a run failed that a node waited for: of runs that
// started each other the last one's cause.
func childFailure(child string, cause *blueprint.RunError) *blueprint.Failure {
	failure := &blueprint.Failure{Code: "run_failed", Message: "the run " + child + " failed"}
	if cause != nil {
		failure.Hint, failure.Grant = cause.Hint, cause.Grant
	}
	switch {
	case cause == nil:
	case cause.Code == "run_failed":
		failure.Message = cause.Message
	default:
		failure.Message += ": " + cause.Message
	}
	return failure
}

// attend looks after runs that nodes wait for, of which an earlier process may
// not have started one, or not have told of its end.
func (e *Engine) attend(calls []*call) {
	for _, c := range calls {
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			stored, err := e.Journal.Load(e.ctx, c.child)
			switch code := blueprint.CodeOf(err); {
			case code == blueprint.CodeNotFound:
				e.startLate(c)
			case code == blueprint.CodeUnavailable:
				e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.attend([]*call{c}) })
			case err == nil && stored.Row.Status.Terminal():
				e.ended(c)
			}
		}()
	}
}

// startLate starts a run that should have been started before, unless nobody
// waits for it any more.
func (e *Engine) startLate(c *call) {
	r, err := e.acquire(e.ctx, c.parent)
	if err != nil {
		if blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errShuttingDown) {
			e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.attend([]*call{c}) })
		}
		return
	}
	// The unit keeps the run from being parked, and with that from cancelling
	// one that does not exist yet.
	if n := r.find(c.address); n != nil && n.phase == calling && n.child == c.child {
		r.mu.Unlock()
		e.startChild(c)
		r.mu.Lock()
	}
	e.release(r)
}

// orphaned is why a run is cancelled for which nobody waits any more.
const orphaned = "the run that started it does not wait for it any more"

// forsake cancels the runs that nobody waits for any more. r.mu is held.
func (r *run) forsake() {
	e := r.engine
	if r.broken != nil { // the disk has them waited for still
		r.orphans = nil
	}
	for _, child := range r.orphans {
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.abandon(child, orphaned)
		}()
	}
	r.orphans = nil
}

// abandon cancels a run by the engine's own decision, such as one for which
// nobody waits any more.
func (e *Engine) abandon(child, reason string) {
	err := e.Cancel(e.ctx, child, reason)
	switch code := blueprint.CodeOf(err); {
	case err == nil, errors.Is(err, errShuttingDown):
	case code == blueprint.CodeUnavailable:
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.abandon(child, reason) })
	case code == blueprint.CodeConflict: // it ends
	default:
		if code == blueprint.CodeInternal {
			e.Logger.Error("a run could not be cancelled", "execution", child, "error", err)
		}
		e.mu.Lock()
		e.releaseSlot(child) // it must not keep the others back
		e.mu.Unlock()
	}
}

// outlived cancels a run that was taken up, when the one that started it has
// ended.
func (e *Engine) outlived(id, parent string) {
	stored, err := e.Journal.Load(e.ctx, parent)
	switch {
	case err == nil && stored.Row.Status.Terminal():
		e.abandon(id, orphaned)
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.outlived(id, parent) })
	}
}
