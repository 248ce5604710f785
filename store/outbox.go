package store

import (
	"blueprintd/blueprint"
)

// listening is what triggers listen to, as the writer's transactions know it. It
// is read when it is first needed, and holds until a trigger or a blueprint
// changes.
type listening struct {
	events     map[listened]bool // nil = to be read
	generation int64             // that events is of
}

type listened struct{ organizationID, event string }

const listeningQuery = `SELECT DISTINCT b.organization_id, t.event FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
	WHERE t.event IS NOT NULL AND t.deleted_at IS NULL AND t.is_active = 1 AND b.deleted_at IS NULL`

// at says at which generation a transaction begins: what was known at another
// one does not hold.
func (l *listening) at(generation int64) {
	if l.generation != generation {
		l.forget()
	}
	l.generation = generation
}

func (l *listening) forget() { l.events = nil }

// heard tells whether an active trigger listens to an event.
func (l *listening) heard(t *transaction, e *blueprint.Event) (bool, error) {
	if l.events == nil || t.bump {
		events := map[listened]bool{}
		err := t.each(listeningQuery, nil, func(scan func(...any) error) error {
			var one listened
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
	return l.events[listened{e.OrganizationID, e.Name}] || !blueprint.IsCustomEvent(e.Name) && l.events[listened{e.OrganizationID, blueprint.AnyEvent}], nil
}

// to tells whether an active trigger listens to one of some events, or perhaps
// does: when that cannot be found out.
func (l *listening) to(t *transaction, events []blueprint.Event) bool {
	for i := range events {
		if heard, err := l.heard(t, &events[i]); heard || err != nil {
			return true
		}
	}
	return false
}

// eventPlace names what the sealed data of an event is bound to.
func eventPlace(key string) string { return "events/" + key + "/data" }

// raise puts events into the outbox, those that somebody listens to. Only their
// data is looked at.
func (s *Store) raise(t *transaction, events []blueprint.Event) error {
	const insert = `INSERT INTO events (key, name, organization_id, blueprint_id, execution_id, depth, root, at, sealed_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for i := range events {
		e := &events[i]
		heard, err := s.writer.listening.heard(t, e)
		if err != nil {
			return err
		}
		if !heard {
			continue
		}
		data, err := blueprint.Encode(e.Data)
		if err != nil { // what happened is more important than what is told of it
			s.options.Logger.Error("an event is told without its data", "event", e.Name, "execution", e.ExecutionID, "error", err)
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
		t.raised += 256 + len(sealed)
	}
	return nil
}

// outcome is what others are to hear of a transaction.
type outcome struct {
	raised  bool
	tripped []string
}

func (o *outcome) add(t *transaction) {
	o.raised = o.raised || t.raised > 0
	o.tripped = append(o.tripped, t.tripped...)
}

// tell says what came of a transaction, before those who wrote in it are
// answered.
func (s *Store) tell(done outcome) {
	if done.raised && s.options.OnEvents != nil {
		s.options.OnEvents()
	}
	for _, id := range done.tripped {
		s.counts.tripped.Add(1)
		s.options.Logger.Warn("a trigger was switched off because its runs keep failing", "trigger", id, "failures", maxFailures,
			"hint", "its ledger names the last run; mend the cause and switch it on again")
	}
}
