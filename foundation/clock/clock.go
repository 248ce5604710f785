// Package clock is the source of time of the program: Real is the machine's clock,
// Virtual advances only on request, so that a test can simulate a month.
//
// Work in progress holds the clock (Hold). Real ignores holds; Virtual advances only
// while there are none.
package clock

import (
	"sync"
	"time"
)

// Clock returns the time and runs functions at given times. It is safe for
// concurrent use.
type Clock interface {
	// Now returns the time in UTC.
	Now() time.Time
	// At calls f once in its own goroutine when the clock reaches t, immediately if
	// it has. The call holds the clock until f returns.
	At(t time.Time, f func()) *Timer
	// Upkeep is At for background maintenance, which Virtual.Next ignores.
	Upkeep(t time.Time, f func()) *Timer
	// Hold keeps the clock from advancing until release is called.
	Hold() (release func())
}

// Timer is a call scheduled by At.
type Timer struct{ stop func() bool }

// Stop cancels the call and reports whether it had not started. It may be called on
// a nil Timer.
func (t *Timer) Stop() bool { return t != nil && t.stop() }

// Real is the machine's clock.
type Real struct{}

// Now returns the machine's time.
func (Real) Now() time.Time { return time.Now().UTC() }

// Hold does nothing.
func (Real) Hold() (release func()) { return func() {} }

// recheck is how often a real timer compares the wall clock, so that it notices a
// clock step or a suspended machine.
const recheck = 30 * time.Second

// At follows the wall clock, not the monotonic one: a machine that was suspended
// past t calls f as soon as it resumes.
func (r Real) At(t time.Time, f func()) *Timer {
	t = t.Round(0) // drop the monotonic reading, so that Sub compares wall clocks
	var mu sync.Mutex
	var timer *time.Timer
	done := false // stopped, or f was called
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(r.sleep(t), func() {
		mu.Lock()
		due := !done && !time.Now().Round(0).Before(t)
		switch {
		case due:
			done = true
		case !done:
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
		inTime := !done
		done = true
		return inTime
	}}
}

func (r Real) Upkeep(t time.Time, f func()) *Timer { return r.At(t, f) }

func (Real) sleep(until time.Time) time.Duration {
	return min(max(0, until.Sub(time.Now().Round(0))), recheck)
}
