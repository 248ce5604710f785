package store

import (
	"context"

	"blueprintd/blueprint"
)

// The scopes of run_hours that belong to a filter's key ?1.
const (
	oneScope  = "SELECT ?1"
	ownScopes = "SELECT organization_id FROM memberships WHERE user_id = ?1"
)

// endedIn sums up the hours from ?2 to before ?3 of some scopes.
func endedIn(scopes string) string {
	return `SELECT hour, sum(completed), sum(failed), sum(duration_ms), max(slowest_ms) FROM run_hours
		WHERE scope IN (` + scopes + `) AND hour >= ?2 AND hour < ?3 GROUP BY hour ORDER BY hour`
}

// mostUnderWay is how many runs are looked at for those that have not ended.
const mostUnderWay = 5000

// underWay counts those of the newest runs that have not ended, ?4 of them, that
// user ?1 may see, by status: of a blueprint ?2, of an organization ?3, or with
// neither of all organizations of the user.
const underWay = `SELECT e.status, count(*) FROM (SELECT seq FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at DESC LIMIT ?4) newest
	CROSS JOIN executions e ON e.seq = newest.seq JOIN blueprints b ON b.id = e.blueprint_id
	WHERE CASE WHEN ?2 <> '' THEN e.blueprint_id = ?2 WHEN ?3 <> '' THEN e.organization_id = ?3
		ELSE e.organization_id IN (SELECT organization_id FROM memberships WHERE user_id = ?1) END
	AND (e.user_id = ?1 OR b.deleted_at IS NULL AND ` + mayManage + `) GROUP BY e.status`

// RunHours gives what ended in each hour of a time, and how many runs there are
// now that have not ended: of a blueprint to who can manage it (CodeNotFound, or
// CodeForbidden), of an organization to its members (CodeForbidden), or of all
// organizations of the principal.
func (s *Store) RunHours(ctx context.Context, principal blueprint.Principal, filter blueprint.HoursFilter) (found blueprint.RunHours, err error) {
	defer wrap(&err, "hours of runs for user %s", principal.UserID)
	user, key, query := principal.UserID, principal.UserID, endedIn(ownScopes)
	err = s.read(ctx, func(q *session) error {
		if filter.OrganizationID != "" {
			if err := memberOf(q, principal, filter.OrganizationID); err != nil {
				return err
			}
			key, query = filter.OrganizationID, endedIn(oneScope)
		}
		if filter.BlueprintID != "" {
			if _, err := accessTo(q, user, filter.BlueprintID, blueprint.AccessManage); err != nil {
				return err
			}
			key, query = filter.BlueprintID, endedIn(oneScope)
		}
		err := q.each(query, []any{key, filter.From, filter.To}, func(scan func(...any) error) error {
			var one blueprint.RunHour
			err := scan(&one.Hour, &one.Completed, &one.Failed, &one.Duration, &one.Slowest)
			found.Hours = append(found.Hours, one)
			return err
		})
		if err != nil {
			return err
		}
		return q.each(underWay, []any{user, filter.BlueprintID, filter.OrganizationID, mostUnderWay}, func(scan func(...any) error) error {
			var status blueprint.Status
			var count int
			err := scan(&status, &count)
			if status == blueprint.StatusPaused {
				found.Paused = count
			} else {
				found.Running = count
			}
			return err
		})
	})
	return found, err
}
