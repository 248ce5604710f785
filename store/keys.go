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

// shortestKey is the minimum number of characters of a key.
const shortestKey = 8

const keyColumns = "k.id, k.name, k.last4, k.scopes, k.created_at, coalesce(k.expires_at, 0), coalesce(k.last_used_at, 0), coalesce(k.revoked_at, 0)"

func (s *Store) scanKey(scan scanner) (key blueprint.APIKey, err error) {
	var scopes string
	err = scan(&key.ID, &key.Name, &key.Last4, &scopes, &key.CreatedAt, &key.ExpiresAt, &key.LastUsedAt, &key.RevokedAt)
	key.Scopes, _, _ = blueprint.ParseScopes(scopes)
	key.LastUsedAt = max(key.LastUsedAt, s.uses.last(key.ID))
	return key, err
}

// CreateKey is CreateLimitedKey for a key with all scopes that never expires.
func (s *Store) CreateKey(ctx context.Context, userID, name, token string) (key blueprint.APIKey, err error) {
	return s.CreateLimitedKey(ctx, blueprint.NewAPIKey{UserID: userID, Name: name, Key: token, Scopes: blueprint.AllScopes()})
}

// CreateLimitedKey stores a key of a user: its SHA-256 and last four characters. A key that
// the user already has is returned unchanged; a revoked key, or another user's, is
// CodeConflict; a key of fewer than eight characters, without a scope or with an expiry in
// the past is CodeBadRequest.
func (s *Store) CreateLimitedKey(ctx context.Context, given blueprint.NewAPIKey) (key blueprint.APIKey, err error) {
	userID, token := given.UserID, given.Key
	defer wrap(&err, "create key for user %s", userID)
	if len(token) < shortestKey {
		return key, blueprint.Errorf(blueprint.CodeBadRequest, "a key has at least %d characters", shortestKey)
	}
	now := s.options.Clock.Now()
	switch {
	case len(given.Scopes) == 0:
		return key, invalidKey("scopes", "must name a scope")
	case given.ExpiresAt != 0 && given.ExpiresAt <= blueprint.TimeOf(now):
		return key, invalidKey("expiresAt", "must be in the future")
	}
	hash := sha256.Sum256([]byte(token))
	made := blueprint.APIKey{ID: s.drawn("key", userID).ULID(now), Name: given.Name, Last4: token[len(token)-4:], Scopes: given.Scopes, CreatedAt: blueprint.TimeOf(now), ExpiresAt: given.ExpiresAt}
	const insert = "INSERT INTO api_keys (id, user_id, name, hash, last4, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	err = s.write(ctx, func(t *transaction) error {
		var owner string
		key, err = s.scanKey(also(t.first("SELECT "+keyColumns+", k.user_id FROM api_keys k WHERE k.hash = ?", hash[:]), &owner))
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case owner != userID || key.RevokedAt != 0:
			return blueprint.Errorf(blueprint.CodeConflict, "this key was used before; choose another one")
		default:
			return t.unchanged(ctx)
		}
		if err := knownUser(t, userID); err != nil {
			return err
		}
		t.changed()
		key = made
		if _, err := t.exec(insert, key.ID, userID, key.Name, hash[:], key.Last4, key.Scopes.String(), key.CreatedAt, timeOrNull(key.ExpiresAt)); err != nil {
			return err
		}
		detail := map[string]any{"name": key.Name, "userId": userID, "scopes": key.Scopes.String()}
		if key.ExpiresAt != 0 {
			detail["expiresAt"] = key.ExpiresAt
		}
		return s.auditOfUser(ctx, t, userID, subject{kind: "key", id: key.ID, detail: detail})
	})
	return key, err
}

func invalidKey(field, message string) error {
	return blueprint.InvalidInput([]blueprint.Issue{{Path: []any{field}, Message: message}})
}

// Keys lists the keys of the principal, revoked ones included, oldest first.
func (s *Store) Keys(ctx context.Context, principal blueprint.Principal) (keys []blueprint.APIKey, err error) {
	defer wrap(&err, "keys of user %s", principal.UserID)
	err = s.read(ctx, func(q *session) error {
		query := "SELECT " + keyColumns + " FROM api_keys k WHERE k.user_id = ? ORDER BY k.created_at, k.id"
		return collect(q, &keys, query, []any{principal.UserID}, s.scanKey)
	})
	return keys, err
}

// AllKeys lists the keys of all users, oldest first. It is for the command line.
func (s *Store) AllKeys(ctx context.Context) (keys []blueprint.OwnedKey, err error) {
	defer wrap(&err, "all keys")
	const query = "SELECT " + keyColumns + ", u.id, u.email FROM api_keys k JOIN users u ON u.id = k.user_id ORDER BY k.created_at, k.id"
	err = s.read(ctx, func(q *session) error {
		return collect(q, &keys, query, nil, func(scan scanner) (key blueprint.OwnedKey, err error) {
			key.APIKey, err = s.scanKey(also(scan, &key.UserID, &key.UserEmail))
			return key, err
		})
	})
	return keys, err
}

// RevokeKey revokes a key of the principal. When it returns nil, no call that begins
// afterwards is admitted with the key. A key that is unknown or another user's is
// CodeNotFound; revoking a revoked key changes nothing.
func (s *Store) RevokeKey(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "revoke key %s of user %s", id, principal.UserID)
	return s.revoke(ctx, id, " AND user_id = ?", principal.UserID)
}

// RevokeKeyByID is RevokeKey for a key of any user. It is for the command line.
func (s *Store) RevokeKeyByID(ctx context.Context, id string) (err error) {
	defer wrap(&err, "revoke key %s", id)
	return s.revoke(ctx, id, "")
}

// revoke revokes the key with an id that meets a condition.
func (s *Store) revoke(ctx context.Context, id, condition string, more ...any) error {
	now := blueprint.TimeOf(s.options.Clock.Now())
	args := append([]any{id}, more...)
	return s.write(ctx, func(t *transaction) error {
		var userID, name string
		var before blueprint.Time
		err := t.row("SELECT user_id, name, coalesce(revoked_at, 0) FROM api_keys WHERE id = ?"+condition, args, &userID, &name, &before)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return notFound("key", id)
		case err != nil:
			return err
		case before != 0:
			return t.unchanged(ctx)
		}
		t.changed()
		if _, err := t.exec("UPDATE api_keys SET revoked_at = ? WHERE id = ?", now, id); err != nil {
			return err
		}
		return s.auditOfUser(ctx, t, userID, subject{kind: "key", id: id, detail: map[string]any{"name": name, "userId": userID}})
	})
}

// knownKey is the cached state of a key that is not revoked. It may have expired.
type knownKey struct {
	access blueprint.Admission
	use    *keyUse
}

// keyUse is the last use of a key, and the last use that is stored in the database.
type keyUse struct{ at, stored atomic.Int64 }

// keyUses holds the last use of each key in memory, so that a request needs no write.
type keyUses struct {
	byKey sync.Map // ids to *keyUse
}

// Authenticate returns the owner of a key, given its token, and what the key allows. A
// token that is unknown, expired or revoked, by any process and however recently, is
// CodeUnauthorized. Tokens are looked up by their hash, so that the response time reveals
// nothing about a partly correct token.
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

func (u *keyUses) of(keyID string) *keyUse {
	use, _ := u.byKey.LoadOrStore(keyID, &keyUse{})
	return use.(*keyUse)
}

func (u *keyUses) last(keyID string) blueprint.Time {
	if use, known := u.byKey.Load(keyID); known {
		return blueprint.Time(use.(*keyUse).at.Load())
	}
	return 0
}

// forget drops the uses of keys or sessions that have ended.
func (u *keyUses) forget(ids []string) {
	for _, id := range ids {
		u.byKey.Delete(id)
	}
}

// keyUseChange is a last use that is not stored yet.
type keyUseChange struct {
	keyID string
	use   *keyUse
	at    int64
}

// storeUses stores the last uses of keys and sessions.
func (s *Store) storeUses(ctx context.Context) {
	write, changes := s.unstoredUses()
	if len(changes) == 0 {
		return
	}
	if err := s.write(ctx, write); err != nil {
		s.options.Logger.Warn("storing the last uses of keys and sessions failed, retrying", "error", err)
		return
	}
	for _, change := range changes {
		change.use.stored.Store(change.at)
	}
}

// unstoredUses returns the last uses of keys and sessions that are not stored yet, and a
// function that stores them.
func (s *Store) unstoredUses() (write func(*transaction) error, all []keyUseChange) {
	keys, sessions := s.uses.changes(), s.sessionUses.changes()
	return func(t *transaction) error {
		if err := writeKeyUses(t, keys); err != nil {
			return err
		}
		return writeSessionUses(t, sessions)
	}, append(keys, sessions...)
}

func (u *keyUses) changes() (list []keyUseChange) {
	for keyID, value := range u.byKey.Range {
		use := value.(*keyUse)
		if at := use.at.Load(); at != use.stored.Load() {
			list = append(list, keyUseChange{keyID.(string), use, at})
		}
	}
	return list
}

func writeKeyUses(t *transaction, changes []keyUseChange) error {
	const update = "UPDATE api_keys SET last_used_at = CASE WHEN last_used_at > ?1 THEN last_used_at ELSE ?1 END WHERE id = ?2"
	for _, change := range changes {
		if _, err := t.exec(update, change.at, change.keyID); err != nil {
			return err
		}
	}
	return nil
}
