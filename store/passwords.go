package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Password gives the user with an email, in whatever letter case, and the hash
// of their password. An unknown email and a user without a password have none:
// "". No caller may tell anybody which.
func (s *Store) Password(ctx context.Context, email string) (userID, hash string, err error) {
	defer wrap(&err, "password by email")
	err = s.read(ctx, func(q *session) error {
		err := q.row("SELECT id, coalesce(password, '') FROM users WHERE email_fold = ?", []any{fold(email)}, &userID, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return userID, hash, err
}

// PasswordOf gives the email of a user and the hash of their password, "" when
// they have none. CodeNotFound for an unknown user.
func (s *Store) PasswordOf(ctx context.Context, userID string) (email, hash string, err error) {
	defer wrap(&err, "password of user %s", userID)
	err = s.read(ctx, func(q *session) error {
		err := q.row("SELECT email, coalesce(password, '') FROM users WHERE id = ?", []any{userID}, &email, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("user", userID)
		}
		return err
	})
	return email, hash, err
}

// AnyPassword tells whether somebody can sign in to the dashboard.
func (s *Store) AnyPassword(ctx context.Context) (some bool, err error) {
	defer wrap(&err, "any password")
	err = s.read(ctx, func(q *session) error {
		return q.row("SELECT EXISTS (SELECT 1 FROM users WHERE password IS NOT NULL)", nil, &some)
	})
	return some, err
}

// SetPassword sets the hash of a user's password, ends all sessions of theirs,
// and the link with which they could have set it. CodeNotFound for an unknown
// user.
func (s *Store) SetPassword(ctx context.Context, userID, hash string) (err error) {
	defer wrap(&err, "set the password of user %s", userID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		changed, err := t.exec("UPDATE users SET password = ? WHERE id = ?", hash, userID)
		if err == nil && changed == 0 {
			return notFound("user", userID)
		}
		if err == nil {
			err = endLinks(t, userID)
		}
		if err != nil {
			return err
		}
		if err := endSessions(t, ended, userID, ""); err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "user", id: userID, detail: map[string]any{"changed": []string{"password"}}})
	})
}

// ChangePassword sets the hash of the principal's password and ends all sessions
// of theirs but the principal's own. CodeConflict when the hash is not the one
// before any more.
func (s *Store) ChangePassword(ctx context.Context, principal blueprint.Principal, before, hash string) (err error) {
	defer wrap(&err, "change the password of user %s", principal.UserID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		changed, err := t.exec("UPDATE users SET password = ? WHERE id = ? AND password = ?", hash, principal.UserID, before)
		if err == nil && changed == 0 {
			return blueprint.Errorf(blueprint.CodeConflict, "the password was changed meanwhile")
		}
		if err == nil {
			err = endLinks(t, principal.UserID)
		}
		if err != nil {
			return err
		}
		if err := endSessions(t, ended, principal.UserID, principal.SessionID); err != nil {
			return err
		}
		return s.auditSession(ctx, t, principal.UserID, subject{kind: "user", id: principal.UserID, detail: map[string]any{"changed": []string{"password"}}})
	})
}

// endLinks ends the link with which a user could set a password.
func endLinks(t *transaction, userID string) error {
	_, err := t.exec("DELETE FROM setup_links WHERE user_id = ?", userID)
	return err
}
