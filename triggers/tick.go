package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// maxBatch is how many schedules are started before the first of them is
// waited for, so that they share commits.
const maxBatch = 200

// retryDelay is when a tick is tried again that could not be started, unless
// the error says so itself; retryMost is the longest wait.
const (
	retryDelay = 5 * time.Second
	retryMost  = 10 * time.Second
)

// farAhead is how far a cursor may lie ahead of the clock before that is worth
// a line in the log.
const farAhead = time.Hour

// newScheduled reads a schedule. One that cannot be read is never due.
func (s *scheduler) newScheduled(row *blueprint.Schedule) *scheduled {
	one := &scheduled{trigger: row.Trigger}
	var issues []blueprint.Issue
	one.Timing, issues = ReadSchedule(row.Trigger.Config)
	if len(issues) > 0 {
		one.Schedule = nil
		s.Logger.Error("a schedule cannot be read and does not fire", "trigger", row.Trigger.ID, "error", blueprint.InvalidInput(issues), "hint", "update its config")
	}
	now := s.Clock.Now()
	if ahead := row.Cursor.Time().Sub(now); ahead > farAhead {
		s.Logger.Warn("a schedule is silent until the clock has caught up with its last tick; make a new one to have it fire earlier",
			"trigger", row.Trigger.ID, "until", row.Cursor, "clock", blueprint.TimeOf(now))
	}
	return one
}

// sameTiming reports whether a trigger's config still says what was read.
func (one *scheduled) sameTiming(trigger *blueprint.Trigger) bool {
	for _, key := range []string{"cron", "timezone", "catchUp"} {
		if !blueprint.Equal(one.trigger.Config[key], trigger.Config[key]) {
			return false
		}
	}
	return true
}

// stand sets up to where ticks are decided. What is decided stays so.
func (one *scheduled) stand(cursor time.Time) {
	if cursor.After(one.cursor) {
		one.cursor, one.next, one.retry = cursor, time.Time{}, time.Time{}
		if one.Schedule != nil {
			one.next, _ = one.Schedule.Next(cursor, one.Zone)
		}
	}
}

// pending is a tick whose run was started and is not durable yet.
type pending struct {
	one        *scheduled
	step       *step
	activation *activation
	run        Run
}

// round does the next step of each schedule, and gives those that have more to
// do. First all runs are started, then they are waited for.
func (s *scheduler) round(ctx context.Context, batch []*scheduled) []*scheduled {
	var started []pending
	for _, one := range batch {
		if len(one.steps) == 0 {
			continue
		}
		now := &one.steps[0]
		binding := s.standing(ctx, one)
		switch {
		case binding == nil:
			continue
		case now.stale(s.Clock.Now()):
			one.steps = nil // the disk was away for so long that the tick was missed; decide anew
			continue
		case now.at.IsZero():
			row := s.leftRow(one, now.left, blueprint.DecisionSkipped, now.left.because(blueprint.ReasonMissed))
			s.settle(ctx, one, now, s.missedEvents(one, now, now.unmet(false), binding, missedSkipped, row.Reason), *row)
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

// standing returns the binding of a schedule that still is as it was read, else
// nil: the disk may have kept the loop waiting for another one meanwhile.
func (s *scheduler) standing(ctx context.Context, one *scheduled) *blueprint.Binding {
	binding, err := s.Store.Binding(context.WithoutCancel(ctx), one.trigger.ID)
	switch {
	case err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound:
		s.later(one, err)
		return nil
	case err != nil || !binding.Trigger.IsActive || !one.sameTiming(&binding.Trigger):
		// It was changed a moment ago. If it still stands there when the schedules have been read again, it has to wait.
		s.stale, one.steps, one.retry = true, nil, s.Clock.Now().Add(retryDelay)
		s.counts.postponed.Add(1)
		return nil
	}
	return binding
}

// startTick begins the run of a tick. It returns false when there is nothing to
// wait for.
func (s *scheduler) startTick(ctx context.Context, one *scheduled, now *step, binding *blueprint.Binding) (pending, bool) {
	a := &activation{binding: binding, firing: s.newFiring(one.trigger.ID, blueprint.SourceSchedule), patience: soon, cursor: blueprint.TimeOf(now.at)}
	a.firing.Key, a.firing.DueAt = instant(now.at), a.cursor
	a.firing.SetReason(now.reason(a.firing.ReceivedAt.Time()))
	a.input = map[string]any{
		"scheduledAt": instant(now.at), "firedAt": a.firing.ReceivedAt.String(), "missedCount": json.Number(strconv.Itoa(now.missed)),
	}
	if now.left != nil {
		a.coalesced = s.leftRow(one, now.left, blueprint.DecisionCoalesced, now.left.because(blueprint.ReasonCoalesced).With("tick", instant(now.at)))
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

// reason tells how the tick came to run.
func (st *step) reason(now time.Time) blueprint.Reason {
	if !st.late {
		return blueprint.NewReason(blueprint.ReasonOnTime)
	}
	return blueprint.NewReason(blueprint.ReasonCaughtUp, "lateMs", now.Sub(st.at).Milliseconds())
}

// leftRow is the row for ticks that get no run of their own.
func (s *scheduler) leftRow(one *scheduled, left *lot, decision blueprint.Decision, why blueprint.Reason) *blueprint.Firing {
	row := s.newFiring(one.trigger.ID, blueprint.SourceSchedule)
	row.Key, row.DueAt, row.Decision = instant(left.last), blueprint.TimeOf(left.last), decision
	row.SetReason(why)
	return row
}

// failed decides what becomes of a tick whose run could not be started.
func (s *scheduler) failed(ctx context.Context, one *scheduled, now *step, a *activation, err error) {
	var duplicate *blueprint.DuplicateFiringError
	var full *blueprint.ConcurrencyLimitError
	switch {
	case errors.As(err, &duplicate):
		a.firing.Decision, a.firing.ExecutionID = blueprint.DecisionDuplicate, &duplicate.ExecutionID
		a.firing.SetReason(blueprint.NewReason(blueprint.ReasonDuplicateTick, "executionId", duplicate.ExecutionID))
		s.settle(ctx, one, now, nil, *a.firing)
	case errors.As(err, &full):
		s.leaveOut(ctx, one, now, a, blueprint.DecisionSkipped, full.Reason())
	case isPassing(err):
		s.later(one, err)
	default:
		s.leaveOut(ctx, one, now, a, blueprint.DecisionRefused, s.failure(one.trigger.ID, err).FiringReason())
	}
}

// leaveOut records that a tick did not run and will not.
func (s *scheduler) leaveOut(ctx context.Context, one *scheduled, now *step, a *activation, decision blueprint.Decision, why blueprint.Reason) {
	decide(a.firing, decision, why)
	events := s.missedEvents(one, now, now.unmet(false), a.binding, string(decision), a.firing.Reason)
	if a.coalesced == nil {
		s.settle(ctx, one, now, events, *a.firing)
	} else {
		a.coalesced.Decision = blueprint.DecisionSkipped
		a.coalesced.SetReason(now.left.because(blueprint.ReasonCoalescedLost).With("tick", instant(now.at)).With("decision", string(decision)).WithInner(why))
		s.settle(ctx, one, now, events, *a.coalesced, *a.firing)
	}
}

// settle stores the rows of a step that starts nothing, and raises what became
// true with it.
func (s *scheduler) settle(ctx context.Context, one *scheduled, now *step, events []blueprint.Event, rows ...blueprint.Firing) {
	err := s.Store.RecordFirings(context.WithoutCancel(ctx), one.trigger.ID, rows, blueprint.TimeOf(now.end()), events...)
	if err != nil {
		s.later(one, err)
		return
	}
	for i := range rows {
		s.counts.firings.Add(string(rows[i].Source), string(rows[i].Decision))
	}
	var unmet *lot
	if rows[len(rows)-1].Decision != blueprint.DecisionDuplicate { // which was run before
		unmet = now.unmet(false)
	}
	s.decided(one, now, unmet)
}

// decided takes note of a step that is on the disk, and of its ticks for which no
// run was started when they were due.
func (s *scheduler) decided(one *scheduled, now *step, unmet *lot) {
	s.met(one.trigger.ID, now, unmet)
	if l := one.unreported(now, unmet); l != nil {
		one.reported = l.last
	}
	one.steps = one.steps[1:]
	one.stand(now.end())
}

// later gives a schedule up for a while. Its cursor stays, so nothing is lost.
func (s *scheduler) later(one *scheduled, err error) {
	one.steps = nil
	s.counts.postponed.Add(1)
	delay := retryDelay
	var known *blueprint.Error
	if errors.As(err, &known) && known.RetryAfter > 0 {
		delay = min(known.RetryAfter, retryMost)
	}
	one.retry = s.Clock.Now().Add(delay)
	if one.warned.Equal(one.next) { // of this tick already
		return
	}
	one.warned = one.next
	s.Logger.Warn("a tick could not be started and is tried again", "trigger", one.trigger.ID, "due", instant(one.next), "error", err)
}
