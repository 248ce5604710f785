package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// deliveryPlace names what a sealed delivery is bound to.
func deliveryPlace(firingID string) string { return "firings/" + firingID + "/delivery" }

// reasonPlace names what the sealed parameters of a reason are bound to.
func reasonPlace(firingID string) string { return "firings/" + firingID + "/reason" }

// sealFiring encrypts what of a firing may tell what its run took in, before the
// writer has to wait for that: what came, and the parameters of the reason.
func (s *Store) sealFiring(f *blueprint.Firing) error {
	if err := s.sealReason(f); err != nil {
		return err
	}
	return s.sealDelivery(f)
}

// sealReason encrypts the parameters of a firing's reason, once. A reason that was
// set as a sentence alone is a message.
func (s *Store) sealReason(f *blueprint.Firing) error {
	if f.Why.Code == "" && len(f.Why.Params) == 0 && f.Reason != "" {
		f.Why = blueprint.Saying(blueprint.ReasonMessage, f.Reason)
	}
	if len(f.Why.Params) == 0 || f.SealedWhy != nil {
		return nil
	}
	plain, err := blueprint.Encode(f.Why.Params)
	if err == nil {
		f.SealedWhy, err = s.seal(plain, reasonPlace(f.ID))
	}
	return err
}

// openReason returns the reason of a firing. Parameters that cannot be read, for
// want of the key or because of damage, are left out: the row is listed all the
// same.
func (s *Store) openReason(firingID string, code string, sealed []byte) blueprint.Reason {
	why := blueprint.Reason{Code: blueprint.ReasonCode(code)}
	if len(sealed) > 0 {
		value, err := s.unseal(nil, sealed, reasonPlace(firingID))
		if why.Params, _ = value.(map[string]any); err != nil {
			why.Params = map[string]any{"message": "the details cannot be read"}
		}
	}
	return why
}

// sealDelivery encrypts what came with a firing, before the writer has to wait
// for that: the head as JSON, and behind a line break the body if it was kept.
func (s *Store) sealDelivery(f *blueprint.Firing) error {
	d := f.Delivery
	if d == nil {
		return nil
	}
	plain, err := blueprint.Encode(d)
	if err != nil {
		return err
	}
	if d.Kept() {
		plain = append(append(plain, '\n'), d.Body...)
	}
	d.Sealed, err = s.seal(plain, deliveryPlace(f.ID))
	return err
}

// openDelivery gives back what sealDelivery encrypted.
func (s *Store) openDelivery(firingID string, sealed []byte) (*blueprint.Delivery, error) {
	if sealed == nil {
		return nil, nil
	}
	plain, err := s.unsealed(sealed, deliveryPlace(firingID))
	if err != nil {
		return nil, err
	}
	head, body, kept := bytes.Cut(plain, []byte("\n"))
	d := &blueprint.Delivery{}
	decoder := json.NewDecoder(bytes.NewReader(head))
	decoder.UseNumber()
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("a delivery is unreadable: %w", err)
	}
	if kept {
		d.Body = body
	}
	return d, nil
}

// deliverySize is about how many bytes a firing writes because of what came
// with it.
func deliverySize(f *blueprint.Firing) int {
	if f.Delivery == nil {
		return 0
	}
	return len(f.Delivery.Sealed)
}

// FiringWithDelivery gives a row of the ledger with what came, to who can
// manage its trigger's blueprint; for anybody else it is CodeNotFound. Delivery
// is nil when nothing came.
func (s *Store) FiringWithDelivery(ctx context.Context, principal blueprint.Principal, id string) (firing blueprint.Firing, err error) {
	defer wrap(&err, "delivery of firing %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		var sealed []byte
		firing, _, err = s.ownFiring(q, principal, id, ", f.sealed_delivery", &sealed)
		if err == nil {
			firing.Delivery, err = s.openDelivery(id, sealed)
		}
		return err
	})
	if err != nil {
		return blueprint.Firing{}, err
	}
	return firing, nil
}
