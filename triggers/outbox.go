package triggers

import (
	"context"
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// The delays before an event is told again to those who could not be told.
const (
	firstAgain = 5 * time.Second
	lastAgain  = 5 * time.Minute
)

// outboxPage is how many events are in memory at a time, and maxWaiting how many
// may wait for what all need before the others behind them have to wait, too.
const (
	outboxPage = 100
	maxWaiting = 1000
)

// Bounds of what waits for triggers that alone have too much to do, with which
// others have nothing to do: how many events for a trigger, and for all of an
// organization, and for how long. What is beyond is refused.
const (
	maxCrowd        = 100
	maxCrowdOfAll   = 1000
	longestPatience = 10 * time.Minute
)

// Raised tells that events came into the outbox. The clock does not move on
// until Run has taken notice. Those of another process are found within half a
// minute of real time without it. It returns at once.
func (t *Service) Raised() { t.raised.ring(t.Clock) }

// dispatcher is the loop that empties the outbox. One goroutine owns it.
type dispatcher struct {
	*Service
	waiting map[int64]*untold // what is to be told again, by its place
	crowd   map[string]int    // how many of them wait for a trigger, or in an organization, that alone has too much to do
	rows    []unwritten       // of the ledger
	weight  int               // about their bytes
	unread  untold            // the outbox itself, while it cannot be read
	alarm   *wakeUp
	holds   []func() // of the clock
}

// dispatch begins to empty the outbox; stop ends that.
func (t *Service) dispatch(ctx context.Context) (stop func()) {
	d := &dispatcher{Service: t, waiting: map[int64]*untold{}, crowd: map[string]int{}, alarm: newWakeUp(), holds: []func(){t.Clock.Hold()}}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (d *dispatcher) run(ctx context.Context) {
	anew := time.NewTicker(reread)
	defer anew.Stop()
	for ctx.Err() == nil {
		d.pass(ctx)
		d.alarm.set(ctx, d.Clock, d.next())
		d.letGo()
		select {
		case <-ctx.Done():
		case release := <-d.alarm.wakes:
			d.alarm.at = time.Time{}
			d.holds = append(d.holds, release)
		case <-d.raised.rung:
		case <-anew.C:
		}
		d.holds = append(d.holds, d.Clock.Hold())
		d.holds = append(d.holds, d.raised.take()...)
	}
	d.alarm.stop()
	d.holds = append(d.holds, d.raised.end()...)
	d.letGo()
	d.alarm.calls.Wait()
}

func (d *dispatcher) letGo() {
	for _, release := range d.holds {
		release()
	}
	d.holds = nil
}

// next is when something is to be done again, zero for never.
func (d *dispatcher) next() time.Time {
	next := d.unread.due
	for _, one := range d.waiting {
		if next.IsZero() || one.due.Before(next) {
			next = one.due
		}
	}
	return next
}

// pass tells of all events of which somebody can be told now, each organization's
// oldest first.
func (d *dispatcher) pass(ctx context.Context) {
	defer func() { d.counts.waiting.Set(int64(len(d.waiting))) }()
	if d.Clock.Now().Before(d.unread.due) {
		return
	}
	for ctx.Err() == nil {
		for _, release := range d.raised.take() { // this loop holds the clock, and looks once more
			release()
		}
		if due := d.next(); !due.IsZero() && !d.Clock.Now().Before(due) && !d.tellAgain(ctx) {
			return
		}
		after, blocked := d.places()
		if blocked >= maxWaiting {
			return
		}
		list, ok := d.read(ctx, func() ([]blueprint.OutboxEvent, error) { return d.Store.NextEvents(ctx, after, outboxPage) })
		if !ok || len(list) == 0 {
			return
		}
		states := make([]*untold, len(list))
		for i := range list {
			states[i] = &untold{seq: list[i].Seq, key: list[i].Key, organizationID: list[i].OrganizationID}
		}
		d.tell(ctx, list, states)
	}
}

// places gives of each organization the place up to which its events are known:
// that of the last one that waits, for those that came since are behind it. And
// how many wait for what all need.
func (d *dispatcher) places() (after map[string]int64, blocked int) {
	after = map[string]int64{}
	for seq, of := range d.waiting {
		after[of.organizationID] = max(after[of.organizationID], seq)
		if len(of.crowd) == 0 || len(of.crowd) < len(of.left) {
			blocked++
		}
	}
	return after, blocked
}

// tellAgain tells of the events whose time has come. It gives false when the
// outbox cannot be read.
func (d *dispatcher) tellAgain(ctx context.Context) bool {
	now := d.Clock.Now()
	var list []blueprint.OutboxEvent
	var states []*untold
	for _, seq := range slices.Sorted(maps.Keys(d.waiting)) {
		of := d.waiting[seq]
		if now.Before(of.due) || ctx.Err() != nil {
			continue
		}
		found, ok := d.read(ctx, func() ([]blueprint.OutboxEvent, error) { return d.Store.Events(ctx, seq-1, 1) })
		if !ok {
			return false
		}
		if len(found) == 0 || found[0].Key != of.key {
			d.uncrowd(of)
			delete(d.waiting, seq)
			continue
		}
		list, states = append(list, found[0]), append(states, of)
		if len(list) == outboxPage {
			d.tell(ctx, list, states)
			list, states = nil, nil
		}
	}
	d.tell(ctx, list, states)
	return true
}

// read reads a page of the outbox, or takes note that it cannot be read now.
func (d *dispatcher) read(ctx context.Context, page func() ([]blueprint.OutboxEvent, error)) (list []blueprint.OutboxEvent, ok bool) {
	list, err := page()
	if err == nil {
		d.unread = untold{}
		return list, true
	}
	if ctx.Err() == nil {
		d.unread.later(d.Clock.Now())
		d.Logger.Warn("the events that are to be told cannot be read; it is tried again", "error", err)
	}
	return nil, false
}
