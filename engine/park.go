package engine

import (
	"context"
	"time"
	"weak"

	"blueprintd/blueprint"
)

// leave gives back a unit of a run; the last one parks it.
func (e *Engine) leave(r *run) {
	if r.last() {
		e.park(r)
	}
}

// last gives back a unit of a run, and tells whether it was the last one.
func (r *run) last() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units--
	return r.units == 0
}

// leaveHere is leave for a caller who waits for the run. It makes only the first
// commit of the run, which is tried once, and leaves others to a goroutine.
func (e *Engine) leaveHere(r *run) {
	if !r.last() {
		return
	}
	if !r.flushing.TryLock() {
		go e.park(r)
		return
	}
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.units == 0 && !r.gone {
		if r.durable && !r.ended && r.broken == nil {
			go e.park(r)
			return
		}
		if e.tryPark(r) {
			return
		}
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

// park is called when nobody works on the run any more. It makes everything
// durable, tells whoever waits, and drops the run from memory; unless somebody
// takes it up again meanwhile, who then comes here in turn.
func (e *Engine) park(r *run) {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.units == 0 && !r.gone && !e.tryPark(r) {
	}
}

// tryPark makes the next commit of a run on which nobody works or, when all is
// on the disk, parks it, and tells whether it is parked. r.flushing and r.mu are
// held; r.mu is let go during a commit.
func (e *Engine) tryPark(r *run) (parked bool) {
	commit, err := r.remaining()
	if commit != nil || err != nil {
		r.write(commit, err)
		return false
	}
	r.forsake()
	if r.hibernates() {
		r.tellPause()
		return true
	}
	r.putDown()
	e.changed(r.id)
	return true
}

// remaining makes the commit of what is not on the disk yet; nil when there is
// nothing. r.mu is held.
func (r *run) remaining() (*blueprint.JournalCommit, error) {
	switch {
	case r.broken != nil, r.ended:
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

// putDown tells whoever waits for the run how it stands, and drops it from
// memory. What a later wake needs is kept. r.mu is held.
func (r *run) putDown() {
	if r.ended {
		r.engine.giveBack(r) // who hears of the end may start the next one at once
	}
	if r.broken == nil {
		if r.respond != nil {
			r.handle.respond(r.respond)
		}
		if r.ended || r.row.Status == blueprint.StatusPaused || r.engine.stopping.Load() {
			r.tell(r.outcome())
		}
		r.arm()
		r.report()
	}
	r.evict()
}

// tellPause tells whoever waits for a run that hibernates that it has paused: what it
// waits for may be a person. r.mu is held.
func (r *run) tellPause() {
	if r.handle != nil && r.row.Status == blueprint.StatusPaused {
		r.tell(viewed{r.view(r.row, r.engine.Limits.Record)})
	}
}

// giveBack makes the room that a run took free for others, once it has ended:
// that of its input, and its slot in its concurrency group.
func (e *Engine) giveBack(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.releaseSlot(r.id)
	e.unload(r)
}

// outcome returns the run as it stands. r.mu is held.
func (r *run) outcome() parkedRun {
	if r.handle == nil {
		return nil
	}
	if r.final != nil {
		return &parkedAccount{r.final, r.truth, r.row}
	}
	account := r.account(r.row.Status, r.engine.Limits.Record)
	return &parkedAccount{account.mask(r.masker.Load()), account, r.row}
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
		e.remember(r)
	}
	delete(e.runs, r.id)
	if r.ended || r.broken != nil && !r.durable {
		e.releaseSlot(r.id)
	}
	e.unload(r)
	e.passTurn(r)
	if e.stopping.Load() && len(e.runs) == 0 {
		close(e.quiet)
	}
}

// remember keeps what the next wake of a parked run needs. e.mu is held.
func (e *Engine) remember(r *run) {
	p := &parked{timer: r.timer, timerAt: r.timerAt, handle: weak.Make(r.handle), paused: r.paused}
	e.parked[r.id] = p
	if p.waits() {
		e.waiting++
	}
}

// takeOut removes a parked run from memory. e.mu is held.
func (e *Engine) takeOut(id string, p *parked) {
	delete(e.parked, id)
	if p.waits() {
		e.waiting--
	}
}

// waits reports whether a parked run goes on by itself.
func (p *parked) waits() bool { return p.timer != nil && !p.paused }

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
		e, id := r.engine, r.id // the timer of a parked run must not keep the run
		r.timer = e.Clock.At(at.Time(), func() { e.wake(id) })
	}
}

// hibernates keeps a run with many steps, or one that keeps what those below it use, in
// memory while it waits for others: it would otherwise be read back once for each. It lets go of the clock and of
// its turn. r.mu is held.
func (r *run) hibernates() bool {
	e := r.engine
	if r.count[looping] == 0 && !(r.shared && r.count[calling] > 0) || r.broken != nil || r.ended || e.stopping.Load() {
		return false
	}
	r.arm()
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

// How long a run that waits for an instant may hibernate, and how many may at a
// time: the others are put down.
const (
	shortHibernation = time.Minute
	maxHibernating   = 1000
)

// hibernate parks a run in memory, unless too many are. What it was counted for, others
// may use. r.mu is held.
func (e *Engine) hibernate(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hibernating >= maxHibernating {
		return false
	}
	e.hibernating++
	e.passTurn(r)
	e.unload(r)
	r.hibernating = true
	r.unhold()
	return true
}

// wakeUp ends the hibernation. r.mu is held.
func (r *run) wakeUp() {
	if r.hibernating {
		r.hibernating = false
		r.engine.mu.Lock()
		r.engine.hibernating--
		r.engine.mu.Unlock()
		r.unhold = r.engine.Clock.Hold()
	}
}

// rouse puts a run that hibernates down, when the engine stops.
func (e *Engine) rouse(r *run) {
	r.mu.Lock()
	if !r.hibernating || r.gone {
		r.mu.Unlock()
		return
	}
	r.units++
	r.wakeUp()
	r.mu.Unlock()
	e.leave(r)
}

// parkedRun is a run as it was when it was parked. What is asked of it is made
// then, for most callers want the end alone, which takes far less. It is safe for
// concurrent use.
type parkedRun interface {
	whole() *blueprint.Execution
	ending() blueprint.Ending
}

// parkedAccount is a run that this process parked.
type parkedAccount struct {
	account *stored // as readers see it
	truth   *stored // as it is
	row     blueprint.ExecutionRow
}

func (r *parkedAccount) whole() *blueprint.Execution { return r.account.render(&r.row) }

func (r *parkedAccount) ending() blueprint.Ending {
	ending := blueprint.Ending{Status: r.row.Status, Failure: r.account.failure(r.row.Status)}
	if ending.Status == blueprint.StatusCompleted {
		ending.Output = newValues(r.truth).output(r.truth.Ends)
	}
	return ending
}

// viewed is a run that has not ended, of which there is a view already.
type viewed struct{ *blueprint.Execution }

func (v viewed) whole() *blueprint.Execution { return v.Execution }

func (v viewed) ending() blueprint.Ending {
	return blueprint.Ending{Status: v.Status, Output: v.Output, Failure: v.Failure}
}
