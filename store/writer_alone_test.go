package store

import (
	"context"
	"errors"
	"testing"

	"blueprintd/blueprint"
)

// lonely makes a running store expect one write at a time.
func lonely(t testing.TB, s *Store) {
	t.Helper()
	check(t, s.write(context.Background(), func(*transaction) error { return nil }))
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
}

// alone does a job as a caller does who commits by himself, once nobody else, as a
// checkpoint, has the connection.
func alone(s *Store, run func(*transaction) error) {
	for !s.commitAlone(&job{run: run}) {
		_ = s.write(context.Background(), func(*transaction) error { return nil })
	}
}

// A caller that commits by itself is seen at work, and so is who waits behind it
// when somebody else has the connection next.
func TestAloneIsSeenAtWork(t *testing.T) {
	s := open(t, testOptions(t))
	stop := run(t, s)
	begun, goOn, hold, done, queued := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		alone(s, func(*transaction) error { close(begun); <-goOn; return nil })
		close(done)
	}()
	<-begun
	if s.Stats().BusySince.IsZero() {
		t.Error("nobody is seen at work")
	}
	go func() { queued <- s.write(context.Background(), func(*transaction) error { <-hold; return nil }) }()
	eventually(t, "a write is queued", func() bool { return s.Stats().Queued == 1 })
	close(goOn)
	<-done
	if s.Stats().BusySince.IsZero() {
		t.Error("a write waits, and nobody is seen at work")
	}
	close(hold)
	check(t, <-queued)
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	alone(s, func(*transaction) error { return nil })
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	check(t, stop())
}

// Nobody is seen at work once a batch is done, though the writer looks for the
// next one only when it has the connection again, which a checkpoint may have.
func TestNobodyIsAtWorkBehindABatch(t *testing.T) {
	s := open(t, testOptions(t))
	w := s.writer
	w.connection.Lock()
	j := &job{run: func(*transaction) error { return nil }, done: make(chan struct{})}
	w.queue = []*job{j}
	w.slots <- struct{}{}
	s.process(w.next())
	check(t, j.err)
	if busy := s.Stats().BusySince; !busy.IsZero() {
		t.Errorf("all is answered, and somebody at work since %s", busy)
	}
}

// Nobody commits by himself in a store that takes no writes, or before it runs.
func TestAloneOnlyWhileWritesAreTaken(t *testing.T) {
	never := &job{run: func(*transaction) error { t.Error("it was done"); return nil }}
	s := open(t, testOptions(t))
	if s.commitAlone(never) {
		t.Error("it was taken before Run")
	}
	stop := run(t, s)
	lonely(t, s)
	check(t, stop())
	if s.commitAlone(never) {
		t.Error("it was taken after Run")
	}
	s = open(t, testOptions(t))
	stop = run(t, s)
	lonely(t, s)
	s.writer.fail(errors.New("the disk is gone"))
	if s.commitAlone(never) {
		t.Error("it was taken after a failure")
	}
	if stop() == nil {
		t.Error("Run says that all is well")
	}
}

// The generation that a transaction finds is that in the database, whatever
// became of the transactions before it.
func TestGenerationOfTransaction(t *testing.T) {
	s := open(t, testOptions(t))
	stop := run(t, s)
	ctx := context.Background()
	bump := func(t *transaction) error { t.changed(); return nil }
	look := func(after string) {
		t.Helper()
		check(t, s.write(ctx, func(in *transaction) error {
			stored, err := readGeneration(in.session)
			if stored != in.generation || s.newest.Load() > stored {
				t.Errorf("after %s: a transaction finds %d, known is %d, and stored %d", after, in.generation, s.newest.Load(), stored)
			}
			return err
		}))
	}
	look("the start")
	check(t, s.write(ctx, bump))
	look("a change")
	wantCode(t, s.write(ctx, func(in *transaction) error {
		in.changed()
		return blueprint.Errorf(blueprint.CodeConflict, "no")
	}), blueprint.CodeConflict)
	look("a change that was refused")
	s.writer.connection.Lock()
	s.writer.beforeCommit = func() error { return errors.New("the commit failed") }
	s.writer.connection.Unlock()
	if s.write(ctx, bump) == nil {
		t.Error("the commit did not fail")
	}
	s.writer.connection.Lock()
	s.writer.beforeCommit = nil
	s.writer.connection.Unlock()
	look("a commit that failed")
	check(t, s.emptyLog())
	look("the log was emptied")
	check(t, stop())
}
