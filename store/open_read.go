package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openToRead opens a database on a disk that is mounted read-only, for a backup:
// nothing is written to it or beside it. The disk may be writable under another
// mount, where a server is at work. If so its log and the index of that are
// read too; if not, none can start as long as the database is open here.
func (s *Store) openToRead(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := inspectMissing(path); err != nil {
			return err
		}
		return refusal("name it with --db FILE", "there is no database %s", path)
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() == 0 || size(path+"-journal") > 0:
		return refusal("mount the disk writable and start the server once", "%s is no finished database, and its disk is mounted read-only", path)
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
	s.writer = newWriter(session) // which any write would fail in
	if blank, err := marks(session); err != nil {
		return err
	} else if blank {
		return refusal("name another file with --db", "there is nothing in the database %s", path)
	}
	pool, err := sql.Open("sqlite", uri)
	if err != nil {
		return err
	}
	s.readers = newReaders(pool, maxReaders)
	return nil
}

// readOnly tells whether the disk of a database is mounted read-only.
func (o *Options) readOnly(path string) bool {
	p, err := o.lookAt(filepath.Dir(path))
	return err == nil && p.known && p.readOnly
}

// readingMode says how SQLite is to open a database that cannot be written to.
func (s *Store) readingMode(path string) (string, error) {
	const shared, alone = "mode=ro&readonly_shm=1", "mode=ro&immutable=1"
	file, err := os.Open(path + ".lock")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err == nil {
		s.lock = &fileLock{file: file}
		if free, err := tryShared(file); err != nil {
			return "", err
		} else if !free {
			return shared, nil // a server has it, and so there is an index
		}
	}
	if size(path+"-wal") <= logHeader {
		return alone, nil
	}
	if _, err := os.Stat(path + "-shm"); err != nil {
		return "", refusal("copy the database and its log to a writable disk and back up that copy, or mount the disk writable and start the server once",
			"the log %s-wal cannot be read on a disk that is mounted read-only: its index %s-shm is missing", path, path)
	}
	return shared, nil
}
