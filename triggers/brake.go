package triggers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
)

// The address of a webhook is all that a sender needs to have deliveries
// refused, and each leaves a row. So a trigger has rowBurst such rows to spare
// and gets rowRate of them back in each countDelay; what comes beyond is
// counted, and one row tells the count once in each countDelay. That is at most
// 17,000 rows, or ten megabytes, in a day.
const (
	rowBurst   = 1000
	rowRate    = 10
	countDelay = time.Minute
)

// brake holds back rows of refused deliveries.
type brake struct {
	mu      sync.Mutex
	buckets map[string]*bucket // by trigger
	stopped bool
	pending sync.WaitGroup // planned counts
}

// bucket is what a trigger has to spare.
type bucket struct {
	rows  float64
	at    time.Time // when rows was right
	count int       // deliveries without a row
	last  string    // why the last of them was refused
	timer *clock.Timer
}

// mayRecord tells whether a refused delivery gets a row of its own. When it
// does not, it has been counted.
func (t *Service) mayRecord(triggerID, reason string) bool {
	now := t.Clock.Now()
	t.brake.mu.Lock()
	defer t.brake.mu.Unlock()
	b := t.brake.buckets[triggerID]
	if b == nil {
		b = &bucket{rows: rowBurst, at: now}
		t.brake.buckets[triggerID] = b
	}
	if passed := now.Sub(b.at); passed > 0 {
		b.rows = min(rowBurst, b.rows+rowRate*float64(passed)/float64(countDelay))
	}
	b.at = now
	if b.rows >= 1 {
		b.rows--
		return true
	}
	b.count++
	b.last = reason
	if b.timer == nil && !t.brake.stopped {
		t.brake.pending.Add(1)
		b.timer = t.Clock.At(now.Add(countDelay), func() {
			defer t.brake.pending.Done()
			t.recordCount(triggerID, b)
		})
	}
	return false
}

// recordCount stores the row for the deliveries that have none.
func (t *Service) recordCount(triggerID string, b *bucket) {
	t.brake.mu.Lock()
	count, last := b.count, b.last
	b.count, b.timer = 0, nil
	t.brake.mu.Unlock()
	if count > 0 {
		firing := t.newFiring(triggerID, blueprint.SourceWebhook)
		t.recordRefused(context.Background(), firing, fmt.Sprintf("%d more deliveries were refused and have no rows of their own; the last: %s", count, last))
	}
}

// stopBrake stores the counts that are still open, and returns when nothing
// goes on any more.
func (t *Service) stopBrake() {
	t.brake.mu.Lock()
	t.brake.stopped = true
	open := map[string]*bucket{}
	for id, b := range t.brake.buckets {
		if b.timer.Stop() {
			open[id] = b
		}
	}
	t.brake.mu.Unlock()
	for id, b := range open {
		t.recordCount(id, b)
		t.brake.pending.Done()
	}
	t.brake.pending.Wait()
}
