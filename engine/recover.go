package engine

import (
	"context"
	"errors"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
)

// acquire returns a run, locked and with a reference for the caller, which release
// drops. It loads a run that is not in memory. Errors: CodeConflict when the run has
// ended, CodeNotFound, CodeUnavailable while the engine stops, ctx's when it ends while
// the run is being loaded.
func (e *Engine) acquire(ctx context.Context, id string) (*run, error) {
	return e.find(ctx, id, false)
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
				r.dropHandle(err)
				r.evict()
				r.mu.Unlock()
				return nil, err
			}
			return r, nil
		}
		e.mu.Unlock()
		if err := r.waitLoaded(ctx); err != nil {
			return nil, err
		}
		r.mu.Lock()
		switch {
		case r.evicted: // just now: look it up again
			r.mu.Unlock()
			continue
		case r.ended:
			r.mu.Unlock()
			return nil, errEnded
		case errors.Is(r.commitErr, errElsewhere): // it was handed over, and is not evicted yet
			if err := r.waitEvicted(ctx); err != nil {
				return nil, err
			}
			continue
		}
		r.refs++
		r.endHibernation()
		return r, nil
	}
}

// dropHandle drops the handle of a run that cannot be loaded. The caller holds r.mu.
func (r *run) dropHandle(err error) {
	code := blueprint.CodeOf(err)
	switch {
	case r.handle == nil:
	case r.engine.Peers != nil && (errors.Is(err, errElsewhere) || errors.Is(err, errEnded)): // another process has taken it over
		handle := r.handle
		r.handle = nil
		go r.engine.follow(r.id, handle)
	case code == blueprint.CodeConflict || code == blueprint.CodeNotFound:
		r.refuse(err)
	}
}

// waitEvicted unlocks a run that is about to be evicted, and waits for that.
func (r *run) waitEvicted(ctx context.Context) error {
	if r.evictedCh == nil {
		r.evictedCh = make(chan struct{})
	}
	evicted := r.evictedCh
	r.mu.Unlock()
	select {
	case <-evicted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *run) waitLoaded(ctx context.Context) error {
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

// isGone reports whether acquire failed because this process has nothing more to do with
// the run.
func isGone(err error) bool {
	return errors.Is(err, errEnded) || errors.Is(err, errShuttingDown) || errors.Is(err, errElsewhere)
}

// unpark adds an empty run, locked and with a reference for the caller, in place of a
// parked one. The caller holds e.mu.
func (e *Engine) unpark(id string) *run {
	r := e.newRun(id)
	r.mu.Lock() // not shared yet
	r.refs, r.releaseClock, r.loading = 1, e.Clock.Hold(), make(chan struct{})
	e.runs[id] = r
	if p := e.parked[id]; p != nil {
		e.removeParked(id, p)
		r.timer, r.timerAt, r.handle, r.paused = p.timer, p.timerAt, p.handle.Value(), p.paused
	}
	return r
}

// load loads a run and resolves interrupted nodes. The caller holds r.mu.
func (e *Engine) load(ctx context.Context, r *run) error {
	stored, err := e.Journal.Load(ctx, r.id)
	if err != nil {
		return err
	}
	if stored.Row.Status.Terminal() {
		r.ended = true
		return errEnded
	}
	if stored.Elsewhere {
		return errElsewhere
	}
	r.row, r.durable, r.paused, r.begun = stored.Row, true, stored.Row.Status == blueprint.StatusPaused, len(stored.Entries) > 1
	if e.Peers != nil && mutant.Is(mutant.TakeOverForgets) {
		stored.Entries = stored.Entries[:1]
	}
	if err := e.replay(ctx, &r.fold, stored); err != nil {
		return err
	}
	r.memory = r.footprint()
	r.resolveInterrupted()
	r.endInterruptedCalls()
	return nil
}

// recoverAll recovers every unfinished run.
func (e *Engine) recoverAll(ctx context.Context) error {
	rows, err := e.unfinished(ctx)
	if err != nil || mutant.Is(mutant.NoRecovery) {
		return err
	}
	e.counts.addRecovered(rows)
	e.pauseAdmission()
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil // the next start continues
		}
		e.recoverRun(ctx, row, nil)
	}
	e.resumeAdmission(ctx)
	if len(rows) > 0 {
		e.Logger.Info("unfinished runs recovered", "count", len(rows))
	}
	return nil
}

// listTimeout is how long a process retries to list its runs when it starts, if the server has
// several. A single process does not retry errors of its disk.
const listTimeout = 30 * time.Second

func (e *Engine) unfinished(ctx context.Context) ([]blueprint.ExecutionRow, error) {
	for watch := metrics.Begin(); ; {
		rows, err := e.Journal.Unfinished(ctx)
		if e.Peers == nil || blueprint.CodeOf(err) != blueprint.CodeUnavailable || watch.Elapsed() > listTimeout {
			return rows, err
		}
		if !clock.Sleep(ctx, followInterval) {
			return nil, err
		}
	}
}

// recoverRun recovers a run of another process, later if the journal is unavailable. The
// handle may be nil.
func (e *Engine) recoverRun(ctx context.Context, row blueprint.ExecutionRow, handle *Handle) {
	r, err := e.acquire(ctx, row.ID)
	switch {
	case err == nil:
		if handle != nil {
			r.handle = handle
		}
		if e.hasRejoined(row.ID) { // it was taken over, and announced as well
			e.release(r)
			return
		}
	case isGone(err):
		handle.end(nil, err)
		return
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("run load failed, retrying", "execution", row.ID, "error", err)
		e.reserveSlot(&row)
		e.retryLater(func() { e.recoverRun(e.ctx, row, handle) })
		return
	default:
		// One unreadable run must not stop the others and the server.
		e.Logger.Error("run recovery failed", "execution", row.ID, "error", err, "hint", "fix the cause, then restart the server or cancel the run")
		e.mu.Lock()
		e.leaveGroup(row.ID)
		e.mu.Unlock()
		handle.end(nil, err)
		return
	}
	if row.BlueprintDeleted && r.canceled == nil {
		// The process ended between the deletion and the cancellation.
		r.record(&entry{Kind: entryCancel, At: e.now(), details: &details{Reason: "the blueprint was deleted"}})
	}
	calls, parent := r.calls(), r.begin.Parent
	e.rejoinGroup(r)
	e.resumeWithinBudget(r)
	e.checkChildren(calls)
	if parent != "" {
		e.cancelIfParentEnded(row.ID, parent)
	}
}

// resolveInterrupted settles nodes that were running when the last process ended: those
// that may run again do, with the same attempt and idempotency key; the others ask for the
// outcome. The caller holds r.mu.
func (r *run) resolveInterrupted() {
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
			note.Message = "the server stopped while this node was running; whether it took effect is unknown"
			a := &await{}
			a.NodeID, a.Kind, a.RequestedAt = address, blueprint.AwaitUnknownOutcome, at
			a.Prompt = "The server stopped while this node was running. Did it take effect? Retry it, mark it as done, or abort the run."
			a.Options = []string{"retry", "mark-done", "abort"}
			r.record(&entry{Kind: entryAwait, Node: address, At: at, details: &details{Await: a}})
		default:
			note.Message = "the server stopped while this node was running; it runs again"
			r.record(&entry{Kind: entryAgain, Node: address, At: at, Attempt: n.attempt})
		}
		r.record(&entry{Kind: entryLog, At: at, details: &details{Log: note}})
	}
}

// retryInterval is the delay before work on an unavailable journal is retried.
const retryInterval = 10 * time.Second

// onTimer continues a run whose timer fired.
func (e *Engine) onTimer(id string) {
	r, err := e.acquire(e.ctx, id)
	switch {
	case err == nil:
	case isGone(err):
		return
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("run load failed, retrying", "execution", id, "error", err)
		e.retryLater(func() { e.onTimer(id) })
		return
	default:
		e.Logger.Error("run wake-up failed", "execution", id, "error", err, "hint", "restart the server to recover it")
		return
	}
	at := e.now()
	var due []*nodeRun
	r.each(func(n *nodeRun) {
		if n.due != 0 && n.due <= at {
			due = append(due, n)
		}
	})
	for _, n := range due {
		switch {
		case n.due == 0 || n.due > at: // an earlier one stopped the frame
		case n.phase == awaiting:
			r.expire(n, at)
		case n.retry:
			r.record(&entry{Kind: entryAgain, Node: n.address(), At: at, Attempt: n.next})
		default:
			r.record(&entry{Kind: entryEnd, Node: n.address(), At: at, Pass: true})
		}
	}
	r.setNextTimer()
	e.release(r)
}

// expire settles a question without an answer in time. The caller holds r.mu.
func (r *run) expire(n *nodeRun, at blueprint.Time) {
	kind := n.node().kind
	e := &entry{At: at, Node: n.address(), details: &details{Expired: true}}
	if kind == nil || kind.Expired == nil {
		e.Kind, e.Error = entryEnd, &blueprint.StepError{Message: "no answer in time", Code: "expired"}
		r.record(e)
		return
	}
	result, err := r.recoverPanics(n, func() (blueprint.Result, error) { return kind.Expired(r.answerTask(n)) })
	if err != nil {
		e.Kind, e.Error = entryEnd, stepError(failureOf(err))
		r.record(e)
		return
	}
	r.complete(e, result)
}

// answerTask returns the task for an answer, with the config of the question. r.mu is held.
func (r *run) answerTask(n *nodeRun) *blueprint.Task {
	t := r.newTask(n, n.attempt, r.engine.Clock.Now())
	if t.Config = n.await.Config; t.Config == nil {
		t.Config = map[string]any{}
	}
	t.Input, _ = r.input(n)
	t.Evaluate = func(string) (any, error) {
		return nil, blueprint.Errorf(blueprint.CodeInternal, "an answer has no expressions")
	}
	t.Log = func(string, string, any) {}
	return t
}
