package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/store/dbfile"
	"blueprintd/store/migrations"
)

// KeepOld says whether an upgrade leaves a copy of the database as it was, as FILE.v8
// where 8 is its schema version.
type KeepOld string

// When a copy is left.
const (
	KeepOldAuto   KeepOld = "auto"   // if there is room for it
	KeepOldAlways KeepOld = "always" // the upgrade is refused without room
	KeepOldNever  KeepOld = "never"
)

// version returns the current schema version.
func (o *Options) version() int {
	if n := len(o.steps); n > 0 {
		return o.steps[n-1].Version
	}
	return SchemaVersion
}

// stepsOf returns all known steps.
func (o *Options) stepsOf() []migrations.Step {
	if o.steps != nil {
		return o.steps
	}
	return migrations.Steps()
}

// oldest returns the oldest schema version that can be upgraded to the current one.
func (o *Options) oldest() int {
	oldest := o.version()
	for _, step := range slices.Backward(o.stepsOf()) {
		if step.Version == oldest {
			oldest--
		}
	}
	return oldest
}

// upgrades reports whether opening the database may upgrade it.
func (o *Options) upgrades() bool { return o.Server && !o.anyKind }

// stepsFrom returns the steps from a schema version to the current one, none if it is the
// current one. A version that cannot be upgraded is refused.
func (o *Options) stepsFrom(path string, version int) ([]migrations.Step, error) {
	now := o.version()
	switch {
	case version > now:
		hint := "use the newer blueprintd that wrote it"
		if name := oldCopy(path, now); size(name) > 0 {
			hint += fmt.Sprintf("; to go back to the database before its upgrade, which loses what was stored since, remove %s-wal and %s-shm and move %s to %s", path, path, name, path)
		}
		return nil, dbfile.Refusal(hint, "the database has schema version %d, and this program supports versions up to %d", version, now)
	case version < o.oldest():
		return nil, dbfile.Refusal("export its blueprints with the blueprintd that wrote it and import them into a new database",
			"the database has schema version %d, which this program cannot upgrade to version %d", version, now)
	}
	var steps []migrations.Step
	for _, step := range o.stepsOf() {
		if step.Version > version && step.Version <= now {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// outdated returns the error of a tool for a database with an older schema version.
func (o *Options) outdated(version int) *blueprint.Error {
	return dbfile.Refusal("start the server once with this blueprintd to upgrade the database, or use the blueprintd that wrote it",
		"the database has schema version %d, and this program needs version %d", version, o.version())
}

// oldCopy returns the name of the copy of a database that an upgrade leaves.
func oldCopy(path string, version int) string { return fmt.Sprintf("%s.v%d", path, version) }

// keyFitsExactly compares the master key with that of a database with an older schema
// version. It does not find out whether another key may be adopted because nothing is sealed.
func (o *Options) keyFitsExactly(q *session) error {
	var known []byte
	if err := q.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return err
	}
	if known != nil && (o.Sealer == nil || !slices.Equal(known, o.Sealer.Check())) {
		return errOtherKey
	}
	return nil
}

// upgrade upgrades the database of a server, which has the lock. Its connection is closed
// meanwhile: the one that upgrades must be the only one.
func (s *Store) upgrade(ctx context.Context, version int) error {
	path := s.options.Path
	// Closing the connection would copy the log too, but ignore a failed sync.
	var busy, frames, copied int64
	if err := s.writer.session.row("PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &frames, &copied); severityOf(err) == ofStore {
		return notUpgraded(ctx, err, version, s.options.version())
	}
	if err := errors.Join(s.writer.session.close(), s.pool.Close()); err != nil {
		return err
	}
	s.writer, s.pool = nil, nil
	if _, err := upgradeFile(ctx, path, &s.options, cmp.Or(s.options.KeepOld, KeepOldAuto)); err != nil {
		return notUpgraded(ctx, err, version, s.options.version())
	}
	if err := s.openWriter(ctx, path); err != nil {
		return err
	}
	blank, err := s.options.recognise(s.writer.session, path)
	if err == nil && blank {
		err = foreign("it is empty")
	}
	return err
}

// notUpgraded explains why an upgrade failed.
func notUpgraded(ctx context.Context, err error, from, to int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, known := errors.AsType[*blueprint.Error](err); known {
		return err
	}
	message := fmt.Sprintf("the database cannot be upgraded from schema version %d to version %d", from, to)
	switch code := resultCode(err) & 0xff; {
	case code == sqliteBusy || code == sqliteLocked:
		return conflict(err, "end that program and start again; nothing was changed", "%s: another program has it open", message)
	case code == sqliteFull || errors.Is(err, errNoSpace):
		return unavailable(err, "free some space on the disk of the database and start again; it is as it was", message+": the disk is full")
	case severityOf(err) == ofStore:
		return unavailable(err, "look for disk errors in the system log and start again; if it fails again "+restoreHint, message+": the disk failed")
	}
	return dbfile.Refusal("use the blueprintd that wrote it; the database is as it was", "%s: %v", message, err)
}

// upgradeSettings are those of the connection that upgrades a database. Constraints
// between tables are checked at the end, and references keep their texts when a table
// is renamed. Once it has read something no other process can use the database.
var upgradeSettings = []string{
	"_synchronous=FULL",
	"_pragma=locking_mode(EXCLUSIVE)",
	"_pragma=legacy_alter_table(ON)",
	"_pragma=cache_size(-64000)",
}

// upgradeFile upgrades a database that no process uses to the current schema version, in
// one transaction. It returns the numbers of rows before. After an error the database is as
// it was, unless the disk failed during the commit itself: then it is either that or
// completely upgraded.
func upgradeFile(ctx context.Context, path string, o *Options, keep KeepOld) (rows map[string]int64, err error) {
	u := upgrade{options: o, path: path, keep: keep}
	err = withDatabase(ctx, path, upgradeSettings, func(q *session) error {
		u.q = q
		if _, err := q.exec("PRAGMA foreign_keys = OFF"); err != nil { // which the common settings turn on
			return err
		}
		return u.run(ctx)
	})
	return u.rows, err
}

// upgrade is the upgrade of one file.
type upgrade struct {
	options *Options
	path    string
	keep    KeepOld
	q       *session

	version int // before
	steps   []migrations.Step
	rows    map[string]int64 // before
	stage   atomic.Pointer[stage]
}

// stage is a part of an upgrade.
type stage struct{ name, file string }

// enter begins a stage. The size of file shows its progress; "" = no file does.
func (u *upgrade) enter(name, file string) {
	u.stage.Store(&stage{name, file})
	if u.options.OnUpgrade != nil {
		u.options.OnUpgrade(name)
	}
}

// progressInterval is the time between two messages of a long upgrade.
const progressInterval = 5 * time.Second

// follow logs the stage of the upgrade at intervals until stop is called.
func (u *upgrade) follow() (stop func()) {
	began, ended := clock.Real{}.Now(), make(chan struct{})
	ticker := time.NewTicker(progressInterval)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ticker.C:
				u.report(clock.Real{}.Now().Sub(began))
			case <-ended:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(ended)
		group.Wait()
	}
}

// report logs the stage.
func (u *upgrade) report(elapsed time.Duration) {
	now := u.stage.Load()
	attributes := []any{"stage", now.name, "duration", elapsed.Round(time.Second)}
	if now.file != "" {
		attributes = append(attributes, "written", size(now.file))
	}
	u.options.Logger.Info("database upgrade in progress", attributes...)
	if u.options.OnUpgrade != nil {
		u.options.OnUpgrade(now.name)
	}
}

func (u *upgrade) run(ctx context.Context) error {
	version, blank, err := readVersion(u.q)
	if err == nil && blank {
		err = foreign("it is empty")
	}
	if err != nil {
		return err
	}
	if u.version = version; version == u.options.version() {
		return nil
	}
	if u.steps, err = u.options.stepsFrom(u.path, version); err != nil {
		return err
	}
	bytes, err := u.room()
	if err != nil {
		return err
	}
	log := u.options.Logger
	began := clock.Real{}.Now()
	u.enter("check", "")
	if log != nil {
		log.Info("database upgrade started", "path", u.path, "from", version, "to", u.options.version(), "bytes", bytes)
		defer u.follow()()
	}
	found, err := problems(u.q, checkPagesQuick, checkReferences)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return unsound(found[0])
	}
	if u.rows, err = countRows(u.q); err != nil {
		return err
	}
	kept := ""
	if u.keep != KeepOldNever {
		if kept, err = u.copy(ctx); err != nil {
			return err
		}
	}
	damaged, err := u.change(ctx)
	if err != nil {
		return err
	}
	u.enter("write back", "")
	// Closing the connection would copy the log too, but ignore a failed sync.
	var busy, frames, copied int64
	if err := u.q.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &frames, &copied); severityOf(err) == ofStore {
		return err
	}
	if log != nil {
		if damaged.Count > 0 {
			log.Warn("damaged runs upgraded as they are", "path", u.path, "runs", damaged.Count, "hint", "run blueprintd doctor --full to list them")
		}
		log.Info("database upgraded", "path", u.path, "from", version, "to", u.options.version(), "duration", clock.Real{}.Now().Sub(began).Round(time.Millisecond), "copy", kept)
	}
	return nil
}

// room verifies that the disk has space for the upgrade, and decides whether a copy is
// kept. It returns the size of the database. The log takes as much as the tables that
// are written again, at most all, and when it is copied back the file grows by as much.
func (u *upgrade) room() (bytes int64, err error) {
	var pageSize, pages, free int64
	if err := errors.Join(
		u.q.row("PRAGMA page_size", nil, &pageSize),
		u.q.row("PRAGMA page_count", nil, &pages),
		u.q.row("PRAGMA freelist_count", nil, &free)); err != nil {
		return 0, err
	}
	bytes = pageSize * pages
	p, err := u.options.fileSystem(filepath.Dir(u.path))
	if err != nil || !p.Known {
		return bytes, err
	}
	need := 2 * pageSize * (pages - free)
	if u.keep == KeepOldAuto && p.Free < need+bytes {
		u.keep = KeepOldNever
		if u.options.Logger != nil && p.Free >= need {
			u.options.Logger.Warn("no room for a copy of the database before its upgrade", "path", u.path, "bytes", bytes, "free", p.Free-need)
		}
	}
	hint := "free some space"
	if u.keep == KeepOldAlways {
		need += bytes
		hint += ", or start with --keep-old auto, which leaves no copy of the database if there is no room for one"
	}
	if p.Free < need {
		return bytes, dbfile.Refusal(hint, "upgrading the database from schema version %d to version %d needs %s (%d bytes) of free space, and %s are free",
			u.version, u.options.version(), Size(need), need, Size(p.Free))
	}
	return bytes, nil
}

// copy leaves a copy of the database beside it, for going back. An older copy of the
// same version is replaced once the new one is complete and on the disk.
func (u *upgrade) copy(ctx context.Context) (name string, err error) {
	name = oldCopy(u.path, u.version)
	partial := name + dbfile.PartialSuffix
	if dbfile.MayRemove(name) != nil {
		return "", dbfile.Refusal("move that file away, or start with --keep-old never",
			"%s is in the way of the copy of the database as it is before the upgrade", name)
	}
	u.enter("copy", partial)
	file, err := dbfile.ClaimPartial(partial)
	if err != nil {
		return "", err
	}
	defer func() {
		dbfile.Remove(partial) // or what SQLite has left beside it
		err = errors.Join(err, file.Close())
	}()
	if err := mark(u.q, partial); err != nil {
		return "", err
	}
	if err := copyDatabaseTo(ctx, u.q, file, partial, func(string, int64, int64) {}); err != nil {
		return "", err
	}
	if err := leaveWAL(ctx, partial); err != nil {
		return "", err
	}
	if err := u.checkCopy(ctx, partial); err != nil {
		return "", err
	}
	if err := errors.Join(dbfile.GiveTo(file, u.path), file.Sync()); err != nil {
		return "", err
	}
	return name, dbfile.Publish(partial, name, true)
}

// checkCopy verifies that a copy has every row of the database.
func (u *upgrade) checkCopy(ctx context.Context, path string) error {
	return withDatabase(ctx, path, []string{"_query_only=1"}, func(q *session) error {
		found, err := problems(q, checkPagesQuick)
		if err != nil {
			return err
		}
		version, _, err := readVersion(q)
		if err != nil {
			return err
		}
		var mode string
		if err := q.row("PRAGMA journal_mode", nil, &mode); err != nil {
			return err
		}
		rows, err := countRows(q)
		if err == nil && (len(found) > 0 || version != u.version || mode != "delete" || !maps.Equal(rows, u.rows)) {
			err = fmt.Errorf("the copy %s is not the database: schema version %d, journal mode %s, rows %v, %s", path, version, mode, rows, strings.Join(found, "; "))
		}
		return err
	})
}

// change runs the steps in a transaction, and commits it if everything is there. Runs
// that were damaged before stay as they are, and are returned.
func (u *upgrade) change(ctx context.Context) (damaged DamagedRuns, err error) {
	for {
		found, err := u.changeOnce(ctx, &damaged)
		if err != nil || !differ(&damaged, &found) {
			return found, err
		}
		before, readErr := contents(u.q)
		if readErr != nil || differ(&before, &found) {
			return found, u.mismatch("the content of %d runs is not what was stored: %s", found.Count, &found)
		}
		damaged = before
	}
}

func differ(a, b *DamagedRuns) bool { return a.Count != b.Count || !slices.Equal(a.IDs, b.IDs) }

// changeOnce is change for a database with known damaged runs. If it finds others it
// returns them and changes nothing.
func (u *upgrade) changeOnce(ctx context.Context, known *DamagedRuns) (found DamagedRuns, err error) {
	if _, err := u.q.exec("BEGIN IMMEDIATE"); err != nil {
		return found, err
	}
	open := true
	defer func() {
		u.q.forget() // statements of the old tables
		if open {
			_, _ = u.q.exec("ROLLBACK") // SQLite may have done it
		}
	}()
	log := u.path + "-wal"
	u.enter("change", log)
	for _, step := range u.steps {
		if _, err := u.q.conn.ExecContext(ctx, step.SQL); err != nil {
			return found, fmt.Errorf("step %d, %s: %w", step.Version, step.Name, err)
		}
	}
	if _, err := u.q.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", u.options.version())); err != nil {
		return found, err
	}
	u.enter("verify", log)
	if err := u.verify(ctx); err != nil {
		return found, err
	}
	if found, err = contents(u.q); err != nil || differ(known, &found) {
		return found, err
	}
	if err := ctx.Err(); err != nil {
		return found, err
	}
	if _, err := u.q.exec("COMMIT"); err != nil {
		return found, err
	}
	open = false
	return found, nil
}

// verify compares the tables after the steps with those before and with the schema.
func (u *upgrade) verify(ctx context.Context) error {
	if err := compareSchema(ctx, u.q, u.options.Schema); err != nil {
		return u.mismatch("the tables are not those of this program")
	}
	found, err := problems(u.q, checkReferences)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return u.mismatch("%s", found[0])
	}
	after, err := countRows(u.q)
	if err != nil {
		return err
	}
	for _, step := range u.steps {
		for _, table := range step.Changed {
			delete(after, table)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(after)) {
		if before, was := u.rows[table]; was && before != after[table] {
			return u.mismatch("%s has %d rows, not %d", table, after[table], before)
		}
	}
	return nil
}

// mismatch returns the error for an upgrade whose result is not what it must be.
func (u *upgrade) mismatch(format string, args ...any) error {
	return dbfile.Refusal("use the blueprintd that wrote it; the database is as it was. "+restoreHint,
		"the database cannot be upgraded from schema version %d to version %d: after the upgrade %s", u.version, u.options.version(), fmt.Sprintf(format, args...))
}
