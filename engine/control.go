package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"blueprintd/blueprint"
)

// errCancelled is the cause with which a cancelled run is interrupted.
var errCancelled = errors.New("the run was cancelled")

// Resume answers a run and returns once the answer is durable; the run continues in the
// background. Errors: CodeBadRequest if the answer is invalid (the run stays paused) or the
// node does not exist, CodeForbidden when the user may not answer this kind of question,
// CodeConflict when nothing is asked (any more), CodeUnavailable when the journal does not
// store it within seconds: the run continues once it does.
func (e *Engine) Resume(ctx context.Context, a blueprint.ResumeAnswer) error {
	c := command{Answer: &a}
	return e.elsewhere(ctx, a.ExecutionID, &c, func() error { return e.resume(ctx, a, c.Asked) })
}

// resume answers a question of a run of this process. Unless asked is nil, it has to be that
// question.
func (e *Engine) resume(ctx context.Context, a blueprint.ResumeAnswer, asked *blueprint.QuestionID) error {
	r, err := e.acquire(ctx, a.ExecutionID)
	if err != nil {
		return err
	}
	n, err := r.awaitingNode(a.NodeID)
	if err == nil {
		err = r.mayAnswer(n.await.Kind, a)
	}
	if err == nil && a.Link != nil && a.Link.Question != n.questionID() {
		err = blueprint.Errorf(blueprint.CodeConflict, "node %q is no longer waiting for this answer", n.address())
	}
	if err == nil && asked != nil && *asked != n.questionID() {
		err = blueprint.Errorf(blueprint.CodeConflict, "node %q asks another question by now", n.address())
	}
	if err == nil && n.await.Kind == blueprint.AwaitBudget {
		return e.raiseBudget(ctx, r, n, a.Input)
	}
	if err == nil {
		if err = r.answer(n, a.Input); err == nil && a.Link != nil {
			r.logAnswer(n, a.Link)
		}
		r.ensureTimerFor(n)
	}
	if err == nil {
		r.mu.Unlock()
		return e.commitCommand(r)
	}
	e.release(r)
	return err
}

// awaitingNode returns the node that an answer is for.
func (r *fold) awaitingNode(nodeID string) (first *nodeRun, err error) {
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
		return nil, blueprint.FieldErrorf("nodeId", "the execution has no node %q", nodeID)
	}
	if n.phase != awaiting || n.raising {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "node %q does not wait for input", nodeID)
	}
	return n, nil
}

func (r *fold) mayAnswer(kind blueprint.AwaitKind, a blueprint.ResumeAnswer) error {
	may := kind.MayAnswer(a.UserID, r.begin.UserID, a.CanManage)
	if a.Link != nil {
		may = kind.ByLink() && (may || a.Link.ByNode)
	}
	if !may {
		return blueprint.Errorf(blueprint.CodeForbidden, "only another user may answer this question (%s)", kind)
	}
	return nil
}

// questionID identifies what an awaiting node asks.
func (n *nodeRun) questionID() blueprint.QuestionID {
	return blueprint.QuestionID{At: n.await.RequestedAt, Attempt: n.attempt}
}

// answer applies an answer to a node. The caller holds r.mu.
func (r *run) answer(n *nodeRun, input any) error {
	e := &entry{At: r.engine.now(), Node: n.address()}
	switch n.await.Kind {
	case blueprint.AwaitUnknownOutcome:
		return r.resolveUnknown(n, e, input)
	case blueprint.AwaitOAuth: // the node checks the sign-in itself
		e.Kind, e.Attempt = entryAgain, n.attempt
		r.record(e)
		return nil
	}
	kind := n.node().kind
	if kind == nil || kind.Answer == nil {
		return blueprint.Errorf(blueprint.CodeConflict, "node %q takes no answer", n.address())
	}
	result, err := r.recoverPanics(n, func() (blueprint.Result, error) { return kind.Answer(r.answerTask(n), input) })
	switch {
	case err != nil && isBadAnswer(err):
		return err
	case err != nil:
		e.Kind, e.Error = entryEnd, stepError(failureOf(err))
		r.record(e)
	default:
		r.complete(e, result)
	}
	return nil
}

// isBadAnswer reports whether a node type rejected an answer, as opposed to a node that
// failed with a valid one.
func isBadAnswer(err error) bool {
	var wrong *blueprint.Error
	return errors.As(err, &wrong) && wrong.Code == blueprint.CodeBadRequest
}

// resolveUnknown settles a node whose outcome is unknown. The caller holds r.mu.
func (r *run) resolveUnknown(n *nodeRun, e *entry, input any) error {
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
		return blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"input", "action"}, Message: `must be "retry", "mark-done" or "abort"`}})
	}
	r.record(e)
	return nil
}

// cancelWait is how long Cancel waits for running nodes to return.
const cancelWait = 5 * time.Second

// Cancel ends a run as failed and returns once that is durable. When a node does not return
// within seconds, or ctx ends, Cancel returns earlier, and the run ends with the node. A
// finished run is CodeConflict. On an error nothing has changed, except for CodeUnavailable
// after seconds without a commit: then the run ends once the journal stores it.
func (e *Engine) Cancel(ctx context.Context, id, reason string) error {
	return e.elsewhere(ctx, id, &command{Cancel: &reason}, func() error { return e.cancel(ctx, id, reason) })
}

func (e *Engine) cancel(ctx context.Context, id, reason string) error {
	r, err := e.acquire(ctx, id)
	if err != nil {
		return err
	}
	if r.canceled != nil {
		e.release(r)
		return blueprint.Errorf(blueprint.CodeConflict, "the execution is being cancelled already")
	}
	r.record(&entry{Kind: entryCancel, At: e.now(), details: &details{Reason: reason}})
	r.cancel(errCancelled)
	e.unqueue(r)
	left := make(chan struct{})
	r.evictedCh = left
	r.mu.Unlock()
	if err := e.commitCommand(r); err != nil {
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

// Retry starts a new run of a finished one, on its version, with its input, under the
// authority of principal. Secret variables that another user passed are replaced by
// their defaults. Nodes that are not downstream of fromNodeID or, when that is "", of a
// node that did not complete keep their results. The new run belongs to the same
// trigger and its concurrency group.
//
// Errors: CodeConflict when the run has not ended or the group is full,
// CodeTooManyRequests and CodeUnavailable as with Start, CodeForbidden when the run had
// an ad hoc map and the principal cannot manage the blueprint, CodeBadRequest when
// there is nothing to retry, no such node, or no default for such a variable.
func (e *Engine) Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (*Handle, error) {
	return e.retry(ctx, stored, fromNodeID, nil, principal, canManage)
}

func (e *Engine) retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, edited *edit, principal blueprint.Principal, canManage bool) (*Handle, error) {
	if !stored.Row.Status.Terminal() {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "the execution has not ended")
	}
	// The caller's copy is redacted; the new run needs the original values.
	stored, err := e.Journal.Load(ctx, stored.Row.ID)
	if err != nil {
		return nil, err
	}
	old, err := e.decodeRecord(stored, true)
	if err != nil {
		return nil, err
	}
	if old.Begin.Map != nil && !canManage {
		return nil, blueprint.Errorf(blueprint.CodeForbidden, "the run had other nodes than the stored ones; only a manager of the blueprint may retry it")
	}
	if owner := old.Begin.privateTo(); edited != nil && owner != "" && owner != principal.UserID {
		return nil, blueprint.Errorf(blueprint.CodeForbidden, "only the caller of this run can edit its data; retry it with the same input")
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
	b.From, b.Edited = fromNodeID, false
	b.DataOf = old.Begin.privateTo()
	b.UserID, b.CanManage, b.RetryOf, b.Hidden = principal.UserID, canManage, stored.Row.ID, old.Hidden
	b.Parent, b.Address, b.Root, b.Flow, b.Depth = "", "", "", "", 0 // it has no parent
	b.Bounds = nil
	if principal.UserID != old.Begin.UserID {
		if b.Given, err = p.withoutSecrets(old.Begin.Given); err != nil {
			return nil, err
		}
	}
	starts, err := old.startsFrom(p, fromNodeID)
	if err != nil {
		return nil, err
	}
	var edits map[string]any
	if edited != nil {
		shown, err := e.decodeRecord(stored, false)
		if err != nil {
			return nil, err
		}
		if starts, edits, err = old.edit(&b, edited, shown, e.Limits); err != nil {
			return nil, err
		}
	}
	b.Reuse, b.Edits = old.reusable(p, starts, fromNodeID != "")
	if b.Edits == nil {
		b.Edits = edits
	} else {
		maps.Copy(b.Edits, edits)
	}
	b.Taped = old.reusedExchanges(b.Reuse)
	handle, err := e.launch(endedContext, e.newExecutionID(nil), p, &b, ledger{}, AtOnce)
	if full, ok := errors.AsType[*blueprint.ConcurrencyLimitError](err); ok {
		return nil, blueprint.Errorf(blueprint.CodeConflict, "%s", full.Error())
	}
	return handle, err
}

const cancelParallel = 16

// CancelAll cancels runs, for example when their blueprint is deleted. Runs that have
// ended are skipped, and no blocked one begins in place of another.
func (e *Engine) CancelAll(ctx context.Context, executions []string, reason string) error {
	e.withdrawBlocked(executions)
	failed := make([]error, len(executions))
	var group errgroup.Group
	group.SetLimit(cancelParallel)
	for i, id := range executions {
		group.Go(func() error {
			if err := e.Cancel(ctx, id, reason); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
				failed[i] = fmt.Errorf("cancel %s: %w", id, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed
	return errors.Join(failed...)
}

// commandTimeout is how long, in real time, a command waits for a silent journal.
const commandTimeout = 3 * time.Second

// errNotDurableYet reports that a command is applied but not stored. Its commit is retried.
// The fault tests look for its message in responses.
var errNotDurableYet = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "the database does not respond; the command takes effect once it does, unless the server stops first",
	RetryAfter: commandTimeout, Hint: "check the run before you repeat the command", Applied: true,
}

// commitCommand makes a command durable and drops the reference that acquire took. It
// waits at most commandTimeout, regardless of the caller's context: the result is
// recorded in the audit log.
func (e *Engine) commitCommand(r *run) error {
	done := make(chan error, 1)
	go func() {
		err := r.flush()
		e.changed(r.id)
		r.mu.Lock()
		e.release(r)
		done <- err
	}()
	patience := time.NewTimer(commandTimeout)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		return errNotDurableYet
	}
}
