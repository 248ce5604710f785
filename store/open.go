package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"blueprintd/foundation/mutant"
	"blueprintd/store/dbfile"
)

// maxReaders is how many reads of a file may run at once.
const maxReaders = 8

// The settings of connections. Waiting for locks comes first, because the settings
// after it may need a lock.
var (
	commonSettings = []string{
		"_busy_timeout=5000",
		"_foreign_keys=1",
		"_dqs=0",       // "x" is a name, never a text
		"_defensive=1", // no SQL may write to the schema table or the pages
		"_error_rc=1",
		"_pragma=trusted_schema(0)",  // a schema calls no registered functions
		"_pragma=cell_size_check(1)", // notice a damaged page before using it
		"_pragma=temp_store(2)",      // no temporary files on the disk
	}
	writerSettings = append(commonSettings[:len(commonSettings):len(commonSettings)],
		"_synchronous=FULL", // a commit is on the disk before it returns
		"_pragma=cache_size(-32000)",
		"_pragma=wal_autocheckpoint(8000)", // 32 MB; the checkpoints of Run come earlier
		"_pragma=journal_size_limit(67108864)",
	)
	readerSettings = append(commonSettings[:len(commonSettings):len(commonSettings)],
		"_pragma=cache_size(-8000)",
		"_query_only=1",
	)
)

// toolPatience makes a tool wait longer for the write lock. A server under full load
// releases it only for moments, so that many attempts may be needed.
const toolPatience = "_pragma=busy_timeout(30000)"

// SQLiteVersion is the version of the built-in SQLite, such as "3.50.4".
const SQLiteVersion = sqlite3.SQLITE_VERSION

func (s *Store) open(ctx context.Context) error {
	if s.options.Ephemeral {
		return s.openMemory(ctx)
	}
	return s.openFile(ctx)
}

// openMemory uses one connection for everything: if several share a database in memory,
// its readers cannot wait for locks.
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
	if err != nil {
		return err
	}
	s.writer = newWriter(session)
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

// keepNames syncs the names of the database and of its log: a file without a name is
// lost when the power fails, even if its content was synced. SQLite does the same, but
// ignores errors.
func (s *Store) keepNames(path string) error {
	err := s.options.syncFolder(filepath.Dir(path))
	if err == nil {
		return nil
	}
	return unavailable(err, "look for disk errors in the system log, then start again",
		"the folder of the database cannot be synced to the disk")
}

// useWAL sets the journal mode, which is part of the file. It is called only once the
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

// openToRead opens a database on a disk that is mounted read-only, for a backup:
// nothing is written to it or beside it. The disk may be writable under another mount,
// with a running server. Then the log and its index are read too; otherwise no server
// can start while the database is open here.
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
	if blank, err := marks(session); err != nil {
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

// readingMode returns how SQLite opens a database that cannot be written to.
func (s *Store) readingMode(path string) (string, error) {
	const shared, alone = "mode=ro&readonly_shm=1", "mode=ro&immutable=1"
	lock, held, err := dbfile.ShareLock(path + ".lock")
	s.lock = lock
	if err != nil {
		return "", err
	}
	if held {
		return shared, nil // a server has it, and so there is an index
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

// fileURI returns the name of a database file for the driver, for any characters in its
// path.
func fileURI(path string, settings []string) string {
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return name.String() + "?mode=rw&" + strings.Join(settings, "&")
}
