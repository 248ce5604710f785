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
	networkPlaces  = 2               // callers of a network that hash or wait for it, so that a flood does not fill the queue
	networkWaiting = 32              // callers of a network, with those that wait for one of its places
	maxWaiting     = 8192            // callers in all
	turnPatience   = 5 * time.Second // wait of a caller, in real time
)

// fairQueue limits concurrent hashing and shares it fairly among networks. It is safe for
// concurrent use.
type fairQueue struct {
	works    chan struct{} // semaphore of the hashing callers
	patience time.Duration

	mu       sync.Mutex
	all      int                 // callers
	networks map[string]*network // with callers, by name
}

type network struct {
	places chan struct{} // semaphore of the callers that hash or wait for works
	all    int           // callers
}

func newFairQueue() *fairQueue {
	return &fairQueue{works: make(chan struct{}, min(maxHashing, runtime.GOMAXPROCS(0))), patience: turnPatience, networks: map[string]*network{}}
}

// take waits until a caller of a network may hash. The error is CodeUnavailable if too many
// wait, or if it takes too long.
func (t *fairQueue) take(ctx context.Context, from string) (done func(), err error) {
	of := t.enter(from)
	if of == nil {
		return nil, errBusy()
	}
	waiting, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	if place(waiting, of.places) {
		if place(waiting, t.works) {
			return func() {
				<-t.works
				<-of.places
				t.leave(from, of)
			}, nil
		}
		<-of.places
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

// place acquires a semaphore, and reports whether it succeeded before ctx ended.
func place(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
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
		of = &network{places: make(chan struct{}, networkPlaces)}
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
