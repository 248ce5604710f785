package triggers

import (
	"context"

	"blueprintd/blueprint"
)

// resume returns the binding of a trigger after a delivery came for it, and whether
// the delivery has switched the trigger on: the server had switched it off some
// time ago, and does not keep those out for ever whom strangers can keep out so.
// Until then it is CodeUnavailable. CodeNotFound when the trigger is gone.
func (t *Service) resume(ctx context.Context, b *blueprint.Binding) (_ *blueprint.Binding, done bool, refused *blueprint.Error) {
	if b.Trigger.IsActive || b.RetryAt == 0 || !b.CanManage {
		return b, false, nil
	}
	if wait, ok := t.pause(b); !ok {
		return b, false, wait
	}
	done, err := t.Store.LetIn(ctx, b.Trigger.ID)
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	if done {
		t.Logger.Info("a trigger that the server switched off is tried again", "trigger", b.Trigger.ID)
	}
	present, err := t.Store.Binding(ctx, b.Trigger.ID) // perhaps another delivery was the first
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	return present, done, nil
}

// pause reports whether a trigger that the server switched off may be tried again,
// and what its senders are told until then. A time too far away is of a clock
// that was set back.
func (t *Service) pause(b *blueprint.Binding) (wait *blueprint.Error, over bool) {
	left := b.RetryAt.Time().Sub(t.Clock.Now())
	if left <= 0 || left > blueprint.BreakerPause {
		return nil, true
	}
	return &blueprint.Error{Code: blueprint.CodeUnavailable, RetryAfter: left, Message: "the runs of this trigger keep failing, so it takes a rest: try again later"}, false
}

// offReason tells why a trigger that is not active starts nothing: somebody
// switched it off, or the server did because its runs kept failing.
func offReason(binding *blueprint.Binding) blueprint.Reason {
	if binding.Tripped == nil {
		return blueprint.Because(blueprint.ReasonOff)
	}
	return binding.Tripped.Because(blueprint.ReasonTripped)
}

// off is offReason for who fired it and can switch it on again.
func off(binding *blueprint.Binding) *blueprint.Error {
	refused := blueprint.Refused(blueprint.CodeBadRequest, offReason(binding))
	if binding.Tripped != nil {
		refused.Hint = "mend the cause, then switch it on again with isActive: true"
	}
	return refused
}
