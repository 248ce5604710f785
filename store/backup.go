package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// BackupOptions are the options of Backup.
type BackupOptions struct {
	Force   bool   // replace a backup of the same name
	KeyFile string // the file with the master key, which is never written to
	// AllowDamaged permits a backup of a database with damaged runs, which the report
	// names; otherwise it is refused.
	AllowDamaged bool
	Version      string // of the program
	// Progress, if not nil, is called with the current stage and its progress: done of
	// total, or 0 of 0 if unknown.
	Progress func(stage string, done, total int64)
}

// BackupReport describes a backup or a restored database.
type BackupReport struct {
	dbfile.Manifest
	Path string `json:"path"`
	// Size is in bytes. Digest is the SHA-256, in hexadecimal, of everything except itself.
	Size   int64  `json:"size"`
	Digest string `json:"sha256"`
	// Unfinished is the number of runs that had not ended.
	Unfinished int64 `json:"unfinished"`
	// Damaged lists the runs whose content is damaged; nil if there are none.
	Damaged *DamagedRuns `json:"damaged,omitempty"`
}

const (
	// pagesAtOnce is the number of pages copied between two checks of ctx, usually 4 MB.
	pagesAtOnce = 1024
	// stepsAtOnce is the number of these steps that are synced together. Syncing all of
	// them at the end would block the disk of the server for seconds.
	stepsAtOnce = 4
)

// Backup writes everything committed before it begins to one file, while a server and other
// processes keep working. The file is either complete or missing: it is written under
// another name (path + ".partial"), checked page by page and row by row against the state
// it was copied from, synced to the disk, and then renamed. Sealed values stay sealed. The
// file does not contain the master key, and is signed with one derived from it.
//
// The copy is made in one read transaction: it neither blocks writes nor is interrupted by
// them. Meanwhile the write-ahead log grows; the checks, which take longer, follow the
// copy. Errors: CodeConflict if the file exists and Force is not set or it is not a backup,
// if another backup of that name is in progress, and if the content of runs is damaged;
// CodeBadRequest for a name that belongs to the database or its key; CodeUnavailable if the
// disk is full.
func (s *Store) Backup(ctx context.Context, path string, o BackupOptions) (r BackupReport, err error) {
	defer wrap(&err, "back up %s", s.options.name())
	if s.options.Sealer == nil {
		return r, errors.New("the backup cannot be signed without a master key")
	}
	if s.options.Ephemeral {
		return r, blueprint.Errorf(blueprint.CodeBadRequest, "an ephemeral database has nothing to back up")
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if path, err = dbfile.BackupPath(path); err != nil {
		return r, err
	}
	partial := path + dbfile.PartialSuffix
	kept := []string{o.KeyFile}
	if s.remote == nil {
		kept = dbfile.Belongings(s.options.Path, o.KeyFile)
	}
	if err := dbfile.CheckDistinct(append(dbfile.WithSides(partial), path), kept); err != nil {
		return r, err
	}
	if err := dbfile.MayReplaceBackup(path, o.Force); err != nil {
		return r, err
	}
	file, err := dbfile.ClaimPartial(partial)
	if err != nil {
		return r, notWritable(err, path)
	}
	defer func() {
		if err != nil {
			dbfile.Remove(partial)
		}
		err = errors.Join(undamaged(noSpace(err, path)), file.Close())
	}()
	if r, err = s.copyTo(ctx, file, partial, o); err != nil {
		return r, err
	}
	r.Path = path
	o.Progress("writing the checksum", 0, 0)
	if r.Size, r.Digest, err = dbfile.AppendTrailer(file, r.Manifest, s.options.Sealer.Sign); err != nil {
		return r, err
	}
	if _, _, err := dbfile.ReadBackup(file, nil, r.Schema, r.Schema); err != nil {
		return r, err
	}
	return r, dbfile.Publish(partial, path, o.Force)
}

// copyTo copies the database and verifies the copy.
func (s *Store) copyTo(ctx context.Context, file *os.File, partial string, o BackupOptions) (r BackupReport, err error) {
	r.Manifest = dbfile.NewManifest(s.options.version(), o.Version, blueprint.TimeOf(s.options.Clock.Now()))
	if err := s.copyState(ctx, file, partial, &r, o.Progress); err != nil {
		return r, err
	}
	if err := leaveWAL(ctx, partial); err != nil {
		return r, err
	}
	o.Progress("checking the copy", 0, 0)
	found, err := examine(ctx, partial, &s.options)
	if err != nil {
		return r, err
	}
	if !maps.Equal(found.rows, r.Rows) || found.unfinished != r.Unfinished {
		return r, fmt.Errorf("the copy has the rows %v, want %v", found.rows, r.Rows)
	}
	if found.damaged.Count > 0 {
		if !o.AllowDamaged {
			return r, damagedContents(&found.damaged)
		}
		r.Damaged = &found.damaged
	}
	r.PageSize, r.Pages = found.pageSize, found.pages
	return r, nil
}

// copyState copies the state of one moment and counts its rows.
func (s *Store) copyState(ctx context.Context, file *os.File, partial string, r *BackupReport, progress func(string, int64, int64)) (err error) {
	return s.snapshot(ctx, func(source *session) error {
		if err := source.row(countUnfinished, nil, &r.Unfinished); err != nil {
			return err
		}
		if s.remote != nil {
			r.Rows, err = s.copyRows(ctx, source, partial, progress)
			return err
		}
		if r.Rows, err = countRows(source); err != nil {
			return err
		}
		if err := mark(source, partial); err != nil {
			return err
		}
		return copyDatabaseTo(ctx, source, file, partial, progress)
	})
}

// copyRows copies the state of a PostgreSQL database to the file partial.
func (s *Store) copyRows(ctx context.Context, source *session, partial string, progress func(string, int64, int64)) (map[string]int64, error) {
	tables, err := tablesOf(ctx, s.options.Schema)
	if err != nil {
		return nil, err
	}
	c := copying{tables: tables, from: source, progress: progress}
	return c.intoFile(ctx, partial, &s.options)
}

// copyDatabaseTo copies the pages of a database to the file partial, which is open as file.
func copyDatabaseTo(ctx context.Context, source *session, file *os.File, partial string, progress func(string, int64, int64)) error {
	target := fileURI(partial, []string{"_busy_timeout=5000", "_synchronous=OFF", "_pragma=journal_mode(OFF)", "_pragma=locking_mode(EXCLUSIVE)"})
	return source.conn.Raw(func(driverConn any) error {
		backup, err := driverConn.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(target)
		if err != nil {
			return err
		}
		for step, more := 1, true; more && err == nil; step++ {
			if more, err = backup.Step(pagesAtOnce); err == nil {
				progress("copying", int64(backup.PageCount()-backup.Remaining()), int64(backup.PageCount()))
				err = ctx.Err()
			}
			if err == nil && step%stepsAtOnce == 0 {
				err = file.Sync()
			}
		}
		return errors.Join(err, backup.Finish())
	})
}

// mark turns an empty file into an empty database of this program, so that a leftover of a
// killed process can be recognised: copying writes the first page last. The mark is on
// the disk before anything else, so that this holds after a power cut too.
func mark(source *session, partial string) error {
	var pageSize int
	if err := source.row("PRAGMA page_size", nil, &pageSize); err != nil {
		return err
	}
	return withDatabase(context.Background(), partial, []string{"_synchronous=FULL", "_pragma=journal_mode(OFF)"}, func(q *session) error {
		_, err := q.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA page_size = %d; PRAGMA application_id = %d", pageSize, dbfile.ApplicationID))
		return err
	})
}

// leaveWAL takes the copy out of WAL mode, so that it is a single file.
func leaveWAL(ctx context.Context, path string) error {
	return withDatabase(ctx, path, []string{"_pragma=locking_mode(EXCLUSIVE)"}, func(q *session) error {
		var mode string
		if err := q.row("PRAGMA journal_mode = DELETE", nil, &mode); err != nil {
			return err
		}
		if mode != "delete" {
			return fmt.Errorf("the copy is still in journal mode %s", mode)
		}
		return nil
	})
}

// undamaged returns the error for a backup that failed because of a damaged database.
func undamaged(err error) error {
	var known *blueprint.Error
	explained, message := errors.As(err, &known), "the database is damaged, and no backup was made"
	switch code := resultCode(err) & 0xff; {
	case errors.Is(err, errUnsound):
		message = known.Message
	case explained || code != sqliteCorrupt && code != sqliteNotADB:
		return err
	}
	return conflict(err, "run blueprintd doctor --full to see what is damaged; restore an earlier backup with blueprintd restore --force",
		"%s", message)
}

// noSpace returns an error that names the full disk if a full disk is the cause.
func noSpace(err error, path string) error {
	if resultCode(err)&0xff != sqliteFull && !errors.Is(err, errNoSpace) {
		return err
	}
	return &blueprint.Error{
		Code: blueprint.CodeUnavailable, Message: "there is not enough space in " + filepath.Dir(path), Err: err,
		Hint: "free some space, or choose another folder; no file was left behind",
	}
}

// errNoSpace is the operating system's error for a full disk.
const errNoSpace = syscall.ENOSPC

// notWritable returns an error if no file can be created at the place of the backup.
func notWritable(err error, path string) error {
	reason := ""
	switch {
	case errors.Is(err, syscall.EROFS):
		reason = "its disk is mounted read-only"
	case errors.Is(err, fs.ErrPermission):
		reason = "the current user may not write there"
	default:
		return noSpace(err, path)
	}
	return conflict(err, "choose another place for the backup",
		"no backup can be written into %s: %s", filepath.Dir(path), reason)
}
