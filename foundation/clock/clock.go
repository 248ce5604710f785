// Package clock is the one source of time: Real follows the machine, Virtual
// stands still until it is moved, so that a test can let a month pass.
//
// Whoever works holds the clock (Hold) for as long as the work lasts. The real
// clock does not care; the virtual one moves on only when nobody holds it.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time and calls back when an instant is reached. It is safe
// for concurrent use.
type Clock interface {
	// Now returns the present instant in UTC.
	Now() time.Time
	// At calls f once, in a goroutine of its own, when the clock reaches t;
	// at once when it has. The call holds the clock until f returns.
	At(t time.Time, f func()) *Timer
	// Upkeep is At for what a server does for itself, which nobody waits for:
	// Virtual.Next does not tell of it.
	Upkeep(t time.Time, f func()) *Timer
	// Hold says that work is going on that began by this instant; release
	// says, once, that it has come to rest.
	Hold() (release func())
}

// Timer is a call that At has planned.
type Timer struct{ stop func() bool }

// Stop cancels the call and tells whether it was in time. A nil Timer may be
// stopped.
func (t *Timer) Stop() bool { return t != nil && t.stop() }

// Real is the machine's clock.
type Real struct{}

// Now returns the machine's time.
func (Real) Now() time.Time { return time.Now().UTC() }

// Hold does nothing: the machine's clock waits for nobody.
func (Real) Hold() (release func()) { return func() {} }

// recheck bounds how long a real timer sleeps at once, so that a step of the
// wall clock, or a machine that slept, is noticed within that time.
const recheck = 30 * time.Second

// At follows the wall clock, not the monotonic one: a machine that slept past
// t calls f as soon as it wakes.
func (r Real) At(t time.Time, f func()) *Timer {
	t = t.Round(0) // without the monotonic part, Sub below compares wall clocks
	var mu sync.Mutex
	var timer *time.Timer
	over := false // stopped, or f was called
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(r.sleep(t), func() {
		mu.Lock()
		due := !over && !time.Now().Round(0).Before(t)
		switch {
		case due:
			over = true
		case !over:
			timer.Reset(r.sleep(t))
		}
		mu.Unlock()
		if due {
			f()
		}
	})
	return &Timer{stop: func() bool {
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		inTime := !over
		over = true
		return inTime
	}}
}

// Upkeep is At.
func (r Real) Upkeep(t time.Time, f func()) *Timer { return r.At(t, f) }

func (Real) sleep(until time.Time) time.Duration {
	return min(max(0, until.Sub(time.Now().Round(0))), recheck)
}
