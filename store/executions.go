package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// insertExecution inserts a run of a blueprint that is not deleted. The same statement
// checks that, so that none begins after the deletion.
const insertExecution = `INSERT INTO executions (id, log_id, blueprint_id, blueprint_version, organization_id, user_id,
	trigger_id, firing_id, parent_execution_id, status, created_at, updated_at, start_time, end_time, record, state)
	SELECT ?1, ?2, b.id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16
	FROM blueprints b WHERE b.id = ?3 AND b.deleted_at IS NULL`

// Commit makes one step of a run durable: its row, the firing of a new run with its
// delivery, its journal entries, or its record instead when it has ended; and what
// follows for the outbox and for the trigger that started it. Errors:
// *blueprint.DuplicateFiringError when the
// firing's key has started a run, CodeConflict when the run is not New and has
// ended, or is New and exists, CodeNotFound when it is not New and does not
// exist, or its blueprint is deleted, CodeUnavailable when it is New and the
// database is at its size limit. It takes no principal: it is for the
// engine.
func (s *Store) Commit(ctx context.Context, c *blueprint.JournalCommit) (err error) {
	defer wrap(&err, "commit execution %s", c.Row.ID)
	if c.New && c.Row.ParentExecutionID == "" && s.watched.lowSpace.Load() {
		return errLowSpace
	}
	if c.New && c.Row.ParentExecutionID == "" && s.full.Load() {
		return errDiskLimit
	}
	for _, firing := range []*blueprint.Firing{c.Firing, c.Coalesced} {
		if firing == nil {
			continue
		}
		if err := s.sealFiring(firing); err != nil {
			return err
		}
	}
	j := s.commitJob(c)
	if s.commitAlone(j) {
		return j.err
	}
	return s.submit(ctx, j)
}

func (s *Store) commitJob(c *blueprint.JournalCommit) *job {
	j := &job{size: 512 + len(c.Record) + len(c.State), events: c.Events}
	if c.Firing != nil {
		j.size += deliverySize(c.Firing)
	}
	ended := c.Row.Status.Terminal()
	if !ended {
		for _, entry := range c.Entries {
			j.size += 64 + len(entry)
		}
	}
	switch {
	case !c.New:
		j.run = s.concluded(c, updateExecution)
	case c.Firing == nil && (ended || len(c.Entries) == 0):
		j.single = true
		j.run = s.concluded(c, func(t *transaction, c *blueprint.JournalCommit) error {
			_, err := beginExecution(t, c)
			return err
		})
	default:
		j.run = s.concluded(c, s.beginWithFiring)
	}
	return j
}

// concluded adds to a step of a run what follows from it: the consequences of its end
// for its trigger, and its events. A run without a trigger, and without listeners to
// its events, needs no statement for either.
func (s *Store) concluded(c *blueprint.JournalCommit, step func(*transaction, *blueprint.JournalCommit) error) func(*transaction) error {
	return func(t *transaction) error {
		if err := step(t, c); err != nil {
			return err
		}
		if c.Row.Status.Terminal() {
			t.ended = &c.Row
		}
		if err := s.weighEnd(t, c); err != nil {
			return err
		}
		return s.publish(t, c.Events)
	}
}

func beginExecution(t *transaction, c *blueprint.JournalCommit) (seq int64, err error) {
	r := &c.Row
	seq, err = t.insert(insertExecution, r.ID, r.LogID, r.BlueprintID, r.BlueprintVersion, r.OrganizationID, r.UserID,
		textOrNull(r.TriggerID), textOrNull(r.FiringID), textOrNull(r.ParentExecutionID), string(r.Status),
		int64(r.CreatedAt), int64(r.UpdatedAt), int64(r.StartTime), timeOrNull(r.EndTime), withChecksum(c.Record, recordPlace(r.ID)), withChecksum(c.State, statePlace(r.ID)))
	switch {
	case duplicate(err):
		return 0, blueprint.Errorf(blueprint.CodeConflict, "there is an execution %s already", r.ID)
	case err == nil && seq == 0:
		return 0, blueprint.Errorf(blueprint.CodeNotFound, "the blueprint does not exist or was deleted")
	}
	return seq, err
}

func (s *Store) beginWithFiring(t *transaction, c *blueprint.JournalCommit) error {
	if c.Generation != 0 && c.Generation != t.generation {
		return &blueprint.StaleError{}
	}
	if c.Firing != nil {
		if c.Coalesced != nil {
			if err := s.insertFiring(t, c.Coalesced); err != nil {
				return err
			}
		}
		if err := s.insertFiring(t, c.Firing); err != nil {
			return err
		}
		if err := moveCursor(t, c.Firing.TriggerID, c.Cursor); err != nil {
			return err
		}
	}
	seq, err := beginExecution(t, c)
	if err != nil || c.Row.Status.Terminal() {
		return err
	}
	return appendJournal(t, seq, 1, c.Entries)
}

func updateExecution(t *transaction, c *blueprint.JournalCommit) error {
	const update = `UPDATE executions SET status = ?, updated_at = ?, start_time = ?, end_time = ?, record = ?, state = ?
		WHERE id = ? AND end_time IS NULL RETURNING seq`
	r := &c.Row
	var seq int64
	err := t.row(update, []any{string(r.Status), int64(r.UpdatedAt), int64(r.StartTime), timeOrNull(r.EndTime), withChecksum(c.Record, recordPlace(r.ID)), withChecksum(c.State, statePlace(r.ID)), r.ID}, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		var known bool
		if err := t.row("SELECT EXISTS (SELECT 1 FROM executions WHERE id = ?)", []any{r.ID}, &known); err != nil {
			return err
		}
		if !known {
			return notFound("execution", r.ID)
		}
		return blueprint.Errorf(blueprint.CodeConflict, "the execution has ended")
	}
	if err != nil {
		return err
	}
	if r.Status.Terminal() {
		_, err = t.exec("DELETE FROM journal WHERE execution = ?", seq)
		return err
	}
	if len(c.Entries) == 0 {
		return nil
	}
	var position int64
	if err := t.row("SELECT coalesce(max(position), 0) + 1 FROM journal WHERE execution = ?", []any{seq}, &position); err != nil {
		return err
	}
	return appendJournal(t, seq, position, c.Entries)
}

func appendJournal(t *transaction, execution, position int64, entries [][]byte) error {
	for i, entry := range entries {
		if _, err := t.exec("INSERT INTO journal (execution, position, entry) VALUES (?, ?, ?)", execution, position+int64(i), withChecksum(entry, entryPlace(execution, position+int64(i)))); err != nil {
			return err
		}
	}
	return nil
}

func textOrNull[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// blobOrNull returns NULL for nil, for which the driver would store an empty value.
func blobOrNull(data []byte) any {
	if data == nil {
		return nil
	}
	return data
}

func timeOrNull(t blueprint.Time) any {
	if t == 0 {
		return nil
	}
	return int64(t)
}

// mostUnfinished is how many unfinished runs of all triggers are searched for those
// of one.
const mostUnfinished = 200_000

// unfinished lists the runs of a trigger that have not ended, the oldest first,
// at most blueprint.MaxUnfinished; none for a trigger without a limit, which needs no
// list.
func unfinished(q *session, trigger *blueprint.Trigger) (list []blueprint.UnfinishedRun, err error) {
	if trigger.Config["concurrency"] == nil {
		return nil, nil
	}
	const query = `SELECT id, status, created_at, updated_at FROM (
			SELECT seq, id, status, created_at, updated_at, trigger_id, parent_execution_id
			FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at LIMIT ?2)
		WHERE trigger_id = ?1 AND parent_execution_id IS NULL ORDER BY seq LIMIT ?3`
	err = collect(q, &list, query, []any{trigger.ID, mostUnfinished, blueprint.MaxUnfinished}, fields(func(run *blueprint.UnfinishedRun) []any {
		return []any{&run.ExecutionID, &run.Status, &run.CreatedAt, &run.UpdatedAt}
	}))
	return list, err
}
