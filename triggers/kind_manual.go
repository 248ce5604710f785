package triggers

import (
	"context"
	"errors"
	"strings"

	"blueprintd/blueprint"
)

type manualConfig struct{}

func manualKind() *Kind {
	return define[manualConfig](blueprint.TriggerManual, Kind{
		Title:       "Manual",
		Description: "Starts a run when you press Fire, or when blueprintTriggers.fire is called.",
		Input:       "inputData is the JSON you enter when you fire it.",
		NeverFired:  "fire it with blueprintTriggers.fire",
	})
}

// Fire starts the blueprint of a trigger of any type manually, with the input that
// the trigger's own source would provide. The exchanges of the run are recorded if
// record or config.record is true. The run is durable when Fire returns.
//
// Errors: CodeNotFound for an unknown trigger, CodeForbidden if the principal cannot
// manage the blueprint, CodeBadRequest for an inactive trigger, an input that does
// not match an api trigger's schema, or a blueprint that cannot run, CodeForbidden
// if the trigger's creator lost access, CodeConflict if its limit is reached,
// CodeTooManyRequests, and CodeUnavailable. All but the first two leave a row.
func (t *Service) Fire(ctx context.Context, principal blueprint.Principal, triggerID string, input any, record bool) (executionID, firingID string, err error) {
	triggerID = strings.ToLower(triggerID)
	binding, err := t.manageable(ctx, principal, triggerID)
	if err != nil {
		return "", "", err
	}
	a := &activation{binding: binding, input: input, record: record, patience: soon, firing: t.newFiring(triggerID, blueprint.SourceManual)}
	a.firing.Delivery = inputDelivery(input)
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonManual))
	if err := t.fire(ctx, a); err != nil {
		return "", "", err
	}
	return *a.firing.ExecutionID, a.firing.ID, nil
}

// manageable returns the binding of a trigger whose blueprint the principal can manage.
func (t *Service) manageable(ctx context.Context, principal blueprint.Principal, triggerID string) (*blueprint.Binding, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	if err != nil {
		return nil, err
	}
	if principal.UserID == binding.Principal.UserID && binding.CanManage {
		return binding, nil // the creator, without a read from the store
	}
	if _, err := t.Store.GetTrigger(ctx, principal, triggerID); err != nil {
		return nil, err
	}
	return binding, nil
}

// fire starts an activation of an authorized caller and records failures, except a
// *blueprint.DuplicateFiringError.
func (t *Service) fire(ctx context.Context, a *activation) error {
	if refused := t.permit(a); refused != nil {
		t.recordRefused(ctx, a.firing, refused.FiringReason())
		return refused
	}
	if refused := t.acceptInput(a); refused != nil {
		t.recordRefused(ctx, a.firing, refused.FiringReason())
		return refused
	}
	var err error
	a.run, err = t.start(ctx, a)
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case errors.As(err, &duplicate):
		return duplicate
	case isLimited(err):
		t.recordSkipped(ctx, a.firing, shown(err).FiringReason())
		return blueprint.Errorf(blueprint.CodeConflict, "%s", shown(err).Message)
	case err != nil:
		t.recordRefused(ctx, a.firing, shown(err).FiringReason())
		return err
	}
	return nil
}

// acceptInput validates the input by the rules of the trigger's kind.
func (t *Service) acceptInput(a *activation) *blueprint.Error {
	if accepts := KindOf(a.binding.Trigger.Type).accepts; accepts != nil {
		return accepts(t, a.binding, a.input)
	}
	return nil
}

// permit refuses triggers that cannot fire.
func (t *Service) permit(a *activation) *blueprint.Error {
	switch {
	case !a.binding.Trigger.IsActive:
		return off(a.binding)
	case !a.binding.CanManage:
		return blueprint.ReasonError(blueprint.CodeForbidden, lostAccess)
	}
	return nil
}
