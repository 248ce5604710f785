package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// groundInterval is how often a running store looks whether its files are
// still its own and how much room is left. It costs four system calls.
const groundInterval = time.Second

// ground is what a store on a disk stands on.
type ground struct {
	files  map[string]os.FileInfo // by suffix, as they were at the start
	narrow atomic.Bool            // less than the reserve is free
}

// stand notes which files are the store's own. All of them exist by now, and
// SQLite replaces none of them while a connection is open.
func (g *ground) stand(path string) error {
	g.files = map[string]os.FileInfo{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return err
		}
		g.files[suffix] = info
	}
	return nil
}

// lostError says that a file is no longer the one that the store has open.
type lostError struct {
	path, suffix string
	replaced     bool // another file is there
}

func (e *lostError) Error() string {
	what := map[string]string{"": "the database file", "-wal": "the write-ahead log", "-shm": "the index of the write-ahead log"}[e.suffix]
	if e.replaced {
		return fmt.Sprintf("%s %s was replaced by another one while the server was running", what, e.path+e.suffix)
	}
	return fmt.Sprintf("%s %s was removed while the server was running", what, e.path+e.suffix)
}

// lost looks whether a file was removed or replaced.
func (g *ground) lost(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if g.files == nil {
			break // a tool's
		}
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &lostError{path: path, suffix: suffix}
		case err == nil && !os.SameFile(info, g.files[suffix]):
			return &lostError{path: path, suffix: suffix, replaced: true}
		}
		// Any other error says nothing of the files: the folder may be
		// unreadable for a while, and the store has them open.
	}
	return nil
}

// feel makes sure that the store still writes where the next start will read,
// and notes whether there is room for new runs. A store whose files are gone
// fails at once: what it writes would be lost.
func (s *Store) feel(ctx context.Context) {
	if s.usable() != nil {
		return
	}
	if err := s.ground.lost(s.options.Path); err != nil {
		s.writer.fail(err)
		s.options.Logger.Error("the server stops: its database was taken away", "path", s.options.Path, "error", err, "hint", "do not touch the files of a running server; stop it first")
		s.rescue(err)
		return
	}
	s.measure()
}

// measure looks how much room there is, and tells of each change.
func (s *Store) measure() {
	p, err := s.options.lookAt(s.options.Path)
	if err != nil {
		return // the next look may tell
	}
	reserve := p.reserve(s.options.MinFree)
	narrow := p.free < reserve
	if s.ground.narrow.Swap(narrow) == narrow {
		return
	}
	if narrow {
		s.options.Logger.Error("the disk is nearly full: new runs are refused until there is room, those under way go on",
			"path", s.options.Path, "free", p.free, "wanted", reserve, "hint", errNoRoom.Hint)
	} else {
		s.options.Logger.Info("there is room on the disk again: new runs are taken", "path", s.options.Path, "free", p.free)
	}
}

// rescue saves what the next start would not find. The files are still open,
// and no others can be written to any more. When only the log is gone, what is
// in it goes into the database, where it belongs; when the database itself is,
// a copy of all is made beside it.
func (s *Store) rescue(cause error) {
	var lost *lostError
	if !errors.As(cause, &lost) || lost.replaced && lost.suffix != "" || lost.suffix == "-shm" {
		return // the next start reads the log, or finds what somebody put there
	}
	w := s.writer
	w.connection.Lock()
	defer w.connection.Unlock()
	var err error
	where := s.options.Path
	if lost.suffix == "-wal" {
		var busy, frames, copied int
		err = w.session.row("PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &frames, &copied)
		if err == nil && copied < frames {
			err = errors.New("other processes keep it from being copied")
		}
	} else {
		where = fmt.Sprintf("%s.rescued-%d", s.options.Path, s.epoch)
		err = s.copyInto(where)
	}
	if err != nil {
		s.options.Logger.Error("what was committed could not be saved", "path", where, "error", err, "hint", "restore the last backup with blueprintd restore")
		return
	}
	s.options.Logger.Warn("all that was committed was saved", "path", where)
}

// copyInto writes all that the database holds into a new file, for its owner
// alone.
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
	return errors.Join(file.Sync(), file.Close())
}
