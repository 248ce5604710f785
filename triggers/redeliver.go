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

// fireHint is the hint for a firing that cannot be redelivered.
var fireHint = blueprint.SeeDocs("blueprintTriggers.fire runs the trigger's blueprint with any input", "triggers")

// Redeliver runs a firing again, as a new firing of source "redelivery". The stored
// delivery is judged again, by the current config of the trigger and the time at
// which it was received; a redelivery of a redelivery runs the original. The run is
// durable when Redeliver returns.
//
// Errors: CodeNotFound for an unknown firing or a trigger that the principal cannot
// manage; CodeBadRequest if the delivery was not stored, is refused again or skipped
// by a filter, or the trigger is inactive; CodeForbidden if the trigger's creator
// lost access; CodeConflict, CodeTooManyRequests and CodeUnavailable if there is no
// capacity for a run. All but the first two leave a row.
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
			key = "" // it has run since, and will run once more
		}
	}
	a, err := t.redelivery(ctx, binding, first, key)
	if err != nil {
		return "", "", err
	}
	run, err := t.begin(ctx, a)
	if err := t.finishRedelivery(ctx, a, first, run, err); err != nil {
		if isTemporary(err) {
			t.recordRefused(ctx, a.firing, again(first, shown(err).FiringReason()))
		}
		return "", "", err
	}
	return *a.firing.ExecutionID, a.firing.ID, nil
}

// ownKey returns the key of a delivery that has not run yet. A redelivery uses it, so
// that a later delivery with that key is a duplicate. "" = it has none or has run.
func ownKey(first *blueprint.Firing) string {
	if first.Key == first.ID || first.Decision == blueprint.DecisionStarted || first.Decision == blueprint.DecisionDuplicate {
		return ""
	}
	return first.Key
}

// original returns a firing with its delivery; for a redelivery, the original one.
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
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Hint: fireHint,
			Message: fmt.Sprintf("firing %s ran %s again, which is no longer in the ledger", firingID, first)}
	}
	return &firing, err
}

// redelivery returns the activation for running a firing again. If the trigger
// refuses it, that is recorded. With a key, only one activation can start a run.
func (t *Service) redelivery(ctx context.Context, binding *blueprint.Binding, first *blueprint.Firing, key string) (*activation, error) {
	a := &activation{binding: binding, patience: soon, firing: t.newFiring(first.TriggerID, blueprint.SourceRedelivery)}
	a.firing.DueAt = first.DueAt
	a.firing.Delivery = &blueprint.Delivery{}
	if first.Delivery != nil {
		delivery := *first.Delivery
		delivery.Facts = maps.Clone(delivery.Facts)
		for _, name := range signatureFacts {
			delete(delivery.Facts, name)
		}
		a.firing.Delivery, a.hidden = &delivery, delivery.Hidden
	}
	if refused := checkRepeatable(&binding.Trigger, first); refused != nil {
		return nil, refused
	}
	if refused := t.permit(a); refused != nil {
		a.dropDelivery(first)
		t.recordRefused(ctx, a.firing, again(first, refused.FiringReason()))
		return nil, refused
	}
	refused := t.judgeAgain(a, first)
	// Without a key it can be redelivered any number of times.
	a.firing.Key, a.firing.BodyHash, a.keyed = a.firing.ID, "", key != ""
	if a.keyed {
		a.firing.Key, a.patience = key, atOnce
		if key == first.Key && first.Source == blueprint.SourceAPI && refused == nil {
			a.firing.BodyHash = hash(a.input)
		}
	}
	a.dropDelivery(first)
	switch {
	case refused == nil:
		a.firing.SetReason(again(first, a.firing.Why))
		return a, nil
	case refused.answer == nil:
		a.firing.Files = nil
		t.recordSkipped(ctx, a.firing, again(first, refused.why))
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "the trigger skips firing " + first.ID + ": " + refused.why.String(), Hint: fireHint}
	}
	a.firing.Files = nil
	t.recordRefused(ctx, a.firing, again(first, refused.answer.FiringReason()))
	if isTemporary(refused.answer) {
		return nil, refused.answer
	}
	return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "firing " + first.ID + " is refused again: " + refused.answer.Message, Issues: refused.answer.Issues, Hint: fireHint}
}

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
	if refused := t.acceptInput(a); refused != nil {
		return &refusal{answer: refused}
	}
	return nil
}

// signatureFacts are the facts that signature.Check adds again.
var signatureFacts = []string{signature.FactHeader, signature.FactForm, signature.FactExpected, signature.FactBytes, signature.FactTried}

// dropDelivery replaces the delivery by a reference to the original firing.
func (a *activation) dropDelivery(first *blueprint.Firing) {
	d := &blueprint.Delivery{Size: a.firing.Delivery.Size, Facts: a.firing.Delivery.Facts}
	d.AddFact(blueprint.FactRedeliveryOf, first.ID)
	a.firing.Delivery = d
}

// checkRepeatable refuses a firing that cannot be redelivered.
func checkRepeatable(trigger *blueprint.Trigger, first *blueprint.Firing) *blueprint.Error {
	refuse := func(format string, args ...any) *blueprint.Error {
		return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "firing " + first.ID + " cannot be run again: " + fmt.Sprintf(format, args...), Hint: fireHint}
	}
	d := first.Delivery
	switch {
	case first.Source != blueprint.SourceManual && first.Source != KindOf(trigger.Type).Source:
		return refuse("its source is %s, and the trigger is of type %s", first.Source, trigger.Type)
	case first.Source == blueprint.SourceSchedule && first.DueAt == 0:
		return refuse("it has no tick")
	case first.Source == blueprint.SourceSchedule:
		return nil
	case signature.WasForged(trigger, d):
		return refuse("its signature was refused, and the trigger no longer has a secret to verify it")
	case d == nil:
		return refuse("its delivery was not stored")
	case d.Facts[factReceived] == false:
		return refuse("it was not received: ask the sender to send it again")
	case !d.IsComplete() && first.Decision == blueprint.DecisionDuplicate:
		return refuse("its body is stored with the first delivery: %s", first.Reason)
	case !d.IsComplete():
		return refuse("its body of %d bytes was not stored", d.Size)
	}
	return nil
}

// finishRedelivery waits until the run of a redelivery is durable. It records
// failures that are not temporary.
func (t *Service) finishRedelivery(ctx context.Context, a *activation, first *blueprint.Firing, run Run, err error) error {
	if _, err = t.finish(ctx, a, run, err); err == nil {
		return nil
	}
	a.firing.Files = nil
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case errors.As(err, &duplicate):
		if a.firing.BodyHash != "" { // otherwise it has a row
			t.recordDuplicate(ctx, a, duplicate)
		}
		return blueprint.Errorf(blueprint.CodeConflict, "it has run already, as %s with firing %s", duplicate.ExecutionID, duplicate.FiringID)
	case isLimited(err):
		t.recordSkipped(ctx, a.firing, again(first, shown(err).FiringReason()))
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: shown(err).Message, Hint: "try again when a run of the trigger has ended"}
	case !isTemporary(err):
		t.recordRefused(ctx, a.firing, again(first, shown(err).FiringReason()))
	}
	return err
}

// again adds the original firing to the reason of a redelivery.
func again(first *blueprint.Firing, why blueprint.Reason) blueprint.Reason {
	return why.With("again", first.ID)
}

// isTemporary reports whether a later attempt may succeed.
func isTemporary(err error) bool {
	code := blueprint.CodeOf(err)
	return code == blueprint.CodeUnavailable || code == blueprint.CodeTooManyRequests
}

// Limits of the redeliveries that begin before the first of them is waited for, so
// that they share commits.
const (
	bulkRows  = 32
	bulkBytes = 8 << 20
)

// RedeliverSeveral runs the selected firings of a request again, oldest first, as
// Redeliver does. It stops at the first for which the server has no capacity, or when
// ctx ends; the result says where to continue. Unless Again is set, a repeated
// request, concurrently or after a crash, runs nothing twice. Errors: CodeNotFound and
// CodeForbidden for the trigger, CodeBadRequest if it is inactive or After is invalid,
// CodeForbidden if its creator lost access, CodeConflict while another request for
// the trigger is in progress.
func (t *Service) RedeliverSeveral(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (*blueprint.RedeliverResult, error) {
	if !request.DryRun {
		if _, err := t.Store.GetTrigger(ctx, principal, request.TriggerID); err != nil {
			return nil, err
		}
		refused := &blueprint.Error{Code: blueprint.CodeConflict, Message: "firings of trigger " + request.TriggerID + " are already being run again", Hint: "wait until that request is answered"}
		if _, busy := t.bulks.LoadOrStore(request.TriggerID, true); busy {
			return nil, refused
		}
		defer t.bulks.Delete(request.TriggerID)
		release, held, err := t.Store.TryClaim(ctx, "redeliver "+request.TriggerID)
		if err != nil {
			return nil, err
		}
		if !held {
			return nil, refused
		}
		defer release()
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
	r := &bulk{Service: t, principal: principal, request: request, rows: rows, stopped: len(rows), result: result}
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

// bulk is a RedeliverSeveral in progress. One goroutine owns it.
type bulk struct {
	*Service
	principal blueprint.Principal
	request   *blueprint.RedeliverRequest
	binding   *blueprint.Binding
	rows      []blueprint.RedeliveryCandidate
	result    *blueprint.RedeliverResult
	batch     []begunRedelivery
	bytes     int64
	stopped   int // index of the first row without capacity
}

type begunRedelivery struct {
	row        int
	first      *blueprint.Firing
	activation *activation
	run        Run
	err        error
}

// key returns the key of a redelivery, which is the same for a repeated request. A
// delivery that has not run yet uses its own key, so that it does not run if its
// sender has repeated it with success.
func (r *bulk) key(row int, first *blueprint.Firing) string {
	if r.request.Again {
		return ""
	}
	if key := ownKey(first); key != "" && r.rows[row].Failed == 0 {
		return key
	}
	return fmt.Sprintf("again:%s:%d", r.rows[row].ID, r.rows[row].Failed)
}

func (r *bulk) hasCapacity() bool { return r.stopped == len(r.rows) }

// add begins the redelivery of a row. It returns false once there is no capacity.
func (r *bulk) add(ctx context.Context, row int) bool {
	if !r.hasCapacity() {
		return false
	}
	first, err := r.original(ctx, r.principal, r.rows[row].ID)
	var a *activation
	if err == nil {
		a, err = r.redelivery(ctx, r.binding, first, r.key(row, first))
	}
	if err != nil {
		r.refused(row, err)
		return r.hasCapacity()
	}
	one := begunRedelivery{row: row, first: first, activation: a}
	one.run, one.err = r.begin(ctx, a)
	r.batch = append(r.batch, one)
	if first.Delivery != nil {
		r.bytes += first.Delivery.Size
	}
	if one.err != nil || len(r.batch) == bulkRows || r.bytes >= bulkBytes {
		r.flush(ctx)
	}
	return r.hasCapacity()
}

// flush waits for all redeliveries that have begun.
func (r *bulk) flush(ctx context.Context) {
	for _, one := range r.batch {
		if err := r.finishRedelivery(ctx, one.activation, one.first, one.run, one.err); err != nil {
			r.refused(one.row, err)
			continue
		}
		firing := one.activation.firing
		r.result.Redelivered++
		r.result.Firings = append(r.result.Firings, blueprint.RedeliveredFiring{FiringID: &firing.ID, Of: one.first.ID, ExecutionID: firing.ExecutionID})
	}
	r.batch, r.bytes = nil, 0
}

// refused adds a refused firing to the result. A temporary error stops the request.
func (r *bulk) refused(row int, err error) {
	message := r.failure(r.binding.Trigger.ID, err).Message
	if isTemporary(err) {
		r.stop(row, message)
		return
	}
	if len(r.result.Refused) < blueprint.MaxRefusedRedeliveries {
		r.result.Refused = append(r.result.Refused, blueprint.RefusedRedelivery{FiringID: r.rows[row].ID, Reason: message})
	}
}

// stop stops the request at the earliest row without capacity.
func (r *bulk) stop(row int, why string) {
	if r.hasCapacity() {
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
