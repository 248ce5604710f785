package accounts

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// An account with maxFailures failed attempts within failureSpan is throttled until the first
// of them is older than that. So is an address with addressFailures, so that one address
// cannot throttle many accounts. A device on which an account has signed in before is counted
// separately.
const (
	failureSpan     = 5 * time.Minute
	maxFailures     = 10
	addressFailures = 50
	// maxThrottled limits the number of counted accounts, and of addresses.
	maxThrottled = 10_000
)

// throttle limits failed password attempts. It is safe for concurrent use.
type throttle struct {
	clock clock.Clock

	mu        sync.Mutex
	accounts  failures
	addresses failures
}

func newThrottle(c clock.Clock) *throttle {
	return &throttle{clock: c, accounts: failures{limit: maxFailures, of: map[key][]time.Time{}}, addresses: failures{limit: addressFailures, of: map[key][]time.Time{}}}
}

// begin counts an attempt as failed, so that concurrent attempts count like consecutive
// ones; forget undoes that. An address of "" is that of a known device: it is neither
// counted nor throttled. If the account or the address is throttled, the error is
// CodeTooManyRequests and the attempt is not counted.
func (b *throttle) begin(account, address string) (forget func(), err error) {
	by, from := keyOf(account), keyOf(address)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	wait := b.accounts.wait(by, now)
	if address != "" {
		wait = max(wait, b.addresses.wait(from, now))
	}
	if wait > 0 {
		return nil, &blueprint.Error{
			Code: blueprint.CodeTooManyRequests, RetryAfter: wait,
			Message: fmt.Sprintf("too many failed attempts; try again in %d s", int64((wait+time.Second-1)/time.Second)),
		}
	}
	b.accounts.add(by, now)
	if address != "" {
		b.addresses.add(from, now)
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.accounts.remove(by, now)
		if address != "" {
			b.addresses.remove(from, now)
		}
	}), nil
}

// key is the hash of an account or address, of the same size for every name.
type key [sha256.Size]byte

func keyOf(text string) key { return sha256.Sum256([]byte(text)) }

// failures are the times of failed attempts, the oldest first.
type failures struct {
	limit int
	of    map[key][]time.Time
}

// wait returns the time to wait. It removes expired failures.
func (f *failures) wait(k key, now time.Time) time.Duration {
	list := slices.DeleteFunc(f.of[k], func(at time.Time) bool { return !now.Before(at.Add(failureSpan)) })
	if len(list) == 0 {
		delete(f.of, k)
		return 0
	}
	f.of[k] = list
	if len(list) < f.limit {
		return 0
	}
	return list[len(list)-f.limit].Add(failureSpan).Sub(now)
}

func (f *failures) add(k key, at time.Time) {
	if _, known := f.of[k]; !known && len(f.of) >= maxThrottled {
		f.evict(at)
	}
	f.of[k] = append(f.of[k], at)
}

func (f *failures) remove(k key, at time.Time) {
	list := f.of[k]
	if i := slices.Index(list, at); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if f.of[k] = list; len(list) == 0 {
		delete(f.of, k)
	}
}

// evict removes expired entries, or else a tenth of the entries that are not throttled. An
// attacker cannot fill the table with throttled entries: that takes more hashes than can be
// computed within failureSpan.
func (f *failures) evict(now time.Time) {
	for k := range f.of {
		f.wait(k, now)
	}
	excess := len(f.of) - maxThrottled + maxThrottled/10
	for _, waits := range []bool{false, true} {
		for k, list := range f.of {
			if excess <= 0 || len(f.of) < maxThrottled && waits {
				return
			}
			if waits || len(list) < f.limit {
				delete(f.of, k)
				excess--
			}
		}
	}
}
