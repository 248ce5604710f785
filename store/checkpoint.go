package store

import (
	"context"
	"errors"
)

const (
	// A checkpoint costs two fsyncs. It is made after this many commits or bytes.
	checkpointCommits = 32
	checkpointBytes   = 4 << 20
	// longLog is the number of pages above which the log is rewound, not only copied.
	// logHighWater is the number above which pruning waits and slow reads end: 16, 32 MiB.
	longLog      = 4096
	logHighWater = 8192
	// longFile is the size to which the log file is truncated once most of it is unused.
	longFile = 32 << 20
	// fullLog is the size at which a write waits until the log is empty, and fullLook is
	// the number of written bytes after which it is checked. With the largest transaction
	// added the log stays below 64 MiB.
	fullLog  = 44 << 20
	fullLook = 4 << 20
)

// checkpoint copies the write-ahead log into the database while no caller waits. SQLite by
// itself would do so within a commit.
//
// Copying does not bound the log: SQLite restarts it only if, at the instant of a
// commit, all of it is copied and nothing reads from it, which may never happen under
// full load. So a long log is rewound: the writer pauses while the rest is copied.
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
		// Negative if another process is copying it. A log that was rewound keeps its old
		// length until the next write.
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
	if err == nil && s.logFrames.Load() >= logHighWater {
		s.readers.expire(maxAge)
	}
	if err != nil && ctx.Err() == nil {
		s.counts.checkpointFailures.Add(1)
	}
	if err != nil && ctx.Err() == nil && !s.endIfLost(err) {
		s.options.Logger.Warn("checkpoint failed, retrying", "path", s.options.Path, "error", err)
	}
}

// emptyLog copies the rest of the log and truncates it, unless a reader holds it for longer
// than writers should wait.
func (s *Store) emptyLog() error {
	if !s.onFile() {
		return nil
	}
	s.writer.connection.Lock()
	defer s.writer.connection.Unlock()
	return s.cutLog("PRAGMA busy_timeout = 30", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// rewindLog is emptyLog without truncating: the next commit writes at the beginning
// of the file, which is cheaper than extending it again.
func (s *Store) rewindLog() error {
	s.writer.connection.Lock()
	defer s.writer.connection.Unlock()
	s.rewound.Store(true) // until the next commit
	return s.cutLog("PRAGMA busy_timeout = 30", "PRAGMA wal_checkpoint(RESTART)")
}

// boundLog keeps the log below its limit when writes outrun the checkpoints or a read
// holds it: the write that would exceed the limit ends all reads and waits for them.
// A reader in another process cannot be ended; then the log grows, and a warning is
// logged. The connection is locked.
func (s *Store) boundLog(written int) {
	w := s.writer
	if w.unseen += written; w.unseen < fullLook || !s.onFile() {
		return
	}
	w.unseen = 0
	if size(s.options.Path+"-wal") < fullLog {
		w.held = false
		return
	}
	if w.held {
		return // emptying it has just failed; the checkpoints try again
	}
	s.readers.expire(-1)
	err := s.cutLog("PRAGMA busy_timeout = 2000", "PRAGMA wal_checkpoint(TRUNCATE)")
	if severityOf(err) == ofStore {
		return // the store has failed and has logged the error
	}
	if length := size(s.options.Path + "-wal"); err != nil || length >= fullLog {
		w.held = true
		s.options.Logger.Warn("write-ahead log cannot be emptied and grows", "path", s.options.Path, "bytes", length, "error", err,
			"hint", "another program reads the database in one long transaction: end it")
	}
}

// cutLog empties the log with the statement empty, after patience has set how long to wait
// for readers. An error after which the content of the disk is unknown fails the store. The
// connection is locked.
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
		return nil // another process uses the log; try again later
	}
	s.endIfLost(err)
	if err == nil && busy == 0 {
		s.logFrames.Store(0)
	} else {
		s.rewound.Store(false)
	}
	return err
}

// truncate empties the write-ahead log when the store is closed. A reader in another
// process may prevent it; the next start then uses the log as it is.
func (w *writer) truncate() error {
	var busy, frames, copied int
	err := w.session.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &frames, &copied)
	if severityOf(err) == ofBatch {
		return nil
	}
	return err
}
