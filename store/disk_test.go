package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// lines is a log that can be asked what was written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// limited is a store of at most 16 MiB, whose limit the test looks at by hand.
func limited(t *testing.T) (*Store, *pruner, *lines) {
	options := testOptions(t)
	log := &lines{}
	options.Logger = slog.New(slog.NewTextHandler(log, nil))
	options.MaxDisk = 16 << 20
	s := open(t, options)
	return s, &pruner{Store: s}, log
}

func TestDiskLimit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, log := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	record := bytes.Repeat([]byte("r"), 3000)
	bulk(t, s, b, ann, 2000, 3*day, blueprint.StatusFailed, record)
	bulk(t, s, b, ann, 2000, 2*day, blueprint.StatusCompleted, record)
	bulk(t, s, b, ann, 2000, day, blueprint.StatusCompleted, record)
	check(t, p.relieveNow(ctx))
	u := must(s.usage(ctx))(t)
	if u.total() > p.options.MaxDisk/10*9 {
		t.Errorf("it takes %d bytes", u.total())
	}
	count := func(where string) string { return stored(t, s, "SELECT count(*) FROM executions WHERE "+where) }
	day2 := fmt.Sprint(int64(blueprint.TimeOf(start.Add(-2 * day))))
	if count("status = 'failed'") != "2000" || count("status = 'completed' AND end_time <= "+day2) != "0" || count("status = 'completed'") == "0" {
		t.Errorf("%s failed, %s old, %s completed", count("status = 'failed'"), count("status = 'completed' AND end_time <= "+day2), count("status = 'completed'"))
	}
	check(t, p.relieveNow(ctx))
	if log.count("removing the oldest completed runs") != 1 || log.count("below its size limit again") != 1 {
		t.Errorf("log %s", &log.text)
	}
}

// When only unfinished runs are left new ones are refused, until there is room.
func TestDiskLimitOfUnfinishedRuns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, log := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	old := finished(s, b, ann, []byte("{}"))
	check(t, s.Commit(ctx, old))
	var runs []blueprint.ExecutionRow
	for range 20 {
		r := row(s, b, ann)
		runs = append(runs, r)
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, New: true, Entries: [][]byte{bytes.Repeat([]byte("e"), 1<<20)}}))
	}
	for range 3 {
		check(t, p.relieveNow(ctx))
	}
	if _, err := s.Load(ctx, old.Row.ID); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Error("the finished run is still there")
	}
	err := s.Commit(ctx, finished(s, b, ann, []byte("{}")))
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeUnavailable || refused.RetryAfter == 0 || refused.Hint == "" {
		t.Errorf("a new run: %v", err)
	}
	child := finished(s, b, ann, []byte("{}"))
	child.Row.ParentExecutionID = runs[0].ID
	check(t, s.Commit(ctx, child))
	for _, r := range runs {
		r.Status, r.EndTime = blueprint.StatusCompleted, r.StartTime
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, Record: []byte("{}")}))
	}
	check(t, p.relieveNow(ctx))
	check(t, s.Commit(ctx, finished(s, b, ann, []byte("{}"))))
	if log.count("removing the oldest completed runs") != 1 || log.count("refusing new runs") != 1 {
		t.Errorf("log %s", &log.text)
	}
}

// A read that lasts does not make the log grow without bound.
func TestLogBesideLongRead(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	run(t, s)
	reading, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		begun := false
		ended <- s.read(context.Background(), func(q *session) error {
			return q.each("WITH RECURSIVE n(i) AS (SELECT (SELECT count(*) FROM users) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", nil, func(func(...any) error) error {
				if !begun {
					begun = true
					close(reading)
				}
				return nil
			})
		})
	}()
	<-reading
	notes(t, s)
	blob := strings.Repeat("x", 1<<20)
	most := int64(0)
	for i := 0; ; i++ {
		check(t, s.submit(context.Background(), &job{run: note(fmt.Sprint(i, blob)), size: len(blob)}))
		most = max(most, must(s.usage(context.Background()))(t).log)
		select {
		case err := <-ended:
			wantCode(t, err, blueprint.CodeUnavailable)
			eventually(t, "the log is emptied", func() bool {
				check(t, s.write(context.Background(), note(fmt.Sprint("more ", i))))
				i++
				return must(s.usage(context.Background()))(t).log < 32<<20
			})
			t.Logf("the log had %d bytes", most)
			if most > 64<<20 {
				t.Error("that is too much")
			}
			return
		default:
		}
	}
}

// copyFiles copies a database and its log as a crash would leave them.
func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		check(t, os.WriteFile(to+suffix, must(os.ReadFile(from+suffix))(t), 0o600))
	}
}

// Whenever the machine fails while history is pruned and the file shrinks, the
// file is whole, nothing is gone that should stay, and the next start goes on.
func TestCrashWhilePruning(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.KeepExecutions = Keep{Rows: 50}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	bulk(t, s, b, ann, 3000, 2*day, blueprint.StatusCompleted, bytes.Repeat([]byte("r"), 1500))
	bulk(t, s, b, ann, 50, day, blueprint.StatusCompleted, bytes.Repeat([]byte("r"), 1500))
	var copies []string
	steps := 0
	s.writer.beforeCommit = func() error {
		if steps++; steps%6 == 0 {
			path := filepath.Join(t.TempDir(), "copy.db")
			copyFiles(t, options.Path, path)
			copies = append(copies, path)
		}
		return nil
	}
	run(t, s)
	advance(t, s, 0)
	if len(copies) < 5 {
		t.Fatalf("%d steps, %d copies", steps, len(copies))
	}
	for _, path := range copies {
		again := options
		again.Path = path
		after := open(t, again)
		if got := stored(t, after, "PRAGMA integrity_check"); got != "ok" {
			t.Error(got)
		}
		young := fmt.Sprintf("SELECT count(*) FROM executions WHERE end_time > %d", int64(blueprint.TimeOf(start.Add(-2*day))))
		if got := stored(t, after, young); got != "50" {
			t.Errorf("%s of the newest runs are left", got)
		}
		run(t, after)
		advance(t, after, 0)
		if got := stored(t, after, "SELECT count(*) FROM executions"); got != "50" {
			t.Errorf("%s runs are left", got)
		}
	}
}

// A file that was made without room management works; the log says what to do.
func TestFileThatCannotShrink(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	first := open(t, options)
	ann := user(t, first, "ann")
	b := create(t, first, ann, "T")
	bulk(t, first, b, ann, 2000, day, blueprint.StatusCompleted, bytes.Repeat([]byte("r"), 1500))
	check(t, first.Close())
	foreignDatabase(t, options.Path, "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM")
	log := &lines{}
	options.KeepExecutions, options.Logger = Keep{Rows: 10}, slog.New(slog.NewTextHandler(log, nil))
	s := open(t, options)
	before := must(s.usage(context.Background()))(t)
	run(t, s)
	advance(t, s, 0)
	advance(t, s, time.Hour)
	after := must(s.usage(context.Background()))(t)
	if before.shrinks || after.file != before.file || stored(t, s, "SELECT count(*) FROM executions") != "10" {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if log.count("database file cannot shrink") != 1 {
		t.Errorf("log %s", &log.text)
	}
}

// holdLog reads in another process, as it were, so that the log cannot be cut
// until stop is called.
func holdLog(t *testing.T, s *Store) (stop func()) {
	t.Helper()
	tool := beside(t, s)
	reading, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- tool.read(context.Background(), func(q *session) error {
			var n int
			err := q.row("SELECT count(*) FROM executions", nil, &n)
			close(reading)
			<-leave
			return err
		})
	}()
	<-reading
	return sync.OnceFunc(func() {
		close(leave)
		check(t, <-ended)
	})
}

func countRuns(t *testing.T, s *Store, where string) string {
	t.Helper()
	return stored(t, s, "SELECT count(*) FROM executions WHERE "+where)
}

// While a reader keeps the log large, no history is removed: new runs are refused until
// the log can be truncated.
func TestDiskLimitBesideReader(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, log := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	record := bytes.Repeat([]byte("r"), 3000)
	bulk(t, s, b, ann, 1200, 3*day, blueprint.StatusFailed, record)
	bulk(t, s, b, ann, 1200, 2*day, blueprint.StatusCompleted, record)
	check(t, s.emptyLog())
	stop := holdLog(t, s)
	defer stop()
	bulk(t, s, b, ann, 1000, day, blueprint.StatusCompleted, record)
	// What is written again and again lengthens the log, and nothing else.
	for range 6 {
		check(t, s.write(ctx, func(w *transaction) error {
			_, err := w.exec("UPDATE executions SET state = zeroblob(100) WHERE status = 'failed'")
			return err
		}))
	}
	if u := must(s.usage(ctx))(t); u.live() > p.options.MaxDisk || u.total() <= p.options.MaxDisk {
		t.Fatalf("that is no case of a long log: %+v", u)
	}
	for range 3 {
		check(t, p.relieveNow(ctx))
	}
	if failed, completed := countRuns(t, s, "status = 'failed'"), countRuns(t, s, "status = 'completed'"); failed != "1200" || completed != "2200" {
		t.Errorf("%s failed and %s completed are left", failed, completed)
	}
	var refused *blueprint.Error
	if err := s.Commit(ctx, finished(s, b, ann, []byte("{}"))); !errors.As(err, &refused) || refused.Code != blueprint.CodeUnavailable || refused.RetryAfter == 0 {
		t.Errorf("a new run: %v", err)
	}
	if log.count("level=WARN") != 1 || log.count("refusing new runs") != 1 {
		t.Errorf("log %s", &log.text)
	}
	stop()
	check(t, p.relieveNow(ctx))
	check(t, s.Commit(ctx, finished(s, b, ann, []byte("{}"))))
	if u := must(s.usage(ctx))(t); u.total() > p.options.MaxDisk || countRuns(t, s, "status = 'completed'") != "2201" {
		t.Errorf("in the end: %+v, %s completed", u, countRuns(t, s, "status = 'completed'"))
	}
}

// When what is stored is above the limit, a held log makes no more of it go
// than without.
func TestDiskLimitBesideReaderAndHistory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, _ := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	record := bytes.Repeat([]byte("r"), 3000)
	bulk(t, s, b, ann, 1000, 3*day, blueprint.StatusFailed, record)
	bulk(t, s, b, ann, 3000, 2*day, blueprint.StatusCompleted, record)
	check(t, s.emptyLog())
	defer holdLog(t, s)()
	bulk(t, s, b, ann, 1500, day, blueprint.StatusCompleted, record)
	check(t, p.relieveNow(ctx))
	u := must(s.usage(ctx))(t)
	if goal := p.options.MaxDisk / 10 * 9; u.live() > goal || u.live() < goal-pruneBytes {
		t.Errorf("%d bytes are left of a goal of %d", u.live(), goal)
	}
	if countRuns(t, s, "status = 'failed'") != "1000" {
		t.Errorf("%s failed runs are left", countRuns(t, s, "status = 'failed'"))
	}
}

func TestDiskLimitBesideBackup(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, _ := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	record := bytes.Repeat([]byte("r"), 3000)
	bulk(t, s, b, ann, 1200, 3*day, blueprint.StatusFailed, record)
	bulk(t, s, b, ann, 1800, 2*day, blueprint.StatusCompleted, record)
	check(t, s.emptyLog())
	_, err := beside(t, s).Backup(ctx, filepath.Join(t.TempDir(), "b"), BackupOptions{Progress: func() func(string, int64, int64) {
		var once sync.Once
		return func(string, int64, int64) {
			once.Do(func() {
				bulk(t, s, b, ann, 700, day, blueprint.StatusCompleted, record)
				check(t, p.relieveNow(ctx))
			})
		}
	}()})
	check(t, err)
	if failed, completed := countRuns(t, s, "status = 'failed'"), countRuns(t, s, "status = 'completed'"); failed != "1200" || completed != "2500" {
		t.Errorf("%s failed and %s completed are left", failed, completed)
	}
}

// Free pages go back to the disk before any history goes.
func TestDiskLimitOfFreePages(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, p, _ := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	record := bytes.Repeat([]byte("r"), 3000)
	bulk(t, s, b, ann, 1000, 2*day, blueprint.StatusCompleted, record)
	bulk(t, s, b, ann, 5000, day, blueprint.StatusFailed, record)
	check(t, s.write(ctx, func(w *transaction) error {
		_, err := w.exec("DELETE FROM executions WHERE status = 'failed'")
		return err
	}))
	check(t, p.relieveNow(ctx))
	if u := must(s.usage(ctx))(t); u.total() > p.options.MaxDisk/10*9 || countRuns(t, s, "true") != "1000" {
		t.Errorf("it takes %+v, and %s runs are left", u, countRuns(t, s, "true"))
	}
}

// What goes first under the limit, step by step.
func TestEvictionOrder(t *testing.T) {
	ctx := context.Background()
	s, p, _ := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
	for name, age := range map[string]time.Duration{"old": time.Hour, "new": justEnded / 2} {
		for _, status := range []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed} {
			check(t, s.Commit(ctx, ended(s, b, ann, fmt.Sprint(status, "-", name), age, status)))
		}
	}
	unfinished := row(s, b, ann)
	unfinished.ID = "unfinished"
	check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: unfinished, New: true, Entries: [][]byte{[]byte("e")}}))
	fire := func(key string, decision blueprint.Decision, age time.Duration, execution string) {
		f := firing(s, trigger, key)
		if key == "" {
			f.Key = f.ID
		}
		f.Decision, f.ReceivedAt, f.ExecutionID, f.Reason = decision, blueprint.TimeOf(start.Add(-age)), &execution, "row-"+execution+"-"+key
		check(t, record(s, f))
	}
	fire("", blueprint.DecisionStarted, time.Hour, "completed-old")
	fire("", blueprint.DecisionStarted, time.Hour, "unfinished")
	fire("key", blueprint.DecisionStarted, time.Hour, "failed-old")
	fire("key", blueprint.DecisionDuplicate, time.Hour, "failed-old")
	fire("key", blueprint.DecisionRefused, 0, "none")
	fire("key-old", blueprint.DecisionStarted, 100*time.Hour, "failed-old")
	all := func() []string {
		return []string{stored(t, s, "SELECT id FROM executions ORDER BY id"), stored(t, s, "SELECT 'row-' || execution_id || '-' || coalesce(key, '') || ':' || decision FROM firings ORDER BY seq")}
	}
	const kept = "row-unfinished-:started row-failed-old-key:started"
	for i, want := range [][]string{
		{"completed-new completed-old failed-new failed-old unfinished", "row-completed-old-:started " + kept + " row-failed-old-key-old:started"},
		{"completed-new failed-new failed-old unfinished", "row-completed-old-:started " + kept + " row-failed-old-key-old:started"},
		{"completed-new failed-new failed-old unfinished", kept},
		{"completed-new failed-new unfinished", kept},
		{"failed-new unfinished", kept},
		{"unfinished", kept},
		{"unfinished", kept},
	} {
		removed := must(p.evict(ctx))(t)
		if got := all(); got[0] != want[0] || got[1] != want[1] || (removed == 0) != (i == 6) {
			t.Errorf("step %d removed %d\n%s\n%s\nwant\n%s\n%s", i, removed, got[0], got[1], want[0], want[1])
		}
	}
}

// A full database takes no rows of what starts nothing, and a schedule does not
// lose its place.
func TestFullLedger(t *testing.T) {
	ctx := context.Background()
	s, _, _ := limited(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
	s.full.Store(true)
	for _, cursor := range []blueprint.Time{0, blueprint.TimeOf(start.Add(time.Hour))} {
		wantCode(t, s.RecordFirings(ctx, trigger.ID, []blueprint.Firing{firing(s, trigger, "k")}, cursor), blueprint.CodeUnavailable)
	}
	wantCode(t, s.RemoveEvents(ctx, nil, firing(s, trigger, "k")), blueprint.CodeUnavailable)
	check(t, s.RemoveEvents(ctx, []string{"k"})) // which makes room
	if got := stored(t, s, "SELECT count(*) || '/' || (SELECT count(*) FROM triggers WHERE cursor_at >= "+fmt.Sprint(int64(blueprint.TimeOf(start.Add(time.Hour))))+") FROM firings"); got != "0/0" {
		t.Errorf("rows and cursors: %s", got)
	}
	s.full.Store(false)
	check(t, record(s, firing(s, trigger, "k")))
}
