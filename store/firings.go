package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

const firingColumns = "f.id, f.trigger_id, f.source, f.key, coalesce(f.due_at, 0), f.received_at, f.decision, f.reason_code, f.sealed_reason, f.execution_id, coalesce(f.body_hash, '')"

func (s *Store) scanFiring(scan func(...any) error) (f blueprint.Firing, err error) {
	var code string
	var sealed []byte
	err = scan(&f.ID, &f.TriggerID, &f.Source, &f.Key, &f.DueAt, &f.ReceivedAt, &f.Decision, &code, &sealed, &f.ExecutionID, &f.BodyHash)
	if err == nil {
		f.Because(s.openReason(f.ID, code, sealed))
	}
	return f, err
}

// insertFiring writes a row of the ledger. A started one whose key has started
// a run before is a *blueprint.DuplicateFiringError.
func (s *Store) insertFiring(t *transaction, f *blueprint.Firing) error {
	const insert = `INSERT INTO firings (id, trigger_id, source, key, due_at, received_at, decision, reason_code, sealed_reason, execution_id, body_hash, redelivery_of, sealed_delivery)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	var execution any
	if f.ExecutionID != nil {
		execution = *f.ExecutionID
	}
	var again, sealed, why any
	if err := s.sealReason(f); err != nil {
		return err
	}
	if f.SealedWhy != nil {
		why = f.SealedWhy
	}
	if d := f.Delivery; d != nil {
		again, _ = d.Facts[blueprint.RedeliveredFrom].(string)
		if d.Sealed != nil {
			sealed = d.Sealed
		}
	}
	if again == "" || f.Source != blueprint.SourceRedelivery {
		again = nil
	}
	seq, err := t.insert(insert, f.ID, f.TriggerID, string(f.Source), f.Key, timeOrNull(f.DueAt), int64(f.ReceivedAt), string(f.Decision), string(f.Why.Code), why, execution, textOrNull(f.BodyHash), again, sealed)
	if duplicate(err) && f.Decision == blueprint.DecisionStarted {
		first := &blueprint.DuplicateFiringError{}
		const earlier = "SELECT id, execution_id FROM firings WHERE trigger_id = ? AND key = ? AND decision = 'started'"
		if lookup := t.row(earlier, []any{f.TriggerID, f.Key}, &first.FiringID, &first.ExecutionID); lookup == nil {
			return first
		}
	}
	for i := 0; err == nil && i < len(f.Files); i++ {
		file := &f.Files[i]
		var head []byte
		if head, err = s.sealHead(file); err == nil {
			_, err = t.exec("INSERT INTO files (id, firing, part, sealed_head, size) VALUES (?, ?, ?, ?, ?)", file.ID, seq, file.Part, head, file.Size)
		}
	}
	return err
}

func (s *Store) startedFiring(q *session, triggerID, key string) (blueprint.Firing, error) {
	const query = "SELECT " + firingColumns + " FROM firings f WHERE f.trigger_id = ? AND f.key = ? AND f.decision = 'started'"
	firing, err := s.scanFiring(func(into ...any) error { return q.row(query, []any{triggerID, key}, into...) })
	if errors.Is(err, sql.ErrNoRows) {
		err = notFound("started firing with key", key)
	}
	return firing, err
}

// moveCursor moves a trigger's cursor forward; zero leaves it.
func moveCursor(t *transaction, triggerID string, to blueprint.Time) error {
	if to == 0 {
		return nil
	}
	_, err := t.exec("UPDATE triggers SET cursor_at = ?1 WHERE id = ?2 AND cursor_at < ?1", int64(to), triggerID)
	return err
}

// RecordFiring writes a row of the ledger for a firing that starts no run;
// those that do are written by Commit. It asks for no principal: it is for
// what fires triggers.
func (s *Store) RecordFiring(ctx context.Context, firing blueprint.Firing) (err error) {
	return s.RecordFirings(ctx, firing.TriggerID, []blueprint.Firing{firing}, 0)
}

// RecordFirings writes rows of the ledger for firings of one trigger that start
// no run, moves the trigger's cursor, unless it is zero or would go back, and
// raises events that become true with that.
// CodeUnavailable when the disk is nearly full, or the database is at its size
// limit. It asks for no principal: it is for what fires triggers.
func (s *Store) RecordFirings(ctx context.Context, triggerID string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) (err error) {
	defer wrap(&err, "record %d firings of trigger %s", len(firings), triggerID)
	if err := s.roomForFirings(); err != nil {
		return err
	}
	return s.record(ctx, firings, func(t *transaction) error {
		if err := s.raise(t, events); err != nil {
			return err
		}
		return moveCursor(t, triggerID, cursor)
	})
}

func (s *Store) roomForFirings() error {
	if s.ground.narrow.Load() {
		return errNoRoom // what was refused for want of room must not fill the rest
	}
	if s.full.Load() {
		return errDiskLimit
	}
	return nil
}

// record writes rows of the ledger for firings that start no run, and more, in
// one transaction.
func (s *Store) record(ctx context.Context, firings []blueprint.Firing, more func(*transaction) error) error {
	size := 512
	for i := range firings {
		if err := s.sealFiring(&firings[i]); err != nil {
			return err
		}
		size += deliverySize(&firings[i])
	}
	return s.submit(ctx, &job{size: size, run: func(t *transaction) error {
		for i := range firings {
			if err := s.insertFiring(t, &firings[i]); err != nil {
				return err
			}
		}
		return more(t)
	}})
}

// StartedFiring gives the firing of a trigger with that key that started a run,
// CodeNotFound when there is none. It asks for no principal: it is for what
// fires triggers.
func (s *Store) StartedFiring(ctx context.Context, triggerID, key string) (_ *blueprint.Firing, err error) {
	defer wrap(&err, "started firing of trigger %s", triggerID)
	var firing blueprint.Firing
	err = s.read(ctx, func(q *session) error {
		firing, err = s.startedFiring(q, triggerID, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &firing, nil
}

// Firing gives a row of the ledger to who can manage its trigger's blueprint;
// for anybody else it is CodeNotFound.
func (s *Store) Firing(ctx context.Context, principal blueprint.Principal, id string) (firing blueprint.Firing, err error) {
	defer wrap(&err, "firing %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		firing, _, err = s.ownFiring(q, principal, id, "")
		return err
	})
	if err != nil {
		return blueprint.Firing{}, err
	}
	return firing, nil
}

// Firings lists the ledger of a trigger, the newest row first, and tells how
// many rows there are in all. It needs AccessManage: CodeNotFound, or
// CodeForbidden.
func (s *Store) Firings(ctx context.Context, principal blueprint.Principal, triggerID string, limit, offset int) (list []blueprint.Firing, total int, err error) {
	defer wrap(&err, "firings of trigger %s for user %s", triggerID, principal.UserID)
	list = []blueprint.Firing{}
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		if err := q.row("SELECT coalesce((SELECT firings FROM firing_counts WHERE trigger_id = ?), 0)", []any{triggerID}, &total); err != nil {
			return err
		}
		query := "SELECT " + firingColumns + " FROM firings f WHERE f.trigger_id = ? ORDER BY f.seq DESC LIMIT ? OFFSET ?"
		return q.each(query, []any{triggerID, limit, offset}, func(scan func(...any) error) error {
			firing, err := s.scanFiring(scan)
			list = append(list, firing)
			return err
		})
	})
	return list, total, err
}
