package clock

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBackwards refuses to move a virtual clock into the past.
var ErrBackwards = errors.New("the clock cannot go backwards")

// Virtual is a clock that only Advance moves.
type Virtual struct {
	advance sync.Mutex // one Advance at a time

	mu     sync.Mutex
	now    time.Time
	held   int
	rest   chan struct{} // closed when held falls to 0; nil while nobody waits
	timers timers
	seq    uint64

	turns   []func() // that wait until nobody holds the clock
	hurried int      // how many ask for turns not to wait
}

// NewVirtual starts at an instant, cut to milliseconds.
func NewVirtual(start time.Time) *Virtual {
	return &Virtual{now: start.UTC().Truncate(time.Millisecond)}
}

// Now returns the instant at which the clock stands.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Hold keeps the clock from moving until release is called.
func (v *Virtual) Hold() (release func()) {
	v.mu.Lock()
	v.held++
	v.mu.Unlock()
	var once sync.Once
	return func() { once.Do(v.letGo) }
}

func (v *Virtual) letGo() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held--; v.held == 0 && !v.nextTurn() && v.rest != nil {
		close(v.rest)
		v.rest = nil
	}
}

// At plans a call. One that is due already starts at once.
func (v *Virtual) At(t time.Time, f func()) *Timer { return v.plan(&timer{at: t, f: f}) }

// Upkeep is At, in the same order, but for Next.
func (v *Virtual) Upkeep(t time.Time, f func()) *Timer {
	return v.plan(&timer{at: t, f: f, upkeep: true})
}

func (v *Virtual) plan(timer *timer) *Timer {
	v.mu.Lock()
	defer v.mu.Unlock()
	timer.seq = v.seq
	v.seq++
	if !timer.at.After(v.now) {
		v.fire(timer)
	} else {
		heap.Push(&v.timers, timer)
	}
	return &Timer{stop: func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		if timer.index < 0 || timer.fired {
			return false
		}
		heap.Remove(&v.timers, timer.index)
		return true
	}}
}

// fire runs a timer's function while it holds the clock. v.mu is locked.
func (v *Virtual) fire(t *timer) {
	t.fired = true
	v.held++
	go func() {
		defer v.letGo()
		t.f()
	}()
}

// Advance moves the clock to an instant, through every instant at which
// something is due, in order. Before each step all work comes to rest; calls
// that fall on one instant are made one after the other, in the order in which
// they were planned. What falls due at the end instant itself is included. It
// returns early, with the clock somewhere between, when ctx ends.
func (v *Virtual) Advance(ctx context.Context, to time.Time) error {
	v.advance.Lock()
	defer v.advance.Unlock()
	to = to.UTC()
	if to.Before(v.Now()) {
		return ErrBackwards
	}
	for {
		if err := v.atRest(ctx); err != nil {
			return err
		}
		v.mu.Lock()
		if v.held > 0 { // somebody began in between
			v.mu.Unlock()
			continue
		}
		if len(v.timers) == 0 || v.timers[0].at.After(to) {
			v.now = to
			v.mu.Unlock()
			return nil
		}
		next := heap.Pop(&v.timers).(*timer)
		if next.at.After(v.now) {
			v.now = next.at.UTC()
		}
		v.fire(next)
		v.mu.Unlock()
	}
}

// atRest waits until nobody holds the clock.
func (v *Virtual) atRest(ctx context.Context) error {
	v.mu.Lock()
	if v.held == 0 {
		v.mu.Unlock()
		return ctx.Err()
	}
	if v.rest == nil {
		v.rest = make(chan struct{})
	}
	rest := v.rest
	v.mu.Unlock()
	select {
	case <-rest:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type timer struct {
	at     time.Time
	seq    uint64
	f      func()
	upkeep bool
	index  int
	fired  bool
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	if !t[i].at.Equal(t[j].at) {
		return t[i].at.Before(t[j].at)
	}
	return t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *timers) Push(x any) {
	item := x.(*timer)
	item.index = len(*t)
	*t = append(*t, item)
}
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	last.index = -1
	return last
}
