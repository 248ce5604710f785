package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// errCancelled is the cause with which a cancelled run's work is cut off.
var errCancelled = errors.New("the run was cancelled")

// Answer is somebody's answer to a paused run.
type Answer struct {
	ExecutionID string
	NodeID      string // "" = the first in map order that waits for input
	Input       any
	UserID      string
	CanManage   bool // of the run's blueprint
}

// Resume gives an answer to a run and returns once it is durable; the run goes
// on by itself. Errors: CodeBadRequest when the answer does not fit (the run
// stays paused) or the node does not exist, CodeForbidden when the caller may
// not answer this kind of question, CodeConflict when nothing is asked (any
// more), CodeUnavailable when the disk does not take it for some seconds: the run
// goes on once it does.
func (e *Engine) Resume(ctx context.Context, a Answer) error {
	r, err := e.acquire(ctx, a.ExecutionID)
	if err != nil {
		return err
	}
	n, err := r.asked(a.NodeID)
	if err == nil {
		err = r.mayAnswer(n.await.Kind, a)
	}
	if err == nil && n.await.Kind == blueprint.AwaitBudget {
		return e.allow(ctx, r, n, a.Input)
	}
	if err == nil {
		err = r.answer(n, a.Input)
		r.armNode(n)
	}
	if err == nil {
		r.mu.Unlock()
		return e.carryOut(r)
	}
	e.release(r)
	return err
}

// asked finds the node that an answer is for. The run's mu is held.
func (r *fold) asked(nodeID string) (first *nodeRun, err error) {
	if nodeID == "" {
		r.each(func(n *nodeRun) {
			if n.phase == awaiting && !n.raising && first == nil {
				first = n
			}
		})
		if first == nil {
			return nil, blueprint.Errorf(blueprint.CodeConflict, "the execution does not wait for input")
		}
		return first, nil
	}
	n := r.find(nodeID)
	if n == nil {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "nodeId: the execution has no node %q", nodeID)
	}
	if n.phase != awaiting || n.raising {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "node %q does not wait for input", nodeID)
	}
	return n, nil
}

func (r *fold) mayAnswer(kind blueprint.AwaitKind, a Answer) error {
	may := a.CanManage
	switch kind {
	case blueprint.AwaitHuman:
		may = may || a.UserID == r.begin.UserID
	case blueprint.AwaitOAuth:
		may = a.UserID == r.begin.UserID
	}
	if !may {
		return blueprint.Errorf(blueprint.CodeForbidden, "this question (%s) is for another user to answer", kind)
	}
	return nil
}

// answer applies an answer to a node. r.mu is held.
func (r *run) answer(n *nodeRun, input any) error {
	e := &entry{At: blueprint.TimeOf(r.engine.Clock.Now()), Node: n.address()}
	switch n.await.Kind {
	case blueprint.AwaitUnknownOutcome:
		return r.decide(n, e, input)
	case blueprint.AwaitOAuth: // the node looks itself whether somebody has signed in
		e.Kind, e.Attempt = entryAgain, n.attempt
		r.record(e)
		return nil
	}
	kind := n.node().kind
	if kind == nil || kind.Answer == nil {
		return blueprint.Errorf(blueprint.CodeConflict, "node %q takes no answer", n.address())
	}
	result, err := r.guarded(n, func() (blueprint.Result, error) { return kind.Answer(r.answerTask(n), input) })
	switch {
	case err != nil && refusesAnswer(err):
		return err
	case err != nil:
		e.Kind, e.Error = entryEnd, stepError(failureOf(err))
		r.record(e)
	default:
		r.complete(e, result)
	}
	return nil
}

// refusesAnswer reports whether a node type found an answer wrong, as opposed to
// a node that failed by a good one.
func refusesAnswer(err error) bool {
	var wrong *blueprint.Error
	return errors.As(err, &wrong) && wrong.Code == blueprint.CodeBadRequest
}

// decide settles a node of which nobody knows whether it took effect. r.mu is held.
func (r *run) decide(n *nodeRun, e *entry, input any) error {
	decision, _ := input.(map[string]any)
	switch decision["action"] {
	case "retry":
		e.Kind, e.Attempt = entryAgain, n.attempt+1
	case "mark-done":
		e.Kind, e.Output = entryEnd, decision["output"]
	case "abort":
		e.Kind, e.Stop = entryEnd, true
		e.Error = &blueprint.StepError{Message: "aborted: whether the node took effect is unknown", Code: "aborted"}
	default:
		return &blueprint.Error{
			Code: blueprint.CodeBadRequest, Message: `input.action: must be "retry", "mark-done" or "abort"`,
			Issues: []blueprint.Issue{{Path: []any{"input", "action"}, Message: `must be "retry", "mark-done" or "abort"`}},
		}
	}
	r.record(e)
	return nil
}

// cancelWait is how long Cancel waits for nodes under way to notice.
const cancelWait = 5 * time.Second

// Cancel ends a run as failed and returns once that is durable; when a node
// does not let go within seconds, or ctx ends, it returns earlier, and the run
// ends when the node does. A finished run is CodeConflict. With an error nothing
// has changed, but for CodeUnavailable after seconds in which the disk took
// nothing: then it ends once the disk does.
func (e *Engine) Cancel(ctx context.Context, id, reason string) error {
	r, err := e.acquire(ctx, id)
	if err != nil {
		return err
	}
	if r.canceled != nil {
		e.release(r)
		return blueprint.Errorf(blueprint.CodeConflict, "the execution is being cancelled already")
	}
	r.record(&entry{Kind: entryCancel, At: blueprint.TimeOf(e.Clock.Now()), Reason: reason})
	r.cancel(errCancelled)
	e.unqueue(r)
	left := make(chan struct{})
	r.left = left
	r.mu.Unlock()
	if err := e.carryOut(r); err != nil {
		return err
	}
	patience := time.NewTimer(cancelWait)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// Retry starts a new run of a finished one, on its version and with what its
// caller passed, under the authority of principal. Secret variables that another
// user passed are not used: their defaults are. Nodes that are not
// downstream of fromNodeID, or, when that is "", of a node that did not
// complete, keep their results. The new run is one of the same trigger, whose
// limit counts. Errors: CodeConflict when the run has not ended or that limit
// leaves no room, CodeTooManyRequests and CodeUnavailable as with Start,
// CodeForbidden for a run of other nodes than the stored ones by who cannot
// manage the blueprint, CodeBadRequest when there is nothing to retry, no such
// node, or no default for such a variable.
func (e *Engine) Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (*Handle, error) {
	if !stored.Row.Status.Terminal() {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "the execution has not ended")
	}
	// What readers are given has its secrets masked; the new run needs the true values.
	stored, err := e.Journal.Load(ctx, stored.Row.ID)
	if err != nil {
		return nil, err
	}
	old, err := e.decodeRecord(stored, true)
	if err != nil {
		return nil, err
	}
	if old.Begin.Map != nil && !canManage {
		return nil, blueprint.Errorf(blueprint.CodeForbidden, "the run had other nodes than the stored ones; only who can manage the blueprint may run it again")
	}
	definition, err := e.Journal.DefinitionVersion(ctx, stored.Row.BlueprintID, stored.Row.BlueprintVersion)
	if err != nil {
		return nil, err
	}
	p, err := e.programOf(definition, &old.Begin)
	if err != nil {
		return nil, err
	}
	b := old.Begin
	b.DataOf = old.Begin.privateTo()
	b.UserID, b.CanManage, b.RetryOf, b.Hidden = principal.UserID, canManage, stored.Row.ID, old.Hidden
	b.Parent, b.Address, b.Root, b.Flow, b.Depth = "", "", "", "", 0 // nobody waits for it
	b.Bounds = nil
	if principal.UserID != old.Begin.UserID {
		if b.Given, err = p.withoutSecrets(old.Begin.Given); err != nil {
			return nil, err
		}
	}
	if b.Reuse, err = old.reusable(p, fromNodeID); err != nil {
		return nil, err
	}
	b.Taped = old.reusedExchanges(b.Reuse)
	handle, err := e.launch(noWait, e.newID(nil), p, &b, ledger{}, AtOnce)
	var full *blueprint.ConcurrencyLimitError
	if errors.As(err, &full) {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "%s", full.Error())
	}
	return handle, err
}

// cancelParallel is how many runs CancelAll waits for at once.
const cancelParallel = 16

// CancelAll cancels the given runs, as when their blueprint is deleted. Runs
// that have ended meanwhile are left alone, and no blocked one begins in place of
// another.
func (e *Engine) CancelAll(ctx context.Context, executions []string, reason string) error {
	e.withdrawBlocked(executions)
	failed := make([]error, len(executions))
	var group sync.WaitGroup
	free := make(chan struct{}, cancelParallel)
	for i, id := range executions {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if err := e.Cancel(ctx, id, reason); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
				failed[i] = fmt.Errorf("cancel %s: %w", id, err)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// orderPatience is how long, in real time, who orders something of a run waits for
// a disk that takes nothing.
const orderPatience = 3 * time.Second

// errOrderWaits tells whoever ordered something of a run that the disk does not take
// it. The run has it already, and its commit is tried until the disk does.
var errOrderWaits = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "the disk does not take it now; it takes effect once the disk does, unless the server ends before",
	RetryAfter: orderPatience, Hint: "look at the run before you order it again",
}

// carryOut makes an order to a run durable, and gives back the unit of the run that
// acquire took. It waits no longer than orderPatience, but also for who has hung up:
// what was done is told of in the audit log.
func (e *Engine) carryOut(r *run) error {
	done := make(chan error, 1)
	go func() {
		err := r.flush()
		e.changed(r.id)
		r.mu.Lock()
		e.release(r)
		done <- err
	}()
	patience := time.NewTimer(orderPatience)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		return errOrderWaits
	}
}
