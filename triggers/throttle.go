package triggers

import (
	"context"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// The address of a webhook or a mailbox is all that a sender needs to have
// deliveries refused, and to send again what came before, and each leaves a row. So a trigger has rowBurst such rows to spare
// and gets rowRate of them back in each countDelay; what comes beyond is
// counted, and one row tells the count once in each countDelay. That is at most
// 17,000 rows, or ten megabytes, in a day. The bodies of refused deliveries are
// kept with their rows as long as they are at most byteBurst bytes together,
// and byteRate more in each countDelay: 160 MB in a day.
const (
	rowBurst   = 1000
	rowRate    = 10
	byteBurst  = 16 << 20
	byteRate   = 100 << 10
	countDelay = time.Minute
)

// throttle holds back rows of deliveries that start nothing.
type throttle struct {
	mu      sync.Mutex
	buckets map[string]*bucket // by trigger
	sweepAt int                // so many buckets: those that are full again are dropped
	stopped bool
	pending sync.WaitGroup // planned counts
}

// bucket is what a trigger has to spare.
type bucket struct {
	rows  float64
	bytes float64
	at    time.Time        // when these were right
	count int              // deliveries without a row
	last  blueprint.Reason // of the last of them
	from  blueprint.Source
	timer *clock.Timer
}

// mayRecord reports whether a delivery that starts nothing gets a row of its own. When it
// does not, it has been counted. A body for which there is no room is dropped.
func (t *Service) mayRecord(firing *blueprint.Firing, why blueprint.Reason) bool {
	now, triggerID, d := t.Clock.Now(), firing.TriggerID, firing.Delivery
	t.throttle.mu.Lock()
	defer t.throttle.mu.Unlock()
	b := t.throttle.buckets[triggerID]
	if b == nil {
		t.throttle.sweep(now)
		b = &bucket{rows: rowBurst, bytes: byteBurst, at: now}
		t.throttle.buckets[triggerID] = b
	}
	b.refill(now)
	if b.rows >= 1 {
		b.rows--
		if d != nil && len(d.Body) > 0 {
			if left := b.bytes - float64(len(d.Body)); left >= 0 {
				b.bytes = left
			} else {
				d.Body = nil
			}
		}
		return true
	}
	b.count++
	b.last, b.from = why, firing.Source
	if b.timer == nil && !t.throttle.stopped {
		t.throttle.pending.Add(1)
		b.timer = t.Clock.Upkeep(now.Add(countDelay), func() {
			defer t.throttle.pending.Done()
			t.recordCount(triggerID, b)
		})
	}
	return false
}

// refill gives back what a trigger has to spare by now.
func (b *bucket) refill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		spans := float64(passed) / float64(countDelay)
		b.rows = min(rowBurst, b.rows+rowRate*spans)
		b.bytes = min(byteBurst, b.bytes+byteRate*spans)
	}
	b.at = now
}

// minSweep is how many buckets there are at least before some are dropped.
const minSweep = 1000

// sweep drops the buckets that are full again, as a new one is, once their number
// has doubled. The throttle's mu is held.
func (s *throttle) sweep(now time.Time) {
	if len(s.buckets) < max(minSweep, s.sweepAt) {
		return
	}
	for id, b := range s.buckets {
		if b.refill(now); b.timer == nil && b.rows >= rowBurst && b.bytes >= byteBurst {
			delete(s.buckets, id)
		}
	}
	s.sweepAt = 2 * len(s.buckets)
}

// recordCount stores the row for the deliveries that have none.
func (t *Service) recordCount(triggerID string, b *bucket) {
	t.throttle.mu.Lock()
	count, last, from := b.count, b.last, b.from
	b.count, b.timer = 0, nil
	t.throttle.mu.Unlock()
	if count > 0 {
		firing := t.newFiring(triggerID, from)
		t.recordRefused(context.Background(), firing, blueprint.NewReason(blueprint.ReasonMany, "count", count).WithInner(last))
	}
}

// stopThrottle stores the counts that are still open, and returns when nothing
// goes on any more.
func (t *Service) stopThrottle() {
	t.throttle.mu.Lock()
	t.throttle.stopped = true
	open := map[string]*bucket{}
	for id, b := range t.throttle.buckets {
		if b.timer.Stop() {
			open[id] = b
		}
	}
	t.throttle.mu.Unlock()
	for id, b := range open {
		t.recordCount(id, b)
		t.throttle.pending.Done()
	}
	t.throttle.pending.Wait()
}
