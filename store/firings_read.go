package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// matching selects rows f of the ledger by a filter, whose arguments are ledgerArgs.
const matching = ` f.trigger_seq = ` + thisTrigger + ` AND f.seq BETWEEN ?2 AND ?3 AND f.received_at >= ?4 AND f.received_at < ?5
	AND (?6 = '' OR instr(?6, ' ' || f.decision || ' ') > 0) AND (?7 = '' OR instr(?7, ' ' || f.source || ' ') > 0) AND (?8 = '' OR coalesce(f.key, f.id) = ?8)
	AND (?9 = '' OR f.decision = 'started' AND ?9 = (SELECT e.status FROM executions e WHERE e.id = f.execution_id))`

// The access paths to the rows of a trigger that a filter may select: all within its
// period; those of one decision that starts nothing; those of a key; and those of runs with
// a rare status. The first two are ordered by seq.
const (
	alongAll = " FROM firings f INDEXED BY firings_trigger WHERE" + matching
	alongOne = " FROM firings f INDEXED BY firings_unstarted WHERE f.decision <> 'started' AND f.decision = trim(?6) AND" + matching
	alongKey = ` FROM firings f WHERE f.seq IN (
		SELECT k.seq FROM firings k WHERE k.id = ?8 AND k.key IS NULL UNION ALL
		SELECT k.seq FROM firings k INDEXED BY firings_started WHERE k.trigger_seq = ` + thisTrigger + ` AND k.key = ?8 AND k.decision = 'started' UNION ALL
		SELECT k.seq FROM firings k INDEXED BY firings_unstarted WHERE k.trigger_seq = ` + thisTrigger + ` AND k.key = ?8 AND k.decision <> 'started') AND` + matching
	// A run ends after its firing; the extra day allows for clocks that were set back.
	alongFailed = ` FROM firings f WHERE f.id IN (SELECT e.firing_id FROM executions e INDEXED BY executions_trigger
		WHERE e.status = 'failed' AND e.trigger_seq = ` + thisTrigger + ` AND e.end_time >= ?4 - CAST(86400000 AS BIGINT)) AND` + matching
	alongUnfinished = ` FROM firings f WHERE f.id IN (SELECT e.firing_id FROM executions e INDEXED BY executions_unfinished
		WHERE e.status = ?9 AND e.end_time IS NULL AND e.trigger_seq = ` + thisTrigger + `) AND` + matching
)

// FindFirings lists the rows of a trigger's ledger that match a filter, newest first, and
// returns their total number. The cost grows with the number of rows in the filter's
// period, or with fewer if the filter has a decision that starts nothing, a key, or a
// status other than completed. It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) FindFirings(ctx context.Context, principal blueprint.Principal, triggerID string, filter blueprint.FiringFilter, limit, offset int) (list []blueprint.Firing, total int, err error) {
	if filter.IsZero() {
		return s.Firings(ctx, principal, triggerID, limit, offset)
	}
	defer wrap(&err, "find firings of trigger %s for user %s", triggerID, principal.UserID)
	list = []blueprint.Firing{}
	err = s.read(ctx, func(q *session) error {
		args, err := s.ledgerArgs(q, principal, triggerID, &filter)
		if err != nil {
			return err
		}
		if total, err = countMatching(q, &filter, args); err != nil || offset >= total {
			return err
		}
		query := "SELECT " + firingColumns + along(&filter) + " ORDER BY f.seq DESC LIMIT ?10 OFFSET ?11"
		return collect(q, &list, query, append(args, limit, offset), s.scanFiring)
	})
	return list, total, err
}

// firingRun selects the status of the run that row f names, "" for none.
const firingRun = `CASE WHEN f.execution_id IS NULL THEN '' ELSE coalesce((SELECT e.status FROM executions e WHERE e.id = f.execution_id), 'not_found') END`

func (s *Store) scanLedgerRow(scan scanner) (row blueprint.LedgerRow, err error) {
	var status blueprint.Status
	row.Firing, err = s.scanFiring(also(scan, &status))
	if err == nil && row.ExecutionID != nil {
		row.Run = &blueprint.FiringRun{ExecutionID: *row.ExecutionID, Status: status}
	}
	return row, err
}

// Ledger lists the newest rows of a trigger's ledger that match a filter, newest first, at
// most limit, with the status of their runs. It needs AccessManage.
func (s *Store) Ledger(ctx context.Context, principal blueprint.Principal, triggerID string, filter blueprint.FiringFilter, limit int) (list []blueprint.LedgerRow, err error) {
	defer wrap(&err, "ledger of trigger %s for user %s", triggerID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		args, err := s.ledgerArgs(q, principal, triggerID, &filter)
		if err != nil {
			return err
		}
		return collect(q, &list, "SELECT "+firingColumns+", "+firingRun+along(&filter)+" ORDER BY f.seq DESC LIMIT ?10", append(args, limit), s.scanLedgerRow)
	})
	return list, err
}

// mostTicks is the maximum number of rows read for one tick.
const mostTicks = 100

// TickRows lists the rows of a schedule's ledger that may explain the tick of an
// instant: those of that tick, those of groups of ticks that end later, and those that
// ran it again, in the order of their decisions. It needs AccessManage: CodeNotFound,
// or CodeForbidden.
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
		query := "SELECT " + firingColumns + ", " + firingRun + ` FROM firings f INDEXED BY firings_trigger WHERE f.trigger_seq = ` + thisTrigger + ` AND f.seq BETWEEN ?2 AND ?3
			AND f.source IN ('schedule', 'redelivery') AND (f.due_at = ?4 OR f.due_at > ?4 AND f.decision IN ('coalesced', 'skipped')) ORDER BY f.seq LIMIT ?5`
		return collect(q, &list, query, []any{triggerID, first, last, int64(due), mostTicks}, s.scanLedgerRow)
	})
	return list, err
}

// ReasonCounts counts the rows of a trigger's ledger since a time by decision and, for
// those that started no run, by reason, most frequent first, at most limit. Redeliveries
// have no reason. It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) ReasonCounts(ctx context.Context, principal blueprint.Principal, triggerID string, since blueprint.Time, limit int) (list []blueprint.ReasonCount, err error) {
	defer wrap(&err, "sums of the ledger of trigger %s for user %s", triggerID, principal.UserID)
	filter := blueprint.FiringFilter{From: since}
	err = s.read(ctx, func(q *session) error {
		args, err := s.ledgerArgs(q, principal, triggerID, &filter)
		if err != nil {
			return err
		}
		// Reasons without parameters are counted by the database.
		const whole = "(f.decision IN ('started', 'duplicate') OR f.source = 'redelivery')"
		counted := "SELECT f.decision, f.source = 'redelivery' AND f.decision NOT IN ('started', 'duplicate') AS again, CASE WHEN " + whole + " THEN '' ELSE f.reason_code END AS code, count(*), max(f.received_at)" +
			alongAll + " AND (" + whole + " OR f.sealed_reason IS NULL) GROUP BY f.decision, again, code"
		err = collect(q, &list, counted, args, fields(func(c *blueprint.ReasonCount) []any {
			return []any{&c.Decision, &c.Redelivery, &c.Why.Code, &c.Count, &c.Last}
		}))
		if err != nil {
			return err
		}
		type kind struct {
			decision blueprint.Decision
			sentence string
		}
		sums := map[kind]*blueprint.ReasonCount{}
		err = q.each("SELECT f.id, f.decision, f.reason_code, f.sealed_reason, f.received_at"+alongAll+" AND NOT "+whole+" AND f.sealed_reason IS NOT NULL", args, func(scan scanner) error {
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

// ranAgain is true for a firing f with a redelivery or a rerun whose run has not failed.
const ranAgain = ` EXISTS (SELECT 1 FROM firings r WHERE r.redelivery_of = f.id AND r.decision = 'started'
	AND coalesce((SELECT e.status FROM executions e WHERE e.id = r.execution_id), 'completed') <> 'failed')`

// failedAgain counts the redeliveries and reruns of a firing f whose run failed.
const failedAgain = `(SELECT count(*) FROM firings r JOIN executions e ON e.id = r.execution_id
	WHERE r.redelivery_of = f.id AND r.decision = 'started' AND e.status = 'failed')`

// deliveryOrTick is true for a firing f of a delivery or of a tick, not for the
// server's own entries in a ledger.
const deliveryOrTick = " (f.sealed_delivery IS NOT NULL OR f.due_at IS NOT NULL)"

// FiringsToRedeliver lists the rows of a trigger's ledger that a request selects, oldest
// first, at most its limit: those after its position that match its filter, except
// redeliveries, the server's own entries and, unless Again is set, firings with a rerun that
// did not fail. It returns their total number. It needs AccessManage: CodeNotFound, or
// CodeForbidden; CodeBadRequest if the position is not in the ledger of the trigger.
func (s *Store) FiringsToRedeliver(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (list []blueprint.RedeliveryCandidate, matched int, err error) {
	defer wrap(&err, "firings to run again of trigger %s for user %s", request.TriggerID, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		args, err := s.ledgerArgs(q, principal, request.TriggerID, &request.Filter)
		if err != nil {
			return err
		}
		passed, err := placeInLedger(q, request.TriggerID, request.After)
		if err != nil {
			return err
		}
		args = append(args, request.Again, passed)
		chosen := along(&request.Filter) + " AND f.seq > ?11 AND f.source <> 'redelivery' AND" + deliveryOrTick + " AND (?10 OR NOT" + ranAgain + ")"
		if err := q.row("SELECT count(*)"+chosen, args, &matched); err != nil || matched == 0 {
			return err
		}
		return collect(q, &list, "SELECT "+firingColumns+", "+failedAgain+chosen+" ORDER BY f.seq LIMIT ?12", append(args, request.Limit), func(scan scanner) (one blueprint.RedeliveryCandidate, err error) {
			one.Firing, err = s.scanFiring(also(scan, &one.Failed))
			return one, err
		})
	})
	return list, matched, err
}

// placeInLedger returns the seq of the firing after which a request continues.
func placeInLedger(q *session, triggerID, after string) (seq int64, err error) {
	if after == "" || after == blueprint.FirstCursor {
		return 0, nil
	}
	err = q.row("SELECT seq FROM firings WHERE id = ?2 AND trigger_seq = "+thisTrigger, []any{triggerID, after}, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"after"}, Message: "is not a position in the trigger's ledger, or its row has been pruned; give from instead"}})
	}
	return seq, err
}

// redeliveries lists the redeliveries and reruns of a firing, newest first.
func (s *Store) redeliveries(q *session, id string) ([]blueprint.Redelivery, error) {
	const query = "SELECT f.id, f.execution_id, f.received_at, f.decision, f.reason_code, f.sealed_reason, " + firingRun +
		" FROM firings f WHERE f.redelivery_of = ? ORDER BY f.seq DESC LIMIT ?"
	list := []blueprint.Redelivery{}
	err := collect(q, &list, query, []any{id, blueprint.MaxRedeliveries}, func(scan scanner) (r blueprint.Redelivery, err error) {
		var code string
		var sealed []byte
		err = scan(&r.FiringID, &r.ExecutionID, &r.ReceivedAt, &r.Decision, &code, &sealed, &r.Status)
		r.Reason = s.openReason(r.FiringID, code, sealed).String()
		return r, err
	})
	return list, err
}

// along returns the access path for a filter.
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

// countMatching returns the number of rows that match a filter. Rows that started a run,
// most of a ledger, are counted as all rows minus the others.
func countMatching(q *session, filter *blueprint.FiringFilter, args []any) (total int, err error) {
	rest := *filter
	rest.Decisions = nil
	if !rest.IsZero() || len(filter.Decisions) != 1 || filter.Decisions[0] != blueprint.DecisionStarted {
		err = q.row("SELECT count(*)"+along(filter), args, &total)
		return total, err
	}
	const started = `SELECT coalesce((SELECT firings FROM firing_counts WHERE trigger_seq = ` + thisTrigger + `), 0) -
		(SELECT count(*) FROM firings INDEXED BY firings_unstarted WHERE trigger_seq = ` + thisTrigger + ` AND decision <> 'started')`
	err = q.row(started, args[:1], &total)
	return total, err
}

// ledgerArgs returns the arguments of a filter for a trigger that the principal can
// manage: CodeNotFound, or CodeForbidden.
func (s *Store) ledgerArgs(q *session, principal blueprint.Principal, triggerID string, filter *blueprint.FiringFilter) ([]any, error) {
	if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
		return nil, err
	}
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

// spaced joins words so that each has a blank on both sides; "" for none.
func spaced[T ~string](words []T) string {
	text := ""
	for _, word := range words {
		text += " " + string(word) + " "
	}
	return strings.ReplaceAll(text, "  ", " ")
}

// clockSlack is how far rows may be out of order because the clock was set back: rows of an
// hour that occurred twice are found as well. Rows that are further out of order are not
// found in a period that does not include them.
const clockSlack = 24 * time.Hour

// firingWindow returns the first and the last row of a trigger within a filter's period.
// Rows are ordered by time, so it reads only a few.
func firingWindow(q *session, triggerID string, filter *blueprint.FiringFilter) (first, last int64, err error) {
	const ends = `SELECT coalesce((SELECT seq FROM firings INDEXED BY firings_trigger WHERE trigger_seq = ` + thisTrigger + ` ORDER BY seq LIMIT 1), 1),
		coalesce((SELECT seq FROM firings INDEXED BY firings_trigger WHERE trigger_seq = ` + thisTrigger + ` ORDER BY seq DESC LIMIT 1), 0)`
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

// firstSince returns the first of a trigger's rows from low to high that was
// received at a time or later, or one beyond high. There is a row at high.
func firstSince(q *session, triggerID string, low, high int64, at blueprint.Time) (int64, error) {
	const next = "SELECT f.seq, f.received_at FROM firings f INDEXED BY firings_trigger WHERE f.trigger_seq = " + thisTrigger + " AND f.seq >= ?2 ORDER BY f.seq LIMIT 1"
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
