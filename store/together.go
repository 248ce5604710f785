package store

import (
	"cmp"
	"context"
	"errors"

	"blueprintd/metrics"
)

// Together makes all that f writes one transaction: when f fails, its context
// ends or the process dies, none of it is stored. What f reads it sees as it
// wrote it. It is for the start of a server, before Run, when nobody else uses
// the store; f must not call Together again.
func (s *Store) Together(ctx context.Context, f func() error) (err error) {
	w := s.writer
	w.mu.Lock()
	running := w.running
	w.mu.Unlock()
	if running || w.whole != nil {
		return errors.New("the store is in use already")
	}
	if err := s.usable(); err != nil {
		return err
	}
	w.connection.Lock()
	defer w.connection.Unlock()
	watch := metrics.Begin()
	if err := s.begin(); err != nil {
		s.endIfLost(err)
		return explain(err)
	}
	b := &batch{}
	w.whole = b
	defer func() {
		if w.whole != nil { // f panicked
			w.whole = nil
			w.undo()
		}
	}()
	failed := f()
	if failed == nil {
		failed = ctx.Err()
	}
	w.whole = nil
	if failed != nil && b.err == nil { // the database is not to blame
		w.undo()
		return failed
	}
	err = s.end(b)
	s.counts.batch(watch.Elapsed(), b.good, err)
	s.endIfLost(err)
	if err != nil {
		return cmp.Or(failed, explain(err))
	}
	s.tell(b.done)
	return nil
}

// joinWhole makes a job part of a Together.
func (s *Store) joinWhole(ctx context.Context, j *job) error {
	b := s.writer.whole
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err == nil {
		b.err = s.add(b, j, false)
	}
	if b.err != nil {
		j.err = explain(b.err)
	}
	if j.ended != nil {
		j.ended(j.err)
	}
	close(j.done)
	return nil
}
