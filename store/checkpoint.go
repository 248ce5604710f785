package store

import (
	"context"
	"errors"
)

const (
	// A checkpoint costs two fsyncs, which so many commits, or bytes, must be
	// worth.
	checkpointCommits = 32
	checkpointBytes   = 4 << 20
	// longLog is how many pages the log may have before it is rewound rather
	// than only copied; tightLog is when pruning waits and slow reads end.
	// 16 and 32 MiB.
	longLog  = 4096
	tightLog = 8192
	// longFile is how large the file of the log may stay once most of it is not in
	// use any more.
	longFile = 32 << 20
	// fullLog is the size at which a write waits until the log is emptied, and
	// fullLook after how many bytes a write looks at it. With the largest
	// transaction behind them this stays below 64 MiB.
	fullLog  = 44 << 20
	fullLook = 4 << 20
)

// checkpoint copies the write-ahead log into the database while nobody waits
// for it. Left to itself SQLite would do so inside some commit.
//
// Copying alone does not bound the log: it starts anew only when, at the
// instant of a commit, all of it is copied and nobody reads from it, which at
// full load may never be so. A log that has become long is therefore rewound:
// the writer stands still for the moment that the rest takes.
func (s *Store) checkpoint(ctx context.Context) {
	s.readers.age.Add(1)
	if s.commits.Load() < checkpointCommits && s.written.Load() < checkpointBytes && s.logFrames.Load() < longLog {
		return
	}
	s.commits.Store(0)
	s.written.Store(0)
	q, err := newSession(ctx, s.pool)
	if err == nil {
		var busy, frames, copied int64
		err = q.row("PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &frames, &copied)
		err = errors.Join(err, q.close())
		// A negative number: somebody else copies it just now. A log that was rewound
		// keeps its old length until something is written to it.
		if frames >= 0 && !s.rewound.Load() {
			s.logFrames.Store(frames)
		}
	}
	switch {
	case err != nil:
	case size(s.options.Path+"-wal") >= longFile:
		err = s.emptyLog()
	case s.logFrames.Load() >= longLog:
		err = s.rewindLog()
	}
	if err == nil && s.logFrames.Load() >= tightLog {
		s.readers.expire(maxAge)
	}
	if err != nil && ctx.Err() == nil {
		s.counts.checkpointFailures.Add(1)
	}
	if err != nil && ctx.Err() == nil && !s.endIfLost(err) {
		s.options.Logger.Warn("a checkpoint failed and will be tried again", "path", s.options.Path, "error", err)
	}
}

// emptyLog copies the rest of the log and cuts it to nothing, unless somebody
// who reads from it stays longer than writers should wait.
func (s *Store) emptyLog() error {
	if s.options.Ephemeral {
		return nil
	}
	s.writer.connection.Lock()
	defer s.writer.connection.Unlock()
	return s.cutLog("PRAGMA busy_timeout = 30", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// rewindLog is emptyLog without cutting: the next commit writes at the
// beginning of the file, which costs less than making the file grow again.
func (s *Store) rewindLog() error {
	s.writer.connection.Lock()
	defer s.writer.connection.Unlock()
	s.rewound.Store(true) // until the next commit; cutLog says whether it is so
	return s.cutLog("PRAGMA busy_timeout = 30", "PRAGMA wal_checkpoint(RESTART)")
}

// boundLog keeps the log below its bound when writes outrun its checkpoints, or
// a read holds it: the write that would go beyond ends all reads and waits for
// them. A reader in another process cannot be ended; then the log grows on, and
// the log of the server says so. The connection is held.
func (s *Store) boundLog(written int) {
	w := s.writer
	if w.unseen += written; w.unseen < fullLook || s.options.Ephemeral {
		return
	}
	w.unseen = 0
	if size(s.options.Path+"-wal") < fullLog {
		w.held = false
		return
	}
	if w.held {
		return // it was not to be emptied a moment ago; the checkpoints go on trying
	}
	s.readers.expire(-1)
	err := s.cutLog("PRAGMA busy_timeout = 2000", "PRAGMA wal_checkpoint(TRUNCATE)")
	if severityOf(err) == ofStore {
		return // the store has ended, and said so
	}
	if length := size(s.options.Path + "-wal"); err != nil || length >= fullLog {
		w.held = true
		s.options.Logger.Warn("the write-ahead log cannot be emptied and grows", "path", s.options.Path, "bytes", length, "error", err,
			"hint", "another program reads the database in one long transaction: end it")
	}
}

// cutLog empties the log with a statement, waiting for readers as long as
// another one says. An error after which nobody knows what the disk holds ends the store, whoever
// wanted the log cut. The connection is held.
func (s *Store) cutLog(patience, empty string) error {
	w := s.writer
	var busy, frames, copied, unused int64
	err := w.session.row(patience, nil, &unused)
	if err == nil {
		err = w.session.row(empty, nil, &busy, &frames, &copied)
		err = errors.Join(err, w.session.row("PRAGMA busy_timeout = 5000", nil, &unused))
	}
	if severityOf(err) == ofBatch {
		s.rewound.Store(false)
		return nil // somebody else has the log; the next time
	}
	s.endIfLost(err)
	if err == nil && busy == 0 {
		s.logFrames.Store(0)
	} else {
		s.rewound.Store(false)
	}
	return err
}

// truncate empties the write-ahead log at the end. A reader in another process
// may keep it from doing so; the next start goes on with the log as it is.
func (w *writer) truncate() error {
	var busy, frames, copied int
	err := w.session.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &frames, &copied)
	if severityOf(err) == ofBatch {
		return nil
	}
	return err
}
