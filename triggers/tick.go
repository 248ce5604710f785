package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

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
