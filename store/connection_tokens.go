package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// mostToken is how many bytes a token, and how many the secret of a sign-in, may
// have.
const (
	mostToken        = 256 << 10
	mostSignInSecret = 16 << 10
)

// tokenPlace names what a sealed token is bound to.
func tokenPlace(connectionID, userID string) string {
	return "connection_tokens/" + connectionID + "/" + userID + "/token"
}

// Token gives what a service gave to a user through a connection, nil when there
// is nothing. CodeNotFound when the user may not use the connection.
func (s *Store) Token(ctx context.Context, connectionID, userID string) (token []byte, err error) {
	defer wrap(&err, "token of connection %s for user %s", connectionID, userID)
	err = s.read(ctx, func(q *session) error {
		token, err = s.tokenFor(q, connectionID, userID)
		return err
	})
	return token, err
}

func (s *Store) tokenFor(q *session, connectionID, userID string) ([]byte, error) {
	if err := mayUse(q, userID, connectionID); err != nil {
		return nil, err
	}
	var sealed []byte
	err := q.row("SELECT sealed_token FROM connection_tokens WHERE connection_id = ? AND user_id = ?", []any{connectionID, userID}, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.unsealed(sealed, tokenPlace(connectionID, userID))
}

// SaveToken stores a token in the place of the one that was read before, nil
// when there was none. CodeConflict when another one is there by now; it stays.
// CodeNotFound when the user may not use the connection, CodeBadRequest for a
// token of no bytes or more than 256 KiB. When an actor does it the audit log
// has a line; a token that is renewed by itself has none.
func (s *Store) SaveToken(ctx context.Context, connectionID, userID string, token, replaced []byte) (err error) {
	defer wrap(&err, "save token of connection %s for user %s", connectionID, userID)
	if len(token) == 0 || len(token) > mostToken {
		return blueprint.Errorf(blueprint.CodeBadRequest, "a token must have from 1 to %d bytes", mostToken)
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	sealed, err := s.seal(token, tokenPlace(connectionID, userID))
	if err != nil {
		return err
	}
	const upsert = `INSERT INTO connection_tokens (connection_id, user_id, sealed_token, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET sealed_token = excluded.sealed_token, updated_at = excluded.updated_at`
	return s.submit(ctx, &job{size: 512 + len(sealed), run: func(t *transaction) error {
		present, err := s.tokenFor(t.session, connectionID, userID)
		if err != nil {
			return err
		}
		if !bytes.Equal(present, replaced) {
			return blueprint.Errorf(blueprint.CodeConflict, "the token has been changed meanwhile")
		}
		if _, err = t.exec(upsert, connectionID, userID, sealed, now); err != nil {
			return err
		}
		about := subject{kind: "connection", id: connectionID}
		if blueprint.ActorOf(ctx) == nil {
			return nil
		}
		if err := t.row(scopeOf["connection"], []any{connectionID}, &about.organization); err != nil {
			return err
		}
		if about.organization == "" {
			return s.auditOfUser(ctx, t, userID, about)
		}
		return s.audit(ctx, t, about)
	}})
}

// DeleteToken forgets what a service gave to a user. Nothing happens when there
// is nothing. It asks for no right to use the connection: it can only take away,
// and only what is the user's own.
func (s *Store) DeleteToken(ctx context.Context, connectionID, userID string) (err error) {
	defer wrap(&err, "delete token of connection %s for user %s", connectionID, userID)
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("DELETE FROM connection_tokens WHERE connection_id = ? AND user_id = ?", connectionID, userID)
		return err
	})
}
