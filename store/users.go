package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

const userColumns = `u.id, u.email, u.name, u.created_at, o.id
	FROM users u JOIN organizations o ON o.created_by = u.id AND o.personal = 1`

func scanUser(scan scanner) (user blueprint.User, err error) {
	err = scan(&user.ID, &user.Email, &user.Name, &user.CreatedAt, &user.WorkspaceID)
	return user, err
}

// CreateUser creates an account and its personal workspace. CodeConflict if another
// account has the email, in any letter case. It is for the
// command line, seeds and the first start.
func (s *Store) CreateUser(ctx context.Context, email, name string) (user blueprint.User, err error) {
	defer wrap(&err, "create user")
	now := blueprint.TimeOf(s.options.Clock.Now())
	user = blueprint.User{ID: s.drawn("user", email).UUID(), Email: email, Name: name, CreatedAt: now, WorkspaceID: s.drawn("workspace", email).UUID()}
	workspace := name
	workspace = cmp.Or(workspace, email)
	err = s.write(ctx, func(t *transaction) error {
		t.changed()
		_, err := t.exec("INSERT INTO users (id, email, email_fold, name, created_at) VALUES (?, ?, ?, ?, ?)", user.ID, email, fold(email), name, now)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "there is a user with the email %s already", email)
		}
		if err != nil {
			return err
		}
		if err := insertOrganization(t, user.WorkspaceID, workspace, user.ID, now, true); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"user", user.ID, user.WorkspaceID, map[string]any{"name": name}})
	})
	return user, err
}

// RenameUser changes the name of the principal. The name and the slug of the personal
// workspace stay.
func (s *Store) RenameUser(ctx context.Context, principal blueprint.Principal, name string) (user blueprint.User, err error) {
	defer wrap(&err, "rename user %s", principal.UserID)
	err = s.write(ctx, func(t *transaction) error {
		user, err = scanUser(t.first("SELECT "+userColumns+" WHERE u.id = ?", principal.UserID))
		if err != nil {
			return err
		}
		before := user.Name
		if user.Name = name; before == name {
			return t.unchanged(ctx)
		}
		if _, err := t.exec("UPDATE users SET name = ? WHERE id = ?", name, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"user", user.ID, user.WorkspaceID, map[string]any{"name": name, "nameBefore": before}})
	})
	return user, err
}

// ServerOwner returns the owner of the server, the user who was created first.
// CodeNotFound if there is none. It is for the start of a server.
func (s *Store) ServerOwner(ctx context.Context) (user blueprint.User, err error) {
	defer wrap(&err, "owner of the server")
	user, err = s.userWhere(ctx, " ORDER BY u.seq LIMIT 1")
	if errors.Is(err, sql.ErrNoRows) {
		err = blueprint.Errorf(blueprint.CodeNotFound, "there are no users yet")
	}
	return user, err
}

// UserByEmail returns the user with an email, in any letter case; CodeNotFound if there
// is none. It is for the command line, and for procedures that name a user to add.
func (s *Store) UserByEmail(ctx context.Context, email string) (user blueprint.User, err error) {
	defer wrap(&err, "user by email")
	user, err = s.userWhere(ctx, " WHERE u.email_fold = ?", fold(email))
	return user, orNotFound(err, "user", email)
}

// User returns a user by id; CodeNotFound if there is none.
func (s *Store) User(ctx context.Context, id string) (user blueprint.User, err error) {
	defer wrap(&err, "user %s", id)
	user, err = s.userWhere(ctx, " WHERE u.id = ?", id)
	return user, orNotFound(err, "user", id)
}

// userWhere returns the first user that a clause selects, or sql.ErrNoRows.
func (s *Store) userWhere(ctx context.Context, clause string, args ...any) (blueprint.User, error) {
	return readValue(ctx, s, func(q *session) (blueprint.User, error) {
		return scanUser(q.first("SELECT "+userColumns+clause, args...))
	})
}

// Users lists all users in the order of their creation. It is for the command
// line.
func (s *Store) Users(ctx context.Context) (users []blueprint.User, err error) {
	defer wrap(&err, "users")
	err = readRows(ctx, s, &users, "SELECT "+userColumns+" ORDER BY u.seq", nil, scanUser)
	return users, err
}

// Creator returns the creator of a blueprint as a principal; CodeNotFound when it
// is unknown or deleted. It is for the command line, which acts in their place.
func (s *Store) Creator(ctx context.Context, id string) (principal blueprint.Principal, err error) {
	defer wrap(&err, "creator of blueprint %s", id)
	err = s.readRow(ctx, "SELECT created_by FROM blueprints WHERE id = ? AND deleted_at IS NULL", []any{id}, &principal.UserID)
	return principal, orNotFound(err, "blueprint", id)
}
