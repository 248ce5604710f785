package store

import (
	"context"

	"blueprintd/blueprint"
)

// ranAgain tells that a firing f was run again by one whose run has not failed.
const ranAgain = ` EXISTS (SELECT 1 FROM firings r WHERE r.redelivery_of = f.id AND r.decision = 'started'
	AND coalesce((SELECT e.status FROM executions e WHERE e.id = r.execution_id), 'completed') <> 'failed')`

// FiringsToRedeliver lists the rows of a trigger's ledger that a filter lets
// through, but for redeliveries themselves and, unless again is set, those that
// were run again already without failing: the oldest first, at most limit. It
// tells how many there are in all. It needs AccessManage: CodeNotFound, or
// CodeForbidden.
func (s *Store) FiringsToRedeliver(ctx context.Context, principal blueprint.Principal, triggerID string, filter blueprint.FiringFilter, again bool, limit int) (list []blueprint.Firing, matched int, err error) {
	defer wrap(&err, "firings to run again of trigger %s for user %s", triggerID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		args, err := matchingArgs(q, triggerID, &filter)
		if err != nil {
			return err
		}
		args = append(args, again)
		chosen := along(&filter) + " AND f.source <> 'redelivery' AND (?10 OR NOT" + ranAgain + ")"
		if err := q.row("SELECT count(*)"+chosen, args, &matched); err != nil || matched == 0 {
			return err
		}
		return q.each("SELECT "+firingColumns+chosen+" ORDER BY f.seq LIMIT ?11", append(args, limit), func(scan func(...any) error) error {
			firing, err := scanFiring(scan)
			list = append(list, firing)
			return err
		})
	})
	return list, matched, err
}

// redeliveries lists the firings that ran one again, the newest first.
func redeliveries(q *session, id string) ([]blueprint.Redelivery, error) {
	const query = `SELECT r.id, r.execution_id, r.received_at, r.decision, r.reason FROM firings r
		WHERE r.redelivery_of = ? ORDER BY r.seq DESC LIMIT ?`
	list := []blueprint.Redelivery{}
	err := q.each(query, []any{id, blueprint.MaxRedeliveries}, func(scan func(...any) error) error {
		var r blueprint.Redelivery
		err := scan(&r.FiringID, &r.ExecutionID, &r.ReceivedAt, &r.Decision, &r.Reason)
		list = append(list, r)
		return err
	})
	return list, err
}
