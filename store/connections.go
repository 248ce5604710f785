package store

import (
	"context"

	"blueprintd/blueprint"
)

// mostConnections is how many connections a user, and how many an organization,
// may have.
const mostConnections = 1000

// CreateConnection makes a connection, of an organization that the principal is
// a member of, or of the principal. Errors: CodeBadRequest, with issues under
// "config", or when there are too many; CodeForbidden for an organization of
// others, known or not. Like all that people see, the answer has no secrets.
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
		if err := connectionRoom(t, principal, given.OrganizationID); err != nil {
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

// connectionRoom refuses a connection for others, and one too many.
func connectionRoom(t *transaction, principal blueprint.Principal, organizationID string) error {
	var count int
	if organizationID == "" {
		err := t.row("SELECT count(*) FROM connections WHERE created_by = ? AND organization_id IS NULL", []any{principal.UserID}, &count)
		return tooManyConnections(count, err)
	}
	if err := memberOf(t.session, principal, organizationID); err != nil {
		return err
	}
	err := t.row("SELECT count(*) FROM connections WHERE organization_id = ?", []any{organizationID}, &count)
	return tooManyConnections(count, err)
}

func tooManyConnections(count int, err error) error {
	if err == nil && count >= mostConnections {
		return blueprint.Errorf(blueprint.CodeBadRequest, "limit of connections exceeded (%d of %d)", count, mostConnections)
	}
	return err
}

// memberOf is CodeForbidden unless the principal is a member of an organization.
func memberOf(q *session, principal blueprint.Principal, organizationID string) error {
	member, err := isMember(q, principal, organizationID)
	if err == nil && !member {
		return forbidden("organizationId: you are not a member of this organization")
	}
	return err
}

// Connections lists what the principal may use, without secrets, newest first:
// all of it, or that of one organization, of which the principal must be a
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
		return q.each(query, args, func(scan func(...any) error) error {
			c, err := s.scanConnection(scan)
			list = append(list, shown(c))
			return err
		})
	})
	return list, err
}

// Connection gives a connection that the principal may use, without its secrets:
// CodeNotFound, or CodeForbidden.
func (s *Store) Connection(ctx context.Context, principal blueprint.Principal, id string) (c blueprint.Connection, err error) {
	defer wrap(&err, "connection %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		c, err = s.connectionFor(q, principal.UserID, id, connectionUse)
		return err
	})
	return shown(c), err
}

// ConnectionForUse returns a connection with its secrets, as far as Authorize
// allows its use: CodeNotFound, or a *blueprint.MissingGrant.
func (s *Store) ConnectionForUse(ctx context.Context, authority blueprint.Authority, id string) (_ *blueprint.Connection, err error) {
	defer wrap(&err, "connection %s for use by user %s", id, authority.PrincipalID)
	var c blueprint.Connection
	err = s.read(ctx, func(q *session) error {
		if err := authorize(q, authority, blueprint.Resource{Kind: blueprint.ResourceConnection, ID: id}); err != nil {
			return err
		}
		c, err = s.connectionFor(q, authority.PrincipalID, id, connectionUse)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// UpdateConnection changes the name unless it is nil, and merges change into the
// config as blueprint.MergeConnection does. It is for the creator and the admins
// of the organization: CodeNotFound, or CodeForbidden. CodeBadRequest has issues
// under "config". When the secrets go somewhere else afterwards, tokens and
// sign-ins of everybody are deleted: they were meant for where they went before.
// Who said all that the config has then answers for it; a part that somebody else
// changes leaves nobody who does.
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

// refusedConfig is CodeBadRequest when there are issues with a config.
func refusedConfig(issues []blueprint.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	for i := range issues {
		issues[i].Path = append([]any{"config"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}

// DeleteConnection deletes a connection, with its secrets, tokens and sign-ins.
// It is for the creator and the admins of the organization: CodeNotFound, or
// CodeForbidden.
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
