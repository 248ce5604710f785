package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/planted"
)

// executionColumns selects the row of execution e.
const executionColumns = `e.id, e.log_id, e.blueprint_id, e.blueprint_version, e.organization_id, e.user_id, coalesce(e.trigger_id, ''),
	coalesce(e.firing_id, ''), coalesce(e.parent_execution_id, ''), e.status, e.created_at, e.updated_at, e.start_time, coalesce(e.end_time, 0)`

func scanExecution(scan func(...any) error, r *blueprint.ExecutionRow, more ...any) error {
	into := []any{
		&r.ID, &r.LogID, &r.BlueprintID, &r.BlueprintVersion, &r.OrganizationID, &r.UserID, &r.TriggerID,
		&r.FiringID, &r.ParentExecutionID, &r.Status, &r.CreatedAt, &r.UpdatedAt, &r.StartTime, &r.EndTime,
	}
	return scan(append(into, more...)...)
}

// Load gives all that is stored of a run: the journal of one that has not
// ended, the record and state of one that has. CodeNotFound when there is
// none. It asks for no principal: it is for the engine.
func (s *Store) Load(ctx context.Context, id string) (stored *blueprint.StoredExecution, err error) {
	defer wrap(&err, "load execution %s", id)
	stored = &blueprint.StoredExecution{}
	err = s.read(ctx, func(q *session) error {
		var seq int64
		err := scanExecution(func(into ...any) error {
			return q.row("SELECT "+executionColumns+", e.seq, e.record, e.state FROM executions e WHERE e.id = ?", []any{id}, into...)
		}, &stored.Row, &seq, &stored.Record, &stored.State)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("execution", id)
		}
		if err != nil {
			return err
		}
		if err := checkedRun(stored); err != nil {
			return err
		}
		return q.each("SELECT position, entry FROM journal WHERE execution = ? ORDER BY position", []any{seq}, func(scan func(...any) error) error {
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
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// Unfinished lists the runs that have not ended, oldest first. It asks for no
// principal: it is for the engine.
func (s *Store) Unfinished(ctx context.Context) (rows []blueprint.ExecutionRow, err error) {
	defer wrap(&err, "unfinished executions")
	const query = "SELECT " + executionColumns + `, b.deleted_at IS NOT NULL
		FROM executions e JOIN blueprints b ON b.id = e.blueprint_id WHERE e.end_time IS NULL ORDER BY e.created_at, e.seq`
	if planted.Possible {
		if err := plantedRecovery(ctx, s); err != nil {
			return nil, err
		}
	}
	err = s.read(ctx, func(q *session) error {
		return q.each(query, nil, func(scan func(...any) error) error {
			var row blueprint.ExecutionRow
			err := scanExecution(scan, &row, &row.BlueprintDeleted)
			rows = append(rows, row)
			return err
		})
	})
	return rows, err
}

// Execution gives the row of a run and, when it has ended, its record, to the
// user who triggered it and to who can manage its blueprint; canManage tells
// which. For anybody else, and for an id that no run has, it is CodeNotFound.
// Of a deleted blueprint only the first remains.
func (s *Store) Execution(ctx context.Context, principal blueprint.Principal, id string) (stored *blueprint.StoredExecution, canManage bool, err error) {
	defer wrap(&err, "execution %s for user %s", id, principal.UserID)
	const query = "SELECT " + executionColumns + ", e.record, b.deleted_at IS NULL AND " + mayManage + `
		FROM executions e JOIN blueprints b ON b.id = e.blueprint_id WHERE e.id = ?2`
	found := &blueprint.StoredExecution{}
	err = s.read(ctx, func(q *session) error {
		err := scanExecution(func(into ...any) error {
			return q.row(query, []any{principal.UserID, id}, into...)
		}, &found.Row, &found.Record, &canManage)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !canManage && found.Row.UserID != principal.UserID {
			return notFound("execution", id)
		}
		if err != nil {
			return err
		}
		return checked(&found.Record, recordPlace(found.Row.ID))
	})
	if err != nil {
		return nil, false, err
	}
	return found, canManage, nil
}
