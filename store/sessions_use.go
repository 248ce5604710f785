package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// knownSession is what the store remembers of a session that has not ended.
type knownSession struct {
	principal blueprint.Principal
	made      blueprint.Time
	use       *keyUse
}

func errSignIn() error {
	return blueprint.Errorf(blueprint.CodeUnauthorized, "the session has ended; sign in again")
}

// AuthenticateSession tells who is signed in with a token. One that is unknown,
// too old, or was ended, by whichever process and however lately, is
// CodeUnauthorized. That it was used is stored later, like the uses of keys.
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

// storeSessionUses brings the last uses of sessions to the disk.
func (s *Store) storeSessionUses(ctx context.Context) {
	changes := s.sessionUses.changes()
	if len(changes) == 0 {
		return
	}
	if err := s.write(ctx, func(t *transaction) error { return writeSessionUses(t, changes) }); err != nil {
		s.options.Logger.Warn("the last uses of sessions were not stored and will be tried again", "error", err)
		return
	}
	for _, change := range changes {
		change.use.stored.Store(change.at)
	}
}

// writeSessionUses moves the ends of sessions with their last uses.
func writeSessionUses(t *transaction, changes []keyUseChange) error {
	const update = `UPDATE sessions SET last_used_at = max(last_used_at, ?1), expires_at = max(expires_at, min(?1 + ?2, created_at + ?3)) WHERE id = ?4`
	for _, change := range changes {
		if _, err := t.exec(update, change.at, blueprint.SessionIdle.Milliseconds(), blueprint.SessionLife.Milliseconds(), change.keyID); err != nil {
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
	err := p.read(ctx, func(q *session) error {
		return q.row("SELECT EXISTS (SELECT 1 FROM sessions WHERE expires_at <= ?1) OR EXISTS (SELECT 1 FROM setup_links WHERE expires_at <= ?1)", []any{now}, &some)
	})
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
