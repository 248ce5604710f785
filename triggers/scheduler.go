package triggers

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
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

	timer *loopTimer // its instant is zero when none is set, or it is to be set anew
	holds []func()   // of the clock, let go once everything due is decided
	stale bool       // a schedule turned out to differ from what was read
}

// Changed tells that a trigger was made, changed, switched or deleted. The
// clock does not move on until Run has taken notice. A change by another
// process is noticed within half a minute of real time without it.
func (t *Service) Changed() { t.changed.notify(t.Clock) }

// Run fires every schedule, and tells of the events in the outbox, until ctx
// ends, and returns when all that it started
// has ended. It begins with the ticks that were missed while no server ran. A
// watchdog of its own looks after it meanwhile. An error says that the schedules
// cannot be read at the start; while that may pass, it is tried again.
func (t *Service) Run(ctx context.Context) error {
	s := &scheduler{Service: t, timer: newLoopTimer()}
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
		case release := <-s.timer.wakes:
			s.woken(release)
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case release := <-s.timer.wakes:
			s.woken(release)
			continue
		case <-t.changed.notified:
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
	s.timer.at = time.Time{} // spent, unless it was an earlier one; then it is set anew
	s.holds = append(s.holds, release)
}

// end stops what the loop started.
func (s *scheduler) end() {
	s.timer.stop()
	s.holds = append(s.holds, s.changed.end()...)
	s.letGo()
	s.timer.calls.Wait()
	s.stopThrottle()
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
		s.timer.at = time.Time{} // it may sleep on for up to half a minute; it is set anew
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
	s.timer.set(ctx, s.Clock, next)
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

// signal wakes a loop. Whatever notifies it holds the clock until the loop has taken
// notice.
type signal struct {
	notified chan struct{} // holds one

	mu    sync.Mutex
	holds []func()
	ended bool // nobody takes notice any more
}

func newSignal() *signal { return &signal{notified: make(chan struct{}, 1)} }

func (b *signal) notify(c clock.Clock) {
	release := c.Hold()
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		release()
		return
	}
	b.holds = append(b.holds, release)
	b.mu.Unlock()
	select {
	case b.notified <- struct{}{}:
	default:
	}
}

// take returns the holds of all notifications so far.
func (b *signal) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := b.holds
	b.holds = nil
	return holds
}

func (b *signal) end() []func() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	return b.take()
}

// loopTimer is the one timer of a loop. From the instant at which it goes off the
// clock is held until the loop lets go of what it was sent.
type loopTimer struct {
	timer *clock.Timer
	at    time.Time // zero = it is not set
	wakes chan func()
	calls sync.WaitGroup
}

func newLoopTimer() *loopTimer { return &loopTimer{wakes: make(chan func())} }

// set has it go off at an instant; zero is never.
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
		case a.wakes <- sync.OnceFunc(func() { close(done) }):
			<-done
		case <-ctx.Done():
		}
	})
}

// stop takes it back.
func (a *loopTimer) stop() {
	if a.timer.Stop() {
		a.calls.Done()
	}
	a.timer, a.at = nil, time.Time{}
}

// agenda holds the active schedules, ordered by when something is to be done
// about them. What it costs to find those that are due, and to change one, does
// not grow with the number of the others.
type agenda struct {
	byID    map[string]*scheduled
	waiting waiting // those that have a next instant
	made    int
}

// add puts a schedule in the place of the one that its trigger had before.
func (a *agenda) add(one *scheduled) {
	if old := a.byID[one.trigger.ID]; old != nil {
		one.order = old.order
		a.remove(old.trigger.ID)
	} else {
		a.made++
		one.order = a.made
	}
	if a.byID == nil {
		a.byID = map[string]*scheduled{}
	}
	a.byID[one.trigger.ID] = one
	a.wait(one)
}

func (a *agenda) remove(id string) {
	one := a.byID[id]
	if one == nil {
		return
	}
	delete(a.byID, id)
	a.rest(one)
}

// wait lets a schedule wait for its next instant, unless it has none.
func (a *agenda) wait(one *scheduled) {
	one.place = -1
	if one.wake = one.wakeAt(); !one.wake.IsZero() {
		heap.Push(&a.waiting, one)
	}
}

// rest takes a schedule out of those that wait.
func (a *agenda) rest(one *scheduled) {
	if one.place >= 0 {
		heap.Remove(&a.waiting, one.place)
	}
}

// next is the earliest instant at which something is to be done; zero is never.
func (a *agenda) next() time.Time {
	if len(a.waiting) == 0 {
		return time.Time{}
	}
	return a.waiting[0].wake
}

// due takes out the schedules about which something is to be done by now. Each
// must be given back with wait.
func (a *agenda) due(now time.Time) (list []*scheduled) {
	for len(a.waiting) > 0 && !a.waiting[0].wake.After(now) {
		list = append(list, heap.Pop(&a.waiting).(*scheduled))
	}
	return list
}

// waiting is a heap by instant, then by age.
type waiting []*scheduled

// Len, Less, Swap, Push and Pop are for package heap.
func (w waiting) Len() int { return len(w) }

func (w waiting) Less(i, j int) bool {
	if order := w[i].wake.Compare(w[j].wake); order != 0 {
		return order < 0
	}
	return w[i].order < w[j].order
}

func (w waiting) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].place, w[j].place = i, j
}

// Push is for package heap.
func (w *waiting) Push(one any) {
	one.(*scheduled).place = len(*w)
	*w = append(*w, one.(*scheduled))
}

// Pop is for package heap.
func (w *waiting) Pop() any {
	last := len(*w) - 1
	one := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	one.place = -1
	return one
}

// scheduled is an active schedule. Every tick up to cursor is decided.
type scheduled struct {
	Timing
	trigger  blueprint.Trigger
	cursor   time.Time
	next     time.Time // the first tick after cursor; zero for none
	retry    time.Time // not before
	steps    []step    // still to be done
	warned   time.Time // the tick that was last said to be tried again
	reported time.Time // the last tick that an event told of as missed

	// Where it stands in the agenda.
	order int // of two that are due at once, the lower goes first
	wake  time.Time
	place int // -1 when it does not wait
}

// wakeAt is when something is to be done about a schedule; zero is never.
func (one *scheduled) wakeAt() time.Time {
	if one.next.IsZero() || one.retry.Before(one.next) {
		return one.next
	}
	return one.retry
}
