package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// Keep is how much of a history is kept: rows younger than an age, or a number of the
// newest rows. The zero value keeps everything.
type Keep struct {
	Age  time.Duration
	Rows int64
}

// all reports whether the history is never pruned.
func (k Keep) all() bool { return k == Keep{} }

// String formats the policy like the flags of serve.
func (k Keep) String() string {
	const day = 24 * time.Hour
	switch {
	case k.all():
		return "all"
	case k.Rows > 0:
		return strconv.FormatInt(k.Rows, 10)
	case k.Age%day == 0:
		return strconv.FormatInt(int64(k.Age/day), 10) + "d"
	}
	return k.Age.String()
}

const (
	// pruneRows and pruneBytes limit what one step removes, busyRows the number of rows
	// while writes are queued, so that no write waits long for it.
	pruneRows  = 200
	busyRows   = 25
	pruneBytes = 1 << 20
	// failedAge is how many times longer failed runs are kept than completed ones.
	failedAge = 3
	// justEnded is the minimum time that a run is kept even if it exceeds the number of
	// rows, so that a caller waiting for its end can still read it.
	justEnded = time.Minute
	// keyLife is the minimum time for which the key of a delivery prevents another run.
	keyLife = 72 * time.Hour
)

// pruner is the part of Run that removes history. It belongs to one goroutine.
//
// History that is too old or exceeds a number of rows is removed at instants of the store's
// clock; a virtual clock does not advance past them before all of it is removed. The size
// limit is checked in real time.
type pruner struct {
	*Store
	wakes      chan func()
	callback   sync.WaitGroup
	jobsSeen   int64    // the store's count after the last step
	busy       bool     // other jobs were written since the previous step
	toldPruned [2]int64 // how many of the removed runs and firings have been logged
	hours      int64    // the hour before which run_hours has only rows that stay
	limit      limitState
	doubt      doubt
}

// newPruner returns the pruner of a store that is about to accept writes. It reads the
// state of the history before them.
func (s *Store) newPruner(ctx context.Context) *pruner {
	p := &pruner{Store: s, wakes: make(chan func())}
	p.begun(ctx)
	return p
}

// run prunes until ctx ends. It releases the clock once the first pass is done.
func (p *pruner) run(ctx context.Context, release func()) {
	watch := time.NewTicker(diskInterval)
	defer watch.Stop()
	for {
		if p.hasDuties() {
			p.pass(ctx)
		}
		timer := p.arm(ctx)
		release()
		for waiting := true; waiting; {
			select {
			case release = <-p.wakes:
				timer, waiting = nil, false
			case <-watch.C:
				if p.hasDuties() {
					p.relieve(ctx)
				}
			case <-ctx.Done():
				if timer.Stop() {
					p.callback.Done()
				}
				p.callback.Wait()
				return
			}
		}
	}
}

// arm sets the timer of the next pass.
func (p *pruner) arm(ctx context.Context) *clock.Timer {
	p.callback.Add(1)
	// The clock is held until the call returns.
	return p.options.Clock.Upkeep(p.options.Clock.Now().Add(p.options.pruneInterval()), func() {
		defer p.callback.Done()
		done := make(chan struct{})
		select {
		case p.wakes <- sync.OnceFunc(func() { close(done) }):
			<-done
		case <-ctx.Done():
		}
	})
}

// pruneInterval returns the interval between two passes: a tenth of the shortest age, but
// at least a minute and at most an hour. Passes are needed even if all history is kept,
// because sessions, links and hours of runs expire.
func (o *Options) pruneInterval() time.Duration {
	interval := time.Hour
	for _, keep := range []Keep{o.KeepExecutions, o.KeepFirings, o.KeepAudit} {
		if keep.all() {
			continue
		}
		own := time.Minute
		if keep.Rows == 0 {
			own = max(keep.Age/10, time.Minute)
		}
		interval = min(interval, own)
	}
	return interval
}

// pass removes history beyond its limits, and returns the space to the disk.
func (p *pruner) pass(ctx context.Context) {
	if !p.begun(ctx) || p.holds() {
		return
	}
	defer p.logPruned(metrics.Begin())
	for _, step := range []func(context.Context) error{p.pruneSessions, p.pruneExecutions, p.pruneFirings, p.pruneAudit, p.pruneHours, p.shrink} {
		if err := step(ctx); err != nil {
			if ctx.Err() == nil && p.usable() == nil {
				p.options.Logger.Warn("pruning failed, retrying", "database", p.Name(), "error", err)
			}
			return
		}
	}
}

// logPruned logs after a pass how much was removed since the last time, including removals
// for the size limit.
func (p *pruner) logPruned(pass metrics.Stopwatch) {
	removed := [2]int64{p.counts.prunedRuns.Value(), p.counts.prunedFirings.Value()}
	if removed == p.toldPruned {
		return
	}
	p.options.Logger.Info("pruned old history", "database", p.Name(),
		"runs", removed[0]-p.toldPruned[0], "firings", removed[1]-p.toldPruned[1], "seconds", pass.Elapsed().Seconds())
	p.toldPruned = removed
}

// end is a position in the order in which runs ended.
type end struct {
	at  blueprint.Time
	seq int64
}

// never is before every end.
var never = end{math.MinInt64, 0}

func (p *pruner) pruneExecutions(ctx context.Context) error {
	keep, now := p.options.KeepExecutions, p.options.Clock.Now()
	before := func(age time.Duration) end { return end{blueprint.TimeOf(now.Add(-age)) - 1, math.MaxInt64} }
	completed, failed := never, never
	switch {
	case keep.all():
		return nil
	case keep.Rows > 0:
		var err error
		if completed, failed, err = p.surplus(ctx, keep.Rows); err != nil {
			return err
		}
		latest := before(justEnded)
		completed.at, failed.at = min(completed.at, latest.at), min(failed.at, latest.at)
	default:
		ages := p.options.ages()
		completed = before(ages[blueprint.StatusCompleted])
		if age, any := ages[blueprint.StatusFailed]; any {
			failed = before(age)
		}
	}
	if err := p.pruneEnded(ctx, blueprint.StatusCompleted, completed); err != nil {
		return err
	}
	return p.pruneEnded(ctx, blueprint.StatusFailed, failed)
}

// ages returns the ages at which runs are removed, by how they ended.
func (o *Options) ages() map[blueprint.Status]time.Duration {
	ages := map[blueprint.Status]time.Duration{}
	if age := o.KeepExecutions.Age; age > 0 {
		ages[blueprint.StatusCompleted] = age
		if age < math.MaxInt64/failedAge {
			ages[blueprint.StatusFailed] = failedAge * age
		}
	}
	return ages
}

// pruneEnded removes the runs that ended with a status, up to one of them.
func (p *pruner) pruneEnded(ctx context.Context, status blueprint.Status, upTo end) (err error) {
	for from, more := never, upTo != never; more; {
		if from, more, _, err = p.executionStep(ctx, status, from, upTo); err != nil {
			return err
		}
	}
	return nil
}

// surplus returns the newest completed and the newest failed run beyond a number of rows.
// Failed runs have priority.
func (p *pruner) surplus(ctx context.Context, rows int64) (completed, failed end, err error) {
	const count = `SELECT count(*) FROM (SELECT 1 FROM executions WHERE status = 'failed' LIMIT ?) failed`
	err = p.read(ctx, func(q *session) error {
		var kept int64
		if err := q.row(count, []any{rows}, &kept); err != nil {
			return err
		}
		if completed, err = nthEnd(q, blueprint.StatusCompleted, rows-kept); err != nil {
			return err
		}
		failed, err = nthEnd(q, blueprint.StatusFailed, rows)
		return err
	})
	return completed, failed, err
}

// nthEnd returns the run after the newest n that ended with a status, or never.
func nthEnd(q *session, status blueprint.Status, n int64) (found end, err error) {
	const query = "SELECT end_time, seq FROM executions WHERE status = 'STATUS' ORDER BY end_time DESC, seq DESC LIMIT 1 OFFSET ?"
	found = never
	err = q.each(ofStatus(query, status), []any{n}, func(scan scanner) error { return scan(&found.at, &found.seq) })
	return found, err
}

// doubtTime is how long nothing is pruned after a start at which all history was too old.
const doubtTime = 24 * time.Hour

// doubt is the state in which the complete history is too old when the server starts. The
// server may have been stopped for a long time, but the clock may also be far ahead, or the
// database may come from an old backup, and then the history must not be lost.
type doubt struct {
	newest blueprint.Time // when the newest run or firing happened
	until  time.Time      // zero = there is no doubt
	known  bool           // newest and until are set
}

// begun reports whether the history has been read, and tries to read it if not. Nothing is
// pruned while it returns false.
func (p *pruner) begun(ctx context.Context) bool {
	if p.doubt.known {
		return true
	}
	err := p.begin(ctx)
	if err != nil && ctx.Err() == nil && p.usable() == nil {
		p.options.Logger.Warn("age of the history unknown, not pruning", "database", p.Name(), "error", err)
	}
	p.doubt.known = err == nil
	return p.doubt.known
}

// shortestAge returns the shortest age at which anything is removed, 0 for none.
func (o *Options) shortestAge() time.Duration {
	age := o.KeepExecutions.Age
	if other := o.KeepFirings.Age; age == 0 || other > 0 && other < age {
		age = other
	}
	return age
}

// begin determines, before the store accepts writes, whether all history is too old.
func (p *pruner) begin(ctx context.Context) error {
	age := p.options.shortestAge()
	if age == 0 {
		return nil
	}
	now := p.options.Clock.Now()
	// Rows are ordered by time; runs end later than they begin.
	const query = `SELECT coalesce(max(at), 0) FROM (
		SELECT (SELECT created_at FROM executions ORDER BY seq DESC LIMIT 1) AS at UNION ALL
		SELECT max(end_time) FROM executions WHERE status = 'completed' UNION ALL
		SELECT max(end_time) FROM executions WHERE status = 'failed' UNION ALL
		SELECT (SELECT received_at FROM firings ORDER BY seq DESC LIMIT 1)) newest`
	var runs, rows int64
	err := p.read(ctx, func(q *session) error {
		if err := q.row(query, nil, &p.doubt.newest); err != nil || !p.tooOld(now) {
			return err
		}
		var err error
		runs, rows, err = p.oldHistory(q, now)
		return err
	})
	if err != nil || runs+rows == 0 {
		return err
	}
	p.doubt.until = now.Add(doubtTime)
	p.options.Logger.Warn("all history is older than its limit (wrong clock or old backup?), pruning starts in a day",
		"database", p.Name(), "runs", runs, "rows", rows, "newest", p.doubt.newest, "clock", blueprint.TimeOf(now), "until", blueprint.TimeOf(p.doubt.until),
		"hint", "look at the clock; to keep the history, start with --keep-executions all --keep-firings all")
	return nil
}

// oldHistory counts the runs and the rows of the ledger that are too old.
func (p *pruner) oldHistory(q *session, now time.Time) (runs, rows int64, err error) {
	for status, age := range p.options.ages() {
		const query = "SELECT count(*) FROM executions WHERE status = 'STATUS' AND end_time < ?"
		var more int64
		if err := q.row(ofStatus(query, status), []any{int64(blueprint.TimeOf(now.Add(-age)))}, &more); err != nil {
			return 0, 0, err
		}
		runs += more
	}
	if age := p.options.KeepFirings.Age; age > 0 {
		err = q.row("SELECT count(*) FROM firings WHERE received_at < ?", []any{int64(blueprint.TimeOf(now.Add(-age)))}, &rows)
	}
	return runs, rows, err
}

// tooOld reports whether all history that existed at the start is too old.
func (p *pruner) tooOld(now time.Time) bool {
	return p.doubt.newest != 0 && p.doubt.newest < blueprint.TimeOf(now.Add(-p.options.shortestAge()))
}

// holds reports whether pruning is still on hold. Correcting the clock ends the hold.
func (p *pruner) holds() bool {
	now := p.options.Clock.Now()
	if p.doubt.until.IsZero() || p.tooOld(now) && now.Before(p.doubt.until) {
		return !p.doubt.until.IsZero()
	}
	p.doubt.until = time.Time{}
	return false
}

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
		var err error
		if bounds.upTo, err = p.beyond(ctx, "firings", keep.Rows); err != nil {
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

// beyond returns the seq of the newest row of a table that is not among its newest rows, or
// less if there is none. In a file the numbers have no gaps. In PostgreSQL each insert that is
// undone leaves one.
func (p *pruner) beyond(ctx context.Context, table string, rows int64) (seq int64, err error) {
	query := "SELECT coalesce(max(seq), 0) - ? FROM " + table
	if p.remote != nil {
		query = "SELECT coalesce(min(seq), 0) - 1 FROM (SELECT seq FROM " + table + " ORDER BY seq DESC LIMIT ?) newest"
	}
	err = p.readRow(ctx, query, []any{rows}, &seq)
	return seq, err
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
	query, bound := "SELECT seq FROM (SELECT seq, at FROM audit_log ORDER BY seq LIMIT ?2 + 0) oldest WHERE at < ?1", int64(0)
	switch {
	case keep.all():
		return nil
	case keep.Rows > 0:
		query = "SELECT seq FROM audit_log WHERE seq <= ?1 ORDER BY seq LIMIT ?2 + 0"
		var err error
		if bound, err = p.beyond(ctx, "audit_log", keep.Rows); err != nil {
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
// longer than those of blueprints and are skipped once, because there are no others before
// p.hours.
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
