package engine

import (
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/planted"
)

// fillLanes keeps everybody who stands where they are until openLanes: which
// runs of an earlier process have begun, and keep their places, is not known
// before all of them were looked at.
func (e *Engine) fillLanes() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes.filling = true
}

// openLanes lets as many begin as the limits allow.
func (e *Engine) openLanes() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes.filling = false
	for _, key := range slices.Sorted(maps.Keys(e.lanes.byKey)) {
		l := e.lanes.byKey[key]
		e.makeRoom(l)
		e.letIn(l)
	}
}

// resit gives a run of an earlier process its seat. One that has begun, or that
// was taken in when there was no limit, goes on, even beyond the limit; any other
// stands. r.mu is held.
func (e *Engine) resit(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kept := e.lanes.seats[r.id]; kept != nil {
		e.unseat(kept)
		defer e.letIn(kept.lane)
		defer e.vacant(kept.lane)
	}
	key := r.laneKey()
	if key == "" {
		return
	}
	s := &seat{id: r.id, created: r.row.CreatedAt}
	if r.begin.Lane != nil {
		s.number = r.begin.Lane.Number
		e.lanes.number = max(e.lanes.number, s.number)
	}
	e.sit(key, s, r.begun || r.begin.Lane == nil || planted.Is(planted.LimitForgotten))
	s.live()
	if l := s.lane; l.newest == nil || r.begin.RetryOf == "" && !s.older(l.newest) {
		l.adopt(r.begin)
		l.newest = s
	}
	e.makeRoom(s.lane)
	e.letIn(s.lane)
}

// reserve keeps the place of a run that cannot be read now.
func (e *Engine) reserve(row *blueprint.ExecutionRow) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if row.TriggerID != "" && e.lanes.seats[row.ID] == nil {
		s := &seat{id: row.ID, created: row.CreatedAt}
		e.sit(row.TriggerID, s, true)
		s.live()
	}
}
