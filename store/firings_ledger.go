package store

import (
	"context"

	"blueprintd/blueprint"
)

// firingRun is what became of the run that row f names, "" when it names none.
const firingRun = `CASE WHEN f.execution_id IS NULL THEN '' ELSE coalesce((SELECT e.status FROM executions e WHERE e.id = f.execution_id), 'not_found') END`

func scanLedgerRow(scan func(...any) error) (row blueprint.LedgerRow, err error) {
	var status blueprint.Status
	row.Firing, err = scanFiring(func(into ...any) error { return scan(append(into, &status)...) })
	if err == nil && row.ExecutionID != nil {
		row.Run = &blueprint.FiringRun{ExecutionID: *row.ExecutionID, Status: status}
	}
	return row, err
}

// Ledger lists the newest rows of a trigger's ledger that a filter lets through,
// the newest first, at most limit, with what became of their runs. It needs
// AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) Ledger(ctx context.Context, principal blueprint.Principal, triggerID string, filter blueprint.FiringFilter, limit int) (list []blueprint.LedgerRow, err error) {
	defer wrap(&err, "ledger of trigger %s for user %s", triggerID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		args, err := matchingArgs(q, triggerID, &filter)
		if err != nil {
			return err
		}
		return q.each("SELECT "+firingColumns+", "+firingRun+along(&filter)+" ORDER BY f.seq DESC LIMIT ?10", append(args, limit), func(scan func(...any) error) error {
			row, err := scanLedgerRow(scan)
			list = append(list, row)
			return err
		})
	})
	return list, err
}

// mostTicks is how many rows are looked at for one tick.
const mostTicks = 100

// TickRows lists the rows of a schedule's ledger that can tell what became of
// the tick of an instant: those of that tick, and those for lots of ticks that
// end later; and those that ran it again; in the order in which they were decided. It needs AccessManage:
// CodeNotFound, or CodeForbidden.
func (s *Store) TickRows(ctx context.Context, principal blueprint.Principal, triggerID string, due blueprint.Time) (list []blueprint.LedgerRow, err error) {
	defer wrap(&err, "rows of a tick of trigger %s for user %s", triggerID, principal.UserID)
	filter := blueprint.FiringFilter{From: due}
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		first, last, err := firingWindow(q, triggerID, &filter)
		if err != nil {
			return err
		}
		query := "SELECT " + firingColumns + ", " + firingRun + ` FROM firings f INDEXED BY firings_trigger WHERE f.trigger_id = ?1 AND f.seq BETWEEN ?2 AND ?3
			AND f.source IN ('schedule', 'redelivery') AND (f.due_at = ?4 OR f.due_at > ?4 AND f.decision IN ('coalesced', 'skipped')) ORDER BY f.seq LIMIT ?5`
		return q.each(query, []any{triggerID, first, last, int64(due), mostTicks}, func(scan func(...any) error) error {
			row, err := scanLedgerRow(scan)
			list = append(list, row)
			return err
		})
	})
	return list, err
}

// ReasonCounts sums up the rows of a trigger's ledger since a time by decision
// and, for those that started no run, by reason, redeliveries among them by none: the most first, at most limit.
// It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) ReasonCounts(ctx context.Context, principal blueprint.Principal, triggerID string, since blueprint.Time, limit int) (list []blueprint.ReasonCount, err error) {
	defer wrap(&err, "sums of the ledger of trigger %s for user %s", triggerID, principal.UserID)
	filter := blueprint.FiringFilter{From: since}
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		args, err := matchingArgs(q, triggerID, &filter)
		if err != nil {
			return err
		}
		query := `SELECT f.decision, CASE WHEN f.decision IN ('started', 'duplicate') THEN '' WHEN f.source = 'redelivery' THEN 'redelivery' ELSE f.reason END AS why, count(*), max(f.received_at)` +
			alongAll + " GROUP BY f.decision, why ORDER BY count(*) DESC, f.decision, why LIMIT ?10"
		return q.each(query, append(args, limit), func(scan func(...any) error) error {
			var c blueprint.ReasonCount
			err := scan(&c.Decision, &c.Reason, &c.Count, &c.Last)
			list = append(list, c)
			return err
		})
	})
	return list, err
}
