package store

import (
	"context"

	"blueprintd/blueprint"
)

// RenameUser gives the principal another name. The name of their personal
// workspace, and its slug, stay.
func (s *Store) RenameUser(ctx context.Context, principal blueprint.Principal, name string) (user blueprint.User, err error) {
	defer wrap(&err, "rename user %s", principal.UserID)
	err = s.write(ctx, func(t *transaction) error {
		user, err = scanUser(func(into ...any) error {
			return t.row("SELECT "+userColumns+" WHERE u.id = ?", []any{principal.UserID}, into...)
		})
		if err != nil {
			return err
		}
		before := user.Name
		if user.Name = name; before == name {
			t.unchanged(ctx)
			return nil
		}
		if _, err := t.exec("UPDATE users SET name = ? WHERE id = ?", name, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"user", user.ID, user.WorkspaceID, map[string]any{"name": name, "nameBefore": before}})
	})
	return user, err
}
