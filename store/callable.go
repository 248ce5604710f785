package store

import (
	"context"
	"strings"

	"blueprintd/blueprint"
)

// Callable is an active api trigger of a published blueprint that its user is
// offered as a tool.
type Callable struct {
	Trigger     blueprint.Trigger
	Name        string
	Title       string // of the blueprint
	Description string
	CanManage   bool // the user the blueprint: a call fires the trigger
}

// creatorManages is mayManage for the creator of trigger t.
var creatorManages = strings.ReplaceAll(mayManage, "?1", "t.created_by")

// Callables returns at most limit tools of the principal, oldest trigger first:
// the active api triggers of published blueprints that are their own or that they
// enabled. They can still start the blueprint, and the trigger's creator can still
// manage it.
func (s *Store) Callables(ctx context.Context, principal blueprint.Principal, limit int) (list []Callable, err error) {
	defer wrap(&err, "callable triggers for user %s", principal.UserID)
	query := "SELECT " + triggerColumns + ", m.name, b.title, b.description, " + mayManage + `
		FROM mcp_tools m JOIN triggers t ON t.id = m.trigger_id JOIN blueprints b ON b.id = t.blueprint_id
		WHERE m.user_id = ?1 AND m.enabled = 1 AND t.is_active = 1 AND t.deleted_at IS NULL AND b.deleted_at IS NULL AND b.status = 'published'
		AND ` + mayStart + " AND " + creatorManages + " ORDER BY t.seq LIMIT ?2"
	err = s.read(ctx, func(q *session) error {
		return q.each(query, []any{principal.UserID, limit}, func(scan func(...any) error) error {
			var c Callable
			var err error
			c.Trigger, err = s.scanTrigger(scan, &c.Name, &c.Title, &c.Description, &c.CanManage)
			list = append(list, c)
			return err
		})
	})
	return list, err
}
