package engine

import (
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
