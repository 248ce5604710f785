package metrics

import (
	"sync/atomic"
	"time"
)

// Counter only goes up. Its zero value is ready, and it is safe for concurrent
// use.
type Counter struct{ value atomic.Int64 }

// Add counts n more; n is not negative.
func (c *Counter) Add(n int64) { c.value.Add(n) }

// Value is the count.
func (c *Counter) Value() int64 { return c.value.Load() }

// Gauge goes up and down. Its zero value is ready, and it is safe for
// concurrent use.
type Gauge struct{ value atomic.Int64 }

// Add changes it by n.
func (g *Gauge) Add(n int64) { g.value.Add(n) }

// Set makes it n.
func (g *Gauge) Set(n int64) { g.value.Store(n) }

// Value is what it stands at.
func (g *Gauge) Value() int64 { return g.value.Load() }

// Counters are counters with two labels, whose values are fixed when they are
// made. It is safe for concurrent use.
type Counters struct {
	first, second map[string]int // place of a value
	values        []Counter
}

// NewCounters makes a counter for each pair of values.
func NewCounters(first, second []string) *Counters {
	c := &Counters{first: map[string]int{}, second: map[string]int{}}
	for _, value := range first {
		c.first[value] = len(c.first)
	}
	for _, value := range second {
		c.second[value] = len(c.second)
	}
	c.values = make([]Counter, len(c.first)*len(c.second))
	return c
}

// Add counts one more of a pair. A pair that was not named at the beginning is
// not counted.
func (c *Counters) Add(first, second string) {
	i, known := c.first[first]
	j, alsoKnown := c.second[second]
	if known && alsoKnown {
		c.values[i*len(c.second)+j].Add(1)
	}
}

// Each calls f for every pair that has been counted, in no order.
func (c *Counters) Each(f func(first, second string, count int64)) {
	for first, i := range c.first {
		for second, j := range c.second {
			if count := c.values[i*len(c.second)+j].Value(); count > 0 {
				f(first, second, count)
			}
		}
	}
}

// Histogram sorts durations into buckets. It is safe for concurrent use.
type Histogram struct {
	bounds []time.Duration
	counts []atomic.Int64 // one more than bounds: for all that is longer
	sum    atomic.Int64
}

// NewHistogram makes one with the upper bounds of its buckets, from the
// shortest to the longest.
func NewHistogram(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a duration; one below zero counts as zero.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	i := 0
	for i < len(h.bounds) && d > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Distribution is what a histogram holds at an instant.
type Distribution struct {
	Bounds []time.Duration
	Counts []int64 // in each bucket alone; the last is beyond all bounds
	Sum    time.Duration
}

// Distribution returns what was counted so far.
func (h *Histogram) Distribution() Distribution {
	d := Distribution{Bounds: h.bounds, Counts: make([]int64, len(h.counts)), Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		d.Counts[i] = h.counts[i].Load()
	}
	return d
}

// Stopwatch measures how long something takes in real time, whatever becomes
// of the clock on the wall meanwhile.
type Stopwatch struct{ begun time.Time }

// Begin starts one.
func Begin() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed is the time since.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.begun) }
