package store

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
)

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
	const insert = `INSERT INTO firings (id, trigger_id, source, key, received_at, decision, reason_code)
		SELECT '00000000000000000000000000', id, 'webhook', 'first', ?, 'refused', '' FROM triggers LIMIT 1`
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
	if log.count("nothing is pruned") != 1 || log.count("--keep-executions all") != 1 || log.count("runs=10 rows=8") != 1 {
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
