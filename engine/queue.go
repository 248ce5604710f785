package engine

import (
	"context"
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
	case r.reserved > 0:
		if e.held-e.reserved > e.Limits.Held { // by what had not to reserve anything
			return 0, errNoRoom()
		}
	case e.held > 0 && e.held+r.memory > e.room(r.memory):
		return 0, errNoRoom()
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
	e.reserved += int(r.reserved)
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
// in. A quarter more is kept for small ones, so that large ones never keep them
// out.
func (e *Engine) room(memory int) int {
	if e.isLarge(memory) {
		return e.Limits.Held
	}
	return e.Limits.Held + e.Limits.Held/4
}

// isLarge reports whether an input that takes so much memory may have to wait
// for room.
func (e *Engine) isLarge(memory int) bool { return memory > min(e.Limits.Held/1024, 64<<10) }

// admitInput takes room for the input of a new run, if it is large. It waits until
// ctx ends, at most Options.InputWait, in the order of coming. What is larger
// than all room is let in alone and counts as all of it, so that small ones are
// still taken. The runs that others start belong to those that
// were let in, and reserve nothing.
func (e *Engine) admitInput(ctx context.Context, r *run) error {
	if !e.isLarge(r.memory) || r.begin.Parent != "" {
		return nil
	}
	size := int64(min(r.memory, e.Limits.Held))
	if !e.inputs.TryAcquire(size) {
		if e.InputWait <= 0 || ctx.Err() != nil {
			return errNoRoom()
		}
		ctx, cancel := context.WithTimeout(ctx, e.InputWait)
		defer cancel()
		defer context.AfterFunc(e.ctx, cancel)()
		if e.inputs.Acquire(ctx, size) != nil {
			return errNoRoom()
		}
	}
	r.reserved, r.memory = size, int(size)
	return nil
}

// releaseInput gives back what admitInput took.
func (e *Engine) releaseInput(r *run) {
	if r.reserved > 0 {
		e.inputs.Release(r.reserved)
		r.reserved = 0
	}
}

func errNoRoom() error { return unavailable("the runs at work hold too much input") }

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
