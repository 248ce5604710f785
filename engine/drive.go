package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
)

// maxParallel is how many nodes of one run work at once.
const maxParallel = 64

// drive works on a run until nothing of it can go on, and gives back the unit
// of the run with which it was entered. Only a fork starts more goroutines.
func (e *Engine) drive(r *run) {
	if r.storeFirst() && r.flush() != nil {
		e.leave(r)
		return
	}
	e.driveOn(r, e.begin(r))
}

// driveHere is drive for a caller who waits for the run: it does not start a
// goroutine for what takes less time than that. From the first node on that may
// take longer, or that the disk must know of before or behind it, a fork, or once
// the run is durable, another goroutine drives it: its caller may have the answer
// already, and all commits but the first are tried for ever.
func (e *Engine) driveHere(r *run) {
	defer crash()
	for watch := metrics.Begin(); ; {
		attempts := e.begin(r)
		if r.isDurable() || len(attempts) > 1 || len(attempts) == 1 && (!attempts[0].node.quick || r.storeBefore(attempts[0]) || watch.Elapsed() > moment) {
			go e.driveOn(r, attempts)
			return
		}
		if len(attempts) == 0 {
			e.leaveHere(r)
			return
		}
		e.changed(r.id)
		goesOn, promise := e.perform(r, attempts[0])
		if promise != nil {
			go func() {
				if promise() {
					e.driveOn(r, e.begin(r))
				} else {
					e.leave(r)
				}
			}()
			return
		}
		if !goesOn {
			e.leaveHere(r)
			return
		}
	}
}

// moment is how long a caller may be kept from waiting.
const moment = 2 * time.Millisecond

// crash ends the process after a panic, as a panic in a goroutine of the engine
// does: whoever called may be one of net/http's, which go on after one, with a run
// or a database whose locks nobody gives back.
func crash() {
	if reason := recover(); reason != nil {
		stack := debug.Stack()
		go panic(fmt.Sprintf("%v\n\n%s", reason, stack))
		select {}
	}
}

func (r *run) isDurable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.durable
}

// begin starts the nodes of a run that may start now.
func (e *Engine) begin(r *run) []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempts := r.take()
	r.driven = r.driven && len(attempts) > 0
	r.units += max(0, len(attempts)-1)
	return attempts
}

// driveOn is drive once some nodes have been started.
func (e *Engine) driveOn(r *run, attempts []*attempt) {
	for ; len(attempts) > 0; attempts = e.begin(r) {
		e.changed(r.id)
		for _, a := range attempts[1:] {
			go func() {
				if e.try(r, a) {
					e.drive(r)
				} else {
					e.leave(r)
				}
			}()
		}
		if !e.try(r, attempts[0]) {
			break
		}
	}
	e.leave(r)
}

// storeFirst reports whether the run must be on the disk before its first node
// starts, and is not. A run that waited for its turn may have it before the
// disk is done.
func (r *run) storeFirst() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.atOnce && !r.durable
}

// take starts the nodes that may start now. r.mu is held.
func (r *run) take() []*attempt {
	if r.broken != nil || r.engine.stopping.Load() {
		return nil
	}
	most := maxParallel
	if r.engine.Turn != nil {
		most = 1
	}
	var attempts []*attempt
	for len(r.again) > 0 && r.count[working] < most {
		attempts = append(attempts, r.startNode(r.again[0]))
	}
	for r.count[working] < most {
		n := r.first()
		if n == nil {
			break
		}
		attempts = append(attempts, r.startNode(n))
	}
	return attempts
}

// try makes one attempt of a node and records what came of it. It returns false
// when the run cannot go on in this process.
func (e *Engine) try(r *run, a *attempt) bool {
	// What led here, and that it is about to happen, must be on the disk first.
	if r.storeBefore(a) && r.flush() != nil {
		return false
	}
	goesOn, promise := e.perform(r, a)
	if promise != nil {
		return promise()
	}
	return goesOn
}

// storeBefore reports whether all that happened must be on the disk before an
// attempt of a node.
func (r *run) storeBefore(a *attempt) bool {
	return (a.node.effect != blueprint.EffectPure || r.unsure(a)) && !mutant.Is(mutant.JournalAfterAct)
}

// perform makes one attempt of a node, about which the disk knows what it has to,
// and records what came of it. It reports whether the run can go on in this process;
// with a promise that is for the promise to say, which the disk must know of first.
func (e *Engine) perform(r *run, a *attempt) (goesOn bool, promise func() bool) {
	result, err := r.guarded(a.at, a.perform)
	if err != nil && (errors.Is(err, errStopping) || errors.Is(context.Cause(r.ctx), errStopping)) {
		return false, nil // cut off, not failed: the next start decides what that means
	}
	if err != nil {
		a.gather()
	}
	a.unanswered(err)
	r.mu.Lock()
	if r.find(a.address) != a.at { // its for-each node has begun the item anew
		r.mu.Unlock()
		return true, nil
	}
	a.settle(result, err)
	respond, handle, more := r.respond, r.handle, !r.root.plan.Done()
	call := r.callOf(a.at)
	r.mu.Unlock()
	e.changed(r.id)
	answers := respond != nil && handle != nil && handle.Response() == nil && more
	if call == nil && !answers {
		return true, nil
	}
	return true, func() bool {
		// A run that is started must be known before it exists; and a run that goes on
		// behind its answer is what the answer promises.
		if r.flush() != nil {
			return false
		}
		if call != nil {
			e.startChild(call)
		}
		if answers {
			handle.respond(respond)
		}
		return true
	}
}

// unsure reports whether a node may reach the outside, whatever its blueprint calls
// it, while what the run was made of may be out of date: the disk says.
func (r *run) unsure(a *attempt) bool {
	if a.node.kind == nil || cmp.Or(a.node.kind.Effect, blueprint.EffectIdempotent) == blueprint.EffectPure {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.generation != 0 && !r.durable
}
