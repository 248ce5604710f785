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
	ids, err := t.Store.Listeners(ctx, e.OrganizationID, e.Name)
	if err != nil {
		return 0, err
	}
	var batch []*activation
	for _, id := range ids {
		a, failed := t.hearing(ctx, &e, id)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if a == nil {
			continue
		}
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

// hearing makes an activation of an event for one trigger; nil when that does not
// listen to it any more.
func (t *Service) hearing(ctx context.Context, e *blueprint.Event, triggerID string) (*activation, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound: // deleted a moment ago
		return nil, nil
	case err != nil:
		return nil, err
	case binding.Definition.OrganizationID != e.OrganizationID || !binding.Trigger.IsActive || binding.Trigger.Config["event"] != e.Name:
		return nil, nil
	}
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
	return a, nil
}

// deaf tells why a trigger does not start for an event of the name that it
// listens to; "" when it does.
func deaf(e *blueprint.Event, a *activation) (decision blueprint.Decision, reason string) {
	wanted, _ := a.binding.Trigger.Config["blueprintId"].(string)
	switch {
	case a.binding.Trigger.BlueprintID == e.BlueprintID && ofRun(e.Name):
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

// ofRun tells whether an event is one that runs cause, and that a blueprint which
// heard its own would cause again and again.
func ofRun(name string) bool {
	return blueprint.IsCustomEvent(name) || strings.HasPrefix(name, "execution.")
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
		decision, reason := t.unheard(a, failed)
		a.firing.Decision, a.firing.ExecutionID, a.firing.Reason = decision, nil, shorten(reason)
		t.record(ctx, a.firing)
		if answer := shown(failed); isPassing(answer) || answer.Code == blueprint.CodeInternal {
			err = answer // one of them is enough to try again
		}
	}
	return started, err
}

// unheard tells what becomes of a firing whose run could not be started.
func (t *Service) unheard(a *activation, err error) (decision blueprint.Decision, reason string) {
	if isLeftOut(err) {
		return blueprint.DecisionSkipped, shown(crowded(err)).Message
	}
	return blueprint.DecisionRefused, t.failure(a.firing.TriggerID, err).Message
}
