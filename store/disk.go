package store

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"blueprintd/blueprint"
)

// diskInterval is the interval between checks of the size limit.
const diskInterval = time.Second

type limitState struct {
	episode  bool // the limit was reached, and the size is not yet well below it
	evicting bool // history is removed until the size is well below the limit
	told     bool // the refusal of new runs was logged in this episode
	eviction eviction
}

// relieve keeps the database below its size limit. Once the limit is reached it frees a
// tenth of it: the log is truncated, free pages are returned to the disk, and history is
// removed (see evict), but only if live rows require it. Space taken by anything else, such
// as a log that a reader in another process holds, does not shrink when rows are removed:
// deletions are written there. If nothing else helps, new runs are refused.
func (p *pruner) relieve(ctx context.Context) {
	if err := p.relieveNow(ctx); err != nil && ctx.Err() == nil && p.usable() == nil {
		p.options.Logger.Warn("enforcing the size limit failed, retrying", "path", p.options.Path, "error", err)
	}
}

func (p *pruner) relieveNow(ctx context.Context) error {
	limit := p.options.MaxDisk
	if limit == 0 {
		return nil
	}
	p.limit.eviction.count()
	ample, longLog := limit/10*9, limit/16
	changed, tried := false, false // since the log was truncated; to truncate the log
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
			size -= min(u.free, u.disk) // the file never shrinks, but need not grow either
		}
		if p.within(size, limit, ample) {
			return nil
		}
		mustEvict := p.mustEvict(u, held, limit, ample)
		if held && size > limit { // for as long as the log is held
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
			// The file shrinks only when the log is copied into it.
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

// cut truncates the log if possible, and returns the usage after that.
func (p *pruner) cut(ctx context.Context) (usage, error) {
	if err := p.emptyLog(); err != nil {
		return usage{}, err
	}
	return p.usage(ctx)
}

// within reports whether there is nothing to do. It logs the end of an episode.
func (p *pruner) within(size, limit, ample int64) bool {
	switch {
	case !p.limit.episode && size <= limit:
		return true
	case p.limit.episode && size <= ample:
		p.limit = limitState{}
		p.full.Store(false)
		p.options.Logger.Info("database below its size limit again", "path", p.options.Path, "bytes", size, "limit", limit)
		return true
	}
	return false
}

// mustEvict reports whether history has to be removed: from the point where live rows leave
// no space for the log below the limit until there is ample space. It logs the beginning of
// an episode.
func (p *pruner) mustEvict(u usage, held bool, limit, ample int64) bool {
	most := limit - limit/16
	if held {
		most = limit // the log will shrink by itself
	}
	state := &p.limit
	began := !state.episode
	state.episode = true
	switch {
	case u.live() <= ample:
		state.evicting = false
	case u.live() > most && !state.evicting:
		state.evicting = true
		p.options.Logger.Warn("database at its size limit, removing the oldest completed runs", "path", p.options.Path, "bytes", u.live(), "limit", limit)
		return true
	}
	if began {
		p.options.Logger.Warn("database files at the size limit, but not their content: no history is removed",
			"path", p.options.Path, "bytes", u.live(), "free", u.free, "log", u.log, "limit", limit)
	}
	return state.evicting
}

// refuse makes the store refuse new runs while it is above its limit.
func (p *pruner) refuse(size, limit int64, u usage, held bool) {
	full := size > limit
	if was := p.full.Swap(full); was && !full {
		p.options.Logger.Info("database at its size limit, accepting new runs again", "path", p.options.Path, "bytes", size, "limit", limit)
	}
	if !full || p.limit.told {
		return
	}
	p.limit.told = true
	if held {
		p.options.Logger.Error("write-ahead log exceeds the size limit and cannot be truncated, refusing new runs",
			"path", p.options.Path, "bytes", size, "log", u.log, "limit", limit, "hint", "let the backup or the other program that reads the database end, or raise --max-disk")
		return
	}
	p.options.Logger.Error("database at its size limit with nothing to remove, refusing new runs",
		"path", p.options.Path, "bytes", size, "limit", limit, "hint", "raise --max-disk, or cancel unfinished runs")
}

// errDiskLimit is returned for new runs while the database exceeds its size limit.
var errDiskLimit = unavailable(nil, "let a backup or another program that reads the database end, raise --max-disk, or cancel unfinished runs; the log of the server says which",
	"the database has reached its size limit, and nothing can be removed now")

// evictionRest is the number of checks of the limit during which rows of the ledger that
// could not be removed are not read again: most of them stay for three days, and there may
// be millions.
const evictionRest = 60

// eviction records how far the ledger was searched without result, for rows that started
// nothing and for rows that did.
type eviction struct {
	seen  [2]int64
	looks int
}

// count records another check of the limit.
func (e *eviction) count() {
	if e.looks++; e.looks >= evictionRest {
		*e = eviction{}
	}
}

// evict removes some history, and returns how many rows: first rows of the ledger that
// started nothing, then completed runs in the order in which they ended, then rows of the
// ledger that prevent no further run, then failed runs. Runs that have just ended are
// removed last, because a caller may still be waiting for them.
func (p *pruner) evict(ctx context.Context) (removed int, err error) {
	forever := end{math.MaxInt64, math.MaxInt64}
	latest := end{blueprint.TimeOf(p.options.Clock.Now().Add(-justEnded)) - 1, math.MaxInt64}
	ended := func(status blueprint.Status, upTo end) func() (int, error) {
		return func() (int, error) {
			_, _, removed, err := p.executionStep(ctx, status, never, upTo)
			return removed, err
		}
	}
	fired := func(started bool) func() (int, error) {
		return func() (int, error) { return p.evictFirings(ctx, started) }
	}
	for _, step := range []func() (int, error){
		fired(false), ended(blueprint.StatusCompleted, latest),
		fired(true), ended(blueprint.StatusFailed, latest),
		ended(blueprint.StatusCompleted, forever), ended(blueprint.StatusFailed, forever),
	} {
		if removed, err = step(); removed > 0 || err != nil {
			return removed, err
		}
	}
	return 0, nil
}

// evictFirings removes some rows of the ledger.
func (p *pruner) evictFirings(ctx context.Context, started bool) (removed int, err error) {
	seen := &p.limit.eviction.seen[0]
	if started {
		seen = &p.limit.eviction.seen[1]
	}
	bounds := firingBounds{upTo: math.MaxInt64, dead: blueprint.TimeOf(p.options.Clock.Now().Add(-keyLife)), started: started}
	for more := true; more; {
		if *seen, more, removed, err = p.firingStep(ctx, *seen, bounds); removed > 0 || err != nil {
			return removed, err
		}
	}
	return 0, nil
}

// vacuumStep is the number of free pages that are returned to the disk in one step,
// busyVacuumStep the number while writes are queued: pages from the end of the file move to
// free ones.
const (
	vacuumStep     = "PRAGMA incremental_vacuum(64)"
	busyVacuumStep = "PRAGMA incremental_vacuum(16)"
)

// leastFree is the number of free pages below which none are returned to the disk.
const leastFree = 256

// usage is the space that a database takes, in bytes.
type usage struct {
	// file is the size of its pages, wherever they are: recently changed pages are in the
	// log and possibly not yet in the database file.
	file, free, log int64
	disk            int64 // the file as it is on the disk
	page            int64
	shrinks         bool // free pages can be returned to the disk
}

// total returns the space taken on the disk.
func (u usage) total() int64 { return u.disk + u.log }

// live returns the size without free pages.
func (u usage) live() int64 { return u.file - u.free }

// usage returns how much space the database takes.
func (s *Store) usage(ctx context.Context) (u usage, err error) {
	err = s.read(ctx, func(q *session) error {
		var pages, free, mode int64
		for query, into := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free, "PRAGMA page_size": &u.page, "PRAGMA auto_vacuum": &mode} {
			if err := q.row(query, nil, into); err != nil {
				return err
			}
		}
		u.file, u.free, u.shrinks = pages*u.page, free*u.page, mode != 0
		u.disk = u.file
		return nil
	})
	if err != nil || s.options.Ephemeral {
		return u, err
	}
	info, err := os.Stat(s.options.Path)
	if err != nil {
		return u, err
	}
	u.disk = info.Size()
	if info, err = os.Stat(s.options.Path + "-wal"); err == nil {
		u.log = info.Size()
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return u, err
}

// shrink returns free pages to the disk once they are a tenth of the file. It keeps a
// twentieth for new rows.
func (p *pruner) shrink(ctx context.Context) error {
	if p.remote != nil {
		return nil // PostgreSQL uses free pages again by itself
	}
	u, err := p.usage(ctx)
	if err != nil || !u.shrinks || u.free < max(leastFree*u.page, u.file/10) {
		return err
	}
	for u.free > max(leastFree*u.page/2, u.file/20) {
		if err := p.vacuum(ctx); err != nil {
			return err
		}
		if u, err = p.usage(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) vacuum(ctx context.Context) error {
	return p.step(ctx, func(t *transaction) error {
		step := vacuumStep
		if p.busy {
			step = busyVacuumStep
		}
		// The statement has an effect only as its rows are read.
		return t.each(step, nil, func(func(...any) error) error { return nil })
	})
}

// adviseVacuum logs once how to shrink a file that cannot shrink by itself.
func (s *Store) adviseVacuum(ctx context.Context) {
	if s.options.KeepExecutions.all() && s.options.KeepFirings.all() && s.options.MaxDisk == 0 {
		return
	}
	if u, err := s.usage(ctx); err == nil && !u.shrinks {
		s.options.Logger.Warn("database file cannot shrink: it was created without incremental vacuum",
			"path", s.options.Path, "hint", "stop the server and run once: sqlite3 FILE 'PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=2; VACUUM'")
	}
}

// checkSpace compares the free space with the reserve and logs each change.
func (s *Store) checkSpace() {
	p, err := s.options.fileSystem(s.options.Path)
	if err != nil {
		return // the next check may succeed
	}
	reserve := p.Reserve(s.options.MinFree)
	low := p.Free < reserve
	if s.watched.lowSpace.Swap(low) == low {
		return
	}
	if low {
		s.options.Logger.Error("disk nearly full, refusing new runs",
			"path", s.options.Path, "free", p.Free, "wanted", reserve, "hint", errLowSpace.Hint)
	} else {
		s.options.Logger.Info("disk space available again, accepting new runs", "path", s.options.Path, "free", p.Free)
	}
}

// errLowSpace refuses a new run while the disk is nearly full.
var errLowSpace = unavailable(nil, "free some space on the disk of the database"+goesOn,
	"the disk of the server is nearly full, and no new runs are taken")
