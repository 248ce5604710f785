package store

import (
	"database/sql"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// What a user may do with a connection.
const (
	connectionNone   = iota
	connectionUse    // see it without its secrets, and use it
	connectionChange // change and delete it
)

// connectionLevel is the one place that says who may do what with connection c:
// its value is what user ?1 may do. Who left an organization has nothing to do
// with its connections any more, not even with those that they made.
const connectionLevel = `CASE
	WHEN c.organization_id IS NULL THEN CASE WHEN c.created_by = ?1 THEN 2 ELSE 0 END
	ELSE coalesce((SELECT CASE WHEN m.role IN ('admin', 'owner') OR c.created_by = ?1 THEN 2 ELSE 1 END
		FROM memberships m WHERE m.organization_id = c.organization_id AND m.user_id = ?1), 0) END`

const connectionColumns = "c.id, c.name, c.type, c.sealed_config, c.organization_id, c.created_by, c.configured_by, c.created_at, c.updated_at"

// connectionPlace names what a sealed config is bound to: its row, and whom and
// what the row says that it is for.
func connectionPlace(id, kind, owner string) string {
	return "connections/" + id + "/" + kind + "/" + owner + "/config"
}

// connectionOwner is the owner in the place of connection x.
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

// scanConnection reads a connection with its true secrets.
func (s *Store) scanConnection(scan func(...any) error, more ...any) (c blueprint.Connection, err error) {
	var (
		sealed     []byte
		configured sql.NullString
	)
	into := []any{&c.ID, &c.Name, &c.Type, &sealed, &c.OrganizationID, &c.CreatedBy, &configured, &c.CreatedAt, &c.UpdatedAt}
	if err := scan(append(into, more...)...); err != nil {
		return c, err
	}
	c.ConfiguredBy = configured.String
	value, err := s.unseal(nil, sealed, placeOfConnection(&c))
	if err != nil {
		return c, err
	}
	config, ok := value.(map[string]any)
	if !ok {
		return c, fmt.Errorf("config of connection %s is no object", c.ID)
	}
	c.Config = config
	return c, nil
}

// connectionFor gives a connection, with its secrets, with which a user may do
// what is needed: CodeNotFound, or CodeForbidden.
func (s *Store) connectionFor(q *session, userID, id string, need int) (blueprint.Connection, error) {
	var level int
	const query = "SELECT " + connectionColumns + ", " + connectionLevel + " FROM connections c WHERE c.id = ?2"
	c, err := s.scanConnection(func(into ...any) error {
		return q.row(query, []any{userID, id}, into...)
	}, &level)
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

// mayUse is CodeNotFound unless a user may use a connection: to runs what they
// may not use is not there.
func mayUse(q *session, userID, id string) error {
	var level int
	err := q.row("SELECT "+connectionLevel+" FROM connections c WHERE c.id = ?2", []any{userID, id}, &level)
	if errors.Is(err, sql.ErrNoRows) || err == nil && level < connectionUse {
		return notFound("connection", id)
	}
	return err
}

// shown gives a connection as people see it.
func shown(c blueprint.Connection) blueprint.Connection {
	c.Config = blueprint.RedactConnection(c.Type, c.Config)
	return c
}
