package accounts

import (
	"context"
	"runtime"
	"sync"
	"time"

	"blueprintd/blueprint"
)

const (
	// mostHashing is how many hashes are made at once, for each takes its memory
	// and a processor.
	mostHashing = 2
	// networkPlaces is how many from one network may have a turn or stand in the
	// line for one: whoever floods the line has no more of it than others.
	networkPlaces = 2
	// networkWaiting bounds how many of one network there are, those who wait for
	// one of its places included, and mostWaiting how many there are of all. With
	// so many, nobody who comes last would have a turn in time.
	networkWaiting = 32
	mostWaiting    = 8192
	// turnPatience is how long anybody waits for a turn, in real time.
	turnPatience = 5 * time.Second
)

// fairQueue lets in those who want a hash made, a few at a time, and each network
// as often as any other. It is safe for concurrent use.
type fairQueue struct {
	works    chan struct{} // has room for each that has a turn
	patience time.Duration

	mu       sync.Mutex
	all      int                 // how many wait or have a turn
	networks map[string]*network // of these, by name
}

// network is those who come from one.
type network struct {
	places chan struct{} // has room for each that has a turn or stands in the line
	all    int           // how many wait or have a turn
}

func newFairQueue() *fairQueue {
	return &fairQueue{works: make(chan struct{}, min(mostHashing, runtime.GOMAXPROCS(0))), patience: turnPatience, networks: map[string]*network{}}
}

// take waits for a turn of somebody from a network. CodeUnavailable when too
// many wait, or when it takes too long.
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
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "too many people are signing in at this moment; try again", RetryAfter: time.Second}
}

// place takes one of the places, and tells whether there was one in time.
func place(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter counts somebody in; nil when there are too many.
func (t *fairQueue) enter(from string) *network {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.networks[from]
	if t.all >= mostWaiting || of != nil && of.all >= networkWaiting {
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
