package store

import (
	"sync"
	"time"

	"blueprintd/clock"
	"blueprintd/metrics"
)

// Stats tell how a store is doing. What counts up does so since Open; sizes
// are bytes.
type Stats struct {
	Commits, Jobs             int64 // transactions of the writer, and the writes in them
	PrunedRuns, PrunedFirings int64
	CheckpointFailures        int64
	Tripped                   int64 // triggers that were switched off because their runs kept failing
	Queued, MaxQueued         int   // writes that wait for the writer
	// Durations are from the beginning of each commit to its end, in real time.
	Durations metrics.Distribution
	// BusySince is when the writer began with the writes that it is at, or when
	// the first of those that wait came, in real time; zero while it is idle.
	BusySince time.Time
	// LastCommit is when the last one ended, in real time; zero before the first.
	LastCommit time.Time
	// LastError is the last commit that failed, at LastErrorAt; nil if none did.
	LastError   error
	LastErrorAt time.Time
	// Failure is why the store takes nothing any more; nil while it does.
	Failure error

	Database, Log int64 // the files; 0 when ephemeral
	Free, Reserve int64 // on the disk, and what stays free of that; 0 when unknown
	Narrow        bool  // new runs are refused, for less than Reserve is free
	Limit         int64 // of Database and Log together; 0 = none
	Full          bool  // new runs are refused, for the limit is reached
}

// Stats gives the numbers of now. It asks the file system, not the database.
func (s *Store) Stats() Stats {
	c := &s.counts
	stats := Stats{
		Commits: c.commits.Value(), Jobs: c.jobs.Value(), PrunedRuns: c.prunedRuns.Value(), PrunedFirings: c.prunedFirings.Value(),
		CheckpointFailures: c.checkpointFailures.Value(), Tripped: c.tripped.Value(), Queued: s.writer.queued(), MaxQueued: maxQueued, Durations: c.durations.Distribution(),
		Failure: s.usable(), Narrow: s.ground.narrow.Load(), Limit: s.options.MaxDisk, Full: s.full.Load(),
	}
	s.writer.mu.Lock()
	stats.BusySince = s.writer.busySince
	s.writer.mu.Unlock()
	c.mu.Lock()
	stats.LastCommit, stats.LastError, stats.LastErrorAt = c.last, c.failure, c.failed
	c.mu.Unlock()
	if s.options.Ephemeral {
		return stats
	}
	stats.Database, stats.Log = size(s.options.Path), size(s.options.Path+"-wal")
	if p, err := s.options.lookAt(s.options.Path); err == nil && p.known {
		stats.Free, stats.Reserve = p.free, p.reserve(s.options.MinFree)
	}
	return stats
}

// counts are what a store counts as it goes.
type counts struct {
	commits, jobs, prunedRuns, prunedFirings, checkpointFailures, tripped metrics.Counter
	durations                                                             *metrics.Histogram

	mu           sync.Mutex
	last, failed time.Time
	failure      error
}

func newCounts() counts {
	return counts{durations: metrics.NewHistogram(
		100*time.Microsecond, 250*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2500*time.Microsecond, 5*time.Millisecond, 10*time.Millisecond,
		25*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond, time.Second, 5*time.Second,
	)}
}

// batch counts one transaction.
func (c *counts) batch(took time.Duration, jobs int, failure error) {
	now := clock.Real{}.Now()
	c.durations.Observe(took)
	c.mu.Lock()
	defer c.mu.Unlock()
	if failure != nil {
		c.failure, c.failed = failure, now
		return
	}
	c.commits.Add(1)
	c.jobs.Add(int64(jobs))
	c.last = now
}
