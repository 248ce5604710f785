package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// displaced is the reason for cancelling a run in favour of a newer one.
const displaced = blueprint.Displaced

// concurrency holds the unfinished runs of triggers, by concurrency group. A run
// beyond the limit of its group is blocked: it waits on the disk, not in memory,
// until enough others have ended. The engine's mu guards it all.
type concurrency struct {
	byKey   map[string]*concurrencyGroup
	slots   map[string]*slot    // by run
	number  int64               // of the latest slot
	blocked int                 // blocked runs in all groups
	short   []*concurrencyGroup // groups whose next run is blocked until there is memory for its input
	filling bool                // recovery has not seen every run yet: new ones wait
	open    chan struct{}       // closed when recovery is done; made by holdNewRuns
}

func newConcurrency() concurrency {
	return concurrency{byKey: map[string]*concurrencyGroup{}, slots: map[string]*slot{}}
}

// concurrencyGroup is the unfinished runs of one trigger, by age. Its newest run
// carries the limit; a retry is as old as the run that it retries.
type concurrencyGroup struct {
	key            string
	limit          int // 0 = none
	onLimit        blueprint.OnLimit
	newest         *slot // of the run whose limit applies; it may have ended
	slots          line[*slot]
	blocked        line[*slot]
	alive          int // slots with that flag set, as the two below
	leaving        int
	leavingBlocked int
	isShort        bool          // it is in concurrency.short
	settle         chan struct{} // closed when one more run is known to be durable or refused; nil while nothing waits for that
}

// slot is the place of one run in its concurrency group.
type slot struct {
	group          *concurrencyGroup
	id             string
	created        blueprint.Time
	number         int64 // later runs have higher numbers; 0 = unknown
	memory         int   // size of its input
	placed         bool  // it may begin, or has begun
	holds          bool  // its memory counts in engine.held, although the run is not loaded yet
	alive          bool  // durable, and not being cancelled
	leaving        bool  // being cancelled: it does not begin any more
	leavingBlocked bool  // being cancelled while it was blocked
	hurried        bool  // its first commit was brought forward
	all            spot[*slot]
	inBlocked      spot[*slot]
}

// concurrencyKey returns the key of the run's concurrency group, or "" for a run
// started by another run or without a trigger.
func (r *fold) concurrencyKey() string {
	switch b := r.begin; {
	case b.Parent != "":
		return ""
	case b.Concurrency != nil:
		return b.Concurrency.Key
	case b.Trigger != nil:
		return b.Trigger.ID
	}
	return ""
}

// full reports whether a new run would be blocked.
func (g *concurrencyGroup) full() bool {
	return g.limit > 0 && (g.blocked.length > 0 || g.working() >= g.limit)
}

// working returns how many runs have begun or may begin.
func (g *concurrencyGroup) working() int { return g.slots.length - g.blocked.length - g.leavingBlocked }

// adopt applies the limit that a run carries.
func (g *concurrencyGroup) adopt(b *begin) {
	if b.Concurrency == nil {
		g.set(nil)
	} else {
		g.set(&b.Concurrency.ConcurrencyGroup)
	}
}

// set changes the limit; nil removes it.
func (g *concurrencyGroup) set(to *blueprint.ConcurrencyGroup) {
	g.limit, g.onLimit = 0, ""
	if to != nil {
		g.limit, g.onLimit = to.Limit, to.OnLimit
	}
}

// takeSlot adds a new run to its group. e.mu is held.
func (e *Engine) takeSlot(r *run, atOnce bool) {
	key := r.concurrencyKey()
	if key == "" {
		return
	}
	e.concurrency.number++
	s := &slot{id: r.id, created: r.row.CreatedAt, number: e.concurrency.number, memory: r.memory}
	if r.begin.Concurrency != nil {
		r.begin.Concurrency.Number = s.number
	}
	e.addSlot(key, s, atOnce)
	if g := s.group; r.begin.RetryOf == "" || g.newest == nil {
		g.adopt(r.begin)
		g.newest = s
	}
}

// addSlot inserts a slot into a group behind all older ones. e.mu is held.
func (e *Engine) addSlot(key string, s *slot, placed bool) {
	g := e.concurrency.byKey[key]
	if g == nil {
		g = &concurrencyGroup{key: key}
		e.concurrency.byKey[key] = g
	}
	e.concurrency.slots[s.id] = s
	s.group, s.placed, s.all.of, s.inBlocked.of = g, placed, s, s
	g.slots.joinAfter(&s.all, lastBefore(&g.slots, s))
	if placed {
		return
	}
	g.blocked.joinAfter(&s.inBlocked, lastBefore(&g.blocked, s))
	e.concurrency.blocked++
}

// older reports whether s came before than. It compares creation times only where
// a number is missing, for the clock may have been set back in between.
func (s *slot) older(than *slot) bool {
	if s.number != 0 && than.number != 0 {
		return s.number < than.number
	}
	return s.created < than.created
}

// lastBefore returns the last spot in l whose slot is not younger than s.
func lastBefore(l *line[*slot], s *slot) *spot[*slot] {
	at := l.last
	for at != nil && s.older(at.of) {
		at = at.before
	}
	return at
}

// live marks a run as durable.
func (s *slot) live() {
	if !s.alive && !s.leaving {
		s.alive = true
		s.group.alive++
		s.group.notifySettled()
	}
}

// markLeaving keeps a run that is about to be cancelled from beginning. e.mu is
// held.
func (e *Engine) markLeaving(s *slot) {
	g := s.group
	if s.leaving {
		return
	}
	if s.alive {
		s.alive = false
		g.alive--
	}
	s.leaving = true
	g.leaving++
	if s.inBlocked.line != nil {
		s.inBlocked.leave()
		e.concurrency.blocked--
		s.leavingBlocked = true
		g.leavingBlocked++
	}
	g.notifySettled()
}

// withdrawBlocked marks the blocked ones among executions as leaving.
func (e *Engine) withdrawBlocked(executions []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range executions {
		if s := e.concurrency.slots[id]; s != nil && !s.placed {
			e.markLeaving(s)
		}
	}
}

// releaseSlot removes a run that has ended, or was refused, from its group and
// admits the next blocked ones. e.mu is held.
func (e *Engine) releaseSlot(id string) {
	s := e.concurrency.slots[id]
	if s == nil {
		return
	}
	g := s.group
	e.removeSlot(s)
	e.dropEmptyGroup(g)
	e.admitBlocked(g)
}

// dropEmptyGroup deletes a group without runs. e.mu is held.
func (e *Engine) dropEmptyGroup(g *concurrencyGroup) {
	if g.slots.length == 0 {
		delete(e.concurrency.byKey, g.key)
	}
}

// removeSlot removes a slot from its group. e.mu is held.
func (e *Engine) removeSlot(s *slot) {
	delete(e.concurrency.slots, s.id)
	s.all.leave()
	if s.inBlocked.line != nil {
		s.inBlocked.leave()
		e.concurrency.blocked--
	}
	if s.alive {
		s.group.alive--
	}
	if s.leaving {
		s.group.leaving--
	}
	if s.leavingBlocked {
		s.group.leavingBlocked--
	}
	s.group.notifySettled()
	if s.holds {
		s.holds = false
		e.free(s.memory)
	}
}

// settled marks a new run as durable. Before that it must not displace others,
// since its key may have started a run already. r.mu is held.
func (e *Engine) settled(r *run) {
	if r.concurrencyKey() == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.concurrency.slots[r.id]; s != nil {
		s.live()
		e.cancelOldest(s.group)
	}
}

// cancelOldest cancels the oldest runs of a group beyond its limit, if its rule is
// LimitCancel. e.mu is held.
func (e *Engine) cancelOldest(g *concurrencyGroup) {
	if g.onLimit != blueprint.LimitCancel || g.limit == 0 || e.concurrency.filling {
		return
	}
	for at := g.slots.first; at != nil && g.alive > g.limit; at = at.after {
		s := at.of
		if !s.alive {
			continue
		}
		e.markLeaving(s)
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.abandon(s.id, displaced)
		}()
	}
}

// admitBlocked lets blocked runs begin, as far as the limit and the memory for
// their inputs allow. e.mu is held.
func (e *Engine) admitBlocked(g *concurrencyGroup) {
	for first := g.blocked.first; first != nil && !e.concurrency.filling; first = g.blocked.first {
		s := first.of
		switch {
		case g.limit > 0 && g.working() >= g.limit:
			return
		case e.held > 0 && e.held+s.memory > e.room(s.memory):
			if !g.isShort {
				g.isShort = true
				e.concurrency.short = append(e.concurrency.short, g)
			}
			return
		}
		first.leave()
		e.concurrency.blocked--
		s.placed, s.holds = true, true
		e.held += s.memory
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.proceed(s.id)
		}()
	}
}

// proceed starts a run that was blocked.
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
	default: // it must not block the others
		e.mu.Lock()
		sits := e.concurrency.slots[id] != nil
		e.releaseSlot(id)
		e.mu.Unlock()
		if sits { // otherwise the journal has refused it meanwhile, which was reported
			e.Logger.Error("a run could not be begun", "execution", id, "error", err, "hint", "it is taken up at the next start")
		}
	}
}

// holdInput moves the memory of an admitted run's input from its slot to the run.
// r.mu is held.
func (e *Engine) holdInput(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.concurrency.slots[r.id]
	switch {
	case s == nil || !s.holds:
	case r.counted: // it has been in memory since it was accepted
		s.holds = false
		e.free(s.memory)
	default:
		s.holds, r.counted = false, true
		e.held += r.memory - s.memory
	}
}

// holdTape counts what a run has exchanged with other services like its input. An
// accepted run is never refused for it. r.mu is held.
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

// unload stops counting the input of a run. e.mu is held.
func (e *Engine) unload(r *run) {
	if r.counted {
		r.counted = false
		e.reserved -= int(r.reserved)
		e.releaseInput(r)
		e.free(r.memory)
	}
}

// free returns memory of inputs and admits the runs that were blocked for want of
// it, longest first. e.mu is held.
func (e *Engine) free(memory int) {
	e.held -= memory
	waiting := e.concurrency.short
	e.concurrency.short = nil
	for i, g := range waiting {
		g.isShort = false
		if e.admitBlocked(g); g.isShort { // still too little
			e.concurrency.short = append(waiting[i:i+1:i+1], waiting[i+1:]...)
			return
		}
	}
}

// mayBegin reports whether a run is neither blocked nor being cancelled. r.mu is
// held.
func (e *Engine) mayBegin(r *run) bool {
	if r.concurrencyKey() == "" {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.concurrency.slots[r.id]
	return s == nil || s.placed && !s.leaving
}

// holdNewRuns admits no run until admitNewRuns: before recovery has seen all runs
// of an earlier process, it is not known which of them had begun and keep their
// slots.
func (e *Engine) holdNewRuns() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.concurrency.filling, e.concurrency.open = true, make(chan struct{})
}

// admitNewRuns lets as many runs begin as the current limits allow.
func (e *Engine) admitNewRuns(ctx context.Context) {
	e.Relimit(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.concurrency.filling = false
	close(e.concurrency.open)
	for _, key := range slices.Sorted(maps.Keys(e.concurrency.byKey)) {
		g := e.concurrency.byKey[key]
		e.cancelOldest(g)
		e.admitBlocked(g)
	}
}

// restoreSlot adds a run of an earlier process to its group. One that had begun, or
// was accepted without a limit, goes on even beyond the limit; any other is blocked.
// r.mu is held.
func (e *Engine) restoreSlot(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kept := e.concurrency.slots[r.id]; kept != nil {
		e.removeSlot(kept)
		defer e.admitBlocked(kept.group)
		defer e.dropEmptyGroup(kept.group)
	}
	key := r.concurrencyKey()
	if key == "" {
		return
	}
	s := &slot{id: r.id, created: r.row.CreatedAt, memory: r.memory}
	if r.begin.Concurrency != nil {
		s.number = r.begin.Concurrency.Number
		e.concurrency.number = max(e.concurrency.number, s.number)
	}
	e.addSlot(key, s, r.begun || r.begin.Concurrency == nil || mutant.Is(mutant.LimitForgotten))
	s.live()
	if g := s.group; g.newest == nil || r.begin.RetryOf == "" && !s.older(g.newest) {
		g.adopt(r.begin)
		g.newest = s
	}
	e.cancelOldest(s.group)
	e.admitBlocked(s.group)
}

// reserve adds a slot for a run that cannot be read now.
func (e *Engine) reserve(row *blueprint.ExecutionRow) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if row.TriggerID != "" && e.concurrency.slots[row.ID] == nil {
		s := &slot{id: row.ID, created: row.CreatedAt}
		e.addSlot(row.TriggerID, s, true)
		s.live()
	}
}

// Relimit reads the limits of groups with blocked runs again and admits those that
// may begin by them: a limit may have been raised or removed, or its trigger
// deleted, without a new run that carries it. A lower limit cancels nothing before
// a newer run arrives. A limit that cannot be read stays as it was.
func (e *Engine) Relimit(ctx context.Context) {
	if e.Concurrency == nil {
		return
	}
	for _, key := range e.blockedGroups() {
		limit, err := e.Concurrency(ctx, key)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.Logger.Warn("cannot read the concurrency limit of a trigger; the last known one applies", "trigger", key, "error", err)
			continue
		}
		e.mu.Lock()
		if g := e.concurrency.byKey[key]; g != nil {
			g.set(limit)
			e.admitBlocked(g)
		}
		e.mu.Unlock()
	}
}

// blockedGroups lists the keys of the groups with blocked runs.
func (e *Engine) blockedGroups() (keys []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, g := range e.concurrency.byKey {
		if g.blocked.length > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
