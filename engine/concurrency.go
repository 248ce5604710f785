package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// concurrency holds the unfinished runs of triggers by concurrency group. A run beyond
// the limit of its group is blocked: stored but not in memory until enough others have
// ended. The engine's mu guards everything.
type concurrency struct {
	byKey          map[string]*concurrencyGroup
	members        map[string]*member  // by run
	number         int64               // of the latest slot
	blocked        int                 // in all groups
	awaitingMemory []*concurrencyGroup // groups whose next run waits for memory for its input
	recovering     bool                // recovery has not loaded every run yet: new ones wait
	recovered      chan struct{}       // closed when recovery is done; made by pauseAdmission
}

// concurrencyGroup is the unfinished runs of one trigger by age. Its newest run carries
// the limit; a retry is as old as the run that it retries.
type concurrencyGroup struct {
	key              string
	limit            int // 0 = none
	onLimit          blueprint.OnLimit
	newest           *member // the run whose limit applies; it may have ended
	members          list[*member]
	blocked          list[*member]
	durable          int // members with that flag set, as the two below
	cancelling       int
	cancelledBlocked int
	awaitsMemory     bool          // it is in concurrency.awaitingMemory
	changed          chan struct{} // closed when another run becomes durable or is refused; nil = nothing waits
}

// member is one run in its concurrency group.
type member struct {
	group            *concurrencyGroup
	id               string
	created          blueprint.Time
	number           int64 // increases with age; 0 = unknown
	memory           int   // size of its input
	admitted         bool  // it may begin, or has begun
	holdsMemory      bool  // its memory counts in engine.held, although the run is not loaded yet
	durable          bool  // and not being cancelled
	cancelling       bool  // it must not begin any more
	cancelledBlocked bool  // being cancelled while it was blocked
	flushed          bool  // awaitCommits has flushed it
	reserved         bool  // it keeps the place of a run that could not be loaded
	element          element[*member]
	blockedElement   element[*member]
}

// concurrencyKey returns the key of the run's concurrency group; "" for child runs and
// runs without a trigger.
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

func (g *concurrencyGroup) full() bool {
	return g.limit > 0 && (g.blocked.length > 0 || g.working() >= g.limit)
}

// working returns how many runs have begun or may begin.
func (g *concurrencyGroup) working() int {
	return g.members.length - g.blocked.length - g.cancelledBlocked
}

// adopt applies the limit that a run carries.
func (g *concurrencyGroup) adopt(b *begin) {
	if b.Concurrency == nil {
		g.set(nil)
	} else {
		g.set(&b.Concurrency.ConcurrencyGroup)
	}
}

func (g *concurrencyGroup) set(to *blueprint.ConcurrencyGroup) {
	g.limit, g.onLimit = 0, ""
	if to != nil {
		g.limit, g.onLimit = to.Limit, to.OnLimit
	}
}

// joinGroup adds a new run to its group. The caller holds e.mu.
func (e *Engine) joinGroup(r *run, atOnce bool) {
	key := r.concurrencyKey()
	if key == "" {
		return
	}
	e.concurrency.number++
	if e.Peers != nil { // numbers of several processes have to be in order too
		e.concurrency.number = max(e.concurrency.number, e.Clock.Now().UnixMicro())
	}
	s := &member{id: r.id, created: r.row.CreatedAt, number: e.concurrency.number, memory: r.memory}
	if r.begin.Concurrency != nil {
		r.begin.Concurrency.Number = s.number
	}
	e.addMember(key, s, atOnce)
	if g := s.group; r.begin.RetryOf == "" || g.newest == nil {
		g.adopt(r.begin)
		g.newest = s
	}
}

// addMember inserts a member behind all older ones. The caller holds e.mu.
func (e *Engine) addMember(key string, s *member, placed bool) {
	g := e.concurrency.byKey[key]
	if g == nil {
		g = &concurrencyGroup{key: key}
		e.concurrency.byKey[key] = g
	}
	e.concurrency.members[s.id] = s
	s.group, s.admitted, s.element.value, s.blockedElement.value = g, placed, s, s
	g.members.insertAfter(&s.element, lastBefore(&g.members, s))
	if placed {
		return
	}
	g.blocked.insertAfter(&s.blockedElement, lastBefore(&g.blocked, s))
	e.concurrency.blocked++
}

// older reports whether s is older than than. Creation times count only where a number
// is missing, since the clock may have been set back.
func (s *member) older(than *member) bool {
	if s.number != 0 && than.number != 0 {
		return s.number < than.number
	}
	return s.created < than.created
}

// lastBefore returns the last element of l that is not younger than s.
func lastBefore(l *list[*member], s *member) *element[*member] {
	at := l.last
	for at != nil && s.older(at.value) {
		at = at.prev
	}
	return at
}

func (s *member) markDurable() {
	if !s.durable && !s.cancelling {
		s.durable = true
		s.group.durable++
		s.group.notifyChanged()
	}
}

// markCancelling keeps a run that is about to be cancelled from beginning. e.mu is held.
func (e *Engine) markCancelling(s *member) {
	g := s.group
	if s.cancelling {
		return
	}
	if s.durable {
		s.durable = false
		g.durable--
	}
	s.cancelling = true
	g.cancelling++
	if s.blockedElement.list != nil {
		s.blockedElement.remove()
		e.concurrency.blocked--
		s.cancelledBlocked = true
		g.cancelledBlocked++
	}
	g.notifyChanged()
}

func (e *Engine) withdrawBlocked(executions []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range executions {
		if s := e.concurrency.members[id]; s != nil && !s.admitted {
			e.markCancelling(s)
		}
	}
}

// leaveGroup removes a run that has ended or was refused and admits the next blocked
// ones. The caller holds e.mu.
func (e *Engine) leaveGroup(id string) {
	s := e.concurrency.members[id]
	if s == nil {
		return
	}
	g := s.group
	e.removeMember(s)
	e.dropEmptyGroup(g)
	e.admitBlocked(g)
}

func (e *Engine) dropEmptyGroup(g *concurrencyGroup) {
	if g.members.length == 0 {
		delete(e.concurrency.byKey, g.key)
	}
}

// removeMember removes s from its group. The caller holds e.mu.
func (e *Engine) removeMember(s *member) {
	delete(e.concurrency.members, s.id)
	s.element.remove()
	if s.blockedElement.list != nil {
		s.blockedElement.remove()
		e.concurrency.blocked--
	}
	if s.durable {
		s.group.durable--
	}
	if s.cancelling {
		s.group.cancelling--
	}
	if s.cancelledBlocked {
		s.group.cancelledBlocked--
	}
	s.group.notifyChanged()
	if s.holdsMemory {
		s.holdsMemory = false
		e.free(s.memory)
	}
}

// markDurable marks a new run as durable. Only then may it displace others, since its
// key may have started a run before. The caller holds r.mu.
func (e *Engine) markDurable(r *run) {
	if r.concurrencyKey() == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.concurrency.members[r.id]; s != nil {
		s.markDurable()
		e.cancelOldest(s.group)
	}
}

// cancelOldest cancels a LimitCancel group's oldest runs beyond its limit. e.mu is held.
func (e *Engine) cancelOldest(g *concurrencyGroup) {
	if g.onLimit != blueprint.LimitCancel || g.limit == 0 || e.concurrency.recovering {
		return
	}
	for at := g.members.first; at != nil && g.durable > g.limit; at = at.next {
		s := at.value
		if !s.durable {
			continue
		}
		e.markCancelling(s)
		e.goHeld(func() { e.cancelInBackground(s.id, blueprint.Displaced) })
	}
}

// admitBlocked starts blocked runs as far as the limit and the memory for their inputs
// allow. The caller holds e.mu.
func (e *Engine) admitBlocked(g *concurrencyGroup) {
	for first := g.blocked.first; first != nil && !e.concurrency.recovering; first = g.blocked.first {
		s := first.value
		switch {
		case g.limit > 0 && g.working() >= g.limit:
			return
		case e.held > 0 && e.held+s.memory > e.room(s.memory):
			if !g.awaitsMemory {
				g.awaitsMemory = true
				e.concurrency.awaitingMemory = append(e.concurrency.awaitingMemory, g)
			}
			return
		}
		first.remove()
		e.concurrency.blocked--
		s.admitted, s.holdsMemory = true, true
		e.held += s.memory
		e.goHeld(func() { e.startAdmitted(s.id) })
	}
}

// startAdmitted starts a run that was blocked.
func (e *Engine) startAdmitted(id string) {
	r, err := e.acquire(e.ctx, id)
	switch {
	case err == nil:
		e.holdInput(r)
		e.release(r)
	case errors.Is(err, errElsewhere): // it was handed over meanwhile
		e.mu.Lock()
		e.leaveGroup(id)
		e.mu.Unlock()
	case isGone(err):
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		e.Logger.Warn("run load failed, retrying", "execution", id, "error", err)
		e.retryLater(func() { e.startAdmitted(id) })
	default: // it must not block the others
		e.mu.Lock()
		isMember := e.concurrency.members[id] != nil
		e.leaveGroup(id)
		e.mu.Unlock()
		if isMember { // otherwise its commit has failed, which was logged
			e.Logger.Error("blocked run failed to start", "execution", id, "error", err, "hint", "restart the server to recover it")
		}
	}
}

// holdInput moves the memory of an admitted run's input to the run. r.mu is held.
func (e *Engine) holdInput(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.concurrency.members[r.id]
	switch {
	case s == nil || !s.holdsMemory:
	case r.memoryCounted: // in memory since it was accepted
		s.holdsMemory = false
		e.free(s.memory)
	default:
		s.holdsMemory, r.memoryCounted = false, true
		e.held += r.memory - s.memory
	}
}

// addTapeMemory counts recorded exchanges like the input. Accepted runs are never
// refused for them. The caller holds r.mu.
func (e *Engine) addTapeMemory(r *run, size int) {
	if size == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.memory += size; r.memoryCounted {
		e.held += size
	}
}

// releaseMemory releases the memory of a run's input. The caller holds e.mu.
func (e *Engine) releaseMemory(r *run) {
	if r.memoryCounted {
		r.memoryCounted = false
		e.reserved -= int(r.reserved)
		e.releaseInput(r)
		e.free(r.memory)
	}
}

// free returns memory of inputs and admits runs that wait for it, in order. e.mu is held.
func (e *Engine) free(memory int) {
	e.held -= memory
	waiting := e.concurrency.awaitingMemory
	e.concurrency.awaitingMemory = nil
	for i, g := range waiting {
		g.awaitsMemory = false
		if e.admitBlocked(g); g.awaitsMemory { // still not enough
			e.concurrency.awaitingMemory = append(waiting[i:i+1:i+1], waiting[i+1:]...)
			return
		}
	}
}

// mayBegin reports whether a run is neither blocked nor being cancelled. r.mu is held.
func (e *Engine) mayBegin(r *run) bool {
	if r.concurrencyKey() == "" {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.concurrency.members[r.id]
	return s == nil || s.admitted && !s.cancelling
}

// pauseAdmission admits no run until resumeAdmission, because it is known only after
// recovery has loaded all runs which ones had begun and keep their place.
func (e *Engine) pauseAdmission() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.concurrency.recovering, e.concurrency.recovered = true, make(chan struct{})
}

func (e *Engine) resumeAdmission(ctx context.Context) {
	e.Relimit(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping.Load() {
		return // stop has refused those that waited
	}
	e.concurrency.recovering = false
	close(e.concurrency.recovered)
	for _, key := range slices.Sorted(maps.Keys(e.concurrency.byKey)) {
		g := e.concurrency.byKey[key]
		e.cancelOldest(g)
		e.admitBlocked(g)
	}
}

// keepsPlace reports whether a new run may still begin, once it is stored. Other processes
// may have had runs of its group when it was admitted, which this one has taken over since.
func (e *Engine) keepsPlace(r *run) bool {
	if r.group == nil || !r.awaitsPlace() {
		return true
	}
	for {
		e.mu.Lock()
		undecided := e.concurrency.recovered
		if !e.concurrency.recovering || e.stopping.Load() {
			break
		}
		e.mu.Unlock()
		select {
		case <-undecided:
		case <-e.ctx.Done():
			return true // nothing begins any more
		}
	}
	defer e.mu.Unlock()
	s := e.concurrency.members[r.id]
	if s == nil || s.cancelling {
		return true
	}
	if g := s.group; s.admitted && g.onLimit == blueprint.LimitQueue && g.limit > 0 && g.working() > g.limit {
		s.admitted = false
		g.blocked.insertAfter(&s.blockedElement, lastBefore(&g.blocked, s))
		e.concurrency.blocked++
	}
	return s.admitted
}

// awaitsPlace reports whether the place of a new run was not confirmed yet.
func (r *run) awaitsPlace() (awaits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	awaits, r.placed = !r.placed, true
	return awaits
}

// rejoinGroup adds a recovered run to its group. One that had begun, or was accepted
// without a limit, continues even beyond it; any other is blocked. r.mu is held.
func (e *Engine) rejoinGroup(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kept := e.concurrency.members[r.id]; kept != nil {
		e.removeMember(kept)
		defer e.admitBlocked(kept.group)
		defer e.dropEmptyGroup(kept.group)
	}
	key := r.concurrencyKey()
	if key == "" {
		return
	}
	s := &member{id: r.id, created: r.row.CreatedAt, memory: r.memory}
	if r.begin.Concurrency != nil {
		s.number = r.begin.Concurrency.Number
		e.concurrency.number = max(e.concurrency.number, s.number)
	}
	e.addMember(key, s, r.begun || r.begin.Concurrency == nil || mutant.Is(mutant.LimitForgotten))
	s.markDurable()
	if g := s.group; g.newest == nil || r.begin.RetryOf == "" && !s.older(g.newest) {
		g.adopt(r.begin)
		g.newest = s
	}
	e.cancelOldest(s.group)
	e.admitBlocked(s.group)
}

// hasRejoined reports whether a run has its place in its group already.
func (e *Engine) hasRejoined(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.concurrency.members[id]
	return s != nil && !s.reserved
}

// reserveSlot adds a member for a run that cannot be loaded now.
func (e *Engine) reserveSlot(row *blueprint.ExecutionRow) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if row.TriggerID != "" && e.concurrency.members[row.ID] == nil {
		s := &member{id: row.ID, created: row.CreatedAt, reserved: true}
		e.addMember(row.TriggerID, s, true)
		s.markDurable()
	}
}

// Relimit reads the limits of groups with blocked runs again and admits those that may
// begin: a limit may have been raised or removed, or its trigger deleted, without a new
// run. A lower limit cancels nothing before a newer run arrives. A limit that cannot be
// read stays unchanged.
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
			e.Logger.Warn("concurrency limit read failed, keeping the last known one", "trigger", key, "error", err)
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
