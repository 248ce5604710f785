package engine

import (
	"cmp"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// maxStanding is how many runs may stand in one lane until others have ended.
const maxStanding = 1000

// displaced is why a run is cancelled whose place another is to have.
const displaced = "a newer run of its trigger took its place"

// lanes are the runs of triggers that have not ended: those that work, those at
// rest, and those that stand, which means that they wait, on the disk and not
// in memory, until so many others have ended that the trigger's limit lets them
// begin. The engine's mu guards it all.
type lanes struct {
	byKey    map[string]*lane
	seats    map[string]*seat // by run
	number   int64            // of the latest seat
	standing int              // runs that stand
	filling  bool             // not all that an earlier process left is known yet: nobody is let in
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
	alive    int // see seat
}

// seat is one run in its lane.
type seat struct {
	lane    *lane
	id      string
	created blueprint.Time
	number  int64 // later ones have higher numbers
	placed  bool  // it may begin, or has begun
	alive   bool  // it is on the disk, and was not told to go
	leaving bool  // it was told to go
	all     spot[*seat]
	stands  spot[*seat]
}

// laneKey names the lane of a run, "" when it is in none: no trigger started it,
// or another run did.
func (r *run) laneKey() string {
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
	return l.limit > 0 && (l.standing.length > 0 || l.seats.length-l.standing.length >= l.limit)
}

// mayEnter tells whether a new run may begin at once or has to stand, or why it
// is not taken in. e.mu is held.
func (e *Engine) mayEnter(r *run) (atOnce bool, err error) {
	l := e.lanes.byKey[r.laneKey()]
	switch {
	case l == nil:
		return r.laneKey() == "" || !e.lanes.filling, nil
	case r.begin.RetryOf == "":
		l.adopt(r.begin)
		e.letIn(l) // those before it, when the limit was raised
	}
	switch {
	case !l.full():
		return !e.lanes.filling, nil
	case l.onLimit == blueprint.LimitSkip && l.seats.length >= l.limit:
		return false, &blueprint.LaneFullError{Limit: l.limit, Running: l.seats.length}
	case l.standing.length >= maxStanding:
		return false, tooMany(fmt.Sprintf("%d runs of this trigger wait until others of it have ended, which is the most", maxStanding))
	}
	return false, nil
}

// adopt takes over what a beginning says of the limit.
func (l *lane) adopt(b *begin) {
	l.limit, l.onLimit = 0, ""
	if b.Lane != nil {
		l.limit, l.onLimit = b.Lane.Limit, b.Lane.OnLimit
	}
}

// enter gives a new run its seat. e.mu is held.
func (e *Engine) enter(r *run, atOnce bool) {
	key := r.laneKey()
	if key == "" {
		return
	}
	e.lanes.number++
	s := &seat{id: r.id, created: r.row.CreatedAt, number: e.lanes.number}
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

// older tells which of two came first.
func (s *seat) older(than *seat) bool {
	return cmp.Or(cmp.Compare(s.created, than.created), cmp.Compare(s.number, than.number)) < 0
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
	}
}

// letIn lets as many of those who stand begin as the limit allows. e.mu is held.
func (e *Engine) letIn(l *lane) {
	for first := l.standing.first; first != nil && !e.lanes.filling; first = l.standing.first {
		if l.limit > 0 && l.seats.length-l.standing.length >= l.limit {
			return
		}
		s := first.of
		first.leave()
		e.lanes.standing--
		s.placed = true
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

// mayBegin tells whether a run does not have to stand. r.mu is held.
func (e *Engine) mayBegin(r *run) bool {
	if r.laneKey() == "" {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.lanes.seats[r.id]
	return s == nil || s.placed
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
		s.alive, s.leaving = false, true
		l.alive--
		unhold := e.Clock.Hold()
		go func() {
			defer unhold()
			e.abandon(s.id, displaced)
		}()
	}
}
