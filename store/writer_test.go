package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// note writes a row into a table that the test has made.
func note(text string) func(*transaction) error {
	return func(t *transaction) error {
		_, err := t.exec("INSERT INTO notes (text) VALUES (?)", text)
		return err
	}
}

// notes makes the table, and gives what it holds.
func notes(t testing.TB, s *Store) func() []string {
	t.Helper()
	check(t, s.write(context.Background(), func(t *transaction) error {
		_, err := t.exec("CREATE TABLE notes (seq INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT")
		return err
	}))
	return func() (list []string) {
		t.Helper()
		check(t, s.read(context.Background(), func(q *session) error {
			return q.each("SELECT text FROM notes ORDER BY seq", nil, func(scan func(...any) error) error {
				var text string
				err := scan(&text)
				list = append(list, text)
				return err
			})
		}))
		return list
	}
}

// together submits jobs such that all of them are in one transaction, in their
// order, and gives their errors. The store must be running.
func together(t testing.TB, s *Store, jobs ...*job) []error {
	t.Helper()
	errs := make([]error, len(jobs))
	entered, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.write(context.Background(), func(*transaction) error {
			close(entered)
			<-release
			return nil
		})
	})
	<-entered
	for i, j := range jobs {
		group.Go(func() { errs[i] = s.submit(context.Background(), j) })
		eventually(t, "a job is queued", func() bool {
			s.writer.mu.Lock()
			defer s.writer.mu.Unlock()
			return len(s.writer.queue) == i+1
		})
	}
	close(release)
	group.Wait()
	return errs
}

func running(t *testing.T, ephemeral bool) *Store {
	options := testOptions(t)
	options.Ephemeral = ephemeral
	s := open(t, options)
	run(t, s)
	return s
}

// One transaction holds all that has queued; what fails in it fails alone.
func TestGroupCommit(t *testing.T) {
	for _, ephemeral := range []bool{false, true} {
		s := running(t, ephemeral)
		list := notes(t, s)
		halfway := func(t *transaction) error {
			if err := note("half of a job")(t); err != nil {
				return err
			}
			return errors.New("the other half")
		}
		before := s.commits.Load()
		errs := together(t, s,
			&job{run: note("a")}, &job{run: halfway}, &job{run: note("a")}, &job{run: note("b")},
			&job{run: note("b"), single: true}, &job{run: note("c"), single: true}, &job{run: func(t *transaction) error {
				_, err := t.exec("no SQL at all")
				return err
			}}, &job{run: note("d")})
		var failed []int
		for i, err := range errs {
			if err != nil {
				failed = append(failed, i)
			}
		}
		if fmt.Sprint(failed) != "[1 2 4 6]" {
			t.Errorf("failed: %v, %v; want [1 2 4 6]", failed, errs)
		}
		if got := strings.Join(list(), " "); got != "a b c d" {
			t.Errorf("stored %q, want a b c d", got)
		}
		if got := s.commits.Load() - before; got != 2 { // the first is that of together
			t.Errorf("%d transactions, want 2", got)
		}
	}
}

// A job that fails alone in its transaction leaves nothing and costs no commit.
func TestLonelyFailure(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		list, failure, before := notes(t, s), errors.New("no"), s.commits.Load()
		err := s.write(context.Background(), func(t *transaction) error {
			return errors.Join(note("a")(t), failure)
		})
		if !errors.Is(err, failure) || len(list()) != 0 || s.commits.Load() != before {
			t.Errorf("%v, %v; want %v, none and Load %v", err, list(), failure, before)
		}
		check(t, s.write(context.Background(), note("b")))
	})
}

func TestBatchBounds(t *testing.T) {
	s := running(t, true)
	list := notes(t, s)
	before := s.commits.Load()
	var jobs []*job
	for i := range 2*maxBatchJobs + 1 {
		jobs = append(jobs, &job{run: note(fmt.Sprint(i))})
	}
	for range 3 {
		jobs = append(jobs, &job{run: note(fmt.Sprint("big ", len(jobs))), size: maxBatchBytes})
	}
	for _, err := range together(t, s, jobs...) {
		check(t, err)
	}
	if got := s.commits.Load() - before; got != 6 { // that of together, 512, 512, 1 and a big one, two big ones
		t.Errorf("%d transactions, want 6", got)
	}
	if got := len(list()); got != len(jobs) {
		t.Errorf("%d rows, want %d", got, len(jobs))
	}
}

// coded is an error with a result code, as the driver gives it.
type coded int

func (c coded) Error() string { return fmt.Sprintf("result code %d", int(c)) }

func (c coded) Code() int { return int(c) }

func TestSeverity(t *testing.T) {
	for err, want := range map[error]severity{
		nil: ofJob, errors.New("x"): ofJob, coded(1): ofJob, coded(19): ofJob, coded(sqliteConstraintNotNull): ofJob,
		coded(sqliteFull): ofBatch, coded(sqliteBusy): ofBatch, coded(sqliteBusy | 2<<8): ofBatch, coded(sqliteReadOnly | 4<<8): ofBatch,
		coded(sqliteIOError): ofStore, coded(sqliteIOError | 4<<8): ofStore, coded(sqliteCorrupt): ofStore, coded(sqliteNotADB): ofStore,
		fmt.Errorf("wrapped: %w", coded(sqliteFull)): ofBatch, errFenced: ofStore,
	} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			if got := severityOf(err); got != want {
				t.Errorf("severity %d, want %d", got, want)
			}
		})
	}
}

// After an I/O error in a commit no write returns nil, and the store refuses everything
// else.
func TestFatalCommit(t *testing.T) {
	for _, kind := range []string{"commit", "job", "inline"} {
		s := open(t, testOptions(t))
		list := notes(t, s)
		var stop func() error
		failure := coded(sqliteIOError | 4<<8) // of an fsync
		failing := &job{run: note("a")}
		if kind == "job" {
			failing.run = func(*transaction) error { return failure }
		} else {
			defer func() { s.writer.beforeCommit = nil }()
		}
		var errs []error
		if kind == "inline" {
			s.writer.beforeCommit = func() error { return failure }
			errs = []error{s.submit(context.Background(), failing)}
		} else {
			stop = run(t, s)
			commits := 0
			if kind == "commit" {
				s.writer.beforeCommit = func() error {
					if commits++; commits > 1 {
						return failure
					}
					return nil
				}
			}
			errs = together(t, s, &job{run: note("before")}, failing, &job{run: note("after")})
		}
		for _, err := range errs {
			wantCode(t, err, blueprint.CodeUnavailable)
			if !errors.Is(err, failure) {
				t.Errorf("%s: %v, want %v", kind, err, failure)
			}
		}
		wantCode(t, s.write(context.Background(), note("later")), blueprint.CodeUnavailable)
		_, err := s.Users(context.Background())
		wantCode(t, err, blueprint.CodeUnavailable)
		_, err = s.Generation(context.Background())
		wantCode(t, err, blueprint.CodeUnavailable)
		if stop != nil {
			if err := stop(); !errors.Is(err, failure) {
				t.Errorf("%s: Run returned %v, want %v", kind, err, failure)
			}
		}
		s.writer.mu.Lock()
		s.writer.failure = nil // look behind the refusal
		s.writer.mu.Unlock()
		s.writer.closed = false
		if got := list(); len(got) != 0 {
			t.Errorf("%s: stored %v, want none", kind, got)
		}
	}
}

// A transient failure is returned to the callers, and the next write succeeds.
func TestPassingTrouble(t *testing.T) {
	ctx := context.Background()
	pragma := func(s *Store, text string) {
		_, err := s.writer.session.conn.ExecContext(ctx, "PRAGMA "+text)
		check(t, err)
	}
	for _, test := range []struct {
		name, message string
		begin         func(s *Store) (end func())
	}{
		{"disk full", "the disk is full", func(s *Store) func() {
			pragma(s, "max_page_count = 1") // as many as there are
			return func() { pragma(s, "max_page_count = 1000000") }
		}},
		{"read-only", "the database is read-only", func(s *Store) func() {
			pragma(s, "query_only = 1")
			return func() { pragma(s, "query_only = 0") }
		}},
		{"locked", "the database is locked by another program", func(s *Store) func() {
			pragma(s, "busy_timeout = 1")
			conn, err := s.pool.Conn(ctx)
			check(t, err)
			_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
			check(t, err)
			return func() {
				_, err := conn.ExecContext(ctx, "ROLLBACK")
				check(t, errors.Join(err, conn.Close()))
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, testOptions(t))
			list := notes(t, s)
			stop := run(t, s)
			check(t, s.write(ctx, note("before")))
			s.writer.connection.Lock()
			end := test.begin(s)
			s.writer.connection.Unlock()
			err := s.write(ctx, note(strings.Repeat("big", 1<<20)))
			wantCode(t, err, blueprint.CodeUnavailable)
			var told *blueprint.Error
			if !errors.As(err, &told) || told.Message != test.message || told.RetryAfter != 5*time.Second || told.Hint == "" {
				t.Errorf("told %+v, want Message %v, RetryAfter %v and Hint not empty", told, test.message, 5*time.Second)
			}
			if got := list(); len(got) != 1 {
				t.Errorf("stored %d rows, want 1", len(got))
			}
			s.writer.connection.Lock()
			end()
			s.writer.connection.Unlock()
			check(t, s.write(ctx, note("after")))
			check(t, stop())
		})
	}
}

// What is queued when Run ends is stored; what comes later is refused.
func TestShutdown(t *testing.T) {
	for _, ephemeral := range []bool{false, true} {
		options := testOptions(t)
		options.Ephemeral = ephemeral
		s := open(t, options)
		list := notes(t, s)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		eventually(t, "Run runs", func() bool { return s.writeIsQueued() })
		errs := together(t, s, &job{run: func(t *transaction) error { cancel(); return note("a")(t) }}, &job{run: note("b")})
		check(t, errors.Join(errs...))
		check(t, <-ended)
		wantCode(t, s.write(context.Background(), note("c")), blueprint.CodeUnavailable)
		_, err := s.Users(context.Background())
		wantCode(t, err, blueprint.CodeUnavailable)
		if err := s.Run(context.Background()); err == nil {
			t.Error("it ran twice, want an error")
		}
		s.writer.closed = false
		if got := strings.Join(list(), " "); got != "a b" {
			t.Errorf("stored %q, want a b", got)
		}
	}
}

// writeIsQueued reports whether Run takes the writes.
func (s *Store) writeIsQueued() bool {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return s.writer.running
}

// A caller that goes away while the queue is full leaves nothing behind.
func TestFullQueue(t *testing.T) {
	s := running(t, true)
	list := notes(t, s)
	entered, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.write(context.Background(), func(*transaction) error {
			close(entered)
			<-release
			return nil
		})
	})
	<-entered
	for i := range maxQueued {
		group.Go(func() { check(t, s.write(context.Background(), note(fmt.Sprint(i)))) })
	}
	eventually(t, "the queue is full", func() bool { return len(s.writer.slots) == maxQueued })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.write(ctx, note("too late")); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that went away got %v, want %v", err, context.Canceled)
	}
	close(release)
	group.Wait()
	if got := len(list()); got != maxQueued {
		t.Errorf("%d rows, want %d", got, maxQueued)
	}
}

// Many writers and readers at once meet no lock, in a file and in memory.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		must(s.CreateKey(ctx, ann.UserID, "key", "12345678"))(t)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for i := range 8 {
					commit := &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("begin")}}
					errs := []error{s.Commit(ctx, commit)}
					commit.New, commit.Row.Status, commit.Row.EndTime, commit.Record = false, blueprint.StatusCompleted, commit.Row.StartTime, []byte("{}")
					errs = append(errs, s.Commit(ctx, commit))
					stored, _, err := s.Execution(ctx, ann, commit.Row.ID)
					if err == nil && !stored.Row.Status.Terminal() {
						err = errors.New("what was committed is not seen")
					}
					_, lists := s.RecentExecutions(ctx, ann, nil, 5, 0)
					_, authenticates := s.Authenticate(ctx, "12345678")
					if err := errors.Join(append(errs, err, lists, authenticates)...); err != nil {
						t.Errorf("round %d: %v", i, err)
						return
					}
				}
			})
		}
		for range 2 {
			group.Go(func() {
				for i := range 8 {
					title := fmt.Sprint("title ", i)
					_, err := s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Title: &title})
					_, _, defined := s.Definition(ctx, ann, b.ID)
					if err := errors.Join(err, defined); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		if list := must(s.Unfinished(ctx))(t); len(list) != 0 {
			t.Errorf("%d runs have not ended, want 0", len(list))
		}
	})
}

// lonely makes a running store expect one write at a time.
func lonely(t testing.TB, s *Store) {
	t.Helper()
	check(t, s.write(context.Background(), func(*transaction) error { return nil }))
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
}

// alone runs a job as a caller that commits by itself, once the connection is free of
// others, such as a checkpoint.
func alone(s *Store, run func(*transaction) error) {
	for !s.commitAlone(&job{run: run}) {
		_ = s.write(context.Background(), func(*transaction) error { return nil })
	}
}

// A caller that commits by itself makes the store busy, and so does a write queued
// behind it, even if another job gets the connection next.
func TestAloneIsBusy(t *testing.T) {
	s := open(t, testOptions(t))
	stop := run(t, s)
	begun, goOn, hold, done, queued := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		alone(s, func(*transaction) error { close(begun); <-goOn; return nil })
		close(done)
	}()
	<-begun
	if s.Stats().BusySince.IsZero() {
		t.Error("not busy during a commit")
	}
	go func() { queued <- s.write(context.Background(), func(*transaction) error { <-hold; return nil }) }()
	eventually(t, "a write is queued", func() bool { return s.Stats().Queued == 1 })
	close(goOn)
	<-done
	if s.Stats().BusySince.IsZero() {
		t.Error("not busy with a queued write")
	}
	close(hold)
	check(t, <-queued)
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	alone(s, func(*transaction) error { return nil })
	eventually(t, "the writer is idle", func() bool { return s.Stats().BusySince.IsZero() })
	check(t, stop())
}

// The store is not busy once a batch is done, though the writer can look for the next one
// only when it has the connection again, which a checkpoint may hold.
func TestNotBusyAfterABatch(t *testing.T) {
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

// A caller does not commit by itself in a store that takes no writes, or before Run has
// started.
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
				t.Errorf("after %s: a transaction finds %d, known is %d, and stored %d; want %v and at most %v", after, in.generation, s.newest.Load(), stored, in.generation, stored)
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
