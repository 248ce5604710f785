package engine

import (
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// maxStanding is how many runs may stand in one lane until others have ended.
const maxStanding = 1000

// notYetError says that whether a run is taken in is known later.
type notYetError struct{ until <-chan struct{} }

func (*notYetError) Error() string { return "not known yet" }

// enlist takes in a new run, as admit does, once it is known whether its lane has
// room.
func (e *Engine) enlist(r *run) (admission, error) {
	for {
		as, err := e.admit(r)
		var later *notYetError
		if !errors.As(err, &later) {
			return as, err
		}
		select {
		case <-later.until:
		case <-e.ctx.Done():
			return 0, errShuttingDown
		}
	}
}

// mayEnter tells whether a new run may begin at once or has to stand, or why it
// is not taken in. e.mu is held.
func (e *Engine) mayEnter(r *run) (atOnce bool, err error) {
	key := r.laneKey()
	if key != "" && e.lanes.filling { // its number has to be higher than all that there are
		return false, &notYetError{e.lanes.open}
	}
	l := e.lanes.byKey[key]
	if l == nil {
		return true, nil
	}
	if r.begin.RetryOf == "" {
		l.adopt(r.begin)
		e.letIn(l) // those before it, when the limit was raised
	}
	switch {
	case !l.full():
		return true, nil
	case l.onLimit == blueprint.LimitSkip && l.alive+l.leaving >= l.limit:
		return false, &blueprint.LaneFullError{Limit: l.limit, Running: l.seats.length, Oldest: l.seats.first.of.id}
	case l.onLimit == blueprint.LimitSkip && l.seats.length >= l.limit:
		return false, e.unsettled(l)
	case l.standing.length+l.fading >= maxStanding:
		return false, tooMany(fmt.Sprintf("the queue of this trigger is full (%d wait, config.concurrency.limit %d)", maxStanding, l.limit)).Named(blueprint.ReasonQueueFull)
	}
	return false, nil
}

// unsettled says to look again once it is known whether those who are on their
// way to the disk come to be there: the key of one may have started a run
// before, and then it takes nobody's place. They do not take their time over it
// now. e.mu is held.
func (e *Engine) unsettled(l *lane) error {
	for at := l.seats.first; at != nil; at = at.after {
		s := at.of
		if r := e.runs[s.id]; r != nil && !s.alive && !s.leaving && !s.hurried {
			s.hurried = true
			go r.flush()
		}
	}
	if l.settle == nil {
		l.settle = make(chan struct{})
	}
	return &notYetError{l.settle}
}

// stir makes those look again who wait until more is known of a lane. e.mu is
// held.
func (l *lane) stir() {
	if l.settle != nil {
		close(l.settle)
		l.settle = nil
	}
}
