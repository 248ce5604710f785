package triggers

import (
	"context"
	"errors"
	"time"

	"blueprintd/blueprint"
)

// untold is how far it has come with telling of an event.
type untold struct {
	seq  int64 // its place in the outbox
	key  string
	left []string // the triggers that could not be told yet; nil = all that listen
	told bool     // all were told; it is still to be taken out of the outbox

	tries int
	due   time.Time // of the next one
	err   error     // why it did not work this time
}

// fail takes note that a trigger cannot be told now.
func (of *untold) fail(triggerID string, err error) {
	of.left, of.err = append(of.left, triggerID), err
}

// later sets when it is tried again.
func (of *untold) later(now time.Time) {
	of.due = now.Add(min(firstAgain<<min(of.tries, 10), lastAgain))
	of.tries++
}

// ear is a trigger that is to hear of an event.
type ear struct {
	*activation
	of *untold
}

// tell tells of events, of which all that listen share commits, and takes those
// out of the outbox of which everybody has a row in the ledger. What could not be
// told of for a reason that may pass waits, and has no row for that.
func (d *dispatcher) tell(ctx context.Context, list []blueprint.OutboxEvent, states []*untold) {
	var batch []ear
	for i := range list {
		of := states[i]
		of.err = nil
		for _, id := range d.listeners(ctx, &list[i].Event, of) {
			a, err := d.hearing(ctx, &list[i].Event, id)
			switch {
			case err != nil:
				of.fail(id, err)
				continue
			case a == nil:
				continue
			}
			if decision, reason := deaf(&list[i].Event, a); decision != "" {
				d.settle(ctx, ear{a, of}, decision, reason)
				continue
			}
			if batch = append(batch, ear{a, of}); len(batch) == maxBatch {
				d.begins(ctx, batch)
				batch = nil
			}
		}
	}
	d.begins(ctx, batch)
	d.takeOut(ctx, states)
}

// listeners gives the triggers that are still to be told.
func (d *dispatcher) listeners(ctx context.Context, e *blueprint.Event, of *untold) []string {
	ids := of.left
	of.left = nil
	if ids == nil && !of.told {
		ids, of.err = d.Store.Listeners(ctx, e.OrganizationID, e.Name)
	}
	return ids
}

// begins starts a batch: first all runs are begun, then they are waited for.
func (d *dispatcher) begins(ctx context.Context, batch []ear) {
	runs, failures := make([]Run, len(batch)), make([]error, len(batch))
	for i, one := range batch {
		runs[i], failures[i] = d.begin(one.activation)
	}
	for i, one := range batch {
		_, err := d.finish(ctx, one.activation, runs[i], failures[i])
		var duplicate *blueprint.DuplicateFiringError
		switch {
		case err == nil, errors.As(err, &duplicate):
		case isPassing(err):
			one.of.fail(one.firing.TriggerID, err)
		default:
			decision, reason := d.unheard(one.activation, err)
			d.settle(ctx, one, decision, reason)
		}
	}
}

// settle stores the row of a trigger that starts nothing.
func (d *dispatcher) settle(ctx context.Context, one ear, decision blueprint.Decision, reason string) {
	firing := one.firing
	firing.Decision, firing.ExecutionID, firing.Reason = decision, nil, shorten(reason)
	err := d.Store.RecordFirings(context.WithoutCancel(ctx), firing.TriggerID, []blueprint.Firing{*firing}, 0)
	switch {
	case err == nil:
		d.counts.firings.Add(string(firing.Source), string(decision))
	case isPassing(err):
		one.of.fail(firing.TriggerID, err)
	default:
		d.Logger.Warn("a firing is missing in the ledger", "trigger", firing.TriggerID, "decision", decision, "error", err)
	}
}

// takeOut deletes the events of which everybody has been told, and sets when the
// others are told again.
func (d *dispatcher) takeOut(ctx context.Context, states []*untold) {
	var keys []string
	for _, of := range states {
		if of.err == nil {
			of.told = true
			keys = append(keys, of.key)
		}
	}
	var undeleted, last error
	if len(keys) > 0 {
		undeleted = d.Store.EventsTold(context.WithoutCancel(ctx), keys)
	}
	waits := 0
	for _, of := range states {
		if of.told {
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
