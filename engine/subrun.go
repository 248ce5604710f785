package engine

import (
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// maxRuns is how deeply runs may start each other; the first counts.
const maxRuns = 16

// call is a run that a node of another waits for.
type call struct {
	parent, address string
	child           string
	userID          string
	depth           int
	budget          *blueprint.Budget
	what            *blueprint.SubRun
}

// mayCall tells whether the node may start a run.
func (a *attempt) mayCall() error {
	switch r := a.run; {
	case r.engine.Blueprints == nil:
		return &blueprint.Failure{Code: "blueprint_unavailable", Message: "a file runs by itself: there are no other blueprints to run", Permanent: true}
	case r.begin.Depth+1 >= maxRuns:
		return &blueprint.Failure{Code: "too_deep", Message: fmt.Sprintf("runs start each other more than %d deep", maxRuns), Permanent: true}
	}
	return nil
}

// callOf gives the run that a node waits for; nil when it waits for none. r.mu
// is held.
func (r *run) callOf(n *nodeRun) *call {
	if n.phase != calling {
		return nil
	}
	return &call{parent: r.id, address: n.address(), child: n.child, userID: r.begin.UserID, depth: r.begin.Depth + 1, budget: r.budget.left(), what: n.call}
}

// calls gives all that nodes of the run wait for. r.mu is held.
func (r *run) calls() (all []*call) {
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
	err := e.launchChild(c)
	switch code := blueprint.CodeOf(err); {
	case err == nil, errors.Is(err, errShuttingDown):
	case code == blueprint.CodeConflict: // it exists: an earlier process came this far
		e.attend([]*call{c})
	case code == blueprint.CodeUnavailable:
		e.Logger.Warn("a run waits to be started", "execution", c.child, "parent", c.parent, "error", err)
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.startChild(c) })
	case code == blueprint.CodeNotFound, code == blueprint.CodeForbidden:
		e.returned(c, nil, &blueprint.Failure{Code: "blueprint_unavailable", Message: "there is no blueprint " + c.what.BlueprintID + " that this run may start", Permanent: true})
	default:
		e.returned(c, nil, failureOf(err))
	}
}

func (e *Engine) launchChild(c *call) error {
	definition, canManage, err := e.Blueprints.Runnable(e.ctx, c.userID, c.what.BlueprintID)
	if err != nil {
		return err
	}
	p, err := e.program(definition, false)
	if err != nil {
		return err
	}
	b := &begin{UserID: c.userID, CanManage: canManage, Given: c.what.Variables, InputData: c.what.InputData, Parent: c.parent, Address: c.address, Depth: c.depth, Budget: c.budget}
	handle, err := e.launch(c.child, p, b, ledger{}, AtOnce)
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
	stored, err := e.Journal.Load(e.ctx, c.child)
	if err == nil {
		var x *blueprint.Execution
		if x, err = e.viewRecord(stored, e.Limits.Record); err == nil {
			e.returned(c, x, nil)
			return
		}
	}
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable {
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.ended(c) })
		return
	}
	e.Logger.Error("the outcome of a run is unreadable", "execution", c.child, "parent", c.parent, "error", err)
	e.returned(c, nil, &blueprint.Failure{Code: "internal", Message: "the outcome of the run " + c.child + " is unreadable", Permanent: true})
}

// returned settles a node that waits for a run: that has ended, or could not be
// started. A node that does not wait for it (any more) is left alone.
func (e *Engine) returned(c *call, x *blueprint.Execution, failure *blueprint.Failure) {
	r, err := e.acquire(e.ctx, c.parent)
	if err != nil {
		if blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errShuttingDown) {
			e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.returned(c, x, failure) })
		}
		return
	}
	if n := r.find(c.address); n != nil && n.phase == calling && n.child == c.child {
		now := e.Clock.Now()
		out := &entry{Kind: entryEnd, Node: c.address, At: blueprint.TimeOf(now)}
		if x != nil {
			out.Output, out.Tokens = x.Output, x.Telemetry.TotalTokensUsed
			if x.Status != blueprint.StatusCompleted {
				failure = &blueprint.Failure{Code: "run_failed", Message: "the run " + c.child + " failed"}
				if x.Failure != nil {
					failure.Message += ": " + x.Failure.Message
				}
			}
		}
		if failure != nil {
			out.Output, out.Error = nil, stepError(failure)
			if mayRepeat(n, n.attempt, failure) {
				out.Kind, out.Due = entryRetry, blueprint.TimeOf(now.Add(r.delay(n, n.attempt, failure)))
			}
		}
		r.record(out)
		r.armFor(n.due)
		e.changed(r.id)
	}
	e.release(r)
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
				e.startChild(c)
			case code == blueprint.CodeUnavailable:
				e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.attend([]*call{c}) })
			case err == nil && stored.Row.Status.Terminal():
				e.ended(c)
			}
		}()
	}
}

// orphaned is why a run is cancelled for which nobody waits any more.
const orphaned = "the run that started it does not wait for it any more"

// forsake cancels the runs that nobody waits for any more. r.mu is held.
func (r *run) forsake() {
	e := r.engine
	for _, child := range r.orphans {
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			if err := e.Cancel(e.ctx, child, orphaned); err != nil && blueprint.CodeOf(err) == blueprint.CodeInternal {
				e.Logger.Error("a run could not be cancelled", "execution", child, "error", err)
			}
		}()
	}
	r.orphans = nil
}

// outlived cancels a run that was taken up, when the one that started it has
// ended.
func (e *Engine) outlived(id, parent string) {
	stored, err := e.Journal.Load(e.ctx, parent)
	if err == nil && stored.Row.Status.Terminal() {
		_ = e.Cancel(e.ctx, id, orphaned)
	}
}

// naps keeps a run with many steps in memory while it waits for others, which
// would otherwise be read back once for each. It lets go of the clock and of
// its turn. r.mu is held.
func (r *run) naps() bool {
	e := r.engine
	if r.count[calling] == 0 || r.count[looping] == 0 || r.broken != nil || r.ended || e.stopping.Load() {
		return false
	}
	if !r.napping {
		r.napping = true
		r.arm()
		e.mu.Lock()
		e.passTurn(r)
		e.mu.Unlock()
		r.unhold()
	}
	e.changed(r.id)
	return true
}

// wakeUp ends a nap. r.mu is held.
func (r *run) wakeUp() {
	if r.napping {
		r.napping = false
		r.unhold = r.engine.Clock.Hold()
	}
}

// rouse puts a run that naps down, when the engine stops.
func (e *Engine) rouse(r *run) {
	r.mu.Lock()
	if !r.napping || r.gone {
		r.mu.Unlock()
		return
	}
	r.units++
	r.wakeUp()
	r.mu.Unlock()
	e.leave(r)
}
