package triggers

import (
	"context"
	"errors"
	"strings"

	"blueprintd/blueprint"
)

// manualConfig has no keys of its own.
type manualConfig struct{}

func manualKind() *Kind {
	return define(definition[manualConfig]{
		of:          blueprint.TriggerManual,
		description: "Fired by hand.",
		neverFired:  "fire it with blueprintTriggers.fire",
	})
}

// Fire starts the blueprint of a trigger of any type by hand, for somebody who
// can manage it, with input as if it came from the trigger's own source.
// With record set, or when the trigger says so, what
// the run exchanges is kept. The run is durable when Fire returns.
//
// Errors: CodeNotFound for an unknown trigger, CodeForbidden for who may not
// manage the blueprint, CodeBadRequest for an inactive trigger, an input that
// breaks an api trigger's schema, or a blueprint that cannot run, CodeForbidden
// when the trigger's creator has lost access, CodeConflict when its limit leaves
// no room, CodeTooManyRequests, and CodeUnavailable. All but the first two leave
// a row.
func (t *Service) Fire(ctx context.Context, principal blueprint.Principal, triggerID string, input any, record bool) (executionID, firingID string, err error) {
	triggerID = strings.ToLower(triggerID)
	binding, err := t.manageable(ctx, principal, triggerID)
	if err != nil {
		return "", "", err
	}
	a := &activation{binding: binding, input: input, record: record, patience: soon, firing: t.newFiring(triggerID, blueprint.SourceManual)}
	a.firing.Delivery = said(input)
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonManual))
	if err := t.fire(ctx, a); err != nil {
		return "", "", err
	}
	return *a.firing.ExecutionID, a.firing.ID, nil
}

// manageable finds a trigger for somebody who must be able to manage its
// blueprint.
func (t *Service) manageable(ctx context.Context, principal blueprint.Principal, triggerID string) (*blueprint.Binding, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	if err != nil {
		return nil, err
	}
	if principal.UserID == binding.Principal.UserID && binding.CanManage {
		return binding, nil // the creator: known without asking the disk
	}
	if _, err := t.Store.GetTrigger(ctx, principal, triggerID); err != nil {
		return nil, err
	}
	return binding, nil
}

// fire starts an activation that somebody with a right to it asked for. A
// *blueprint.DuplicateFiringError is passed on.
func (t *Service) fire(ctx context.Context, a *activation) error {
	if refused := t.permit(a); refused != nil {
		t.recordRefused(ctx, a.firing, refused.FiringReason())
		return refused
	}
	if refused := KindOf(a.binding.Trigger.Type).accepts(t, a.binding, a.input); refused != nil {
		t.recordRefused(ctx, a.firing, refused.FiringReason())
		return refused
	}
	var err error
	a.run, err = t.start(ctx, a)
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case errors.As(err, &duplicate):
		return duplicate
	case isLeftOut(err):
		t.recordSkipped(ctx, a.firing, shown(err).FiringReason())
		return blueprint.Errorf(blueprint.CodeConflict, "%s", shown(err).Message)
	case err != nil:
		t.recordRefused(ctx, a.firing, shown(err).FiringReason())
		return err
	}
	return nil
}

// permit refuses whatever may not fire at all.
func (t *Service) permit(a *activation) *blueprint.Error {
	switch {
	case !a.binding.Trigger.IsActive:
		return off(a.binding)
	case !a.binding.CanManage:
		return blueprint.ReasonError(blueprint.CodeForbidden, lostAccess)
	}
	return nil
}
