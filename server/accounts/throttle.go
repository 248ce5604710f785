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

// An account that failed mostFailures times within failureSpan waits until the
// first of these is that long ago, and so does an address, which may fail
// addressFailures times: it cannot make many accounts wait. A device where an
// account has signed in before has counts of its own.
const (
	failureSpan     = 5 * time.Minute
	mostFailures    = 10
	addressFailures = 50
	// mostThrottled bounds how many accounts, and how many addresses, are known.
	mostThrottled = 10_000
)

// throttle holds back those who guess passwords. It is safe for concurrent use.
type throttle struct {
	clock clock.Clock

	mu        sync.Mutex
	accounts  failures
	addresses failures
}

func newThrottle(c clock.Clock) *throttle {
	return &throttle{clock: c, accounts: failures{limit: mostFailures, of: map[key][]time.Time{}}, addresses: failures{limit: addressFailures, of: map[key][]time.Time{}}}
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

// key is the hash of who failed: as short as any other, however long the name.
type key [sha256.Size]byte

func keyOf(text string) key { return sha256.Sum256([]byte(text)) }

// failures are the times of failed attempts, the oldest first.
type failures struct {
	limit int
	of    map[key][]time.Time
}

// wait returns the time to wait. It removes expired failures.
func (f *failures) wait(who key, now time.Time) time.Duration {
	list := slices.DeleteFunc(f.of[who], func(at time.Time) bool { return !now.Before(at.Add(failureSpan)) })
	if len(list) == 0 {
		delete(f.of, who)
		return 0
	}
	f.of[who] = list
	if len(list) < f.limit {
		return 0
	}
	return list[len(list)-f.limit].Add(failureSpan).Sub(now)
}

func (f *failures) add(who key, at time.Time) {
	if _, known := f.of[who]; !known && len(f.of) >= mostThrottled {
		f.makeRoom(at)
	}
	f.of[who] = append(f.of[who], at)
}

func (f *failures) remove(who key, at time.Time) {
	list := f.of[who]
	if i := slices.Index(list, at); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if f.of[who] = list; len(list) == 0 {
		delete(f.of, who)
	}
}

// makeRoom forgets who failed too long ago to matter, or else a tenth of those
// who need not wait. To make so many wait that none of them can be forgotten
// takes more hashes than can be made in that time.
func (f *failures) makeRoom(now time.Time) {
	for who := range f.of {
		f.wait(who, now)
	}
	excess := len(f.of) - mostThrottled + mostThrottled/10
	for _, waits := range []bool{false, true} {
		for who, list := range f.of {
			if excess <= 0 || len(f.of) < mostThrottled && waits {
				return
			}
			if waits || len(list) < f.limit {
				delete(f.of, who)
				excess--
			}
		}
	}
}
