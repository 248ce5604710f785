package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type triggerRotateSecret struct {
	ID              string  `json:"triggerId" check:"required,uuid"`
	Secret          *string `json:"secret" check:"min=1"` // absent = one is made up
	KeepPreviousFor string  `json:"keepPreviousFor" check:"default=24h" guards:"keep|previous|grace"`
}

type rotatedSecret struct {
	Secret string `json:"secret"`
	// PreviousSecretUntil is until when the one before is good as well.
	PreviousSecretUntil blueprint.Time `json:"previousSecretUntil"`
}

// triggerRotateSecret gives a trigger another secret, and time to its senders to
// take notice.
func (s *Service) triggerRotateSecret(ctx context.Context, caller *trpc.Caller, in triggerRotateSecret) (out rotatedSecret, err error) {
	if in.Secret != nil {
		out.Secret = *in.Secret
	}
	wanted := out.Secret
	_, err = s.Store.UpdateTrigger(ctx, caller.Principal, in.ID, func(present blueprint.Trigger) (config map[string]any, err error) {
		config, out.Secret, out.PreviousSecretUntil, err = s.Triggers.Rotate(&present, wanted, in.KeepPreviousFor)
		return config, err
	}, nil)
	if err != nil {
		return rotatedSecret{}, err
	}
	s.Triggers.Changed()
	return out, nil
}
