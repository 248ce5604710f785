package triggers

import (
	"context"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
)

// How much the watchdog says after one look; the rest is summed up in the log,
// and raised after the next ones.
const (
	mostSaid   = 10
	mostRaised = 1000
)

// silentHint says what to do when a tick is overdue.
const silentHint = "GET /readyz?verbose tells whether the disk or the queue is the reason; if neither is, start the server anew"

// watchAlarm says once of each schedule that it is silent: in the log, and as an
// event. The disk may keep it waiting, but never the watchdog.
type watchAlarm struct {
	busy atomic.Bool
	work sync.WaitGroup
}

func (a *watchAlarm) wait() { a.work.Wait() }

// tell says what has not been said before.
func (a *watchAlarm) tell(ctx context.Context, s *Service, silent []*silence) {
	said := 0
	for _, one := range silent {
		if !one.said {
			one.said = true
			if said++; said <= mostSaid {
				one.log(s)
			}
		}
	}
	if said > mostSaid {
		s.Logger.Warn("further schedules are silent", "schedules", said-mostSaid, "hint", silentHint)
	}
	if a.busy.Load() { // what was to be raised before is not yet
		return
	}
	var fresh []*silence
	for _, one := range silent {
		if !one.raised && len(fresh) < mostRaised {
			fresh = append(fresh, one)
		}
	}
	if len(fresh) == 0 {
		return
	}
	a.busy.Store(true)
	a.work.Go(func() {
		defer a.busy.Store(false)
		for _, one := range fresh {
			if !s.overdue.still(one) {
				continue
			}
			if err := one.raise(ctx, s); err != nil {
				if ctx.Err() == nil {
					s.Logger.Warn("that schedules are silent could not be raised as events and is tried again", "error", err)
				}
				return
			}
			one.raised = true
		}
	})
}

// log says that a schedule is silent, unless the scheduler has.
func (one *silence) log(s *Service) {
	if !one.due.IsZero() {
		s.Logger.Warn("a tick is overdue: nothing has been decided about it", "trigger", one.schedule.Trigger.ID, "due", instant(one.due), "hint", silentHint)
	}
}

// raise raises the event that a schedule is silent.
func (one *silence) raise(ctx context.Context, s *Service) error {
	var ticks *lot
	reason := "the config of the schedule cannot be read, so it does not fire; update it"
	if !one.due.IsZero() {
		ticks = &lot{count: 1, first: one.due, last: one.due}
		reason = "the tick of " + instant(one.due) + " was due, and nothing has been decided about it"
	}
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	event := s.missedEvent(&one.schedule, ticks, missedOverdue, reason)
	return s.Store.RecordFirings(ctx, one.schedule.Trigger.ID, nil, 0, []blueprint.Event{event}...)
}
