package store

import (
	"cmp"
	"context"
	"slices"

	"blueprintd/blueprint"
)

// firingRun is what became of the run that row f names, "" when it names none.
const firingRun = `CASE WHEN f.execution_id IS NULL THEN '' ELSE coalesce((SELECT e.status FROM executions e WHERE e.id = f.execution_id), 'not_found') END`

func (s *Store) scanLedgerRow(scan func(...any) error) (row blueprint.LedgerRow, err error) {
	var status blueprint.Status
	row.Firing, err = s.scanFiring(func(into ...any) error { return scan(append(into, &status)...) })
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
			row, err := s.scanLedgerRow(scan)
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
			row, err := s.scanLedgerRow(scan)
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
		// What has no parameters is counted by the database.
		const whole = "(f.decision IN ('started', 'duplicate') OR f.source = 'redelivery')"
		counted := "SELECT f.decision, f.source = 'redelivery' AND f.decision NOT IN ('started', 'duplicate') AS again, iif(" + whole + ", '', f.reason_code) AS code, count(*), max(f.received_at)" +
			alongAll + " AND (" + whole + " OR f.sealed_reason IS NULL) GROUP BY f.decision, again, code"
		err = q.each(counted, args, func(scan func(...any) error) error {
			var c blueprint.ReasonCount
			err := scan(&c.Decision, &c.Redelivery, &c.Why.Code, &c.Count, &c.Last)
			list = append(list, c)
			return err
		})
		if err != nil {
			return err
		}
		type kind struct {
			decision blueprint.Decision
			sentence string
		}
		sums := map[kind]*blueprint.ReasonCount{}
		err = q.each("SELECT f.id, f.decision, f.reason_code, f.sealed_reason, f.received_at"+alongAll+" AND NOT "+whole+" AND f.sealed_reason IS NOT NULL", args, func(scan func(...any) error) error {
			var id, code string
			var sealed []byte
			c := blueprint.ReasonCount{Count: 1}
			err := scan(&id, &c.Decision, &code, &sealed, &c.Last)
			c.Why = s.openReason(id, code, sealed)
			of := kind{c.Decision, c.Why.String()}
			if sum := sums[of]; sum != nil {
				sum.Count, sum.Last = sum.Count+1, max(sum.Last, c.Last)
			} else {
				sums[of] = &c
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, sum := range sums {
			list = append(list, *sum)
		}
		slices.SortFunc(list, func(a, b blueprint.ReasonCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Decision, b.Decision), cmp.Compare(a.Why.String(), b.Why.String()))
		})
		list = list[:min(len(list), limit)]
		return nil
	})
	return list, err
}
