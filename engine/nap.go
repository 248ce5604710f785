package engine

import "time"

// naps keeps a run with many steps, or one that keeps what those below it use, in
// memory while it waits for others: it would otherwise be read back once for each. It lets go of the clock and of
// its turn. r.mu is held.
func (r *run) naps() bool {
	e := r.engine
	if r.count[looping] == 0 && !(r.shared && r.count[calling] > 0) || r.broken != nil || r.ended || e.stopping.Load() {
		return false
	}
	r.arm()
	soon := r.timerAt != 0 && r.timerAt.Time().Sub(e.Clock.Now()) < shortNap
	if r.count[calling] == 0 && !soon {
		return false
	}
	if !r.napping && !e.layDown(r) {
		return false
	}
	e.changed(r.id)
	return true
}

// How long a run that waits for an instant may nap, and how many may nap at a
// time: the others are put down.
const (
	shortNap = time.Minute
	maxNaps  = 1000
)

// layDown lets a run nap, unless too many do. What it was counted for, others
// may use. r.mu is held.
func (e *Engine) layDown(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.naps >= maxNaps {
		return false
	}
	e.naps++
	e.passTurn(r)
	e.unload(r)
	r.napping = true
	r.unhold()
	return true
}

// wakeUp ends a nap. r.mu is held.
func (r *run) wakeUp() {
	if r.napping {
		r.napping = false
		r.engine.mu.Lock()
		r.engine.naps--
		r.engine.mu.Unlock()
		r.unhold = r.engine.Clock.Hold()
	}
}

// rouse puts a run that naps down, when the engine stops.
func (e *Engine) rouse(r *run) {
	r.mu.Lock()
	if !r.napping || r.gone {
		r.mu.Unlock()
		return
	}
	r.units++
	r.wakeUp()
	r.mu.Unlock()
	e.leave(r)
}
