package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
	"blueprintd/store/migrations"
)

// inspect examines the file at a path before anything is changed, and refuses one that
// cannot be, or must not become, a database of this program. Even closing a connection that
// may write would copy a write-ahead log into a file that is then refused, so inspect uses
// such a connection only if there is no other way.
func (s *Store) inspect(ctx context.Context, path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		refused := dbfile.Refusal("name a file with --db", "%s is not a file", path)
		refused.Code = blueprint.CodeBadRequest
		return refused
	}
	if err := s.checkFileSystem(folder); err != nil {
		return err
	}
	if dbfile.Writable(folder) != nil {
		return dbfile.Refusal("make the folder writable for the user that runs blueprintd, or choose another place with --db",
			"the folder %s of the database is not writable", folder)
	}
	return steadily(ctx, path, func() error { return s.inspectFile(ctx, path) })
}

// checkFileSystem refuses a file system that is unsuitable for a database, and logs a
// warning for a doubtful one.
func (s *Store) checkFileSystem(path string) error {
	p, err := s.options.fileSystem(path)
	if err != nil {
		return err
	}
	warning, err := p.Concern(s.options.AllowNetworkFS)
	if err != nil {
		return err
	}
	if p.ReadOnly {
		return dbfile.Refusal("mount it writable, or choose another place with --db",
			"the disk of the database is mounted read-only")
	}
	if warning != nil && s.options.Server {
		s.options.Logger.Warn("database file needs attention", "problem", warning.Message, "path", s.options.Path, "hint", warning.Hint)
	}
	return nil
}

func (s *Store) inspectFile(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inspectMissing(path)
	case err != nil:
		return err
	}
	if refused := dbfile.CheckWritable(path, info); refused != nil {
		return refused
	}
	if err := dbfile.CheckLinks(path, info); err != nil {
		return err
	}
	if info.Size() == 0 {
		return inspectEmpty(path)
	}
	if err := checkLog(path + "-wal"); err != nil {
		return err
	}
	return s.inspectContent(ctx, path)
}

// steadyInterval is how long, in real time, the files must stay unchanged.
const steadyInterval = 20 * time.Millisecond

// steadily calls probe until it succeeds or the files did not change meanwhile: while
// another process creates or closes the database, reading without locks may mix two states.
func steadily(ctx context.Context, path string, probe func() error) (err error) {
	for range 100 {
		before := snapshot(path)
		if err = probe(); err == nil {
			return nil
		}
		wait := time.NewTimer(steadyInterval)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
		if snapshot(path) == before {
			return err
		}
	}
	return err
}

// snapshot returns a value that differs between states of the database's files.
func snapshot(path string) (state [4]string) {
	for i, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			state[i] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return state
}

// inspectMissing refuses a missing database of which other files are left.
func inspectMissing(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return dbfile.Refusal("mount the disk that it is on, or remove the link", "%s is a link to a file that is not there", path)
	}
	if file := rescued(path); file != "" {
		hint := recoverHint(path, file) + "; to start over move the rescued file to another folder"
		if size(path+"-wal") > 0 {
			hint = fmt.Sprintf("mv %s-wal %s%s, then %s", path, file, oldLog, hint)
		}
		return dbfile.Refusal(hint, "the database %s is missing; a server saved its data in %s when it was removed", path, file)
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if size(path+suffix) > 0 {
			return dbfile.Refusal("put the database back beside it, or restore a backup with blueprintd restore; to start over move "+path+suffix+" away",
				"the database %s is missing, but what was last written to it is there in %s", path, path+suffix)
		}
	}
	if dbfile.WasUsed(path + ".lock") {
		return dbfile.Refusal("put the database back or mount the disk that it is on, or restore a backup with blueprintd restore; to start over remove "+path+".lock",
			"the database %s is missing, though a server has had it: %s is there", path, path+".lock")
	}
	return nil
}

// inspectEmpty refuses an empty file that was a database before. A file that was created
// for a new database, or whose first start was interrupted, is accepted.
func inspectEmpty(path string) error {
	if size(path+"-wal") == 0 && !dbfile.WasUsed(path+".lock") {
		return nil
	}
	return dbfile.Refusal("restore a backup with blueprintd restore; to start over move "+path+" and the files beside it away",
		"the database %s is empty, but it was not when a server had it", path)
}

func (s *Store) inspectContent(ctx context.Context, path string) error {
	if size(path+"-journal") > 0 {
		return nil // it is being created, or that was interrupted: SQLite waits or rolls back
	}
	err := probe(ctx, path, func(q *session, whole bool) error {
		version, blank, err := readVersion(q)
		var steps []migrations.Step
		if err == nil && !blank {
			if steps, err = s.options.stepsFrom(path, version); len(steps) > 0 && !s.options.upgrades() {
				err = s.options.outdated(version)
			}
		}
		if !whole {
			// The log exists and its index does not: the machine failed, perhaps while the
			// log was being copied. The database file alone may be inconsistent; whether
			// both together are intact is known once SQLite has recovered them.
			if resultCode(err)&0xff == sqliteCorrupt {
				err = nil
			}
			return err
		}
		if err != nil || blank {
			return err
		}
		if len(steps) == 0 {
			if err := compareSchema(ctx, q, s.options.Schema); err != nil {
				return err
			}
		}
		if size(path+"-wal") > 0 {
			if err := sameOrigin(ctx, q, path); err != nil {
				return err
			}
		}
		if len(steps) > 0 {
			// Before the upgrade. Otherwise another server on the database is noticed first.
			if _, err := s.options.checkPurpose(q); err != nil {
				return err
			}
			return s.options.keyFitsExactly(q)
		}
		_, err = s.options.keyFits(q)
		return err
	})
	if resultCode(err)&0xff == sqliteNotADB {
		return foreign("it is not an SQLite database")
	}
	if resultCode(err)&0xff == sqliteCorrupt && size(path+"-wal") > 0 {
		return conflict(err, "put back the log that belongs to it, or restore a backup with blueprintd restore",
			"the database file is damaged, or its write-ahead log %s-wal is that of another database", path)
	}
	return err
}

// sameOrigin verifies that a write-ahead log belongs to its database. SQLite cannot detect
// that: it would mix the pages of two databases. Both record when the database was created,
// which never changes; the database file has it from the beginning.
func sameOrigin(ctx context.Context, q *session, path string) error {
	const query = "SELECT created_at FROM meta WHERE id = 1"
	var here, there int64
	if err := q.row(query, nil, &there); err != nil {
		return err
	}
	if err := probeWith(ctx, path, "mode=ro&immutable=1", func(q *session) error { return q.row(query, nil, &here) }); err != nil {
		return nil // a checkpoint was interrupted in it: only the log is complete
	}
	if here != there {
		return dbfile.Refusal("put back the log that belongs to it, or restore a backup with blueprintd restore",
			"the write-ahead log %s is that of another database", path+"-wal")
	}
	return nil
}

// probeSettings are the settings of a connection that leaves no trace: it writes neither to
// the database nor to the files beside it, and creates none.
var probeSettings = append(commonSettings[:len(commonSettings):len(commonSettings)], "_query_only=1")

// logHeader is the size of the header of a write-ahead log, in bytes.
const logHeader = 32

// probe opens a database for reading without changing anything on the disk, and calls use.
// It reads the write-ahead log too if both the log and its index exist; whole reports
// whether it does. Otherwise the file is read alone: no process has it open.
func probe(ctx context.Context, path string, use func(q *session, whole bool) error) error {
	// A log that consists of a header is empty, and SQLite would wait ten seconds for a
	// matching index.
	log, whole := size(path+"-wal") > logHeader, true
	mode := "mode=ro&immutable=1"
	if log {
		if _, err := os.Stat(path + "-shm"); err == nil {
			mode = "mode=ro&readonly_shm=1"
		} else {
			whole = false
		}
	}
	return probeWith(ctx, path, mode, func(q *session) error { return use(q, whole) })
}

func probeWith(ctx context.Context, path, mode string, use func(q *session) error) (err error) {
	return withURI(ctx, strings.Replace(fileURI(path, probeSettings), "mode=rw", mode, 1), use)
}

// logMagic begins every write-ahead log; its last bit is the byte order of the checksums.
const logMagic = 0x377f0682

// checkLog refuses a write-ahead log that SQLite would treat as empty and overwrite: its
// header is not one that a log ever had. After a power cut it may be all zeros.
func checkLog(path string) error {
	file, err := os.Open(path) // SQLite has no locks on this file that closing it could drop
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, logHeader)
	if n, err := file.ReadAt(header, 0); n < len(header) {
		if errors.Is(err, io.EOF) {
			return nil // truncated before it had any content
		}
		return err
	}
	if soundLogHeader(header) || strings.Trim(string(header), "\x00") == "" {
		return nil
	}
	return dbfile.Refusal("restore the database and its log from a backup; without a backup move the log away, which loses what is in it",
		"the write-ahead log %s is damaged or no such log, and what was committed last is in it", path)
}

// soundLogHeader checks the checksum of the header of a write-ahead log.
func soundLogHeader(header []byte) bool {
	magic := binary.BigEndian.Uint32(header)
	if magic&^1 != logMagic {
		return false
	}
	word := binary.LittleEndian.Uint32
	if magic&1 == 1 {
		word = binary.BigEndian.Uint32
	}
	var one, two uint32
	for i := 0; i < 24; i += 8 {
		one += word(header[i:]) + two
		two += word(header[i+4:]) + one
	}
	return one == binary.BigEndian.Uint32(header[24:]) && two == binary.BigEndian.Uint32(header[28:])
}

// size returns the size of a file, 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
