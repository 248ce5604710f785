package triggers

import (
	"context"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// reread is how often, in real time, the schedules are read anew for changes
// that another process made.
const reread = 30 * time.Second

// jump is by how much the clock may run ahead of real time before that counts
// as an outage: the machine slept, or its clock was set forward.
const jump = 15 * time.Second

// scheduler is the loop behind Run. One goroutine owns it.
type scheduler struct {
	*Service
	agenda     agenda
	generation int64     // of the schedules in the agenda; 0 before the first reading
	up         time.Time // since when the server has been up without a gap
	seen       time.Time // the clock when it was last looked at
	seenReal   time.Time // real time then; only differences to it count

	alarm *wakeUp  // its instant is zero when none is set, or it is to be set anew
	holds []func() // of the clock, let go once everything due is decided
	stale bool     // a schedule turned out to differ from what was read
}

// Changed tells that a trigger was made, changed, switched or deleted. The
// clock does not move on until Run has taken notice. A change by another
// process is noticed within half a minute of real time without it.
func (t *Service) Changed() { t.changed.ring(t.Clock) }

// Run fires every schedule, and tells of the events in the outbox, until ctx
// ends, and returns when all that it started
// has ended. It begins with the ticks that were missed while no server ran. A
// watchdog of its own looks after it meanwhile. An error says that the schedules
// cannot be read at the start; while that may pass, it is tried again.
func (t *Service) Run(ctx context.Context) error {
	s := &scheduler{Service: t, alarm: newWakeUp()}
	defer s.end()
	defer t.watched(ctx)()
	defer t.dispatch(ctx)()
	s.holds = append(s.holds, t.Clock.Hold())
	s.up = t.Clock.Now()
	s.observe()
	if err := s.first(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	anew := time.NewTicker(reread)
	defer anew.Stop()
	for {
		s.decide(ctx)
		s.arm(ctx)
		s.letGo()
		if ctx.Err() != nil {
			return nil
		}
		select { // what is due comes first, so that chance has no part in it
		case release := <-s.alarm.wakes:
			s.woken(release)
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case release := <-s.alarm.wakes:
			s.woken(release)
			continue
		case <-t.changed.rung:
		case <-anew.C:
		}
		s.holds = append(s.holds, t.Clock.Hold())
		s.holds = append(s.holds, t.changed.take()...)
		if t.Relimit != nil {
			t.Relimit(ctx)
		}
		if err := s.load(ctx); err != nil && ctx.Err() == nil {
			t.Logger.Warn("the schedules could not be read; those read before stay in force", "error", err)
		}
	}
}

// first reads the schedules for the first time. The clock stays held until it
// has, so that none of their ticks is passed over.
func (s *scheduler) first(ctx context.Context) error {
	for {
		err := s.load(ctx)
		switch {
		case err == nil, ctx.Err() != nil: // a store that was lost ends ctx
			return nil
		case blueprint.CodeOf(err) != blueprint.CodeUnavailable:
			return err
		}
		s.Logger.Warn("the schedules cannot be read yet, so none fires; it is tried again", "error", err, "hint", "look at the disk of the database")
		again := time.NewTimer(retryDelay)
		select {
		case <-ctx.Done():
		case <-again.C:
		}
		again.Stop()
	}
}

// woken takes note that the timer went off.
func (s *scheduler) woken(release func()) {
	s.alarm.at = time.Time{} // spent, unless it was an earlier one; then it is set anew
	s.holds = append(s.holds, release)
}

// end stops what the loop started.
func (s *scheduler) end() {
	s.alarm.stop()
	s.holds = append(s.holds, s.changed.end()...)
	s.letGo()
	s.alarm.calls.Wait()
	s.stopBrake()
}

func (s *scheduler) letGo() {
	for _, release := range s.holds {
		release()
	}
	s.holds = nil
}

// observe looks at the clock. One that ran ahead of real time was set forward,
// or the machine slept: nobody was up in between. When in between is not known;
// for as long as real time has gone by since the last look, which is half a
// minute at most, the server may have been up again, and what was due then is
// not too late. A virtual clock always runs ahead; but it stops at every tick,
// which then is not before up.
//
// A clock that was set back to before the server was up shows instants of which
// it has not seen any before: it is up in all of them.
func (s *scheduler) observe() time.Time {
	now, real := s.Clock.Now(), time.Now()
	if passed := real.Sub(s.seenReal); !s.seen.IsZero() && now.Sub(s.seen)-passed >= jump {
		s.up = now.Add(-min(passed, reread))
		s.alarm.at = time.Time{} // it may sleep on for up to half a minute; it is set anew
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

// load reads the schedules that have changed since they were last read; at
// first that is all. What was known of one whose timing is the same stays.
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
		one.stand(rows[i].Cursor.Time())
		s.agenda.add(one)
	}
	s.generation, s.stale = generation, false
	s.counts.schedules.Set(int64(len(s.agenda.byID)))
	return nil
}

// arm sets the one timer to the next instant at which anything is to be done.
func (s *scheduler) arm(ctx context.Context) {
	next := s.agenda.next()
	s.counts.next.Set(int64(blueprint.TimeOf(next)))
	s.alarm.set(ctx, s.Clock, next)
}

// decide does what is to be done about every tick that is due.
func (s *scheduler) decide(ctx context.Context) {
	now := s.observe()
	for range 2 { // a second time when schedules had to be read again
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
			s.agenda.wait(one)
		}
		if !s.stale || s.load(ctx) != nil {
			return
		}
	}
}
