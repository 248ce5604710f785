package store

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"blueprintd/blueprint"
)

// vacuumStep gives up to 64 free pages back to the disk, busyVacuumStep less
// while others write: pages from the end of the file move to where others have
// become free.
const (
	vacuumStep     = "PRAGMA incremental_vacuum(64)"
	busyVacuumStep = "PRAGMA incremental_vacuum(16)"
)

// leastFree is how many free pages are not worth giving back.
const leastFree = 256

// usage is what a database takes, in bytes.
type usage struct {
	// file is what its pages take, wherever they are: those that changed last
	// are in the log, and not yet, or once more, in the file on the disk.
	file, free, log int64
	disk            int64 // the file as it is on the disk
	page            int64
	shrinks         bool // free pages can be given back
}

// total is what it takes on the disk.
func (u usage) total() int64 { return u.disk + u.log }

// live is what it would take without free pages.
func (u usage) live() int64 { return u.file - u.free }

// usage tells what the database takes.
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

// shrink gives the room back that removed rows left, but for a twentieth of the
// file, which the next rows fill. It begins when a tenth is free.
func (p *pruner) shrink(ctx context.Context) error {
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
		// It works as far as its rows are read.
		return t.each(step, nil, func(func(...any) error) error { return nil })
	})
}

// adviseVacuum says once what to do about a file that cannot become smaller.
func (s *Store) adviseVacuum(ctx context.Context) {
	if s.options.KeepExecutions.all() && s.options.KeepFirings.all() && s.options.MaxDisk == 0 {
		return
	}
	if u, err := s.usage(ctx); err == nil && !u.shrinks {
		s.options.Logger.Warn("the database file was made without room management: pruned rows leave room for new ones, but the file never shrinks",
			"path", s.options.Path, "hint", "stop the server and run once: sqlite3 FILE 'PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=2; VACUUM'")
	}
}

// errDiskLimit refuses new runs.
var errDiskLimit = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "the database has reached its size limit, and nothing can be removed now", RetryAfter: retryAfter,
	Hint: "let a backup or another program that reads the database end, raise --max-disk, or cancel unfinished runs; the log of the server says which",
}
