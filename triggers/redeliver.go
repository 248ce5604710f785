package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// anyInput is what to do when a firing cannot be run again.
const anyInput = "blueprintTriggers.fire runs the trigger's blueprint with any input"

// Redeliver runs a firing again, as a new one of source "redelivery", for
// somebody who can manage its trigger. What came is judged anew, by the trigger
// as it is now and the time at which it came; a redelivery of a redelivery runs
// the first again. The run is durable when Redeliver returns.
//
// Errors: CodeNotFound for a firing that is unknown or of a trigger that one may
// not manage; CodeBadRequest when what came was not kept, is refused again or
// left out by a filter, or the trigger is not active; CodeForbidden when the
// trigger's creator has lost access; CodeConflict, CodeTooManyRequests and
// CodeUnavailable when there is no room for a run. All but the first two leave a
// row.
func (t *Service) Redeliver(ctx context.Context, principal blueprint.Principal, firingID string) (executionID, newID string, err error) {
	first, err := t.original(ctx, principal, firingID)
	if err != nil {
		return "", "", err
	}
	binding, err := t.Store.Binding(ctx, first.TriggerID)
	if err != nil {
		return "", "", err
	}
	key := ownKey(first)
	if key != "" {
		if _, err := t.Store.StartedFiring(ctx, first.TriggerID, key); blueprint.CodeOf(err) != blueprint.CodeNotFound {
			key = "" // it has run meanwhile, and somebody wants it once more
		}
	}
	a, err := t.repeat(ctx, binding, first, key)
	if err != nil {
		return "", "", err
	}
	run, err := t.begin(ctx, a)
	if err := t.repeated(ctx, a, first, run, err); err != nil {
		if isPassing(err) {
			t.recordRefused(ctx, a.firing, again(first, shown(err).FiringReason()))
		}
		return "", "", err
	}
	return *a.firing.ExecutionID, a.firing.ID, nil
}

// ownKey returns the key of what came, when it has not run yet: running it takes
// that key, so that what its sender repeats is a duplicate. "" = it has none, or
// it has run.
func ownKey(first *blueprint.Firing) string {
	if first.Key == first.ID || first.Decision == blueprint.DecisionStarted || first.Decision == blueprint.DecisionDuplicate {
		return ""
	}
	return first.Key
}

// original returns a firing with what came; of a redelivery, the first one.
func (t *Service) original(ctx context.Context, principal blueprint.Principal, firingID string) (*blueprint.Firing, error) {
	firing, err := t.Store.FiringWithDelivery(ctx, principal, firingID)
	if err != nil {
		return nil, err
	}
	first := firing.RedeliveryOf()
	if first == "" {
		return &firing, nil
	}
	firing, err = t.Store.FiringWithDelivery(ctx, principal, first)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Hint: anyInput,
			Message: fmt.Sprintf("firing %s ran %s again, which is no longer in the ledger", firingID, first)}
	}
	return &firing, err
}

// repeat makes an activation that runs a firing again, or says why not; when
// the trigger is what refuses it, with a row. Its key is its own id, unless it is
// given another, of which only one can start a run.
func (t *Service) repeat(ctx context.Context, binding *blueprint.Binding, first *blueprint.Firing, key string) (*activation, error) {
	a := &activation{binding: binding, patience: soon, firing: t.newFiring(first.TriggerID, blueprint.SourceRedelivery)}
	a.firing.DueAt = first.DueAt
	a.firing.Delivery = &blueprint.Delivery{}
	if first.Delivery != nil {
		came := *first.Delivery
		came.Facts = maps.Clone(came.Facts) // what was found out when it came, and cannot be any more
		for _, name := range signatureFacts {
			delete(came.Facts, name)
		}
		a.firing.Delivery, a.hidden = &came, came.Hidden
	}
	if refused := suits(&binding.Trigger, first); refused != nil {
		return nil, refused
	}
	if refused := t.permit(a); refused != nil {
		a.forget(first)
		t.recordRefused(ctx, a.firing, again(first, refused.FiringReason()))
		return nil, refused
	}
	refused := t.judgeAgain(a, first)
	// Its key is not that of what came, once that has run: it may be run again as often as somebody asks.
	a.firing.Key, a.firing.BodyHash, a.keyed = a.firing.ID, "", key != ""
	if a.keyed {
		a.firing.Key, a.patience = key, atOnce
		if key == first.Key && first.Source == blueprint.SourceAPI && refused == nil {
			a.firing.BodyHash = hash(a.input)
		}
	}
	a.forget(first)
	switch {
	case refused == nil:
		a.firing.SetReason(again(first, a.firing.Why))
		return a, nil
	case refused.answer == nil:
		a.firing.Files = nil
		t.recordSkipped(ctx, a.firing, again(first, refused.why))
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "the trigger leaves firing " + first.ID + " out: " + refused.why.String(), Hint: anyInput}
	}
	a.firing.Files = nil
	t.recordRefused(ctx, a.firing, again(first, refused.answer.FiringReason()))
	if isPassing(refused.answer) {
		return nil, refused.answer
	}
	return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "firing " + first.ID + " is refused again: " + refused.answer.Message, Issues: refused.answer.Issues, Hint: anyInput}
}

// judgeAgain decides about what came with a firing.
func (t *Service) judgeAgain(a *activation, first *blueprint.Firing) *refusal {
	if first.Source == blueprint.SourceSchedule {
		a.input = map[string]any{
			"scheduledAt": instant(first.DueAt.Time()), "firedAt": a.firing.ReceivedAt.String(), "missedCount": json.Number("0"),
		}
		return nil
	}
	if refused := t.judge(a, first.Source, first.ReceivedAt.Time()); refused != nil {
		return refused
	}
	if refused := KindOf(a.binding.Trigger.Type).accepts(t, a.binding, a.input); refused != nil {
		return &refusal{answer: refused}
	}
	return nil
}

// signatureFacts are those about a judgement, which the next one brings anew.
var signatureFacts = []string{signature.FactHeader, signature.FactForm, signature.FactExpected, signature.FactBytes, signature.FactTried}

// forget leaves of what came only where it is: with the first firing.
func (a *activation) forget(first *blueprint.Firing) {
	d := &blueprint.Delivery{Size: a.firing.Delivery.Size, Facts: a.firing.Delivery.Facts}
	d.AddFact(blueprint.FactRedeliveryOf, first.ID)
	a.firing.Delivery = d
}

// suits refuses a firing that cannot be run again whatever the trigger says.
func suits(trigger *blueprint.Trigger, first *blueprint.Firing) *blueprint.Error {
	refuse := func(format string, args ...any) *blueprint.Error {
		return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "firing " + first.ID + " cannot be run again: " + fmt.Sprintf(format, args...), Hint: anyInput}
	}
	d, kind := first.Delivery, kindFrom(first.Source)
	switch {
	case kind != nil && kind.Type != trigger.Type:
		return refuse("it came by %s, and the trigger is of type %s", first.Source, trigger.Type)
	case first.Source == blueprint.SourceSchedule && first.DueAt == 0:
		return refuse("it is of no tick")
	case first.Source == blueprint.SourceSchedule:
		return nil
	case signature.WasForged(trigger, d):
		return refuse("its signature was refused, and the trigger has no secret any more to hold it against")
	case d == nil:
		return refuse("nothing is stored of what came with it")
	case d.Facts[factReceived] == false:
		return refuse("nothing was received of it: ask for it again")
	case !d.IsComplete() && first.Decision == blueprint.DecisionDuplicate:
		return refuse("its body is kept with the first one alone: %s", first.Reason)
	case !d.IsComplete():
		return refuse("its body of %d bytes was not kept", d.Size)
	}
	return nil
}

// repeated waits until the run of a firing that was begun again is durable.
// Rows are left for what will not pass.
func (t *Service) repeated(ctx context.Context, a *activation, first *blueprint.Firing, run Run, err error) error {
	if _, err = t.finish(ctx, a, run, err); err == nil {
		return nil
	}
	a.firing.Files = nil
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case errors.As(err, &duplicate):
		if a.firing.BodyHash != "" { // else it has a row
			t.recordDuplicate(ctx, a, duplicate)
		}
		return blueprint.Errorf(blueprint.CodeConflict, "it has run already, as %s with firing %s", duplicate.ExecutionID, duplicate.FiringID)
	case isLeftOut(err):
		t.recordSkipped(ctx, a.firing, again(first, shown(err).FiringReason()))
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: shown(err).Message, Hint: "try again when a run of the trigger has ended"}
	case !isPassing(err):
		t.recordRefused(ctx, a.firing, again(first, shown(err).FiringReason()))
	}
	return err
}

// again is the reason of a redelivery's row: it names the first.
func again(first *blueprint.Firing, why blueprint.Reason) blueprint.Reason {
	return why.With("again", first.ID)
}

// isPassing reports whether an error may be gone if one tries later.
func isPassing(err error) bool {
	code := blueprint.CodeOf(err)
	return code == blueprint.CodeUnavailable || code == blueprint.CodeTooManyRequests
}

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
	result := &blueprint.RedeliverResult{Matched: matched, Refused: []blueprint.RefusedRedelivery{}, Firings: []blueprint.RedeliveredFiring{}}
	if matched > len(rows) {
		result.Next = rows[len(rows)-1].ID
	}
	if request.DryRun {
		for i := range rows {
			result.Firings = append(result.Firings, blueprint.RedeliveredFiring{Of: rows[i].ID})
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
	rows      []blueprint.RedeliveryCandidate
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

// add begins one firing again. It returns false once there is no room for more.
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
		r.result.Firings = append(r.result.Firings, blueprint.RedeliveredFiring{FiringID: &firing.ID, Of: one.first.ID, ExecutionID: firing.ExecutionID})
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
	if len(r.result.Refused) < blueprint.MaxRefusedRedeliveries {
		r.result.Refused = append(r.result.Refused, blueprint.RefusedRedelivery{FiringID: r.rows[row].ID, Reason: message})
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
		r.result.Next = blueprint.FirstCursor
	}
}
