package store

import (
	"context"

	"blueprintd/blueprint"
)

// SchedulesAfter gives a page of at most limit active schedules, oldest first:
// those after the one that last names, 0 for the first page. An empty page is
// the end. A schedule whose config cannot be read has none. It asks for no
// principal: it is for what fires triggers.
func (s *Store) SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error) {
	defer wrap(&err, "schedules after %d", last)
	const query = "SELECT " + triggerColumns + `, t.cursor_at, t.seq, b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL AND t.seq > ? ORDER BY t.seq LIMIT ?`
	err = s.read(ctx, func(q *session) error {
		next = last
		page = make([]blueprint.Schedule, 0, limit)
		return q.each(query, []any{last, limit}, func(scan func(...any) error) error {
			var organization string
			one, _, err := s.scanSchedule(scan, &next, &organization)
			if err == nil {
				one.OrganizationID = organization
				page = append(page, one)
			}
			return err
		})
	})
	if err != nil {
		return nil, last, err
	}
	return page, next, nil
}

// scanSchedule reads a schedule and its cursor, which follows the columns of a
// trigger. One whose config cannot be read has none, and unread says why: the
// others must fire all the same.
func (s *Store) scanSchedule(scan func(...any) error, more ...any) (one blueprint.Schedule, unread, err error) {
	one.Trigger, unread = s.scanTrigger(func(into ...any) error {
		err = scan(into...)
		return err
	}, append([]any{&one.Cursor}, more...)...)
	if err != nil {
		return blueprint.Schedule{}, nil, err
	}
	return one, unread, nil
}
