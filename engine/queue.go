package engine

import (
	"slices"
	"time"

	"blueprintd/blueprint"
)

// turn says whether a run may work. Of all runs in memory at most
// Options.MaxRunning have their turn, from when they get it until they are
// dropped from memory.
type turn uint8

const (
	noTurn turn = iota
	queued      // it waits for one
	hasTurn
)

// admit takes in a new run, with one unit for its work, and tells whether it
// has its turn at once.
func (e *Engine) admit(r *run) (now bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.stopping.Load():
		return false, errShuttingDown
	case e.runs[r.id] != nil: // refused by the disk just now, and not put down yet
		return false, unavailable("the run is being put down")
	case r.begin.Parent != "": // it belongs to a run that was taken in
	case e.driving >= e.MaxRunning && len(e.queue) >= e.MaxQueued:
		return false, unavailable("too many runs are waiting for their turn")
	case e.held > 0 && e.held+r.memory > e.room(r):
		return false, unavailable("the runs at work hold too much input")
	}
	r.counted = true
	e.held += r.memory
	e.runs[r.id] = r
	return e.takeTurn(r), nil
}

// room is how much memory all inputs together may take for r to be taken in. A
// quarter more is kept for small ones, below a thousandth of it, so that large
// ones never keep them out.
func (e *Engine) room(r *run) int {
	if r.memory > e.Limits.Held/1024 {
		return e.Limits.Held
	}
	return e.Limits.Held + e.Limits.Held/4
}

// work hands a unit of a run to a goroutine that works on it, once the run has
// its turn. The queue may grow beyond MaxQueued: the run was accepted long ago.
func (e *Engine) work(r *run) {
	e.mu.Lock()
	waits := r.turn == queued
	now := !waits && e.takeTurn(r)
	e.mu.Unlock()
	switch {
	case now:
		go e.drive(r)
	case waits: // the unit that the queue holds will do
		e.leave(r)
	}
}

// takeTurn gives a run its turn when one is free, else puts it into the queue.
// e.mu is held.
func (e *Engine) takeTurn(r *run) bool {
	switch {
	case r.turn == hasTurn:
	case e.driving < e.MaxRunning || e.stopping.Load():
		e.driving++
		r.turn = hasTurn
	default:
		r.turn = queued
		e.queue = append(e.queue, r)
	}
	return r.turn == hasTurn
}

// passTurn gives the turn of a run that is dropped from memory to the first in
// the queue. e.mu is held.
func (e *Engine) passTurn(r *run) {
	if r.turn != hasTurn {
		return
	}
	r.turn = noTurn
	if len(e.queue) == 0 {
		e.driving--
		return
	}
	next := e.queue[0]
	e.queue[0] = nil
	e.queue = e.queue[1:]
	next.turn = hasTurn
	go e.drive(next)
}

// unqueue takes a run that has nothing to do any more out of the queue, with
// the unit that the queue holds. r.mu is held.
func (e *Engine) unqueue(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.turn == queued {
		r.turn = noTurn
		at := slices.Index(e.queue, r)
		e.queue = slices.Delete(e.queue, at, at+1)
		r.units--
	}
}

// errShuttingDown refuses work while the engine stops.
var errShuttingDown = unavailable("the server is shutting down")

// unavailable refuses work for a reason that passes.
func unavailable(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: message, RetryAfter: 2 * time.Second}
}
