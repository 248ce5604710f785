package form

import (
	"cmp"
	"maps"
	"sync"
	"time"
)

// Interval is the time in which a Limiter allows one more form after the first ten.
const Interval = time.Minute

const (
	burst      = 10
	maxSenders = 10_000
)

// Limiter limits how often a network sends a form. Its zero value is ready to use, and it is
// safe for concurrent use.
type Limiter struct {
	// Burst is how many forms are allowed at once, and Every the time in which one more is;
	// by default ten, and Interval.
	Burst float64
	Every time.Duration

	mu   sync.Mutex
	used map[string]use // by key
}

type use struct {
	count float64
	at    time.Time
}

func (l *Limiter) left(u use, now time.Time) float64 {
	return max(0, u.count-float64(now.Sub(u.at))/float64(cmp.Or(l.Every, Interval)))
}

// Take reports whether the sender with a key, such as its network, may send a form now.
func (l *Limiter) Take(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = map[string]use{}
	}
	if len(l.used) >= maxSenders {
		maps.DeleteFunc(l.used, func(_ string, u use) bool { return l.left(u, now) == 0 })
		if len(l.used) >= maxSenders {
			clear(l.used)
		}
	}
	count := l.left(l.used[key], now)
	if count > cmp.Or(l.Burst, burst)-1 {
		return false
	}
	l.used[key] = use{count + 1, now}
	return true
}
