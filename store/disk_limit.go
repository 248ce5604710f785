package store

import (
	"context"
	"math"
	"time"

	"blueprintd/blueprint"
)

// diskInterval is how often the limit of the disk is looked at.
const diskInterval = time.Second

// relieve keeps the database below its limit. Once that is reached, completed
// runs go, those that ended first before the others, then rows of the ledger
// that keep nothing from running again, then failed runs, until a tenth of the
// limit is free. When nothing is left to remove, new runs are refused until
// there is room.
func (p *pruner) relieve(ctx context.Context) {
	if err := p.relieveNow(ctx); err != nil && ctx.Err() == nil && p.usable() == nil {
		p.options.Logger.Warn("the size limit of the database could not be kept now; it is tried again", "path", p.options.Path, "error", err)
	}
}

func (p *pruner) relieveNow(ctx context.Context) error {
	limit := p.options.MaxDisk
	if limit == 0 {
		return nil
	}
	ample := limit / 10 * 9
	for ctx.Err() == nil {
		u, err := p.usage(ctx)
		if err == nil && u.total() > ample && u.log > limit/16 {
			if err = p.emptyLog(); err == nil {
				u, err = p.usage(ctx)
			}
		}
		if err != nil {
			return err
		}
		size := u.total()
		if !u.shrinks {
			size -= u.free // it never shrinks, but it need not grow either
		}
		switch {
		case !p.episode && size <= limit:
			return nil
		case !p.episode:
			p.episode = true
			p.options.Logger.Warn("the database has reached its size limit; the oldest completed runs are removed first", "path", p.options.Path, "bytes", size, "limit", limit)
		case size <= ample:
			p.episode, p.told = false, false
			p.full.Store(false)
			p.options.Logger.Info("the database is below its size limit again", "path", p.options.Path, "bytes", size, "limit", limit)
			return nil
		}
		if u.shrinks && u.free > 0 && u.live()+u.log <= ample {
			if err := p.vacuum(ctx); err != nil {
				return err
			}
			continue
		}
		removed, err := p.evict(ctx)
		if err != nil {
			return err
		}
		if removed > 0 {
			continue
		}
		if u.shrinks && u.free > 0 {
			if err := p.vacuum(ctx); err != nil {
				return err
			}
			continue
		}
		if p.full.Store(size > limit); size > limit && !p.told {
			p.told = true
			p.options.Logger.Error("the database is at its size limit and nothing is left to remove: new runs are refused",
				"path", p.options.Path, "bytes", size, "limit", limit, "hint", "raise --max-disk, or cancel unfinished runs")
		}
		return nil
	}
	return ctx.Err()
}

// evict removes some of what may go first, and tells how many rows.
func (p *pruner) evict(ctx context.Context) (removed int, err error) {
	forever := end{math.MaxInt64, math.MaxInt64}
	if _, _, removed, err = p.executionStep(ctx, blueprint.StatusCompleted, never, forever); removed > 0 || err != nil {
		return removed, err
	}
	bounds := firingBounds{upTo: math.MaxInt64, dead: blueprint.TimeOf(p.options.Clock.Now().Add(-keyLife))}
	for from, more := int64(0), true; more; {
		if from, more, removed, err = p.firingStep(ctx, from, bounds); removed > 0 || err != nil {
			return removed, err
		}
	}
	_, _, removed, err = p.executionStep(ctx, blueprint.StatusFailed, never, forever)
	return removed, err
}
