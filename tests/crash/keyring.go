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

// triggerSecretPrefix is the prefix of every trigger secret. The managers of a trigger can read
// it; it never appears in a log or a ledger row.
const triggerSecretPrefix = "trigger-secret-"

// keyring holds the secrets of one trigger, which are rotated repeatedly. A sender may use
// the previous one while it is certainly valid.
type keyring struct {
	name string

	using           sync.RWMutex // held by senders that use the previous one, and during a rotation
	mu              sync.Mutex
	number          int  // of the latest acknowledged secret
	previous        int  // of the previous valid one; 0 = unknown
	pendingRotation bool // a rotation was sent without a response
}

func newKeyring(name string) *keyring { return &keyring{name: name, number: 1} }

// secret returns the nth secret.
func (k *keyring) secret(n int) string {
	return fmt.Sprintf("%s%s-%d-0b83e1", triggerSecretPrefix, k.name, n)
}

// acquire returns the number of a secret that stays valid until it is released, and reports
// whether it is the previous one.
func (k *keyring) acquire(random *rand.Rand) (number int, old bool, release func()) {
	k.using.RLock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.previous == 0 || k.pendingRotation || random.IntN(2) == 0 {
		k.using.RUnlock() // the latest stays valid after a rotation
		return k.number, false, func() {}
	}
	return k.previous, true, k.using.RUnlock
}

// isExpired reports whether a secret may no longer be valid.
func (k *keyring) isExpired(number int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	latest := k.number
	if k.pendingRotation {
		latest++
	}
	return number < latest-1
}

// rotate replaces the secret of a trigger. If it is unknown whether the last rotation was
// made, it repeats it: the server refuses one that was made.
func (k *keyring) rotate(ctx context.Context, c *client, trigger string) {
	k.using.Lock()
	defer k.using.Unlock()
	k.mu.Lock()
	next, again := k.number+1, k.pendingRotation
	k.pendingRotation = true
	k.mu.Unlock()
	a := c.api.Mutate(ctx, "blueprintTriggers.rotateSecret", object{"triggerId": trigger, "secret": k.secret(next), "keepPreviousFor": "1h"})
	if a.Err == process.ErrDown {
		k.mu.Lock()
		k.pendingRotation = again // nothing was sent
		k.mu.Unlock()
		return
	}
	done := again && a.Status == 400 && strings.Contains(string(a.Body), "must differ from the current one")
	if !done && !c.succeeded(a, "rotateSecret") {
		return
	}
	k.mu.Lock()
	k.previous, k.number, k.pendingRotation = next-1, next, false
	k.mu.Unlock()
	c.history.count(func(n *counts) { n.Rotations++ })
}

// rotateSecrets rotates the secrets of some sources until loaded ends.
func rotateSecrets(ctx, loaded context.Context, c *client, all []*source) {
	for process.Pause(loaded, time.Duration(200+c.random.IntN(600))*time.Millisecond) {
		if s := all[c.random.IntN(len(all))]; s.ring != nil {
			s.ring.rotate(ctx, c, s.trigger)
		}
	}
}
