package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Binding gives all that is needed to fire a trigger, active or not, as of now:
// an earlier change by any process is in it. CodeNotFound when the trigger or
// its blueprint is unknown or deleted. It asks for no principal: it is for
// what fires triggers, and says whether the trigger's creator still may. The
// binding may be shared and must not be changed.
func (s *Store) Binding(ctx context.Context, triggerID string) (_ *blueprint.Binding, err error) {
	defer wrap(&err, "binding of trigger %s", triggerID)
	return remember(ctx, s, s.bindings, triggerID, func(q *session) (*blueprint.Binding, error) {
		const creator = "SELECT created_by FROM triggers WHERE id = ? AND deleted_at IS NULL"
		const query = "SELECT " + triggerColumns + ", coalesce(t.paused_reason, ''), b.version, " + accessLevel + ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.id = ?2 AND b.deleted_at IS NULL`
		binding := &blueprint.Binding{}
		err := q.row(creator, []any{triggerID}, &binding.Principal.UserID)
		var version string
		var access blueprint.Access
		if err == nil {
			binding.Trigger, err = s.scanTrigger(func(into ...any) error {
				return q.row(query, []any{binding.Principal.UserID, triggerID}, into...)
			}, &binding.PausedReason, &version, &access)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return nil, notFound("trigger", triggerID)
		}
		if err != nil {
			return nil, err
		}
		binding.CanManage = access >= blueprint.AccessManage
		binding.Definition, err = s.readDefinition(q, binding.Trigger.BlueprintID, version)
		return binding, err
	})
}

// ActiveTriggers lists the active triggers of a type, oldest first, with their
// secrets. It asks for no principal: it is for what fires triggers. The list
// may be shared and must not be changed.
func (s *Store) ActiveTriggers(ctx context.Context, kind blueprint.TriggerType) (_ []blueprint.Trigger, err error) {
	defer wrap(&err, "active %s triggers", kind)
	return remember(ctx, s, s.active, string(kind), func(q *session) (list []blueprint.Trigger, err error) {
		err = s.eachActive(q, kind, func(trigger blueprint.Trigger, _ blueprint.Time) {
			list = append(list, trigger)
		})
		return list, err
	})
}

// Schedules lists the active scheduled triggers, oldest first, each with its
// cursor, and the generation that they are of. Given an earlier generation, it
// lists only what has changed since, and with it what is no longer active: its
// IsActive is false. It asks for no principal: it is for what fires triggers.
func (s *Store) Schedules(ctx context.Context, since int64) (list []blueprint.Schedule, generation int64, err error) {
	defer wrap(&err, "schedules since generation %d", since)
	const changed = "SELECT " + triggerColumns + `, t.cursor_at, t.deleted_at IS NOT NULL FROM triggers t
		WHERE t.type = 'scheduled' AND t.changed > ? ORDER BY t.seq`
	add := func(trigger blueprint.Trigger, cursor blueprint.Time) {
		list = append(list, blueprint.Schedule{Trigger: trigger, Cursor: cursor})
	}
	err = s.read(ctx, func(q *session) error {
		if generation, err = readGeneration(q); err != nil {
			return err
		}
		if since == 0 {
			return s.eachActive(q, blueprint.TriggerScheduled, add)
		}
		return q.each(changed, []any{since}, func(scan func(...any) error) error {
			var cursor blueprint.Time
			var deleted bool
			trigger, err := s.scanTrigger(scan, &cursor, &deleted)
			if err == nil {
				trigger.IsActive = trigger.IsActive && !deleted
				add(trigger, cursor)
			}
			return err
		})
	})
	return list, generation, err
}

func (s *Store) eachActive(q *session, kind blueprint.TriggerType, f func(blueprint.Trigger, blueprint.Time)) error {
	const query = "SELECT " + triggerColumns + `, t.cursor_at FROM triggers t
		WHERE t.type = ? AND t.is_active = 1 AND t.deleted_at IS NULL ORDER BY t.seq`
	return q.each(query, []any{string(kind)}, func(scan func(...any) error) error {
		var cursor blueprint.Time
		trigger, err := s.scanTrigger(scan, &cursor)
		if err == nil {
			f(trigger, cursor)
		}
		return err
	})
}
