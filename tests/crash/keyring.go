package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// whisper is the prefix of every trigger secret. The managers of a trigger can read
// it; it never appears in a log or a ledger row.
const whisper = "whisper-"

// keyring has the secrets of one trigger, which are replaced again and again. A
// sender may use the one before for as long as that is sure to be good.
type keyring struct {
	name string

	using  sync.RWMutex // held by senders that use the one before, and while it is replaced
	mu     sync.Mutex
	number int  // of the latest secret that was acknowledged
	before int  // of the one that is good besides; 0 = that is not known
	unsure bool // a change was sent, and no answer came
}

func newKeyring(name string) *keyring { return &keyring{name: name, number: 1} }

// secret returns the nth secret.
func (k *keyring) secret(n int) string { return fmt.Sprintf("%s%s-%d-0b83e1", whisper, k.name, n) }

// take returns the number of a secret that is good until it is given back, and
// says whether it is the one before.
func (k *keyring) take(random *rand.Rand) (number int, old bool, giveBack func()) {
	k.using.RLock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before == 0 || k.unsure || random.IntN(2) == 0 {
		k.using.RUnlock() // the latest is good after a change too
		return k.number, false, func() {}
	}
	return k.before, true, k.using.RUnlock
}

// isGone reports whether a secret may be good no longer.
func (k *keyring) isGone(number int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	latest := k.number
	if k.unsure {
		latest++
	}
	return number < latest-1
}

// rotate replaces the secret of a trigger. When it is not known whether that was
// done the last time, the same is asked for again: who has done it refuses.
func (k *keyring) rotate(ctx context.Context, c *client, trigger string) {
	k.using.Lock()
	defer k.using.Unlock()
	k.mu.Lock()
	next, again := k.number+1, k.unsure
	k.unsure = true
	k.mu.Unlock()
	a := c.api.Mutate(ctx, "blueprintTriggers.rotateSecret", object{"triggerId": trigger, "secret": k.secret(next), "keepPreviousFor": "1h"})
	if a.Err == process.ErrDown {
		k.mu.Lock()
		k.unsure = again // nothing was sent
		k.mu.Unlock()
		return
	}
	done := again && a.Status == 400 && strings.Contains(string(a.Body), "must differ from the current one")
	if !done && !c.succeeded(a, "rotateSecret") {
		return
	}
	k.mu.Lock()
	k.before, k.number, k.unsure = next-1, next, false
	k.mu.Unlock()
	c.book.count(func(n *counts) { n.Rotations++ })
}

// turn rotates the secrets of some sources until loaded ends.
func turn(ctx, loaded context.Context, c *client, all []*source) {
	for process.Pause(loaded, time.Duration(200+c.random.IntN(600))*time.Millisecond) {
		if s := all[c.random.IntN(len(all))]; s.ring != nil {
			s.ring.rotate(ctx, c, s.trigger)
		}
	}
}
