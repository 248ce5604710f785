package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// insertOrganization creates an organization with its creator as the owner.
func insertOrganization(t *transaction, id, name, userID string, now blueprint.Time, personal bool) error {
	const insert = "INSERT INTO organizations (id, name, slug, personal, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?)"
	var taken bool
	label := slug(name)
	if err := t.row("SELECT EXISTS (SELECT 1 FROM organizations WHERE slug = ?)", []any{label}, &taken); err != nil {
		return err
	}
	if taken {
		label += "-" + id[:8]
	}
	if _, err := t.exec(insert, id, name, label, personal, userID, now); err != nil {
		return err
	}
	_, err := t.exec("INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (?, ?, 'owner', ?)", id, userID, now)
	return err
}

// CreateOrganization creates an organization that the principal owns.
// CodeBadRequest for one too many.
func (s *Store) CreateOrganization(ctx context.Context, principal blueprint.Principal, name string) (organization blueprint.Organization, err error) {
	defer wrap(&err, "create organization for user %s", principal.UserID)
	id, now := s.drawn("organization", principal.UserID).UUID(), blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		const made = `SELECT count(*) FROM memberships m JOIN organizations o ON o.id = m.organization_id
			WHERE m.user_id = ?1 AND o.created_by = ?1 AND o.personal = 0`
		if err := room(t, "organizations", mostOrganizations, made, principal.UserID); err != nil {
			return err
		}
		t.changed()
		if err := insertOrganization(t, id, name, principal.UserID, now, false); err != nil {
			return err
		}
		if organization, err = organizationFor(t, principal, id); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"organization", id, id, map[string]any{"name": name}})
	})
	return organization, err
}

// RenameOrganization changes the name of an organization; its slug stays. It is for
// its admins: CodeForbidden.
func (s *Store) RenameOrganization(ctx context.Context, principal blueprint.Principal, id, name string) (organization blueprint.Organization, err error) {
	defer wrap(&err, "rename organization %s for user %s", id, principal.UserID)
	err = s.write(ctx, func(t *transaction) error {
		if _, err := administers(t.session, principal, id); err != nil {
			return err
		}
		if organization, err = organizationFor(t, principal, id); err != nil {
			return err
		}
		before := organization.Name
		if organization.Name = name; before == name {
			return t.unchanged(ctx)
		}
		if _, err := t.exec("UPDATE organizations SET name = ? WHERE id = ?", name, id); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"organization", id, id, map[string]any{"name": name, "nameBefore": before}})
	})
	return organization, err
}

// organizationFor returns an organization as a member of it sees it.
func organizationFor(t *transaction, principal blueprint.Principal, id string) (blueprint.Organization, error) {
	return scanOrganization(t.first("SELECT "+organizationColumns+" AND o.id = ?2", principal.UserID, id))
}

const organizationColumns = `o.id, o.name, o.slug, m.role, o.personal
	FROM memberships m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = ?1`

func scanOrganization(scan scanner) (o blueprint.Organization, err error) {
	err = scan(&o.ID, &o.Name, &o.Slug, &o.Role, &o.Personal)
	return o, err
}

// Organizations lists the organizations that the principal is a member of, the
// personal workspace first, then by name.
func (s *Store) Organizations(ctx context.Context, principal blueprint.Principal) (list []blueprint.Organization, err error) {
	defer wrap(&err, "organizations of user %s", principal.UserID)
	err = s.read(ctx, func(q *session) error {
		query := "SELECT " + organizationColumns + " ORDER BY o.personal DESC, o.name, o.id"
		return collect(q, &list, query, []any{principal.UserID}, scanOrganization)
	})
	return list, err
}

// isMember reports whether the principal is a member of an organization, in any
// role. An unknown organization is like one of others.
func isMember(q *session, principal blueprint.Principal, organizationID string) (member bool, err error) {
	const query = "SELECT EXISTS (SELECT 1 FROM memberships WHERE organization_id = ? AND user_id = ?)"
	err = q.row(query, []any{organizationID, principal.UserID}, &member)
	return member, err
}

// memberOf returns CodeForbidden unless the principal is a member of an organization.
func memberOf(q *session, principal blueprint.Principal, organizationID string) error {
	member, err := isMember(q, principal, organizationID)
	if err == nil && !member {
		return forbidden("organizationId: you are not a member of this organization")
	}
	return err
}

// SetMember is AddMember without a principal: for seeds, which no procedure
// reaches. CodeNotFound for an unknown organization or user.
func (s *Store) SetMember(ctx context.Context, organizationID, userID string, role blueprint.OrganizationRole) (err error) {
	defer wrap(&err, "set member %s of organization %s", userID, organizationID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	return s.write(ctx, func(t *transaction) error {
		if err := joinable(t, organizationID); err != nil {
			return err
		}
		if err := knownUser(t, userID); err != nil {
			return err
		}
		return setMember(t, organizationID, userID, role, now)
	})
}

// joinable returns an error if users cannot join an organization: CodeNotFound, or
// CodeBadRequest for a personal workspace.
func joinable(t *transaction, organizationID string) error {
	var personal bool
	err := t.row("SELECT personal FROM organizations WHERE id = ?", []any{organizationID}, &personal)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return notFound("organization", organizationID)
	case err == nil && personal:
		return blueprint.Errorf(blueprint.CodeBadRequest, "a personal workspace cannot have other members")
	}
	return err
}

func setMember(t *transaction, organizationID, userID string, role blueprint.OrganizationRole, now blueprint.Time) error {
	const upsert = `INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET role = excluded.role`
	t.changed()
	if _, err := t.exec(upsert, organizationID, userID, string(role), now); err != nil {
		return err
	}
	return keepsOwner(t, organizationID)
}

// keepsOwner refuses a change that left an organization without an owner.
func keepsOwner(t *transaction, organizationID string) error {
	var owned bool
	err := t.row("SELECT EXISTS (SELECT 1 FROM memberships WHERE organization_id = ? AND role = 'owner')", []any{organizationID}, &owned)
	if err == nil && !owned {
		return blueprint.Errorf(blueprint.CodeConflict, "an organization needs an owner: make another member an owner first")
	}
	return err
}

func knownUser(q *transaction, id string) error {
	var known bool
	err := q.row("SELECT EXISTS (SELECT 1 FROM users WHERE id = ?)", []any{id}, &known)
	if err == nil && !known {
		return notFound("user", id)
	}
	return err
}
