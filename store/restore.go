package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
)

// RestoreReport describes a completed restore.
type RestoreReport struct {
	BackupReport
	// Database is the restored database, as Store.Name returns it. Before is the new name of
	// the replaced file, "" if there was none.
	Database string `json:"database"`
	Before   string `json:"before,omitempty"`
	// Paused is the number of triggers that were turned off, Sessions the number of
	// sessions that were ended.
	Paused   int64 `json:"pausedTriggers"`
	Sessions int64 `json:"endedSessions"`
	// Verified reports whether the signature was that of one of the keys.
	Verified bool `json:"verified"`
	// Resealed is the number of values that were re-encrypted with the current key because
	// the backup was made with an old one.
	Resealed int64 `json:"resealed,omitempty"`
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	Force         bool   // replace an existing database
	PauseTriggers bool   // switch all triggers off
	KeyFile       string // the file with the master key, which is never written to
	// OldKeys are earlier master keys. A backup signed and sealed with one of them is
	// re-encrypted with the key of Options.Sealer.
	OldKeys []*secret.Sealer
	// Unverified accepts a backup that no key has signed. Its digest must match.
	Unverified bool
	// Progress, if not nil, is called with the current stage and its progress.
	Progress func(stage string, done, total int64)
}

// keys returns the available keys, the current one first.
func (o RestoreOptions) keys(options Options) []*secret.Sealer {
	if options.Sealer == nil {
		return o.OldKeys
	}
	return append([]*secret.Sealer{options.Sealer}, o.OldKeys...)
}

// verify reports whether one of the keys signed a backup. CodeConflict if none did, unless
// Unverified is set.
func (o RestoreOptions) verify(name string, seal dbfile.Trailer, options Options) (bool, error) {
	const meaning = ": the author of the file then controls all of its content, including accounts, keys and blueprints"
	keys := o.keys(options)
	switch {
	case slices.ContainsFunc(keys, func(key *secret.Sealer) bool { return key.Signed(seal.Content, seal.MAC) }):
		return true, nil
	case o.Unverified:
		return false, nil
	case len(keys) == 0:
		return false, dbfile.Refusal(keyHint(options)+"; without it, --unverified restores only a backup that has no secrets"+meaning,
			"there is no master key to verify %s with", name)
	}
	return false, dbfile.Refusal("name the key file that belongs to the backup with --master-key-file, or take another backup; nothing was changed. --unverified restores it anyway, unless its secrets need another key"+meaning,
		"%s does not verify with the master key: it was made with another one, or was changed without the key", name)
}

// Restore makes a backup the database at options.Path or options.Database. A PostgreSQL
// database must have no tables, or Force replaces everything in one of this program in one
// transaction. It uses Path, Database, Schema, Clock, IDs and
// Sealer of options. The backup must have been signed, and its secrets sealed, with that
// sealer or with one of RestoreOptions.OldKeys.
//
// Everything is checked before anything is changed, and the change is one rename:
// whenever the process is killed, the database is completely the old one or the new
// one. The restored database has no sessions and no setup links: those of the backup
// may have been ended or used since. Keys that were revoked and passwords that were
// changed since the backup are valid again. With Force the old database is kept under
// another name, with its log. Errors: CodeConflict if the file is damaged, newer than
// this program or no backup, if the database exists and Force is not set, if a server
// or another program has it open, and if the backup belongs to another key;
// CodeUnavailable if the disk is full.
func Restore(ctx context.Context, from string, options Options, o RestoreOptions) (r RestoreReport, err error) {
	defer wrap(&err, "restore %s", from)
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if options.fileSystem == nil {
		options.fileSystem = dbfile.Stat
	}
	file, err := os.Open(from)
	if err != nil {
		return r, err
	}
	defer file.Close()
	if options.Database == "" {
		if err := unheld(options.Path); err != nil {
			return r, err // before the backup is read, which may take a while
		}
	}
	o.Progress("checking the backup", 0, 0)
	var seal dbfile.Trailer
	if r.Manifest, seal, err = dbfile.ReadBackup(file, nil, options.oldest(), options.version()); err != nil {
		return r, err
	}
	if r.Verified, err = o.verify(from, seal, options); err != nil {
		return r, err
	}
	r.Digest = seal.Digest
	r.Path, r.Size = from, r.PageSize*r.Pages+dbfile.TrailerSize
	if options.Database != "" {
		err := restoreRemote(ctx, file, options, o, &r)
		return r, err
	}
	path, err := dbfile.RealPath(options.Path)
	if err != nil {
		return r, err
	}
	r.Database = path
	if dbfile.HasName(file, path) {
		return r, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: from + " is the database itself", Hint: "name another database with --db"}
	}
	temporary := path + dbfile.RestoringSuffix
	kept := []string{from, path + ".key"}
	if o.KeyFile != "" {
		kept = append(kept, o.KeyFile)
	}
	if err := dbfile.CheckDistinct(append(append(dbfile.WithSides(path), path+".lock"), dbfile.WithSides(temporary)...), kept); err != nil {
		return r, err
	}
	if err := dbfile.CheckDistinct(dbfile.WithSides(temporary), dbfile.Belongings(path, "")); err != nil {
		return r, err
	}
	if err := dbfile.MayRemove(temporary); err != nil {
		return r, err
	}
	if err := mayRestoreOver(path, o.Force); err != nil {
		return r, err
	}
	lock, err := dbfile.AcquireLock(path + ".lock")
	if err != nil {
		return r, inUse(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	// From here on, no server can start on the database.
	if err := lock.GiveTo(path); err != nil {
		return r, err
	}
	dbfile.DropLinks(path)
	dbfile.Remove(temporary)
	defer func() {
		if err != nil {
			dbfile.Remove(temporary)
			err = noSpace(err, path)
		}
	}()
	if err := fill(ctx, file, temporary, options, o, &r); err != nil {
		return r, err
	}
	r.Before, err = exchange(ctx, temporary, path, options, o.Force)
	return r, err
}

// restoreRemote copies a backup into a PostgreSQL database, in one transaction. A file for
// temporary use is made from the backup as in a restore to a file.
func restoreRemote(ctx context.Context, file *os.File, options Options, o RestoreOptions, r *RestoreReport) (err error) {
	release, err := options.keepUnserved(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	folder, err := os.MkdirTemp("", "blueprintd-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(noSpace(err, filepath.Join(folder, "x")), os.RemoveAll(folder)) }()
	local := options
	local.Database, local.Path = "", filepath.Join(folder, "restored.db")
	r.Database = local.Path
	if err := fill(ctx, file, local.Path, local, o, r); err != nil {
		return err
	}
	tables, err := tablesOf(ctx, options.Schema)
	if err != nil {
		return err
	}
	return withDatabase(ctx, local.Path, []string{"_query_only=1"}, func(q *session) error {
		c := copying{tables: tables, from: q, progress: o.Progress}
		_, r.Database, err = c.intoRemote(ctx, &options, o.Force)
		return err
	})
}

// mayRestoreOver refuses to replace a database, or what is left of one, without force.
func mayRestoreOver(path string, force bool) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		var refused *blueprint.Error
		if err := dbfile.MayReplace(path+suffix, force); errors.As(err, &refused) && refused.Code == blueprint.CodeConflict {
			return dbfile.Refusal("restore under another name with --db, or with --force, which keeps the old one as "+path+dbfile.BeforeRestore+"...",
				"%s exists already", path+suffix)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// unheld returns an error for a database that a server holds.
func unheld(path string) error {
	path, err := dbfile.RealPath(path)
	if err != nil {
		return err
	}
	if number, held, err := dbfile.LockHolder(path + ".lock"); err == nil && held {
		return inUse(dbfile.LockedBy("process "+number, path+".lock"))
	}
	return nil
}

func inUse(err error) error {
	var refused *blueprint.Error
	if !errors.As(err, &refused) {
		return err
	}
	return &blueprint.Error{Code: refused.Code, Message: refused.Message, Hint: "stop that server first; nothing was changed"}
}

// fill copies the database from the backup and checks the copy.
func fill(ctx context.Context, file *os.File, temporary string, options Options, o RestoreOptions, r *RestoreReport) error {
	o.Progress("copying", 0, 0)
	if err := copyDatabase(file, temporary, r.Database, r.Digest, r.Schema); err != nil {
		return err
	}
	var before map[string]int64
	if r.Schema < options.version() {
		o.Progress("upgrading the database", 0, 0)
		quiet, err := options, error(nil)
		quiet.Logger = nil
		if before, err = upgradeFile(ctx, temporary, &quiet, KeepOldNever); err != nil {
			return notUpgraded(ctx, err, r.Schema, options.version())
		}
	}
	o.Progress("checking the database", 0, 0)
	found, err := examine(ctx, temporary, &options)
	if err != nil {
		return err
	}
	if before == nil {
		before = found.rows
	}
	for table, rows := range r.Rows {
		if before[table] != rows {
			return dbfile.Damaged(file.Name(), fmt.Sprintf("it has %d rows of %s, not %d", before[table], table, rows))
		}
	}
	old, err := opens(options, o.keys(options), found)
	if err != nil {
		return err
	}
	if old != nil {
		o.Progress("encrypting with the current master key", 0, 0)
		if r.Resealed, err = resealFile(ctx, temporary, old, options); err != nil {
			return err
		}
	}
	if r.Unfinished = found.unfinished; found.damaged.Count > 0 {
		r.Damaged = &found.damaged // as they were when the backup was made
	}
	return withDatabase(ctx, temporary, []string{"_synchronous=FULL"}, func(q *session) error {
		// Sessions and links ended or used since the backup must not become valid again.
		changes := map[string]*int64{"DELETE FROM sessions": &r.Sessions, "DELETE FROM setup_links": new(int64)}
		if o.PauseTriggers {
			changes["UPDATE triggers SET is_active = 0 WHERE is_active = 1 AND deleted_at IS NULL"] = &r.Paused
		}
		for change, count := range changes {
			var err error
			if *count, err = q.exec(change); err != nil {
				return err
			}
		}
		actor := blueprint.ActorOf(ctx)
		if actor == nil {
			return nil
		}
		now := options.Clock.Now()
		_, err := q.exec(insertAudit, options.IDs.ULID(now), int64(blueprint.TimeOf(now)), actor.UserID, "", actor.Action, "database", r.Digest, actor.Via,
			encodeDetail(map[string]any{"asOf": r.At, "pausedTriggers": r.Paused, "endedSessions": r.Sessions}))
		return err
	})
}

// copyDatabase writes the pages of a backup to a new file on the disk, with the owner of
// the database at path. It verifies that the pages are still those that were checked.
func copyDatabase(file *os.File, temporary, path, digest string, schema int) error {
	to, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, again, err := dbfile.ReadBackup(file, to, schema, schema)
	if err == nil && again.Digest != digest {
		err = dbfile.Damaged(file.Name(), "it changed while it was read")
	}
	return errors.Join(err, dbfile.GiveTo(to, path), to.Sync(), to.Close())
}

// opens returns the old key that a backup is sealed with, nil if it is sealed with the
// current one or contains no sealed values. CodeConflict if none of the keys matches.
func opens(options Options, keys []*secret.Sealer, found examined) (old *secret.Sealer, err error) {
	if found.keyCheck == nil || !found.sealed {
		return nil, nil
	}
	for _, key := range keys {
		if bytes.Equal(found.keyCheck, key.Check()) {
			if key == options.Sealer {
				return nil, nil
			}
			return key, nil
		}
	}
	message := "the secrets in the backup are encrypted with another master key"
	if options.Sealer == nil {
		message = "there is no master key, and the backup has secrets that are encrypted with one"
	}
	return nil, dbfile.Refusal(keyHint(options), "%s", message)
}

// keyHint is the hint to provide the key of a backup.
func keyHint(options Options) string {
	if options.Database != "" {
		return "name the key file that belongs to the backup with --master-key-file"
	}
	return "put the key file that belongs to the backup beside the database, as " + options.Path + ".key, or name it with --master-key-file"
}

// resealFile re-encrypts a database that no process has open with the current key.
func resealFile(ctx context.Context, path string, old *secret.Sealer, options Options) (values int64, err error) {
	next := options.Sealer
	options.Path, options.Sealer, options.AllowNetworkFS = path, old, true
	s, err := OpenToChangeKey(ctx, options)
	if err != nil {
		return 0, err
	}
	report, err := s.ChangeKey(ctx, next, ChangeKeyOptions{AllowDamaged: true})
	err = errors.Join(err, s.Close(), os.Remove(path+".lock"))
	if err != nil {
		return 0, err
	}
	return report.Values, leaveWAL(ctx, path)
}

// exchange replaces the old database with the new one and keeps it under another name.
func exchange(ctx context.Context, temporary, path string, options Options, force bool) (before string, err error) {
	if force {
		aside := path + dbfile.BeforeRestore + options.Clock.Now().UTC().Format("20060102T150405.000Z")
		if before, err = setAside(ctx, path, aside, os.Link); err != nil {
			return "", err
		}
	}
	if err := dbfile.SyncFolder(filepath.Dir(path)); err != nil {
		return before, err
	}
	// A log that is still there belongs to a database that was too damaged to be opened,
	// and was kept with it. It is removed first: SQLite must never combine it with the new
	// database.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return before, err
		}
	}
	return before, dbfile.Publish(temporary, path, force)
}

// setAside hard-links the files of the old database to a second name, under which they
// outlive its replacement. It returns that name, "" if there are no files.
func setAside(ctx context.Context, path, aside string, link func(from, to string) error) (before string, err error) {
	suffixes := []string{"", "-wal", "-journal"}
	forget := func(suffixes ...string) {
		for _, suffix := range suffixes {
			_ = os.Remove(aside + suffix)
		}
	}
	// Without hard links the database itself is copied once no process has it open.
	later := false
	for i, suffix := range suffixes {
		err := link(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			if later = later || suffix == ""; suffix == "" {
				continue
			}
			err = dbfile.CopyFile(path+suffix, aside+suffix)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			forget(suffixes[:i]...)
			return "", fmt.Errorf("the old database cannot be kept: %w", err)
		default:
			before = aside
		}
	}
	folded, err := foldLog(ctx, path)
	if err == nil && later {
		if err = dbfile.CopyFile(path, aside); err == nil {
			before = aside
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		forget(suffixes...)
		return "", err
	}
	if folded {
		forget("-wal")
	}
	return before, nil
}

// foldLog copies the log of the old database into it, so that it is one file, and verifies
// that no process has it open: a program that closed it later would remove the log of the
// new one. A database that cannot be opened keeps its log under the second name.
func foldLog(ctx context.Context, path string) (folded bool, err error) {
	if _, err := os.Lstat(path); err != nil {
		return false, nil
	}
	// First copy the log in the usual way, so that a kill leaves a valid database; then
	// check whether other processes have it open.
	err = withDatabase(ctx, path, nil, func(q *session) error {
		_, err := q.exec("PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
	if err == nil {
		err = withDatabase(ctx, path, []string{"_pragma=locking_mode(EXCLUSIVE)"}, func(q *session) error {
			_, err := q.conn.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT")
			return err
		})
	}
	switch resultCode(err) & 0xff {
	case sqliteBusy, sqliteLocked:
		return false, conflict(err, "end that program first; nothing was changed",
			"another program has the database %s open", path)
	case sqliteFull:
		return false, err
	}
	return err == nil, nil
}
