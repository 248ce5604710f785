package triggers

import (
	"context"
	"errors"
	"fmt"
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
func (t *Service) Raised() { t.raised.notify(t.Clock) }

// relay is the loop that empties the outbox. One goroutine owns it.
type relay struct {
	*Service
	waiting map[int64]*undelivered // what is to be told again, by its place
	crowd   map[string]int         // how many of them wait for a trigger, or in an organization, that alone has too much to do
	rows    []unwritten            // of the ledger
	weight  int                    // about their bytes
	unread  undelivered            // the outbox itself, while it cannot be read
	timer   *loopTimer
	holds   []func() // of the clock
}

// dispatch begins to empty the outbox; stop ends that.
func (t *Service) dispatch(ctx context.Context) (stop func()) {
	d := &relay{Service: t, waiting: map[int64]*undelivered{}, crowd: map[string]int{}, timer: newLoopTimer(), holds: []func(){t.Clock.Hold()}}
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

func (d *relay) run(ctx context.Context) {
	anew := time.NewTicker(reread)
	defer anew.Stop()
	for ctx.Err() == nil {
		d.pass(ctx)
		d.timer.set(ctx, d.Clock, d.next())
		d.letGo()
		select {
		case <-ctx.Done():
		case release := <-d.timer.wakes:
			d.timer.at = time.Time{}
			d.holds = append(d.holds, release)
		case <-d.raised.notified:
		case <-anew.C:
		}
		d.holds = append(d.holds, d.Clock.Hold())
		d.holds = append(d.holds, d.raised.take()...)
	}
	d.timer.stop()
	d.holds = append(d.holds, d.raised.end()...)
	d.letGo()
	d.timer.calls.Wait()
}

func (d *relay) letGo() {
	for _, release := range d.holds {
		release()
	}
	d.holds = nil
}

// next is when something is to be done again, zero for never.
func (d *relay) next() time.Time {
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
func (d *relay) pass(ctx context.Context) {
	defer func() { d.counts.waiting.Set(int64(len(d.waiting))) }()
	if d.Clock.Now().Before(d.unread.due) {
		return
	}
	for ctx.Err() == nil {
		for _, release := range d.raised.take() { // this loop holds the clock, and looks once more
			release()
		}
		if due := d.next(); !due.IsZero() && !d.Clock.Now().Before(due) && !d.retry(ctx) {
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
		states := make([]*undelivered, len(list))
		for i := range list {
			states[i] = &undelivered{seq: list[i].Seq, key: list[i].Key, organizationID: list[i].OrganizationID}
		}
		d.deliver(ctx, list, states)
	}
}

// places returns of each organization the place up to which its events are known:
// that of the last one that waits, for those that came since are behind it. And
// how many wait for what all need.
func (d *relay) places() (after map[string]int64, blocked int) {
	after = map[string]int64{}
	for seq, of := range d.waiting {
		after[of.organizationID] = max(after[of.organizationID], seq)
		if len(of.crowd) == 0 || len(of.crowd) < len(of.left) {
			blocked++
		}
	}
	return after, blocked
}

// retry tells of the events whose time has come. It returns false when the
// outbox cannot be read.
func (d *relay) retry(ctx context.Context) bool {
	now := d.Clock.Now()
	var list []blueprint.OutboxEvent
	var states []*undelivered
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
			d.deliver(ctx, list, states)
			list, states = nil, nil
		}
	}
	d.deliver(ctx, list, states)
	return true
}

// read reads a page of the outbox, or takes note that it cannot be read now.
func (d *relay) read(ctx context.Context, page func() ([]blueprint.OutboxEvent, error)) (list []blueprint.OutboxEvent, ok bool) {
	list, err := page()
	if err == nil {
		d.unread = undelivered{}
		return list, true
	}
	if ctx.Err() == nil {
		d.unread.later(d.Clock.Now())
		d.Logger.Warn("the events that are to be told cannot be read; it is tried again", "error", err)
	}
	return nil, false
}

// maxRows and maxRowBytes are about how many rows that start nothing, and how
// much of them, are in memory before they are stored.
const (
	maxRows     = 1000
	maxRowBytes = 4 << 20
)

// undelivered is how far it has come with telling of an event.
type undelivered struct {
	seq            int64 // its place in the outbox
	key            string
	organizationID string
	left           []string // the triggers that could not be told yet; nil = all that listen
	delivered      bool     // all were told; it is still to be taken out of the outbox

	tries int
	due   time.Time // of the next one
	err   error     // why it did not work this time

	crowd []string  // those of left that alone have too much to do
	since time.Time // when one of them had for the first time
}

// fail takes note that a trigger cannot be told now.
func (of *undelivered) fail(triggerID string, err error) {
	of.left, of.err = append(of.left, triggerID), err
}

// later sets when it is tried again.
func (of *undelivered) later(now time.Time) {
	of.due = now.Add(min(firstAgain<<min(of.tries, 10), lastAgain))
	of.tries++
}

// listener is a trigger that is to hear of an event.
type listener struct {
	*activation
	of *undelivered
}

// unwritten is a row of the ledger about an event.
type unwritten struct {
	firing *blueprint.Firing
	of     *undelivered
}

// deliver tells of events, of which all that listen share commits, and takes those
// out of the outbox of which everybody has a row in the ledger. What could not be
// told of for a reason that may pass waits, and has no row for that.
func (d *relay) deliver(ctx context.Context, list []blueprint.OutboxEvent, states []*undelivered) {
	var batch []listener
	from := 0
	for i := range list {
		of := states[i]
		of.err = nil
		for _, id := range d.listeners(ctx, &list[i].Event, of) {
			a, err := d.hearing(ctx, &list[i].Event, id)
			switch {
			case err != nil:
				firing := d.newFiring(id, blueprint.SourceEvent)
				firing.Key = of.key
				d.put(of, firing, err)
			case a == nil:
			case a.firing.Decision != "":
				d.settle(of, a.firing, a.firing.Decision, a.firing.Why)
			default:
				if batch = append(batch, listener{a, of}); len(batch) == maxBatch {
					d.begins(ctx, batch)
					batch = nil
				}
			}
		}
		if len(d.rows) >= maxRows || d.weight >= maxRowBytes {
			d.begins(ctx, batch)
			d.takeOut(ctx, states[from:i+1])
			batch, from = nil, i+1
		}
	}
	d.begins(ctx, batch)
	d.takeOut(ctx, states[from:])
}

// listeners returns the triggers that are still to be told.
func (d *relay) listeners(ctx context.Context, e *blueprint.Event, of *undelivered) []string {
	d.uncrowd(of)
	ids := of.left
	of.left = nil
	if ids == nil && !of.delivered {
		ids, of.err = d.Store.Listeners(ctx, e.OrganizationID, e.Name)
	}
	return ids
}

// begins starts a batch: first all runs are begun, then they are waited for.
func (d *relay) begins(ctx context.Context, batch []listener) {
	runs, failures := make([]Run, len(batch)), make([]error, len(batch))
	for i, one := range batch {
		runs[i], failures[i] = d.begin(noWait, one.activation)
	}
	for i, one := range batch {
		_, err := d.finish(ctx, one.activation, runs[i], failures[i])
		if err == nil {
			continue
		}
		d.chains.unstarted(one.root)
		var duplicate *blueprint.DuplicateFiringError
		switch {
		case errors.As(err, &duplicate):
		case isPassing(err):
			d.put(one.of, one.firing, err)
		default:
			decision, why := d.unheard(one.activation, err)
			d.settle(one.of, one.firing, decision, why)
		}
	}
}

// put puts a trigger off that cannot be told now. What all need comes back for
// all; what only this trigger lacks is waited for within bounds, so that nobody
// else has to, and beyond them the firing is refused.
func (d *relay) put(of *undelivered, firing *blueprint.Firing, err error) {
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable {
		of.fail(firing.TriggerID, err)
		return
	}
	now, why := d.Clock.Now(), ""
	if of.since.IsZero() {
		of.since = now
	}
	switch {
	case d.crowd[firing.TriggerID] >= maxCrowd:
		why = fmt.Sprintf("%d events wait for this trigger already", maxCrowd)
	case d.crowd[of.organizationID] >= maxCrowdOfAll:
		why = fmt.Sprintf("%d events wait for triggers of this organization already", maxCrowdOfAll)
	case now.Sub(of.since) >= longestPatience:
		why = fmt.Sprintf("it was tried for %.0f minutes", longestPatience.Minutes())
	default:
		d.crowd[firing.TriggerID]++
		d.crowd[of.organizationID]++
		of.crowd = append(of.crowd, firing.TriggerID)
		of.fail(firing.TriggerID, err)
		return
	}
	hint := ""
	if firing.Delivery != nil {
		hint = "; redeliver runs it"
	}
	refused := shown(err)
	d.settle(of, firing, blueprint.DecisionRefused, blueprint.MessageReason(refused.FiringReason().Code, refused.Message+"; "+why+hint))
}

// uncrowd takes note that an event does not wait any more.
func (d *relay) uncrowd(of *undelivered) {
	for _, triggerID := range of.crowd {
		for _, key := range []string{triggerID, of.organizationID} {
			if d.crowd[key]--; d.crowd[key] == 0 {
				delete(d.crowd, key)
			}
		}
	}
	of.crowd = nil
}

// settle makes the row of a trigger that starts nothing.
func (d *relay) settle(of *undelivered, firing *blueprint.Firing, decision blueprint.Decision, why blueprint.Reason) {
	decide(firing, decision, why)
	d.rows = append(d.rows, unwritten{firing, of})
	if firing.Delivery != nil {
		d.weight += len(firing.Delivery.Body)
	}
}

// takeOut stores the rows, deletes the events of which everybody has been told in
// the same transaction, and sets when the others are told again.
func (d *relay) takeOut(ctx context.Context, states []*undelivered) {
	undeleted := d.write(ctx, states)
	waits, last := 0, error(nil)
	for _, of := range states {
		if of.delivered = of.err == nil; of.delivered {
			of.err = undeleted
		}
		if of.err == nil {
			delete(d.waiting, of.seq)
			continue
		}
		of.later(d.Clock.Now())
		d.waiting[of.seq] = of
		waits, last = waits+1, of.err
	}
	if waits > 0 && ctx.Err() == nil {
		d.Logger.Warn("some who listen to events cannot be told yet; it is tried again", "events", waits, "error", last)
	}
}

// write stores the rows and deletes the events that have come to their end, all
// or nothing. When that fails it puts off whom the rows are about, or does without
// those that are not valid, and deletes the other events.
func (d *relay) write(ctx context.Context, states []*undelivered) error {
	ctx = context.WithoutCancel(ctx)
	rows := d.rows
	d.rows, d.weight = nil, 0
	firings := make([]blueprint.Firing, len(rows))
	for i, row := range rows {
		firings[i] = *row.firing
	}
	keys := deliveredKeys(states)
	if len(keys)+len(firings) == 0 {
		return nil
	}
	err := d.Store.EventsTold(ctx, keys, firings...)
	if err != nil && len(rows) > 0 {
		for _, row := range rows {
			one := err
			if !isPassing(err) {
				one = d.Store.EventsTold(ctx, nil, *row.firing)
			}
			d.wrote(row, one)
		}
		if keys = deliveredKeys(states); len(keys) == 0 {
			return nil
		}
		return d.Store.EventsTold(ctx, keys)
	}
	for _, row := range rows {
		d.wrote(row, nil)
	}
	return err
}

// wrote takes note of what became of a row.
func (d *relay) wrote(row unwritten, err error) {
	switch {
	case err == nil:
		d.counts.firings.Add(string(row.firing.Source), string(row.firing.Decision))
	case isPassing(err):
		row.of.fail(row.firing.TriggerID, err)
	default:
		d.Logger.Warn("a firing is missing in the ledger", "trigger", row.firing.TriggerID, "decision", row.firing.Decision, "error", err)
	}
}

// deliveredKeys returns the keys of the events of which everybody has been told.
func deliveredKeys(states []*undelivered) (keys []string) {
	for _, of := range states {
		if of.err == nil {
			keys = append(keys, of.key)
		}
	}
	return keys
}
