package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// encodeDelivery gives the two columns of what came with a firing.
func encodeDelivery(d *blueprint.Delivery) (head, body any, err error) {
	if d == nil {
		return nil, nil, nil
	}
	text, err := blueprint.Encode(d)
	if err != nil {
		return nil, nil, err
	}
	if d.Body != nil {
		body = d.Body
	}
	return string(text), body, nil
}

// deliverySize is about how many bytes a firing writes because of what came
// with it.
func deliverySize(f *blueprint.Firing) int {
	if f.Delivery == nil {
		return 0
	}
	return 256 + len(f.Delivery.Body)
}

func decodeDelivery(head, body []byte) (*blueprint.Delivery, error) {
	if head == nil {
		return nil, nil
	}
	d := &blueprint.Delivery{}
	decoder := json.NewDecoder(bytes.NewReader(head))
	decoder.UseNumber()
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("a delivery is unreadable: %w", err)
	}
	d.Body = body
	if d.Body == nil && d.Size == 0 {
		d.Body = []byte{}
	}
	return d, nil
}

// FiringWithDelivery gives a row of the ledger with what came, to who can
// manage its trigger's blueprint: CodeNotFound, or CodeForbidden. Delivery is
// nil when nothing came.
func (s *Store) FiringWithDelivery(ctx context.Context, principal blueprint.Principal, id string) (firing blueprint.Firing, err error) {
	defer wrap(&err, "delivery of firing %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		var head, body []byte
		firing, err = scanFiring(func(into ...any) error {
			return q.row("SELECT "+firingColumns+", f.delivery, f.delivery_body FROM firings f WHERE f.id = ?", []any{id}, append(into, &head, &body)...)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("firing", id)
		}
		if err == nil {
			firing.Delivery, err = decodeDelivery(head, body)
		}
		if err != nil {
			return err
		}
		_, err = s.managedTrigger(q, principal, firing.TriggerID)
		if blueprint.CodeOf(err) == blueprint.CodeNotFound {
			return notFound("firing", id)
		}
		return err
	})
	if err != nil {
		return blueprint.Firing{}, err
	}
	return firing, nil
}
