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

// sweepFrom is how many buckets may stand before idle ones are looked for.
const sweepFrom = 1024

// Limiter is a token bucket for each key. It is safe for concurrent use, and
// may be shared by several handlers.
type Limiter struct {
	clock     clock.Clock
	perSecond rate.Limit
	burst     int

	mutex   sync.Mutex
	buckets map[string]*rate.Limiter
	sweepAt int // how many buckets start the next sweep
}

// NewLimiter makes a limiter that lets each key make perSecond calls a
// second, and burst at once after a rest. When either is zero or less, nothing
// is limited.
func NewLimiter(clock clock.Clock, perSecond float64, burst int) *Limiter {
	return &Limiter{
		clock: clock, perSecond: rate.Limit(perSecond), burst: burst,
		buckets: map[string]*rate.Limiter{}, sweepAt: sweepFrom,
	}
}

// Take takes cost calls from a key's bucket, all or none. An empty bucket is a
// CodeTooManyRequests error whose RetryAfter tells when there will be enough.
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

// sweep forgets the buckets that have filled up again: a new one is the same.
// The next sweep waits until as many again have come.
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

// takeOpen takes calls of public procedures from the limit of the address that
// a request comes from, or of its device if that is known: others at the address
// then cannot use up its calls.
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
