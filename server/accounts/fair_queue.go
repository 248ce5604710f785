package accounts

import (
	"context"
	"runtime"
	"sync"
	"time"

	"blueprintd/blueprint"
)

const (
	maxHashing     = 2               // concurrent hashes: each takes memory and a processor
	networkSlots   = 2               // callers of a network that hash or wait for it, so that a flood does not fill the queue
	networkWaiting = 32              // callers of a network, including those that wait for its slots
	maxWaiting     = 8192            // callers in all
	maxQueueWait   = 5 * time.Second // wait of a caller, in real time
)

// fairQueue limits concurrent hashing and shares it fairly among networks. It is safe for
// concurrent use.
type fairQueue struct {
	hashing chan struct{} // semaphore of the hashing callers
	maxWait time.Duration

	mu       sync.Mutex
	all      int                 // callers
	networks map[string]*network // with callers, by name
}

type network struct {
	slots chan struct{} // semaphore of the callers that hash or wait to hash
	all   int           // callers
}

func newFairQueue() *fairQueue {
	return &fairQueue{hashing: make(chan struct{}, min(maxHashing, runtime.GOMAXPROCS(0))), maxWait: maxQueueWait, networks: map[string]*network{}}
}

// take waits until a caller of a network may hash. The error is CodeUnavailable if too many
// wait, or if it takes too long.
func (t *fairQueue) take(ctx context.Context, from string) (done func(), err error) {
	of := t.enter(from)
	if of == nil {
		return nil, errBusy()
	}
	waiting, cancel := context.WithTimeout(ctx, t.maxWait)
	defer cancel()
	if acquireSlot(waiting, of.slots) {
		if acquireSlot(waiting, t.hashing) {
			return func() {
				<-t.hashing
				<-of.slots
				t.leave(from, of)
			}, nil
		}
		<-of.slots
	}
	t.leave(from, of)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, errBusy()
}

func errBusy() error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "too many sign-ins at once; try again", RetryAfter: time.Second}
}

// acquireSlot acquires a semaphore, and reports whether it succeeded before ctx ended.
func acquireSlot(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter adds a caller; nil if there are too many.
func (t *fairQueue) enter(from string) *network {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.networks[from]
	if t.all >= maxWaiting || of != nil && of.all >= networkWaiting {
		return nil
	}
	if of == nil {
		of = &network{slots: make(chan struct{}, networkSlots)}
		t.networks[from] = of
	}
	t.all++
	of.all++
	return of
}

func (t *fairQueue) leave(from string, of *network) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if of.all--; of.all == 0 {
		delete(t.networks, from)
	}
}
