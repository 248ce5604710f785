package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// BeginSession creates a session of a user whose password has been checked against hash,
// and stores the SHA-256 of the token that the browser keeps. If the user has too many
// sessions, the oldest one ends. CodeUnauthorized if hash is not that of the password.
func (s *Store) BeginSession(ctx context.Context, userID, hash, token, agent string) (made blueprint.Session, err error) {
	defer wrap(&err, "begin a session of user %s", userID)
	err = s.ending(ctx, func(t *transaction, ended *[]string) error {
		var same bool
		err := t.row("SELECT EXISTS (SELECT 1 FROM users WHERE id = ? AND password = ?)", []any{userID, hash}, &same)
		if err != nil {
			return err
		}
		if !same {
			return blueprint.Errorf(blueprint.CodeUnauthorized, "the password was changed meanwhile; sign in again")
		}
		if made, err = s.insertSession(t, ended, userID, token, agent); err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "session", id: made.ID, detail: map[string]any{"outcome": "signed in"}})
	})
	return made, err
}

// OpenSession is BeginSession without a password: the caller has identified the user by
// other means. The password and setup link stay unchanged. CodeNotFound for an unknown
// user.
func (s *Store) OpenSession(ctx context.Context, userID, token, agent string) (made blueprint.Session, err error) {
	defer wrap(&err, "open a session of user %s", userID)
	err = s.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := knownUser(t, userID); err != nil {
			return err
		}
		if made, err = s.insertSession(t, ended, userID, token, agent); err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "session", id: made.ID, detail: map[string]any{"outcome": "signed in", "by": "an address of this machine"}})
	})
	return made, err
}

// insertSession inserts a session and ends the oldest ones beyond the limit.
func (s *Store) insertSession(t *transaction, ended *[]string, userID, token, agent string) (made blueprint.Session, err error) {
	const surplus = `DELETE FROM sessions WHERE user_id = ?1 AND id NOT IN
		(SELECT id FROM sessions WHERE user_id = ?1 AND expires_at > ?2 ORDER BY created_at DESC, id DESC LIMIT ?3) RETURNING id`
	const insert = "INSERT INTO sessions (id, hash, user_id, agent, created_at, last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
	now := s.options.Clock.Now()
	if err := writeSessionUses(t, s.sessionUses.changes()); err != nil {
		return made, err
	}
	if err := deleteSessions(t, ended, surplus, userID, blueprint.TimeOf(now), blueprint.MaxSessions-1); err != nil {
		return made, err
	}
	hash, at := sha256.Sum256([]byte(token)), blueprint.TimeOf(now)
	made = blueprint.Session{ID: s.drawn("session", userID).ULID(now), UserID: userID, Agent: agent, CreatedAt: at, LastUsedAt: at, ExpiresAt: blueprint.SessionEnd(at, at)}
	_, err = t.exec(insert, made.ID, hash[:], userID, agent, at, at, made.ExpiresAt)
	return made, err
}

// Sessions lists the principal's sessions that have not ended, latest use first.
func (s *Store) Sessions(ctx context.Context, principal blueprint.Principal) (list []blueprint.Session, err error) {
	defer wrap(&err, "sessions of user %s", principal.UserID)
	const query = "SELECT id, user_id, agent, created_at, last_used_at FROM sessions WHERE user_id = ? ORDER BY last_used_at DESC, id DESC"
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.read(ctx, func(q *session) error {
		return q.each(query, []any{principal.UserID}, func(scan scanner) error {
			var one blueprint.Session
			if err := scan(&one.ID, &one.UserID, &one.Agent, &one.CreatedAt, &one.LastUsedAt); err != nil {
				return err
			}
			one.LastUsedAt = max(one.LastUsedAt, s.sessionUses.last(one.ID))
			if one.ExpiresAt = blueprint.SessionEnd(one.CreatedAt, one.LastUsedAt); one.ExpiresAt > now {
				list = append(list, one)
			}
			return nil
		})
	})
	return list, err
}

// EndSession ends a session of the principal. When it returns nil, no call that begins
// afterwards is admitted with the session. CodeNotFound if it is unknown or another
// user's.
func (s *Store) EndSession(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "end session %s of user %s", id, principal.UserID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := deleteSessions(t, ended, "DELETE FROM sessions WHERE id = ? AND user_id = ? RETURNING id", id, principal.UserID); err != nil {
			return err
		}
		if len(*ended) == 0 {
			return notFound("session", id)
		}
		return s.auditSession(ctx, t, principal.UserID, subject{kind: "session", id: id})
	})
}

// EndSessionOf ends the session of a token, if there is one; see EndSession.
func (s *Store) EndSessionOf(ctx context.Context, token string) (err error) {
	defer wrap(&err, "end the session of a token")
	hash := sha256.Sum256([]byte(token))
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		return deleteSessions(t, ended, "DELETE FROM sessions WHERE hash = ? RETURNING id", hash[:])
	})
}

// EndSessions ends all sessions of the principal; see EndSession.
func (s *Store) EndSessions(ctx context.Context, principal blueprint.Principal) (err error) {
	defer wrap(&err, "end all sessions of user %s", principal.UserID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := endSessions(t, ended, principal.UserID, ""); err != nil {
			return err
		}
		return s.auditSession(ctx, t, principal.UserID, subject{kind: "user", id: principal.UserID, detail: map[string]any{"sessions": len(*ended)}})
	})
}

// ending runs a write that may end sessions, and drops the cached uses of the ended ones.
func (s *Store) ending(ctx context.Context, f func(t *transaction, ended *[]string) error) error {
	var ended []string
	err := s.write(ctx, func(t *transaction) error { return f(t, &ended) })
	if err == nil {
		s.sessionUses.forget(ended)
	}
	return err
}

// endSessions ends the sessions of a user except but.
func endSessions(t *transaction, ended *[]string, userID, but string) error {
	return deleteSessions(t, ended, "DELETE FROM sessions WHERE user_id = ? AND id <> ? RETURNING id", userID, but)
}

// deleteSessions runs a statement that deletes sessions, and collects their ids.
func deleteSessions(t *transaction, ended *[]string, query string, args ...any) error {
	return t.each(query, args, func(scan scanner) error {
		var id string
		err := scan(&id)
		*ended = append(*ended, id)
		t.changed()
		return err
	})
}

// knownSession is the cached state of a session that has not ended.
type knownSession struct {
	principal blueprint.Principal
	made      blueprint.Time
	use       *keyUse
}

// AuthenticateSession returns the principal who is signed in with a token. CodeUnauthorized
// if the token is unknown, expired or ended, by any process and however recently. Its use
// is stored later, like the uses of keys.
func (s *Store) AuthenticateSession(ctx context.Context, token string) (_ blueprint.Principal, err error) {
	defer wrap(&err, "authenticate a session")
	hash := sha256.Sum256([]byte(token))
	known, err := remember(ctx, s, s.signedIn, string(hash[:]), func(q *session) (*knownSession, error) {
		const query = "SELECT id, user_id, created_at, last_used_at FROM sessions WHERE hash = ?"
		var k knownSession
		var used int64
		err := q.row(query, []any{hash[:]}, &k.principal.SessionID, &k.principal.UserID, &k.made, &used)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, errSignIn()
		}
		if err != nil {
			return nil, err
		}
		if k.use = s.sessionUses.of(k.principal.SessionID); k.use.at.CompareAndSwap(0, used) {
			k.use.stored.Store(used)
		}
		return &k, nil
	})
	if err != nil {
		return blueprint.Principal{}, err
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	if now >= blueprint.SessionEnd(known.made, blueprint.Time(known.use.at.Load())) {
		return blueprint.Principal{}, errSignIn()
	}
	known.use.at.Store(int64(now))
	return known.principal, nil
}

func errSignIn() error {
	return blueprint.Errorf(blueprint.CodeUnauthorized, "the session has ended; sign in again")
}

// writeSessionUses extends sessions according to their last uses.
func writeSessionUses(t *transaction, changes []keyUseChange) error {
	const update = `UPDATE sessions SET last_used_at = CASE WHEN last_used_at > ?1 THEN last_used_at ELSE ?1 END,
		expires_at = CASE WHEN expires_at > ?2 OR expires_at > created_at + ?3 THEN expires_at WHEN ?2 > created_at + ?3 THEN created_at + ?3 ELSE ?2 END WHERE id = ?4`
	for _, change := range changes {
		idle := change.at + blueprint.SessionIdle.Milliseconds()
		if _, err := t.exec(update, change.at, idle, blueprint.SessionLifetime.Milliseconds(), change.keyID); err != nil {
			return err
		}
	}
	return nil
}

// pruneSessions removes some of the sessions and links that have expired.
func (p *pruner) pruneSessions(ctx context.Context) error {
	const sessions = "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ? LIMIT ?) RETURNING id"
	const links = "DELETE FROM setup_links WHERE user_id IN (SELECT user_id FROM setup_links WHERE expires_at <= ? LIMIT ?)"
	now := blueprint.TimeOf(p.options.Clock.Now())
	var some bool
	err := p.readRow(ctx, "SELECT EXISTS (SELECT 1 FROM sessions WHERE expires_at <= ?1) OR EXISTS (SELECT 1 FROM setup_links WHERE expires_at <= ?1)", []any{now}, &some)
	if !some || err != nil {
		return err
	}
	return p.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := writeSessionUses(t, p.sessionUses.changes()); err != nil {
			return err
		}
		if err := deleteSessions(t, ended, sessions, now, pruneRows); err != nil {
			return err
		}
		_, err := t.exec(links, now, pruneRows)
		return err
	})
}

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
		const upsert = `INSERT INTO setup_links (user_id, hash, expires_at) VALUES (?, ?, ?)
			ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`
		if _, err := t.exec(upsert, userID, hash[:], expires); err != nil {
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
		const update = `UPDATE users SET email = ?1, email_fold = ?2, name = ?3, password = ?4
			WHERE id = ?5 AND NOT EXISTS (SELECT 1 FROM users o WHERE o.email_fold = ?2 AND o.id <> ?5)`
		updated, err := t.exec(update, email, fold(email), with.Name, hash, link.UserID)
		if err == nil && updated == 0 {
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
