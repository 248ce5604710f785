package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"blueprintd/foundation/metrics"
	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// MoveReport describes what Move copied.
type MoveReport struct {
	From string           `json:"from"`
	To   string           `json:"to"`
	Rows map[string]int64 `json:"rows"` // of each table
	// Unfinished is the number of runs that had not ended.
	Unfinished int64 `json:"unfinished"`
	// Damaged lists the runs whose content is damaged in both; nil if there are none.
	Damaged *DamagedRuns `json:"damaged,omitempty"`
}

// Move copies everything from one database to another, of which one at least is PostgreSQL:
// all tables in one state, each counted and hashed while it is read, and again in the
// target. The target is a file that does not exist or a PostgreSQL database without tables,
// and stays so until everything is verified. No server may run on either. The source is not
// changed. Sealed values stay sealed with the same key.
//
// It uses Path or Database, Schema, Clock, Sealer, Logger and AllowNetworkFS of both options.
// progress, if not nil, is called with the current stage and its progress. Errors:
// CodeConflict if a server runs on one of them, if the target is not empty, and if the
// source is damaged or belongs to another key; CodeUnavailable if the disk is full.
func Move(ctx context.Context, from, to Options, progress func(stage string, done, total int64)) (r MoveReport, err error) {
	defer wrap(&err, "move %s to %s", from.name(), to.name())
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if from.Database == "" {
		info, err := os.Stat(from.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return r, dbfile.Refusal("name the file of a database with --from", "there is no database %s", from.Path)
		}
		if err == nil && info.Size() == 0 {
			return r, dbfile.Refusal("name the file of a database with --from", "there is nothing in the database %s", from.Path)
		}
	}
	for _, o := range []*Options{&from, &to} {
		release, err := o.keepUnserved(ctx)
		if err != nil {
			return r, err
		}
		defer func() { _ = release() }()
	}
	from.Server, from.ReadOnly = false, from.Database != "" // a file may have to be recovered
	source, err := Open(ctx, from)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	r.From = source.Name()
	tables, err := tablesOf(ctx, source.options.Schema)
	if err != nil {
		return r, err
	}
	err = source.snapshot(ctx, func(q *session) error {
		if source.onFile() {
			progress("checking the database", 0, 0)
			if err := sound(q); err != nil {
				return err
			}
		}
		damaged, err := contents(q)
		if err != nil {
			return err
		}
		if damaged.Count > 0 {
			r.Damaged = &damaged
		}
		if err := q.row(countUnfinished, nil, &r.Unfinished); err != nil {
			return err
		}
		c := copying{tables: tables, from: q, progress: progress}
		if to.Database != "" {
			r.Rows, r.To, err = c.intoRemote(ctx, &to, false)
			return err
		}
		r.To, r.Rows, err = c.intoNewFile(ctx, &to)
		return err
	})
	return r, err
}

// intoNewFile copies everything into a database file that does not exist until it is
// complete. The caller holds its lock.
func (c *copying) intoNewFile(ctx context.Context, o *Options) (path string, rows map[string]int64, err error) {
	if path, err = dbfile.RealPath(o.Path); err != nil {
		return "", nil, err
	}
	s := Store{options: *o}
	if s.options.fileSystem == nil {
		s.options.fileSystem = dbfile.Stat
	}
	if err := s.checkFileSystem(filepath.Dir(path)); err != nil {
		return path, nil, err
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return path, nil, errors.Join(err, dbfile.Refusal("name a file that does not exist with --to", "%s exists already", path+suffix))
		}
	}
	temporary := path + dbfile.RestoringSuffix
	if err := dbfile.MayRemove(temporary); err != nil {
		return path, nil, err
	}
	dbfile.Remove(temporary)
	defer func() {
		if err != nil {
			dbfile.Remove(temporary)
			err = noSpace(err, path)
		}
	}()
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return path, nil, err
	}
	if err := errors.Join(dbfile.GiveTo(file, path), file.Close()); err != nil {
		return path, nil, err
	}
	if rows, err = c.intoFile(ctx, temporary, o); err != nil {
		return path, nil, err
	}
	c.progress("checking the database", 0, 0)
	if _, err := examine(ctx, temporary, o); err != nil {
		return path, nil, err
	}
	if err := ctx.Err(); err != nil {
		return path, nil, err
	}
	return path, rows, dbfile.Publish(temporary, path, false)
}

// keepUnserved verifies that no server uses a database, and keeps servers from starting on
// it until release is called.
func (o *Options) keepUnserved(ctx context.Context) (release func() error, err error) {
	if o.Database == "" {
		path, err := dbfile.RealPath(o.Path)
		if err != nil {
			return nil, err
		}
		lock, err := dbfile.AcquireLock(path + ".lock")
		if err != nil {
			return nil, inUse(err)
		}
		return lock.Release, lock.GiveTo(path)
	}
	config, err := postgres.Parse(o.Database)
	if err != nil {
		return nil, err
	}
	r := newRemote(config, config.Open(), o.Logger)
	release = func() error { return errors.Join(r.close(), r.pool.Close()) }
	// connect waits for a database that has just been started.
	q, err := r.connect(ctx, startPatience)
	if err != nil {
		return nil, errors.Join(unopened(err), release())
	}
	r.locked, r.alone = q, true
	for watch := metrics.Begin(); ; wait(retryInterval) {
		taken, err := r.tryLock()
		if err == nil && !taken && watch.Elapsed() > retryInterval {
			err = dbfile.Refusal("stop that server first; nothing was changed", "a server is running on the database %s", config.Name())
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		if taken {
			return release, nil
		}
	}
}
