package triggers

import (
	"context"

	"blueprintd/blueprint"
)

// MailOptions are what a Service needs for email triggers; without them nobody
// takes mail.
type MailOptions struct {
	// Domain stands behind the @ of every mailbox.
	Domain string
	// Mailbox gives the trigger of a local part in lower case, or CodeNotFound.
	Mailbox func(ctx context.Context, address string) (triggerID string, err error)
	// Parse reads a mail; a mail that cannot be taken is CodeBadRequest.
	Parse func(raw []byte) (*blueprint.Mail, error)
	// FileURL gives the address of a file.
	FileURL func(id string) string
}

// noMailbox is told to whoever writes to where nobody takes mail. It is the
// same for every cause, so that it tells a stranger nothing.
func noMailbox() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no mailbox here: the trigger does not exist, was deleted, or is not active")
}

// Mailbox is nil when a trigger takes mail at a local part, which is in lower
// case: it is active, and its creator can still manage the blueprint. Otherwise
// it is CodeNotFound, or CodeUnavailable when the server switched the trigger off
// and it may be on again later, with a row for a trigger that exists: the mail,
// which is refused before it is sent, is a delivery too.
func (t *Service) Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error {
	_, err := t.mailbox(ctx, local, unreceived(envelope, local, 0))
	return err
}

// RefuseMail records a mail for a local part that the server refuses, whatever
// the trigger: why, and how many bytes it has as far as that is known.
func (t *Service) RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason) {
	ctx = context.WithoutCancel(ctx)
	came := unreceived(envelope, local, size)
	binding, err := t.mailbox(ctx, local, came)
	if err != nil { // the row is there, or there is no trigger
		return
	}
	firing := t.newFiring(binding.Trigger.ID, blueprint.SourceEmail)
	firing.Delivery = came
	t.refuseDelivery(ctx, firing, &refusal{why: why})
}

func (t *Service) mailbox(ctx context.Context, local string, came *blueprint.Delivery) (*blueprint.Binding, error) {
	if t.Mail.Mailbox == nil {
		return nil, noMailbox()
	}
	id, err := t.Mail.Mailbox(ctx, local)
	var binding *blueprint.Binding
	if err == nil {
		binding, err = t.Store.Binding(ctx, id)
	}
	answer, why := noMailbox(), blueprint.Reason{}
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, noMailbox()
	case err != nil:
		return nil, t.failure(id, err)
	case binding.Trigger.Type != blueprint.TriggerEmail:
		return nil, noMailbox()
	case !binding.CanManage:
		why = lostAccess
	case binding.Tripped != nil: // by the server: it may be on again before the sender gives up
		wait, over := t.pause(binding)
		if over && binding.RetryAt != 0 {
			return binding, nil
		}
		if answer = wait; over {
			answer = blueprint.Errorf(blueprint.CodeUnavailable, "this mailbox takes a rest: try again later")
		}
		why = offReason(binding)
	case !binding.Trigger.IsActive:
		why = offReason(binding)
	default:
		return binding, nil
	}
	firing := t.newFiring(id, blueprint.SourceEmail)
	firing.Delivery = came
	t.refuseDelivery(ctx, firing, &refusal{answer: answer, why: why})
	return nil, answer
}

// ReceiveMail decides about a mail for a local part. Nil says that it is
// decided, and that the decision is on the disk: a run was started, or was
// before by the same mail, or a filter left the mail out.
//
// Errors: CodeNotFound as with Mailbox; CodeBadRequest when the blueprint cannot
// run; CodeUnavailable, CodeTooManyRequests and CodeInternal for what may pass.
func (t *Service) ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error {
	// Who sent it may leave; what becomes of the mail is to be known all the same.
	ctx = context.WithoutCancel(ctx)
	came := mailDelivery(local, received)
	binding, err := t.mailbox(ctx, local, came)
	if err != nil {
		return err
	}
	a := &activation{binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEmail), patience: atOnce}
	a.firing.Delivery = came
	long := a.identify(received)
	if first := t.sameMail(ctx, a, long); first != nil {
		t.recordDuplicate(ctx, a, first)
		return nil
	}
	if refused := t.judgeMail(a, received.Mail, a.firing.ReceivedAt.Time()); refused != nil {
		return t.turnMailAway(ctx, a, refused)
	}
	var paused *blueprint.Error
	switch a.binding, a.letIn, paused = t.letIn(ctx, binding); {
	case paused != nil:
		a.firing.Files = nil
		return t.turnMailAway(ctx, a, &refusal{answer: paused, why: offReason(binding)})
	case !a.binding.Trigger.IsActive: // somebody switched it off a moment ago
		a.firing.Files = nil
		return t.turnMailAway(ctx, a, &refusal{answer: noMailbox(), why: blueprint.Because(blueprint.ReasonOff)})
	case a.letIn:
		a.firing.Because(a.firing.Why.With("letIn", true))
	}
	spare, ok := t.mails.take(a, t.Clock.Now())
	if !ok {
		a.firing.Files, came.Body = nil, nil // its sender has it, and comes again
		return t.turnMailAway(ctx, a, &refusal{answer: blueprint.Errorf(blueprint.CodeTooManyRequests, "too much mail for this address now")})
	}
	first, err := t.startMail(ctx, a, long)
	if err == nil && first == nil {
		return nil
	}
	spare()
	switch {
	case first != nil:
		t.recordDuplicate(ctx, a, first)
		return nil
	case isLeftOut(err):
		return t.turnMailAway(ctx, a, &refusal{why: shown(err).Because()})
	}
	a.firing.Files = nil
	return t.turnMailAway(ctx, a, &refusal{answer: t.failure(a.firing.TriggerID, err)})
}

// turnMailAway records a mail that starts nothing, and gives what its sender is
// told: nothing when a filter left it out, once that is on the disk.
func (t *Service) turnMailAway(ctx context.Context, a *activation, refused *refusal) error {
	if refused.answer != nil {
		t.refuseDelivery(ctx, a.firing, refused)
		return refused.answer
	}
	if !t.mayRecord(a.firing, refused.why) {
		return nil // it is counted
	}
	decide(a.firing, blueprint.DecisionSkipped, refused.why)
	a.firing.Files = nil
	if err := t.Store.RecordFirings(ctx, a.firing.TriggerID, []blueprint.Firing{*a.firing}, 0); err != nil {
		return t.failure(a.firing.TriggerID, err)
	}
	t.counts.firings.Add(string(a.firing.Source), string(a.firing.Decision))
	return nil
}
