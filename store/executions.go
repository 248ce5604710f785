package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// insertExecution inserts a run of a blueprint that is not deleted. The check is part of
// the statement, so that no run begins after the deletion: blueprint_seq must not be NULL.
// An INSERT ... SELECT would need a statement journal.
const insertExecution = `INSERT INTO executions (id, log_id, blueprint_seq, blueprint_version, organization_seq, user_seq,
	trigger_seq, firing_id, parent_execution_id, status, created_at, updated_at, start_time, end_time, record, state)
	VALUES (?1, ?2, (SELECT seq FROM blueprints WHERE id = ?3 AND deleted_at IS NULL), ?4,
	coalesce(?17, (SELECT seq FROM organizations WHERE id = ?5)), coalesce(?18, (SELECT seq FROM users WHERE id = ?6)),
	coalesce(?19, (SELECT seq FROM triggers WHERE id = ?7)), ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING`

// Commit makes one step of a run durable: its row, the firing of a new run with its
// delivery, its journal entries (or its record instead, once it has ended), and the
// consequences for the outbox and for the trigger that started it. Errors:
// *blueprint.DuplicateFiringError if the firing's key has started a run before;
// CodeConflict if the run is not New and has ended, or is New and exists; CodeNotFound if
// it is not New and does not exist, or its blueprint is deleted; CodeUnavailable if it is
// New and the database is at its size limit. It takes no principal: it is for the engine.
func (s *Store) Commit(ctx context.Context, c *blueprint.JournalCommit) (err error) {
	defer wrap(&err, "commit execution %s", c.Row.ID)
	if c.New && c.Row.ParentExecutionID == "" && s.watched.lowSpace.Load() {
		return errLowSpace
	}
	if c.New && c.Row.ParentExecutionID == "" && s.full.Load() {
		return errDiskLimit
	}
	if c.New && c.Row.ParentExecutionID == "" {
		if err := s.Available(); err != nil {
			return err
		}
	}
	for _, firing := range []*blueprint.Firing{c.Firing, c.Coalesced} {
		if firing == nil {
			continue
		}
		if err := s.sealFiring(firing); err != nil {
			return err
		}
	}
	if c.New {
		s.learnNumbers(&c.Row)
	}
	j := s.commitJob(c)
	if s.commitAlone(j) {
		err = j.err
	} else {
		err = s.submit(ctx, j)
	}
	if isNotNull(err) { // other rows that it refers to are never deleted
		return blueprint.Errorf(blueprint.CodeNotFound, "the blueprint does not exist or was deleted")
	}
	return err
}

func (s *Store) commitJob(c *blueprint.JournalCommit) *job {
	j := &job{size: 512 + len(c.Record) + len(c.State), events: c.Events, repeatable: true}
	if c.Firing != nil {
		j.size += deliverySize(c.Firing)
	}
	ended := c.Row.Status.Terminal()
	if c.New && ended && c.Row.RetryOf == "" && c.Coalesced == nil && c.Cursor == 0 && (c.Firing == nil || len(c.Firing.Files) == 0) {
		j.short = c
	}
	if !ended {
		for _, entry := range c.Entries {
			j.size += 64 + len(entry)
		}
	}
	switch {
	case !c.New:
		j.run = s.concluded(c, updateExecution)
	case c.Firing == nil && c.Row.RetryOf == "" && (ended || len(c.Entries) == 0):
		j.single = true
		j.run = s.concluded(c, func(t *transaction, c *blueprint.JournalCommit) error {
			_, err := s.beginExecution(t, c)
			return err
		})
	default:
		j.run = s.concluded(c, s.beginWithFiring)
	}
	return j
}

// concluded adds the consequences of a run's step: those of its end for its trigger, and
// its events. A run without a trigger, and without listeners to its events, needs no
// statement for either.
func (s *Store) concluded(c *blueprint.JournalCommit, step func(*transaction, *blueprint.JournalCommit) error) func(*transaction) error {
	return func(t *transaction) error {
		if err := step(t, c); err != nil {
			return err
		}
		if c.Row.Status.Terminal() {
			t.ended = &c.Row
		}
		if c.Response != nil && s.nodes.id != 0 {
			const answer = "UPDATE signals SET answer = ? WHERE execution_id = ? AND command IS NULL AND answer IS NULL"
			if _, err := t.exec(answer, c.Response, c.Row.ID); err != nil {
				return err
			}
		}
		if err := s.weighEnd(t, c); err != nil {
			return err
		}
		return s.publish(t, c.Events)
	}
}

func (s *Store) beginExecution(t *transaction, c *blueprint.JournalCommit) (seq int64, err error) {
	seq, err = t.insert(insertExecution, s.executionArguments(c)...)
	if err == nil && seq == 0 {
		return 0, blueprint.Errorf(blueprint.CodeConflict, "there is an execution %s already", c.Row.ID)
	}
	if err == nil && c.Row.RetryOf != "" {
		_, err = t.exec("INSERT INTO retries (execution, retry_of) VALUES (?, ?)", seq, c.Row.RetryOf)
	}
	return seq, err
}

// executionArguments returns the columns of a new run as insertExecution numbers them.
func (s *Store) executionArguments(c *blueprint.JournalCommit) []any {
	r := &c.Row
	logID := r.LogID
	if logID == blueprint.LogID(r.ID) {
		logID = ""
	}
	organizationSeq, organization := s.organizations.arguments(r.OrganizationID)
	userSeq, user := s.users.arguments(r.UserID)
	triggerSeq, trigger := s.triggers.arguments(r.TriggerID)
	return []any{
		r.ID, textOrNull(logID), r.BlueprintID, r.BlueprintVersion, organization, user,
		trigger, textOrNull(r.FiringID), textOrNull(r.ParentExecutionID), string(r.Status),
		int64(r.CreatedAt), int64(r.UpdatedAt), int64(r.StartTime), timeOrNull(r.EndTime), withChecksum(c.Record, recordPlace(r.ID)), withChecksum(c.State, statePlace(r.ID)),
		organizationSeq, userSeq, triggerSeq,
	}
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
	seq, err := s.beginExecution(t, c)
	if err != nil || c.Row.Status.Terminal() {
		return err
	}
	if err := s.placeRun(t, c, seq); err != nil {
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

// mostUnfinished is the maximum number of unfinished runs of all triggers that are searched
// for those of one trigger.
const mostUnfinished = 200_000

// unfinished lists the runs of a trigger that have not ended, oldest first, at most
// blueprint.MaxUnfinished. For a trigger without a limit it returns none.
func unfinished(q *session, trigger *blueprint.Trigger) (list []blueprint.UnfinishedRun, err error) {
	if trigger.Config["concurrency"] == nil {
		return nil, nil
	}
	const query = `SELECT id, status, created_at, updated_at FROM (
			SELECT seq, id, status, created_at, updated_at, trigger_seq, parent_execution_id
			FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at LIMIT ?2) oldest
		WHERE trigger_seq = (SELECT seq FROM triggers WHERE id = ?1) AND parent_execution_id IS NULL ORDER BY seq LIMIT ?3`
	err = collect(q, &list, query, []any{trigger.ID, mostUnfinished, blueprint.MaxUnfinished}, fields(func(run *blueprint.UnfinishedRun) []any {
		return []any{&run.ExecutionID, &run.Status, &run.CreatedAt, &run.UpdatedAt}
	}))
	return list, err
}

// executionColumns selects the row of execution e. An expression has a name because SQLite's
// driver copies the names of the columns at each query, and its text would be its name.
const executionColumns = `e.id, coalesce(e.log_id, upper(CASE WHEN length(e.id) > 26 THEN substr(e.id, length(e.id) - 25) ELSE e.id END)) AS log_id, (SELECT id FROM blueprints WHERE seq = e.blueprint_seq) AS blueprint_id, e.blueprint_version,
	(SELECT id FROM organizations WHERE seq = e.organization_seq) AS organization_id, (SELECT id FROM users WHERE seq = e.user_seq) AS user_id,
	coalesce((SELECT id FROM triggers WHERE seq = e.trigger_seq), '') AS trigger_id, coalesce(e.firing_id, '') AS firing_id, coalesce(e.parent_execution_id, '') AS parent_execution_id, e.status, e.created_at, e.updated_at, e.start_time, coalesce(e.end_time, 0) AS end_time`

func executionFields(r *blueprint.ExecutionRow, more ...any) []any {
	return append([]any{
		&r.ID, &r.LogID, &r.BlueprintID, &r.BlueprintVersion, &r.OrganizationID, &r.UserID, &r.TriggerID,
		&r.FiringID, &r.ParentExecutionID, &r.Status, &r.CreatedAt, &r.UpdatedAt, &r.StartTime, &r.EndTime,
	}, more...)
}

const loadExecution = "SELECT " + executionColumns + ", e.seq, e.record, e.state"

// Load returns a stored run: with its journal if it has not ended, with its record and
// state if it has. CodeNotFound if there is no such run. It takes no principal: it is for
// the engine.
func (s *Store) Load(ctx context.Context, id string) (stored *blueprint.StoredExecution, err error) {
	defer wrap(&err, "load execution %s", id)
	return readValue(ctx, s, func(q *session) (*blueprint.StoredExecution, error) {
		stored := &blueprint.StoredExecution{}
		var seq int64
		owner := s.nodes.id
		query, into := loadExecution+" FROM executions e WHERE e.id = ?", executionFields(&stored.Row, &seq, &stored.Record, &stored.State)
		if owner != 0 {
			query, into = loadExecution+", coalesce(e.owner, 0) FROM executions e WHERE e.id = ?", append(into, &owner)
		}
		err := q.row(query, []any{id}, into...)
		if err != nil {
			return nil, orNotFound(err, "execution", id)
		}
		stored.Elsewhere = owner != s.nodes.id && !stored.Row.Status.Terminal()
		if err := checkedRun(stored); err != nil {
			return nil, err
		}
		err = q.each("SELECT position, entry FROM journal WHERE execution = ? ORDER BY position", []any{seq}, func(scan scanner) error {
			var position int64
			var entry []byte
			err := scan(&position, &entry)
			switch {
			case err != nil:
			case position != int64(len(stored.Entries))+1:
				err = damagedPart(fmt.Errorf("entry %d of the journal of %s is missing", len(stored.Entries)+1, id))
			default:
				err = checked(&entry, entryPlace(seq, position))
			}
			stored.Entries = append(stored.Entries, entry)
			return err
		})
		return stored, err
	})
}

// The query of unfinished runs, of all or of one node.
const (
	unfinishedQuery = "SELECT " + executionColumns + ", b.deleted_at IS NOT NULL FROM executions e JOIN blueprints b ON b.seq = e.blueprint_seq WHERE e.end_time IS NULL"
	ownedQuery      = " AND e.owner = ?"
	unfinishedOrder = " ORDER BY e.created_at, e.seq"
)

// Unfinished lists the runs of this process that have not ended, oldest first. It takes no
// principal: it is for the engine.
func (s *Store) Unfinished(ctx context.Context) (rows []blueprint.ExecutionRow, err error) {
	defer wrap(&err, "unfinished executions")
	query, args := unfinishedQuery+unfinishedOrder, []any(nil)
	if s.nodes.id != 0 {
		query, args = unfinishedQuery+ownedQuery+unfinishedOrder, []any{s.nodes.id}
	}
	if mutant.Enabled {
		if err := mutantRecovery(ctx, s); err != nil {
			return nil, err
		}
	}
	err = readRows(ctx, s, &rows, query, args, fields(func(row *blueprint.ExecutionRow) []any {
		return executionFields(row, &row.BlueprintDeleted)
	}))
	return rows, err
}

// Execution returns the row of a run and, if it has ended, its record, to the user who
// started it and to users who can manage its blueprint; canManage reports whether the
// principal can. For other users, and for an unknown id, it is CodeNotFound. If the
// blueprint is deleted, only the user who started the run may read it.
func (s *Store) Execution(ctx context.Context, principal blueprint.Principal, id string) (stored *blueprint.StoredExecution, canManage bool, err error) {
	defer wrap(&err, "execution %s for user %s", id, principal.UserID)
	const query = "SELECT " + executionColumns + ", e.record, b.deleted_at IS NULL AND " + mayManage + ` AS manages
		FROM executions e JOIN blueprints b ON b.seq = e.blueprint_seq WHERE e.id = ?2`
	err = s.readOnce(ctx, func(q *session) error {
		stored = &blueprint.StoredExecution{}
		err := q.row(query, []any{principal.UserID, id}, executionFields(&stored.Row, &stored.Record, &canManage)...)
		if err == nil && !canManage && stored.Row.UserID != principal.UserID {
			err = sql.ErrNoRows
		}
		if err != nil {
			return orNotFound(err, "execution", id)
		}
		return checked(&stored.Record, recordPlace(stored.Row.ID))
	})
	if err != nil {
		return nil, false, err
	}
	return stored, canManage, nil
}

const newestFirst = " ORDER BY e.created_at DESC, e.id DESC"

// smallRecord is the size of the largest records that are read with a page. All records of a
// page are in memory at once.
const smallRecord = 64 << 10

// pageWithRecords returns the query of a page of runs with their small records. The runs are
// selected without records first, so that records of earlier pages are not read and sorted.
func pageWithRecords(where string) string {
	return "SELECT " + executionColumns + ", CASE WHEN length(e.record) <= " + strconv.Itoa(smallRecord) + " THEN e.record END FROM executions e WHERE e.seq IN (" + onPage(where) + ")" + newestFirst
}

// onPage returns the query of the ?2 runs after the first ?3.
func onPage(where string) string {
	return "SELECT e.seq FROM executions e " + where + newestFirst + " LIMIT ?2 OFFSET ?3"
}

// ExecutionLogs lists the runs of a blueprint, newest first, each with its record if it has
// ended and the record is small. A user who can manage the blueprint gets all of them, a user
// who may only see it gets their own. CodeNotFound, or CodeForbidden.
func (s *Store) ExecutionLogs(ctx context.Context, principal blueprint.Principal, blueprintID string, limit, offset int) (list []*blueprint.StoredExecution, err error) {
	defer wrap(&err, "execution logs of blueprint %s for user %s", blueprintID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		granted, err := accessTo(q, principal.UserID, blueprintID, blueprint.AccessSee)
		if err != nil {
			return err
		}
		where, args := "WHERE e.blueprint_seq = (SELECT seq FROM blueprints WHERE id = ?1)", []any{blueprintID, limit, offset}
		if granted.access < blueprint.AccessManage {
			where, args = where+" AND e.user_seq = (SELECT seq FROM users WHERE id = ?4)", append(args, principal.UserID)
		}
		list, err = listExecutions(q, pageWithRecords(where), args)
		return err
	})
	return list, err
}

// RecentExecutions lists, newest first, the principal's own runs and those of blueprints
// that the principal can manage, each with its record like ExecutionLogs. With an organization
// it lists only that organization's runs, and is CodeForbidden if the principal is not a
// member, whether the organization exists or not.
func (s *Store) RecentExecutions(ctx context.Context, principal blueprint.Principal, organizationID *string, limit, offset int) (list []*blueprint.StoredExecution, err error) {
	defer wrap(&err, "recent executions for user %s", principal.UserID)
	err = s.read(ctx, func(q *session) error {
		if organizationID == nil {
			list, err = listExecutions(q, pageWithRecords(mine(q.remote != nil)), []any{principal.UserID, limit, offset})
			return err
		}
		if err := memberOf(q, principal, *organizationID); err != nil {
			return err
		}
		const where = `WHERE e.organization_seq = (SELECT seq FROM organizations WHERE id = ?1)
			AND (e.user_seq = (SELECT seq FROM users WHERE id = ?4) OR EXISTS (SELECT 1 FROM blueprints b WHERE b.seq = e.blueprint_seq AND b.deleted_at IS NULL))`
		list, err = listExecutions(q, pageWithRecords(where), []any{*organizationID, limit, offset, principal.UserID})
		return err
	})
	return list, err
}

// mine selects the runs that user ?1 may see, limited to those a page may need: the newest
// of the user's own, of each organization of the user, and of each blueprint elsewhere that
// is shared with the user. Each part is read from the end of an index, no further than the
// page, so the cost does not grow with the number of runs. SQLite has no LATERAL, and
// PostgreSQL would evaluate a correlated list for each run.
func mine(remote bool) string {
	const page = " ORDER BY y.created_at DESC, y.id DESC LIMIT CAST(?2 AS BIGINT) + ?3"
	newest := func(in, of, where string) string {
		if remote {
			return "SELECT x.seq FROM " + in + " CROSS JOIN LATERAL (SELECT y.seq FROM executions y WHERE " + of + page + ") x WHERE " + where
		}
		return "SELECT x.seq FROM " + in + " CROSS JOIN executions x WHERE " + where + " AND x.seq IN (SELECT y.seq FROM executions y WHERE " + of + page + ")"
	}
	own := "SELECT seq FROM (SELECT y.seq FROM executions y WHERE y.user_seq = (SELECT seq FROM users WHERE id = ?1)" + page + ") own"
	inOrganizations := newest("memberships m JOIN organizations o ON o.id = m.organization_id",
		"y.organization_seq = o.seq AND EXISTS (SELECT 1 FROM blueprints b WHERE b.seq = y.blueprint_seq AND b.deleted_at IS NULL)", "m.user_id = ?1")
	shared := newest("blueprints b", "y.blueprint_seq = b.seq",
		`b.id IN (SELECT blueprint_id FROM collaborators WHERE user_id = ?1) AND b.deleted_at IS NULL
		AND b.organization_id NOT IN (SELECT organization_id FROM memberships WHERE user_id = ?1)`)
	return "WHERE e.seq IN (" + own + " UNION " + inOrganizations + " UNION " + shared + ")"
}

func listExecutions(q *session, query string, args []any) ([]*blueprint.StoredExecution, error) {
	list := []*blueprint.StoredExecution{}
	err := q.each(query, args, func(scan scanner) error {
		stored := &blueprint.StoredExecution{}
		list = append(list, stored)
		err := scan(executionFields(&stored.Row, &stored.Record)...)
		if err == nil && checked(&stored.Record, recordPlace(stored.Row.ID)) != nil {
			return nil // one damaged run must not hide the others: it is listed without its record
		}
		return err
	})
	return list, err
}
