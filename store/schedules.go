package store

import (
	"context"

	"blueprintd/blueprint"
)

// SchedulesAfter gives a page of at most limit active schedules, oldest first:
// those after the one that last names, 0 for the first page. An empty page is
// the end. A schedule whose config cannot be read has none; unlike Schedules,
// this tells of the others all the same. It asks for no principal: it is for
// what fires triggers.
func (s *Store) SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error) {
	defer wrap(&err, "schedules after %d", last)
	const query = "SELECT " + triggerColumns + `, t.cursor_at, t.seq, b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL AND t.seq > ? ORDER BY t.seq LIMIT ?`
	err = s.read(ctx, func(q *session) error {
		next = last
		page = make([]blueprint.Schedule, 0, limit)
		return q.each(query, []any{last, limit}, func(scan func(...any) error) error {
			var one blueprint.Schedule
			var unread bool
			one.Trigger, err = s.scanTrigger(func(into ...any) error {
				err := scan(into...)
				unread = err != nil
				return err
			}, &one.Cursor, &next, &one.OrganizationID)
			if err != nil && unread {
				return err
			}
			page = append(page, one)
			return nil
		})
	})
	if err != nil {
		return nil, last, err
	}
	return page, next, nil
}
