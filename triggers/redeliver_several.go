package triggers

import (
	"context"
	"fmt"

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
// when ctx ends, and says from where to go on. Unless Again is set, a request
// that is repeated before anybody knows what became of the first, at the same
// time or after a crash, runs nothing twice. Errors: CodeNotFound and CodeForbidden for the
// trigger, CodeBadRequest when it is not active or there is no such place in its
// ledger, CodeForbidden when its creator has lost access, CodeConflict while
// another request for the trigger is under way.
func (t *Service) RedeliverSeveral(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (*blueprint.RedeliverResult, error) {
	if !request.DryRun {
		if _, err := t.Store.GetTrigger(ctx, principal, request.TriggerID); err != nil {
			return nil, err
		}
		if _, busy := t.bulks.LoadOrStore(request.TriggerID, true); busy {
			return nil, &blueprint.Error{Code: blueprint.CodeConflict, Message: "firings of trigger " + request.TriggerID + " are being run again already", Hint: "wait until that request is answered"}
		}
		defer t.bulks.Delete(request.TriggerID)
	}
	rows, matched, err := t.Store.FiringsToRedeliver(ctx, principal, request)
	if err != nil {
		return nil, err
	}
	result := &blueprint.RedeliverResult{Matched: matched, Refused: []blueprint.RefusedAgain{}, Firings: []blueprint.RanAgain{}}
	if matched > len(rows) {
		result.Next = rows[len(rows)-1].ID
	}
	if request.DryRun {
		for i := range rows {
			result.Firings = append(result.Firings, blueprint.RanAgain{Of: rows[i].ID})
		}
		return result, nil
	}
	r := &repetition{Service: t, principal: principal, request: request, rows: rows, stopped: len(rows), result: result}
	if r.binding, err = t.Store.Binding(ctx, request.TriggerID); err != nil {
		return nil, err
	}
	if refused := t.permit(&activation{binding: r.binding}); refused != nil {
		return nil, refused
	}
	for i := range rows {
		if ctx.Err() != nil {
			r.stop(i, ctx.Err().Error())
		}
		if !r.add(ctx, i) {
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
	request   *blueprint.RedeliverRequest
	binding   *blueprint.Binding
	rows      []blueprint.ToRedeliver
	result    *blueprint.RedeliverResult
	batch     []begun
	bytes     int64
	stopped   int // the first of rows for which there was no room
}

// begun is a firing that was begun again.
type begun struct {
	row        int
	first      *blueprint.Firing
	activation *activation
	run        Run
	err        error
}

// key names one running again of a row that is about to be: what asks for the
// same again, because it does not know of it, has the same key. What has not run
// yet runs under the key with which it came: if its sender has repeated it since
// then with success, it does not run once more.
func (r *repetition) key(row int, first *blueprint.Firing) string {
	if r.request.Again {
		return ""
	}
	if key := ownKey(first); key != "" && r.rows[row].Failed == 0 {
		return key
	}
	return fmt.Sprintf("again:%s:%d", r.rows[row].ID, r.rows[row].Failed)
}

func (r *repetition) hasRoom() bool { return r.stopped == len(r.rows) }

// add begins one firing again. It gives false once there is no room for more.
func (r *repetition) add(ctx context.Context, row int) bool {
	if !r.hasRoom() {
		return false
	}
	first, err := r.original(ctx, r.principal, r.rows[row].ID)
	var a *activation
	if err == nil {
		a, err = r.repeat(ctx, r.binding, first, r.key(row, first))
	}
	if err != nil {
		r.refused(row, err)
		return r.hasRoom()
	}
	one := begun{row: row, first: first, activation: a}
	one.run, one.err = r.begin(ctx, a)
	r.batch = append(r.batch, one)
	if first.Delivery != nil {
		r.bytes += first.Delivery.Size
	}
	if one.err != nil || len(r.batch) == repeatRows || r.bytes >= repeatBytes {
		r.flush(ctx)
	}
	return r.hasRoom()
}

// flush waits for all that was begun.
func (r *repetition) flush(ctx context.Context) {
	for _, one := range r.batch {
		if err := r.repeated(ctx, one.activation, one.first, one.run, one.err); err != nil {
			r.refused(one.row, err)
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
func (r *repetition) refused(row int, err error) {
	message := r.failure(r.binding.Trigger.ID, err).Message
	if isPassing(err) {
		r.stop(row, message)
		return
	}
	if len(r.result.Refused) < blueprint.MaxRefusedAgain {
		r.result.Refused = append(r.result.Refused, blueprint.RefusedAgain{FiringID: r.rows[row].ID, Reason: message})
	}
}

// stop ends the request at the earliest row that was not run for want of room.
func (r *repetition) stop(row int, why string) {
	if r.hasRoom() {
		r.result.Stopped = why
	}
	if row >= r.stopped {
		return
	}
	r.stopped = row
	switch {
	case row > 0:
		r.result.Next = r.rows[row-1].ID
	case r.request.After != "":
		r.result.Next = r.request.After
	default:
		r.result.Next = blueprint.FirstPlace
	}
}
