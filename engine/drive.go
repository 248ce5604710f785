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

// maxParallel is the maximum number of nodes of one run that execute concurrently.
const maxParallel = 64

// drive works on a run until nothing can continue, and takes over a reference. Only a fork
// starts more goroutines.
func (e *Engine) drive(r *run) {
	if r.mustStoreFirst() && r.flush() != nil || !e.keepsPlace(r) {
		e.unref(r)
		return
	}
	e.driveAttempts(r, e.startReady(r))
}

// driveInline is drive on the goroutine of a caller that waits for the run. It continues on
// another goroutine at the first fork, at a node that is not quick or has a side effect,
// and once the run is durable: then the caller may receive its response, and all later
// commits are retried indefinitely.
func (e *Engine) driveInline(r *run) {
	defer crashOnPanic()
	for watch := metrics.Begin(); ; {
		attempts := e.startReady(r)
		if r.isDurable() || len(attempts) > 1 || len(attempts) == 1 && (!attempts[0].node.quick || r.mustStoreBefore(attempts[0]) || watch.Elapsed() > maxInline) {
			go e.driveAttempts(r, attempts)
			return
		}
		if len(attempts) == 0 {
			e.unrefInline(r)
			return
		}
		e.changed(r.id)
		goesOn, promise := e.performAttempt(r, attempts[0], attempts[0].perform)
		if promise != nil {
			go func() {
				if promise() {
					e.driveAttempts(r, e.startReady(r))
				} else {
					e.unref(r)
				}
			}()
			return
		}
		if !goesOn {
			e.unrefInline(r)
			return
		}
	}
}

// maxInline is how long driveInline may keep its caller.
const maxInline = 2 * time.Millisecond

// crashOnPanic ends the process after a panic. A caller such as net/http would recover
// from it and leave locks of runs and the database held.
func crashOnPanic() {
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

// startReady starts the nodes that may start now, with a reference for each but the first.
func (e *Engine) startReady(r *run) []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempts := r.startNodes()
	r.driven = r.driven && len(attempts) > 0
	r.refs += max(0, len(attempts)-1)
	return attempts
}

// driveAttempts is drive once nodes have started.
func (e *Engine) driveAttempts(r *run, attempts []*attempt) {
	for ; len(attempts) > 0; attempts = e.startReady(r) {
		e.changed(r.id)
		for _, a := range attempts[1:] {
			go func() {
				if e.runAttempt(r, a) {
					e.drive(r)
				} else {
					e.unref(r)
				}
			}()
		}
		if !e.runAttempt(r, attempts[0]) {
			break
		}
	}
	e.unref(r)
}

// mustStoreFirst reports whether the run is not durable, and must be before its first node.
func (r *run) mustStoreFirst() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.atOnce && !r.durable
}

// startNodes starts the nodes that may start now. The caller holds r.mu.
func (r *run) startNodes() []*attempt {
	if r.commitErr != nil || r.engine.stopping.Load() {
		return nil
	}
	most := maxParallel
	if r.engine.Schedule != nil {
		most = 1
	}
	var attempts []*attempt
	for len(r.restarts) > 0 && r.count[working] < most {
		attempts = append(attempts, r.startNode(r.restarts[0]))
	}
	for r.count[working] < most {
		n := r.nextReady()
		if n == nil {
			break
		}
		attempts = append(attempts, r.startNode(n))
	}
	return attempts
}

// runAttempt performs an attempt of a node. False means that the run cannot continue here.
func (e *Engine) runAttempt(r *run, a *attempt) bool {
	perform := a.perform
	if r.mustStoreBefore(a) && r.flush() != nil {
		return false
	}
	// A node of a type that reaches others needs a lease even if its blueprint calls it pure.
	reaches := a.node.effect != blueprint.EffectPure || a.node.kind != nil && a.node.kind.Effect != blueprint.EffectPure
	if reaches && !e.mayAct(r.ctx) {
		if !errors.Is(context.Cause(r.ctx), errCancelled) {
			return false
		}
		perform = cancelledAttempt // which has to end for the run to end
	}
	goesOn, promise := e.performAttempt(r, a, perform)
	if promise != nil {
		return promise()
	}
	return goesOn
}

// cancelledAttempt is the result of an attempt whose run was cancelled before it began.
func cancelledAttempt() (blueprint.Result, error) {
	return blueprint.Result{}, context.Canceled
}

// mayAct waits until this process may act outside. It returns false if it must not: another
// process has taken over its runs, or the run is being interrupted.
func (e *Engine) mayAct(ctx context.Context) bool {
	return e.Peers == nil || mutant.Is(mutant.LeaseUnchecked) || e.Peers.Lease(ctx) == nil
}

// mustStoreBefore reports whether all entries, the attempt's start included, must be
// durable before the attempt.
func (r *run) mustStoreBefore(a *attempt) bool {
	return (a.node.effect != blueprint.EffectPure || r.mayBeOutdated(a)) && !mutant.Is(mutant.JournalAfterAct)
}

// performAttempt performs one attempt and records its result. It reports whether the
// run can continue in this process; a non-nil promise must be called and decides that.
func (e *Engine) performAttempt(r *run, a *attempt, perform func() (blueprint.Result, error)) (goesOn bool, promise func() bool) {
	result, err := r.recoverPanics(a.at, perform)
	if err != nil && (errors.Is(err, errStopping) || errors.Is(context.Cause(r.ctx), errStopping)) {
		return false, nil // interrupted, not failed: see resolveInterrupted
	}
	if err != nil {
		a.collectEvidence()
	}
	a.settleOpenCall(err)
	r.mu.Lock()
	if r.find(a.address) != a.at { // its for-each node has restarted the item
		r.mu.Unlock()
		return true, nil
	}
	a.settle(result, err)
	respond, handle, more := r.response, r.handle, !r.root.plan.Done()
	call := r.callOf(a.at)
	r.mu.Unlock()
	e.changed(r.id)
	answers := respond != nil && handle != nil && handle.Response() == nil && more
	if call == nil && !answers {
		return true, nil
	}
	return true, func() bool {
		// A child must be recorded before it starts, and a run before its response.
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

// mayBeOutdated reports whether an attempt may have an external effect, regardless of the
// declared effect, while the definition it was compiled from may be out of date: the first
// commit checks that.
func (r *run) mayBeOutdated(a *attempt) bool {
	if a.node.kind == nil || cmp.Or(a.node.kind.Effect, blueprint.EffectIdempotent) == blueprint.EffectPure {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.generation != 0 && !r.durable
}
