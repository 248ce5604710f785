package store

import (
	"context"
	"time"
)

// diskInterval is how often the limit of the disk is looked at.
const diskInterval = time.Second

// limitState is where the pruner stands with the limit of the disk.
type limitState struct {
	episode  bool // it was reached, and not yet left well behind
	evicting bool // history goes until what is stored is well below it
	told     bool // that new runs are refused, in this episode
	eviction eviction
}

// relieve keeps the database below its limit. Once that is reached, a tenth of
// it is to become free: the log is cut, free pages go back to the disk, and
// history goes (see evict), but only as far as what is stored demands it. What
// takes the room otherwise, as a log that a reader in another process holds,
// does not shrink by removing more: deletions are written into that log.
// When nothing else helps, new runs are refused until there is room.
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
	p.limit.eviction.look()
	ample, longLog := limit/10*9, limit/16
	changed, tried := false, false // since the log was cut; to cut it
	for ctx.Err() == nil {
		u, err := p.usage(ctx)
		if err == nil && u.total() > ample && u.log > longLog {
			u, err = p.cut(ctx)
		}
		if err != nil {
			return err
		}
		size, held := u.total(), u.log > longLog
		if !u.shrinks {
			size -= min(u.free, u.disk) // it never shrinks, but it need not grow either
		}
		if p.within(size, limit, ample) {
			return nil
		}
		mustEvict := p.mustEvict(u, held, limit, ample)
		if held && size > limit { // which may last as long as whoever holds it
			p.refuse(size, limit, u, held)
		}
		if mustEvict {
			removed, err := p.evict(ctx)
			if err != nil {
				return err
			}
			if removed > 0 {
				changed = true
				continue
			}
		}
		if u.shrinks && u.free > 0 && u.file > ample && !held {
			if err := p.vacuum(ctx); err != nil {
				return err
			}
			changed = true
			continue
		}
		if u.log > 0 && !held && (changed || size > limit && !tried) {
			// The file becomes shorter only when the log is copied into it.
			if u, err = p.cut(ctx); err != nil {
				return err
			}
			if changed, tried = false, true; u.log == 0 {
				continue
			}
		}
		p.refuse(size, limit, u, held)
		return nil
	}
	return ctx.Err()
}

// cut cuts the log if that can be done, and gives what the database takes then.
func (p *pruner) cut(ctx context.Context) (usage, error) {
	if err := p.emptyLog(); err != nil {
		return usage{}, err
	}
	return p.usage(ctx)
}

// within tells whether there is nothing to do. It tells of the end of an
// episode.
func (p *pruner) within(size, limit, ample int64) bool {
	switch {
	case !p.limit.episode && size <= limit:
		return true
	case p.limit.episode && size <= ample:
		p.limit = limitState{}
		p.full.Store(false)
		p.options.Logger.Info("the database is below its size limit again", "path", p.options.Path, "bytes", size, "limit", limit)
		return true
	}
	return false
}

// mustEvict tells whether history is to go: when what is stored leaves the log
// no room below the limit, until it is ample. It tells of the beginning of an
// episode.
func (p *pruner) mustEvict(u usage, held bool, limit, ample int64) bool {
	most := limit - limit/16
	if held {
		most = limit // the log becomes short by itself one day
	}
	state := &p.limit
	began := !state.episode
	state.episode = true
	switch {
	case u.live() <= ample:
		state.evicting = false
	case u.live() > most && !state.evicting:
		state.evicting = true
		p.options.Logger.Warn("the database has reached its size limit; the oldest completed runs are removed first", "path", p.options.Path, "bytes", u.live(), "limit", limit)
		return true
	}
	if began {
		p.options.Logger.Warn("the files of the database have reached its size limit, though what is stored has not: no history is removed for that",
			"path", p.options.Path, "bytes", u.live(), "free", u.free, "log", u.log, "limit", limit)
	}
	return state.evicting
}

// refuse makes the store refuse new runs when it is above its limit, and take
// them again when it is not.
func (p *pruner) refuse(size, limit int64, u usage, held bool) {
	full := size > limit
	if was := p.full.Swap(full); was && !full {
		p.options.Logger.Info("the database is at its size limit, but new runs are taken again", "path", p.options.Path, "bytes", size, "limit", limit)
	}
	if !full || p.limit.told {
		return
	}
	p.limit.told = true
	if held {
		p.options.Logger.Error("the log of the database cannot be cut and takes it above its size limit: new runs are refused",
			"path", p.options.Path, "bytes", size, "log", u.log, "limit", limit, "hint", "let the backup or the other program that reads the database end, or raise --max-disk")
		return
	}
	p.options.Logger.Error("the database is at its size limit and nothing is left to remove: new runs are refused",
		"path", p.options.Path, "bytes", size, "limit", limit, "hint", "raise --max-disk, or cancel unfinished runs")
}
