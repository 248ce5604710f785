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
