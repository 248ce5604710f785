package store

import (
	"context"
	"crypto/sha256"

	"blueprintd/blueprint"
)

// BeginSession makes a session of a user who has shown the password of a hash,
// and stores the SHA-256 of the token that the browser keeps. When the user has
// too many, the oldest ends. CodeUnauthorized when the hash is not that of the
// user's password any more.
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

// insertSession makes a session, and room for it.
func (s *Store) insertSession(t *transaction, ended *[]string, userID, token, agent string) (made blueprint.Session, err error) {
	const surplus = `DELETE FROM sessions WHERE user_id = ?1 AND id NOT IN
		(SELECT id FROM sessions WHERE user_id = ?1 AND expires_at > ?2 ORDER BY created_at DESC, id DESC LIMIT ?3) RETURNING id`
	const insert = "INSERT INTO sessions (id, hash, user_id, agent, created_at, last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
	now := s.options.Clock.Now()
	if err := writeSessionUses(t, s.sessionUses.changes()); err != nil {
		return made, err
	}
	if err := deleteSessions(t, ended, surplus, userID, blueprint.TimeOf(now), blueprint.MostSessions-1); err != nil {
		return made, err
	}
	hash, at := sha256.Sum256([]byte(token)), blueprint.TimeOf(now)
	made = blueprint.Session{ID: s.drawn("session", userID).ULID(now), UserID: userID, Agent: agent, CreatedAt: at, LastUsedAt: at, ExpiresAt: blueprint.SessionEnd(at, at)}
	_, err = t.exec(insert, made.ID, hash[:], userID, agent, at, at, made.ExpiresAt)
	return made, err
}

// Sessions lists the sessions of the principal that have not ended, the last
// used first.
func (s *Store) Sessions(ctx context.Context, principal blueprint.Principal) (list []blueprint.Session, err error) {
	defer wrap(&err, "sessions of user %s", principal.UserID)
	const query = "SELECT id, user_id, agent, created_at, last_used_at FROM sessions WHERE user_id = ? ORDER BY last_used_at DESC, id DESC"
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.read(ctx, func(q *session) error {
		return q.each(query, []any{principal.UserID}, func(scan func(...any) error) error {
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

// EndSession ends a session of the principal's. When it returns nil, no call
// that begins afterwards is admitted with it. CodeNotFound when it is unknown or
// another user's.
func (s *Store) EndSession(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "end session %s of user %s", id, principal.UserID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		var there bool
		err := t.row("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ? AND user_id = ?)", []any{id, principal.UserID}, &there)
		if err == nil && !there {
			return notFound("session", id)
		}
		if err != nil {
			return err
		}
		if err := deleteSessions(t, ended, "DELETE FROM sessions WHERE id = ? RETURNING id", id); err != nil {
			return err
		}
		return s.auditSession(ctx, t, principal.UserID, subject{kind: "session", id: id})
	})
}

// EndSessionOf ends the session that a token is of, whoever's it is; see
// EndSession. A token of none is no error.
func (s *Store) EndSessionOf(ctx context.Context, token string) (err error) {
	defer wrap(&err, "end the session of a token")
	hash := sha256.Sum256([]byte(token))
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		return deleteSessions(t, ended, "DELETE FROM sessions WHERE hash = ? RETURNING id", hash[:])
	})
}

// EndSessions ends all sessions of the principal's; see EndSession.
func (s *Store) EndSessions(ctx context.Context, principal blueprint.Principal) (err error) {
	defer wrap(&err, "end all sessions of user %s", principal.UserID)
	return s.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := endSessions(t, ended, principal.UserID, ""); err != nil {
			return err
		}
		return s.auditSession(ctx, t, principal.UserID, subject{kind: "user", id: principal.UserID, detail: map[string]any{"sessions": len(*ended)}})
	})
}

// ending runs a write that may end sessions, and forgets when these were used.
func (s *Store) ending(ctx context.Context, f func(t *transaction, ended *[]string) error) error {
	var ended []string
	err := s.write(ctx, func(t *transaction) error { return f(t, &ended) })
	if err == nil {
		s.sessionUses.forget(ended)
	}
	return err
}

// endSessions ends the sessions of a user, but one of them.
func endSessions(t *transaction, ended *[]string, userID, but string) error {
	return deleteSessions(t, ended, "DELETE FROM sessions WHERE user_id = ? AND id <> ? RETURNING id", userID, but)
}

// deleteSessions runs a statement that deletes sessions and gives their ids.
func deleteSessions(t *transaction, ended *[]string, query string, args ...any) error {
	return t.each(query, args, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		*ended = append(*ended, id)
		t.changed()
		return err
	})
}
