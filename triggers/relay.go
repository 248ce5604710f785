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

const (
	// firstRetry and lastRetry bound the delay before an event is delivered again to
	// the triggers that did not receive it.
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute

	outboxPage = 100  // maximum number of events in memory
	maxBlocked = 1000 // events that wait for a shared resource, such as the disk

	// Limits of the events that wait because a trigger itself is overloaded. Events
	// beyond them are refused.
	maxWaiting        = 100  // per trigger
	maxWaitingOfOrg   = 1000 // per organization
	maxWaitingTime    = 10 * time.Minute
	maxPendingRows    = 1000 // rows in memory before they are stored
	maxPendingRowSize = 4 << 20
)

// Published notifies Run about events in the outbox. It returns immediately; the clock does
// not advance until Run has noticed. Without it, events wait for half a minute at most.
func (t *Service) Published() { t.published.notify(t.Clock) }

// relay delivers the events of the outbox. One goroutine owns it.
type relay struct {
	*Service
	retries  map[int64]*eventDelivery // events to deliver again, by sequence number
	waiting  map[string]int           // of them, those waiting for an overloaded trigger, by trigger and by organization
	rows     []pendingRow
	rowSize  int           // bytes of rows, approximately
	unread   eventDelivery // retry of reading the outbox
	timer    *loopTimer
	releases []func() // of holds of the clock
}

// startRelay starts delivering events; stop ends it and waits.
func (t *Service) startRelay(ctx context.Context) (stop func()) {
	r := &relay{Service: t, retries: map[int64]*eventDelivery{}, waiting: map[string]int{}, timer: newLoopTimer(), releases: []func(){t.Clock.Hold()}}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (r *relay) run(ctx context.Context) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for ctx.Err() == nil {
		r.pass(ctx)
		r.timer.set(ctx, r.Clock, r.next())
		r.release()
		select {
		case <-ctx.Done():
		case release := <-r.timer.fired:
			r.timer.at = time.Time{}
			r.releases = append(r.releases, release)
		case <-r.published.notified:
		case <-poll.C:
		}
		r.releases = append(r.releases, r.Clock.Hold())
		r.releases = append(r.releases, r.published.take()...)
	}
	r.timer.stop()
	r.releases = append(r.releases, r.published.end()...)
	r.release()
	r.timer.calls.Wait()
}

func (r *relay) release() {
	for _, release := range r.releases {
		release()
	}
	r.releases = nil
}

// next returns the time of the next retry; zero for none.
func (r *relay) next() time.Time {
	next := r.unread.due
	for _, one := range r.retries {
		if next.IsZero() || one.due.Before(next) {
			next = one.due
		}
	}
	return next
}

// pass delivers all events that can be, oldest first for each organization.
func (r *relay) pass(ctx context.Context) {
	defer func() { r.counts.undelivered.Set(int64(len(r.retries))) }()
	if r.Clock.Now().Before(r.unread.due) {
		return
	}
	for ctx.Err() == nil {
		for _, release := range r.published.take() { // this loop holds the clock and reads once more
			release()
		}
		if due := r.next(); !due.IsZero() && !r.Clock.Now().Before(due) && !r.retry(ctx) {
			return
		}
		after, blocked := r.positions()
		if blocked >= maxBlocked {
			return
		}
		list, ok := r.read(ctx, func() ([]blueprint.OutboxEvent, error) { return r.Store.NextEvents(ctx, after, outboxPage) })
		if !ok || len(list) == 0 {
			return
		}
		states := make([]*eventDelivery, len(list))
		for i := range list {
			states[i] = &eventDelivery{seq: list[i].Seq, key: list[i].Key, organizationID: list[i].OrganizationID}
		}
		r.deliver(ctx, list, states)
	}
}

// positions returns the last known sequence number of each organization, and the number of
// events that are blocked by a shared resource.
func (r *relay) positions() (after map[string]int64, blocked int) {
	after = map[string]int64{}
	for seq, d := range r.retries {
		after[d.organizationID] = max(after[d.organizationID], seq)
		if len(d.waiting) == 0 || len(d.waiting) < len(d.left) {
			blocked++
		}
	}
	return after, blocked
}

// retry delivers the events whose retry is due; false if the outbox cannot be read.
func (r *relay) retry(ctx context.Context) bool {
	now := r.Clock.Now()
	var list []blueprint.OutboxEvent
	var states []*eventDelivery
	for _, seq := range slices.Sorted(maps.Keys(r.retries)) {
		d := r.retries[seq]
		if now.Before(d.due) || ctx.Err() != nil {
			continue
		}
		found, ok := r.read(ctx, func() ([]blueprint.OutboxEvent, error) { return r.Store.Events(ctx, seq-1, 1) })
		if !ok {
			return false
		}
		if len(found) == 0 || found[0].Key != d.key {
			r.stopWaiting(d)
			delete(r.retries, seq)
			continue
		}
		list, states = append(list, found[0]), append(states, d)
		if len(list) == outboxPage {
			r.deliver(ctx, list, states)
			list, states = nil, nil
		}
	}
	r.deliver(ctx, list, states)
	return true
}

// read reads a page of the outbox. If that fails it schedules a retry.
func (r *relay) read(ctx context.Context, page func() ([]blueprint.OutboxEvent, error)) (list []blueprint.OutboxEvent, ok bool) {
	list, err := page()
	if err == nil {
		r.unread = eventDelivery{}
		return list, true
	}
	if ctx.Err() == nil {
		r.unread.backOff(r.Clock.Now())
		r.Logger.Warn("reading the outbox failed, retrying", "error", err)
	}
	return nil, false
}

// eventDelivery tracks which triggers still have to receive an event.
type eventDelivery struct {
	seq            int64
	key            string
	organizationID string
	left           []string // triggers that still have to receive it; nil = all that are subscribed
	done           bool     // all have; the event is still in the outbox

	tries int
	due   time.Time // of the next try
	err   error     // of the current try

	waiting []string  // of left, the overloaded triggers
	since   time.Time // the first time one was overloaded
}

// postpone leaves a trigger for the next try.
func (d *eventDelivery) postpone(triggerID string, err error) {
	d.left, d.err = append(d.left, triggerID), err
}

// backOff sets when the next try is due.
func (d *eventDelivery) backOff(now time.Time) {
	d.due = now.Add(min(firstRetry<<min(d.tries, 10), lastRetry))
	d.tries++
}

// subscriber is a trigger that an event is delivered to.
type subscriber struct {
	*activation
	delivery *eventDelivery
}

// pendingRow is a row of the ledger about an event that starts nothing.
type pendingRow struct {
	firing   *blueprint.Firing
	delivery *eventDelivery
}

// deliver delivers events, in batches that share commits, and deletes those from
// the outbox for which every subscriber has a row in the ledger. Temporary failures
// leave no row and are retried.
func (r *relay) deliver(ctx context.Context, list []blueprint.OutboxEvent, states []*eventDelivery) {
	var batch []subscriber
	from := 0
	for i := range list {
		d := states[i]
		d.err = nil
		for _, id := range r.subscribers(ctx, &list[i].Event, d) {
			a, err := r.eventActivation(ctx, &list[i].Event, id)
			switch {
			case err != nil:
				firing := r.newFiring(id, blueprint.SourceEvent)
				firing.Key = d.key
				r.postpone(d, firing, err)
			case a == nil:
			case a.firing.Decision != "":
				r.addRow(d, a.firing, a.firing.Decision, a.firing.Why)
			default:
				if batch = append(batch, subscriber{a, d}); len(batch) == maxBatch {
					r.start(ctx, batch)
					batch = nil
				}
			}
		}
		if len(r.rows) >= maxPendingRows || r.rowSize >= maxPendingRowSize {
			r.start(ctx, batch)
			r.complete(ctx, states[from:i+1])
			batch, from = nil, i+1
		}
	}
	r.start(ctx, batch)
	r.complete(ctx, states[from:])
}

// subscribers returns the triggers that still have to receive an event.
func (r *relay) subscribers(ctx context.Context, e *blueprint.Event, d *eventDelivery) []string {
	r.stopWaiting(d)
	ids := d.left
	d.left = nil
	if ids == nil && !d.done {
		ids, d.err = r.Store.Listeners(ctx, e.OrganizationID, e.Name)
	}
	return ids
}

func (r *relay) start(ctx context.Context, batch []subscriber) {
	activations := make([]*activation, len(batch))
	for i, one := range batch {
		activations[i] = one.activation
	}
	for i, err := range r.startBatch(ctx, activations) {
		one := batch[i]
		var duplicate *blueprint.DuplicateFiringError
		switch {
		case err == nil, errors.As(err, &duplicate):
		case isTemporary(err):
			r.postpone(one.delivery, one.firing, err)
		default:
			decision, why := r.notStartedReason(one.activation, err)
			r.addRow(one.delivery, one.firing, decision, why)
		}
	}
}

// postpone leaves a trigger for the next try. If the trigger itself is overloaded, which
// must not block others, waiting is limited in number and time, and beyond the limits the
// firing is refused.
func (r *relay) postpone(d *eventDelivery, firing *blueprint.Firing, err error) {
	if blueprint.CodeOf(err) == blueprint.CodeUnavailable {
		d.postpone(firing.TriggerID, err)
		return
	}
	now, why := r.Clock.Now(), ""
	if d.since.IsZero() {
		d.since = now
	}
	switch {
	case r.waiting[firing.TriggerID] >= maxWaiting:
		why = fmt.Sprintf("%d events wait for this trigger already", maxWaiting)
	case r.waiting[d.organizationID] >= maxWaitingOfOrg:
		why = fmt.Sprintf("%d events wait for triggers of this organization already", maxWaitingOfOrg)
	case now.Sub(d.since) >= maxWaitingTime:
		why = fmt.Sprintf("it was tried for %.0f minutes", maxWaitingTime.Minutes())
	default:
		r.waiting[firing.TriggerID]++
		r.waiting[d.organizationID]++
		d.waiting = append(d.waiting, firing.TriggerID)
		d.postpone(firing.TriggerID, err)
		return
	}
	hint := ""
	if firing.Delivery != nil {
		hint = "; redeliver runs it"
	}
	refused := shown(err)
	r.addRow(d, firing, blueprint.DecisionRefused, blueprint.MessageReason(refused.FiringReason().Code, refused.Message+"; "+why+hint))
}

// stopWaiting uncounts an event that waited for overloaded triggers.
func (r *relay) stopWaiting(d *eventDelivery) {
	for _, triggerID := range d.waiting {
		for _, key := range []string{triggerID, d.organizationID} {
			if r.waiting[key]--; r.waiting[key] == 0 {
				delete(r.waiting, key)
			}
		}
	}
	d.waiting = nil
}

// addRow adds the row of a trigger that starts nothing.
func (r *relay) addRow(d *eventDelivery, firing *blueprint.Firing, decision blueprint.Decision, why blueprint.Reason) {
	decide(firing, decision, why)
	r.rows = append(r.rows, pendingRow{firing, d})
	if firing.Delivery != nil {
		r.rowSize += len(firing.Delivery.Body)
	}
}

// complete stores the rows, deletes the delivered events in the same transaction,
// and schedules the others for a retry.
func (r *relay) complete(ctx context.Context, states []*eventDelivery) {
	undeleted := r.store(ctx, states)
	retries, last := 0, error(nil)
	for _, d := range states {
		if d.done = d.err == nil; d.done {
			d.err = undeleted
		}
		if d.err == nil {
			delete(r.retries, d.seq)
			continue
		}
		d.backOff(r.Clock.Now())
		r.retries[d.seq] = d
		retries, last = retries+1, d.err
	}
	if retries > 0 && ctx.Err() == nil {
		r.Logger.Warn("event delivery failed, retrying", "events", retries, "error", last)
	}
}

// store stores the rows and deletes the delivered events, all or nothing. If that
// fails, it postpones the triggers of the rows, or drops invalid rows, and deletes
// the events that are still delivered.
func (r *relay) store(ctx context.Context, states []*eventDelivery) error {
	ctx = context.WithoutCancel(ctx)
	rows := r.rows
	r.rows, r.rowSize = nil, 0
	firings := make([]blueprint.Firing, len(rows))
	for i, row := range rows {
		firings[i] = *row.firing
	}
	keys := deliveredKeys(states)
	if len(keys)+len(firings) == 0 {
		return nil
	}
	err := r.Store.RemoveEvents(ctx, keys, firings...)
	if err == nil || len(rows) == 0 {
		for _, row := range rows {
			r.stored(row, nil)
		}
		return err
	}
	for _, row := range rows {
		one := err
		if !isTemporary(err) {
			one = r.Store.RemoveEvents(ctx, nil, *row.firing)
		}
		r.stored(row, one)
	}
	if keys = deliveredKeys(states); len(keys) == 0 {
		return nil
	}
	return r.Store.RemoveEvents(ctx, keys)
}

func (r *relay) stored(row pendingRow, err error) {
	switch {
	case err == nil:
		r.counts.firings.Add(string(row.firing.Source), string(row.firing.Decision))
	case isTemporary(err):
		row.delivery.postpone(row.firing.TriggerID, err)
	default:
		r.Logger.Warn("recording a firing failed", "trigger", row.firing.TriggerID, "decision", row.firing.Decision, "error", err)
	}
}

func deliveredKeys(states []*eventDelivery) (keys []string) {
	for _, d := range states {
		if d.err == nil {
			keys = append(keys, d.key)
		}
	}
	return keys
}
