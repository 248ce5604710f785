package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
)

// errStopping is the cause with which the engine interrupts work when it stops.
var errStopping = errors.New("the server is shutting down")

// flush makes all entries so far durable. The first flush accepts the run: if it fails, the
// run does not exist, and its handle is refused. Later ones are retried until they succeed
// or the engine stops. Once one has failed, the run cannot continue in this process, and
// every flush returns that error. The caller holds no lock of the run.
func (r *run) flush() error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.commitErr == nil && len(r.pending) > 0 {
		r.write(r.commit())
	}
	return r.commitErr
}

// write commits all pending entries, or handles the error of building the commit. The
// caller holds r.flushing and r.mu, which is released during the commit.
func (r *run) write(commit *blueprint.JournalCommit, err error) {
	taken := len(r.pending)
	if err == nil {
		r.mu.Unlock()
		err = r.engine.commit(commit)
		r.mu.Lock()
	}
	if err == nil && commit.Handed {
		r.handOver()
		return
	}
	if err != nil {
		r.commitFailed(err)
		return
	}
	r.pending = append([]*entry(nil), r.pending[taken:]...)
	if commit.Row.Status.Terminal() {
		r.row = commit.Row
		r.logEnd()
	}
	r.countCommit(&r.engine.counts, commit)
	if commit.New {
		r.durable, r.ledger = true, ledger{}
		r.handle.accept(nil)
		r.engine.markDurable(r)
	}
	r.flushAt = time.Time{}
	if len(r.pending) > 0 {
		r.flushWithin(Soon)
	}
}

// handOver ends a new run in this process, because it was stored for the one that has its
// concurrency group. The caller holds r.mu.
func (r *run) handOver() {
	e, handle := r.engine, r.handle
	r.commitErr = errElsewhere
	r.cancel(errElsewhere)
	r.handle = nil
	handle.accept(nil)
	e.mu.Lock()
	waits := r.slotState == queued
	if waits {
		e.leaveQueue(r)
	}
	e.mu.Unlock()
	if waits {
		go e.unref(r) // so that the run may come back
	}
	e.goHeld(func() { e.follow(r.id, handle) })
}

// logEnd logs a failed run; a cancelled one is logged at info. r.mu is held.
func (r *run) logEnd() {
	failure := r.masked.failure(r.row.Status)
	if failure == nil {
		return
	}
	level := slog.LevelWarn
	if r.canceled != nil {
		level = slog.LevelInfo
	}
	r.engine.Logger.Log(context.Background(), level, "run failed",
		"execution", r.id, "blueprint", r.row.BlueprintID, "node", failure.NodeID, "code", failure.Code, "error", failure.Message)
}

func (r *run) commitFailed(err error) {
	r.commitErr = err
	r.cancel(err)
	switch {
	case !r.durable:
	case r.engine.ctx.Err() != nil: // logged once for all runs
		r.engine.unstored.Add(1)
	default:
		r.engine.Logger.Error("commit failed, run suspended", "execution", r.id, "error", err, "hint", "restart the server to resume it from its last commit")
	}
	r.refuse(err)
}

// commit builds a commit of all pending entries. The caller holds r.mu.
func (r *run) commit() (*blueprint.JournalCommit, error) {
	r.row.UpdatedAt = r.engine.now()
	r.row.Status = r.status()
	c := r.blankCommit()
	if r.row.Status == blueprint.StatusPaused && !r.paused {
		c.Events = append(c.Events, r.pauseEvent(r.row.UpdatedAt)...)
	}
	c.Entries = make([][]byte, len(r.pending))
	for i, e := range r.pending {
		data, err := blueprint.Encode(e)
		if err != nil {
			return nil, err
		}
		c.Entries[i] = r.engine.Sealer.Seal(data, secret.JournalPlace(r.id))
	}
	return c, r.passOn(c)
}

// passOn adds the response of a run to a commit if another process may have accepted it. It
// becomes durable with the run's step, because this process may end before it could say it
// in any other way.
func (r *run) passOn(c *blueprint.JournalCommit) error {
	if r.engine.Peers == nil || r.begin.Concurrency == nil || r.response == nil || c.New {
		return nil
	}
	data, err := blueprint.Encode(answer{Response: r.response})
	if err == nil {
		c.Response = r.engine.Sealer.Seal(data, commandPlace(r.id))
	}
	return err
}

// blankCommit returns a commit of the run's row without entries.
func (d *disk) blankCommit() *blueprint.JournalCommit {
	return &blueprint.JournalCommit{
		Row: d.row, New: !d.durable, Firing: d.ledger.firing, Coalesced: d.ledger.coalesced, Cursor: d.ledger.cursor, Events: slices.Clip(d.ledger.events),
		Generation: d.ledger.generation, Group: d.group,
	}
}

// Delays between attempts to commit, in real time: a held clock does not move.
const (
	firstCommitDelay = 50 * time.Millisecond
	lastCommitDelay  = 5 * time.Second
)

// commit writes to the journal. For a stored run it retries until it succeeds, because
// nodes have acted and no caller could handle the error.
func (e *Engine) commit(c *blueprint.JournalCommit) error {
	defer crashOnPanic()
	for delay := firstCommitDelay; ; delay = min(2*delay, lastCommitDelay) {
		err := e.Journal.Commit(context.WithoutCancel(e.ctx), c)
		if err == nil || c.New || blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			return err
		}
		e.Logger.Warn("commit failed, retrying", "execution", c.Row.ID, "error", err)
		if !clock.Sleep(e.ctx, delay) {
			return err
		}
	}
}

// flushWithin ensures that the entries so far are durable within an urgency, in real
// time. The caller holds r.mu.
func (r *run) flushWithin(within Urgency) {
	at := time.Now().Add(time.Duration(within))
	switch {
	case r.commitErr != nil || r.evicted:
	case r.flushTimer == nil:
		r.flushTimer, r.flushAt = time.AfterFunc(time.Duration(within), func() { r.flush() }), at
	case r.flushAt.IsZero() || at.Before(r.flushAt):
		r.flushTimer.Reset(time.Duration(within))
		r.flushAt = at
	}
}

// maxEventOutput bounds the output of a run in its event, in bytes of JSON.
const maxEventOutput = 64 << 10

// event returns the event of a new status of the run. A child run publishes none, and
// neither does a run with the data of a user who could only start the blueprint, even if a
// manager retries it: such data must neither start runs of other users nor be shown to
// them. The data is encoded only when a trigger subscribes. The caller holds r.mu.
func (r *run) event(name string, at blueprint.Time, data any) []blueprint.Event {
	if r.begin.Parent != "" || r.begin.privateTo() != "" {
		return nil
	}
	return []blueprint.Event{{
		Name: name, OrganizationID: r.row.OrganizationID, BlueprintID: r.row.BlueprintID, ExecutionID: r.id, Data: data, Depth: r.eventDepth(), Root: r.rootEvent(), At: at,
	}}
}

// eventDepth returns the length of the chain of events that led to the run.
func (r *fold) eventDepth() int {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Depth
	}
	return r.begin.Chain
}

// rootEvent returns the key of the first of these events, "" for none.
func (r *fold) rootEvent() string {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Root
	}
	return r.begin.Cause
}

func (r *run) endEvent(account *runRecord, at blueprint.Time) []blueprint.Event {
	name := blueprint.EventExecutionCompleted
	if account.Status == blueprint.StatusFailed {
		name = blueprint.EventExecutionFailed
	}
	return r.event(name, at, &endData{r.row.TriggerID, account})
}

// endData is the data of an end event, from the redacted record.
type endData struct {
	triggerID string
	account   *runRecord
}

// MarshalJSON returns {"status","triggerId"?} with "output" or "error". An output that
// is too large is null, with "outputTooLarge" true.
func (e *endData) MarshalJSON() ([]byte, error) {
	data := eventData(e.account.Status, e.triggerID)
	if failure := e.account.failure(e.account.Status); failure != nil {
		data["error"] = failure
		return blueprint.Encode(data)
	}
	output := newValues(e.account).runOutput(e.account.Ends)
	_, err := jsonSize(output, 2*maxEventOutput) // rejects a large one quickly
	if data["output"] = output; err == nil {
		var text []byte
		if text, err = blueprint.Encode(output); err == nil && len(text) <= maxEventOutput && !tooDeep(text) {
			return blueprint.Encode(data)
		}
	}
	data["output"], data["outputTooLarge"] = nil, true
	return blueprint.Encode(data)
}

// tooDeep reports whether a JSON text is nested too deeply for the input of another run.
func tooDeep(text []byte) bool {
	const most = blueprint.MaxDepth - 2 // for the event and its data
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= most {
		return false
	}
	_, err := blueprint.Decode(append(append([]byte("[["), text...), "]]"...))
	return err != nil
}

// pauseEvent returns the event of a run that pauses: {"status","triggerId"?,
// "awaitingInput"}. The caller holds r.mu.
func (r *run) pauseEvent(at blueprint.Time) []blueprint.Event {
	data, masker := eventData(blueprint.StatusPaused, r.row.TriggerID), r.masker.Load()
	r.each(func(n *nodeRun) {
		if n.phase == awaiting && data["awaitingInput"] == nil {
			prompt := masker.Text(n.await.Prompt)
			if n.await.Kind == blueprint.AwaitOAuth { // subscribers are not the user who is asked
				prompt = blueprint.SignInPromptForOthers
			}
			data["awaitingInput"] = map[string]any{"kind": string(n.await.Kind), "nodeId": n.address(), "prompt": prompt}
		}
	})
	return r.event(blueprint.EventExecutionPaused, at, data)
}

func eventData(status blueprint.Status, triggerID string) map[string]any {
	data := map[string]any{"status": string(status)}
	if triggerID != "" {
		data["triggerId"] = triggerID
	}
	return data
}
