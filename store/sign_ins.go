package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

const (
	// mostTickets is the maximum number of open tickets of a connection, mostAway the
	// maximum number of unfinished sign-ins of a user at its service.
	mostTickets = 10_000
	mostAway    = 100
	// signInsPruned is the maximum number of expired sign-ins removed by a new one.
	signInsPruned = 100
)

// bareSignIn are the columns of a sign-in without its secret.
const bareSignIn = "state_hash, ticket, connection_id, user_id, execution_id, address, versions, created_at, expires_at"

const signInColumns = bareSignIn + ", sealed_secret"

// BeginSignIn records that a user is sent to a service. It sets CreatedAt, and also removes
// a few expired sign-ins. CodeNotFound if the user may not use the connection, CodeConflict
// if a sign-in with the same state is open, CodeTooManyRequests for too many simultaneous
// sign-ins, and CodeBadRequest for a secret that is too large.
func (s *Store) BeginSignIn(ctx context.Context, i blueprint.SignIn) (err error) {
	defer wrap(&err, "begin sign-in to connection %s for user %s", i.ConnectionID, i.UserID)
	i.Ticket = false
	return s.signIn(ctx, &i, func(t *transaction, insert func(blueprint.SignIn) error) error {
		away, err := openSignIns(t, &i)
		if err == nil && away >= mostAway {
			return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many sign-ins to this connection were begun and not finished", RetryAfter: retryAfter}
		}
		if err == nil {
			err = insert(i)
		}
		return err
	})
}

// signIn seals the secret of a sign-in and runs f, which may insert it or one that differs
// in its place, in a transaction.
func (s *Store) signIn(ctx context.Context, i *blueprint.SignIn, f func(t *transaction, insert func(blueprint.SignIn) error) error) error {
	if len(i.Secret) > mostSignInSecret {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the secret of a sign-in must have at most %d bytes", mostSignInSecret)
	}
	i.CreatedAt = blueprint.TimeOf(s.options.Clock.Now())
	const prune = "DELETE FROM sign_ins WHERE state_hash IN (SELECT state_hash FROM sign_ins WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"
	const insert = "INSERT INTO sign_ins (" + signInColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	return s.submit(ctx, &job{size: 1024 + len(i.Secret), run: func(t *transaction) error {
		if err := mayUse(t.session, i.UserID, i.ConnectionID); err != nil {
			return err
		}
		if _, err := t.exec(prune, i.CreatedAt, signInsPruned); err != nil {
			return err
		}
		return f(t, func(i blueprint.SignIn) error {
			versions, err := encodeVersions(i.Versions)
			if err != nil {
				return err
			}
			sealed, err := s.seal(i.Secret, placeOf(&i, versions))
			if err != nil {
				return err
			}
			_, err = t.exec(insert, i.StateHash, i.Ticket, i.ConnectionID, i.UserID, i.ExecutionID, i.Address, versions, i.CreatedAt, i.ExpiresAt, sealed)
			if duplicate(err) {
				return blueprint.Errorf(blueprint.CodeConflict, "a sign-in with this state is open already")
			}
			return err
		})
	}})
}

// openSignIns counts the sign-ins of a user to a connection that are of the kind of i
// and valid when i begins.
func openSignIns(t *transaction, i *blueprint.SignIn) (count int, err error) {
	const query = "SELECT count(*) FROM sign_ins WHERE connection_id = ? AND user_id = ? AND ticket = ? AND expires_at > ?"
	err = t.row(query, []any{i.ConnectionID, i.UserID, i.Ticket, i.CreatedAt}, &count)
	return count, err
}

// TakeSignIn returns a sign-in by the hash of its state and deletes it, so that the state
// is valid once. CodeNotFound if there is none, it has expired, or its user may no longer
// use the connection. It takes no principal: the state identifies the user.
func (s *Store) TakeSignIn(ctx context.Context, stateHash []byte) (taken blueprint.SignIn, err error) {
	defer wrap(&err, "take sign-in")
	now := blueprint.TimeOf(s.options.Clock.Now())
	found := false
	err = s.write(ctx, func(t *transaction) error {
		taken, found = blueprint.SignIn{}, false
		i, err := s.scanSignIn(t.first("DELETE FROM sign_ins WHERE state_hash = ? RETURNING "+signInColumns, stateHash))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		case i.ExpiresAt <= now:
			return nil // deleted
		}
		switch err := mayUse(t.session, i.UserID, i.ConnectionID); blueprint.CodeOf(err) {
		case "":
			taken, found = i, true
			return nil
		case blueprint.CodeNotFound:
			return nil
		default:
			return err
		}
	})
	if err == nil && !found {
		err = errNoSignIn()
	}
	return taken, err
}

// FindSignIn returns a sign-in by the hash of its state without deleting it.
// CodeNotFound as for TakeSignIn.
func (s *Store) FindSignIn(ctx context.Context, stateHash []byte) (found blueprint.SignIn, err error) {
	defer wrap(&err, "find sign-in")
	const query = "SELECT " + signInColumns + " FROM sign_ins WHERE state_hash = ? AND expires_at > ?"
	now := blueprint.TimeOf(s.options.Clock.Now())
	return readValue(ctx, s, func(q *session) (blueprint.SignIn, error) {
		found, err := s.scanSignIn(q.first(query, stateHash, now))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			err = errNoSignIn()
		case err == nil:
			err = mayUse(q, found.UserID, found.ConnectionID)
		}
		return found, err
	})
}

func errNoSignIn() error {
	return blueprint.Errorf(blueprint.CodeNotFound, "there is no such sign-in, or it has expired")
}

// WaitingSignIns returns the open sign-ins of a user to a connection, oldest first, without
// their secrets. CodeNotFound if the user may not use the connection.
func (s *Store) WaitingSignIns(ctx context.Context, connectionID, userID string) (list []blueprint.SignIn, err error) {
	defer wrap(&err, "sign-ins to connection %s for user %s", connectionID, userID)
	const query = "SELECT " + bareSignIn + " FROM sign_ins WHERE connection_id = ? AND user_id = ? AND expires_at > ? ORDER BY created_at, state_hash"
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.read(ctx, func(q *session) error {
		if err := mayUse(q, userID, connectionID); err != nil {
			return err
		}
		return collect(q, &list, query, []any{connectionID, userID, now}, func(scan scanner) (blueprint.SignIn, error) {
			i, _, err := scanBareSignIn(scan)
			return i, err
		})
	})
	return list, err
}

// scanBareSignIn also returns the versions as they are stored.
func scanBareSignIn(scan scanner) (i blueprint.SignIn, versions string, err error) {
	err = scan(&i.StateHash, &i.Ticket, &i.ConnectionID, &i.UserID, &i.ExecutionID, &i.Address, &versions, &i.CreatedAt, &i.ExpiresAt)
	if err != nil || versions == noVersions {
		return i, versions, err
	}
	if err := json.Unmarshal([]byte(versions), &i.Versions); err != nil {
		return i, "", fmt.Errorf("versions of a sign-in: %w", err)
	}
	return i, versions, nil
}

// noVersions is stored for a sign-in that grants no versions.
const noVersions = "[]"

func encodeVersions(versions []blueprint.VersionRef) (string, error) {
	if len(versions) == 0 {
		return noVersions, nil
	}
	data, err := blueprint.Encode(versions)
	return string(data), err
}

// scanSignIn reads a sign-in with its secret, which can only be decrypted together with the
// fields it was bound to.
func (s *Store) scanSignIn(scan scanner) (i blueprint.SignIn, err error) {
	var sealed []byte
	i, versions, err := scanBareSignIn(also(scan, &sealed))
	if err == nil {
		i.Secret, err = s.unsealed(sealed, placeOf(&i, versions))
	}
	return i, err
}

func placeOf(i *blueprint.SignIn, versions string) string {
	return signInPlace(hex.EncodeToString(i.StateHash), i.ConnectionID+"/"+i.UserID, versions+"/"+i.ExecutionID+"/"+i.Address)
}

// signInPromise is the last part of the name that a sealed secret is bound to.
const signInPromise = "x.versions || '/' || x.execution_id || '/' || x.address"

// signInPlace returns the name that a sealed secret is bound to, which covers everything
// that the state authorizes. The hash is in hexadecimal.
func signInPlace(hash, person, promise string) string {
	return "sign_ins/" + hash + "/" + person + "/" + promise + "/secret"
}

// OpenTicket returns the address where a node asks a user to sign in. If a ticket is open
// for the same connection, user, run and node, it is extended to the expiry of i and
// returned; otherwise i is stored and returned. OpenTicket sets CreatedAt. If too many are
// open, it returns one that is not bound to a run and shared by all others: it has no
// ExecutionID and grants no version. Errors are as of BeginSignIn, without the limit.
func (s *Store) OpenTicket(ctx context.Context, i blueprint.SignIn) (ticket blueprint.SignIn, err error) {
	defer wrap(&err, "open a ticket for connection %s and user %s", i.ConnectionID, i.UserID)
	i.Ticket = true
	err = s.signIn(ctx, &i, func(t *transaction, insert func(blueprint.SignIn) error) error {
		ticket = i
		found, err := s.openTicket(t, &ticket)
		if found || err != nil {
			return err
		}
		count, err := openSignIns(t, &ticket)
		if err != nil {
			return err
		}
		if count >= mostTickets && ticket.ExecutionID != "" {
			ticket.ExecutionID, ticket.Address, ticket.Versions = "", "", nil
			if found, err = s.openTicket(t, &ticket); found || err != nil {
				return err
			}
		}
		return insert(ticket)
	})
	if err != nil {
		return blueprint.SignIn{}, err
	}
	return ticket, nil
}

// openTicket loads the open ticket in the same place into i, and removes an expired one.
func (s *Store) openTicket(t *transaction, i *blueprint.SignIn) (found bool, err error) {
	const place = " WHERE connection_id = ?1 AND user_id = ?2 AND execution_id = ?3 AND address = ?4 AND ticket = 1"
	const last = "UPDATE sign_ins SET created_at = ?5, expires_at = max(expires_at, ?6)" + place + " AND expires_at > ?5 RETURNING " + signInColumns
	present, err := s.scanSignIn(t.first(last, i.ConnectionID, i.UserID, i.ExecutionID, i.Address, i.CreatedAt, i.ExpiresAt))
	switch {
	case err == nil:
		*i = present
		return true, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	_, err = t.exec("DELETE FROM sign_ins"+place, i.ConnectionID, i.UserID, i.ExecutionID, i.Address)
	return false, err
}
