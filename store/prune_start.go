package store

import (
	"context"
	"time"

	"blueprintd/blueprint"
)

// doubtTime is how long nothing is pruned after a start at which everything
// was too old.
const doubtTime = 24 * time.Hour

// doubt is about a history all of which is too old when the server starts.
// That is so after a long rest; but also when the clock is far ahead, or the
// database comes from an old backup, and then nobody wants to lose it.
type doubt struct {
	newest blueprint.Time // when the last thing happened
	until  time.Time      // zero = there is no doubt
	known  bool           // the two above are right
}

// begun makes sure that the history was looked at. It gives false, and nothing
// is to be pruned, as long as that fails.
func (p *pruner) begun(ctx context.Context) bool {
	if p.doubt.known {
		return true
	}
	err := p.begin(ctx)
	if err != nil && ctx.Err() == nil && p.usable() == nil {
		p.options.Logger.Warn("it could not be told how old the history is; nothing is pruned until it can", "path", p.options.Path, "error", err)
	}
	p.doubt.known = err == nil
	return p.doubt.known
}

// shortestAge is the least age at which something goes; 0 when none does for
// its age.
func (o *Options) shortestAge() time.Duration {
	age := o.KeepExecutions.Age
	if other := o.KeepFirings.Age; age == 0 || other > 0 && other < age {
		age = other
	}
	return age
}

// begin looks, before the store takes writes, whether all history is too old.
func (p *pruner) begin(ctx context.Context) error {
	age := p.options.shortestAge()
	if age == 0 {
		return nil
	}
	now := p.options.Clock.Now()
	// Rows are in the order of time; runs end later than they begin.
	const query = `SELECT max(coalesce((SELECT created_at FROM executions ORDER BY seq DESC LIMIT 1), 0),
		coalesce((SELECT max(end_time) FROM executions WHERE status = 'completed' AND end_time IS NOT NULL), 0),
		coalesce((SELECT max(end_time) FROM executions WHERE status = 'failed' AND end_time IS NOT NULL), 0),
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
	p.options.Logger.Warn("nothing is pruned for a day: all history is older than what is to be kept, as when the clock is wrong or the database is from an old backup; after that it goes",
		"path", p.options.Path, "runs", runs, "rows", rows, "newest", p.doubt.newest, "clock", blueprint.TimeOf(now), "until", blueprint.TimeOf(p.doubt.until),
		"hint", "look at the clock; to keep the history, start with --keep-executions all --keep-firings all")
	return nil
}

// oldHistory counts the runs and the rows of the ledger that are too old.
func (p *pruner) oldHistory(q *session, now time.Time) (runs, rows int64, err error) {
	for status, age := range p.options.ages() {
		const query = "SELECT count(*) FROM executions WHERE status = ? AND end_time IS NOT NULL AND end_time < ?"
		var more int64
		if err := q.row(query, []any{string(status), int64(blueprint.TimeOf(now.Add(-age)))}, &more); err != nil {
			return 0, 0, err
		}
		runs += more
	}
	if age := p.options.KeepFirings.Age; age > 0 {
		err = q.row("SELECT count(*) FROM firings WHERE received_at < ?", []any{int64(blueprint.TimeOf(now.Add(-age)))}, &rows)
	}
	return runs, rows, err
}

// tooOld tells whether everything that was there at the start is too old.
func (p *pruner) tooOld(now time.Time) bool {
	return p.doubt.newest != 0 && p.doubt.newest < blueprint.TimeOf(now.Add(-p.options.shortestAge()))
}

// holds tells whether nothing is to be pruned yet. A clock that has been set
// right meanwhile ends the doubt.
func (p *pruner) holds() bool {
	now := p.options.Clock.Now()
	if p.doubt.until.IsZero() || p.tooOld(now) && now.Before(p.doubt.until) {
		return !p.doubt.until.IsZero()
	}
	p.doubt.until = time.Time{}
	return false
}
