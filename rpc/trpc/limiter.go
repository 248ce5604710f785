package trpc

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// sweepFrom is the number of buckets from which idle ones are removed.
const sweepFrom = 1024

// A process may take ahead calls of a key, or those of aheadSpan at a high rate, before the
// other processes know. It reports them each shareInterval, or when a call would exceed that,
// which then waits for the answer.
const (
	ahead         = 4
	aheadSpan     = 80 * time.Millisecond
	shareInterval = 200 * time.Millisecond
	shareTimeout  = time.Second
)

// Limiter is a token bucket for each key. It is safe for concurrent use, and
// may be shared by several handlers.
type Limiter struct {
	clock     clock.Clock
	perSecond float64
	burst     float64
	// Shared is set before the first use if other processes serve the same keys. Then Run
	// has to run.
	Shared Shared

	mutex      sync.Mutex
	buckets    map[string]*bucket
	sweepAt    int                // number of buckets that starts the next sweep
	unreported map[string]*bucket // those to report to other processes
	sharing    bool               // a goroutine runs share
}

// Shared connects the limiters of several processes.
type Shared interface {
	// LiveNodes returns the number of processes.
	LiveNodes() int
	// ShareRate adds calls to the levels of all processes, and returns the levels. These
	// fall by perSecond.
	ShareRate(ctx context.Context, perSecond float64, calls map[string]float64) (levels map[string]float64, err error)
}

// bucket holds the calls of a key.
type bucket struct {
	level float64   // calls of the burst that are used up, as far as this process knows
	at    time.Time // when level was computed
	// unreported are the calls that the other processes do not know yet; reporting are the
	// calls in the report under way.
	unreported, reporting float64
	waiting               []*waitingCall
}

// waitingCall is a call that is admitted after it is reported.
type waitingCall struct {
	cost float64
	done chan error
}

// NewLimiter returns a limiter of perSecond calls a second for each key, with bursts of
// burst calls. If either is zero or less, it limits nothing.
func NewLimiter(clock clock.Clock, perSecond float64, burst int) *Limiter {
	return &Limiter{clock: clock, perSecond: perSecond, burst: float64(burst), buckets: map[string]*bucket{}, sweepAt: sweepFrom, unreported: map[string]*bucket{}}
}

// Take takes cost calls from the bucket of key, all or none. If the bucket has too few,
// the error is CodeTooManyRequests with RetryAfter.
//
// With other processes, calls beyond a few within shareInterval wait until these know of
// them, at most shareTimeout. If the database is unavailable, each process limits by itself.
func (l *Limiter) Take(key string, cost int) error {
	if l.perSecond <= 0 || l.burst <= 0 {
		return nil
	}
	l.mutex.Lock()
	now, alone, calls := l.clock.Now(), l.isAlone(), float64(cost)
	b := l.buckets[key]
	if b == nil {
		l.sweep(now, alone)
		b = &bucket{at: now}
		l.buckets[key] = b
	}
	b.drain(now, l.perSecond, alone)
	if b.level+calls > l.burst {
		defer l.mutex.Unlock()
		if l.Shared != nil { // the level may hold calls that another process has taken back
			l.unreported[key] = b
		}
		return l.refusal(b.level, calls)
	}
	b.level += calls
	if l.Shared == nil {
		l.mutex.Unlock()
		return nil
	}
	b.unreported += calls
	l.unreported[key] = b
	if alone || b.reporting+b.unreported <= max(ahead, l.perSecond*aheadSpan.Seconds()) {
		l.mutex.Unlock()
		return nil
	}
	w := &waitingCall{calls, make(chan error, 1)}
	b.waiting = append(b.waiting, w)
	if !l.sharing {
		l.sharing = true
		go l.shareWaiting()
	}
	l.mutex.Unlock()
	return <-w.done
}

// isAlone reports whether there is no other process.
func (l *Limiter) isAlone() bool { return l.Shared == nil || l.Shared.LiveNodes() <= 1 }

// refusal returns the error for calls that do not fit.
func (l *Limiter) refusal(level, calls float64) error {
	missing := level + min(calls, l.burst) - l.burst
	wait := time.Duration(math.Ceil(missing/l.perSecond*1000)) * time.Millisecond
	message := fmt.Sprintf("rate limit exceeded; try again in %d s", retrySeconds(wait))
	if calls > l.burst {
		message = "rate limit exceeded: the batch is larger than the burst that is allowed; send smaller ones"
	}
	return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: message, RetryAfter: max(wait, time.Millisecond)}
}

// drain lowers the level to a time. A process that is alone does not report calls that are no
// longer in the level.
func (b *bucket) drain(now time.Time, perSecond float64, alone bool) {
	if passed := now.Sub(b.at); passed > 0 {
		b.level = max(0, b.level-perSecond*passed.Seconds())
	}
	b.at = now
	if alone {
		b.unreported = min(b.unreported, b.level)
	}
}

// sweep removes the buckets that have filled up again, which equal new ones. The
// threshold of the next sweep doubles what is left.
func (l *Limiter) sweep(now time.Time, alone bool) {
	if len(l.buckets) < l.sweepAt {
		return
	}
	for key, b := range l.buckets {
		if b.drain(now, l.perSecond, alone); b.level == 0 && b.unreported == 0 && b.reporting == 0 && len(b.waiting) == 0 {
			delete(l.buckets, key)
		}
	}
	l.sweepAt = max(sweepFrom, 2*len(l.buckets))
}

// Run reports admitted calls to the other processes until ctx ends.
func (l *Limiter) Run(ctx context.Context) {
	if l.Shared == nil || l.perSecond <= 0 || l.burst <= 0 {
		return
	}
	ticker := time.NewTicker(shareInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.tick()
		case <-ctx.Done():
			return
		}
	}
}

func (l *Limiter) tick() {
	l.mutex.Lock()
	busy := l.sharing
	if !busy && l.isAlone() {
		for key, b := range l.unreported {
			if b.drain(l.clock.Now(), l.perSecond, true); b.unreported == 0 {
				delete(l.unreported, key)
			}
		}
		busy = true
	}
	l.sharing = l.sharing || !busy
	l.mutex.Unlock()
	if !busy {
		l.shareWaiting()
	}
}

// shareWaiting calls share while calls wait for it. l.sharing is set and belongs to it.
func (l *Limiter) shareWaiting() {
	for more := true; more; {
		more = l.share()
	}
}

// share reports all calls to the other processes, reads their calls, and answers those that
// wait. It returns false and resets l.sharing if it need not be called again at once.
func (l *Limiter) share() (more bool) {
	l.mutex.Lock()
	reported, calls, waiting := l.unreported, map[string]float64{}, map[string][]*waitingCall{}
	for key, b := range reported {
		calls[key], waiting[key] = b.unreported, b.waiting
		b.reporting, b.unreported, b.waiting = b.unreported, 0, nil
	}
	l.unreported = map[string]*bucket{}
	l.mutex.Unlock()
	var levels map[string]float64
	var err error
	if len(calls) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), shareTimeout)
		levels, err = l.Shared.ShareRate(ctx, l.perSecond, calls)
		cancel()
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := l.clock.Now()
	for key, b := range reported {
		b.drain(now, l.perSecond, false)
		if b.reporting = 0; err != nil { // report it the next time
			b.unreported += calls[key]
			l.unreported[key] = b
		}
		l.answer(b, waiting[key], levels[key])
		if b.unreported != 0 {
			l.unreported[key] = b
		}
		if err == nil {
			b.level = max(0, levels[key]+b.unreported)
		}
	}
	for _, b := range l.unreported {
		// What was taken back must not count against calls to other processes.
		more = more || len(b.waiting) > 0 || err == nil && b.unreported < 0
	}
	l.sharing = more
	return more
}

// answer answers calls that are in the level of all processes. What these took at once may
// exceed the burst together: then the last calls are refused, and taken back.
func (l *Limiter) answer(b *bucket, waiting []*waitingCall, level float64) {
	for i := len(waiting) - 1; i >= 0; i-- {
		w := waiting[i]
		if level <= l.burst {
			w.done <- nil
			continue
		}
		level -= w.cost
		b.unreported -= w.cost
		w.done <- l.refusal(level, w.cost)
	}
}
