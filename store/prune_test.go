package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

const day = 24 * time.Hour

// ended is the commit of a run that ended at an age before start.
func ended(s *Store, b blueprint.Blueprint, by blueprint.Principal, name string, age time.Duration, status blueprint.Status) *blueprint.JournalCommit {
	c := finished(s, b, by, []byte("{}"))
	at := blueprint.TimeOf(start.Add(-age))
	c.Row.ID, c.Row.Status = name, status
	c.Row.CreatedAt, c.Row.UpdatedAt, c.Row.StartTime, c.Row.EndTime = at, at, at, at
	if !status.Terminal() {
		c.Row.EndTime, c.Record = 0, nil
	}
	return c
}

// stored lists what a query of one text column finds.
func stored(t testing.TB, s *Store, query string) string {
	t.Helper()
	var list []string
	check(t, s.read(context.Background(), func(q *session) error {
		return q.each(query, nil, func(scan func(...any) error) error {
			var text string
			err := scan(&text)
			list = append(list, text)
			return err
		})
	}))
	return strings.Join(list, " ")
}

const (
	storedRuns    = "SELECT id FROM executions ORDER BY id"
	storedFirings = "SELECT key FROM firings ORDER BY key"
)

// historyOf fills a store with runs and firings of many ages.
func historyOf(t *testing.T, s *Store) {
	ctx := context.Background()
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	schedule := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
	add := func(c *blueprint.JournalCommit) *blueprint.JournalCommit { check(t, s.Commit(ctx, c)); return c }
	for _, days := range []int{1, 89, 91, 271} {
		for _, status := range []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed, blueprint.StatusPaused} {
			add(ended(s, b, ann, fmt.Sprintf("%s-%03d", status[:1], days), time.Duration(days)*day, status))
		}
	}
	child := ended(s, b, ann, "child", 300*day, blueprint.StatusCompleted)
	child.Row.ParentExecutionID = "p-271"
	add(child)
	orphan := ended(s, b, ann, "orphan", 300*day, blueprint.StatusCompleted)
	orphan.Row.ParentExecutionID = "c-001"
	add(orphan)
	fire := func(key string, age time.Duration, execution string, due blueprint.Time) {
		f := firing(s, schedule, key)
		f.ReceivedAt, f.DueAt = blueprint.TimeOf(start.Add(-age)), due
		if f.Decision = blueprint.DecisionRefused; execution != "" {
			f.Decision, f.ExecutionID = blueprint.DecisionStarted, &execution
		}
		check(t, record(s, f))
	}
	fire("old", 100*day, "c-091", 0)
	fire("old-refused", 100*day, "", 0)
	fire("old-pruned", 100*day, "gone", 0)
	fire("old-unfinished", 100*day, "p-091", 0)
	fire("old-undecided", 100*day, "c-001", blueprint.TimeOf(start.Add(time.Hour)))
	fire("week", 7*day, "c-001", 0)
	fire("day", day, "c-001", 0)
	fire("young", 0, "", 0)
}

func TestPrune(t *testing.T) {
	const unfinished = "p-001 p-089 p-091 p-271"
	for name, test := range map[string]struct {
		executions, firings Keep
		runs, keys          string
	}{
		"all":     {runs: "c-001 c-089 c-091 c-271 child f-001 f-089 f-091 f-271 orphan " + unfinished, keys: "day old old-pruned old-refused old-undecided old-unfinished week young"},
		"90 days": {Keep{Age: 90 * day}, Keep{Age: 90 * day}, "c-001 c-089 child f-001 f-089 f-091 " + unfinished, "day old-undecided old-unfinished week young"},
		"an hour": {Keep{Age: time.Hour}, Keep{Age: time.Minute}, "child " + unfinished, "day old-undecided old-unfinished young"},
		"5 rows":  {Keep{Rows: 5}, Keep{Rows: 2}, "c-001 child f-001 f-089 f-091 f-271 " + unfinished, "day old-undecided old-unfinished young"},
		"2 rows":  {Keep{Rows: 2}, Keep{Rows: 1}, "child f-001 f-089 " + unfinished, "day old-undecided old-unfinished young"},
	} {
		for _, ephemeral := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", ephemeral), func(t *testing.T) {
				options := testOptions(t)
				options.Ephemeral, options.KeepExecutions, options.KeepFirings = ephemeral, test.executions, test.firings
				s := open(t, options)
				historyOf(t, s)
				run(t, s)
				advance(t, s, 0) // not before what is due at the start is gone
				if got := stored(t, s, storedRuns); got != sorted(test.runs) {
					t.Errorf("runs %s\nwant %s", got, sorted(test.runs))
				}
				if got := stored(t, s, storedFirings); got != test.keys {
					t.Errorf("firings %s\nwant    %s", got, test.keys)
				}
				if got, want := stored(t, s, "SELECT firings FROM firing_counts"), fmt.Sprint(len(strings.Fields(test.keys))); got != want {
					t.Errorf("%s firings are counted, want %s", got, want)
				}
			})
		}
	}
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// A virtual clock does not pass the hour at which something is to go.
func TestPruneFollowsTheClock(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.KeepExecutions = Keep{Age: 90 * day}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	run(t, s)
	for days := range 3 {
		check(t, s.Commit(context.Background(), ended(s, b, ann, fmt.Sprint("run-", days), -time.Duration(days)*day, blueprint.StatusCompleted)))
	}
	for _, want := range []string{"run-0 run-1 run-2", "run-1 run-2", "run-2", ""} {
		if want == "run-0 run-1 run-2" {
			advance(t, s, 90*day)
		} else {
			advance(t, s, day)
		}
		if want != "" && stored(t, s, storedRuns) != want {
			t.Errorf("at %v: %s, want %s", options.Clock.Now(), stored(t, s, storedRuns), want)
		}
		if want == "" && stored(t, s, storedRuns) != "" {
			t.Errorf("in the end: %s", stored(t, s, storedRuns))
		}
	}
}

// A run that has just ended stays for a minute, whatever number is to be kept.
func TestJustEndedStays(t *testing.T) {
	options := testOptions(t)
	options.KeepExecutions = Keep{Rows: 1}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	run(t, s)
	for _, name := range []string{"a", "b", "c"} {
		check(t, s.Commit(context.Background(), ended(s, b, ann, name, 0, blueprint.StatusCompleted)))
	}
	advance(t, s, 30*time.Second)
	if got := stored(t, s, storedRuns); got != "a b c" {
		t.Errorf("after half a minute: %s", got)
	}
	advance(t, s, 90*time.Second)
	if got := stored(t, s, storedRuns); got != "c" {
		t.Errorf("after two minutes: %s", got)
	}
}

func TestPruneInterval(t *testing.T) {
	for _, test := range []struct {
		executions, firings Keep
		want                time.Duration
	}{
		{Keep{}, Keep{}, time.Hour}, // for sessions, links and hours
		{Keep{Age: 90 * day}, Keep{}, time.Hour},
		{Keep{Age: 90 * day}, Keep{Age: 2 * time.Hour}, 12 * time.Minute},
		{Keep{}, Keep{Age: time.Minute}, time.Minute},
		{Keep{Age: 90 * day}, Keep{Rows: 10}, time.Minute},
	} {
		t.Run(fmt.Sprintf("executions %v, firings %v", test.executions, test.firings), func(t *testing.T) {
			o := Options{KeepExecutions: test.executions, KeepFirings: test.firings}
			if got := o.pruneInterval(); got != test.want {
				t.Errorf("%+v: %v", test, got)
			}
		})
	}
}

// bulk stores n runs that ended at an age, many to a transaction.
func bulk(t testing.TB, s *Store, b blueprint.Blueprint, by blueprint.Principal, n int, age time.Duration, status blueprint.Status, record []byte) {
	t.Helper()
	for done := 0; done < n; done += 1000 {
		check(t, s.write(context.Background(), func(w *transaction) error {
			for i := done; i < min(done+1000, n); i++ {
				c := ended(s, b, by, s.options.IDs.ExecutionID(s.options.Clock.Now()), age, status)
				c.Record = record
				if _, err := s.beginExecution(w, c); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// The file becomes small again, and the log stays so meanwhile.
func TestFileShrinks(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.KeepExecutions = Keep{Rows: 200}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	bulk(t, s, b, ann, 10_000, time.Hour, blueprint.StatusCompleted, bytes.Repeat([]byte("r"), 1500))
	check(t, s.emptyLog())
	before := must(s.usage(context.Background()))(t)
	run(t, s)
	advance(t, s, 0)
	if got := stored(t, s, "SELECT count(*) FROM executions"); got != "200" {
		t.Errorf("%s runs are left", got)
	}
	if after := must(s.usage(context.Background()))(t); after.log > 64<<20 {
		t.Errorf("the log has %d bytes", after.log)
	}
	check(t, s.emptyLog())
	after := must(s.usage(context.Background()))(t)
	t.Logf("the file had %d bytes, and has %d", before.file, after.file)
	if after.file > before.file/10 {
		t.Errorf("the file had %d bytes, and has %d", before.file, after.file)
	}
	if got := stored(t, s, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
}

// All writes succeed while history is pruned beside them.
func TestLoadBesidePruning(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.KeepExecutions, options.Clock = Keep{Rows: 100}, clock.Real{}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	bulk(t, s, b, ann, 2500, 30*day, blueprint.StatusCompleted, bytes.Repeat([]byte("r"), 1500))
	run(t, s)
	written := 0
	old := fmt.Sprintf("SELECT iif(count(*) > 100, 'more', 'few') FROM executions WHERE end_time < %d", int64(blueprint.TimeOf(start)))
	for stored(t, s, old) != "few" {
		check(t, s.Commit(context.Background(), finished(s, b, ann, []byte("{}"))))
		written++
	}
	recent := fmt.Sprintf("SELECT count(*) FROM executions WHERE end_time >= %d", int64(blueprint.TimeOf(start)))
	if got := stored(t, s, recent); got != fmt.Sprint(written) {
		t.Errorf("%s of %d new runs are stored", got, written)
	}
}

// startsLater opens a store with some history once more, at a later time.
func startsLater(t *testing.T, later time.Duration, executions, firings Keep) (*Store, *lines) {
	t.Helper()
	options := testOptions(t)
	s := open(t, options)
	historyOf(t, s)
	check(t, s.Close())
	log := &lines{}
	options.Logger = slog.New(slog.NewTextHandler(log, nil))
	options.Clock = clock.NewVirtual(start.Add(later))
	options.KeepExecutions, options.KeepFirings = executions, firings
	s = open(t, options)
	run(t, s)
	// What comes as soon as it runs tells nothing of the time before.
	const insert = `INSERT INTO firings (id, trigger_seq, source, key, received_at, decision, reason_code)
		SELECT '00000000000000000000000000', seq, 'webhook', 'first', ?, 'refused', '' FROM triggers LIMIT 1`
	check(t, s.write(context.Background(), func(w *transaction) error {
		_, err := w.exec(insert, int64(blueprint.TimeOf(options.Clock.Now())))
		return err
	}))
	advance(t, s, 0)
	return s, log
}

// A start at which all history is too old removes nothing for a day: the clock
// may be wrong, or the database from a backup.
func TestPruneWaitsWhenAllIsOld(t *testing.T) {
	const finishedRuns = "SELECT count(*) FROM executions WHERE end_time IS NOT NULL"
	s, log := startsLater(t, 366*day, Keep{Age: 90 * day}, Keep{Age: 90 * day})
	before := stored(t, s, finishedRuns) + "/" + stored(t, s, "SELECT count(*) FROM firings")
	advance(t, s, 23*time.Hour)
	if got := stored(t, s, finishedRuns) + "/" + stored(t, s, "SELECT count(*) FROM firings"); got != before || got != "10/9" {
		t.Errorf("runs and rows: %s, before %s", got, before)
	}
	if log.count("pruning starts in a day") != 1 || log.count("--keep-executions all") != 1 || log.count("runs=10 rows=8") != 1 {
		t.Errorf("log %s", &log.text)
	}
	advance(t, s, 2*time.Hour)
	if got := stored(t, s, storedRuns); got != sorted("child p-001 p-089 p-091 p-271") {
		t.Errorf("after a day: %s", got)
	}
}

// A clock that has been set right meanwhile ends the wait.
func TestPruneWaitsNoLongerThanTheFault(t *testing.T) {
	options := testOptions(t)
	options.KeepExecutions = Keep{Age: 90 * day}
	s := open(t, options)
	historyOf(t, s)
	p := &pruner{Store: s}
	s.options.Clock = clock.NewVirtual(start.Add(366 * day))
	check(t, p.begin(context.Background()))
	if !p.holds() {
		t.Fatal("it does not wait")
	}
	s.options.Clock = clock.NewVirtual(start.Add(time.Hour))
	if p.holds() {
		t.Error("it waits though the clock is right")
	}
}

func TestPruneDoesNotWait(t *testing.T) {
	for name, test := range map[string]struct {
		later               time.Duration
		executions, firings Keep
		want                string
	}{
		"some is young": {80 * day, Keep{Age: 90 * day}, Keep{Age: 90 * day}, "c-001 child f-001 f-089 f-091"},
		"a number":      {366 * day, Keep{Rows: 3}, Keep{Rows: 3}, "child f-001 f-089 f-091"},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := startsLater(t, test.later, test.executions, test.firings)
			if got := stored(t, s, storedRuns); got != sorted(test.want+" p-001 p-089 p-091 p-271") {
				t.Errorf("runs %s", got)
			}
			if log.count("nothing is pruned") != 0 {
				t.Errorf("log %s", &log.text)
			}
		})
	}
	t.Run("nothing is there", func(t *testing.T) {
		options := testOptions(t)
		options.KeepExecutions = Keep{Age: time.Hour}
		s := open(t, options)
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		run(t, s)
		check(t, s.Commit(context.Background(), ended(s, b, ann, "run", 0, blueprint.StatusCompleted)))
		advance(t, s, 2*time.Hour)
		if got := stored(t, s, storedRuns); got != "" {
			t.Errorf("runs %s", got)
		}
	})
}

// A pass that removed something tells how much, once; one that did not is quiet.
func TestPruneTells(t *testing.T) {
	options := testOptions(t)
	var log lockedLog
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	options.KeepExecutions, options.KeepFirings = Keep{Age: 90 * day}, Keep{Age: 90 * day}
	s := open(t, options)
	historyOf(t, s)
	run(t, s)
	advance(t, s, 0)
	advance(t, s, time.Hour)
	stats := s.Stats()
	said := log.String()
	if stats.PrunedRuns == 0 || stats.PrunedFirings == 0 {
		t.Errorf("%d runs and %d firings were pruned, want some of both", stats.PrunedRuns, stats.PrunedFirings)
	}
	if strings.Count(said, "pruned old history") != 1 || !strings.Contains(said, "level=INFO msg=\"pruned old history\"") || !strings.Contains(said, " seconds=") {
		t.Errorf("the log says %s, want one line at info with the seconds", said)
	}
}

func TestKeepString(t *testing.T) {
	for want, keep := range map[string]Keep{"all": {}, "5000": {Rows: 5000}, "90d": {Age: 90 * day}, "36h0m0s": {Age: 36 * time.Hour}} {
		t.Run(want, func(t *testing.T) {
			if got := keep.String(); got != want {
				t.Errorf("%+v is %s, want %s", keep, got, want)
			}
		})
	}
}
