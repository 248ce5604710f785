package triggers

import (
	"context"
	"sync"
	"time"

	"blueprintd/foundation/clock"
)

// bell wakes a loop. Whoever rings it holds the clock until the loop has taken
// notice.
type bell struct {
	rung chan struct{} // holds one

	mu    sync.Mutex
	holds []func()
	ended bool // nobody takes notice any more
}

func newBell() *bell { return &bell{rung: make(chan struct{}, 1)} }

func (b *bell) ring(c clock.Clock) {
	release := c.Hold()
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		release()
		return
	}
	b.holds = append(b.holds, release)
	b.mu.Unlock()
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// take gives the holds of all who have rung so far.
func (b *bell) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := b.holds
	b.holds = nil
	return holds
}

func (b *bell) end() []func() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	return b.take()
}

// wakeUp is the one timer of a loop. From the instant at which it goes off the
// clock is held until the loop lets go of what it was sent.
type wakeUp struct {
	timer *clock.Timer
	at    time.Time // zero = it is not set
	wakes chan func()
	calls sync.WaitGroup
}

func newWakeUp() *wakeUp { return &wakeUp{wakes: make(chan func())} }

// set has it go off at an instant; zero is never.
func (a *wakeUp) set(ctx context.Context, c clock.Clock, at time.Time) {
	if at.Equal(a.at) {
		return
	}
	a.stop()
	if a.at = at; at.IsZero() {
		return
	}
	a.calls.Add(1)
	a.timer = c.At(at, func() {
		defer a.calls.Done()
		done := make(chan struct{})
		select {
		case a.wakes <- sync.OnceFunc(func() { close(done) }):
			<-done
		case <-ctx.Done():
		}
	})
}

// stop takes it back.
func (a *wakeUp) stop() {
	if a.timer.Stop() {
		a.calls.Done()
	}
	a.timer, a.at = nil, time.Time{}
}
