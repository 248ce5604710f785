package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
	"blueprintd/store/dbfile"
)

// maxReaders is the maximum number of concurrent reads of a file.
const maxReaders = 8

// The settings of connections. The wait for locks is first: later ones may need a lock.
var (
	commonSettings = []string{
		"_busy_timeout=5000",
		"_foreign_keys=1",
		"_dqs=0",       // "x" is an identifier, never a string
		"_defensive=1", // no SQL may write to the schema table or the pages
		"_error_rc=1",
		"_pragma=trusted_schema(0)",  // a schema calls no registered functions
		"_pragma=cell_size_check(1)", // notice a damaged page before using it
		"_pragma=temp_store(2)",      // no temporary files on the disk
	}
	writerSettings = append(commonSettings[:len(commonSettings):len(commonSettings)],
		"_synchronous=FULL",                // a commit is on the disk before it returns
		"_pragma=cache_size(-8000)",        // most pages are written once and seldom read again
		"_pragma=wal_autocheckpoint(8000)", // 32 MB; the checkpoints of Run come earlier
		"_pragma=journal_size_limit(67108864)",
	)
	readerSettings = append(commonSettings[:len(commonSettings):len(commonSettings)],
		"_pragma=cache_size(-500)", // a commit of the writer empties it anyway
		"_query_only=1",
	)
)

// toolPatience makes a tool wait longer for the write lock. A server under full load
// releases it only briefly, so that many attempts may be needed.
const toolPatience = "_pragma=busy_timeout(30000)"

// SQLiteVersion is the version of the built-in SQLite, such as "3.50.4".
const SQLiteVersion = sqlite3.SQLITE_VERSION

func (s *Store) open(ctx context.Context) error {
	switch {
	case s.options.Ephemeral:
		return s.openMemory(ctx)
	case s.options.Database != "":
		return s.openRemote(ctx)
	}
	return s.openFile(ctx)
}

// openMemory uses one connection for everything: if several connections share a database in
// memory, readers cannot wait for locks.
func (s *Store) openMemory(ctx context.Context) (err error) {
	if s.pool, err = sql.Open("sqlite", "file::memory:?"+strings.Join(commonSettings, "&")); err != nil {
		return err
	}
	session, err := newSession(ctx, s.pool)
	if err != nil {
		return err
	}
	s.writer = newWriter(session)
	if err := s.create(ctx); err != nil {
		return err
	}
	return s.claim(ctx)
}

func (s *Store) openFile(ctx context.Context) (err error) {
	if s.options.Path, err = dbfile.RealPath(s.options.Path); err != nil {
		return err
	}
	path := s.options.Path
	if s.options.ReadOnly && s.options.readOnly(path) {
		return s.openToRead(ctx, path)
	}
	if err := s.inspect(ctx, path); err != nil {
		return err
	}
	if s.options.Server {
		if s.lock, err = dbfile.AcquireLock(path + ".lock"); err != nil {
			return err
		}
		dbfile.DropLinks(path)
	}
	if err := dbfile.Create(path); err != nil {
		return err
	}
	if err := s.openWriter(ctx, path); err != nil {
		return err
	}
	if err := s.recognise(ctx); err != nil {
		return err
	}
	if err := s.useWAL(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := dbfile.Restrict(path + suffix); err != nil {
			return err
		}
	}
	pool, err := sql.Open("sqlite", fileURI(path, readerSettings))
	if err != nil {
		return err
	}
	s.readers = newReaders(pool, maxReaders)
	if s.watch, err = newSession(ctx, pool); err != nil {
		return err
	}
	s.gate.read = func() (int64, error) { return readGeneration(s.watch) }
	if err := s.claim(ctx); err != nil {
		return err
	}
	if err := s.keepNames(path); err != nil {
		return err
	}
	if s.lock == nil {
		return nil
	}
	s.checkSpace()
	s.warnRescued()
	return errors.Join(s.lock.MarkUsed(), s.watched.start(path))
}

// openWriter opens the connection that writes.
func (s *Store) openWriter(ctx context.Context, path string) (err error) {
	settings := writerSettings
	if !s.options.Server {
		settings = append(settings[:len(settings):len(settings)], toolPatience)
	}
	if mutant.Enabled {
		settings = mutantSettings(settings)
	}
	if s.pool, err = sql.Open("sqlite", fileURI(path, settings)); err != nil {
		return err
	}
	session, err := newSession(ctx, s.pool)
	if resultCode(err)&0xff == sqliteNotADB {
		return foreign("it is not an SQLite database")
	}
	if err == nil {
		s.writer = newWriter(session)
	}
	return err
}

// keepNames syncs the directory entries of the database and its log: a file without a
// durable name is lost when the power fails, even if its content was synced. SQLite does
// the same, but ignores errors.
func (s *Store) keepNames(path string) error {
	err := s.options.syncFolder(filepath.Dir(path))
	if err == nil {
		return nil
	}
	return unavailable(err, "look for disk errors in the system log, then start again",
		"the folder of the database cannot be synced to the disk")
}

// useWAL sets the journal mode, which is stored in the file. It is called only once the
// database is known to be of this program.
func (s *Store) useWAL() error {
	var mode string
	err := errors.New("not tried")
	for attempt := 0; err != nil && attempt < 50; attempt++ {
		// SQLite does not wait here for other processes that do the same.
		if err = s.writer.session.row("PRAGMA journal_mode = WAL", nil, &mode); resultCode(err)&0xff != sqliteBusy {
			break
		}
		<-time.After(steadyInterval)
	}
	if err != nil {
		return err
	}
	if mode != "wal" {
		return dbfile.Refusal("put the database on a local disk; network file systems do not work",
			"the database cannot keep a write-ahead log in its folder")
	}
	return nil
}

// openToRead opens a database on a disk that is mounted read-only, for a backup: nothing is
// written to it or beside it. The disk may be writable under another mount, with a running
// server. In that case the log and its index are read too; otherwise no server can start
// while the database is open here.
func (s *Store) openToRead(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := inspectMissing(path); err != nil {
			return err
		}
		return dbfile.Refusal("name it with --db FILE", "there is no database %s", path)
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() == 0 || size(path+"-journal") > 0:
		return dbfile.Refusal("mount the disk writable and start the server once", "%s is not a complete database, and its disk is mounted read-only", path)
	}
	if err := checkLog(path + "-wal"); err != nil {
		return err
	}
	if err := steadily(ctx, path, func() error { return s.inspectContent(ctx, path) }); err != nil {
		return err
	}
	mode, err := s.readingMode(path)
	if err != nil {
		return err
	}
	uri := strings.Replace(fileURI(path, readerSettings), "mode=rw", mode, 1)
	if s.pool, err = sql.Open("sqlite", uri); err != nil {
		return err
	}
	session, err := newSession(ctx, s.pool)
	if err != nil {
		return err
	}
	s.writer = newWriter(session) // any write fails
	if blank, err := s.options.recognise(session, path); err != nil {
		return err
	} else if blank {
		return dbfile.Refusal("name another file with --db", "there is nothing in the database %s", path)
	}
	pool, err := sql.Open("sqlite", uri)
	if err != nil {
		return err
	}
	s.readers = newReaders(pool, maxReaders)
	return nil
}

// readOnly reports whether the disk of a database is mounted read-only.
func (o *Options) readOnly(path string) bool {
	p, err := o.fileSystem(filepath.Dir(path))
	return err == nil && p.Known && p.ReadOnly
}

// readingMode returns the mode in which SQLite opens a database that cannot be written to.
func (s *Store) readingMode(path string) (string, error) {
	const shared, alone = "mode=ro&readonly_shm=1", "mode=ro&immutable=1"
	lock, held, err := dbfile.ShareLock(path + ".lock")
	s.lock = lock
	if err != nil {
		return "", err
	}
	if held {
		return shared, nil // a server has it open, so there is an index
	}
	if size(path+"-wal") <= logHeader {
		return alone, nil
	}
	if _, err := os.Stat(path + "-shm"); err != nil {
		return "", dbfile.Refusal("copy the database and its log to a writable disk and back up that copy, or mount the disk writable and start the server once",
			"the log %s-wal cannot be read on a disk that is mounted read-only: its index %s-shm is missing", path, path)
	}
	return shared, nil
}

// fileURI returns the name of a database file for the driver, for any path.
func fileURI(path string, settings []string) string {
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return name.String() + "?mode=rw&" + strings.Join(settings, "&")
}

// claim checks the master key and, for a server, takes ownership of the database.
func (s *Store) claim(ctx context.Context) error {
	err := s.write(ctx, func(t *transaction) error {
		if err := s.checkKey(t); err != nil {
			return err
		}
		if !s.options.Server {
			return t.row("SELECT sandbox FROM meta WHERE id = 1", nil, &s.sandbox)
		}
		if err := s.options.settlePurpose(t); err != nil {
			return err
		}
		s.sandbox = s.options.Sandbox
		if s.remote != nil {
			if err := s.register(t); err != nil {
				return err
			}
			if _, err := t.exec(dropOldMarks); err != nil {
				return err
			}
		}
		return t.row("UPDATE meta SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch", nil, &s.epoch)
	})
	s.claimed = err == nil
	return err
}

// fence verifies that this server still owns the database or, for a tool, that the master
// key has not been changed. It returns the generation at which the transaction begins. In
// PostgreSQL, beginRemote does both.
func (s *Store) fence() (generation int64, err error) {
	if s.options.Ephemeral {
		return s.generation.Load(), nil // no other process can access it
	}
	if s.writer.untouched() {
		return s.writer.subscriptions.generation, nil
	}
	var epoch int64
	if err := s.writer.session.row("SELECT epoch, generation FROM meta WHERE id = 1", nil, &epoch, &generation); err != nil {
		return 0, err
	}
	return generation, s.checkEpoch(epoch)
}

// checkEpoch verifies the epoch that the transaction has read; see fence.
func (s *Store) checkEpoch(epoch int64) (err error) {
	switch {
	case s.epoch == 0:
		err = s.sameKey()
	case epoch == s.epoch:
	case s.remote != nil:
		s.writer.failing = nil
		if err = s.remote.checkAlive(s.writer.session, s.nodes.id); err == nil {
			s.epoch = epoch
		}
	default:
		err = errFenced
	}
	return err
}

// untouched reports, in a transaction, whether no other connection, and therefore no other
// process, has written since the last commit of this connection. Once the transaction has
// begun, SQLite determines that without reading the disk.
func (w *writer) untouched() bool {
	left := w.dataVersion
	w.dataVersion = 0
	version, err := w.session.dataVersion()
	return err == nil && left != 0 && version == left
}

// noteDataVersion records, after a commit, the number that a commit of another
// connection would change. A tool reads the database each time.
func (s *Store) noteDataVersion() {
	if s.epoch != 0 && s.remote == nil {
		s.writer.dataVersion, _ = s.writer.session.dataVersion()
	}
}

// sameKey prevents a tool from writing with a master key that was changed meanwhile: a tool
// does not hold the lock that would prevent the change.
func (s *Store) sameKey() error {
	if !s.claimed || s.options.Sealer == nil {
		return nil
	}
	var known []byte
	if err := s.writer.session.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return err
	}
	if !bytes.Equal(known, s.options.Sealer.Check()) {
		return dbfile.Refusal("run the command again", "the master key was changed meanwhile")
	}
	return nil
}

// errOtherKey is returned for a database that belongs to another master key.
var errOtherKey = dbfile.Refusal("name the key file that belongs to this database with --master-key-file",
	"the secrets of the database are encrypted with another master key")

// OtherKey reports whether an error says that the database belongs to another master key.
func OtherKey(err error) bool { return errors.Is(err, errOtherKey) }

// checkKey compares the master key with that of the database, and makes it the key of the
// database if allowed.
func (s *Store) checkKey(t *transaction) error {
	adopt, err := s.options.keyFits(t.session)
	if err != nil || !adopt {
		return err
	}
	const set = "UPDATE meta SET key_check = ? WHERE id = 1"
	if s.remote == nil {
		_, err = t.exec(set, s.options.Sealer.Check())
		return err
	}
	changed, err := t.exec(set+" AND key_check IS NULL", s.options.Sealer.Check())
	if err == nil && changed == 0 { // another process was first
		_, err = s.options.keyFits(t.session)
	}
	return err
}

// keyFits compares the master key with that of the database. Only a server may adopt
// another key, and only while no value is sealed. On PostgreSQL, where other processes may be
// about to seal values with the present key, a server adopts a key only if there is none.
func (o Options) keyFits(q *session) (adopt bool, err error) {
	var known []byte
	if err := q.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return false, err
	}
	sealer := o.Sealer
	switch {
	case sealer == nil && (known == nil || !o.Server):
		return false, nil
	case sealer != nil && bytes.Equal(known, sealer.Check()):
		return false, nil
	case known != nil && o.Database != "":
		return false, errOtherKey
	case known != nil:
		sealed, err := holdsSealed(&transaction{session: q})
		if err != nil {
			return false, err
		}
		if sealed || !o.Server {
			return false, errOtherKey
		}
	}
	return sealer != nil, nil
}

// IsSandbox reports whether the database is a sandbox's, whose runs fakes answer.
func (s *Store) IsSandbox() bool { return s.sandbox }

// purpose is what the first server on a database decided about it.
type purpose struct{ decided, sandbox, virtual bool }

// checkPurpose refuses to run a sandbox on a real database, and a real server on the
// database of a sandbox or of a virtual clock: the answers of fakes, such as tokens of
// connections, would be used as real ones, and times in the future of a virtual clock would
// prevent schedules from firing. Tools may read any database.
func (o *Options) checkPurpose(q *session) (p purpose, err error) {
	if !o.Server || o.Ephemeral || o.anyKind {
		return p, nil
	}
	if err := q.row("SELECT epoch > 0, sandbox, virtual_clock FROM meta WHERE id = 1", nil, &p.decided, &p.sandbox, &p.virtual); err != nil {
		return p, err
	}
	other, fresh := "--db", "--db sandbox.db, or --ephemeral"
	if o.Database != "" {
		other, fresh = "--database", "--database URL, or --ephemeral without --database"
	}
	switch {
	case !p.decided:
	case o.Sandbox && !p.sandbox:
		return p, dbfile.Refusal("remove --sandbox (or BLUEPRINTD_SANDBOX), or use a new database for the sandbox: "+fresh,
			"the database is not a sandbox's: its runs would continue with fakes, and its connections would keep tokens of fakes")
	case p.sandbox && !o.Sandbox:
		return p, dbfile.Refusal("add --sandbox, or name another database with "+other, "the database is a sandbox's: its tokens and answers are fakes")
	case p.virtual && !o.VirtualClock:
		return p, dbfile.Refusal("add --clock virtual=RFC3339, or name another database with "+other, "the times in the database are those of a virtual clock")
	}
	return p, nil
}

// settlePurpose stores the purpose of a new database. A virtual clock is allowed on real
// history, for trying out future behavior, but prunes no history by age: advancing the
// clock would erase it.
func (o *Options) settlePurpose(t *transaction) error {
	p, err := o.checkPurpose(t.session)
	switch {
	case err != nil || o.Ephemeral || o.anyKind:
		return err
	case !p.decided:
		_, err := t.exec("UPDATE meta SET sandbox = ?, virtual_clock = ? WHERE id = 1", o.Sandbox, o.VirtualClock)
		return err
	case o.VirtualClock && !p.virtual:
		o.Logger.Warn("virtual clock on a database with real times, nothing is pruned by age", "hint", "remove --clock to continue in real time; use a copy for experiments")
		o.KeepExecutions.Age, o.KeepFirings.Age, o.KeepAudit.Age = 0, 0, 0
	}
	return nil
}

// SchemaVersion is stored in the header of the database, beside ApplicationID.
const SchemaVersion = 11

// recognise verifies that the file is a database of this program, or empty, in which case
// it creates one. A server upgrades a database with an older schema version. It writes to
// no other file.
func (s *Store) recognise(ctx context.Context) error {
	version, blank, err := readVersion(s.writer.session)
	if err != nil {
		return err
	}
	if blank {
		return s.create(ctx)
	}
	switch steps, err := s.options.stepsFrom(s.options.Path, version); {
	case err != nil:
		return err
	case len(steps) > 0 && !s.options.upgrades():
		return s.options.outdated(version)
	case len(steps) > 0:
		// inspect has done so, unless the log had to be recovered first.
		if _, err := s.options.checkPurpose(s.writer.session); err != nil {
			return err
		}
		return s.upgrade(ctx, version)
	}
	return compareSchema(ctx, s.writer.session, s.options.Schema)
}

// readVersion returns the schema version of a database of this program. blank reports
// whether the file is empty. Any other file is refused.
func readVersion(q *session) (version int, blank bool, err error) {
	var application, objects int
	// One statement, so that no other process can create the database in between.
	const query = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version"
	err = q.row(query, nil, &application, &version, &objects)
	switch {
	case err != nil:
		return 0, false, err
	case application == 0 && version == 0 && objects == 0:
		return 0, true, nil
	case application != dbfile.ApplicationID:
		return 0, false, foreign("it belongs to another program")
	}
	return version, false, nil
}

// recognise verifies that a file is empty or a database with the current schema.
func (o *Options) recognise(q *session, path string) (blank bool, err error) {
	version, blank, err := readVersion(q)
	if err != nil || blank {
		return blank, err
	}
	steps, err := o.stepsFrom(path, version)
	if len(steps) > 0 {
		err = o.outdated(version)
	}
	return false, err
}

func foreign(reason string) error {
	return dbfile.Refusal("choose another name with --db; the file was left as it is",
		"the file is not a database of blueprintd: %s", reason)
}

// create creates the schema in an empty database, in one transaction.
func (s *Store) create(ctx context.Context) error {
	conn := s.writer.session.conn
	if _, err := conn.ExecContext(ctx, allowShrinking); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer s.writer.rollback()
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != 0 { // another process has created it
		s.writer.rollback()
		return s.recognise(ctx)
	}
	if _, err := conn.ExecContext(ctx, s.options.Schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	if _, err := conn.ExecContext(ctx, "INSERT INTO meta (id, epoch, generation, created_at) VALUES (1, 0, 0, ?)", now); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, s.options.marks()+"; COMMIT")
	return err
}

// allowShrinking allows free pages to be returned in small steps. It can be set neither
// later nor in a transaction.
const allowShrinking = "PRAGMA auto_vacuum = INCREMENTAL"

// marks are the statements that make an SQLite database one of this program.
func (o *Options) marks() string {
	return fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", dbfile.ApplicationID, o.version())
}

// compareSchema refuses a database whose schema is not exactly the current one: it was
// damaged, tampered with, or created by an unreleased build.
func compareSchema(ctx context.Context, found *session, schema string) error {
	have, err := objects(found)
	if err != nil {
		return err
	}
	if !slices.Equal(statements(schema), have) {
		return dbfile.Refusal("when another build of blueprintd wrote it, export its blueprints with that one and import them into a new database; else restore a backup",
			"the tables of the database are not those of this program")
	}
	return nil
}

// statements returns the statements of schema.sql as objects lists them. A statement ends
// with a line that ends with a semicolon, a trigger with the line END;.
func statements(schema string) (list []string) {
	statement := ""
	for line := range strings.Lines(schema) {
		line = plain(line)
		if statement = strings.TrimSpace(statement + " " + line); !strings.HasSuffix(line, ";") || strings.HasPrefix(statement, "CREATE TRIGGER") && line != "END;" {
			continue
		}
		list, statement = append(list, strings.TrimSuffix(statement, ";")), ""
	}
	slices.Sort(list)
	return list
}

// objects lists the statements that made the tables, indexes and triggers of a database,
// without comments and with single spaces. Automatic indexes have no statement.
func objects(q *session) (list []string, err error) {
	const query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_stat%'"
	err = collect(q, &list, query, nil, func(scan scanner) (string, error) {
		var text string
		err := scan(&text)
		return plain(text), err
	})
	slices.Sort(list)
	return list, err
}

// plain returns SQL without comments and with single spaces.
func plain(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "--")
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}
