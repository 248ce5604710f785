package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Password returns the user with an email address, in any letter case, and the hash of
// their password; "" for an unknown address and for a user without a password. Callers must
// not reveal which.
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

// PasswordOf returns the email of a user and the hash of their password, "" if they
// have none. CodeNotFound for an unknown user.
func (s *Store) PasswordOf(ctx context.Context, userID string) (email, hash string, err error) {
	defer wrap(&err, "password of user %s", userID)
	err = s.readRow(ctx, "SELECT email, coalesce(password, '') FROM users WHERE id = ?", []any{userID}, &email, &hash)
	return email, hash, orNotFound(err, "user", userID)
}

// AnyPassword reports whether any user can sign in to the dashboard.
func (s *Store) AnyPassword(ctx context.Context) (some bool, err error) {
	defer wrap(&err, "any password")
	err = s.readRow(ctx, "SELECT EXISTS (SELECT 1 FROM users WHERE password IS NOT NULL)", nil, &some)
	return some, err
}

// SetPassword sets the hash of a user's password, and ends all their sessions and their
// setup link. CodeNotFound for an unknown user.
func (s *Store) SetPassword(ctx context.Context, userID, hash string) (err error) {
	defer wrap(&err, "set the password of user %s", userID)
	missing := notFound("user", userID)
	return s.replacePassword(ctx, userID, "", missing, "UPDATE users SET password = ? WHERE id = ?", hash, userID)
}

// ChangePassword sets the hash of the principal's password and ends all their sessions
// except the current one. CodeConflict if the stored hash is no longer before.
func (s *Store) ChangePassword(ctx context.Context, principal blueprint.Principal, before, hash string) (err error) {
	defer wrap(&err, "change the password of user %s", principal.UserID)
	conflict := blueprint.Errorf(blueprint.CodeConflict, "the password was changed meanwhile")
	return s.replacePassword(ctx, principal.UserID, principal.SessionID, conflict, "UPDATE users SET password = ? WHERE id = ? AND password = ?", hash, principal.UserID, before)
}

// replacePassword changes a password with a statement, and ends the user's setup link and
// all sessions except but. If the statement changes nothing, it returns refused.
func (s *Store) replacePassword(ctx context.Context, userID, but string, refused error, update string, args ...any) error {
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		changed, err := t.exec(update, args...)
		if err == nil && changed == 0 {
			return refused
		}
		if err == nil {
			err = endLogins(t, ended, userID, but)
		}
		if err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "user", id: userID, detail: map[string]any{"changed": []string{"password"}}})
	})
}

// endLogins ends the setup link of a user and all sessions except but.
func endLogins(t *transaction, ended *[]string, userID, but string) error {
	if _, err := t.exec("DELETE FROM setup_links WHERE user_id = ?", userID); err != nil {
		return err
	}
	return endSessions(t, ended, userID, but)
}

// CreateSetupLink stores the hash of a token that lets a user set a password once, within
// blueprint.SetupLifetime. It replaces an earlier link. CodeNotFound for an unknown user.
func (s *Store) CreateSetupLink(ctx context.Context, userID, token string) (err error) {
	defer wrap(&err, "create a setup link for user %s", userID)
	hash := sha256.Sum256([]byte(token))
	expires := blueprint.TimeOf(s.options.Clock.Now().Add(blueprint.SetupLifetime))
	return s.write(ctx, func(t *transaction) error {
		if err := knownUser(t, userID); err != nil {
			return err
		}
		if _, err := t.exec("INSERT OR REPLACE INTO setup_links (user_id, hash, expires_at) VALUES (?, ?, ?)", userID, hash[:], expires); err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "user", id: userID, detail: map[string]any{"made": "a link to set a password"}})
	})
}

// SetupLink returns the user whose password a link sets. CodeNotFound for a link that is
// unknown, used, replaced or expired.
func (s *Store) SetupLink(ctx context.Context, token string) (link blueprint.SetupLink, err error) {
	defer wrap(&err, "setup link")
	return readValue(ctx, s, func(q *session) (blueprint.SetupLink, error) { return s.setupLink(q, token) })
}

func (s *Store) setupLink(q *session, token string) (link blueprint.SetupLink, err error) {
	const query = `SELECT u.id, u.email, u.name, u.password IS NULL AND u.seq = (SELECT min(seq) FROM users)
		FROM setup_links l JOIN users u ON u.id = l.user_id WHERE l.hash = ? AND l.expires_at > ?`
	hash := sha256.Sum256([]byte(token))
	err = q.row(query, []any{hash[:], blueprint.TimeOf(s.options.Clock.Now())}, &link.UserID, &link.Email, &link.Name, &link.Initial)
	if errors.Is(err, sql.ErrNoRows) {
		return link, blueprint.Errorf(blueprint.CodeNotFound, "this link is no longer valid: each works once, for 24 hours, and only the newest one; the operator can create another with blueprintd user link")
	}
	return link, err
}

// TakeSetupLink uses a link: it sets the name and the password of its user, and the email
// address if the link is fresh, ends the link and the user's sessions, and creates a
// session. Errors are those of SetupLink, and CodeConflict for a taken email address.
func (s *Store) TakeSetupLink(ctx context.Context, token string, with blueprint.SetupLink, hash, sessionToken, agent string) (made blueprint.Session, err error) {
	defer wrap(&err, "take a setup link")
	err = s.ending(ctx, func(t *transaction, ended *[]string) error {
		link, err := s.setupLink(t.session, token)
		if err != nil {
			return err
		}
		email := link.Email
		if link.Initial {
			email = with.Email
			// A workspace named after its user follows the new name.
			const rename = "UPDATE organizations SET name = ? WHERE created_by = ? AND personal = 1 AND name = ?"
			if _, err := t.exec(rename, with.Name, link.UserID, link.Name); err != nil {
				return err
			}
		}
		_, err = t.exec("UPDATE users SET email = ?, email_fold = ?, name = ?, password = ? WHERE id = ?", email, fold(email), with.Name, hash, link.UserID)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "there is another user with the email %s", email)
		}
		if err == nil {
			err = endLogins(t, ended, link.UserID, "")
		}
		if err == nil {
			made, err = s.insertSession(t, ended, link.UserID, sessionToken, agent)
		}
		if err != nil {
			return err
		}
		changed := []string{"name", "password"}
		if email != link.Email {
			changed = append([]string{"email"}, changed...)
		}
		return s.auditSession(ctx, t, link.UserID, subject{kind: "session", id: made.ID, detail: map[string]any{"changed": changed, "fresh": link.Initial}})
	})
	return made, err
}
