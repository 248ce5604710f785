package clock

import (
	"context"
	"time"
)

// Turn calls f, in a goroutine of its own, once nobody holds the clock: of all
// who ask for a turn one after the other, in the order in which they asked, each
// when what the one before began has come to rest. The clock does not move while
// somebody waits for a turn. It is for work that must go the same way each time,
// whatever the number of processors. The call holds the clock until f returns.
func (v *Virtual) WhenIdle(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held > 0 && v.hurried == 0 {
		v.turns = append(v.turns, f)
		return
	}
	v.call(f)
}

// call runs f while it holds the clock. v.mu is locked.
func (v *Virtual) call(f func()) {
	v.held++
	go func() {
		defer v.letGo()
		f()
	}()
}

// nextTurn gives the next one who waits for it a turn. v.mu is locked.
func (v *Virtual) nextTurn() bool {
	if len(v.turns) == 0 {
		return false
	}
	f := v.turns[0]
	if v.turns = v.turns[1:]; len(v.turns) == 0 {
		v.turns = nil
	}
	v.call(f)
	return true
}

// Settled waits until nobody holds the clock, at most for a while of real time.
// When that was not enough, whoever asks for a turn has it at once until done is
// called: the caller may be what somebody waits for who has a turn.
func (v *Virtual) WaitIdle(ctx context.Context, patience time.Duration) (done func()) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for waiting.Err() == nil {
		if v.atRest(waiting) != nil {
			break
		}
		v.mu.Lock()
		resting := v.held == 0
		v.mu.Unlock()
		if resting {
			return func() {}
		}
	}
	v.mu.Lock()
	v.hurried++
	v.mu.Unlock()
	return func() {
		v.mu.Lock()
		v.hurried--
		v.mu.Unlock()
	}
}

// Next returns the next instant at which something is due that is not upkeep;
// false when nothing is. It looks at all that is planned.
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
