package store

import (
	"context"
	"math"
	"strconv"
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
		p.pass(ctx)
		timer := p.arm(ctx)
		release()
		for waiting := true; waiting; {
			select {
			case release = <-p.wakes:
				timer, waiting = nil, false
			case <-watch.C:
				p.relieve(ctx)
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
				p.options.Logger.Warn("pruning failed, retrying", "path", p.options.Path, "error", err)
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
	p.options.Logger.Info("pruned old history", "path", p.options.Path,
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
	const count = `SELECT count(*) FROM (SELECT 1 FROM executions WHERE status = 'failed' LIMIT ?)`
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
		p.options.Logger.Warn("age of the history unknown, not pruning", "path", p.options.Path, "error", err)
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
	const query = `SELECT max(coalesce((SELECT created_at FROM executions ORDER BY seq DESC LIMIT 1), 0),
		coalesce((SELECT max(end_time) FROM executions WHERE status = 'completed'), 0),
		coalesce((SELECT max(end_time) FROM executions WHERE status = 'failed'), 0),
		coalesce((SELECT received_at FROM firings ORDER BY seq DESC LIMIT 1), 0))`
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
		"path", p.options.Path, "runs", runs, "rows", rows, "newest", p.doubt.newest, "clock", blueprint.TimeOf(now), "until", blueprint.TimeOf(p.doubt.until),
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
