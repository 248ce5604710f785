package triggers

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// OverdueSchedule is an active schedule that is silent.
type OverdueSchedule struct {
	TriggerID string
	// Since is when its first undecided tick was due; zero when its config cannot
	// be read, so that it has none.
	Since blueprint.Time
}

// Overdue names at most limit of the schedules that Stats counts as overdue,
// those that cannot be read first and then the oldest.
func (t *Service) Overdue(limit int) []OverdueSchedule { return t.overdue.list(limit) }

// overdue is what the watchdog knows of schedules that are silent. The scheduler
// strikes out whatever it decides. It is safe for concurrent use.
type overdue struct {
	mu      sync.Mutex
	silent  map[string]*silence // by trigger; suspects, too
	certain int64               // of them, those that are no mere suspects
	failure string              // why the last look at all failed
}

// silence is a schedule about whose next tick nothing has been decided although
// it was due. What follows is the watchdog's own, but for certain.
type silence struct {
	schedule blueprint.Schedule // without its config
	due      time.Time          // zero: it cannot be read
	found    time.Time          // when the watchdog found it first, in real time
	certain  bool               // it is not just late
	said     bool               // in the log
	raised   bool               // as an event
	seen     int                // in which look last
}

// decided strikes out a schedule whose ticks up to an instant are decided. It
// gives 1 when that makes a tick known that was counted as missed before, else 0.
func (o *overdue) decided(triggerID string, upTo time.Time) (counted int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := o.silent[triggerID]
	if found == nil || found.due.IsZero() || found.due.After(upTo) {
		return 0
	}
	return o.strike(found)
}

// strike forgets a silence. o.mu is held.
func (o *overdue) strike(one *silence) (counted int) {
	delete(o.silent, one.schedule.Trigger.ID)
	if !one.certain {
		return 0
	}
	o.certain--
	if one.due.IsZero() {
		return 0
	}
	return 1
}

// find takes note, in a look, of a schedule that is silent, and gives what is
// known of it. A later tick of the same schedule is another silence.
func (o *overdue) find(row *blueprint.Schedule, due, real time.Time, look int) *silence {
	o.mu.Lock()
	defer o.mu.Unlock()
	one := o.silent[row.Trigger.ID]
	if one == nil || !one.due.Equal(due) {
		if one != nil {
			o.strike(one)
		}
		one = &silence{schedule: *row, due: due, found: real}
		one.schedule.Trigger.Config = nil
		if o.silent == nil {
			o.silent = map[string]*silence{}
		}
		o.silent[row.Trigger.ID] = one
	}
	one.seen = look
	return one
}

// confirm makes a suspect certain, unless it has been decided meanwhile. It
// tells whether it was a suspect until now.
func (o *overdue) confirm(one *silence) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if one.certain || o.silent[one.schedule.Trigger.ID] != one {
		return false
	}
	one.certain = true
	o.certain++
	return true
}

// still tells whether a silence lasts.
func (o *overdue) still(one *silence) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.silent[one.schedule.Trigger.ID] == one
}

// looked ends a look at all: who was not found in it is silent no more, or gone.
// With an error nothing is known of those that were not come to.
func (o *overdue) looked(look int, failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure = failure; failure != "" {
		return
	}
	for _, one := range o.silent {
		if one.seen != look {
			o.strike(one)
		}
	}
}

// any tells whether a schedule whose ticks can be known is silent, or seems so.
func (o *overdue) any() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.silent {
		if !one.due.IsZero() {
			return true
		}
	}
	return false
}

// failed tells whether the last look at all failed.
func (o *overdue) failed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure != ""
}

func (o *overdue) state() (certain int64, failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.certain, o.failure
}

func (o *overdue) list(limit int) []OverdueSchedule {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := []OverdueSchedule{}
	for id, one := range o.silent {
		if one.certain {
			list = append(list, OverdueSchedule{TriggerID: id, Since: blueprint.TimeOf(one.due)})
		}
	}
	slices.SortFunc(list, func(a, b OverdueSchedule) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TriggerID, b.TriggerID))
	})
	return list[:min(limit, len(list))]
}
