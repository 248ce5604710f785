package store

import (
	"bytes"
	"context"
	"encoding/json"

	"blueprintd/blueprint"
	"blueprintd/planted"
)

// Events lists what is in the outbox behind a place, the oldest first. It asks
// for no principal: it is for what fires triggers.
func (s *Store) Events(ctx context.Context, after int64, limit int) (list []blueprint.OutboxEvent, err error) {
	defer wrap(&err, "events after %d", after)
	const query = `SELECT seq, key, name, organization_id, blueprint_id, execution_id, depth, at, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?`
	err = s.read(ctx, func(q *session) error {
		return q.each(query, []any{after, limit}, func(scan func(...any) error) error {
			var e blueprint.OutboxEvent
			var data []byte
			err := scan(&e.Seq, &e.Key, &e.Name, &e.OrganizationID, &e.BlueprintID, &e.ExecutionID, &e.Depth, &e.At, &data)
			if err != nil {
				return err
			}
			if e.Data, err = readData(data); err != nil { // the others behind it must not wait for ever
				s.options.Logger.Error("an event is told without its data, which is unreadable", "event", e.Name, "key", e.Key, "error", err)
			}
			list = append(list, e)
			return nil
		})
	})
	if planted.Is(planted.EventForgotten) {
		s.forget(ctx, list)
	}
	return list, err
}

// EventsTold takes events out of the outbox, by their keys. It asks for no
// principal: it is for what fires triggers.
func (s *Store) EventsTold(ctx context.Context, keys []string) (err error) {
	defer wrap(&err, "delete %d events", len(keys))
	return s.write(ctx, func(t *transaction) error {
		for _, key := range keys {
			if _, err := t.exec("DELETE FROM events WHERE key = ?", key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Listeners lists the active triggers of an organization that listen to an
// event, the oldest first. It asks for no principal: it is for what fires
// triggers. The list may be shared and must not be changed.
func (s *Store) Listeners(ctx context.Context, organizationID, event string) (_ []string, err error) {
	defer wrap(&err, "listeners of %s in organization %s", event, organizationID)
	return remember(ctx, s, s.listeners, organizationID+" "+event, func(q *session) (list []string, err error) {
		const query = `SELECT t.id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.event = ? AND t.deleted_at IS NULL AND t.is_active = 1 AND b.organization_id = ? AND b.deleted_at IS NULL ORDER BY t.seq`
		err = q.each(query, []any{event, organizationID}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			list = append(list, id)
			return err
		})
		return list, err
	})
}

// readData reads the data of an event, which may be nested more deeply than what
// comes from outside.
func readData(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}
