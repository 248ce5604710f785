package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// The queries in this file end in LIMIT ? + 0, because SQLite recompiles a statement for
// each value of a plain LIMIT ?.

// endedRuns selects the next runs to remove with a status that ofStatus fills in, from end
// ?1, ?2 (exclusive) up to ?3, ?4. The record of a run that another run started stays until
// that one ends.
const endedRuns = `SELECT e.end_time, e.seq, coalesce(length(e.record), 0) + coalesce(length(e.state), 0) FROM executions e
	WHERE e.status = 'STATUS' AND (e.end_time, e.seq) > (?1, ?2) AND (e.end_time, e.seq) <= (?3, ?4)
	AND NOT EXISTS (SELECT 1 FROM executions p WHERE p.id = e.parent_execution_id AND p.end_time IS NULL)
	ORDER BY e.end_time, e.seq LIMIT ?5 + 0`

// ofStatus returns a query with a status in it. Each status has an index of its own,
// which SQLite uses only if it sees the status when it compiles the query.
func ofStatus(query string, status blueprint.Status) string {
	return strings.Replace(query, "STATUS", string(status), 1)
}

// executionStep removes some runs that ended after from and up to upTo. It returns
// where to continue, whether there may be more, and how many it removed. The runs
// are selected outside the write: ended runs do not change.
func (p *pruner) executionStep(ctx context.Context, status blueprint.Status, from, upTo end) (next end, more bool, removed int, err error) {
	next = from
	var rows []int64
	size := 0
	rowsWanted := p.rows()
	args := []any{int64(from.at), from.seq, int64(upTo.at), upTo.seq, rowsWanted}
	err = p.read(ctx, func(q *session) error {
		return q.each(ofStatus(endedRuns, status), args, func(scan scanner) error {
			var one end
			var bytes int
			if err := scan(&one.at, &one.seq, &bytes); err != nil || size > pruneBytes {
				return err
			}
			size += bytes
			rows, next = append(rows, one.seq), one
			return nil
		})
	})
	if err == nil {
		err = p.remove(ctx, "DELETE FROM executions WHERE seq = ?", rows)
	}
	if err == nil {
		p.counts.prunedRuns.Add(int64(len(rows)))
	}
	return next, len(rows) == rowsWanted || size > pruneBytes, len(rows), err
}

// remove deletes rows in one step.
func (p *pruner) remove(ctx context.Context, query string, rows []int64) error {
	if len(rows) == 0 {
		return nil
	}
	return p.step(ctx, func(t *transaction) error {
		for _, seq := range rows {
			if _, err := t.exec(query, seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// nextFirings selects the rows of the ledger after ?1, each with whether it may be removed:
// it is from before ?2 or not after row ?3, it started nothing unless ?6 is set, its run
// has ended, and its tick is decided. The key of a delivery that started a run has to be
// older than ?4; a tick is kept from running again by its schedule, and a delivery without
// a key has its own id.
const nextFirings = `SELECT f.seq, f.received_at, (f.received_at < ?2 OR f.seq <= ?3) AND (?6 OR f.decision <> 'started')
		AND (f.decision <> 'started' OR f.key IS NULL OR f.due_at IS NOT NULL OR f.received_at < ?4)
		AND NOT EXISTS (SELECT 1 FROM executions e WHERE e.id = f.execution_id AND e.end_time IS NULL)
		AND (f.due_at IS NULL OR f.due_at <= (SELECT t.cursor_at FROM triggers t WHERE t.seq = f.trigger_seq))
	FROM firings f WHERE f.seq > ?1 ORDER BY f.seq LIMIT ?5 + 0`

// firingBounds say which rows of the ledger may be removed.
type firingBounds struct {
	before  blueprint.Time // by time
	upTo    int64          // by order
	dead    blueprint.Time // rows with a key that may occur again: only from before this
	started bool           // also those that started a run
}

func (p *pruner) pruneFirings(ctx context.Context) error {
	keep, now := p.options.KeepFirings, p.options.Clock.Now()
	bounds := firingBounds{dead: blueprint.TimeOf(now.Add(-keyLife)), started: true}
	switch {
	case keep.all():
		return nil
	case keep.Rows > 0:
		err := p.readRow(ctx, "SELECT coalesce(max(seq), 0) - ? FROM firings", []any{keep.Rows}, &bounds.upTo)
		if err != nil {
			return err
		}
	default:
		bounds.before = blueprint.TimeOf(now.Add(-keep.Age))
	}
	for from, more := int64(0), true; more; {
		var err error
		if from, more, _, err = p.firingStep(ctx, from, bounds); err != nil {
			return err
		}
	}
	return nil
}

// errFull ends the search for rows when a step has enough.
var errFull = errors.New("store: the step is full")

// firingStep removes some rows of the ledger after from. It returns where to
// continue, whether there may be more, and how many it removed.
func (p *pruner) firingStep(ctx context.Context, from int64, bounds firingBounds) (next int64, more bool, removed int, err error) {
	next = from
	var rows []int64
	seen, young, full, most := 0, false, false, p.rows()
	args := []any{from, int64(bounds.before), bounds.upTo, int64(bounds.dead), pruneRows, bounds.started}
	err = p.read(ctx, func(q *session) error {
		err := q.each(nextFirings, args, func(scan scanner) error {
			if len(rows) == most {
				return errFull
			}
			var received blueprint.Time
			var may bool
			if err := scan(&next, &received, &may); err != nil {
				return err
			}
			if seen++; may {
				rows = append(rows, next)
			}
			young = received >= bounds.before && next > bounds.upTo
			return nil
		})
		if full = errors.Is(err, errFull); full {
			return nil
		}
		return err
	})
	if err == nil {
		err = p.removeFirings(ctx, rows)
	}
	if err == nil {
		p.counts.prunedFirings.Add(int64(len(rows)))
	}
	// Rows are ordered by time unless the clock was set: a step that ends among young rows
	// and removed nothing was the last one.
	return next, full || seen == pruneRows && (len(rows) > 0 || !young), len(rows), err
}

// removeFirings deletes rows of the ledger in one step and counts them.
func (p *pruner) removeFirings(ctx context.Context, rows []int64) error {
	if len(rows) == 0 {
		return nil
	}
	return p.step(ctx, func(t *transaction) error {
		removed := map[int64]int{} // by the seq of their triggers
		for _, seq := range rows {
			var trigger int64
			err := t.row("DELETE FROM firings WHERE seq = ? RETURNING trigger_seq", []any{seq}, &trigger)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			removed[trigger]++
		}
		for _, trigger := range slices.Sorted(maps.Keys(removed)) {
			if _, err := t.exec("UPDATE firing_counts SET firings = firings - ? WHERE trigger_seq = ?", removed[trigger], trigger); err != nil {
				return err
			}
		}
		return nil
	})
}

// pruneAudit removes audit entries that are too old or exceed the limit, oldest first. If
// the clock was set back, an entry waits for those before it.
func (p *pruner) pruneAudit(ctx context.Context) error {
	keep := p.options.KeepAudit
	query, bound := "SELECT seq FROM (SELECT seq, at FROM audit_log ORDER BY seq LIMIT ?2 + 0) WHERE at < ?1", int64(0)
	switch {
	case keep.all():
		return nil
	case keep.Rows > 0:
		query = "SELECT seq FROM audit_log WHERE seq <= ?1 ORDER BY seq LIMIT ?2 + 0"
		err := p.readRow(ctx, "SELECT coalesce(max(seq), 0) - ? FROM audit_log", []any{keep.Rows}, &bound)
		if err != nil {
			return err
		}
	default:
		bound = int64(blueprint.TimeOf(p.options.Clock.Now().Add(-keep.Age)))
	}
	for {
		var rows []int64
		wanted := p.rows()
		err := p.read(ctx, func(q *session) error {
			return collect(q, &rows, query, []any{bound, wanted}, column)
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := p.remove(ctx, "DELETE FROM audit_log WHERE seq = ?", rows); err != nil {
			return err
		}
		p.audits.removed()
		if len(rows) < wanted {
			return nil
		}
	}
}

// How many hours of run_hours are kept: 90 days for a blueprint, 400 for an organization,
// which is a year plus a margin for comparison with the previous year.
const (
	blueprintHours    = 90 * 24
	organizationHours = 400 * 24
)

// oldHours selects the next rows of run_hours to remove after hour ?1 of scope ?2:
// of organizations from before hour ?3, of blueprints from before ?4.
const oldHours = `SELECT h.scope, h.hour FROM run_hours h INDEXED BY run_hours_hour WHERE (h.hour, h.scope) > (?1, ?2) AND h.hour < ?4
	AND (h.hour < ?3 OR NOT EXISTS (SELECT 1 FROM organizations o WHERE o.id = h.scope)) ORDER BY h.hour, h.scope LIMIT ?5 + 0`

// pruneHours removes rows of run_hours that are too old. The rows of organizations are kept
// longer than those of blueprints and are skipped once: before p.hours are no others.
func (p *pruner) pruneHours(ctx context.Context) error {
	now := hourOf(blueprint.TimeOf(p.options.Clock.Now()))
	old, young := now-organizationHours, now-blueprintHours
	if err := p.hoursBetween(ctx, 0, old, old); err != nil {
		return err
	}
	if err := p.hoursBetween(ctx, min(p.hours, young), old, young); err != nil {
		return err
	}
	p.hours = young
	return nil
}

// hoursBetween removes rows from hour first on: of organizations from before old,
// of blueprints from before young.
func (p *pruner) hoursBetween(ctx context.Context, first, old, young int64) error {
	last := runHour{hour: first}
	for {
		var rows []runHour
		limit := p.rows()
		err := p.read(ctx, func(q *session) error {
			return q.each(oldHours, []any{last.hour, last.scope, old, young, limit}, func(scan scanner) error {
				err := scan(&last.scope, &last.hour)
				rows = append(rows, last)
				return err
			})
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		err = p.step(ctx, func(t *transaction) error {
			for _, row := range rows {
				if _, err := t.exec("DELETE FROM run_hours WHERE scope = ? AND hour = ?", row.scope, row.hour); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(rows) < limit {
			return err
		}
	}
}

const (
	// stepPause is the pause after a step, busyPause the pause while writes are queued.
	stepPause = time.Millisecond
	busyPause = 5 * time.Millisecond
	// stepPatience is the maximum number of such pauses before a step queues together with
	// other writes.
	stepPatience = 25
	// logPatience is the maximum number of pauses while the log is being emptied.
	logPatience = 500
)

// step runs one small write when no other write is queued, or after a while in any case. In
// memory, and while a virtual clock waits for it, it queues immediately.
func (p *pruner) step(ctx context.Context, f func(*transaction) error) error {
	if !p.options.Ephemeral && !p.options.VirtualClock {
		if err := p.standAside(ctx); err != nil {
			return err
		}
	}
	err := p.submit(ctx, &job{run: f, size: pruneBytes})
	jobs := p.counts.jobs.Value()
	p.busy, p.jobsSeen = jobs-p.jobsSeen > 1, jobs
	return err
}

// standAside pauses so that other writes get the disk.
func (p *pruner) standAside(ctx context.Context) error {
	length := stepPause
	if p.busy {
		length = busyPause
	}
	for waited := 0; ; waited++ {
		if !clock.Sleep(ctx, length) {
			return ctx.Err()
		}
		if waited >= logPatience || p.logFrames.Load() < logHighWater && (waited >= stepPatience || p.writer.queued() == 0) {
			return nil
		}
	}
}

// rows returns how many rows the next step may remove.
func (p *pruner) rows() int {
	if p.busy {
		return busyRows
	}
	return pruneRows
}

func (w *writer) queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}
