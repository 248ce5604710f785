package store

import (
	"cmp"
	"context"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// subscriptions caches the events that active triggers listen to, as the writer's
// transactions see them. It is read when first needed and valid until a trigger or a
// blueprint changes.
type subscriptions struct {
	events     map[subscription]bool // nil = to be read
	generation int64                 // that events is of
}

type subscription struct{ organizationID, event string }

const subscriptionQuery = `SELECT DISTINCT b.organization_id, t.event FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
	WHERE t.event IS NOT NULL AND t.deleted_at IS NULL AND t.is_active = 1 AND b.deleted_at IS NULL`

// at sets the generation at which a transaction begins, and drops events of others.
func (l *subscriptions) at(generation int64) {
	if l.generation != generation {
		l.forget()
	}
	l.generation = generation
}

func (l *subscriptions) forget() { l.events = nil }

// any reports whether an active trigger listens, or may listen, to one of the events. It
// also returns true if the listeners cannot be read.
func (l *subscriptions) any(t *transaction, events []blueprint.Event) bool {
	for i := range events {
		if listens, err := l.has(t, &events[i]); listens || err != nil {
			return true
		}
	}
	return false
}

// has reports whether an active trigger listens to an event.
func (l *subscriptions) has(t *transaction, e *blueprint.Event) (bool, error) {
	if l.events == nil || t.bump {
		events := map[subscription]bool{}
		err := t.each(subscriptionQuery, nil, func(scan scanner) error {
			var one subscription
			err := scan(&one.organizationID, &one.event)
			events[one] = true
			return err
		})
		if err != nil {
			return false, err
		}
		l.events = events
	}
	if len(l.events) == 0 {
		return false, nil
	}
	return l.events[subscription{e.OrganizationID, e.Name}] || !blueprint.IsCustomEvent(e.Name) && l.events[subscription{e.OrganizationID, blueprint.AnyEvent}], nil
}

// publish writes the events with listeners into the outbox. Only their data is validated.
func (s *Store) publish(t *transaction, events []blueprint.Event) error {
	const insert = `INSERT INTO events (key, name, organization_id, blueprint_id, execution_id, depth, root, at, sealed_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for i := range events {
		e := &events[i]
		listens, err := s.writer.subscriptions.has(t, e)
		if err != nil {
			return err
		}
		if !listens {
			continue
		}
		data, err := blueprint.Encode(e.Data)
		if err != nil { // the event matters more than its data
			s.options.Logger.Error("event published without its data", "event", e.Name, "execution", e.ExecutionID, "error", err)
			data = []byte("null")
		}
		key := s.drawn("event", e.Name, e.ExecutionID, e.BlueprintID).ULID(s.options.Clock.Now())
		sealed, err := s.seal(data, eventPlace(key))
		if err != nil {
			return err
		}
		if _, err := t.exec(insert, key, e.Name, e.OrganizationID, e.BlueprintID, e.ExecutionID, e.Depth, e.Root, int64(e.At), sealed); err != nil {
			return err
		}
		t.published += 256 + len(sealed)
	}
	return nil
}

// eventPlace returns the name that the sealed data of an event is bound to.
func eventPlace(key string) string { return "events/" + key + "/data" }

// outcome is what a committed transaction has to announce.
type outcome struct {
	published bool
	tripped   []string
}

func (o *outcome) add(t *transaction) {
	o.published = o.published || t.published > 0
	o.tripped = append(o.tripped, t.tripped...)
}

// notify announces the outcome of a transaction before its writers are answered.
func (s *Store) notify(done outcome) {
	if done.published && s.options.OnEvents != nil {
		s.options.OnEvents()
	}
	for _, id := range done.tripped {
		s.counts.tripped.Add(1)
		s.options.Logger.Warn("trigger paused because its runs keep failing", "trigger", id, "failures", maxFailures,
			"hint", "its ledger names the last run; fix the cause and activate it")
	}
}

const outboxColumns = "seq, key, name, organization_id, blueprint_id, execution_id, depth, root, at, sealed_data"

// Events lists the events in the outbox after a position, oldest first. It takes no
// principal: it is for the trigger service.
func (s *Store) Events(ctx context.Context, after int64, limit int) (list []blueprint.OutboxEvent, err error) {
	defer wrap(&err, "events after %d", after)
	const query = "SELECT " + outboxColumns + " FROM events WHERE seq > ? ORDER BY seq LIMIT ? + 0" // + 0, or SQLite would compile it again for each limit
	err = s.read(ctx, func(q *session) error {
		list, err = s.eventsOf(q, query, after, limit)
		return err
	})
	if mutant.Is(mutant.EventForgotten) {
		s.forget(ctx, list)
	}
	return list, err
}

// NextEvents lists at most limit events of the outbox, such that no organization waits for
// the events of another: the limit is shared among the organizations that have events,
// oldest events first. after holds, for each organization, the position after which its
// events begin (default 0). If there are more organizations than limit, those with the
// oldest events come first. It takes no principal: it is for the trigger service.
func (s *Store) NextEvents(ctx context.Context, after map[string]int64, limit int) (list []blueprint.OutboxEvent, err error) {
	defer wrap(&err, "next events")
	const (
		organization = "SELECT coalesce(min(organization_id), '') FROM events WHERE organization_id > ?"
		oldest       = "SELECT coalesce(min(seq), 0) FROM events WHERE organization_id = ? AND seq > ?"
		query        = "SELECT " + outboxColumns + " FROM events WHERE organization_id = ? AND seq >= ? ORDER BY seq LIMIT ?"
	)
	type line struct {
		organizationID string
		first          int64
	}
	err = s.read(ctx, func(q *session) error {
		var lines []line
		for last := ""; ; {
			if err := q.row(organization, []any{last}, &last); err != nil {
				return err
			}
			if last == "" {
				break
			}
			one := line{organizationID: last}
			if err := q.row(oldest, []any{last, after[last]}, &one.first); err != nil {
				return err
			}
			if one.first > 0 {
				lines = append(lines, one)
			}
		}
		slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.first, b.first) })
		lines = lines[:min(len(lines), limit)]
		for i, one := range lines { // the unused share of one is left for the next
			page, err := s.eventsOf(q, query, one.organizationID, one.first, (limit-len(list))/(len(lines)-i))
			if err != nil {
				return err
			}
			list = append(list, page...)
		}
		return nil
	})
	if mutant.Is(mutant.EventForgotten) {
		s.forget(ctx, list)
	}
	return list, err
}

func (s *Store) eventsOf(q *session, query string, parameters ...any) (list []blueprint.OutboxEvent, err error) {
	err = q.each(query, parameters, func(scan scanner) error {
		var e blueprint.OutboxEvent
		var sealed []byte
		err := scan(&e.Seq, &e.Key, &e.Name, &e.OrganizationID, &e.BlueprintID, &e.ExecutionID, &e.Depth, &e.Root, &e.At, &sealed)
		if err != nil {
			return err
		}
		data, err := s.unsealed(sealed, eventPlace(e.Key))
		if err == nil {
			err = blueprint.DecodeInto(data, &e.Data) // may be deeper than data from outside
		}
		if err != nil { // later events must not wait indefinitely
			s.options.Logger.Error("event delivered without its data, which is unreadable", "event", e.Name, "key", e.Key, "error", err)
		}
		list = append(list, e)
		return nil
	})
	return list, err
}

// RemoveEvents removes events from the outbox, by their keys, and writes rows of the ledger
// for firings of any trigger that start no run, in the same transaction. CodeUnavailable if
// there are rows and the disk is nearly full or the database is at its size limit. It takes
// no principal: it is for the trigger service.
func (s *Store) RemoveEvents(ctx context.Context, keys []string, firings ...blueprint.Firing) (err error) {
	defer wrap(&err, "delete %d events and record %d firings", len(keys), len(firings))
	if len(firings) > 0 {
		if err := s.roomForFirings(); err != nil {
			return err
		}
	}
	return s.record(ctx, firings, func(t *transaction) error {
		for _, key := range keys {
			if _, err := t.exec("DELETE FROM events WHERE key = ?", key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Listeners lists the active triggers of an organization that listen to an event, oldest
// first. It takes no principal: it is for the trigger service. The list may be shared and
// must not be changed.
func (s *Store) Listeners(ctx context.Context, organizationID, event string) (_ []string, err error) {
	defer wrap(&err, "listeners of %s in organization %s", event, organizationID)
	return remember(ctx, s, s.listeners, organizationID+" "+event, func(q *session) (list []string, err error) {
		const query = `SELECT t.id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.event IN (?, ?) AND t.deleted_at IS NULL AND t.is_active = 1 AND b.organization_id = ? AND b.deleted_at IS NULL ORDER BY t.seq`
		wide := blueprint.AnyEvent
		if blueprint.IsCustomEvent(event) {
			wide = event
		}
		err = collect(q, &list, query, []any{event, wide, organizationID}, column)
		return list, err
	})
}
