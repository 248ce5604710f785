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

// wrong reports whether the scheduler seems not to do its work, by what it says of
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

// examine returns what is known of a schedule that is silent, nil for one that is
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

// still reports whether a silence lasts.
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

// any reports whether a schedule whose ticks can be known is silent, or seems so.
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

// failed reports whether the last look at all failed.
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

// What a trigger.missed event says of its ticks besides blueprint.Decision.
const (
	missedCoalesced = string(blueprint.DecisionCoalesced) // a run stands for them
	missedSkipped   = string(blueprint.DecisionSkipped)   // none does
	missedLate      = "late"                              // the run is started too late
	missedOverdue   = "overdue"                           // nothing is decided yet
)

// unmet returns the ticks of a step for which no run is started when they are due,
// nil for none; runs says whether the step starts one.
func (st *step) unmet(runs bool) *lot {
	var l lot
	if st.left != nil {
		l = *st.left
	}
	if !st.at.IsZero() && (st.late || !runs) {
		if l.count == 0 {
			l.first = st.at
		}
		l.count, l.last = l.count+1, st.at
	}
	if l.count == 0 {
		return nil
	}
	return &l
}

// undelivered gives what the event of a step tells of its ticks that were not run when
// they were due: all that were missed by then, those of the steps behind it as
// well, so that an outage is told once. Nil when they were told of already. A
// server that is stopped within these steps tells of the rest again.
func (one *scheduled) unreported(st *step, unmet *lot) *lot {
	if unmet == nil || !unmet.last.After(one.reported) {
		return nil
	}
	return unmet.and(st.behind)
}

// missedEvents returns what is raised with a step.
func (s *scheduler) missedEvents(one *scheduled, st *step, unmet *lot, of *blueprint.Binding, decision, reason string) []blueprint.Event {
	if st.behind != nil {
		reason += "; behind it " + st.behind.String() + ", and the ledger tells of each"
	}
	return one.unreported(st, unmet).events(s.Service, of, decision, reason)
}

// lateEvents returns what is raised with the run of a step.
func (s *scheduler) lateEvents(one *scheduled, st *step, a *activation) []blueprint.Event {
	if a.coalesced != nil {
		return s.missedEvents(one, st, st.unmet(true), a.binding, missedCoalesced, a.coalesced.Reason)
	}
	return s.missedEvents(one, st, st.unmet(true), a.binding, missedLate, a.firing.Reason)
}

// events returns the one event that tells of some ticks for which no run was
// started when they were due, or none when there are no such ticks.
func (l *lot) events(t *Service, of *blueprint.Binding, decision, reason string) []blueprint.Event {
	if l == nil {
		return nil
	}
	place := &blueprint.Schedule{Trigger: blueprint.Trigger{ID: of.Trigger.ID, BlueprintID: of.Definition.BlueprintID}, OrganizationID: of.Definition.OrganizationID}
	return []blueprint.Event{t.missedEvent(place, l, decision, reason)}
}

// missedEvent tells of the ticks of a lot; nil when which they were is not known.
func (t *Service) missedEvent(of *blueprint.Schedule, l *lot, decision, reason string) blueprint.Event {
	data := map[string]any{
		"triggerId": of.Trigger.ID, "missed": json.Number("0"), "firstDueAt": nil, "lastDueAt": nil, "decision": decision, "reason": reason,
	}
	if l != nil {
		data["missed"], data["firstDueAt"], data["lastDueAt"] = json.Number(strconv.Itoa(l.count)), instant(l.first), instant(l.last)
	}
	return blueprint.Event{
		Name: blueprint.EventTriggerMissed, OrganizationID: of.OrganizationID, BlueprintID: of.Trigger.BlueprintID,
		At: blueprint.TimeOf(t.Clock.Now()), Data: data,
	}
}

// met takes note that the ticks of a step are decided, and counts those that were
// not run when they were due; nil is none. A tick that the watchdog counted is not counted
// again.
func (t *Service) met(triggerID string, st *step, unmet *lot) {
	counted := t.overdue.decided(triggerID, st.end())
	if unmet != nil {
		t.counts.missed.Add(int64(unmet.count - counted))
	}
}
