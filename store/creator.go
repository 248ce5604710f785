package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Creator gives the creator of a blueprint as a principal; CodeNotFound when it
// is unknown or deleted. It is for the command line, which acts in their place.
func (s *Store) Creator(ctx context.Context, id string) (principal blueprint.Principal, err error) {
	defer wrap(&err, "creator of blueprint %s", id)
	err = s.read(ctx, func(q *session) error {
		err := q.row("SELECT created_by FROM blueprints WHERE id = ? AND deleted_at IS NULL", []any{id}, &principal.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("blueprint", id)
		}
		return err
	})
	return principal, err
}
