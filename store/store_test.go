package store

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/tests/process"
)

// thorough makes tests try all faults at all points, and repeat as often as make check does.
var thorough = flag.Bool("thorough", false, "let upgrades fail at every write, and repeat as often as make check does")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests hold little
	if err := process.MoreParallel(4); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// start is where the clock of every test stands.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testOptions are those of a server on the file db in a folder of its own.
func testOptions(t testing.TB) Options {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Path: filepath.Join(t.TempDir(), "test.db"), Server: true, Schema: string(schema), Sealer: sealer(t, 1),
		Clock: clock.NewVirtual(start), IDs: ids.New(nil), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

// sealer has a master key that consists of one byte.
func sealer(t testing.TB, key byte) *secret.Sealer {
	t.Helper()
	bytes := make([]byte, secret.KeySize)
	for i := range bytes {
		bytes[i] = key
	}
	s, err := secret.NewSealer(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open opens a store and closes it at the end of the test.
func open(t testing.TB, options Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	// No test loses power. TestWriterSyncs checks what Open sets.
	if s.remote == nil {
		_, err = s.writer.session.exec("PRAGMA synchronous = OFF")
		check(t, err)
	}
	return s
}

func TestWriterSyncs(t *testing.T) {
	s := must(Open(t.Context(), testOptions(t)))(t)
	const full = 2
	var level int
	check(t, s.writer.session.row("PRAGMA synchronous", nil, &level))
	check(t, s.Close())
	if level != full {
		t.Errorf("synchronous = %d, want %d", level, full)
	}
}

// run lets a store group its commits until stop is called, or the test ends.
func run(t testing.TB, s *Store) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	eventually(t, "Run takes jobs", func() bool {
		s.writer.mu.Lock()
		defer s.writer.mu.Unlock()
		return s.writer.running
	})
	ended := false
	stop = func() error {
		cancel()
		ended = true
		return <-done
	}
	t.Cleanup(func() {
		if !ended {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return stop
}

// must returns a value, or ends the test.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks the code of an error.
func wantCode(t testing.TB, err error, want blueprint.Code) {
	t.Helper()
	if got := blueprint.CodeOf(err); got != want {
		t.Errorf("code %q, want %q: %v", got, want, err)
	}
}

// user makes an account and gives its principal.
func user(t testing.TB, s *Store, name string) blueprint.Principal {
	t.Helper()
	u := must(s.CreateUser(context.Background(), name+"@example.com", name))(t)
	return blueprint.Principal{UserID: u.ID}
}

// create makes a blueprint with one node.
func create(t testing.TB, s *Store, by blueprint.Principal, title string) blueprint.Blueprint {
	t.Helper()
	return must(s.CreateBlueprint(context.Background(), by, blueprint.NewBlueprint{Title: title, Map: oneNode("set")}))(t)
}

// lend makes a user a collaborator of a blueprint, on behalf of its creator.
func lend(t testing.TB, s *Store, b blueprint.Blueprint, to blueprint.Principal, role blueprint.CollaboratorRole) {
	t.Helper()
	ctx := context.Background()
	email := must(s.User(ctx, to.UserID))(t).Email
	must(s.AddCollaborator(ctx, blueprint.Principal{UserID: b.CreatedBy}, b.ID, email, role))(t)
}

// belongs reports whether a user is a member of an organization.
func belongs(t testing.TB, s *Store, who blueprint.Principal, organizationID string) bool {
	t.Helper()
	list := must(s.Organizations(context.Background(), who))(t)
	return slices.ContainsFunc(list, func(o blueprint.Organization) bool { return o.ID == organizationID })
}

// record writes one row of the ledger.
func record(s *Store, f blueprint.Firing) error {
	return s.RecordFirings(context.Background(), f.TriggerID, []blueprint.Firing{f}, 0)
}

// oneNode is a map with one node of a type.
func oneNode(kind string) any {
	return map[string]any{"nodes": []any{map[string]any{"id": "a", "type": kind, "title": "A", "config": map[string]any{}}}}
}

// row is a new run of a blueprint.
func row(s *Store, b blueprint.Blueprint, by blueprint.Principal) blueprint.ExecutionRow {
	now := s.options.Clock.Now()
	at := blueprint.TimeOf(now)
	return blueprint.ExecutionRow{
		ID: s.options.IDs.ExecutionID(now), LogID: s.options.IDs.ULID(now), BlueprintID: b.ID, BlueprintVersion: b.Version,
		OrganizationID: b.OrganizationID, UserID: by.UserID, Status: blueprint.StatusRunning, CreatedAt: at, UpdatedAt: at, StartTime: at,
	}
}

// finished is the commit of a run that is new and has ended.
func finished(s *Store, b blueprint.Blueprint, by blueprint.Principal, record []byte) *blueprint.JournalCommit {
	r := row(s, b, by)
	r.Status, r.EndTime = blueprint.StatusCompleted, r.StartTime
	return &blueprint.JournalCommit{Row: r, New: true, Record: record}
}

// remoteDatabase returns the URL of an empty PostgreSQL database; nil without the build tag
// postgres.
var remoteDatabase func(testing.TB) string

// everywhere runs a test on each kind of store: a file and memory, with and
// without Run.
func everywhere(t *testing.T, f func(t *testing.T, s *Store)) {
	type kind struct {
		name                       string
		ephemeral, remote, running bool
	}
	kinds := []kind{{name: "file"}, {name: "file running", running: true}, {name: "ephemeral", ephemeral: true}, {name: "ephemeral running", ephemeral: true, running: true}}
	if remoteDatabase != nil {
		kinds = append(kinds, kind{name: "PostgreSQL", remote: true}, kind{name: "PostgreSQL running", remote: true, running: true})
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			options.Ephemeral = kind.ephemeral
			if kind.remote {
				options.Database = remoteDatabase(t)
			}
			s := open(t, options)
			if kind.running {
				run(t, s)
			}
			f(t, s)
		})
	}
}

// advance moves the test's clock.
func advance(t testing.TB, s *Store, by time.Duration) {
	t.Helper()
	c := s.options.Clock.(*clock.Virtual)
	check(t, c.Advance(context.Background(), c.Now().Add(by)))
}

// eventually waits for something that other goroutines bring about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen: " + what)
		}
	}
}

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
		t.Errorf("%d commits with %d writes, want length 3, 2 and 4", after.Commits-before.Commits, after.Jobs-before.Jobs)
	}
	if after.LastError != nil || after.Failure != nil || after.LastCommit.IsZero() || after.Queued != 0 {
		t.Errorf("stats %+v, want no error, the time of a commit and an empty queue", after)
	}
	if after.Database == 0 || after.Log == 0 || after.Free == 0 || after.Reserve == 0 {
		t.Errorf("stats %+v, want the sizes of database, log, free space and reserve", after)
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
