package triggers

import (
	"context"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// How the watchdog looks; all but OverdueAfter and lateAfter are real time.
const (
	// watchEvery is how often it looks whether the scheduler seems well, which
	// costs next to nothing.
	watchEvery = 30 * time.Second
	// watchAll is how often it looks at all schedules although nothing seems
	// wrong, and the longest that it waits when something does.
	watchAll = 15 * time.Minute
	// watchShare is what part of the time looking at all schedules may take.
	watchShare = 200
	// watchPage is how many schedules it reads at once.
	watchPage = 500
	// watchPatience is how long the disk may take for one page.
	watchPatience = 10 * time.Second
	// lateAfter is when a tick about which nothing is decided becomes suspect,
	// and OverdueAfter when it is certain that something is wrong.
	lateAfter    = onTime
	OverdueAfter = 2 * time.Minute
)

// watchdog looks after the scheduler: whether it does what it is there for, by
// what the disk holds, whatever the scheduler itself believes. It shares nothing
// with it but the disk and the clock. One goroutine owns it.
//
// A tick that is due is a suspect at first, and overdue when a later look finds
// it undecided still: after a start, or when a machine wakes, the scheduler gets
// the time in between to catch up.
type watchdog struct {
	*Service
	look      int       // counts the looks at all schedules
	next      time.Time // when to look at all next, in real time
	soonest   time.Time // when to do so if something seems wrong
	postponed int64     // as it was counted when that was looked at last
	alarm     watchAlarm
}

// watched starts a watchdog. Ending it waits until it has.
func (t *Service) watched(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := &watchdog{Service: t}
		defer w.alarm.wait()
		every := time.NewTicker(watchEvery)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case real := <-every.C:
				w.watch(ctx, real)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// watch looks at all schedules when it is time to, or something seems wrong.
func (w *watchdog) watch(ctx context.Context, real time.Time) {
	if real.Before(w.next) && (real.Before(w.soonest) || !w.wrong(w.Clock.Now())) {
		return
	}
	w.postponed = w.counts.postponed.Value()
	took := metrics.Begin()
	err := w.sweep(ctx, real)
	if ctx.Err() != nil {
		return
	}
	failure := ""
	if err != nil {
		failure = shown(err).Message
	}
	switch {
	case err == nil:
		w.counts.watched.Set(int64(blueprint.TimeOf(w.Clock.Now())))
	case !w.overdue.failed(): // once, until it can be looked at again
		w.Logger.Warn("whether all schedules fire could not be looked at", "error", err, "hint", "look at the disk of the database")
	}
	w.overdue.looked(w.look, failure)
	w.soonest, w.next = real.Add(min(watchShare*took.Elapsed(), watchAll)), real.Add(watchAll)
}

// wrong tells whether the scheduler seems not to do its work, by what it says of
// itself. What it does not know of is found when all schedules are looked at.
func (w *watchdog) wrong(now time.Time) bool {
	looked, next := blueprint.Time(w.counts.looked.Value()), blueprint.Time(w.counts.next.Value())
	switch {
	case looked == 0, now.Sub(looked.Time()) > reread+lateAfter: // it does not look
	case next != 0 && now.Sub(next.Time()) > lateAfter: // it is in the middle of something
	case w.counts.postponed.Value() != w.postponed: // it could not do something
	case w.overdue.any(), w.overdue.failed():
	default:
		return false
	}
	return true
}

// sweep reads all active schedules and finds those that are silent. It keeps
// nothing of the others.
func (w *watchdog) sweep(ctx context.Context, real time.Time) error {
	w.look++
	now := w.Clock.Now()
	var silent []*silence
	for last := int64(0); ; {
		page, next, err := w.page(ctx, last)
		if err != nil {
			return err
		}
		for i := range page {
			if one := w.examine(&page[i], now, real); one != nil {
				silent = append(silent, one)
			}
		}
		if last = next; len(page) < watchPage {
			break
		}
	}
	w.alarm.tell(ctx, w.Service, silent)
	return nil
}

func (w *watchdog) page(ctx context.Context, last int64) ([]blueprint.Schedule, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return w.Store.SchedulesAfter(ctx, last, watchPage)
}

// examine gives what is known of a schedule that is silent, nil for one that is
// well or only seems silent so far.
func (w *watchdog) examine(row *blueprint.Schedule, now, real time.Time) *silence {
	timing, issues := ReadSchedule(row.Trigger.Config)
	if len(issues) > 0 {
		one := w.overdue.find(row, time.Time{}, real, w.look)
		w.overdue.confirm(one)
		return one
	}
	due, ok := timing.Schedule.Next(row.Cursor.Time(), timing.Zone)
	if !ok || now.Sub(due) <= lateAfter {
		return nil
	}
	one := w.overdue.find(row, due, real, w.look)
	if !one.found.Before(real) || now.Sub(due) <= OverdueAfter {
		return nil
	}
	if w.overdue.confirm(one) {
		w.counts.missed.Add(1)
	}
	return one
}
