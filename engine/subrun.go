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

// maxRuns bounds the depth of runs that start each other, the first included.
const maxRuns = 16

// call is a child run that a node waits for.
type call struct {
	parent, address, child string
	blueprintID            string
	authority              blueprint.Authority
	begin                  begin // of the child, without CanManage
}

// mayCall returns the reason why the node may not start a run, nil if it may, and counts
// the run with the first ancestor.
func (a *attempt) mayCall(ctx context.Context) error {
	switch r := a.run; {
	case r.engine.Blueprints == nil:
		return &blueprint.Failure{Code: "blueprint_unavailable", Message: "a local run of a file cannot run other blueprints", Permanent: true}
	case r.begin.Depth+1 >= maxRuns:
		return &blueprint.Failure{Code: "too_deep", Message: fmt.Sprintf("runs are nested more than %d deep", maxRuns), Permanent: true}
	case r.begin.Root == "": // counted by its entryCall
		return nil
	}
	e := a.run.engine
	var full error
	err := e.withMember(ctx, a.run.begin.Root, false, func(first *run) {
		if first.runsStarted >= e.Limits.Family {
			full = first.tooMany()
			return
		}
		first.record(&entry{Kind: entryStarted, At: e.now()})
		first.flushWithin(Soon)
	})
	if _, over := err.(*blueprint.Failure); over { // this run is about to be cancelled
		e.goHeld(func() { e.cancelAfter(ctx, a.run.begin.Root, a.run.id) })
		<-ctx.Done()
		return ctx.Err()
	}
	return cmp.Or(err, full)
}

func (r *run) tooMany() *blueprint.Failure {
	return &blueprint.Failure{Code: "too_many_runs", Message: fmt.Sprintf("the run %s has started %d others, directly and indirectly, which is the maximum", r.id, r.engine.Limits.Family), Permanent: true}
}

// firstTrigger returns the trigger of the first run, "" for none.
func (r *fold) firstTrigger() string {
	if r.begin.Flow == "" && r.begin.Trigger != nil {
		return r.begin.Trigger.ID
	}
	return r.begin.Flow
}

// callOf returns the child run that a node waits for, nil for none.
func (r *fold) callOf(n *nodeRun) *call {
	if n.phase != calling {
		return nil
	}
	authority, address := r.authority(), n.address()
	return &call{parent: r.id, address: address, child: n.child, blueprintID: n.call.BlueprintID, authority: authority, begin: begin{
		UserID: authority.PrincipalID, DataOf: r.begin.DataOf, Lineage: authority.Versions, Given: n.call.Variables, InputData: n.call.InputData,
		Parent: r.id, Address: address, Root: cmp.Or(r.begin.Root, r.id), Depth: r.begin.Depth + 1, Budget: r.limit(), Bounds: r.bounds,
		Hidden: r.secretsFor(n.call.Variables, n.call.InputData), Flow: r.firstTrigger(), Chain: r.eventDepth(), Cause: r.rootEvent(), Record: r.begin.Record,
	}}
}

// maxInherited is the largest number of hidden secrets that a run passes on without searching
// for them. That is cheaper, and also redacts forms of them that the search does not know.
const maxInherited = 8

// secretsFor returns the secrets that another run must redact when it gets values of this one:
// those of secret variables, and the hidden ones. If there are many, as when each item of a loop
// has a link and starts a run, only those that the values contain are included.
func (r *fold) secretsFor(variables map[string]any, data any) []string {
	hidden := r.hidden
	if len(hidden) > maxInherited {
		r.finder.Add(hidden)
		hidden = r.finder.In(variables, data)
		slices.Sort(hidden)
	}
	return slices.Concat(hidden, secret.Strings(r.secrets))
}

// stillWaiting reports whether the node still waits for the child run.
func (e *Engine) stillWaiting(c *call) (bool, error) {
	r, err := e.acquire(e.ctx, c.parent)
	if code := blueprint.CodeOf(err); code == blueprint.CodeConflict || code == blueprint.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer e.release(r)
	return r.waitsFor(c) != nil, nil
}

// waitsFor returns the node that waits for a child run, nil when none does (any more).
func (r *fold) waitsFor(c *call) *nodeRun {
	if n := r.find(c.address); n != nil && n.phase == calling && n.child == c.child {
		return n
	}
	return nil
}

// calls returns all child runs that nodes wait for.
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

// startChild starts a child run. If that fails permanently, the node fails.
func (e *Engine) startChild(c *call) {
	wanted, err := e.stillWaiting(c)
	if err == nil {
		if !wanted {
			return
		}
		err = e.launchChild(c)
	}
	switch code := blueprint.CodeOf(err); {
	case err == nil, errors.Is(err, errShuttingDown):
	case code == blueprint.CodeConflict: // it exists: an earlier process started it
		e.checkChildren([]*call{c})
	case code == blueprint.CodeUnavailable:
		e.Logger.Warn("child run start failed, retrying", "execution", c.child, "parent", c.parent, "error", err)
		e.retryLater(func() { e.checkChildren([]*call{c}) })
	case code == blueprint.CodeNotFound, code == blueprint.CodeForbidden:
		e.settleCall(c, outcome{}, &blueprint.Failure{Code: "blueprint_unavailable", Message: "there is no blueprint " + c.blueprintID + " that this run may start", Permanent: true})
	default:
		e.settleCall(c, outcome{}, failureOf(err))
	}
}

func (e *Engine) launchChild(c *call) error {
	definition, canManage, err := e.Blueprints.Runnable(e.ctx, c.authority.PrincipalID, c.blueprintID)
	if err == nil {
		err = e.authorize(e.ctx, c.authority, blueprint.Resource{Kind: blueprint.ResourceBlueprint, ID: c.blueprintID})
	}
	if err != nil {
		return err
	}
	p, err := e.program(definition, false)
	if err != nil {
		return err
	}
	b := c.begin
	b.CanManage = canManage
	handle, err := e.launch(endedContext, c.child, p, &b, ledger{}, AtOnce)
	if err != nil {
		return err
	}
	return handle.Accepted(e.ctx)
}

// notifyParent wakes the run that waits for this one once it has ended. It holds the
// clock meanwhile. The caller holds r.mu.
func (r *run) notifyParent() {
	if !r.ended || r.begin == nil || r.begin.Parent == "" {
		return
	}
	e, c := r.engine, &call{parent: r.begin.Parent, address: r.begin.Address, child: r.id}
	e.goHeld(func() { e.deliverOutcome(c) })
}

// deliverOutcome passes the outcome of a run to the node that waits for it.
func (e *Engine) deliverOutcome(c *call) {
	read, err := e.Journal.Load(e.ctx, c.child)
	if err == nil {
		var s *runRecord
		if s, err = e.decodeRecord(read, true); err == nil {
			e.settleCall(c, s.outcome(&read.Row), nil)
			return
		}
	}
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable {
		e.retryLater(func() { e.deliverOutcome(c) })
		return
	}
	e.Logger.Error("child run outcome unreadable", "execution", c.child, "parent", c.parent, "error", err)
	e.settleCall(c, outcome{}, &blueprint.Failure{Code: "internal", Message: "the outcome of the run " + c.child + " is unreadable", Permanent: true})
}

// settleCall settles a node whose child run has ended or could not be started. A node
// that does not wait for it (any more) is left alone.
func (e *Engine) settleCall(c *call, o outcome, failure *blueprint.Failure) {
	r := e.acquireOrRetry(c.parent, func() { e.settleCall(c, o, failure) })
	if r == nil {
		return
	}
	if n := r.waitsFor(c); n != nil {
		now := e.Clock.Now()
		r.hideSecrets(o.hidden) // its output may hold them
		out := &entry{Kind: entryEnd, Node: c.address, At: blueprint.TimeOf(now)}
		if x := o.record; x != nil {
			d := out.change()
			out.Output, d.Tokens, d.Models, d.Acted = x.Output, o.tokens, o.models, o.acted
			if x.Status != blueprint.StatusCompleted {
				failure = childFailure(c.child, x.Failure)
				failure.Permanent = o.acted // another run would repeat the effect
			} else {
				out.size, failure = r.childOutput(x.Output)
			}
		}
		if failure != nil {
			out.Output, out.size, out.Error = nil, 0, stepError(failure)
			if mayRepeat(n, n.attempt, failure) {
				out.Kind, out.change().Due = entryRetry, blueprint.TimeOf(now.Add(r.delay(n, n.attempt, failure)))
			}
		}
		r.record(out)
		r.ensureTimerFor(n)
		e.changed(r.id)
	}
	e.release(r)
}

// childOutput returns the size of the output of a child run, or why this run cannot have it.
// The caller holds r.mu.
func (r *run) childOutput(output any) (size int, _ *blueprint.Failure) {
	size, err := jsonSize(output, r.engine.Limits.Value)
	if err != nil {
		return 0, &blueprint.Failure{Code: "bad_output", Message: "the output " + err.Error(), Permanent: true}
	}
	return size, r.addsTooMuch(size)
}

// outcome is the result of a child run; without a record when it could not be started.
type outcome struct {
	record         *blueprint.Execution
	tokens, models int64
	acted          bool // it did what must not be done twice
	hidden         []string
}

func (s *runRecord) outcome(row *blueprint.ExecutionRow) outcome {
	o := outcome{record: s.render(row), acted: s.Acted, hidden: s.Hidden}
	for i := range s.Steps {
		o.tokens += s.Steps[i].Tokens
		o.models += s.Steps[i].Models
		o.acted = o.acted || s.Steps[i].Acted
	}
	return o
}

// childFailure returns the failure of a node whose child run failed. Through several
// levels it reports the innermost cause.
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

// checkChildren checks on child runs that an earlier process may not have started, or
// whose end it may not have delivered.
func (e *Engine) checkChildren(calls []*call) {
	for _, c := range calls {
		e.goHeld(func() {
			stored, err := e.Journal.Load(e.ctx, c.child)
			switch code := blueprint.CodeOf(err); {
			case code == blueprint.CodeNotFound:
				e.startMissingChild(c)
			case code == blueprint.CodeUnavailable:
				e.retryLater(func() { e.checkChildren([]*call{c}) })
			case err == nil && stored.Row.Status.Terminal():
				e.deliverOutcome(c)
			}
		})
	}
}

// startMissingChild starts a child run that an earlier process did not, if still needed.
func (e *Engine) startMissingChild(c *call) {
	r := e.acquireOrRetry(c.parent, func() { e.checkChildren([]*call{c}) })
	if r == nil {
		return
	}
	// The reference keeps the run from being parked, which would cancel an orphan
	// that does not exist yet.
	if r.waitsFor(c) != nil {
		r.mu.Unlock()
		if r.flush() == nil { // the call may be a new one
			e.startChild(c)
		}
		r.mu.Lock()
	}
	e.release(r)
}

// acquireOrRetry is acquire for background work. It returns nil on errors, and calls
// again later when the journal is unavailable.
func (e *Engine) acquireOrRetry(id string, again func()) *run {
	r, err := e.acquire(e.ctx, id)
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errShuttingDown) {
		e.retryLater(again)
	}
	return r
}

// orphaned is the reason for cancelling a child run that no node waits for any more.
const orphaned = "the run that started it no longer waits for it"

func (r *run) cancelOrphans() {
	e := r.engine
	if r.commitErr != nil { // according to the journal they are still waited for
		r.orphans = nil
	}
	for _, child := range r.orphans {
		e.goHeld(func() { e.cancelInBackground(child, orphaned) })
	}
	r.orphans = nil
}

// cancelInBackground cancels a run on the engine's own decision, with retries.
func (e *Engine) cancelInBackground(child, reason string) {
	err := e.Cancel(e.ctx, child, reason)
	switch code := blueprint.CodeOf(err); {
	case err == nil, errors.Is(err, errShuttingDown):
	case code == blueprint.CodeUnavailable:
		e.retryLater(func() { e.cancelInBackground(child, reason) })
	case code == blueprint.CodeConflict: // it is ending
	default:
		if code == blueprint.CodeInternal {
			e.Logger.Error("run cancellation failed", "execution", child, "error", err)
		}
		e.mu.Lock()
		e.leaveGroup(child) // it must not block the others
		e.mu.Unlock()
	}
}

// cancelAfter cancels a run once the end of the first run of its family is stored, unless ctx
// ends earlier. The runs between the two would do so only if none of them is suspended.
func (e *Engine) cancelAfter(ctx context.Context, first, id string) {
	stored, err := e.Journal.Load(e.ctx, first)
	switch code := blueprint.CodeOf(err); {
	case ctx.Err() != nil:
	case code == blueprint.CodeNotFound, err == nil && stored.Row.Status.Terminal():
		e.cancelInBackground(id, orphaned)
	case err == nil, code == blueprint.CodeUnavailable:
		e.retryLater(func() { e.cancelAfter(ctx, first, id) })
	}
}

// cancelIfParentEnded cancels a recovered run whose parent has ended.
func (e *Engine) cancelIfParentEnded(id, parent string) {
	stored, err := e.Journal.Load(e.ctx, parent)
	switch {
	case err == nil && stored.Row.Status.Terminal():
		e.cancelInBackground(id, orphaned)
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.retryLater(func() { e.cancelIfParentEnded(id, parent) })
	}
}
