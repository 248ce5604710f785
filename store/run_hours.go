package store

import (
	"context"

	"blueprintd/blueprint"
)

// hourMs is one hour in milliseconds.
const hourMs = 3_600_000

// hourOf returns the hour of an instant, counted from 1970.
func hourOf(at blueprint.Time) int64 { return int64(at) / hourMs }

// hourCounts counts the runs that end in one transaction of the writer, so that each
// blueprint and organization is written once however many runs share the transaction.
// A job that is undone alone is not counted.
type hourCounts struct {
	sums  map[runHour]blueprint.RunSums
	order []runHour // of arrival, so that the writes do not depend on the order of the map
}

// runHour is the key of a row of run_hours.
type runHour struct {
	scope string
	hour  int64
}

func (e *hourCounts) forget() {
	clear(e.sums)
	e.order = e.order[:0]
}

// add counts a run that has ended, if row is not nil.
func (e *hourCounts) add(row *blueprint.ExecutionRow) {
	if row == nil {
		return
	}
	took := max(0, int64(row.EndTime-row.StartTime))
	one := blueprint.RunSums{Duration: took, Slowest: took}
	if one.Completed = 1; row.Status == blueprint.StatusFailed {
		one.Completed, one.Failed = 0, 1
	}
	if e.sums == nil {
		e.sums = map[runHour]blueprint.RunSums{}
	}
	for _, scope := range [...]string{row.BlueprintID, row.OrganizationID} {
		key := runHour{scope, hourOf(row.EndTime)}
		sums, known := e.sums[key]
		if !known {
			e.order = append(e.order, key)
		}
		sums.Add(one)
		e.sums[key] = sums
	}
}

const addRunHour = `INSERT INTO run_hours (scope, hour, completed, failed, duration_ms, slowest_ms) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET completed = completed + excluded.completed, failed = failed + excluded.failed,
	duration_ms = duration_ms + excluded.duration_ms, slowest_ms = max(slowest_ms, excluded.slowest_ms)`

// write adds the counts to run_hours.
func (e *hourCounts) write(q *session) error {
	for _, key := range e.order {
		sums := e.sums[key]
		if _, err := q.exec(addRunHour, key.scope, key.hour, sums.Completed, sums.Failed, sums.Duration, sums.Slowest); err != nil {
			return err
		}
	}
	return nil
}

// The scopes of run_hours that belong to a filter's key ?1.
const (
	oneScope  = "SELECT ?1"
	ownScopes = "SELECT organization_id FROM memberships WHERE user_id = ?1"
)

// mostUnderWay is how many runs are searched for those that have not ended.
const mostUnderWay = 5000

// underWay counts those of the newest ?4 unfinished runs that user ?1 may see, by status: of a blueprint ?2, of an organization ?3, or with
// neither of all organizations of the user.
const underWay = `SELECT e.status, count(*) FROM (SELECT seq FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at DESC LIMIT ?4) newest
	CROSS JOIN executions e ON e.seq = newest.seq JOIN blueprints b ON b.id = e.blueprint_id
	WHERE CASE WHEN ?2 <> '' THEN e.blueprint_id = ?2 WHEN ?3 <> '' THEN e.organization_id = ?3
		ELSE e.organization_id IN (SELECT organization_id FROM memberships WHERE user_id = ?1) END
	AND (e.user_id = ?1 OR b.deleted_at IS NULL AND ` + mayManage + `) GROUP BY e.status`

// RunHours returns how many runs ended in each hour of a period, and how many have not
// ended now: of a blueprint to a user who can manage it (CodeNotFound, or
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
		err := collect(q, &found.Hours, query, []any{key, filter.From, filter.To}, fields(func(one *blueprint.RunHour) []any {
			return []any{&one.Hour, &one.Completed, &one.Failed, &one.Duration, &one.Slowest}
		}))
		if err != nil {
			return err
		}
		return q.each(underWay, []any{user, filter.BlueprintID, filter.OrganizationID, mostUnderWay}, func(scan scanner) error {
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

// endedIn returns the query of the sums of the hours from ?2 to before ?3 of some
// scopes.
func endedIn(scopes string) string {
	return `SELECT hour, sum(completed), sum(failed), sum(duration_ms), max(slowest_ms) FROM run_hours
		WHERE scope IN (` + scopes + `) AND hour >= ?2 AND hour < ?3 GROUP BY hour ORDER BY hour`
}
