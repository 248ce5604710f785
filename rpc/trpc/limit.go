package trpc

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// sweepFrom is the number of buckets from which idle ones are removed.
const sweepFrom = 1024

// Limiter is a token bucket for each key. It is safe for concurrent use, and
// may be shared by several handlers.
type Limiter struct {
	clock     clock.Clock
	perSecond rate.Limit
	burst     int

	mutex   sync.Mutex
	buckets map[string]*rate.Limiter
	sweepAt int // number of buckets that starts the next sweep
}

// NewLimiter returns a limiter of perSecond calls a second for each key, with bursts of
// burst calls. If either is zero or less, it limits nothing.
func NewLimiter(clock clock.Clock, perSecond float64, burst int) *Limiter {
	return &Limiter{
		clock: clock, perSecond: rate.Limit(perSecond), burst: burst,
		buckets: map[string]*rate.Limiter{}, sweepAt: sweepFrom,
	}
}

// Take takes cost calls from the bucket of key, all or none. If the bucket has too few,
// the error is CodeTooManyRequests with RetryAfter.
func (l *Limiter) Take(key string, cost int) error {
	if l.perSecond <= 0 || l.burst <= 0 {
		return nil
	}
	now := l.clock.Now()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	bucket := l.buckets[key]
	if bucket == nil {
		l.sweep(now)
		bucket = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets[key] = bucket
	}
	if bucket.AllowN(now, cost) {
		return nil
	}
	missing := float64(min(cost, l.burst)) - bucket.TokensAt(now)
	wait := time.Duration(math.Ceil(missing/float64(l.perSecond)*1000)) * time.Millisecond
	message := fmt.Sprintf("rate limit exceeded; try again in %d s", retrySeconds(wait))
	if cost > l.burst {
		message = "rate limit exceeded: the batch is larger than the burst that is allowed; send smaller ones"
	}
	return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: message, RetryAfter: max(wait, time.Millisecond)}
}

// sweep removes the buckets that have filled up again, which equal new ones. The
// threshold of the next sweep doubles what is left.
func (l *Limiter) sweep(now time.Time) {
	if len(l.buckets) < l.sweepAt {
		return
	}
	for key, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, key)
		}
	}
	l.sweepAt = max(sweepFrom, 2*len(l.buckets))
}

// takeOpen takes calls of public procedures from the limit of the request's device if it
// is known, else of its address, so that others at the address cannot use up the calls of
// a known device.
func (h *Handler) takeOpen(r *request, cost int) error {
	if cost == 0 || h.options.PublicLimiter == nil {
		return nil
	}
	if h.options.Device != nil {
		if device := h.options.Device(r.Request); device != "" {
			return h.options.PublicLimiter.Take("device "+device, cost)
		}
	}
	return h.options.PublicLimiter.Take("address "+r.from.address, cost)
}
