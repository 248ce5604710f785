package metrics

import (
	"slices"
	"sync/atomic"
	"time"
)

// Counter is a counter. The zero value is ready to use. It is safe for concurrent use.
type Counter struct{ value atomic.Int64 }

// Add adds n, which must not be negative.
func (c *Counter) Add(n int64) { c.value.Add(n) }

func (c *Counter) Value() int64 { return c.value.Load() }

// Gauge is a value that goes up and down. Its zero value is ready for concurrent use.
type Gauge struct{ value atomic.Int64 }

func (g *Gauge) Add(n int64) { g.value.Add(n) }

func (g *Gauge) Set(n int64) { g.value.Store(n) }

func (g *Gauge) Value() int64 { return g.value.Load() }

// Counters is a set of counters with two labels of fixed values. Safe for concurrent use.
type Counters struct {
	first, second map[string]int // label value -> index
	values        []Counter
}

// NewCounters returns a counter for each pair of values.
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

// Add increments the counter of a pair. Unknown pairs are ignored.
func (c *Counters) Add(first, second string) {
	i, known := c.first[first]
	j, alsoKnown := c.second[second]
	if known && alsoKnown {
		c.values[i*len(c.second)+j].Add(1)
	}
}

// Each calls f for every counter above 0, in no particular order.
func (c *Counters) Each(f func(first, second string, count int64)) {
	for first, i := range c.first {
		for second, j := range c.second {
			if count := c.values[i*len(c.second)+j].Value(); count > 0 {
				f(first, second, count)
			}
		}
	}
}

// Histogram counts durations in buckets. It is safe for concurrent use.
type Histogram struct {
	bounds []time.Duration
	counts []atomic.Int64 // the last is beyond all bounds
	sum    atomic.Int64
}

// NewHistogram returns a histogram with ascending upper bounds.
func NewHistogram(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a duration; one below zero counts as zero.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	i, _ := slices.BinarySearch(h.bounds, d)
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Distribution is a snapshot of a Histogram.
type Distribution struct {
	Bounds []time.Duration
	Counts []int64 // per bucket; the last is beyond all bounds
	Sum    time.Duration
}

func (h *Histogram) Distribution() Distribution {
	d := Distribution{Bounds: h.bounds, Counts: make([]int64, len(h.counts)), Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		d.Counts[i] = h.counts[i].Load()
	}
	return d
}

// Stopwatch measures elapsed real time by the monotonic clock.
type Stopwatch struct{ begun time.Time }

func Begin() Stopwatch { return Stopwatch{time.Now()} }

func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.begun) }
