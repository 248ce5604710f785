package triggers

import (
	"context"
	"net/http"
	"strings"

	"blueprintd/blueprint"
)

// Outcome is what became of a call: the run, and how it ended. Ending is nil when
// the run paused, takes longer than Options.SyncTimeout, or the server stops; it
// goes on then.
type Outcome struct {
	ExecutionID string
	Ending      *blueprint.Ending
	Paused      bool
}

// Call fires an api trigger as ServeAPI does, with an input that its caller has
// read, and waits for the end of the run. The run sees the headers of request.
//
// Errors: CodeNotFound for a trigger that is unknown or of another type,
// CodeForbidden, CodeBadRequest when it is not active or for the input, whose
// issues' paths begin with "inputData", and CodeUnavailable.
func (t *Service) Call(ctx context.Context, principal blueprint.Principal, triggerID string, input any, request *http.Request) (*Outcome, error) {
	binding, err := t.reachable(ctx, principal, strings.ToLower(triggerID))
	if err != nil {
		return nil, err
	}
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceAPI), input: input, patience: atEnd,
		headers: triggerHeaders(request),
	}
	a.firing.Because(blueprint.Because(blueprint.ReasonCalled))
	a.firing.Delivery = newDelivery(request)
	a.firing.Delivery.Body = said(input).Body
	a.firing.Delivery.Size = int64(len(a.firing.Delivery.Body))
	if err := t.fire(ctx, a); err != nil {
		return nil, err
	}
	outcome := &Outcome{ExecutionID: *a.firing.ExecutionID}
	waiting, leave := context.WithTimeout(ctx, t.SyncTimeout)
	defer leave()
	ending, err := a.run.Ending(waiting)
	switch {
	case err != nil: // the run is durable, whatever we know of its end
	case ending.Status.Terminal():
		outcome.Ending = &ending
	default:
		outcome.Paused = ending.Status == blueprint.StatusPaused
	}
	return outcome, nil
}
