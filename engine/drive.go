package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"blueprintd/blueprint"
	"blueprintd/metrics"
	"blueprintd/planted"
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
// take longer, a fork, or once the run is durable, another goroutine drives it:
// its caller may have the answer already, and its next commit is tried for ever.
func (e *Engine) driveHere(r *run) {
	defer crash()
	for watch := metrics.Begin(); ; {
		attempts := e.begin(r)
		if r.isDurable() || len(attempts) > 1 || len(attempts) == 1 && (!attempts[0].node.quick || watch.Elapsed() > moment) {
			go e.driveOn(r, attempts)
			return
		}
		if len(attempts) == 0 {
			e.leave(r)
			return
		}
		e.changed(r.id)
		if !e.try(r, attempts[0]) {
			e.leave(r)
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

// storeFirst tells whether the run must be on the disk before its first node
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

// try makes one attempt of a node and records what came of it. It gives false
// when the run cannot go on in this process.
func (e *Engine) try(r *run, a *attempt) bool {
	if (a.node.effect != blueprint.EffectPure || r.unsure(a)) && !planted.Is(planted.JournalAfterAct) {
		// What led here, and that it is about to happen, must be on the disk first.
		if r.flush() != nil {
			return false
		}
	}
	result, err := r.guarded(a.at, a.perform)
	if err != nil && (errors.Is(err, errStopping) || errors.Is(context.Cause(r.ctx), errStopping)) {
		return false // cut off, not failed: the next start decides what that means
	}
	r.mu.Lock()
	if r.find(a.address) != a.at { // its for-each node has begun the item anew
		r.mu.Unlock()
		return true
	}
	a.settle(result, err)
	respond, handle, more := r.respond, r.handle, !r.root.plan.Over()
	call := r.callOf(a.at)
	r.mu.Unlock()
	e.changed(r.id)
	if call != nil {
		// That it is started must be on the disk before it exists.
		if r.flush() != nil {
			return false
		}
		e.startChild(call)
	}
	if respond == nil || handle == nil || handle.Response() != nil || !more {
		return true
	}
	// The run goes on behind its answer, and the answer promises it: first the disk.
	if r.flush() != nil {
		return false
	}
	handle.respond(r.masked(respond))
	return true
}

// unsure tells whether a node may reach the outside, whatever its blueprint calls
// it, while what the run was made of may be out of date: the disk says.
func (r *run) unsure(a *attempt) bool {
	if a.node.kind == nil || cmp.Or(a.node.kind.Effect, blueprint.EffectIdempotent) == blueprint.EffectPure {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.generation != 0 && !r.durable
}

// leave gives back a unit of a run; the last one brings it to rest.
func (e *Engine) leave(r *run) {
	r.mu.Lock()
	r.units--
	last := r.units == 0
	r.mu.Unlock()
	if last {
		e.rest(r)
	}
}

// release unlocks a run that acquire gave, and hands on the caller's unit to
// the work that the run can do now, if there is any.
func (e *Engine) release(r *run) {
	work := !r.driven && r.startable() && e.mayBegin(r)
	r.mu.Unlock()
	if work {
		e.work(r)
	} else {
		e.leave(r)
	}
}

// rest is called when nobody works on the run any more. It makes everything
// durable, tells whoever waits, and drops the run from memory; unless somebody
// takes it up again meanwhile, who then comes here in turn.
func (e *Engine) rest(r *run) {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.units == 0 && !r.gone {
		commit, err := r.remaining()
		if commit == nil && err == nil {
			r.forsake()
			if r.naps() {
				return
			}
			r.putDown()
			e.changed(r.id)
			return
		}
		r.write(commit, err)
	}
}

// remaining makes the commit of what is not on the disk yet; nil when there is
// nothing. r.mu is held.
func (r *run) remaining() (*blueprint.JournalCommit, error) {
	switch {
	case r.broken != nil, r.ended:
		return nil, nil
	case r.root.plan.Over():
		r.ended = true
		return r.finish()
	case len(r.pending) > 0, r.status() != r.row.Status:
		return r.commit()
	default:
		return nil, nil
	}
}

// putDown tells whoever waits for the run how it stands, and drops it from
// memory. What a later wake needs is kept. r.mu is held.
func (r *run) putDown() {
	if r.ended {
		r.engine.giveBack(r) // who hears of the end may start the next one at once
	}
	if r.broken == nil {
		if r.respond != nil {
			r.handle.respond(r.masked(r.respond))
		}
		if r.ended || r.row.Status == blueprint.StatusPaused || r.engine.stopping.Load() {
			r.handle.rest(r.outcome())
			r.handle = nil
		}
		r.arm()
		r.report()
	}
	r.evict()
}

// giveBack makes the room that a run took free for others, once it has ended:
// that of its input, and its place in its lane.
func (e *Engine) giveBack(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.vacate(r.id)
	e.unload(r)
}

// outcome gives the run as it stands. r.mu is held.
func (r *run) outcome() standing {
	if r.handle == nil {
		return nil
	}
	account := r.final
	if account == nil {
		account = r.account().mask(r.masker.Load())
	}
	return &rested{account, r.row}
}

// evict drops the run from memory. r.mu is held.
func (r *run) evict() {
	e := r.engine
	r.gone = true
	defer r.unhold()
	r.cancel(context.Canceled)
	if r.late != nil {
		r.late.Stop()
	}
	over := r.ended || r.broken != nil && !r.durable || e.stopping.Load()
	if over {
		r.timer.Stop()
	}
	if r.left != nil {
		close(r.left)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !over && (r.timer != nil || r.handle != nil) {
		e.park(r)
	}
	delete(e.runs, r.id)
	if over {
		delete(e.families, r.id)
	}
	if r.ended || r.broken != nil && !r.durable {
		e.vacate(r.id)
	}
	e.unload(r)
	e.passTurn(r)
	if e.stopping.Load() && len(e.runs) == 0 {
		close(e.quiet)
	}
}

// arm sets the timer for the next instant at which a node of the run is due.
// r.mu is held.
func (r *run) arm() {
	var next blueprint.Time
	if r.count[waiting]+r.count[awaiting] > 0 {
		r.each(func(n *nodeRun) {
			if n.due != 0 && (next == 0 || n.due < next) {
				next = n.due
			}
		})
	}
	if next != r.timerAt {
		r.setTimer(next)
	}
}

// armNode makes sure that the timer goes off when a node is due, or a for-each
// node in which it stands. r.mu is held.
func (r *run) armNode(n *nodeRun) {
	for ; n != nil; n = n.frame.holder() {
		r.armFor(n.due)
	}
}

// armFor makes sure that the timer goes off by an instant. r.mu is held.
func (r *run) armFor(due blueprint.Time) {
	if due != 0 && (r.timerAt == 0 || due < r.timerAt) {
		r.setTimer(due)
	}
}

func (r *run) setTimer(at blueprint.Time) {
	r.timer.Stop()
	r.timer, r.timerAt = nil, at
	if at != 0 && !r.engine.stopping.Load() {
		e, id := r.engine, r.id // the timer of a run at rest must not keep the run
		r.timer = e.Clock.At(at.Time(), func() { e.wake(id) })
	}
}
