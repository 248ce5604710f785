package triggers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"blueprintd/blueprint"
)

// Emit raises an event: every active event trigger of its organization that
// listens to its name starts its blueprint, once for each Key of an event,
// however often it is raised. It gives the number of runs that were started,
// now or when the event was raised before. What was started is durable when it
// returns, and each trigger that was asked has a row in the ledger.
//
// An error means that some could not be started for a reason that may pass
// (CodeUnavailable, CodeInternal): raised again under the same Key, the event
// reaches these and nobody twice.
func (t *Service) Emit(ctx context.Context, e blueprint.Event) (delivered int, err error) {
	all, err := t.Store.ActiveTriggers(ctx, blueprint.TriggerEvent)
	if err != nil {
		return 0, err
	}
	var batch []*activation
	for i := range all {
		if all[i].Config["event"] != e.Name {
			continue
		}
		binding, failed := t.Store.Binding(ctx, all[i].ID)
		switch {
		case blueprint.CodeOf(failed) == blueprint.CodeNotFound: // deleted a moment ago
			continue
		case failed != nil:
			err = errors.Join(err, failed)
			continue
		case binding.Definition.OrganizationID != e.OrganizationID || !binding.Trigger.IsActive || binding.Trigger.Config["event"] != e.Name:
			continue
		}
		a := t.hearing(&e, binding)
		if decision, reason := deaf(&e, a); decision != "" {
			a.firing.Decision, a.firing.Reason = decision, reason
			t.record(ctx, a.firing)
			continue
		}
		if batch = append(batch, a); len(batch) == maxBatch {
			started, failed := t.hear(ctx, batch)
			delivered, err, batch = delivered+started, errors.Join(err, failed), nil
		}
	}
	started, failed := t.hear(ctx, batch)
	return delivered + started, errors.Join(err, failed)
}

// hearing makes an activation of an event for one trigger.
func (t *Service) hearing(e *blueprint.Event, binding *blueprint.Binding) *activation {
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEvent),
		keyed: true, patience: atOnce, depth: e.Depth + 1,
	}
	a.firing.Key, a.firing.Reason = e.Key, "heard "+e.Name
	input := map[string]any{"event": e.Name, "at": e.At.String(), "data": e.Data}
	for name, id := range map[string]string{"blueprintId": e.BlueprintID, "executionId": e.ExecutionID} {
		if id != "" {
			input[name] = id
		}
	}
	a.input, a.firing.Delivery = input, said(input)
	return a
}

// deaf tells why a trigger does not start for an event of the name that it
// listens to; "" when it does.
func deaf(e *blueprint.Event, a *activation) (decision blueprint.Decision, reason string) {
	wanted, _ := a.binding.Trigger.Config["blueprintId"].(string)
	switch {
	case a.binding.Trigger.BlueprintID == e.BlueprintID:
		return blueprint.DecisionSkipped, "a blueprint does not hear its own executions"
	case wanted != "" && !strings.EqualFold(wanted, e.BlueprintID):
		return blueprint.DecisionSkipped, "the event is of blueprint " + e.BlueprintID + "; the trigger listens to " + wanted
	case !a.binding.CanManage:
		return blueprint.DecisionRefused, lostAccessReason
	case a.depth > blueprint.MaxEventDepth:
		return blueprint.DecisionRefused, fmt.Sprintf("%d events led here, each caused by the one before; the most is %d", a.depth, blueprint.MaxEventDepth)
	}
	return "", ""
}

// hear starts a batch: first all runs are begun, then they are waited for, so
// that they share commits. It gives how many there are.
func (t *Service) hear(ctx context.Context, batch []*activation) (started int, err error) {
	runs, failures := make([]Run, len(batch)), make([]error, len(batch))
	for i, a := range batch {
		runs[i], failures[i] = t.begin(a)
	}
	for i, a := range batch {
		_, failed := t.finish(ctx, a, runs[i], failures[i])
		var duplicate *blueprint.DuplicateFiringError
		if failed == nil || errors.As(failed, &duplicate) {
			started++
			continue
		}
		answer := t.failure(a.firing.TriggerID, failed)
		t.recordRefused(ctx, a.firing, answer.Message)
		if answer.Code == blueprint.CodeUnavailable || answer.Code == blueprint.CodeInternal {
			err = answer // one of them is enough to try again
		}
	}
	return started, err
}
