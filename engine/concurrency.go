package engine

import (
	"errors"

	"blueprintd/blueprint"
)

// displaced is why a run is cancelled whose place another is to have.
const displaced = blueprint.Displaced

// lanes are the runs of triggers that have not ended: those that work, those at
// rest, and those that stand, which means that they wait, on the disk and not
// in memory, until so many others have ended that the trigger's limit lets them
// begin. The engine's mu guards it all.
type lanes struct {
	byKey    map[string]*lane
	seats    map[string]*seat // by run
	number   int64            // of the latest seat
	standing int              // runs that stand
	short    []*lane          // in which somebody stands until there is memory for the input
	filling  bool             // not all that an earlier process left is known yet: nobody is let in
	open     chan struct{}    // closed when that is over; there only after fillLanes
}

func newLanes() lanes { return lanes{byKey: map[string]*lane{}, seats: map[string]*seat{}} }

// lane is the runs of one trigger that have not ended, by age. What its limit
// is, its newest run tells; a retry is as old as what it retries.
type lane struct {
	key      string
	limit    int // 0 = none
	onLimit  blueprint.OnLimit
	newest   *seat // that told; it may have ended
	seats    line[*seat]
	standing line[*seat]
	alive    int // see seat, as the two below
	leaving  int
	fading   int
	isShort  bool          // it is in lanes.short
	settle   chan struct{} // closed when it is known of one more whether it is on the disk; nil while nobody waits for that
}

// seat is one run in its lane.
type seat struct {
	lane    *lane
	id      string
	created blueprint.Time
	number  int64 // later ones have higher numbers; 0 = not known
	memory  int   // that its input takes
	placed  bool  // it may begin, or has begun
	holds   bool  // its memory counts in engine.held, although its run does not yet
	alive   bool  // it is on the disk, and was not told to go
	leaving bool  // it was told to go: it does not begin any more
	fading  bool  // it was, while it stood
	hurried bool  // it was told to come to the disk at once
	all     spot[*seat]
	stands  spot[*seat]
}

// laneKey names the lane of a run, "" when it is in none: no trigger started it,
// or another run did.
func (r *fold) laneKey() string {
	switch b := r.begin; {
	case b.Parent != "":
		return ""
	case b.Lane != nil:
		return b.Lane.Key
	case b.Trigger != nil:
		return b.Trigger.ID
	}
	return ""
}

// full tells whether a new run has to stand.
func (l *lane) full() bool {
	return l.limit > 0 && (l.standing.length > 0 || l.working() >= l.limit)
}

// working is how many have begun, or may.
func (l *lane) working() int { return l.seats.length - l.standing.length - l.fading }

// adopt takes over what a beginning says of the limit.
func (l *lane) adopt(b *begin) {
	if b.Lane == nil {
		l.set(nil)
	} else {
		l.set(&b.Lane.Lane)
	}
}

// set changes the limit; nil is none.
func (l *lane) set(to *blueprint.Lane) {
	l.limit, l.onLimit = 0, ""
	if to != nil {
		l.limit, l.onLimit = to.Limit, to.OnLimit
	}
}

// enter gives a new run its seat. e.mu is held.
func (e *Engine) enter(r *run, atOnce bool) {
	key := r.laneKey()
	if key == "" {
		return
	}
	e.lanes.number++
	s := &seat{id: r.id, created: r.row.CreatedAt, number: e.lanes.number, memory: r.memory}
	if r.begin.Lane != nil {
		r.begin.Lane.Number = s.number
	}
	e.sit(key, s, atOnce)
	if l := s.lane; r.begin.RetryOf == "" || l.newest == nil {
		l.adopt(r.begin)
		l.newest = s
	}
}

// sit puts a seat into its lane, behind those that are older. e.mu is held.
func (e *Engine) sit(key string, s *seat, placed bool) {
	l := e.lanes.byKey[key]
	if l == nil {
		l = &lane{key: key}
		e.lanes.byKey[key] = l
	}
	e.lanes.seats[s.id] = s
	s.lane, s.placed, s.all.of, s.stands.of = l, placed, s, s
	l.seats.joinAfter(&s.all, lastBefore(&l.seats, s))
	if placed {
		return
	}
	l.standing.joinAfter(&s.stands, lastBefore(&l.standing, s))
	e.lanes.standing++
}

// older tells which of two came first. The clock may have been set back in
// between, so it is asked only about those that have no number.
func (s *seat) older(than *seat) bool {
	if s.number != 0 && than.number != 0 {
		return s.number < than.number
	}
	return s.created < than.created
}

// lastBefore gives the last spot in a line of seats that is not younger than s.
func lastBefore(l *line[*seat], s *seat) *spot[*seat] {
	at := l.last
	for at != nil && s.older(at.of) {
		at = at.before
	}
	return at
}

// live notes that a run is on the disk.
func (s *seat) live() {
	if !s.alive && !s.leaving {
		s.alive = true
		s.lane.alive++
		s.lane.stir()
	}
}

// tellToGo keeps a run that is to be cancelled from beginning meanwhile. e.mu is
// held.
func (e *Engine) tellToGo(s *seat) {
	l := s.lane
	if s.leaving {
		return
	}
	if s.alive {
		s.alive = false
		l.alive--
	}
	s.leaving = true
	l.leaving++
	if s.stands.line != nil {
		s.stands.leave()
		e.lanes.standing--
		s.fading = true
		l.fading++
	}
	l.stir()
}

// keepBack tells those of some runs to go that stand.
func (e *Engine) keepBack(executions []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range executions {
		if s := e.lanes.seats[id]; s != nil && !s.placed {
			e.tellToGo(s)
		}
	}
}

// vacate takes a run out of its lane that has ended or never was, and lets in
// who stands next. e.mu is held.
func (e *Engine) vacate(id string) {
	s := e.lanes.seats[id]
	if s == nil {
		return
	}
	l := s.lane
	e.unseat(s)
	e.vacant(l)
	e.letIn(l)
}

// vacant drops a lane in which nobody is. e.mu is held.
func (e *Engine) vacant(l *lane) {
	if l.seats.length == 0 {
		delete(e.lanes.byKey, l.key)
	}
}

// unseat takes a seat out of its lane. e.mu is held.
func (e *Engine) unseat(s *seat) {
	delete(e.lanes.seats, s.id)
	s.all.leave()
	if s.stands.line != nil {
		s.stands.leave()
		e.lanes.standing--
	}
	if s.alive {
		s.lane.alive--
	}
	if s.leaving {
		s.lane.leaving--
	}
	if s.fading {
		s.lane.fading--
	}
	s.lane.stir()
	if s.holds {
		s.holds = false
		e.free(s.memory)
	}
}

// settled notes that a new run is on the disk. Before, it must not take the
// place of others: its key may have started a run already. r.mu is held.
func (e *Engine) settled(r *run) {
	if r.laneKey() == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.lanes.seats[r.id]; s != nil {
		s.live()
		e.makeRoom(s.lane)
	}
}

// makeRoom cancels the oldest runs of a lane, if that is its rule, so that no
// more than its limit stay. e.mu is held.
func (e *Engine) makeRoom(l *lane) {
	if l.onLimit != blueprint.LimitCancel || l.limit == 0 || e.lanes.filling {
		return
	}
	for at := l.seats.first; at != nil && l.alive > l.limit; at = at.after {
		s := at.of
		if !s.alive {
			continue
		}
		e.tellToGo(s)
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.abandon(s.id, displaced)
		}()
	}
}

// letIn lets as many of those who stand begin as the limit allows, and as there
// is memory for what they were given. e.mu is held.
func (e *Engine) letIn(l *lane) {
	for first := l.standing.first; first != nil && !e.lanes.filling; first = l.standing.first {
		s := first.of
		switch {
		case l.limit > 0 && l.working() >= l.limit:
			return
		case e.held > 0 && e.held+s.memory > e.room(s.memory):
			if !l.isShort {
				l.isShort = true
				e.lanes.short = append(e.lanes.short, l)
			}
			return
		}
		first.leave()
		e.lanes.standing--
		s.placed, s.holds = true, true
		e.held += s.memory
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.proceed(s.id)
		}()
	}
}

// proceed sets a run to work that stood until now.
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
	default: // it must not keep the others back
		e.mu.Lock()
		sits := e.lanes.seats[id] != nil
		e.vacate(id)
		e.mu.Unlock()
		if sits { // else the disk has refused it meanwhile, and somebody was told
			e.Logger.Error("a run could not be begun", "execution", id, "error", err, "hint", "it is taken up at the next start")
		}
	}
}

// holdInput counts the input of a run that was let in for the run, as that of
// one that is new. r.mu is held.
func (e *Engine) holdInput(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.lanes.seats[r.id]
	switch {
	case s == nil || !s.holds:
	case r.counted: // it has not been put down since it came
		s.holds = false
		e.free(s.memory)
	default:
		s.holds, r.counted = false, true
		e.held += r.memory - s.memory
	}
}

// holdTape counts what a run has exchanged with other services like its input.
// What is taken in already is never refused for it. r.mu is held.
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

// unload no longer counts the input of a run. e.mu is held.
func (e *Engine) unload(r *run) {
	if r.counted {
		r.counted = false
		e.reserved -= int(r.reserved)
		e.releaseInput(r)
		e.free(r.memory)
	}
}

// free gives memory back that inputs took, to those who stand for want of it,
// longest first. e.mu is held.
func (e *Engine) free(memory int) {
	e.held -= memory
	waiting := e.lanes.short
	e.lanes.short = nil
	for i, l := range waiting {
		l.isShort = false
		if e.letIn(l); l.isShort { // there is no more
			e.lanes.short = append(waiting[i:i+1:i+1], waiting[i+1:]...)
			return
		}
	}
}

// mayBegin tells whether a run does not have to stand, and was not told to go.
// r.mu is held.
func (e *Engine) mayBegin(r *run) bool {
	if r.laneKey() == "" {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.lanes.seats[r.id]
	return s == nil || s.placed && !s.leaving
}
