package engine

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats tell how an engine is doing. What counts up does so since New.
type Stats struct {
	Started, Completed, Failed int64 // runs, once it is on the disk
	Recovered                  int64 // runs that an earlier process had left unfinished
	Working                    int   // runs that have their turn
	Queued                     int   // runs that wait for their turn
	Flows                      int   // triggers, and users without one, of whose runs some do
	LongestQueue               int   // the most that do of one of them
	Blocked                    int   // runs that are parked until others of their trigger have ended
	Waiting                    int   // runs that are parked until an instant
	Paused                     int64 // runs that wait for an answer, as the disk has it
	Held                       int   // weight of the input of the new runs at work, and of their recordings, in bytes
	MaxRunning, MaxQueued      int
	// Durations are from the start of each run to its end, on the engine's clock.
	Durations metrics.Distribution
}

// Stats returns the numbers of now. It costs no access to the disk.
func (e *Engine) Stats() Stats {
	c := &e.counts
	stats := Stats{
		Started: c.started.Value(), Completed: c.completed.Value(), Failed: c.failed.Value(), Recovered: c.recovered.Value(),
		Paused: c.paused.Value(), MaxRunning: e.MaxRunning, MaxQueued: e.MaxQueued, Durations: c.durations.Distribution(),
	}
	e.mu.Lock()
	stats.Working, stats.Queued, stats.Waiting, stats.Held = e.queue.taken, e.queue.queued, e.waiting, e.held
	stats.Flows, stats.LongestQueue = e.queue.longest()
	stats.Blocked = e.concurrency.blocked
	e.mu.Unlock()
	return stats
}

// counts are what an engine counts as it goes.
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

// found counts what an earlier process left.
func (c *counts) found(rows []blueprint.ExecutionRow) {
	c.recovered.Add(int64(len(rows)))
	for i := range rows {
		if rows[i].Status == blueprint.StatusPaused {
			c.paused.Add(1)
		}
	}
}

// tally counts what a commit changed. The run's mu is held.
func (d *disk) tally(c *counts, commit *blueprint.JournalCommit) {
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
