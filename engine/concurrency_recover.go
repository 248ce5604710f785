package engine

import (
	"context"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// fillLanes keeps everybody who stands where they are until openLanes: which
// runs of an earlier process have begun, and keep their places, is not known
// before all of them were looked at.
func (e *Engine) fillLanes() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes.filling, e.lanes.open = true, make(chan struct{})
}

// openLanes lets as many begin as the present limits allow.
func (e *Engine) openLanes(ctx context.Context) {
	e.Relimit(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes.filling = false
	close(e.lanes.open)
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
	s := &seat{id: r.id, created: r.row.CreatedAt, memory: r.memory}
	if r.begin.Lane != nil {
		s.number = r.begin.Lane.Number
		e.lanes.number = max(e.lanes.number, s.number)
	}
	e.sit(key, s, r.begun || r.begin.Lane == nil || mutant.Is(mutant.LimitForgotten))
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

// Relimit asks for the limits of the lanes in which somebody stands, and lets in
// who may begin by them: a limit may be raised or taken away, or its trigger
// deleted, when none of its runs comes to tell. A lower one cancels nobody
// before a newer run comes. Of one that cannot be read the last that was known
// stays.
func (e *Engine) Relimit(ctx context.Context) {
	if e.Lane == nil {
		return
	}
	for _, key := range e.crowded() {
		lane, err := e.Lane(ctx, key)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.Logger.Warn("the limit of a trigger cannot be read; the last one known counts", "trigger", key, "error", err)
			continue
		}
		e.mu.Lock()
		if l := e.lanes.byKey[key]; l != nil {
			l.set(lane)
			e.letIn(l)
		}
		e.mu.Unlock()
	}
}

// crowded lists the lanes in which somebody stands.
func (e *Engine) crowded() (keys []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, l := range e.lanes.byKey {
		if l.standing.length > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
