package triggers

import (
	"context"

	"blueprintd/blueprint"
)

// How many firings are begun again before the first of them is waited for, so
// that they share commits, and how many bytes came with them at most.
const (
	repeatRows  = 32
	repeatBytes = 8 << 20
)

// RedeliverSeveral runs the firings of a request again, each as Redeliver does,
// the oldest first. It stops at the first for which the server has no room, or
// when ctx ends, and says from where to go on. Errors: CodeNotFound and
// CodeForbidden for the trigger, CodeBadRequest when it is not active,
// CodeForbidden when its creator has lost access.
func (t *Service) RedeliverSeveral(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (*blueprint.RedeliverResult, error) {
	rows, matched, err := t.Store.FiringsToRedeliver(ctx, principal, request.TriggerID, request.Filter, request.Again, request.Limit+1)
	if err != nil {
		return nil, err
	}
	result := &blueprint.RedeliverResult{Matched: matched, Refused: []blueprint.RefusedAgain{}, Firings: []blueprint.RanAgain{}}
	if len(rows) > request.Limit {
		result.Next = rows[request.Limit].ReceivedAt
		rows = rows[:request.Limit]
	}
	if request.DryRun {
		for i := range rows {
			result.Firings = append(result.Firings, blueprint.RanAgain{Of: rows[i].ID})
		}
		return result, nil
	}
	r := &repetition{Service: t, principal: principal, result: result}
	if r.binding, err = t.Store.Binding(ctx, request.TriggerID); err != nil {
		return nil, err
	}
	if refused := t.permit(&activation{binding: r.binding}); refused != nil {
		return nil, refused
	}
	for i := range rows {
		if ctx.Err() != nil {
			r.stop(rows[i].ReceivedAt, ctx.Err().Error())
		}
		if !r.add(ctx, rows[i]) {
			break
		}
	}
	r.flush(ctx)
	return result, nil
}

// repetition is a request under way. One goroutine owns it.
type repetition struct {
	*Service
	principal blueprint.Principal
	binding   *blueprint.Binding
	result    *blueprint.RedeliverResult
	batch     []begun
	bytes     int64
	stopped   bool
}

// begun is a firing that was begun again.
type begun struct {
	first      *blueprint.Firing
	activation *activation
	run        Run
	err        error
}

// add begins one firing again. It gives false once there is no room for more.
func (r *repetition) add(ctx context.Context, row blueprint.Firing) bool {
	if r.stopped {
		return false
	}
	first, err := r.original(ctx, r.principal, row.ID)
	var a *activation
	if err == nil {
		a, err = r.repeat(ctx, r.binding, first)
	}
	if err != nil {
		r.refused(row.ID, row.ReceivedAt, err)
		return !r.stopped
	}
	one := begun{first: first, activation: a}
	one.run, one.err = r.begin(a)
	r.batch = append(r.batch, one)
	if first.Delivery != nil {
		r.bytes += first.Delivery.Size
	}
	if one.err != nil || len(r.batch) == repeatRows || r.bytes >= repeatBytes {
		r.flush(ctx)
	}
	return !r.stopped
}

// flush waits for all that was begun.
func (r *repetition) flush(ctx context.Context) {
	for _, one := range r.batch {
		if err := r.repeated(ctx, one.activation, one.first, one.run, one.err); err != nil {
			r.refused(one.first.ID, one.first.ReceivedAt, err)
			continue
		}
		firing := one.activation.firing
		r.result.Redelivered++
		r.result.Firings = append(r.result.Firings, blueprint.RanAgain{FiringID: &firing.ID, Of: one.first.ID, ExecutionID: firing.ExecutionID})
	}
	r.batch, r.bytes = nil, 0
}

// refused notes a firing that was not run again; when it may be later, all ends
// there.
func (r *repetition) refused(id string, at blueprint.Time, err error) {
	message := r.failure(r.binding.Trigger.ID, err).Message
	if isPassing(err) {
		r.stop(at, message)
		return
	}
	if len(r.result.Refused) < blueprint.MaxRefusedAgain {
		r.result.Refused = append(r.result.Refused, blueprint.RefusedAgain{FiringID: id, Reason: message})
	}
}

// stop ends the request at the earliest row that was not run for want of room.
func (r *repetition) stop(at blueprint.Time, why string) {
	if !r.stopped || at < r.result.Next {
		r.result.Next = at
	}
	if !r.stopped {
		r.result.Stopped = why
	}
	r.stopped = true
}
