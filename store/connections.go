package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// mostConnections is the maximum number of connections of a user or an organization.
const mostConnections = 1000

// CreateConnection creates a connection of an organization of which the principal is a
// member, or of the principal. Errors: CodeBadRequest, with issues under "config", or if
// there are too many; CodeForbidden for any other organization, whether it exists or not.
// The returned connection has no secrets.
func (s *Store) CreateConnection(ctx context.Context, principal blueprint.Principal, given blueprint.NewConnection) (made blueprint.Connection, err error) {
	defer wrap(&err, "create connection for user %s", principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	config, _, _ := blueprint.MergeConnection(given.Type, nil, given.Config)
	if err := refusedConfig(blueprint.CheckConnection(given.Type, config)); err != nil {
		return made, err
	}
	c := blueprint.Connection{
		ID: s.drawn("connection", principal.UserID).UUID(), Name: given.Name, Type: given.Type, Config: config, CreatedBy: principal.UserID, ConfiguredBy: principal.UserID, CreatedAt: now, UpdatedAt: now,
	}
	if given.OrganizationID != "" {
		c.OrganizationID = &given.OrganizationID
	}
	_, sealed, err := s.sealable(config, true, placeOfConnection(&c))
	if err != nil {
		return made, err
	}
	const insert = `INSERT INTO connections (id, name, type, sealed_config, organization_id, created_by, configured_by, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	err = s.write(ctx, func(t *transaction) error {
		if err := checkConnectionLimit(t, principal, given.OrganizationID); err != nil {
			return err
		}
		if _, err := t.exec(insert, c.ID, c.Name, string(c.Type), sealed, textOrNull(given.OrganizationID), c.CreatedBy, c.ConfiguredBy, now, now); err != nil {
			return err
		}
		return s.auditConnection(ctx, t, &c, nil)
	})
	if err != nil {
		return made, err
	}
	return shown(c), nil
}

// checkConnectionLimit returns an error for a connection of an organization that the principal is
// not a member of, and for one too many.
func checkConnectionLimit(t *transaction, principal blueprint.Principal, organizationID string) error {
	if organizationID == "" {
		return room(t, "connections", mostConnections, "SELECT count(*) FROM connections WHERE created_by = ? AND organization_id IS NULL", principal.UserID)
	}
	if err := memberOf(t.session, principal, organizationID); err != nil {
		return err
	}
	return room(t, "connections", mostConnections, "SELECT count(*) FROM connections WHERE organization_id = ?", organizationID)
}

// Connections lists the connections that the principal may use, without secrets, newest
// first: all of them, or those of one organization, of which the principal must be a
// member: CodeForbidden.
func (s *Store) Connections(ctx context.Context, principal blueprint.Principal, organizationID string) (list []blueprint.Connection, err error) {
	defer wrap(&err, "connections of user %s", principal.UserID)
	list = []blueprint.Connection{}
	const selected = "SELECT " + connectionColumns + " FROM connections c WHERE "
	const order = " ORDER BY c.created_at DESC, c.id DESC"
	const own = selected + `(c.organization_id IS NULL AND c.created_by = ?1
		OR c.organization_id IN (SELECT m.organization_id FROM memberships m WHERE m.user_id = ?1))` + order
	err = s.read(ctx, func(q *session) error {
		query, args := own, []any{principal.UserID}
		if organizationID != "" {
			if err := memberOf(q, principal, organizationID); err != nil {
				return err
			}
			query, args = selected+"c.organization_id = ?1"+order, []any{organizationID}
		}
		return collect(q, &list, query, args, func(scan scanner) (blueprint.Connection, error) {
			c, err := s.scanConnection(scan)
			return shown(c), err
		})
	})
	return list, err
}

// Connection returns a connection that the principal may use, without its secrets:
// CodeNotFound, or CodeForbidden.
func (s *Store) Connection(ctx context.Context, principal blueprint.Principal, id string) (c blueprint.Connection, err error) {
	defer wrap(&err, "connection %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		c, err = s.connectionFor(q, principal.UserID, id, connectionUse)
		return err
	})
	return shown(c), err
}

// ConnectionForUse returns a connection with its secrets if Authorize allows its use:
// CodeNotFound, or a *blueprint.MissingGrant.
func (s *Store) ConnectionForUse(ctx context.Context, authority blueprint.Authority, id string) (_ *blueprint.Connection, err error) {
	defer wrap(&err, "connection %s for use by user %s", id, authority.PrincipalID)
	return readValue(ctx, s, func(q *session) (*blueprint.Connection, error) {
		if err := authorize(q, authority, blueprint.Resource{Kind: blueprint.ResourceConnection, ID: id}); err != nil {
			return nil, err
		}
		c, err := s.connectionFor(q, authority.PrincipalID, id, connectionUse)
		return &c, err
	})
}

// UpdateConnection changes the name unless it is nil, and merges change into the config as
// blueprint.MergeConnection does. Only the creator and the admins of the organization may
// call it: CodeNotFound, or CodeForbidden. CodeBadRequest has issues under "config". If the
// secrets are sent to another address afterwards, all tokens and sign-ins are deleted,
// because they belong to the old one. ConfiguredBy is the user who set the whole config; it
// is empty after another user changed a part of it.
func (s *Store) UpdateConnection(ctx context.Context, principal blueprint.Principal, id string, name *string, change map[string]any) (c blueprint.Connection, err error) {
	defer wrap(&err, "update connection %s for user %s", id, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		if c, err = s.connectionFor(t.session, principal.UserID, id, connectionChange); err != nil {
			return err
		}
		before := c
		if name != nil {
			c.Name = *name
		}
		config, moved, again := blueprint.MergeConnection(c.Type, c.Config, change)
		issues := again
		if change != nil {
			issues = append(issues, blueprint.CheckConnection(c.Type, config)...)
		}
		if err := refusedConfig(issues); err != nil {
			return err
		}
		switch {
		case change != nil && blueprint.WholeConnection(c.Type, config, change):
			c.ConfiguredBy = principal.UserID
		case c.ConfiguredBy != principal.UserID && !blueprint.Equal(c.Config, config):
			c.ConfiguredBy = ""
		}
		c.Config, c.UpdatedAt = config, max(now, c.CreatedAt) // clocks are set back
		_, sealed, err := s.sealable(config, true, placeOfConnection(&c))
		if err != nil {
			return err
		}
		if _, err := t.exec("UPDATE connections SET name = ?, sealed_config = ?, configured_by = ?, updated_at = ? WHERE id = ?", c.Name, sealed, textOrNull(c.ConfiguredBy), c.UpdatedAt, id); err != nil {
			return err
		}
		if err := s.auditConnection(ctx, t, &c, &before); err != nil || !moved {
			return err
		}
		if _, err := t.exec("DELETE FROM connection_tokens WHERE connection_id = ?", id); err != nil {
			return err
		}
		_, err = t.exec("DELETE FROM sign_ins WHERE connection_id = ?", id)
		return err
	})
	if err != nil {
		return blueprint.Connection{}, err
	}
	return shown(c), nil
}

// refusedConfig returns CodeBadRequest if a config has issues.
func refusedConfig(issues []blueprint.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	for i := range issues {
		issues[i].Path = append([]any{"config"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}

// DeleteConnection deletes a connection with its secrets, tokens and sign-ins. Only the
// creator and the admins of the organization may call it: CodeNotFound, or CodeForbidden.
func (s *Store) DeleteConnection(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "delete connection %s for user %s", id, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		c, err := s.connectionFor(t.session, principal.UserID, id, connectionChange)
		if err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM connections WHERE id = ?", id); err != nil {
			return err
		}
		return s.auditConnection(ctx, t, &c, nil)
	})
}

// The maximum sizes of a token and of the secret of a sign-in, in bytes.
const (
	mostToken        = 256 << 10
	mostSignInSecret = 16 << 10
)

// Token returns the token of a user for the service of a connection, nil if there is
// none. CodeNotFound if the user may not use the connection.
func (s *Store) Token(ctx context.Context, connectionID, userID string) (token []byte, err error) {
	defer wrap(&err, "token of connection %s for user %s", connectionID, userID)
	return readValue(ctx, s, func(q *session) ([]byte, error) { return s.tokenFor(q, connectionID, userID) })
}

func (s *Store) tokenFor(q *session, connectionID, userID string) ([]byte, error) {
	if err := mayUse(q, userID, connectionID); err != nil {
		return nil, err
	}
	var sealed []byte
	err := q.row("SELECT sealed_token FROM connection_tokens WHERE connection_id = ? AND user_id = ?", []any{connectionID, userID}, &sealed)
	if err != nil {
		return nil, optional(err)
	}
	return s.unsealed(sealed, tokenPlace(connectionID, userID))
}

// SaveToken replaces the token that was read before, nil if there was none. If the stored
// token has changed since, it stays and SaveToken returns CodeConflict. CodeNotFound if the
// user may not use the connection, CodeBadRequest for a token that is empty or larger than
// 256 KiB. The change is audited if ctx has an actor, unlike a token's renewal.
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
		ON CONFLICT (connection_id, user_id) DO UPDATE SET sealed_token = excluded.sealed_token, updated_at = excluded.updated_at`
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

// DeleteToken deletes the token of a user, if there is one. It requires no right to use the
// connection, because it can only remove the user's own token.
func (s *Store) DeleteToken(ctx context.Context, connectionID, userID string) (err error) {
	defer wrap(&err, "delete token of connection %s for user %s", connectionID, userID)
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("DELETE FROM connection_tokens WHERE connection_id = ? AND user_id = ?", connectionID, userID)
		return err
	})
}

// tokenPlace returns the name that a sealed token is bound to.
func tokenPlace(connectionID, userID string) string {
	return "connection_tokens/" + connectionID + "/" + userID + "/token"
}

// What a user may do with a connection.
const (
	connectionNone   = iota
	connectionUse    // see it without its secrets, and use it
	connectionChange // change and delete it
)

// connectionLevel is the only expression that decides what user ?1 may do with
// connection c. A user who left an organization has no rights on its connections, not
// even on those that they created.
const connectionLevel = `CASE
	WHEN c.organization_id IS NULL THEN CASE WHEN c.created_by = ?1 THEN 2 ELSE 0 END
	ELSE coalesce((SELECT CASE WHEN m.role IN ('admin', 'owner') OR c.created_by = ?1 THEN 2 ELSE 1 END
		FROM memberships m WHERE m.organization_id = c.organization_id AND m.user_id = ?1), 0) END`

const connectionColumns = "c.id, c.name, c.type, c.sealed_config, c.organization_id, c.created_by, c.configured_by, c.created_at, c.updated_at"

// connectionOwner is the owner in the place name of connection x.
const connectionOwner = `CASE WHEN x.organization_id IS NULL THEN 'user' ELSE 'organization/' || x.organization_id END
	|| '/' || x.created_by || '/' || coalesce(x.configured_by, '')`

// placeOfConnection is connectionPlace for a connection that was read.
func placeOfConnection(c *blueprint.Connection) string {
	owner := "user"
	if c.OrganizationID != nil {
		owner = "organization/" + *c.OrganizationID
	}
	return connectionPlace(c.ID, string(c.Type), owner+"/"+c.CreatedBy+"/"+c.ConfiguredBy)
}

// connectionPlace returns the name that a sealed config is bound to: its row, with the type
// and the owner of the connection.
func connectionPlace(id, kind, owner string) string {
	return "connections/" + id + "/" + kind + "/" + owner + "/config"
}

// scanConnection reads a connection with its secrets.
func (s *Store) scanConnection(scan scanner) (c blueprint.Connection, err error) {
	var (
		sealed     []byte
		configured sql.NullString
	)
	err = scan(&c.ID, &c.Name, &c.Type, &sealed, &c.OrganizationID, &c.CreatedBy, &configured, &c.CreatedAt, &c.UpdatedAt)
	if err != nil {
		return c, err
	}
	c.ConfiguredBy = configured.String
	value, err := s.unseal(nil, sealed, placeOfConnection(&c))
	if err != nil {
		return c, err
	}
	config, ok := value.(map[string]any)
	if !ok {
		return c, fmt.Errorf("config of connection %s is not an object", c.ID)
	}
	c.Config = config
	return c, nil
}

// connectionFor returns a connection, with its secrets, on which a user has the rights
// needed: CodeNotFound, or CodeForbidden.
func (s *Store) connectionFor(q *session, userID, id string, need int) (blueprint.Connection, error) {
	var level int
	const query = "SELECT " + connectionColumns + ", " + connectionLevel + " FROM connections c WHERE c.id = ?2"
	c, err := s.scanConnection(also(q.first(query, userID, id), &level))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return c, notFound("connection", id)
	case err != nil:
		return blueprint.Connection{}, err
	case level >= need:
		return c, nil
	case need == connectionChange && level == connectionUse:
		return blueprint.Connection{}, forbidden("only the connection's creator and the admins of its organization may do this")
	}
	return blueprint.Connection{}, forbidden("you have no access to this connection")
}

// mayUse returns CodeNotFound unless a user may use a connection: to a run, a connection
// that its user may not use does not exist.
func mayUse(q *session, userID, id string) error {
	var level int
	err := q.row("SELECT "+connectionLevel+" FROM connections c WHERE c.id = ?2", []any{userID, id}, &level)
	if errors.Is(err, sql.ErrNoRows) || err == nil && level < connectionUse {
		return notFound("connection", id)
	}
	return err
}

// shown returns a connection as users see it, without secrets.
func shown(c blueprint.Connection) blueprint.Connection {
	c.Config = blueprint.RedactConnection(c.Type, c.Config)
	return c
}

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
	const insert = "INSERT INTO sign_ins (" + signInColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (state_hash) DO NOTHING"
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
			inserted, err := t.exec(insert, i.StateHash, i.Ticket, i.ConnectionID, i.UserID, i.ExecutionID, i.Address, versions, i.CreatedAt, i.ExpiresAt, sealed)
			if err == nil && inserted == 0 {
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
// ExecutionID and grants no version. Errors are those of BeginSignIn except
// CodeTooManyRequests.
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
	const last = "UPDATE sign_ins SET created_at = ?5, expires_at = CASE WHEN expires_at > ?6 THEN expires_at ELSE ?6 END" + place + " AND expires_at > ?5 RETURNING " + signInColumns
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
