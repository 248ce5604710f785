package triggers

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Intervals of the watchdog, in real time except for lateAfter and OverdueAfter.
const (
	watchInterval = 30 * time.Second // between checks of the scheduler's counters
	// sweepInterval is the interval between checks of all schedules if nothing seems
	// wrong, and the maximum otherwise.
	sweepInterval = 15 * time.Minute
	// sweepShare bounds the time spent on sweeps, to 1/sweepShare.
	sweepShare   = 200
	sweepPage    = 500 // schedules
	storeTimeout = 10 * time.Second
	// lateAfter is when an undecided tick becomes suspect, OverdueAfter when overdue.
	lateAfter    = onTime
	OverdueAfter = 2 * time.Minute
)

// watchdog checks that the scheduler decides ticks. It relies on the store and the
// clock only, not on the state of the scheduler. One goroutine owns it.
//
// An undecided tick is first a suspect. It is overdue if a later sweep finds it again,
// which gives the scheduler time to catch up after a start or when a machine resumes.
type watchdog struct {
	*Service
	sweeps    int
	next      time.Time // of the next sweep, in real time
	soonest   time.Time // the same if something seems wrong
	postponed int64     // ticks, at the last sweep
	alarm     watchAlarm
}

// startWatchdog starts a watchdog; stop ends it and waits.
func (t *Service) startWatchdog(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := &watchdog{Service: t}
		defer w.alarm.work.Wait()
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case real := <-ticker.C:
				w.watch(ctx, real)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// watch sweeps if it is time to or something seems wrong.
func (w *watchdog) watch(ctx context.Context, real time.Time) {
	if real.Before(w.next) && (real.Before(w.soonest) || !w.suspicious(w.Clock.Now())) {
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
	case !w.overdue.failed(): // only the first failure
		w.Logger.Warn("schedule watchdog check failed", "error", err, "hint", "check the disk of the database")
	}
	w.overdue.swept(w.sweeps, failure)
	w.soonest, w.next = real.Add(min(sweepShare*took.Elapsed(), sweepInterval)), real.Add(sweepInterval)
}

// suspicious reports whether the counters of the scheduler indicate a problem.
func (w *watchdog) suspicious(now time.Time) bool {
	looked, next := blueprint.Time(w.counts.looked.Value()), blueprint.Time(w.counts.next.Value())
	return looked == 0 || now.Sub(looked.Time()) > pollInterval+lateAfter || // it does not check for due ticks
		next != 0 && now.Sub(next.Time()) > lateAfter || // it is stuck
		w.counts.postponed.Value() != w.postponed ||
		w.overdue.any() || w.overdue.failed()
}

// sweep reads all active schedules and reports the silent ones.
func (w *watchdog) sweep(ctx context.Context, real time.Time) error {
	w.sweeps++
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
		if last = next; len(page) < sweepPage {
			break
		}
	}
	w.alarm.report(ctx, w.Service, silent)
	return nil
}

func (w *watchdog) page(ctx context.Context, last int64) ([]blueprint.Schedule, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return w.Store.SchedulesAfter(ctx, last, sweepPage)
}

// examine returns the silence of a schedule; nil if there is no problem or only a suspect.
func (w *watchdog) examine(row *blueprint.Schedule, now, real time.Time) *silence {
	timing, issues := ReadSchedule(row.Trigger.Config)
	if len(issues) > 0 {
		one := w.overdue.find(row, time.Time{}, real, w.sweeps)
		w.overdue.confirm(one)
		return one
	}
	due, ok := timing.Schedule.Next(row.Cursor.Time(), timing.Zone)
	if !ok || now.Sub(due) <= lateAfter {
		return nil
	}
	one := w.overdue.find(row, due, real, w.sweeps)
	if !one.found.Before(real) || now.Sub(due) <= OverdueAfter {
		return nil
	}
	if w.overdue.confirm(one) {
		w.counts.missed.Add(1)
	}
	return one
}

// Limits per sweep. The log summarizes the rest; further events follow after later sweeps.
const (
	maxLogged = 10
	maxEvents = 1000
)

const silentHint = "GET /readyz?verbose shows whether the disk or the queue is the reason; otherwise restart the server"

// watchAlarm reports each silence once, to the log and as an event. Events are
// published in the background, so that the store never blocks the watchdog.
type watchAlarm struct {
	busy atomic.Bool
	work sync.WaitGroup
}

func (a *watchAlarm) report(ctx context.Context, s *Service, silent []*silence) {
	count := 0
	for _, one := range silent {
		if one.logged {
			continue
		}
		one.logged = true
		count++
		if count <= maxLogged && !one.due.IsZero() { // the scheduler logs invalid configs
			s.Logger.Warn("tick overdue", "trigger", one.schedule.Trigger.ID, "due", instant(one.due), "hint", silentHint)
		}
	}
	if count > maxLogged {
		s.Logger.Warn("further ticks overdue", "schedules", count-maxLogged, "hint", silentHint)
	}
	if a.busy.Load() {
		return
	}
	var unpublished []*silence
	for _, one := range silent {
		if !one.published && len(unpublished) < maxEvents {
			unpublished = append(unpublished, one)
		}
	}
	if len(unpublished) == 0 {
		return
	}
	a.busy.Store(true)
	a.work.Go(func() {
		defer a.busy.Store(false)
		for _, one := range unpublished {
			if !s.overdue.lasts(one) {
				continue
			}
			if err := one.publish(ctx, s); err != nil {
				if ctx.Err() == nil {
					s.Logger.Warn("publishing overdue ticks failed, retrying", "error", err)
				}
				return
			}
			one.published = true
		}
	})
}

// publish publishes the trigger.missed event of a silence.
func (one *silence) publish(ctx context.Context, s *Service) error {
	var ticks *tickRange
	reason := "the config of the schedule is invalid, so it does not fire; update it"
	if !one.due.IsZero() {
		ticks = &tickRange{count: 1, first: one.due, last: one.due}
		reason = "the tick of " + instant(one.due) + " was due and is not decided"
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return s.Store.RecordFirings(ctx, one.schedule.Trigger.ID, nil, 0, s.missedEvent(&one.schedule, ticks, missedOverdue, reason))
}

// OverdueSchedule is an active schedule whose ticks are not decided.
type OverdueSchedule struct {
	TriggerID string
	// Since is the first undecided tick; zero if the config is invalid.
	Since blueprint.Time
}

// Overdue returns at most limit of the schedules that Stats counts as overdue, those
// with an invalid config first, then the oldest.
func (t *Service) Overdue(limit int) []OverdueSchedule { return t.overdue.list(limit) }

// overdue holds the silent schedules that the watchdog found. The scheduler removes
// those that it decides. It is safe for concurrent use.
type overdue struct {
	mu        sync.Mutex
	silent    map[string]*silence // by trigger, including suspects
	confirmed int64               // without suspects
	failure   string              // of the last sweep
}

// silence is an undecided tick of a due schedule. The watchdog owns all but confirmed.
type silence struct {
	schedule  blueprint.Schedule // without its config
	due       time.Time          // zero = the config is invalid
	found     time.Time          // by the first sweep, in real time
	confirmed bool               // guarded by overdue.mu
	logged    bool
	published bool
	sweep     int // the last that found it
}

// decided removes a schedule whose ticks up to an instant are decided. It returns how
// many ticks, 0 or 1, were already counted as missed.
func (o *overdue) decided(triggerID string, upTo time.Time) (counted int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := o.silent[triggerID]
	if found == nil || found.due.IsZero() || found.due.After(upTo) {
		return 0
	}
	o.remove(found)
	if found.confirmed {
		return 1
	}
	return 0
}

// remove removes a silence. o.mu is held.
func (o *overdue) remove(one *silence) {
	delete(o.silent, one.schedule.Trigger.ID)
	if one.confirmed {
		o.confirmed--
	}
}

// find returns the silence of a schedule, which is new for another tick than before.
func (o *overdue) find(row *blueprint.Schedule, due, real time.Time, sweep int) *silence {
	o.mu.Lock()
	defer o.mu.Unlock()
	one := o.silent[row.Trigger.ID]
	if one == nil || !one.due.Equal(due) {
		if one != nil {
			o.remove(one)
		}
		one = &silence{schedule: *row, due: due, found: real}
		one.schedule.Trigger.Config = nil
		if o.silent == nil {
			o.silent = map[string]*silence{}
		}
		o.silent[row.Trigger.ID] = one
	}
	one.sweep = sweep
	return one
}

// confirm confirms a suspect unless it was decided, and reports whether it was one.
func (o *overdue) confirm(one *silence) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if one.confirmed || o.silent[one.schedule.Trigger.ID] != one {
		return false
	}
	one.confirmed = true
	o.confirmed++
	return true
}

// lasts reports whether a silence is still undecided.
func (o *overdue) lasts(one *silence) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.silent[one.schedule.Trigger.ID] == one
}

// swept ends a sweep. Unless it failed, silences that it did not find are removed.
func (o *overdue) swept(sweep int, failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure = failure; failure != "" {
		return
	}
	for _, one := range o.silent {
		if one.sweep != sweep {
			o.remove(one)
		}
	}
}

// any reports whether a schedule with a valid config is silent or a suspect.
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

// failed reports whether the last sweep failed.
func (o *overdue) failed() bool {
	_, failure := o.state()
	return failure != ""
}

func (o *overdue) state() (confirmed int64, failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.confirmed, o.failure
}

func (o *overdue) list(limit int) []OverdueSchedule {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := []OverdueSchedule{}
	for id, one := range o.silent {
		if one.confirmed {
			list = append(list, OverdueSchedule{TriggerID: id, Since: blueprint.TimeOf(one.due)})
		}
	}
	slices.SortFunc(list, func(a, b OverdueSchedule) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TriggerID, b.TriggerID))
	})
	return list[:min(limit, len(list))]
}

// Values of decision in a trigger.missed event, besides those of blueprint.Decision.
const (
	missedCoalesced = string(blueprint.DecisionCoalesced) // a run covers them
	missedSkipped   = string(blueprint.DecisionSkipped)
	missedLate      = "late"    // the run starts late
	missedOverdue   = "overdue" // not decided yet
)

// unmet returns the ticks of a step without a run on time, nil for none. Runs is
// whether the step starts a run.
func (st *step) unmet(runs bool) *tickRange {
	if st.at.IsZero() || runs && !st.late {
		return st.skipped
	}
	return st.skipped.join(&tickRange{count: 1, first: st.at, last: st.at})
}

// unreported returns the ticks for the event of a step: its unmet ones and those of
// the following steps, so that an outage is one event. It is nil if an earlier event
// covered them. A server that is restarted between these steps reports the rest again.
func (one *scheduled) unreported(st *step, unmet *tickRange) *tickRange {
	if unmet == nil || !unmet.last.After(one.reported) {
		return nil
	}
	return unmet.join(st.later)
}

// missedEvents returns the event to publish with a step, if any.
func (s *scheduler) missedEvents(one *scheduled, st *step, unmet *tickRange, b *blueprint.Binding, decision, reason string) []blueprint.Event {
	if st.later != nil {
		reason += "; later " + st.later.String() + "; the ledger has each"
	}
	ticks := one.unreported(st, unmet)
	if ticks == nil {
		return nil
	}
	schedule := &blueprint.Schedule{Trigger: blueprint.Trigger{ID: b.Trigger.ID, BlueprintID: b.Definition.BlueprintID}, OrganizationID: b.Definition.OrganizationID}
	return []blueprint.Event{s.missedEvent(schedule, ticks, decision, reason)}
}

// lateEvents returns the event to publish with the run of a step, if any.
func (s *scheduler) lateEvents(one *scheduled, st *step, a *activation) []blueprint.Event {
	if a.coalesced != nil {
		return s.missedEvents(one, st, st.unmet(true), a.binding, missedCoalesced, a.coalesced.Reason)
	}
	return s.missedEvents(one, st, st.unmet(true), a.binding, missedLate, a.firing.Reason)
}

// missedEvent returns a trigger.missed event. Ticks are nil if they are unknown.
func (t *Service) missedEvent(schedule *blueprint.Schedule, ticks *tickRange, decision, reason string) blueprint.Event {
	data := map[string]any{
		"triggerId": schedule.Trigger.ID, "missed": json.Number("0"), "firstDueAt": nil, "lastDueAt": nil, "decision": decision, "reason": reason,
	}
	if ticks != nil {
		data["missed"], data["firstDueAt"], data["lastDueAt"] = json.Number(strconv.Itoa(ticks.count)), instant(ticks.first), instant(ticks.last)
	}
	return blueprint.Event{
		Name: blueprint.EventTriggerMissed, OrganizationID: schedule.OrganizationID, BlueprintID: schedule.Trigger.BlueprintID,
		At: blueprint.TimeOf(t.Clock.Now()), Data: data,
	}
}
