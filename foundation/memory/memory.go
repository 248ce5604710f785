// Package memory bounds the memory of a process that serves. Without a limit, as in the
// commands and in most tests, it has no effect.
package memory

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	clocks "blueprintd/foundation/metrics"
)

var (
	limited atomic.Bool
	process = &gauge{read: objects, collect: runtime.GC}
)

// SetLimit sets how many bytes of live objects count as full; 0 = no limit.
func SetLimit(most int64) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.most, process.holds = uint64(most), 0
	limited.Store(most > 0)
}

// OnFull sets a function that is called when memory becomes full, at most once a minute.
func OnFull(call func()) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.onFull = call
}

// Ignore excludes objects of a size that use no memory, because they are never touched.
func Ignore(size int64) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.ignored += uint64(size)
}

// Full reports whether there are so many live objects that nothing more may begin. It may
// collect garbage to find out.
func Full() bool { return limited.Load() && process.isFull() }

// Free waits, in real time, until memory is not full, and reports whether that was so before
// ctx ended and within wait.
func Free(ctx context.Context, wait time.Duration) bool {
	if !Full() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(fullFor)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			if !Full() {
				return true
			}
		}
	}
}

// A reading holds for freeFor, or for fullFor if memory was full, since every reading then
// collects garbage.
const (
	freeFor = time.Millisecond
	fullFor = 50 * time.Millisecond
)

// gauge decides whether a process has too many live objects.
type gauge struct {
	read    func() uint64 // bytes of objects, garbage included
	collect func()

	mu      sync.Mutex
	most    uint64
	ignored uint64
	full    bool

	onFull func() // nil = none
	called clocks.Stopwatch

	since clocks.Stopwatch // of the last reading
	holds time.Duration    // of what it found
}

// isFull waits for a reading in progress: what it decides may be large.
func (g *gauge) isFull() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.since.Elapsed() < g.holds {
		return g.full
	}
	most, before := g.most+g.ignored, g.full
	g.full = false
	if g.read() > most {
		g.collect()
		// With less than an eighth free, the next reading would collect again, and soon.
		g.full = g.read() > most-most/8
	}
	g.since, g.holds = clocks.Begin(), freeFor
	if g.full {
		g.holds = fullFor
	}
	if g.full && !before && g.onFull != nil && g.called.Elapsed() > time.Minute {
		g.called = clocks.Begin()
		go g.onFull()
	}
	return g.full
}

func objects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
