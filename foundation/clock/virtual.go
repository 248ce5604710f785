package clock

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBackwards is returned by Advance for a time in the past.
var ErrBackwards = errors.New("the clock cannot go backwards")

// Virtual is a clock that only Advance moves.
type Virtual struct {
	advance sync.Mutex // serializes calls of Advance

	mu     sync.Mutex
	now    time.Time
	held   int
	idle   chan struct{} // closed when held falls to 0; nil without waiters
	timers timers
	seq    uint64

	queue []func() // of WhenIdle
	eager int      // while above 0, WhenIdle does not wait
}

// NewVirtual returns a clock at start, truncated to milliseconds.
func NewVirtual(start time.Time) *Virtual {
	return &Virtual{now: start.UTC().Truncate(time.Millisecond)}
}

func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *Virtual) Hold() (release func()) {
	v.mu.Lock()
	v.held++
	v.mu.Unlock()
	var once sync.Once
	return func() { once.Do(v.release) }
}

func (v *Virtual) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held--; v.held == 0 && !v.startNext() && v.idle != nil {
		close(v.idle)
		v.idle = nil
	}
}

func (v *Virtual) At(t time.Time, f func()) *Timer { return v.schedule(&timer{at: t, f: f}) }

func (v *Virtual) Upkeep(t time.Time, f func()) *Timer {
	return v.schedule(&timer{at: t, f: f, upkeep: true})
}

func (v *Virtual) schedule(timer *timer) *Timer {
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

// fire calls a timer's function. v.mu is locked.
func (v *Virtual) fire(t *timer) {
	t.fired = true
	v.call(t.f)
}

// Advance moves the clock to a time, stopping at every scheduled call up to and including
// that time. Before each call it waits until the clock is not held; calls scheduled for the
// same time run sequentially, in the order in which they were scheduled. If ctx ends, it
// returns early with the clock in between.
func (v *Virtual) Advance(ctx context.Context, to time.Time) error {
	v.advance.Lock()
	defer v.advance.Unlock()
	to = to.UTC()
	if to.Before(v.Now()) {
		return ErrBackwards
	}
	for {
		if err := v.waitReleased(ctx); err != nil {
			return err
		}
		v.mu.Lock()
		if v.held > 0 { // held again meanwhile
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

// waitReleased waits until the clock is not held.
func (v *Virtual) waitReleased(ctx context.Context) error {
	v.mu.Lock()
	if v.held == 0 {
		v.mu.Unlock()
		return ctx.Err()
	}
	if v.idle == nil {
		v.idle = make(chan struct{})
	}
	idle := v.idle
	v.mu.Unlock()
	select {
	case <-idle:
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

// WhenIdle calls f in its own goroutine once the clock is not held. Queued functions
// run in order, each when the work that the previous one started has released the
// clock, so that the result does not depend on the number of processors. The clock
// does not advance while functions are queued. The call holds the clock until f
// returns.
func (v *Virtual) WhenIdle(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held > 0 && v.eager == 0 {
		v.queue = append(v.queue, f)
		return
	}
	v.call(f)
}

// call runs f in a goroutine that holds the clock. v.mu is locked.
func (v *Virtual) call(f func()) {
	v.held++
	go func() {
		defer v.release()
		f()
	}()
}

// startNext calls the next queued function, if any. v.mu is locked.
func (v *Virtual) startNext() bool {
	if len(v.queue) == 0 {
		return false
	}
	v.call(v.queue[0])
	v.queue = slices.Delete(v.queue, 0, 1)
	return true
}

// WaitIdle waits until the clock is not held, for at most patience in real time. After
// that, functions of WhenIdle run immediately until done is called: the running one may be
// waiting for the caller.
func (v *Virtual) WaitIdle(ctx context.Context, patience time.Duration) (done func()) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for waiting.Err() == nil {
		if v.waitReleased(waiting) != nil {
			break
		}
		v.mu.Lock()
		idle := v.held == 0
		v.mu.Unlock()
		if idle {
			return func() {}
		}
	}
	v.mu.Lock()
	v.eager++
	v.mu.Unlock()
	return func() {
		v.mu.Lock()
		v.eager--
		v.mu.Unlock()
	}
}

// Next returns the time of the next scheduled call that is not upkeep, false if there
// is none. It scans all timers.
func (v *Virtual) Next() (at time.Time, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, timer := range v.timers {
		if !timer.upkeep && (!ok || timer.at.Before(at)) {
			at, ok = timer.at, true
		}
	}
	return at.UTC(), ok
}
