package triggers

import (
	"context"
	"errors"
	"net/http"

	"blueprintd/blueprint"
)

// caller is a request to a door, with its body once that was read: it can be
// judged more than once.
type caller struct {
	*http.Request
	door door
	id   string // of the trigger

	read    bool
	body    []byte
	refused *blueprint.Error // the body
}

// bodyOf reads the body of a request.
func (t *Service) bodyOf(c *caller) ([]byte, *blueprint.Error) {
	if !c.read {
		c.body, c.refused = t.readBody(c.Request)
		c.read = true
	}
	return c.body, c.refused
}

// known gives what is known of a trigger, and of which generation that is; 0 = it
// holds now. To look first whether something has changed would take a read of the
// disk for each delivery; the transaction that starts the run finds out as well.
func (t *Service) known(c *caller) (*blueprint.Binding, int64, *blueprint.Error) {
	if !t.IDs.IsSeeded() { // no id may depend on what is known
		binding, generation, err := t.Store.RecentBinding(c.Context(), c.id)
		if err == nil && (binding.Trigger.IsActive || generation == 0) {
			return binding, generation, nil
		}
	}
	binding, refused := t.present(c)
	return binding, 0, refused
}

// present gives what holds now.
func (t *Service) present(c *caller) (*blueprint.Binding, *blueprint.Error) {
	binding, err := t.Store.Binding(context.WithoutCancel(c.Context()), c.id)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, noWebhook()
	case err != nil:
		return nil, t.failure(c.id, err)
	}
	return binding, nil
}

// deliver judges a delivery and starts its run. It returns once the run is
// durable, or has said what its sender waits for, if that comes in time.
func (t *Service) deliver(c *caller, binding *blueprint.Binding, generation int64) (*activation, Run, *refusal, error) {
	a := &activation{binding: binding, firing: t.newFiring(c.id, c.door.source), generation: generation}
	if refused := t.receive(a, c); refused != nil {
		return a, nil, refused, nil
	}
	if a.letIn {
		a.firing.Because(a.firing.Why.With("letIn", true))
	}
	waits := a.waits(c.door)
	switch {
	case a.keyed, c.door == slackDoor:
		a.patience = atOnce
	case waits:
		a.patience = atEnd
	default:
		a.patience = soon
	}
	run, err := t.begin(c.Context(), a)
	if err == nil && waits {
		// The run has the input now: its own requests may need the room.
		_ = c.Body.Close()
		t.await(c.Context(), run)
	}
	run, err = t.finish(c.Context(), a, run, err)
	return a, run, nil, err
}

// isStale tells whether a run was made of what has changed meanwhile.
func isStale(err error) bool {
	var stale *blueprint.StaleError
	return errors.As(err, &stale)
}
