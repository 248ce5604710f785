package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
)

// knownKey is what the store remembers of a key that is not revoked. It may
// have expired.
type knownKey struct {
	access blueprint.Admission
	use    *keyUse
}

// keyUse is when a key was last used, and what of that is in the database.
type keyUse struct{ at, stored atomic.Int64 }

// keyUses holds the last use of each key that was used, so that a request
// costs no write.
type keyUses struct {
	mu    sync.Mutex
	byKey map[string]*keyUse
}

func (u *keyUses) of(keyID string) *keyUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	use := u.byKey[keyID]
	if use == nil {
		if u.byKey == nil {
			u.byKey = map[string]*keyUse{}
		}
		use = &keyUse{}
		u.byKey[keyID] = use
	}
	return use
}

func (u *keyUses) last(keyID string) blueprint.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if use := u.byKey[keyID]; use != nil {
		return blueprint.Time(use.at.Load())
	}
	return 0
}

// Authenticate returns whose key a token is and what the key allows. A token
// that is unknown, expired or revoked, by whichever process and however lately,
// is CodeUnauthorized. Tokens are
// looked up by their hash, so the time it takes says nothing about how much of
// a token is right.
func (s *Store) Authenticate(ctx context.Context, token string) (_ blueprint.Admission, err error) {
	defer wrap(&err, "authenticate")
	hash := sha256.Sum256([]byte(token))
	const query = "SELECT user_id, id, scopes, coalesce(expires_at, 0) FROM api_keys WHERE hash = ? AND revoked_at IS NULL"
	known, err := remember(ctx, s, s.keys, string(hash[:]), func(q *session) (*knownKey, error) {
		var a blueprint.Admission
		var scopes string
		err := q.row(query, []any{hash[:]}, &a.UserID, &a.KeyID, &scopes, &a.ExpiresAt)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, blueprint.Errorf(blueprint.CodeUnauthorized, "API key invalid or revoked")
		}
		a.Scopes, _, _ = blueprint.ParseScopes(scopes)
		return &knownKey{access: a, use: s.uses.of(a.KeyID)}, err
	})
	if err != nil {
		return blueprint.Admission{}, err
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	if until := known.access.ExpiresAt; until != 0 && now >= until {
		return blueprint.Admission{}, blueprint.Errorf(blueprint.CodeUnauthorized, "API key expired at %s", until)
	}
	known.use.at.Store(int64(now))
	return known.access, nil
}

// forget drops what ended. It is stored, or never will be.
func (u *keyUses) forget(ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		delete(u.byKey, id)
	}
}

// keyUseChange is a last use that the database does not have yet.
type keyUseChange struct {
	keyID string
	use   *keyUse
	at    int64
}

func (u *keyUses) changes() (list []keyUseChange) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for keyID, use := range u.byKey {
		if at := use.at.Load(); at != use.stored.Load() {
			list = append(list, keyUseChange{keyID, use, at})
		}
	}
	return list
}

// storeKeyUses brings the last uses of keys to the disk.
func (s *Store) storeKeyUses(ctx context.Context) {
	changes := s.uses.changes()
	if len(changes) == 0 {
		return
	}
	if err := s.write(ctx, writeKeyUses(changes)); err != nil {
		s.options.Logger.Warn("the last uses of keys were not stored and will be tried again", "error", err)
		return
	}
	for _, change := range changes {
		change.use.stored.Store(change.at)
	}
}

func writeKeyUses(changes []keyUseChange) func(*transaction) error {
	const update = "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?"
	return func(t *transaction) error {
		for _, change := range changes {
			if _, err := t.exec(update, change.at, change.keyID); err != nil {
				return err
			}
		}
		return nil
	}
}
