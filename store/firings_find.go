package store

import (
	"context"
	"math"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// matching chooses rows f of the ledger by a blueprint.FiringFilter; matchingArgs
// gives what stands in for its numbers.
const matching = ` f.trigger_id = ?1 AND f.seq BETWEEN ?2 AND ?3 AND f.received_at >= ?4 AND f.received_at < ?5
	AND (?6 = '' OR instr(?6, ' ' || f.decision || ' ') > 0) AND (?7 = '' OR instr(?7, ' ' || f.source || ' ') > 0) AND (?8 = '' OR f.key = ?8)
	AND (?9 = '' OR f.decision = 'started' AND ?9 = (SELECT e.status FROM executions e WHERE e.id = f.execution_id))`

// The ways to the rows of a trigger that a filter can let through: all in its
// span of time; those of one decision that starts nothing; those of a key; and
// those of runs with a status that few have. The first two are in the order of
// seq.
const (
	alongAll = " FROM firings f INDEXED BY firings_trigger WHERE" + matching
	alongOne = " FROM firings f INDEXED BY firings_unstarted WHERE f.decision <> 'started' AND f.decision = trim(?6) AND" + matching
	alongKey = ` FROM firings f WHERE f.seq IN (
		SELECT k.seq FROM firings k INDEXED BY firings_started WHERE k.trigger_id = ?1 AND k.key = ?8 AND k.decision = 'started' UNION ALL
		SELECT k.seq FROM firings k INDEXED BY firings_unstarted WHERE k.trigger_id = ?1 AND k.key = ?8 AND k.decision <> 'started') AND` + matching
	// A run ends after its firing was received; a day is for clocks that were set back.
	alongFailed = ` FROM firings f WHERE f.id IN (SELECT e.firing_id FROM executions e INDEXED BY executions_failed
		WHERE e.status = 'failed' AND e.trigger_id = ?1 AND e.end_time >= ?4 - 86400000) AND` + matching
	alongUnfinished = ` FROM firings f WHERE f.id IN (SELECT e.firing_id FROM executions e INDEXED BY executions_unfinished
		WHERE e.status = ?9 AND e.end_time IS NULL AND e.trigger_id = ?1) AND` + matching
)

// along chooses the way for a filter.
func along(filter *blueprint.FiringFilter) string {
	switch {
	case filter.Key != "":
		return alongKey
	case filter.Status == blueprint.StatusFailed:
		return alongFailed
	case filter.Status != "" && !filter.Status.Terminal():
		return alongUnfinished
	case len(filter.Decisions) == 1 && filter.Decisions[0] != blueprint.DecisionStarted:
		return alongOne
	}
	return alongAll
}

// countMatching tells how many rows a filter lets through. Those that started a
// run, most of a ledger, are reckoned as all but the others.
func countMatching(q *session, filter *blueprint.FiringFilter, args []any) (total int, err error) {
	rest := *filter
	rest.Decisions = nil
	if !rest.IsZero() || len(filter.Decisions) != 1 || filter.Decisions[0] != blueprint.DecisionStarted {
		err = q.row("SELECT count(*)"+along(filter), args, &total)
		return total, err
	}
	const started = `SELECT coalesce((SELECT firings FROM firing_counts WHERE trigger_id = ?1), 0) -
		(SELECT count(*) FROM firings INDEXED BY firings_unstarted WHERE trigger_id = ?1 AND decision <> 'started')`
	err = q.row(started, args[:1], &total)
	return total, err
}

func matchingArgs(q *session, triggerID string, filter *blueprint.FiringFilter) ([]any, error) {
	from, to := int64(filter.From), int64(filter.To)
	first, last, err := firingWindow(q, triggerID, filter)
	if filter.From == 0 {
		from = math.MinInt64 / 2
	}
	if filter.To == 0 {
		to = math.MaxInt64
	}
	return []any{triggerID, first, last, from, to, spaced(filter.Decisions), spaced(filter.Sources), filter.Key, string(filter.Status)}, err
}

// spaced joins words such that each has a blank on both sides.
func spaced[T ~string](words []T) string {
	text := ""
	for _, word := range words {
		text += " " + string(word) + " "
	}
	return strings.ReplaceAll(text, "  ", " ")
}

// clockSlack is how far rows may be out of order because the clock was set back:
// those of an hour that came twice are found as well. Rows that a clock misplaced
// by more are left out of a span of time that it does not cover.
const clockSlack = 24 * time.Hour

// firingWindow gives the first and the last row of a trigger that a filter's
// span of time can hold. Rows are in the order of time, so it looks at a few.
func firingWindow(q *session, triggerID string, filter *blueprint.FiringFilter) (first, last int64, err error) {
	const ends = `SELECT coalesce((SELECT seq FROM firings INDEXED BY firings_trigger WHERE trigger_id = ?1 ORDER BY seq LIMIT 1), 1),
		coalesce((SELECT seq FROM firings INDEXED BY firings_trigger WHERE trigger_id = ?1 ORDER BY seq DESC LIMIT 1), 0)`
	if err := q.row(ends, []any{triggerID}, &first, &last); err != nil || first > last {
		return first, last, err
	}
	const slack = blueprint.Time(clockSlack / time.Millisecond)
	upTo := last
	if filter.To != 0 {
		if last, err = firstSince(q, triggerID, first, upTo, filter.To+slack); err != nil {
			return 0, 0, err
		}
	}
	if filter.From != 0 {
		first, err = firstSince(q, triggerID, first, upTo, filter.From-slack)
	}
	return first, last, err
}

// firstSince gives the first of a trigger's rows from low to high that was
// received at a time or later, or one beyond high. There is a row at high.
func firstSince(q *session, triggerID string, low, high int64, at blueprint.Time) (int64, error) {
	const next = "SELECT f.seq, f.received_at FROM firings f INDEXED BY firings_trigger WHERE f.trigger_id = ? AND f.seq >= ? ORDER BY f.seq LIMIT 1"
	for low <= high {
		middle := low + (high-low)/2
		var seq int64
		var received blueprint.Time
		if err := q.row(next, []any{triggerID, middle}, &seq, &received); err != nil {
			return 0, err
		}
		if received >= at {
			high = middle - 1
		} else {
			low = seq + 1
		}
	}
	return low, nil
}

// FindFirings lists the rows of a trigger's ledger that a filter lets through,
// the newest first, and tells how many these are in all. The work grows with the
// rows of the filter's span of time, or of what chooses fewer: its one decision
// that starts nothing, its key, its status unless that is completed. It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) FindFirings(ctx context.Context, principal blueprint.Principal, triggerID string, filter blueprint.FiringFilter, limit, offset int) (list []blueprint.Firing, total int, err error) {
	if filter.IsZero() {
		return s.Firings(ctx, principal, triggerID, limit, offset)
	}
	defer wrap(&err, "find firings of trigger %s for user %s", triggerID, principal.UserID)
	list = []blueprint.Firing{}
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		args, err := matchingArgs(q, triggerID, &filter)
		if err != nil {
			return err
		}
		if total, err = countMatching(q, &filter, args); err != nil || offset >= total {
			return err
		}
		query := "SELECT " + firingColumns + along(&filter) + " ORDER BY f.seq DESC LIMIT ?10 OFFSET ?11"
		return q.each(query, append(args, limit, offset), func(scan func(...any) error) error {
			firing, err := s.scanFiring(scan)
			list = append(list, firing)
			return err
		})
	})
	return list, total, err
}
