package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// ConnectionUser gives the user for whom somebody signs in; CodeNotFound when
// there is none.
func (s *Store) ConnectionUser(ctx context.Context, userID string) (user blueprint.User, err error) {
	defer wrap(&err, "user %s", userID)
	err = s.read(ctx, func(q *session) error {
		user, err = scanUser(func(into ...any) error {
			return q.row("SELECT "+userColumns+" WHERE u.id = ?", []any{userID}, into...)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("user", userID)
		}
		return err
	})
	return user, err
}
