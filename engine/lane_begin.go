package engine

import (
	"errors"

	"blueprintd/blueprint"
)

// letIn lets as many of those who stand begin as the limit allows, and as there
// is memory for what they were given. e.mu is held.
func (e *Engine) letIn(l *lane) {
	for first := l.standing.first; first != nil && !e.lanes.filling; first = l.standing.first {
		s := first.of
		switch {
		case l.limit > 0 && l.working() >= l.limit:
			return
		case e.held > 0 && e.held+s.memory > e.room(s.memory):
			if !l.isShort {
				l.isShort = true
				e.lanes.short = append(e.lanes.short, l)
			}
			return
		}
		first.leave()
		e.lanes.standing--
		s.placed, s.holds = true, true
		e.held += s.memory
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.proceed(s.id)
		}()
	}
}

// proceed sets a run to work that stood until now.
func (e *Engine) proceed(id string) {
	r, err := e.acquire(e.ctx, id)
	switch {
	case err == nil:
		e.holdInput(r)
		e.release(r)
	case errors.Is(err, errEnded), errors.Is(err, errShuttingDown):
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("a run waits for the disk", "execution", id, "error", err)
		e.Clock.At(e.Clock.Now().Add(wakeAgain), func() { e.proceed(id) })
	default: // it must not keep the others back
		e.mu.Lock()
		sits := e.lanes.seats[id] != nil
		e.vacate(id)
		e.mu.Unlock()
		if sits { // else the disk has refused it meanwhile, and somebody was told
			e.Logger.Error("a run could not be begun", "execution", id, "error", err, "hint", "it is taken up at the next start")
		}
	}
}

// holdInput counts the input of a run that was let in for the run, as that of
// one that is new. r.mu is held.
func (e *Engine) holdInput(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.lanes.seats[r.id]
	switch {
	case s == nil || !s.holds:
	case r.counted: // it has not been put down since it came
		s.holds = false
		e.free(s.memory)
	default:
		s.holds, r.counted = false, true
		e.held += r.memory - s.memory
	}
}

// holdTape counts what a run has exchanged with other services like its input.
// What is taken in already is never refused for it. r.mu is held.
func (e *Engine) holdTape(r *run, size int) {
	if size == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.memory += size; r.counted {
		e.held += size
	}
}

// unload no longer counts the input of a run. e.mu is held.
func (e *Engine) unload(r *run) {
	if r.counted {
		r.counted = false
		e.reserved -= int(r.reserved)
		e.releaseInput(r)
		e.free(r.memory)
	}
}

// free gives memory back that inputs took, to those who stand for want of it,
// longest first. e.mu is held.
func (e *Engine) free(memory int) {
	e.held -= memory
	waiting := e.lanes.short
	e.lanes.short = nil
	for i, l := range waiting {
		l.isShort = false
		if e.letIn(l); l.isShort { // there is no more
			e.lanes.short = append(waiting[i:i+1:i+1], waiting[i+1:]...)
			return
		}
	}
}

// mayBegin tells whether a run does not have to stand, and was not told to go.
// r.mu is held.
func (e *Engine) mayBegin(r *run) bool {
	if r.laneKey() == "" {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.lanes.seats[r.id]
	return s == nil || s.placed && !s.leaving
}
