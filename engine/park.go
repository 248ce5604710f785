package engine

import (
	"context"
	"time"
	"weak"

	"blueprintd/blueprint"
)

// unref drops a reference of a run; the last one parks it.
func (e *Engine) unref(r *run) {
	if r.dropRef() {
		e.park(r)
	}
}

func (r *run) dropRef() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refs--
	return r.refs == 0
}

// unrefInline is unref on the goroutine of a caller that waits for the run. It makes
// only the first commit, which is not retried, and leaves others to a goroutine.
func (e *Engine) unrefInline(r *run) {
	if !r.dropRef() {
		return
	}
	if !r.flushing.TryLock() {
		go e.park(r)
		return
	}
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.refs == 0 && !r.evicted {
		if r.durable && !r.ended && r.commitErr == nil {
			go e.park(r)
			return
		}
		if e.tryPark(r) {
			return
		}
	}
}

// release unlocks a run returned by acquire and passes the caller's reference on to the
// work that the run can do now, if any.
func (e *Engine) release(r *run) {
	work := !r.driven && r.startable() && e.mayBegin(r)
	r.mu.Unlock()
	if work {
		e.enqueue(r)
	} else {
		e.unref(r)
	}
}

// park makes everything durable, settles the handle and evicts the run, unless it is
// referenced again meanwhile; then the last reference parks it.
func (e *Engine) park(r *run) {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.refs == 0 && !r.evicted && !e.tryPark(r) {
	}
}

// tryPark makes the next commit of a run without references or, if everything is durable,
// parks it, and reports whether it is parked. The caller holds r.flushing and r.mu, which
// is released during a commit.
func (e *Engine) tryPark(r *run) (parked bool) {
	commit, err := r.remaining()
	if commit != nil || err != nil {
		r.write(commit, err)
		return false
	}
	r.cancelOrphans()
	if r.tryHibernate() {
		r.reportPause()
		return true
	}
	r.finishParking()
	e.changed(r.id)
	return true
}

// remaining builds the commit of what is not durable yet; nil for nothing. r.mu is held.
func (r *run) remaining() (*blueprint.JournalCommit, error) {
	switch {
	case r.commitErr != nil, r.ended:
		return nil, nil
	case r.root.plan.Done():
		r.ended = true
		return r.finish()
	case len(r.pending) > 0, r.status() != r.row.Status:
		return r.commit()
	default:
		return nil, nil
	}
}

// finishParking settles the handle and evicts the run. The caller holds r.mu.
func (r *run) finishParking() {
	if r.ended {
		r.engine.releaseResources(r) // first: the caller may start the next run at once
	}
	if r.commitErr == nil {
		if r.response != nil {
			r.handle.respond(r.response)
		}
		if r.ended || r.row.Status == blueprint.StatusPaused || r.engine.stopping.Load() {
			r.settle(r.outcome())
		}
		r.setNextTimer()
		r.notifyParent()
	}
	r.evict()
}

// reportPause settles the handle of a hibernating run that has paused. r.mu is held.
func (r *run) reportPause() {
	if r.handle != nil && r.row.Status == blueprint.StatusPaused {
		r.settle(&parkedRun{view: r.view(r.row, r.engine.Limits.Record)})
	}
}

// releaseResources frees the memory and the concurrency group slot of a run that has ended.
func (e *Engine) releaseResources(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaveGroup(r.id)
	e.releaseMemory(r)
}

func (r *run) outcome() *parkedRun {
	if r.handle == nil {
		return nil
	}
	if r.masked != nil {
		return &parkedRun{nil, r.masked, r.unmasked, r.row}
	}
	account := r.newRecord(r.row.Status, r.engine.Limits.Record)
	return &parkedRun{nil, account.mask(r.masker.Load()), account, r.row}
}

// evict removes the run from memory. The caller holds r.mu.
func (r *run) evict() {
	e := r.engine
	r.evicted = true
	defer r.releaseClock()
	r.cancel(context.Canceled)
	if r.flushTimer != nil {
		r.flushTimer.Stop()
	}
	over := r.ended || r.commitErr != nil && !r.durable || e.stopping.Load()
	if over {
		r.timer.Stop()
	}
	if r.evictedCh != nil {
		close(r.evictedCh)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !over && (r.timer != nil || r.handle != nil) {
		e.addParked(r)
	}
	delete(e.runs, r.id)
	if r.ended || r.commitErr != nil && !r.durable {
		e.leaveGroup(r.id)
	}
	e.releaseMemory(r)
	e.releaseSlot(r)
	if e.stopping.Load() && len(e.runs) == 0 {
		close(e.drained)
	}
}

// addParked keeps the data that the next wake-up needs. The caller holds e.mu.
func (e *Engine) addParked(r *run) {
	p := &parked{timer: r.timer, timerAt: r.timerAt, handle: weak.Make(r.handle), paused: r.paused}
	e.parked[r.id] = p
	if p.isTimed() {
		e.timedParked++
	}
}

func (e *Engine) removeParked(id string, p *parked) {
	delete(e.parked, id)
	if p.isTimed() {
		e.timedParked--
	}
}

// isTimed reports whether a parked run continues by itself.
func (p *parked) isTimed() bool { return p.timer != nil && !p.paused }

// setNextTimer sets the timer for the next instant at which a node is due. r.mu is held.
func (r *run) setNextTimer() {
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

// ensureTimerFor ensures that the timer fires when a node, or a for-each node around
// it, is due. The caller holds r.mu.
func (r *run) ensureTimerFor(n *nodeRun) {
	for ; n != nil; n = n.frame.loopNode() {
		if n.due != 0 && (r.timerAt == 0 || n.due < r.timerAt) {
			r.setTimer(n.due)
		}
	}
}

func (r *run) setTimer(at blueprint.Time) {
	r.timer.Stop()
	r.timer, r.timerAt = nil, at
	if at != 0 && !r.engine.stopping.Load() {
		e, id := r.engine, r.id // the timer of a parked run must not keep it in memory
		r.timer = e.Clock.At(at.Time(), func() { e.onTimer(id) })
	}
}

// tryHibernate keeps a run in memory while it waits, without its slot and without
// holding the clock, if it has many steps or counts budgets of its children: it would
// otherwise be loaded once for each of them. The caller holds r.mu.
func (r *run) tryHibernate() bool {
	e := r.engine
	if r.count[looping] == 0 && !(r.shared && r.count[calling] > 0) || r.commitErr != nil || r.ended || e.stopping.Load() {
		return false
	}
	r.setNextTimer()
	soon := r.timerAt != 0 && r.timerAt.Time().Sub(e.Clock.Now()) < shortHibernation
	if r.count[calling] == 0 && !soon {
		return false
	}
	if !r.hibernating && !e.hibernate(r) {
		return false
	}
	e.changed(r.id)
	return true
}

// Bounds of hibernation: how long a run may wait, and how many may hibernate at once.
const (
	shortHibernation = time.Minute
	maxHibernating   = 1000
)

// hibernate parks a run in memory, unless too many are. The caller holds r.mu.
func (e *Engine) hibernate(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hibernating >= maxHibernating {
		return false
	}
	e.hibernating++
	e.releaseSlot(r)
	e.releaseMemory(r)
	r.hibernating = true
	r.releaseClock()
	return true
}

func (r *run) endHibernation() {
	if r.hibernating {
		r.hibernating = false
		r.engine.mu.Lock()
		r.engine.hibernating--
		r.engine.mu.Unlock()
		r.releaseClock = r.engine.Clock.Hold()
	}
}

// wakeHibernating parks a hibernating run when the engine stops.
func (e *Engine) wakeHibernating(r *run) {
	r.mu.Lock()
	if !r.hibernating || r.evicted {
		r.mu.Unlock()
		return
	}
	r.refs++
	r.endHibernation()
	r.mu.Unlock()
	e.unref(r)
}

// parkedRun is a run when it was parked. Its views are made on demand: most callers
// need the ending alone, which takes far less. It is safe for concurrent use.
type parkedRun struct {
	view     *blueprint.Execution // set for a run that has not ended
	redacted *runRecord
	unmasked *runRecord
	row      blueprint.ExecutionRow
}

func (r *parkedRun) execution() *blueprint.Execution {
	if r.view != nil {
		return r.view
	}
	return r.redacted.render(&r.row)
}

func (r *parkedRun) ending() blueprint.Ending {
	if v := r.view; v != nil {
		return blueprint.Ending{Status: v.Status, Output: v.Output, Failure: v.Failure}
	}
	ending := blueprint.Ending{Status: r.row.Status, Failure: r.redacted.failure(r.row.Status)}
	if ending.Status == blueprint.StatusCompleted {
		ending.Output = newValues(r.unmasked).runOutput(r.unmasked.Ends)
	}
	return ending
}
