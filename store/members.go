package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// The most members of an organization, and the most organizations that a user
// has made and is still in.
const (
	mostMembers       = 10_000
	mostOrganizations = 1_000
)

// Members lists the members of an organization that the principal is in, those
// with the higher roles first, then by name: CodeForbidden.
func (s *Store) Members(ctx context.Context, principal blueprint.Principal, organizationID string) (list []blueprint.Member, err error) {
	defer wrap(&err, "members of organization %s for user %s", organizationID, principal.UserID)
	const query = `SELECT u.id, u.email, u.name, m.role FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = ? ORDER BY CASE m.role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, u.name, u.seq`
	err = s.read(ctx, func(q *session) error {
		if err := memberOf(q, principal, organizationID); err != nil {
			return err
		}
		return collect(q, &list, query, []any{organizationID}, fields(func(m *blueprint.Member) []any {
			return []any{&m.UserID, &m.Email, &m.Name, &m.Role}
		}))
	})
	return list, err
}

// AddMember makes the user with an email a member of an organization, or changes the
// role of one. It is for admins; making or changing an admin or owner is for owners:
// CodeForbidden. CodeBadRequest for a personal workspace and for too many members,
// CodeNotFound for an email without an account, CodeConflict if no owner would be
// left.
func (s *Store) AddMember(ctx context.Context, principal blueprint.Principal, organizationID, email string, role blueprint.OrganizationRole) (member blueprint.Member, err error) {
	defer wrap(&err, "add a member to organization %s for user %s", organizationID, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		own, err := administers(t.session, principal, organizationID)
		if err != nil {
			return err
		}
		if err := mayTouch(own, role); err != nil {
			return err
		}
		if err := joinable(t, organizationID); err != nil {
			return err
		}
		if member.UserID, member.Email, member.Name, err = personOf(t.session, email); err != nil {
			return err
		}
		before, err := roleIn(t.session, organizationID, member.UserID)
		if err != nil {
			return err
		}
		if err := mayTouch(own, before); err != nil {
			return err
		}
		if member.Role = role; before == role {
			return t.unchanged(ctx)
		}
		if before == "" {
			if err := room(t, "members of the organization", mostMembers, "SELECT count(*) FROM memberships WHERE organization_id = ?", organizationID); err != nil {
				return err
			}
		}
		if err := setMember(t, organizationID, member.UserID, role, now); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"organization", organizationID, organizationID, map[string]any{
			"userId": member.UserID, "userName": member.Name, "role": string(role), "roleBefore": textOrNull(before),
		}})
	})
	return member, err
}

// DropMember removes a user from an organization. Of its things the user then only
// reaches the blueprints that they created. CodeNotFound if the user is not a member,
// whether the user exists or not. It is for admins, for owners if the member is an
// admin or owner, and for the members themselves: CodeForbidden. The last owner stays:
// CodeConflict.
func (s *Store) DropMember(ctx context.Context, principal blueprint.Principal, organizationID, userID string) (err error) {
	defer wrap(&err, "take user %s out of organization %s for user %s", userID, organizationID, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		if err := memberOf(t.session, principal, organizationID); err != nil {
			return err
		}
		before, err := roleIn(t.session, organizationID, userID)
		if err != nil {
			return err
		}
		if userID != principal.UserID {
			own, err := administers(t.session, principal, organizationID)
			if err != nil {
				return err
			}
			if err := mayTouch(own, before); err != nil {
				return err
			}
		}
		if before == "" {
			return blueprint.Errorf(blueprint.CodeNotFound, "organization %s has no member %s", organizationID, userID)
		}
		var name string
		if err := t.row("SELECT name FROM users WHERE id = ?", []any{userID}, &name); err != nil {
			return err
		}
		t.changed()
		if _, err := t.exec("DELETE FROM memberships WHERE organization_id = ? AND user_id = ?", organizationID, userID); err != nil {
			return err
		}
		if err := keepsOwner(t, organizationID); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"organization", organizationID, organizationID, map[string]any{
			"userId": userID, "userName": name, "roleBefore": string(before),
		}})
	})
}

// administers returns the role of a principal who is an admin or an owner of an
// organization, and CodeForbidden for any other, whether it exists or not.
func administers(q *session, principal blueprint.Principal, organizationID string) (role blueprint.OrganizationRole, err error) {
	role, err = roleIn(q, organizationID, principal.UserID)
	switch {
	case err != nil:
	case role == "":
		err = memberOf(q, principal, organizationID)
	case role == blueprint.OrganizationMember:
		err = forbidden("only the organization's admins and owners may do this")
	}
	return role, err
}

// roleIn returns the role of a user in an organization, "" for none.
func roleIn(q *session, organizationID, userID string) (role blueprint.OrganizationRole, err error) {
	const query = "SELECT role FROM memberships WHERE organization_id = ? AND user_id = ?"
	err = q.row(query, []any{organizationID, userID}, &role)
	return role, optional(err)
}

// mayTouch returns CodeForbidden if a user with the role own may not assign or remove
// the role other: only owners manage admins and owners.
func mayTouch(own, other blueprint.OrganizationRole) error {
	if own != blueprint.OrganizationOwner && (other == blueprint.OrganizationAdmin || other == blueprint.OrganizationOwner) {
		return forbidden("only the organization's owners can add, change or remove its admins and owners")
	}
	return nil
}

// personOf returns the user with an email, in any letter case: CodeNotFound.
func personOf(q *session, email string) (id, address, name string, err error) {
	err = q.row("SELECT id, email, name FROM users WHERE email_fold = ?", []any{fold(email)}, &id, &address, &name)
	if errors.Is(err, sql.ErrNoRows) {
		err = blueprint.Errorf(blueprint.CodeNotFound, "email: no user has the address %s; the operator can add them with: blueprintd user add --email %[1]s --name NAME", email)
	}
	return id, address, name, err
}

// room refuses one row too many. The query count has to use an index.
func room(t *transaction, what string, most int, count string, args ...any) error {
	var have int
	err := t.row(count, args, &have)
	if err == nil && have >= most {
		return blueprint.Errorf(blueprint.CodeBadRequest, "limit of %s exceeded (%d of %d)", what, have, most)
	}
	return err
}
