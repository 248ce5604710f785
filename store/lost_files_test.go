package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// TestFilesTakenAway removes and replaces files under a running store: it must
// notice, end, and save what was committed.
func TestFilesTakenAway(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, test := range []struct {
		name, suffix string
		replaced     bool
		saved        string // where what was committed is afterwards
	}{
		{"database", "", false, ".rescued-1"},
		{"database replaced", "", true, ".rescued-1"},
		{"log", "-wal", false, ""},
		{"log replaced", "-wal", true, "-"},
		{"index", "-shm", false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			var log lockedLog
			options.Logger = slog.New(slog.NewTextHandler(&log, nil))
			s := must(Open(ctx, options))(t)
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			eventually(t, "Run runs", s.writeIsQueued)
			ann := user(t, s, "ann")
			b := create(t, s, ann, "T")
			commit := finished(s, b, ann, []byte("record"))
			check(t, s.Commit(ctx, commit))
			if test.replaced {
				check(t, os.WriteFile(options.Path+".new", nil, 0o600))
				check(t, os.Rename(options.Path+".new", options.Path+test.suffix))
			} else {
				check(t, os.Remove(options.Path+test.suffix))
			}
			err := <-ended // within a second, by itself
			var lost *lostFileError
			var told *blueprint.Error
			// SQLite may have created the log again before the check.
			if !errors.As(err, &lost) || lost.suffix != test.suffix || lost.replaced != test.replaced && test.name != "log" {
				t.Errorf("Run returned %v, want a lost file with suffix %q, replaced %v", err, test.suffix, test.replaced)
			}
			if !errors.As(err, &told) || told.Hint == "" {
				t.Errorf("Run returned %v, want a hint", err)
			}
			wantCode(t, s.Commit(ctx, finished(s, b, ann, []byte("late"))), blueprint.CodeUnavailable)
			check(t, s.Close())
			if said := log.String(); !strings.Contains(said, "stopping: the database file") || !strings.Contains(said, "hint=") {
				t.Errorf("the log says %s, want \"stopping: the database file\" in it and \"hint=\" in it", said)
			}
			if test.saved == "-" {
				return
			}
			options.Path += test.saved
			if mode := must(os.Stat(options.Path))(t).Mode().Perm(); mode != 0o600 {
				t.Errorf("it has mode %o, want %v", mode, 0o600)
			}
			if got := must(open(t, options).Load(ctx, commit.Row.ID))(t); string(got.Record) != "record" {
				t.Errorf("saved %+v, want Record record", got)
			}
		})
	}
}

// A damaged page stops the reads that need it and nothing else.
func TestReadMeetsDamage(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := must(Open(ctx, options))(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	commit := finished(s, b, ann, []byte("{}"))
	check(t, s.Commit(ctx, commit))
	var root int64
	check(t, s.read(ctx, func(q *session) error {
		return q.row("SELECT rootpage FROM sqlite_schema WHERE name = 'executions'", nil, &root)
	}))
	check(t, s.Close())
	file := must(os.OpenFile(options.Path, os.O_RDWR, 0))(t)
	_, err := file.WriteAt(make([]byte, 4096), (root-1)*4096)
	check(t, errors.Join(err, file.Close()))
	s = open(t, options)
	_, err = s.Load(ctx, commit.Row.ID)
	var told *blueprint.Error
	if !errors.As(err, &told) || told.Code != blueprint.CodeInternal || !strings.Contains(told.Hint, "doctor") || !strings.Contains(err.Error(), "doctor") {
		t.Errorf("told %v, want Code %v, \"doctor\" in it and \"doctor\" in it", err, blueprint.CodeInternal)
	}
	must(s.GetBlueprint(ctx, ann, b.ID))(t)
	user(t, s, "bob")
}

// lockedLog is a buffer for a log that several goroutines write.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// takenAway runs a store, commits runs, takes its database away, and gives what
// it logged and the runs once it has ended.
func takenAway(t *testing.T, options Options, take func() error) (said string, runs []string) {
	t.Helper()
	var log lockedLog
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := must(Open(t.Context(), options))(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	eventually(t, "Run runs", s.writeIsQueued)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	for i := range 20 {
		commit := finished(s, b, ann, bytes.Repeat([]byte{byte('a' + i)}, 9000))
		check(t, s.Commit(t.Context(), commit))
		runs = append(runs, commit.Row.ID)
	}
	check(t, take())
	wantCode(t, <-ended, blueprint.CodeUnavailable)
	check(t, s.Close())
	return log.String(), runs
}

// holdsRuns opens a database and looks for runs and for damage.
func holdsRuns(t *testing.T, options Options, runs []string) {
	t.Helper()
	s := open(t, options)
	for _, id := range runs {
		must(s.Load(t.Context(), id))(t)
	}
	if found := Diagnose(t.Context(), options, true); worst(found) == Broken {
		t.Errorf("doctor finds %+v, want other than %v", found, Broken)
	}
}

func worst(found []Finding) Health {
	health := Fine
	for _, f := range found {
		if f.Health == Broken || f.Health == Dubious && health == Fine {
			health = f.Health
		}
	}
	return health
}

// What is rescued goes into the place of the lost database by one mv, as the log
// says: nothing of the old one is left that would be mixed into it.
func TestRescuedTakesThePlace(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	path := options.Path
	said, runs := takenAway(t, options, func() error { return os.Remove(path) })
	rescued := path + ".rescued-1"
	if !strings.Contains(said, fmt.Sprintf("mv %s %s", rescued, path)) {
		t.Errorf("the log does not say how to go on: %s, want %q in it", said, fmt.Sprintf("mv %s %s", rescued, path))
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is left, want an error", path+suffix)
		}
	}
	_, err := Open(t.Context(), options)
	wantRefused(t, err, "is missing")
	if !strings.Contains(fmt.Sprint(err), rescued) && !strings.Contains(hintOf(err, ""), "mv "+rescued) {
		t.Errorf("a start without the database returns %v, hint %q", err, hintOf(err, ""))
	}
	if f := Diagnose(t.Context(), options, false)[0]; f.Health != Broken || !strings.Contains(f.Message+f.Fix, rescued) {
		t.Errorf("doctor says %+v, want Health %v and %q in it", f, Broken, rescued)
	}
	check(t, os.Rename(rescued, path))
	holdsRuns(t, options, runs)
}

// A database that another one was put in the place of: that one is opened as it
// is, and the rescued one is named.
func TestRescuedBesideAnother(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	path := options.Path
	other := options
	other.Path += ".other"
	s := must(Open(t.Context(), other))(t)
	user(t, s, "bob")
	check(t, s.Close())
	_, runs := takenAway(t, options, func() error { return os.Rename(other.Path, path) })
	rescued := path + ".rescued-1"
	var log lockedLog
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s = must(Open(t.Context(), options))(t)
	if name := must(s.ServerOwner(t.Context()))(t).Name; name != "bob" {
		t.Errorf("it is the database of %s, want bob", name)
	}
	check(t, s.Close())
	if !strings.Contains(log.String(), rescued) {
		t.Errorf("the log does not name the rescued file: %s, want %q in it", log.String(), rescued)
	}
	named := false
	for _, f := range Diagnose(t.Context(), options, false) {
		named = named || f.Health == Dubious && strings.Contains(f.Message, rescued) && f.Fix != ""
	}
	if !named {
		t.Error("doctor does not name the rescued file")
	}
	options.Path = rescued
	holdsRuns(t, options, runs)
}

// A number of the start that was used before, by a database that was since
// restored, is no reason to lose anything.
func TestRescuedTwice(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	first := options.Path + ".rescued-1"
	check(t, os.WriteFile(first, []byte("an earlier one"), 0o600))
	check(t, os.WriteFile(options.Path, nil, 0o600))
	_, runs := takenAway(t, options, func() error { return os.Remove(options.Path) })
	if got := must(os.ReadFile(first))(t); string(got) != "an earlier one" {
		t.Errorf("an earlier one was written over: %v, want an earlier one", string(got))
	}
	options.Path = first + ".2"
	holdsRuns(t, options, runs)
}

// With little space left no run begins, those in progress end, everything can be
// read, and room alone makes it good again.
func TestNarrowDisk(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	free := int64(1 << 40)
	options.fileSystem = func(string) (dbfile.FileSystem, error) {
		return dbfile.FileSystem{Known: true, Magic: 0xEF53, Free: free, Total: 1 << 40}, nil
	}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	begin := func() (*blueprint.JournalCommit, error) {
		commit := &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte(`{}`)}}
		return commit, s.Commit(ctx, commit)
	}
	under, err := begin()
	check(t, err)
	s.checkSpace()
	for range 2 {
		free = 64<<20 - 1
		s.checkSpace()
		_, err := begin()
		var told *blueprint.Error
		if !errors.As(err, &told) || told.Code != blueprint.CodeUnavailable || told.RetryAfter == 0 || told.Hint == "" {
			t.Errorf("told %v, want Code %v, RetryAfter other than 0 and Hint not empty", err, blueprint.CodeUnavailable)
		}
		wantCode(t, record(s, blueprint.Firing{}), blueprint.CodeUnavailable)
		under.New = false
		check(t, s.Commit(ctx, under))
		must(s.Load(ctx, under.Row.ID))(t)
		free = 64 << 20
		s.checkSpace()
		_, err = begin()
		check(t, err)
	}
}
