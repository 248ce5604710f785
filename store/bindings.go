package store

import (
	"context"

	"blueprintd/blueprint"
)

// Binding returns what is needed to fire a trigger, active or not, including every
// earlier change by any process. CodeNotFound if the trigger or its blueprint is
// unknown or deleted. It takes no principal: it is for the trigger service, and
// reports whether the creator of the trigger still has access. The binding may be
// shared and must not be changed.
func (s *Store) Binding(ctx context.Context, triggerID string) (_ *blueprint.Binding, err error) {
	defer wrap(&err, "binding of trigger %s", triggerID)
	return remember(ctx, s, s.bindings, triggerID, func(q *session) (*blueprint.Binding, error) {
		const creator = "SELECT created_by FROM triggers WHERE id = ? AND deleted_at IS NULL"
		const member = "EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1)"
		const query = "SELECT " + triggerColumns + ", " + tripColumns + ", coalesce(t.paused_at, 0), b.version, " + member + ", " + accessLevel + ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.id = ?2 AND b.deleted_at IS NULL`
		binding := &blueprint.Binding{}
		err := q.row(creator, []any{triggerID}, &binding.Principal.UserID)
		var version string
		var access blueprint.Access
		var tripped storedTrip
		if err == nil {
			binding.Trigger, err = s.scanTrigger(also(q.first(query, binding.Principal.UserID, triggerID), &tripped.failures, &tripped.run, &tripped.retries, &binding.RetryAt, &version, &binding.Member, &access))
		}
		if err != nil {
			return nil, orNotFound(err, "trigger", triggerID)
		}
		binding.Tripped = tripped.trip()
		binding.RetryAt = retryAt(&binding.Trigger, binding.RetryAt)
		binding.CanManage = access >= blueprint.AccessManage
		binding.Definition, err = s.readDefinition(q, binding.Trigger.BlueprintID, version)
		return binding, err
	})
}

// RecentBinding returns what Binding returned last, or calls it, with the generation
// of the result. It includes the changes of this process and those of others that it
// knows of, but another process may have made more: a run that is started with it must
// name the generation (see blueprint.StartRequest), and any other use has to be
// confirmed by Binding, which returns the same pointer if nothing has changed.
// Generation 0 means that the binding is current.
func (s *Store) RecentBinding(ctx context.Context, triggerID string) (*blueprint.Binding, int64, error) {
	if s.writer.enclosing == nil && !s.options.Ephemeral {
		if binding, generation, ok := s.bindings.last(triggerID); ok && generation >= s.newest.Load() {
			return binding, generation, s.usable()
		}
	}
	binding, err := s.Binding(ctx, triggerID)
	return binding, 0, err
}

// Schedules lists the active scheduled triggers, oldest first, with their cursors and
// the current generation. Given an earlier generation, it lists only those that have
// changed since, including those that are no longer active: their IsActive is false. A
// schedule whose config cannot be read has none, and is logged. It takes no principal: it is for the trigger service.
func (s *Store) Schedules(ctx context.Context, since int64) (list []blueprint.Schedule, generation int64, err error) {
	defer wrap(&err, "schedules since generation %d", since)
	const all = "SELECT " + triggerColumns + `, t.cursor_at, 0 FROM triggers t
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL ORDER BY t.seq`
	const changed = "SELECT " + triggerColumns + `, t.cursor_at, t.deleted_at IS NOT NULL FROM triggers t
		WHERE t.type = 'scheduled' AND t.changed > ? ORDER BY t.seq`
	err = s.read(ctx, func(q *session) error {
		if generation, err = readGeneration(q); err != nil {
			return err
		}
		query, args := changed, []any{since}
		if since == 0 {
			query, args = all, nil
		}
		return q.each(query, args, func(scan scanner) error {
			var deleted bool
			one, unread, err := s.scanSchedule(also(scan, &deleted))
			if err != nil {
				return err
			}
			one.Trigger.IsActive = one.Trigger.IsActive && !deleted
			if unread != nil && one.Trigger.IsActive {
				s.options.Logger.Error("schedule config cannot be read", "trigger", one.Trigger.ID, "error", unread)
			}
			list = append(list, one)
			return nil
		})
	})
	return list, generation, err
}

// SchedulesAfter returns a page of at most limit active schedules, oldest first:
// those after last, 0 for the first page. An empty page is the end. A schedule whose config cannot be read has none. It asks for no
// principal: it is for the trigger service.
func (s *Store) SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error) {
	defer wrap(&err, "schedules after %d", last)
	const query = "SELECT " + triggerColumns + `, t.cursor_at, t.seq, b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL AND t.seq > ? ORDER BY t.seq LIMIT ?`
	err = s.read(ctx, func(q *session) error {
		next = last
		page = make([]blueprint.Schedule, 0, limit)
		return q.each(query, []any{last, limit}, func(scan scanner) error {
			var organization string
			one, _, err := s.scanSchedule(also(scan, &next, &organization))
			if err == nil {
				one.OrganizationID = organization
				page = append(page, one)
			}
			return err
		})
	})
	return page, next, err
}

// scanSchedule reads a schedule and its cursor, the column after those of a trigger.
// If its config cannot be read it has none, and unread is the reason: the other
// schedules have to fire all the same.
func (s *Store) scanSchedule(scan scanner) (one blueprint.Schedule, unread, err error) {
	one.Trigger, unread = s.scanTrigger(func(into ...any) error {
		err = scan(append(into, &one.Cursor)...)
		return err
	})
	if err != nil {
		return blueprint.Schedule{}, nil, err
	}
	return one, unread, nil
}
