package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// ranAgain tells that a firing f was run again by one whose run has not failed.
const ranAgain = ` EXISTS (SELECT 1 FROM firings r WHERE r.redelivery_of = f.id AND r.decision = 'started'
	AND coalesce((SELECT e.status FROM executions e WHERE e.id = r.execution_id), 'completed') <> 'failed')`

// failedAgain counts how often a firing f was run again by one whose run failed.
const failedAgain = `(SELECT count(*) FROM firings r JOIN executions e ON e.id = r.execution_id
	WHERE r.redelivery_of = f.id AND r.decision = 'started' AND e.status = 'failed')`

// cameOrTick tells that a firing f is of something that came, or of a tick: the
// server's own remarks in a ledger are not.
const cameOrTick = " (f.sealed_delivery IS NOT NULL OR f.due_at IS NOT NULL)"

// FiringsToRedeliver lists the rows of a trigger's ledger that a request is
// about: those behind its place that its filter lets through, but for
// redeliveries themselves, remarks of the server's own and, unless Again is set, those that were run again
// already without failing; the oldest first, at most its limit. It tells how
// many there are in all. It needs AccessManage: CodeNotFound, or CodeForbidden;
// CodeBadRequest when the place is none of the trigger's ledger.
func (s *Store) FiringsToRedeliver(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (list []blueprint.ToRedeliver, matched int, err error) {
	defer wrap(&err, "firings to run again of trigger %s for user %s", request.TriggerID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, request.TriggerID); err != nil {
			return err
		}
		passed, err := placeInLedger(q, request.TriggerID, request.After)
		if err != nil {
			return err
		}
		args, err := matchingArgs(q, request.TriggerID, &request.Filter)
		if err != nil {
			return err
		}
		args = append(args, request.Again, passed)
		chosen := along(&request.Filter) + " AND f.seq > ?11 AND f.source <> 'redelivery' AND" + cameOrTick + " AND (?10 OR NOT" + ranAgain + ")"
		if err := q.row("SELECT count(*)"+chosen, args, &matched); err != nil || matched == 0 {
			return err
		}
		return q.each("SELECT "+firingColumns+", "+failedAgain+chosen+" ORDER BY f.seq LIMIT ?12", append(args, request.Limit), func(scan func(...any) error) error {
			var one blueprint.ToRedeliver
			one.Firing, err = s.scanFiring(func(into ...any) error { return scan(append(into, &one.Failed)...) })
			list = append(list, one)
			return err
		})
	})
	return list, matched, err
}

// placeInLedger gives the seq of the firing behind which somebody goes on.
func placeInLedger(q *session, triggerID, after string) (seq int64, err error) {
	if after == "" || after == blueprint.FirstPlace {
		return 0, nil
	}
	err = q.row("SELECT seq FROM firings WHERE id = ? AND trigger_id = ?", []any{after, triggerID}, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"after"}, Message: "is no place in the trigger's ledger, or its row has been pruned; give from instead"}})
	}
	return seq, err
}

// redeliveries lists the firings that ran one again, the newest first.
func (s *Store) redeliveries(q *session, id string) ([]blueprint.Redelivery, error) {
	const query = `SELECT r.id, r.execution_id, r.received_at, r.decision, r.reason_code, r.sealed_reason,
		CASE WHEN r.execution_id IS NULL THEN '' ELSE coalesce((SELECT e.status FROM executions e WHERE e.id = r.execution_id), 'not_found') END
		FROM firings r WHERE r.redelivery_of = ? ORDER BY r.seq DESC LIMIT ?`
	list := []blueprint.Redelivery{}
	err := q.each(query, []any{id, blueprint.MaxRedeliveries}, func(scan func(...any) error) error {
		var r blueprint.Redelivery
		var code string
		var sealed []byte
		err := scan(&r.FiringID, &r.ExecutionID, &r.ReceivedAt, &r.Decision, &code, &sealed, &r.Status)
		r.Reason = s.openReason(r.FiringID, code, sealed).String()
		list = append(list, r)
		return err
	})
	return list, err
}
