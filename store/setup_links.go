package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// CreateSetupLink stores the hash of a token with which a user sets a password
// once, within blueprint.SetupLife. The one before is good for nothing any more.
// CodeNotFound for an unknown user.
func (s *Store) CreateSetupLink(ctx context.Context, userID, token string) (err error) {
	defer wrap(&err, "create a setup link for user %s", userID)
	hash := sha256.Sum256([]byte(token))
	expires := blueprint.TimeOf(s.options.Clock.Now().Add(blueprint.SetupLife))
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

// SetupLink tells whose password a link sets. CodeNotFound for one that is
// unknown, used, replaced or too old.
func (s *Store) SetupLink(ctx context.Context, token string) (link blueprint.SetupLink, err error) {
	defer wrap(&err, "setup link")
	err = s.read(ctx, func(q *session) error {
		link, err = s.setupLink(q, token)
		return err
	})
	return link, err
}

func (s *Store) setupLink(q *session, token string) (link blueprint.SetupLink, err error) {
	const query = `SELECT u.id, u.email, u.name, u.password IS NULL AND u.seq = (SELECT min(seq) FROM users)
		FROM setup_links l JOIN users u ON u.id = l.user_id WHERE l.hash = ? AND l.expires_at > ?`
	hash := sha256.Sum256([]byte(token))
	err = q.row(query, []any{hash[:], blueprint.TimeOf(s.options.Clock.Now())}, &link.UserID, &link.Email, &link.Name, &link.Fresh)
	if errors.Is(err, sql.ErrNoRows) {
		return link, blueprint.Errorf(blueprint.CodeNotFound, "this link is not good any more: each works once, for 24 hours, and only the newest one; who runs the server makes another with blueprintd user link")
	}
	return link, err
}

// TakeSetupLink does all at once what a link is for: it sets the name and the
// password of its user, and the email if the link is fresh, ends their sessions
// and the link, and makes a session. Errors are those of SetupLink, and
// CodeConflict when another user has the email.
func (s *Store) TakeSetupLink(ctx context.Context, token string, with blueprint.SetupLink, hash, sessionToken, agent string) (made blueprint.Session, err error) {
	defer wrap(&err, "take a setup link")
	err = s.ending(ctx, func(t *transaction, ended *[]string) error {
		link, err := s.setupLink(t.session, token)
		if err != nil {
			return err
		}
		email := link.Email
		if link.Fresh {
			email = with.Email
			if err := renameWorkspace(t, link, with.Name); err != nil {
				return err
			}
		}
		_, err = t.exec("UPDATE users SET email = ?, email_fold = ?, name = ?, password = ? WHERE id = ?", email, fold(email), with.Name, hash, link.UserID)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "there is another user with the email %s", email)
		}
		if err == nil {
			err = endLinks(t, link.UserID)
		}
		if err == nil {
			err = endSessions(t, ended, link.UserID, "")
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
		return s.auditSession(ctx, t, link.UserID, subject{kind: "session", id: made.ID, detail: map[string]any{"changed": changed, "fresh": link.Fresh}})
	})
	return made, err
}

// renameWorkspace gives the workspace that bears its user's name their new one.
func renameWorkspace(t *transaction, link blueprint.SetupLink, name string) error {
	_, err := t.exec("UPDATE organizations SET name = ? WHERE created_by = ? AND personal = 1 AND name = ?", name, link.UserID, link.Name)
	return err
}
