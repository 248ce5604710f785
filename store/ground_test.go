package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
)

// TestFilesTakenAway removes and replaces files under a running store: it must
// notice, end, and save what was committed.
func TestFilesTakenAway(t *testing.T) {
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
			var lost *lostError
			var told *blueprint.Error
			// SQLite may have made the log anew before the server looks.
			if !errors.As(err, &lost) || lost.suffix != test.suffix || lost.replaced != test.replaced && test.name != "log" || !errors.As(err, &told) || told.Hint == "" {
				t.Errorf("Run returned %v", err)
			}
			wantCode(t, s.Commit(ctx, finished(s, b, ann, []byte("late"))), blueprint.CodeUnavailable)
			check(t, s.Close())
			if said := log.String(); !strings.Contains(said, "the server stops") || !strings.Contains(said, "hint=") {
				t.Errorf("the log says %s", said)
			}
			if test.saved == "-" {
				return
			}
			options.Path += test.saved
			if mode := must(os.Stat(options.Path))(t).Mode().Perm(); mode != 0o600 {
				t.Errorf("it has mode %o", mode)
			}
			if got := must(open(t, options).Load(ctx, commit.Row.ID))(t); string(got.Record) != "record" {
				t.Errorf("saved %+v", got)
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
		t.Errorf("told %v", err)
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
