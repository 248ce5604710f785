package script

import (
	"context"
	"slices"
	"sync"
)

// maxPassed is how often scripts that came later, or are of others, may go
// before one that does not fit yet. Then they wait, too: large scripts shall not
// wait for ever where there are always small ones.
const maxPassed = 100

// fairQueue hands out the slots of a pool. No tenant has more than half of them, so
// that nobody stops the scripts of others, and those who wait are served in turn:
// tenant by tenant, whoever came first in each. It is safe for concurrent use.
type fairQueue struct {
	mu      sync.Mutex
	free    int64
	most    int64 // for one tenant
	tenants map[string]*tenant
	waiting []*tenant // those of whom a script waits, the next one first
}

// tenant is one that holds slots, or waits for some.
type tenant struct {
	held    int64
	waiting []*waiter // the one that came first is the first
}

// waiter is a script that needs slots.
type waiter struct {
	size   int64
	passed int           // how often others went before it because it did not fit
	ready  chan struct{} // closes when the slots are its own
}

func newFairQueue(slots int) *fairQueue {
	return &fairQueue{free: int64(slots), most: max(1, int64(slots)/2), tenants: map[string]*tenant{}}
}

// take waits until a script of a tenant has its slots, at most half of all, and
// gives what must be called when it ends. When ctx ends before, the error is the
// cause.
func (t *fairQueue) take(ctx context.Context, name string, size int64) (release func(), err error) {
	w := &waiter{size: min(size, t.most), ready: make(chan struct{})}
	t.mu.Lock()
	who := t.tenants[name]
	if who == nil {
		who = &tenant{}
		t.tenants[name] = who
	}
	if len(who.waiting) == 0 {
		t.waiting = append(t.waiting, who)
	}
	who.waiting = append(who.waiting, w)
	t.serve()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return func() { t.release(name, w) }, nil
	case <-ctx.Done():
		t.leave(name, w)
		return nil, context.Cause(ctx)
	}
}

// release gives slots back.
func (t *fairQueue) release(name string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := t.tenants[name]
	who.held -= w.size
	t.free += w.size
	t.serve()
	t.forget(name)
}

// leave is for a script that waits no longer. It may have got its slots just now.
func (t *fairQueue) leave(name string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := t.tenants[name]
	if i := slices.Index(who.waiting, w); i >= 0 {
		t.remove(who, i)
	} else {
		who.held -= w.size
		t.free += w.size
	}
	t.serve() // also where nothing came free: others may have waited for it to go first
	t.forget(name)
}

// forget drops a tenant that holds nothing and waits for nothing.
func (t *fairQueue) forget(name string) {
	if who := t.tenants[name]; who.held == 0 && len(who.waiting) == 0 {
		delete(t.tenants, name)
	}
}

// remove takes one of those who wait out of its line.
func (t *fairQueue) remove(who *tenant, i int) {
	if who.waiting = slices.Delete(who.waiting, i, i+1); len(who.waiting) == 0 {
		t.waiting = slices.DeleteFunc(t.waiting, func(other *tenant) bool { return other == who })
	}
}

// serve hands out what can be handed out. t.mu is held.
func (t *fairQueue) serve() {
	for t.serveOne() {
	}
}

// serveOne gives the next script its slots, and reports whether there was one.
func (t *fairQueue) serveOne() bool {
	if t.free == 0 {
		return false
	}
	var short []*waiter // for whom not enough is free
	for place, who := range t.waiting {
		for i, w := range who.waiting {
			if who.held+w.size > t.most { // its own kind is in its way, and only they wait for it
				if who.held == t.most || w.passed >= maxPassed {
					break
				}
				continue
			}
			if w.size > t.free {
				if w.passed >= maxPassed {
					return false
				}
				short = append(short, w)
				continue
			}
			for _, other := range who.waiting[:i] {
				if who.held+other.size > t.most {
					short = append(short, other)
				}
			}
			for _, other := range short {
				other.passed++
			}
			t.grant(place, i)
			return true
		}
	}
	return false
}

// grant gives a script its slots, and the next turn to the other tenants.
func (t *fairQueue) grant(place, i int) {
	who := t.waiting[place]
	w := who.waiting[i]
	who.held += w.size
	t.free -= w.size
	t.waiting = slices.Delete(t.waiting, place, place+1)
	if who.waiting = slices.Delete(who.waiting, i, i+1); len(who.waiting) > 0 {
		t.waiting = append(t.waiting, who)
	}
	close(w.ready)
}
