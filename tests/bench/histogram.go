package main

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets that are at most 1/128 wide for their
// value: it has a fixed size, and noting one allocates nothing.
type histogram struct {
	counts [57 * bucketsPerPower]int64
	total  int64
}

const (
	powerOfBuckets  = 7
	bucketsPerPower = 1 << powerOfBuckets
)

// bucket gives the bucket of a value: those below bucketsPerPower have their
// own, and each power of two after that shares as many.
func bucket(value uint64) int {
	shift := max(bits.Len64(value)-powerOfBuckets-1, 0)
	return shift<<powerOfBuckets + int(value>>shift)
}

// middle gives the value in the middle of a bucket.
func middle(bucket int) float64 {
	shift := max(bucket>>powerOfBuckets-1, 0)
	low := uint64(bucket-shift<<powerOfBuckets) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

func (h *histogram) note(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0)))]++
	h.total++
}

// quantile gives the duration that the part q of all does not exceed; 0 when
// nothing was noted.
func (h *histogram) quantile(q float64) time.Duration {
	wanted := int64(q*float64(h.total-1)) + 1
	var seen int64
	for i, count := range h.counts {
		if seen += count; count > 0 && seen >= wanted {
			return time.Duration(middle(i))
		}
	}
	return 0
}

func (h *histogram) add(other *histogram) {
	for i, count := range other.counts {
		h.counts[i] += count
	}
	h.total += other.total
}
