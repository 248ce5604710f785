package store

import (
	"context"
	"math"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/metrics"
)

// Keep says how much of a history stays: what is younger than an age, or the
// newest rows. The zero value keeps everything.
type Keep struct {
	Age  time.Duration
	Rows int64
}

// all tells that nothing of the history is ever pruned.
func (k Keep) all() bool { return k == Keep{} }

const (
	// pruneRows and pruneBytes bound what one step removes, busyRows how many
	// rows while others write, so that no write waits long behind it.
	pruneRows  = 200
	busyRows   = 25
	pruneBytes = 1 << 20
	// failedAge is how many times as long as completed runs failed ones stay.
	failedAge = 3
	// justEnded is how long a run stays that a number of rows has no room for:
	// whoever waits for its end can still ask for it.
	justEnded = time.Minute
	// keyLife is how long a key of a delivery keeps it from running again at
	// least.
	keyLife = 72 * time.Hour
)

// pruner is the part of Run that removes history. One goroutine owns it.
//
// What is too old or too much is looked for at instants of the store's clock,
// which a virtual clock does not pass before all of it is gone. The limit of
// the disk is watched in real time.
type pruner struct {
	*Store
	wakes      chan func()
	callback   sync.WaitGroup
	jobsSeen   int64    // the store's count after the last step
	busy       bool     // others have written since the one before it
	toldPruned [2]int64 // of the counts, how many runs and firings were told of
	hours      int64    // before it run_hours has only rows that stay
	limit      limitState
	doubt      doubt
}

// newPruner makes the pruner of a store that is about to take writes: it looks
// at the history as it was before.
func (s *Store) newPruner(ctx context.Context) *pruner {
	p := &pruner{Store: s, wakes: make(chan func())}
	p.begun(ctx)
	return p
}

// run prunes until ctx ends. It lets go of the clock once what is due at the
// start is gone.
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

// arm plans the next pass.
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

// pruneInterval is how often history is looked at: a tenth of the shortest age,
// but at least a minute and at most an hour. Where all history is kept, sessions
// and links still expire, and hours of runs grow old.
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

// pass removes what is too old or too much, and gives the room back.
func (p *pruner) pass(ctx context.Context) {
	if !p.begun(ctx) || p.holds() {
		return
	}
	defer p.tellPruned(metrics.Begin())
	err := p.pruneSessions(ctx)
	if err == nil {
		err = p.pruneExecutions(ctx)
	}
	if err == nil {
		err = p.pruneFirings(ctx)
	}
	if err == nil {
		err = p.pruneAudit(ctx)
	}
	if err == nil {
		err = p.pruneHours(ctx)
	}
	if err == nil {
		err = p.shrink(ctx)
	}
	if err != nil && ctx.Err() == nil && p.usable() == nil {
		p.options.Logger.Warn("old runs could not be pruned now; it is tried again", "path", p.options.Path, "error", err)
	}
}

// end is a place in the order in which runs ended.
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

// ages are the ages at which runs go, by how they ended.
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

// surplus gives the newest completed and the newest failed run that a number of
// rows has no room for. Failed ones have room first.
func (p *pruner) surplus(ctx context.Context, rows int64) (completed, failed end, err error) {
	const count = `SELECT count(*) FROM (SELECT 1 FROM executions WHERE status = 'failed' AND end_time IS NOT NULL LIMIT ?)`
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

// nthEnd gives the run after the newest n that ended with a status, or never.
func nthEnd(q *session, status blueprint.Status, n int64) (found end, err error) {
	const query = `SELECT end_time, seq FROM executions WHERE status = ? AND end_time IS NOT NULL
		ORDER BY end_time DESC, seq DESC LIMIT 1 OFFSET ?`
	found = never
	err = q.each(query, []any{string(status), n}, func(scan func(...any) error) error { return scan(&found.at, &found.seq) })
	return found, err
}
