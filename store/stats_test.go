package store

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestStats(t *testing.T) {
	s := open(t, testOptions(t))
	list := notes(t, s)
	run(t, s)
	before := s.Stats()
	for _, err := range together(t, s, &job{run: note("a")}, &job{run: note("b")}, &job{run: note("c")}) {
		check(t, err)
	}
	after := s.Stats()
	if len(list()) != 3 || after.Commits-before.Commits != 2 || after.Jobs-before.Jobs != 4 {
		t.Errorf("%d commits with %d writes", after.Commits-before.Commits, after.Jobs-before.Jobs)
	}
	if after.LastError != nil || after.Failure != nil || after.LastCommit.IsZero() || after.Database == 0 || after.Log == 0 || after.Free == 0 || after.Reserve == 0 || after.Queued != 0 {
		t.Errorf("%+v", after)
	}
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	stuck, free, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.write(context.Background(), func(*transaction) error { close(stuck); <-free; return nil })
	}()
	<-stuck
	if busy := s.Stats(); busy.BusySince.Before(busy.LastCommit) {
		t.Errorf("busy since %s, the last commit was at %s", busy.BusySince, busy.LastCommit)
	}
	close(free)
	check(t, <-done)
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	after = s.Stats()
	s.writer.connection.Lock()
	s.writer.beforeCommit = func() error { return errors.New("the commit failed") }
	s.writer.connection.Unlock()
	if s.write(context.Background(), note("d")) == nil {
		t.Error("the commit did not fail")
	}
	failed := s.Stats()
	if failed.LastError == nil || !strings.Contains(failed.LastError.Error(), "the commit failed") || failed.LastErrorAt.Before(failed.LastCommit) || failed.Commits != after.Commits {
		t.Errorf("after a failure: %+v", failed)
	}
}
