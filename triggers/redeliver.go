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
			t.recordRefused(ctx, a.firing, again(first, shown(err).Because()))
		}
		return "", "", err
	}
	return *a.firing.ExecutionID, a.firing.ID, nil
}

// ownKey gives the key of what came, when it has not run yet: running it takes
// that key, so that what its sender repeats is a duplicate. "" = it has none, or
// it has run.
func ownKey(first *blueprint.Firing) string {
	if first.Key == first.ID || first.Decision == blueprint.DecisionStarted || first.Decision == blueprint.DecisionDuplicate {
		return ""
	}
	return first.Key
}

// original gives a firing with what came; of a redelivery, the first one.
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
		t.recordRefused(ctx, a.firing, again(first, refused.Because()))
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
		a.firing.Because(again(first, a.firing.Why))
		return a, nil
	case refused.answer == nil:
		a.firing.Files = nil
		t.recordSkipped(ctx, a.firing, again(first, refused.why))
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "the trigger leaves firing " + first.ID + " out: " + refused.why.String(), Hint: anyInput}
	}
	a.firing.Files = nil
	t.recordRefused(ctx, a.firing, again(first, refused.answer.Because()))
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
	if a.binding.Trigger.Type == blueprint.TriggerAPI {
		if refused := t.schemas.check(a.binding, a.input); refused != nil {
			return &refusal{answer: refused}
		}
	}
	return nil
}

// signatureFacts are those about a judgement, which the next one brings anew.
var signatureFacts = []string{signature.FactHeader, signature.FactForm, signature.FactExpected, signature.FactBytes, signature.FactTried}

// forget leaves of what came only where it is: with the first firing.
func (a *activation) forget(first *blueprint.Firing) {
	d := &blueprint.Delivery{Size: a.firing.Delivery.Size, Facts: a.firing.Delivery.Facts}
	d.Note(blueprint.RedeliveredFrom, first.ID)
	a.firing.Delivery = d
}

// kinds are the types of trigger that each source of firings needs; any other
// source fires every type.
var kinds = map[blueprint.Source]blueprint.TriggerType{
	blueprint.SourceSchedule: blueprint.TriggerScheduled, blueprint.SourceWebhook: blueprint.TriggerWebhook, blueprint.SourceAPI: blueprint.TriggerAPI,
	blueprint.SourceEmail: blueprint.TriggerEmail, blueprint.SourceSlack: blueprint.TriggerSlack, blueprint.SourceEvent: blueprint.TriggerEvent,
}

// suits refuses a firing that cannot be run again whatever the trigger says.
func suits(trigger *blueprint.Trigger, first *blueprint.Firing) *blueprint.Error {
	refuse := func(format string, args ...any) *blueprint.Error {
		return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "firing " + first.ID + " cannot be run again: " + fmt.Sprintf(format, args...), Hint: anyInput}
	}
	d, kind := first.Delivery, kinds[first.Source]
	switch {
	case kind != "" && kind != trigger.Type:
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
	case !d.Kept() && first.Decision == blueprint.DecisionDuplicate:
		return refuse("its body is kept with the first one alone: %s", first.Reason)
	case !d.Kept():
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
		t.recordSkipped(ctx, a.firing, again(first, shown(err).Because()))
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: shown(err).Message, Hint: "try again when a run of the trigger has ended"}
	case !isPassing(err):
		t.recordRefused(ctx, a.firing, again(first, shown(err).Because()))
	}
	return err
}

// again is the reason of a redelivery's row: it names the first.
func again(first *blueprint.Firing, why blueprint.Reason) blueprint.Reason {
	return why.With("again", first.ID)
}

// isPassing tells whether an error may be gone if one tries later.
func isPassing(err error) bool {
	code := blueprint.CodeOf(err)
	return code == blueprint.CodeUnavailable || code == blueprint.CodeTooManyRequests
}
