package script

import (
	"context"
	"slices"
	"sync"
)

// maxOvertaken is how many later scripts may start before one that does not fit yet.
// Then they wait too, so that large scripts do not starve.
const maxOvertaken = 100

// fairQueue hands out the slots of a pool. No tenant gets more than half of them, and
// waiting tenants are served round-robin, each in order. It is safe for concurrent use.
type fairQueue struct {
	mu          sync.Mutex
	free        int64
	tenantLimit int64
	tenants     map[string]*tenant
	waiting     []*tenant // with waiting scripts, next first
}

// tenant holds slots or waits for some.
type tenant struct {
	held    int64
	waiting []*waiter // oldest first
}

type waiter struct {
	size      int64
	overtaken int           // by scripts that fit
	ready     chan struct{} // closed when it has its slots
}

func newFairQueue(slots int) *fairQueue {
	return &fairQueue{free: int64(slots), tenantLimit: max(1, int64(slots)/2), tenants: map[string]*tenant{}}
}

// acquire waits until a script of a tenant has its slots, at most half of all, and
// returns the function that releases them. When ctx ends before, the error is the
// cause.
func (t *fairQueue) acquire(ctx context.Context, name string, size int64) (release func(), err error) {
	w := &waiter{size: min(size, t.tenantLimit), ready: make(chan struct{})}
	t.mu.Lock()
	owner := t.tenants[name]
	if owner == nil {
		owner = &tenant{}
		t.tenants[name] = owner
	}
	if len(owner.waiting) == 0 {
		t.waiting = append(t.waiting, owner)
	}
	owner.waiting = append(owner.waiting, w)
	t.serve()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return func() { t.release(name, w) }, nil
	case <-ctx.Done():
		t.cancel(name, w)
		return nil, context.Cause(ctx)
	}
}

func (t *fairQueue) release(name string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner := t.tenants[name]
	owner.held -= w.size
	t.free += w.size
	t.serve()
	t.dropIdle(name)
}

// cancel removes a waiter, which may have got its slots just now.
func (t *fairQueue) cancel(name string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner := t.tenants[name]
	if i := slices.Index(owner.waiting, w); i >= 0 {
		t.dequeue(owner, i)
	} else {
		owner.held -= w.size
		t.free += w.size
	}
	t.serve() // also without free slots: others may have waited for this one
	t.dropIdle(name)
}

func (t *fairQueue) dropIdle(name string) {
	if owner := t.tenants[name]; owner.held == 0 && len(owner.waiting) == 0 {
		delete(t.tenants, name)
	}
}

func (t *fairQueue) dequeue(owner *tenant, i int) {
	if owner.waiting = slices.Delete(owner.waiting, i, i+1); len(owner.waiting) == 0 {
		t.waiting = slices.DeleteFunc(t.waiting, func(other *tenant) bool { return other == owner })
	}
}

// serve hands out all slots that can be. The caller holds t.mu.
func (t *fairQueue) serve() {
	for t.serveOne() {
	}
}

// serveOne serves the next script, and reports whether there was one.
func (t *fairQueue) serveOne() bool {
	if t.free == 0 {
		return false
	}
	var short []*waiter // too few slots are free for them
	for place, owner := range t.waiting {
		for i, w := range owner.waiting {
			if owner.held+w.size > t.tenantLimit { // limited by its own tenant, so only that waits
				if owner.held == t.tenantLimit || w.overtaken >= maxOvertaken {
					break
				}
				continue
			}
			if w.size > t.free {
				if w.overtaken >= maxOvertaken {
					return false
				}
				short = append(short, w)
				continue
			}
			for _, other := range owner.waiting[:i] {
				if owner.held+other.size > t.tenantLimit {
					short = append(short, other)
				}
			}
			for _, other := range short {
				other.overtaken++
			}
			t.grant(place, i)
			return true
		}
	}
	return false
}

// grant assigns slots to a script and moves its tenant to the back.
func (t *fairQueue) grant(place, i int) {
	owner := t.waiting[place]
	w := owner.waiting[i]
	owner.held += w.size
	t.free -= w.size
	t.waiting = slices.Delete(t.waiting, place, place+1)
	if owner.waiting = slices.Delete(owner.waiting, i, i+1); len(owner.waiting) > 0 {
		t.waiting = append(t.waiting, owner)
	}
	close(w.ready)
}
