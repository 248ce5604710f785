package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/store/dbfile"
)

// watchInterval is the interval at which a running store checks that its files are still
// the ones on the disk and how much space is left. A check costs four system calls.
const watchInterval = time.Second

// watchedFiles are the files of an open database on a disk.
type watchedFiles struct {
	files    map[string]os.FileInfo // by suffix, as they were at the start
	lowSpace atomic.Bool            // less than the reserve is free
}

// start records the files of the store. All of them exist by now, and SQLite replaces none
// of them while a connection is open.
func (w *watchedFiles) start(path string) error {
	w.files = map[string]os.FileInfo{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return err
		}
		w.files[suffix] = info
	}
	return nil
}

// checkFiles checks that the open files are still the ones on the disk, and whether there
// is space for new runs. A store whose files are gone fails immediately, because its writes
// would be lost.
func (s *Store) checkFiles(ctx context.Context) {
	if s.usable() != nil {
		return
	}
	if err := s.watched.check(s.options.Path); err != nil {
		s.writer.fail(err)
		s.options.Logger.Error("stopping: the database file was removed or replaced", "path", s.options.Path, "error", err, "hint", "do not touch the files of a running server; stop it first")
		s.rescue(err)
		return
	}
	s.checkSpace()
}

// check returns a *lostFileError if a file was removed or replaced.
func (w *watchedFiles) check(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if w.files == nil {
			break // a tool's
		}
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &lostFileError{path: path, suffix: suffix}
		case err == nil && !os.SameFile(info, w.files[suffix]):
			return &lostFileError{path: path, suffix: suffix, replaced: true}
		}
		// Any other error is not a reason to stop: the folder may be temporarily
		// unreadable, and the store has the files open.
	}
	return nil
}

// lostFileError reports that a file is no longer the one that the store has open.
type lostFileError struct {
	path, suffix string
	replaced     bool // another file is there
}

func (e *lostFileError) Error() string {
	what := map[string]string{"": "the database file", "-wal": "the write-ahead log", "-shm": "the index of the write-ahead log"}[e.suffix]
	if e.replaced {
		return fmt.Sprintf("%s %s was replaced by another one while the server was running", what, e.path+e.suffix)
	}
	return fmt.Sprintf("%s %s was removed while the server was running", what, e.path+e.suffix)
}

// A rescued database is named after the lost one, followed by rescuedMark and the epoch of
// the server; its old log also has the suffix oldLog.
const (
	rescuedMark = ".rescued-"
	oldLog      = ".old-wal"
)

// rescue saves committed data that the next start would not find. The files are still open,
// but nothing can be committed any more. If only the log is gone, its content is copied
// into the database. If the database itself is gone, a copy of everything is written beside
// it and its log is renamed: SQLite would combine it with the next file of the same name.
func (s *Store) rescue(cause error) {
	var lost *lostFileError
	if !errors.As(cause, &lost) || lost.replaced && lost.suffix != "" || lost.suffix == "-shm" {
		return // the next start reads the log or the replacement
	}
	w := s.writer
	w.connection.Lock()
	defer w.connection.Unlock()
	path, logger := s.options.Path, s.options.Logger
	if lost.suffix == "-wal" {
		var busy, frames, copied int
		err := w.session.row("PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &frames, &copied)
		if err == nil && copied < frames {
			err = errors.New("other processes keep it from being copied")
		}
		if err != nil {
			logger.Error("rescue of committed data failed", "path", path, "error", err, "hint", "restore the last backup with blueprintd restore")
			return
		}
		logger.Warn("saved everything that was committed", "path", path, "hint", "start the server again")
		return
	}
	where := freeName(fmt.Sprintf("%s%s%d", path, rescuedMark, s.epoch))
	if err := s.copyInto(where); err != nil {
		logger.Error("rescue of committed data failed", "path", where, "error", err, "hint", "restore the last backup with blueprintd restore --force")
		return
	}
	hint := recoverHint(path, where)
	if lost.replaced {
		hint = "to continue with the current files start the server again; to restore the saved ones move " + path + " away first, then " + hint
	}
	if err := s.watched.setLogAside(path, where); err != nil {
		logger.Error("write-ahead log of the removed database blocks the next one", "path", path+"-wal", "error", err, "hint", fmt.Sprintf("move %s-wal and %[1]s-shm away before anything else", path))
	}
	logger.Warn("saved everything that was committed", "path", where, "hint", hint)
}

// recoverHint returns the hint that says how to turn a rescued file back into the database.
func recoverHint(path, rescued string) string {
	return fmt.Sprintf("mv %s %s, and start the server again; or restore a backup with blueprintd restore", rescued, path)
}

// freeName returns a name that no file has. It may be taken because a restored database
// counts epochs from an earlier number.
func freeName(name string) string {
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free
		} else if err != nil {
			return name
		}
		free = fmt.Sprintf("%s.%d", name, n)
	}
}

// setLogAside renames the log of the lost database, which has been rescued completely,
// unless the log already belongs to another database.
func (w *watchedFiles) setLogAside(path, rescued string) error {
	var errs []error
	for _, suffix := range []string{"-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, w.files[suffix]) {
			continue
		}
		if err == nil && suffix == "-wal" {
			err = os.Rename(path+suffix, rescued+oldLog)
		} else if err == nil {
			err = os.Remove(path + suffix) // created again from a log
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, dbfile.SyncFolder(filepath.Dir(path)))...)
}

// copyInto writes the whole database into a new file that only its owner may read.
func (s *Store) copyInto(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if _, err := s.writer.session.exec("VACUUM INTO ?", path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close(), dbfile.SyncFolder(filepath.Dir(path)))
}

// rescued returns the newest file that was rescued of the database at path, "" for none.
func rescued(path string) (newest string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var latest os.FileInfo
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), filepath.Base(path)+rescuedMark)
		if !is || number == "" || strings.Trim(number, "0123456789.") != "" {
			continue // a side file of SQLite, or the old log
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && (latest == nil || info.ModTime().After(latest.ModTime())) {
			newest, latest = filepath.Join(filepath.Dir(path), entry.Name()), info
		}
	}
	return newest
}

// warnRescued logs a rescued file beside the database when a server starts.
func (s *Store) warnRescued() {
	if file := rescued(s.options.Path); file != "" {
		s.options.Logger.Warn("found a file saved from a removed database", "path", file, "hint", rescuedHint(s.options.Path, file))
	}
}

func rescuedHint(path, rescued string) string {
	return fmt.Sprintf("move it to another folder when %s has all that you need; otherwise stop the server, move %[1]s away, and then mv %s %[1]s", path, rescued)
}
