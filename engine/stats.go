package engine

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats are counters since New and current numbers of an engine.
type Stats struct {
	Started, Completed, Failed int64 // of runs, once durable
	Recovered                  int64
	Working                    int   // runs with a slot
	Queued                     int   // runs that wait for a slot
	Flows                      int   // triggers, and users without one, with queued runs
	LongestQueue               int   // of one flow
	Blocked                    int   // runs blocked by their concurrency group
	Waiting                    int   // parked runs with a timer
	Paused                     int64 // runs that wait for an answer, as stored
	Held                       int   // memory of inputs and recordings of new runs, in bytes
	MaxRunning, MaxQueued      int
	// Durations are from start to end of each run, on the engine's clock.
	Durations metrics.Distribution
}

// Stats returns current numbers. It does not access the journal.
func (e *Engine) Stats() Stats {
	c := &e.counts
	stats := Stats{
		Started: c.started.Value(), Completed: c.completed.Value(), Failed: c.failed.Value(), Recovered: c.recovered.Value(),
		Paused: c.paused.Value(), MaxRunning: e.MaxRunning, MaxQueued: e.MaxQueued, Durations: c.durations.Distribution(),
	}
	e.mu.Lock()
	stats.Working, stats.Queued, stats.Waiting, stats.Held = e.queue.taken, e.queue.queued, e.timedParked, e.held
	stats.Flows, stats.LongestQueue = e.queue.longest()
	stats.Blocked = e.concurrency.blocked
	e.mu.Unlock()
	return stats
}

type counts struct {
	started, completed, failed, recovered metrics.Counter
	paused                                metrics.Gauge
	durations                             *metrics.Histogram
}

func newCounts() counts {
	return counts{durations: metrics.NewHistogram(
		time.Millisecond, 5*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond, 500*time.Millisecond,
		time.Second, 5*time.Second, 30*time.Second, time.Minute, 10*time.Minute, time.Hour, 24*time.Hour,
	)}
}

func (c *counts) addRecovered(rows []blueprint.ExecutionRow) {
	c.recovered.Add(int64(len(rows)))
	for i := range rows {
		if rows[i].Status == blueprint.StatusPaused {
			c.paused.Add(1)
		}
	}
}

// countCommit counts the status changes of a commit.
func (d *disk) countCommit(c *counts, commit *blueprint.JournalCommit) {
	if commit.New {
		c.started.Add(1)
	}
	switch paused := commit.Row.Status == blueprint.StatusPaused; {
	case paused && !d.paused:
		c.paused.Add(1)
	case !paused && d.paused:
		c.paused.Add(-1)
	}
	d.paused = commit.Row.Status == blueprint.StatusPaused
	switch commit.Row.Status {
	case blueprint.StatusCompleted:
		c.completed.Add(1)
	case blueprint.StatusFailed:
		c.failed.Add(1)
	default:
		return
	}
	c.durations.Observe(time.Duration(commit.Row.EndTime-commit.Row.StartTime) * time.Millisecond)
}
