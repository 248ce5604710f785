package triggers

import (
	"context"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// Any sender that knows an address can send deliveries that are refused or repeated, and
// each leaves a row. A trigger may therefore use rowBurst rows, plus rowRate in each
// countDelay. Further deliveries are counted, and one row per countDelay records the count.
// That is at most 17,000 rows or 10 MB per day. The bodies stored with these rows are
// limited to byteBurst bytes, plus byteRate in each countDelay, which is 160 MB per day. Of
// several processes on one database, each counts what it uses as if all used as much.
const (
	rowBurst   = 1000
	rowRate    = 10
	byteBurst  = 16 << 20
	byteRate   = 100 << 10
	countDelay = time.Minute
)

// throttle limits the rows of deliveries that start nothing.
type throttle struct {
	mu      sync.Mutex
	buckets map[string]*bucket // by trigger
	sweepAt int                // number of buckets at which full ones are dropped
	stopped bool
	pending sync.WaitGroup // scheduled calls of recordCount
}

// bucket is the remaining allowance of a trigger.
type bucket struct {
	rows  float64
	bytes float64
	at    time.Time        // of the last refill
	count int              // deliveries without a row
	last  blueprint.Reason // of the last of them
	from  blueprint.Source
	timer *clock.Timer
}

// mayRecord reports whether a delivery that starts nothing gets its own row. If not,
// the delivery is counted. It drops a body that exceeds the allowance.
func (t *Service) mayRecord(firing *blueprint.Firing, why blueprint.Reason) bool {
	now, triggerID, d, nodes := t.Clock.Now(), firing.TriggerID, firing.Delivery, float64(t.Nodes())
	t.throttle.mu.Lock()
	defer t.throttle.mu.Unlock()
	b := t.throttle.buckets[triggerID]
	if b == nil {
		t.throttle.sweep(now)
		b = &bucket{rows: rowBurst, bytes: byteBurst, at: now}
		t.throttle.buckets[triggerID] = b
	}
	b.refill(now)
	if b.rows >= nodes {
		b.rows -= nodes
		if d != nil && len(d.Body) > 0 {
			if left := b.bytes - nodes*float64(len(d.Body)); left >= 0 {
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

func (b *bucket) refill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		intervals := float64(passed) / float64(countDelay)
		b.rows = min(rowBurst, b.rows+rowRate*intervals)
		b.bytes = min(byteBurst, b.bytes+byteRate*intervals)
	}
	b.at = now
}

// minSweep is the minimum number of buckets for a sweep.
const minSweep = 1000

// sweep drops full buckets, which equal new ones, whenever the number of buckets has
// doubled. s.mu is held.
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

// stopThrottle stores the pending counts and waits for those being stored.
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

// A mail that starts a run is stored twice, as received and as the run's input. Each
// trigger may therefore use mailBurst bytes, plus mailRate in each mailInterval, which is
// 8.5 GB per day, divided among the processes like the rows. The last mail may exceed the
// allowance.
const (
	mailBurst    = 64 << 20
	mailRate     = 1 << 20
	mailInterval = 10 * time.Second
)

// mailBudget limits the bytes of accepted mail. Its zero value is ready for use.
type mailBudget struct {
	mu    sync.Mutex
	used  map[string]mailUsage // by trigger; without entries that have decayed to 0
	swept time.Time
}

type mailUsage struct {
	bytes float64
	at    time.Time
}

// take counts a mail for its trigger and reports if it is allowed, in one of nodes
// processes. Undo reverts that.
func (b *mailBudget) take(a *activation, now time.Time, nodes int) (undo func(), ok bool) {
	input, _ := blueprint.Encode(a.input) // an error is reported when the run starts
	id, size := a.firing.TriggerID, float64(nodes*(len(a.firing.Delivery.Body)+len(input)))
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.swept); passed < 0 || passed >= mailInterval {
		b.swept = now
		for other := range b.used {
			b.add(other, 0, now)
		}
	}
	if b.at(id, now) >= mailBurst {
		return nil, false
	}
	b.add(id, size, now)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.add(id, -size, b.used[id].at)
	}, true
}

// at returns the bytes in use at a time. b.mu is held.
func (b *mailBudget) at(id string, now time.Time) float64 {
	used := b.used[id]
	if passed := now.Sub(used.at); used.bytes > 0 && passed > 0 {
		return max(0, used.bytes-mailRate*float64(passed)/float64(mailInterval))
	}
	return used.bytes
}

// add adds to the bytes in use at a time. b.mu is held.
func (b *mailBudget) add(id string, bytes float64, now time.Time) {
	if b.used == nil {
		b.used = map[string]mailUsage{}
	}
	b.used[id] = mailUsage{b.at(id, now) + bytes, now}
	if b.used[id].bytes <= 0 {
		delete(b.used, id)
	}
}
