package triggers

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

const (
	// pollInterval is the interval, in real time, at which schedules and outbox are read
	// for changes by other processes.
	pollInterval = 30 * time.Second
	// maxDrift is how far the clock may run ahead of real time before that counts as an
	// outage: the machine was suspended, or its clock was set forward.
	maxDrift = 15 * time.Second
)

// scheduler is the loop behind Run. One goroutine owns it.
type scheduler struct {
	*Service
	agenda     agenda
	generation int64     // of the schedules in the agenda; 0 before the first load
	up         time.Time // since when the server has been up without interruption
	seen       time.Time // the clock when it was last observed
	seenReal   time.Time // real time then

	timer    *loopTimer // its instant is zero if it must be set
	releases []func()   // of holds of the clock, called once everything due is decided
	stale    bool       // a schedule differs from what was loaded
}

// Changed notifies Run about a new, changed, switched or deleted trigger. The clock does
// not advance until Run has noticed. Without it, changes wait for half a minute at most.
func (t *Service) Changed() { t.changed.notify(t.Clock) }

// Run fires the schedules, beginning with ticks that were missed while no server ran,
// and delivers the events of the outbox, watched by a watchdog. It returns after ctx
// ends, when everything that it started has ended. It returns an error if the
// schedules cannot be read at the start, except for a temporary one.
func (t *Service) Run(ctx context.Context) error {
	s := &scheduler{Service: t, timer: newLoopTimer()}
	defer s.end()
	defer t.startWatchdog(ctx)()
	defer t.startRelay(ctx)()
	s.releases = append(s.releases, t.Clock.Hold())
	if s.up = t.Clock.Now(); t.UpSince != nil {
		s.up = t.UpSince()
	}
	s.observe()
	if err := s.firstLoad(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		s.decide(ctx)
		s.setTimer(ctx)
		s.release()
		if ctx.Err() != nil {
			return nil
		}
		select { // due ticks first, so that the order is deterministic
		case release := <-s.timer.fired:
			s.timerFired(release)
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case release := <-s.timer.fired:
			s.timerFired(release)
			continue
		case <-t.changed.notified:
		case <-poll.C:
		}
		s.releases = append(s.releases, t.Clock.Hold())
		s.releases = append(s.releases, t.changed.take()...)
		if t.Relimit != nil {
			t.Relimit(ctx)
		}
		if err := s.load(ctx); err != nil && ctx.Err() == nil {
			t.Logger.Warn("reading the schedules failed, using the previous ones", "error", err)
		}
	}
}

// firstLoad loads the schedules while the clock is held, so that no tick is skipped.
func (s *scheduler) firstLoad(ctx context.Context) error {
	for {
		err := s.load(ctx)
		switch {
		case err == nil, ctx.Err() != nil: // a lost store ends ctx
			return nil
		case blueprint.CodeOf(err) != blueprint.CodeUnavailable:
			return err
		}
		s.Logger.Warn("reading the schedules failed, none fires; retrying", "error", err, "hint", "check the disk of the database")
		clock.Sleep(ctx, retryDelay)
	}
}

func (s *scheduler) timerFired(release func()) {
	s.timer.at = time.Time{}
	s.releases = append(s.releases, release)
}

// end stops everything that the loop started.
func (s *scheduler) end() {
	s.timer.stop()
	s.releases = append(s.releases, s.changed.end()...)
	s.release()
	s.timer.calls.Wait()
	s.stopThrottle()
}

func (s *scheduler) release() {
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
}

// observe reads the clock. If it ran ahead of real time, the machine was suspended or the
// clock was set forward, and the server was down in between. Because the exact time is
// unknown, ticks within the real time since the last observation, at most pollInterval,
// still count as on time. A virtual clock always runs ahead, but stops at every tick, which
// then is not before up.
//
// If the clock is set back to before up, the server counts as up from there on.
func (s *scheduler) observe() time.Time {
	now, real := s.Clock.Now(), time.Now()
	if passed := real.Sub(s.seenReal); !s.seen.IsZero() && now.Sub(s.seen)-passed >= maxDrift {
		s.up = now.Add(-min(passed, pollInterval))
		s.timer.at = time.Time{} // a timer set before would fire late
	}
	if now.Before(s.seen) {
		s.counts.backwards.Add(1)
	}
	if now.Before(s.up) {
		s.up = now
	}
	s.seen, s.seenReal = now, real
	s.counts.looked.Set(now.UnixMilli())
	return now
}

// load reads the schedules that changed since the last load. It keeps the state of
// those whose timing is the same.
func (s *scheduler) load(ctx context.Context) error {
	rows, generation, err := s.Store.Schedules(ctx, s.generation)
	if err != nil {
		return err
	}
	for i := range rows {
		id := rows[i].Trigger.ID
		if !rows[i].Trigger.IsActive {
			s.agenda.remove(id)
			continue
		}
		one := s.agenda.byID[id]
		if one == nil || !one.sameTiming(&rows[i].Trigger) {
			one = s.newScheduled(&rows[i])
		}
		one.advance(rows[i].Cursor.Time())
		s.agenda.add(one)
	}
	s.generation, s.stale = generation, false
	s.counts.schedules.Set(int64(len(s.agenda.byID)))
	return nil
}

func (s *scheduler) setTimer(ctx context.Context) {
	next := s.agenda.next()
	s.counts.next.Set(int64(blueprint.TimeOf(next)))
	s.timer.set(ctx, s.Clock, next)
}

// decide processes all due ticks.
func (s *scheduler) decide(ctx context.Context) {
	now := s.observe()
	for range 2 { // again if schedules had to be reloaded
		all := s.agenda.due(now)
		due := slices.Clone(all)
		slices.SortStableFunc(due, func(a, b *scheduled) int { return a.next.Compare(b.next) })
		for _, one := range due {
			one.steps = one.due(one.cursor, now, s.up)
		}
		for len(due) > 0 && ctx.Err() == nil {
			batch := due[:min(len(due), maxBatch)]
			due = append(due[len(batch):], s.round(ctx, batch)...)
		}
		for _, one := range all {
			s.agenda.enqueue(one)
		}
		if !s.stale || s.load(ctx) != nil {
			return
		}
	}
}

// signal notifies a loop. It holds the clock until the loop has noticed.
type signal struct {
	notified chan struct{} // with a buffer of one

	mu       sync.Mutex
	releases []func() // of holds of the clock
	ended    bool     // the loop has ended
}

func newSignal() *signal { return &signal{notified: make(chan struct{}, 1)} }

func (s *signal) notify(c clock.Clock) {
	release := c.Hold()
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		release()
		return
	}
	s.releases = append(s.releases, release)
	s.mu.Unlock()
	select {
	case s.notified <- struct{}{}:
	default:
	}
}

// take returns the releases of all notifications so far.
func (s *signal) take() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	releases := s.releases
	s.releases = nil
	return releases
}

func (s *signal) end() []func() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	return s.take()
}

// loopTimer is the timer of a loop. Firing, it holds the clock and sends the release.
type loopTimer struct {
	timer *clock.Timer
	at    time.Time // zero = not set
	fired chan func()
	calls sync.WaitGroup
}

func newLoopTimer() *loopTimer { return &loopTimer{fired: make(chan func())} }

// set sets the instant at which the timer fires; zero is never.
func (a *loopTimer) set(ctx context.Context, c clock.Clock, at time.Time) {
	if at.Equal(a.at) {
		return
	}
	a.stop()
	if a.at = at; at.IsZero() {
		return
	}
	a.calls.Add(1)
	a.timer = c.At(at, func() {
		defer a.calls.Done()
		done := make(chan struct{})
		select {
		case a.fired <- sync.OnceFunc(func() { close(done) }):
			<-done
		case <-ctx.Done():
		}
	})
}

func (a *loopTimer) stop() {
	if a.timer.Stop() {
		a.calls.Done()
	}
	a.timer, a.at = nil, time.Time{}
}

// agenda holds the active schedules in a heap ordered by due time.
type agenda struct {
	byID  map[string]*scheduled
	queue scheduleQueue // schedules with a due time
	added int
}

// add adds a schedule or replaces the previous one of the same trigger.
func (a *agenda) add(one *scheduled) {
	if old := a.byID[one.trigger.ID]; old != nil {
		one.order = old.order
		a.remove(old.trigger.ID)
	} else {
		a.added++
		one.order = a.added
	}
	if a.byID == nil {
		a.byID = map[string]*scheduled{}
	}
	a.byID[one.trigger.ID] = one
	a.enqueue(one)
}

func (a *agenda) remove(id string) {
	if one := a.byID[id]; one != nil {
		delete(a.byID, id)
		if one.index >= 0 {
			heap.Remove(&a.queue, one.index)
		}
	}
}

// enqueue queues a schedule for its due time, if it has one.
func (a *agenda) enqueue(one *scheduled) {
	one.index = -1
	if one.dueAt = one.nextDue(); !one.dueAt.IsZero() {
		heap.Push(&a.queue, one)
	}
}

// next returns the earliest due time; zero for none.
func (a *agenda) next() time.Time {
	if len(a.queue) == 0 {
		return time.Time{}
	}
	return a.queue[0].dueAt
}

// due removes the due schedules from the queue. The caller must enqueue them again.
func (a *agenda) due(now time.Time) (list []*scheduled) {
	for len(a.queue) > 0 && !a.queue[0].dueAt.After(now) {
		list = append(list, heap.Pop(&a.queue).(*scheduled))
	}
	return list
}

// scheduleQueue implements heap.Interface, by due time, then by order.
type scheduleQueue []*scheduled

func (q scheduleQueue) Len() int { return len(q) }

func (q scheduleQueue) Less(i, j int) bool {
	return cmp.Or(q[i].dueAt.Compare(q[j].dueAt), cmp.Compare(q[i].order, q[j].order)) < 0
}

func (q scheduleQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *scheduleQueue) Push(one any) {
	one.(*scheduled).index = len(*q)
	*q = append(*q, one.(*scheduled))
}

func (q *scheduleQueue) Pop() any {
	last := len(*q) - 1
	one := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	one.index = -1
	return one
}

// scheduled is an active schedule. All ticks up to cursor are decided.
type scheduled struct {
	Timing
	trigger  blueprint.Trigger
	cursor   time.Time
	next     time.Time // the first tick after cursor; zero = none
	retry    time.Time // no earlier attempt
	steps    []step    // still to be done
	warned   time.Time // the last tick whose retry was logged
	reported time.Time // the last tick that a trigger.missed event covered

	order int // in the agenda, of schedules that are due at the same time
	dueAt time.Time
	index int // in the queue; -1 = not queued
}

// nextDue returns when the schedule is due; zero for never.
func (one *scheduled) nextDue() time.Time {
	if one.next.IsZero() || one.retry.Before(one.next) {
		return one.next
	}
	return one.retry
}

// maxBatch is the number of runs that begin before the first of them is waited for, so that
// they share commits.
const maxBatch = 200

// The delay before a tick is tried again: by default, and at most if the error states one.
const (
	retryDelay    = 5 * time.Second
	maxRetryDelay = 10 * time.Second
)

// farAhead is how far a cursor must be ahead of the clock before that is logged.
const farAhead = time.Hour

// newScheduled parses a schedule. An invalid one is never due.
func (s *scheduler) newScheduled(row *blueprint.Schedule) *scheduled {
	one := &scheduled{trigger: row.Trigger}
	var issues []blueprint.Issue
	one.Timing, issues = ReadSchedule(row.Trigger.Config)
	if len(issues) > 0 {
		one.Schedule = nil
		s.Logger.Error("schedule config invalid, schedule does not fire", "trigger", row.Trigger.ID, "error", blueprint.InvalidInput(issues), "hint", "update its config")
	}
	now := s.Clock.Now()
	if ahead := row.Cursor.Time().Sub(now); ahead > farAhead {
		s.Logger.Warn("schedule does not fire before its last tick, which is ahead of the clock",
			"trigger", row.Trigger.ID, "until", row.Cursor, "clock", blueprint.TimeOf(now), "hint", "create a new trigger to fire earlier")
	}
	return one
}

// sameTiming reports whether a trigger's config has the same timing.
func (one *scheduled) sameTiming(trigger *blueprint.Trigger) bool {
	for _, key := range []string{"cron", "timezone", "catchUp"} {
		if !blueprint.Equal(one.trigger.Config[key], trigger.Config[key]) {
			return false
		}
	}
	return true
}

// advance moves the cursor forward, never back.
func (one *scheduled) advance(cursor time.Time) {
	if cursor.After(one.cursor) {
		one.cursor, one.next, one.retry = cursor, time.Time{}, time.Time{}
		if one.Schedule != nil {
			one.next, _ = one.Schedule.Next(cursor, one.Zone)
		}
	}
}

// pending is a tick whose run has begun and is not durable yet.
type pending struct {
	one        *scheduled
	step       *step
	activation *activation
	run        Run
}

// round does the next step of each schedule and returns those with more steps. All
// runs begin before the first is waited for.
func (s *scheduler) round(ctx context.Context, batch []*scheduled) []*scheduled {
	var started []pending
	for _, one := range batch {
		if len(one.steps) == 0 {
			continue
		}
		now := &one.steps[0]
		binding := s.unchangedBinding(ctx, one)
		switch {
		case binding == nil:
			continue
		case now.stale(s.Clock.Now()):
			one.steps = nil // the store was slow for so long that the tick was missed; decide again
			continue
		case now.at.IsZero():
			row := s.rangeRow(one, now.skipped, blueprint.DecisionSkipped, now.skipped.because(blueprint.ReasonMissed))
			s.recordStep(ctx, one, now, s.missedEvents(one, now, now.unmet(false), binding, missedSkipped, row.Reason), *row)
			continue
		}
		if p, ok := s.startTick(ctx, one, now, binding); ok {
			started = append(started, p)
		}
	}
	for i := range started {
		p := &started[i]
		err := p.run.Accepted(context.WithoutCancel(ctx))
		if err == nil {
			s.started.Add(1)
			s.counts.tick(p.activation)
			s.decided(p.one, p.step, p.step.unmet(true))
			continue
		}
		s.failed(ctx, p.one, p.step, p.activation, err)
	}
	var more []*scheduled
	for _, one := range batch {
		if len(one.steps) > 0 {
			more = append(more, one)
		}
	}
	return more
}

// unchangedBinding returns the binding of a schedule, nil if it has changed.
func (s *scheduler) unchangedBinding(ctx context.Context, one *scheduled) *blueprint.Binding {
	binding, err := s.Store.Binding(context.WithoutCancel(ctx), one.trigger.ID)
	switch {
	case err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound:
		s.postpone(one, err)
		return nil
	case err != nil || !binding.Trigger.IsActive || !one.sameTiming(&binding.Trigger):
		s.stale, one.steps, one.retry = true, nil, s.Clock.Now().Add(retryDelay)
		s.counts.postponed.Add(1)
		return nil
	}
	return binding
}

// startTick begins the run of a tick. It returns false if there is nothing to wait for.
func (s *scheduler) startTick(ctx context.Context, one *scheduled, now *step, binding *blueprint.Binding) (pending, bool) {
	a := &activation{binding: binding, firing: s.newFiring(one.trigger.ID, blueprint.SourceSchedule), patience: soon, cursor: blueprint.TimeOf(now.at)}
	a.firing.Key, a.firing.DueAt = instant(now.at), a.cursor
	a.firing.SetReason(now.reason(a.firing.ReceivedAt.Time()))
	a.input = map[string]any{
		"scheduledAt": instant(now.at), "firedAt": a.firing.ReceivedAt.String(), "missedCount": json.Number(strconv.Itoa(now.missed)),
	}
	if now.skipped != nil {
		a.coalesced = s.rangeRow(one, now.skipped, blueprint.DecisionCoalesced, now.skipped.because(blueprint.ReasonCoalesced).With("tick", instant(now.at)))
	}
	if !binding.CanManage {
		s.leaveOut(ctx, one, now, a, blueprint.DecisionRefused, lostAccess)
		return pending{}, false
	}
	a.events = s.lateEvents(one, now, a)
	run, err := s.begin(noWait, a)
	if err != nil {
		s.failed(ctx, one, now, a, err)
		return pending{}, false
	}
	return pending{one, now, a, run}, true
}

func (st *step) reason(now time.Time) blueprint.Reason {
	if !st.late {
		return blueprint.NewReason(blueprint.ReasonOnTime)
	}
	return blueprint.NewReason(blueprint.ReasonCaughtUp, "lateMs", now.Sub(st.at).Milliseconds())
}

// rangeRow returns the row of ticks without a run of their own.
func (s *scheduler) rangeRow(one *scheduled, ticks *tickRange, decision blueprint.Decision, why blueprint.Reason) *blueprint.Firing {
	row := s.newFiring(one.trigger.ID, blueprint.SourceSchedule)
	row.Key, row.DueAt, row.Decision = instant(ticks.last), blueprint.TimeOf(ticks.last), decision
	row.SetReason(why)
	return row
}

// failed decides about a tick whose run could not be started.
func (s *scheduler) failed(ctx context.Context, one *scheduled, now *step, a *activation, err error) {
	var duplicate *blueprint.DuplicateFiringError
	var full *blueprint.ConcurrencyLimitError
	switch {
	case errors.As(err, &duplicate):
		a.firing.Decision, a.firing.ExecutionID = blueprint.DecisionDuplicate, &duplicate.ExecutionID
		a.firing.SetReason(blueprint.NewReason(blueprint.ReasonDuplicateTick, "executionId", duplicate.ExecutionID))
		s.recordStep(ctx, one, now, nil, *a.firing)
	case errors.As(err, &full):
		s.leaveOut(ctx, one, now, a, blueprint.DecisionSkipped, full.Reason())
	case isTemporary(err):
		s.postpone(one, err)
	default:
		s.leaveOut(ctx, one, now, a, blueprint.DecisionRefused, s.failure(one.trigger.ID, err).FiringReason())
	}
}

// leaveOut records a tick that will not run.
func (s *scheduler) leaveOut(ctx context.Context, one *scheduled, now *step, a *activation, decision blueprint.Decision, why blueprint.Reason) {
	decide(a.firing, decision, why)
	events := s.missedEvents(one, now, now.unmet(false), a.binding, string(decision), a.firing.Reason)
	if a.coalesced == nil {
		s.recordStep(ctx, one, now, events, *a.firing)
	} else {
		a.coalesced.Decision = blueprint.DecisionSkipped
		a.coalesced.SetReason(now.skipped.because(blueprint.ReasonCoalescedLost).With("tick", instant(now.at)).With("decision", string(decision)).WithInner(why))
		s.recordStep(ctx, one, now, events, *a.coalesced, *a.firing)
	}
}

// recordStep stores the rows of a step that starts nothing and publishes its events.
func (s *scheduler) recordStep(ctx context.Context, one *scheduled, now *step, events []blueprint.Event, rows ...blueprint.Firing) {
	err := s.Store.RecordFirings(context.WithoutCancel(ctx), one.trigger.ID, rows, blueprint.TimeOf(now.end()), events...)
	if err != nil {
		s.postpone(one, err)
		return
	}
	for i := range rows {
		s.counts.firings.Add(string(rows[i].Source), string(rows[i].Decision))
	}
	var unmet *tickRange
	if rows[len(rows)-1].Decision != blueprint.DecisionDuplicate {
		unmet = now.unmet(false)
	}
	s.decided(one, now, unmet)
}

// decided updates the state after a step is durable. Unmet are its ticks without a
// run on time. A tick that the watchdog counted is not counted again.
func (s *scheduler) decided(one *scheduled, now *step, unmet *tickRange) {
	counted := s.overdue.decided(one.trigger.ID, now.end())
	if unmet != nil {
		s.counts.missed.Add(int64(unmet.count - counted))
	}
	if l := one.unreported(now, unmet); l != nil {
		one.reported = l.last
	}
	one.steps = one.steps[1:]
	one.advance(now.end())
}

// postpone schedules another attempt. The cursor stays, so no tick is lost.
func (s *scheduler) postpone(one *scheduled, err error) {
	one.steps = nil
	s.counts.postponed.Add(1)
	delay := retryDelay
	if known, ok := errors.AsType[*blueprint.Error](err); ok && known.RetryAfter > 0 {
		delay = min(known.RetryAfter, maxRetryDelay)
	}
	one.retry = s.Clock.Now().Add(delay)
	if !one.warned.Equal(one.next) {
		one.warned = one.next
		s.Logger.Warn("starting a tick failed, retrying", "trigger", one.trigger.ID, "due", instant(one.next), "error", err)
	}
}
