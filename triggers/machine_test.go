package triggers

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/foundation/clock"
)

// machine is the clock of a machine within a synctest bubble: it runs with real time, and
// tests set it ahead or back. A suspended machine is ahead when it resumes.
type machine struct {
	clock.Real
	mu    sync.Mutex
	ahead time.Duration // of real time
}

// newMachine makes one that shows at.
func newMachine(at time.Time) *machine { return &machine{ahead: time.Until(at)} }

func (m *machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Round(0).Add(m.ahead).UTC()
}

// step sets the clock.
func (m *machine) step(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += by
}

// Upkeep is At.
func (m *machine) Upkeep(t time.Time, f func()) *clock.Timer { return m.At(t, f) }

// At looks at what the clock shows every half minute, as the real one does.
func (m *machine) At(t time.Time, f func()) *clock.Timer {
	plan := clock.NewVirtual(t.Add(-time.Minute)) // one that knows of this call alone
	timer := plan.At(t, f)
	var look func()
	again := func() { time.AfterFunc(min(max(0, t.Sub(m.Now())), 30*time.Second), look) }
	look = func() {
		if m.Now().Before(t) {
			again()
			return
		}
		_ = plan.Advance(context.Background(), t)
	}
	again()
	return timer
}

// pass lets time go by, and waits until nothing moves any more.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// bring starts a service in a bubble, and waits until it has decided what was due.
func bring(t testing.TB, s *Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	synctest.Wait()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
