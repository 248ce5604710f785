package engine

import (
	"context"
	"errors"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// acquire returns the run of that id, locked and with a unit for the caller,
// which release takes back. One that is not in memory is read back. A run that
// has ended is CodeConflict, one that does not exist CodeNotFound; while the
// engine stops it is CodeUnavailable. Waiting for a run that is being read back ends
// with ctx.
func (e *Engine) acquire(ctx context.Context, id string) (*run, error) {
	return e.find(ctx, id, false)
}

// member is acquire for a node at work in a run of the same family, which may go on
// while the engine stops. The caller holds a unit of that run.
func (e *Engine) member(ctx context.Context, id string) (*run, error) {
	return e.find(ctx, id, true)
}

func (e *Engine) find(ctx context.Context, id string, whileStopping bool) (*run, error) {
	for {
		e.mu.Lock()
		if e.stopping.Load() && !whileStopping {
			e.mu.Unlock()
			return nil, errShuttingDown
		}
		r := e.runs[id]
		if r == nil {
			r = e.unpark(id)
			e.mu.Unlock()
			err := e.load(ctx, r)
			close(r.loading)
			if err != nil {
				if code := blueprint.CodeOf(err); code == blueprint.CodeConflict || code == blueprint.CodeNotFound {
					r.refuse(err)
				}
				r.evict()
				r.mu.Unlock()
				return nil, err
			}
			return r, nil
		}
		e.mu.Unlock()
		if err := r.loaded(ctx); err != nil {
			return nil, err
		}
		r.mu.Lock()
		switch {
		case r.gone: // a moment too late: look again
			r.mu.Unlock()
			continue
		case r.ended:
			r.mu.Unlock()
			return nil, errEnded
		}
		r.units++
		r.wakeUp()
		return r, nil
	}
}

// loaded waits until the run has been read back, or ctx ends.
func (r *run) loaded(ctx context.Context) error {
	if r.loading == nil { // it began in this process
		return nil
	}
	select {
	case <-r.loading:
		return nil
	case <-ctx.Done():
	}
	if r.engine.ctx.Err() != nil {
		return errShuttingDown
	}
	return context.Cause(ctx)
}

var errEnded = blueprint.Errorf(blueprint.CodeConflict, "the execution has ended")

// unpark puts an empty run in the place of a parked one. It is locked and has a
// unit for the caller. e.mu is held.
func (e *Engine) unpark(id string) *run {
	r := e.newRun(id)
	r.mu.Lock() // nobody else knows it yet
	r.units, r.unhold, r.loading = 1, e.Clock.Hold(), make(chan struct{})
	e.runs[id] = r
	if p := e.parked[id]; p != nil {
		e.takeOut(id, p)
		r.timer, r.timerAt, r.handle, r.paused = p.timer, p.timerAt, p.handle.Value(), p.paused
	}
	return r
}

// load reads a run back and decides about what its last process left undone.
// r.mu is held.
func (e *Engine) load(ctx context.Context, r *run) error {
	stored, err := e.Journal.Load(ctx, r.id)
	if err != nil {
		return err
	}
	if stored.Row.Status.Terminal() {
		r.ended = true
		return errEnded
	}
	r.row, r.durable, r.paused, r.begun = stored.Row, true, stored.Row.Status == blueprint.StatusPaused, len(stored.Entries) > 1
	if err := e.replay(ctx, &r.fold, stored); err != nil {
		return err
	}
	r.memory = footprint(r.begin.InputData) + r.taped
	r.takeUp()
	r.cutOff()
	return nil
}

// recoverAll takes up every run that is not finished on the disk.
func (e *Engine) recoverAll(ctx context.Context) error {
	rows, err := e.Journal.Unfinished(ctx)
	if err != nil || mutant.Is(mutant.NoRecovery) {
		return err
	}
	e.counts.found(rows)
	e.holdNewRuns()
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil // what is left is taken up at the next start
		}
		e.recoverOne(ctx, row)
	}
	e.admitNewRuns(ctx)
	if len(rows) > 0 {
		e.Logger.Info("took up unfinished runs", "count", len(rows))
	}
	return nil
}

// recoverOne takes up a run that an earlier process left. One that the disk
// does not give back now is asked for again later.
func (e *Engine) recoverOne(ctx context.Context, row blueprint.ExecutionRow) {
	r, err := e.acquire(ctx, row.ID)
	switch {
	case err == nil:
	case errors.Is(err, errEnded), errors.Is(err, errShuttingDown):
		return
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("a run waits for the disk", "execution", row.ID, "error", err)
		e.reserve(&row)
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.recoverOne(e.ctx, row) })
		return
	default:
		// One unreadable run must not keep all the others, and the server, down.
		e.Logger.Error("a run could not be taken up", "execution", row.ID, "error", err, "hint", "it stays as it is; cancel it once the cause is mended")
		e.mu.Lock()
		e.releaseSlot(row.ID)
		e.mu.Unlock()
		return
	}
	if row.BlueprintDeleted && r.canceled == nil {
		// The process ended after the deletion and before it had cancelled this.
		r.record(&entry{Kind: entryCancel, At: blueprint.TimeOf(e.Clock.Now()), Reason: "the blueprint was deleted"})
	}
	calls, parent := r.calls(), r.begin.Parent
	e.restoreSlot(r)
	e.reconsider(r)
	e.attend(calls)
	if parent != "" {
		e.outlived(row.ID, parent)
	}
}

// takeUp decides about the nodes that were at work when the last process
// ended: those that may run again do, under the same attempt and idempotency
// key; for the others somebody has to say what happened. r.mu is held.
func (r *run) takeUp() {
	now := r.engine.Clock.Now()
	at := blueprint.TimeOf(now)
	var begun []*nodeRun
	r.each(func(n *nodeRun) {
		if n.phase == working {
			begun = append(begun, n)
		}
	})
	for _, n := range begun {
		if n.phase != working {
			continue
		}
		node, address := n.node(), n.address()
		note := &blueprint.LogEntry{Timestamp: at, Level: "warn", NodeID: &address}
		switch {
		case r.canceled != nil:
			r.record(&entry{Kind: entryEnd, Node: address, At: at, Error: cancelledStep()})
			continue
		case node.effect == blueprint.EffectOnce:
			note.Message = "the server stopped while this node was at work; whether it took effect is unknown"
			a := &await{}
			a.NodeID, a.Kind, a.RequestedAt = address, blueprint.AwaitUnknownOutcome, at
			a.Prompt = "The server stopped while this node was at work. Did it take effect? Retry it, mark it as done, or abort the run."
			a.Options = []string{"retry", "mark-done", "abort"}
			r.record(&entry{Kind: entryAwait, Node: address, At: at, Await: a})
		default:
			note.Message = "the server stopped while this node was at work; it runs again"
			r.record(&entry{Kind: entryAgain, Node: address, At: at, Attempt: n.attempt})
		}
		r.record(&entry{Kind: entryLog, At: at, Log: note})
	}
}

// wakeAgain is how long a run sleeps on when the disk does not give it back.
const wakeAgain = 10 * time.Second

// wake takes up a run whose timer went off.
func (e *Engine) wake(id string) {
	r, err := e.acquire(e.ctx, id)
	switch {
	case err == nil:
	case errors.Is(err, errEnded), errors.Is(err, errShuttingDown):
		return
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("a run waits for the disk", "execution", id, "error", err)
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.wake(id) })
		return
	default:
		e.Logger.Error("a run could not be woken", "execution", id, "error", err, "hint", "it is taken up at the next start")
		return
	}
	at := blueprint.TimeOf(e.Clock.Now())
	var due []*nodeRun
	r.each(func(n *nodeRun) {
		if n.due != 0 && n.due <= at {
			due = append(due, n)
		}
	})
	for _, n := range due {
		switch {
		case n.due == 0 || n.due > at: // one before it stopped the walk
		case n.phase == awaiting:
			r.expire(n, at)
		case n.retry:
			r.record(&entry{Kind: entryAgain, Node: n.address(), At: at, Attempt: n.next})
		default:
			r.record(&entry{Kind: entryEnd, Node: n.address(), At: at, Pass: true})
		}
	}
	r.arm()
	e.release(r)
}

// expire settles a question that nobody answered in time. r.mu is held.
func (r *run) expire(n *nodeRun, at blueprint.Time) {
	kind := n.node().kind
	e := &entry{At: at, Node: n.address()}
	if kind == nil || kind.Expired == nil {
		e.Kind, e.Error = entryEnd, &blueprint.StepError{Message: "nobody answered in time", Code: "expired"}
		r.record(e)
		return
	}
	result, err := r.guarded(n, func() (blueprint.Result, error) { return kind.Expired(r.answerTask(n)) })
	if err != nil {
		e.Kind, e.Error = entryEnd, stepError(failureOf(err))
		r.record(e)
		return
	}
	r.complete(e, result)
}

// answerTask is the task of a node that judges an answer: its config is the
// one with which it asked. r.mu is held.
func (r *run) answerTask(n *nodeRun) *blueprint.Task {
	config := n.await.Config
	if config == nil {
		config = map[string]any{}
	}
	input, _ := r.input(n)
	return &blueprint.Task{
		ExecutionID: r.id, BlueprintID: r.program.definition.BlueprintID, OrganizationID: r.program.definition.OrganizationID, Address: n.address(), Attempt: n.attempt, Config: config,
		Input: input, InputData: r.begin.InputData, Sequential: n.frame.body.graph.Sequential(), Now: r.engine.Clock.Now(),
		IdempotencyKey: r.idempotencyKey(n.address()),
		Evaluate: func(string) (any, error) {
			return nil, blueprint.Errorf(blueprint.CodeInternal, "an answer has no expressions")
		},
		Log: func(string, string, any) {},
	}
}
