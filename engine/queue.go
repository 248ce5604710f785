package engine

import (
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

// admission is what becomes of a new run at first.
type admission uint8

const (
	begins admission = iota // it has its turn
	queues                  // it waits for its turn
	stands                  // it waits for a place in its lane
)

// admit takes in a new run, with one unit for its work, and tells how it
// begins.
func (e *Engine) admit(r *run) (admission, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	child := r.begin.Parent != "" // it belongs to a run that was taken in
	switch {
	case e.stopping.Load():
		return 0, errShuttingDown
	case e.runs[r.id] != nil: // refused by the disk just now, and not put down yet
		return 0, unavailable("the run is being put down")
	case child:
	case e.held > 0 && e.held+r.memory > e.room(r.memory):
		return 0, unavailable("the runs at work hold too much input")
	}
	atOnce, err := e.mayEnter(r)
	if err == nil && atOnce && !child {
		err = e.mayQueue(r)
	}
	if err != nil {
		return 0, err
	}
	r.counted = true
	e.held += r.memory
	e.runs[r.id] = r
	if e.enter(r, atOnce); !atOnce {
		return stands, nil
	}
	if e.takeTurn(r) {
		return begins, nil
	}
	return queues, nil
}

// mayQueue tells why a run can neither have its turn now nor wait for it; nil
// when it can. e.mu is held.
func (e *Engine) mayQueue(r *run) error {
	f := e.flows.of(r.flowName())
	defer e.flows.place(f)
	if e.flows.hasTurnFor(f) {
		return nil
	}
	switch may, any := e.flows.hasPlaceFor(f); {
	case !any:
		return unavailable("too many runs are waiting for their turn")
	case !may:
		return tooMany("so many runs of this trigger, user or organization wait for their turn that the places left are for others")
	}
	return nil
}

// room is how much memory all inputs together may take for one more to be taken
// in. A quarter more is kept for small ones, below a thousandth of it, so that large
// ones never keep them out.
func (e *Engine) room(memory int) int {
	if memory > e.Limits.Held/1024 {
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
	case now && e.Turn != nil:
		e.inTurn(r)
	case now:
		go e.drive(r)
	case waits: // the unit that the queue holds will do
		e.leave(r)
	}
}

// takeTurn gives a run its turn when its flow may have one more, else puts it
// into the queue. e.mu is held.
func (e *Engine) takeTurn(r *run) bool {
	if r.turn == hasTurn {
		return true
	}
	r.flow = e.flows.of(r.flowName())
	if e.flows.hasTurnFor(r.flow) || e.stopping.Load() {
		r.turn = hasTurn
		e.flows.turn(r.flow, 1)
		return true
	}
	r.turn = queued
	r.spot.of = r
	e.flows.wait(r.flow, &r.spot)
	return false
}

// flowName gives the organization and the flow to which the work of a run
// belongs. One that another started belongs to where that belongs.
func (r *run) flowName() (group, flow string) {
	switch b := r.begin; {
	case b.Flow != "":
		flow = b.Flow
	case b.Trigger != nil:
		flow = b.Trigger.ID
	default:
		flow = b.UserID
	}
	return r.row.OrganizationID, flow
}

// passTurn takes the turn of a run that is dropped from memory back, and gives
// turns to those in the queue who may have one now. e.mu is held.
func (e *Engine) passTurn(r *run) {
	if r.turn != hasTurn {
		return
	}
	r.turn = noTurn
	e.flows.turn(r.flow, -1)
	r.flow = nil
	for next := e.flows.next(); next != nil; next = e.flows.next() {
		next.turn = hasTurn
		go e.drive(next)
	}
}

// unqueue takes a run that has nothing to do any more out of the queue, with
// the unit that the queue holds. r.mu is held.
func (e *Engine) unqueue(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.turn == queued {
		e.leaveQueue(r)
		r.units--
	}
}

// leaveQueue takes a run out of the queue. e.mu is held.
func (e *Engine) leaveQueue(r *run) {
	r.turn = noTurn
	e.flows.leave(r.flow, &r.spot)
	r.flow = nil
}

// errShuttingDown refuses work while the engine stops.
var errShuttingDown = unavailable("the server is shutting down")

// unavailable refuses work for a reason that passes.
func unavailable(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: message, RetryAfter: 2 * time.Second}
}

// tooMany refuses work because there is so much of the same already.
func tooMany(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: message, RetryAfter: 2 * time.Second}
}
