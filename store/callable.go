package store

import (
	"context"
	"strings"

	"blueprintd/blueprint"
)

// Callable is an active api trigger of a published blueprint.
type Callable struct {
	Trigger     blueprint.Trigger
	Title       string // of the blueprint
	Description string
}

// creatorsLevel is accessLevel for the creator of trigger t.
var creatorsLevel = strings.ReplaceAll(accessLevel, "?1", "t.created_by")

// Callables lists, oldest first, the active api triggers that a user may fire
// of published blueprints: the user can manage the blueprint, and so can still
// the trigger's creator. After most of them it stops.
func (s *Store) Callables(ctx context.Context, principal blueprint.Principal, most int) (list []Callable, err error) {
	defer wrap(&err, "callable triggers for user %s", principal.UserID)
	query := "SELECT " + triggerColumns + `, b.title, b.description FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.type = 'api' AND t.is_active = 1 AND t.deleted_at IS NULL AND b.deleted_at IS NULL AND b.status = 'published'
		AND ` + accessLevel + " >= ?2 AND " + creatorsLevel + " >= ?2 ORDER BY t.seq LIMIT ?3"
	err = s.read(ctx, func(q *session) error {
		return q.each(query, []any{principal.UserID, int(blueprint.AccessManage), most}, func(scan func(...any) error) error {
			var c Callable
			var err error
			c.Trigger, err = s.scanTrigger(scan, &c.Title, &c.Description)
			list = append(list, c)
			return err
		})
	})
	return list, err
}
