package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// errStopping is the cause with which work is cut off when the engine stops.
var errStopping = errors.New("the server is shutting down")

// flush makes everything that happened to the run so far durable. The first
// flush is the run's acceptance: when it fails the run does not exist, and
// whoever started it is told. Later ones are tried until they succeed or the
// engine stops. Once one has failed the run cannot go on in this process, and
// every flush gives that error. The caller holds no lock of the run.
func (r *run) flush() error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil && len(r.pending) > 0 {
		r.write(r.commit())
	}
	return r.broken
}

// write brings a commit of all pending entries to the disk, or takes note that
// it could not be made. r.flushing and r.mu are held; r.mu is let go meanwhile.
func (r *run) write(commit *blueprint.JournalCommit, err error) {
	taken := len(r.pending)
	if err == nil {
		r.mu.Unlock()
		err = r.engine.commit(commit)
		r.mu.Lock()
	}
	if err != nil {
		r.refused(err)
		return
	}
	r.pending = append([]*entry(nil), r.pending[taken:]...)
	if commit.Row.Status.Terminal() {
		r.row = commit.Row
		r.logEnd()
	}
	r.tally(&r.engine.counts, commit)
	if commit.New {
		r.durable, r.ledger = true, ledger{}
		r.handle.accept(nil)
		r.engine.settled(r)
	}
	r.lateAt = time.Time{}
	if len(r.pending) > 0 {
		r.soon(Soon)
	}
}

// logEnd writes one line to the server's log for a run that has failed. A run
// that was cancelled is no fault, and so no warning. r.mu is held.
func (r *run) logEnd() {
	failure := r.final.failure(r.row.Status)
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

// refused takes note that the disk did not take the run. r.mu is held.
func (r *run) refused(err error) {
	r.broken = err
	r.cancel(err)
	if r.durable {
		r.engine.Logger.Error("a run was put down where the disk last saw it", "execution", r.id, "error", err, "hint", "it is taken up at the next start")
	}
	r.refuse(err)
}

// commit makes the commit of all pending entries. r.mu is held.
func (r *run) commit() (*blueprint.JournalCommit, error) {
	r.row.UpdatedAt = blueprint.TimeOf(r.engine.Clock.Now())
	r.row.Status = r.status()
	c := r.blankCommit()
	if r.row.Status == blueprint.StatusPaused && !r.paused {
		c.Events = append(c.Events, r.pausing(r.row.UpdatedAt)...)
	}
	c.Entries = make([][]byte, len(r.pending))
	for i, e := range r.pending {
		data, err := encodeEntry(e)
		if err != nil {
			return nil, err
		}
		c.Entries[i] = r.engine.Sealer.Seal(data, secret.JournalPlace(r.id))
	}
	return c, nil
}

// blankCommit makes a commit that stores the run's row. The run's mu is held.
func (d *disk) blankCommit() *blueprint.JournalCommit {
	return &blueprint.JournalCommit{
		Row: d.row, New: !d.durable, Firing: d.ledger.firing, Coalesced: d.ledger.coalesced, Cursor: d.ledger.cursor, Events: slices.Clip(d.ledger.events),
		Generation: d.ledger.generation,
	}
}

// The delays between attempts to write what must be written. They are real
// time: a clock that is held cannot move.
const (
	firstCommitDelay = 50 * time.Millisecond
	lastCommitDelay  = 5 * time.Second
)

// commit writes to the journal. A run that is on the disk already is tried
// again until it works: its nodes have acted, and there is nobody to tell.
func (e *Engine) commit(c *blueprint.JournalCommit) error {
	defer crash()
	for delay := firstCommitDelay; ; delay = min(2*delay, lastCommitDelay) {
		err := e.Journal.Commit(context.WithoutCancel(e.ctx), c)
		if err == nil || c.New || blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			return err
		}
		e.Logger.Warn("a run waits for the disk", "execution", c.Row.ID, "error", err)
		select {
		case <-time.After(delay):
		case <-e.ctx.Done():
			return err
		}
	}
}

// soon makes sure that what happened so far is on the disk within an urgency,
// in real time. r.mu is held.
func (r *run) soon(within Urgency) {
	at := time.Now().Add(time.Duration(within))
	switch {
	case r.broken != nil || r.gone:
	case r.late == nil:
		r.late, r.lateAt = time.AfterFunc(time.Duration(within), func() { r.flush() }), at
	case r.lateAt.IsZero() || at.Before(r.lateAt):
		r.late.Reset(time.Duration(within))
		r.lateAt = at
	}
}

// maxTold is how many bytes of JSON the output of a run may have for its event
// to hold it.
const maxTold = 64 << 10

// event returns what those who listen are told when the run comes to a status. A
// run that another one waits for is not told of: that one's end is. Nor is a run
// whose data is that of a user who could only start the blueprint, even when a
// manager retries it: what strangers put in neither starts what belongs to others
// nor is shown to them. What the data costs is paid only when a trigger listens.
// r.mu is held.
func (r *run) event(name string, at blueprint.Time, data any) []blueprint.Event {
	if r.begin.Parent != "" || r.begin.privateTo() != "" {
		return nil
	}
	return []blueprint.Event{{
		Name: name, OrganizationID: r.row.OrganizationID, BlueprintID: r.row.BlueprintID, ExecutionID: r.id, Data: data, Depth: r.chain(), Root: r.cause(), At: at,
	}}
}

// chain returns how many events led to the run, each caused by the one before.
func (r *fold) chain() int {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Depth
	}
	return r.begin.Chain
}

// cause returns the key of the first of these events, "" when there is none.
func (r *fold) cause() string {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Root
	}
	return r.begin.Cause
}

// ending returns the event of a run that has ended. r.mu is held.
func (r *run) ending(account *stored, at blueprint.Time) []blueprint.Event {
	name := blueprint.EventExecutionCompleted
	if account.Status == blueprint.StatusFailed {
		name = blueprint.EventExecutionFailed
	}
	return r.event(name, at, &told{r.row.TriggerID, account})
}

// told is the data of the event of a run's end, from its account for readers.
type told struct {
	triggerID string
	account   *stored
}

// MarshalJSON returns {"status","triggerId"?} and "output" or "error". An output
// that is too large is null, and "outputTooLarge" true.
func (e *told) MarshalJSON() ([]byte, error) {
	data := toldOf(e.account.Status, e.triggerID)
	if failure := e.account.failure(e.account.Status); failure != nil {
		data["error"] = failure
		return blueprint.Encode(data)
	}
	output := newValues(e.account).output(e.account.Ends)
	_, err := weigh(output, 2*maxTold) // which is quick to give up
	if data["output"] = output; err == nil {
		var text []byte
		if text, err = blueprint.Encode(output); err == nil && len(text) <= maxTold && !deep(text) {
			return blueprint.Encode(data)
		}
	}
	data["output"], data["outputTooLarge"] = nil, true
	return blueprint.Encode(data)
}

// deep reports whether a JSON text is nested too deeply to be part of the input of
// another run, which could not be delivered again then.
func deep(text []byte) bool {
	const most = blueprint.MaxDepth - 2 // for the data of an event, and the event
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= most {
		return false
	}
	_, err := blueprint.Decode(append(append([]byte("[["), text...), "]]"...))
	return err != nil
}

// pausing returns the event of a run that pauses: {"status","triggerId"?,
// "awaitingInput"}. r.mu is held.
func (r *run) pausing(at blueprint.Time) []blueprint.Event {
	data, masker := toldOf(blueprint.StatusPaused, r.row.TriggerID), r.masker.Load()
	r.each(func(n *nodeRun) {
		if n.phase == awaiting && data["awaitingInput"] == nil {
			prompt := masker.Text(n.await.Prompt)
			if n.await.Kind == blueprint.AwaitOAuth { // who listens is not who is asked
				prompt = blueprint.SignInPromptForOthers
			}
			data["awaitingInput"] = map[string]any{"kind": string(n.await.Kind), "nodeId": n.address(), "prompt": prompt}
		}
	})
	return r.event(blueprint.EventExecutionPaused, at, data)
}

func toldOf(status blueprint.Status, triggerID string) map[string]any {
	data := map[string]any{"status": string(status)}
	if triggerID != "" {
		data["triggerId"] = triggerID
	}
	return data
}
