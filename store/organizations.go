package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"

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

// CreateOrganization creates an organization that the principal owns. CodeBadRequest if the
// principal has created too many.
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

// RenameOrganization changes the name of an organization; its slug stays. Only its admins
// may call it: CodeForbidden.
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

// organizationFor returns an organization as seen by a member.
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

// isMember reports whether the principal is a member of an organization, in any role. For
// an unknown organization it returns false.
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

// SetMember is AddMember without a principal, for seeds; no procedure calls it.
// CodeNotFound for an unknown organization or user.
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
		ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`
	t.changed()
	if _, err := t.exec(upsert, organizationID, userID, string(role), now); err != nil {
		return err
	}
	return keepsOwner(t, organizationID)
}

// keepsOwner returns an error if a change left an organization without an owner.
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

// The maximum number of members of an organization, and of organizations that a user has
// created and is still in.
const (
	mostMembers       = 10_000
	mostOrganizations = 1_000
)

// Members lists the members of an organization of the principal, higher roles first, then
// by name: CodeForbidden.
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

// AddMember makes the user with an email address a member of an organization, or changes a
// member's role. Only admins may call it; only owners may add or change an admin or owner:
// CodeForbidden. CodeBadRequest for a personal workspace and for too many members,
// CodeNotFound if no account has the address, CodeConflict if no owner would be left.
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

// DropMember removes a user from an organization. Of its resources, the user can then see
// only the blueprints that they created. CodeNotFound if the user is not a member, whether
// the user exists or not. Admins may remove members, only owners may remove admins and
// owners, and members may remove themselves: CodeForbidden. The last owner cannot be
// removed: CodeConflict.
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
// organization. For any other principal it returns CodeForbidden, whether the organization
// exists or not.
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

// mayTouch returns CodeForbidden if a user with the role own may not assign or remove the
// role other: only owners manage admins and owners.
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

// room returns an error if there are already `most` rows. The query count must use an
// index.
func room(t *transaction, what string, most int, count string, args ...any) error {
	var have int
	err := t.row(count, args, &have)
	if err == nil && have >= most {
		return blueprint.Errorf(blueprint.CodeBadRequest, "limit of %s exceeded (%d of %d)", what, have, most)
	}
	return err
}

// mostCollaborators is the maximum number of collaborators of a blueprint.
const mostCollaborators = 1_000

// Collaborators lists the collaborators of a blueprint, admins first, then by
// name. It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) Collaborators(ctx context.Context, principal blueprint.Principal, blueprintID string) (list []blueprint.Collaborator, err error) {
	defer wrap(&err, "collaborators of blueprint %s for user %s", blueprintID, principal.UserID)
	const query = `SELECT u.id, u.email, u.name, c.role FROM collaborators c JOIN users u ON u.id = c.user_id
		WHERE c.blueprint_id = ? ORDER BY c.role = 'editor', u.name, u.seq`
	err = s.read(ctx, func(q *session) error {
		if _, err := accessTo(q, principal.UserID, blueprintID, blueprint.AccessManage); err != nil {
			return err
		}
		return collect(q, &list, query, []any{blueprintID}, fields(func(c *blueprint.Collaborator) []any {
			return []any{&c.UserID, &c.Email, &c.Name, &c.Role}
		}))
	})
	return list, err
}

// AddCollaborator makes the user with an email address a collaborator of a blueprint, or
// changes a collaborator's role. It needs AccessAdmin: CodeNotFound, also if no account has
// the address, or CodeForbidden. CodeBadRequest for the creator, who has all rights
// already, and if there are too many.
func (s *Store) AddCollaborator(ctx context.Context, principal blueprint.Principal, blueprintID, email string, role blueprint.CollaboratorRole) (member blueprint.Collaborator, err error) {
	defer wrap(&err, "add a collaborator to blueprint %s for user %s", blueprintID, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, blueprintID, blueprint.AccessAdmin); err != nil {
			return err
		}
		if member.UserID, member.Email, member.Name, err = personOf(t.session, email); err != nil {
			return err
		}
		creator, organizationID, err := homeOfBlueprint(t.session, blueprintID)
		if err != nil {
			return err
		}
		made, err := isMember(t.session, blueprint.Principal{UserID: creator}, organizationID)
		if err != nil {
			return err
		}
		if made && creator == member.UserID {
			return blueprint.FieldErrorf("email", "%s created the blueprint and has all rights already", member.Email)
		}
		before, err := collaboration(t.session, blueprintID, member.UserID)
		if err != nil {
			return err
		}
		if member.Role = role; before == role {
			return t.unchanged(ctx)
		}
		if before == "" {
			if err := room(t, "collaborators of the blueprint", mostCollaborators, "SELECT count(*) FROM collaborators WHERE blueprint_id = ?", blueprintID); err != nil {
				return err
			}
		}
		if err := setCollaborator(t, blueprintID, member.UserID, role, now); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"blueprint", blueprintID, organizationID, map[string]any{
			"userId": member.UserID, "userName": member.Name, "role": string(role), "roleBefore": textOrNull(before),
		}})
	})
	return member, err
}

// DropCollaborator removes a collaborator from a blueprint. It needs AccessAdmin,
// except for removing oneself: CodeForbidden. CodeNotFound for an unknown
// blueprint and for a user who is not a collaborator.
func (s *Store) DropCollaborator(ctx context.Context, principal blueprint.Principal, blueprintID, userID string) (err error) {
	defer wrap(&err, "take collaborator %s off blueprint %s for user %s", userID, blueprintID, principal.UserID)
	need := blueprint.AccessAdmin
	if userID == principal.UserID {
		need = blueprint.AccessView
	}
	return s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, blueprintID, need); err != nil {
			return err
		}
		before, err := collaboration(t.session, blueprintID, userID)
		if err != nil {
			return err
		}
		if before == "" {
			return blueprint.Errorf(blueprint.CodeNotFound, "blueprint %s has no collaborator %s", blueprintID, userID)
		}
		t.changed()
		if _, err := t.exec("DELETE FROM collaborators WHERE blueprint_id = ? AND user_id = ?", blueprintID, userID); err != nil {
			return err
		}
		return s.auditOfBlueprint(ctx, t, blueprintID, subject{kind: "blueprint", id: blueprintID, detail: map[string]any{"userId": userID, "roleBefore": string(before)}})
	})
}

// collaboration returns the role of a collaborator, "" for none.
func collaboration(q *session, blueprintID, userID string) (role blueprint.CollaboratorRole, err error) {
	const query = "SELECT role FROM collaborators WHERE blueprint_id = ? AND user_id = ?"
	err = q.row(query, []any{blueprintID, userID}, &role)
	return role, optional(err)
}

func homeOfBlueprint(q *session, id string) (creator, organizationID string, err error) {
	err = q.row("SELECT created_by, organization_id FROM blueprints WHERE id = ?", []any{id}, &creator, &organizationID)
	return creator, organizationID, err
}

func setCollaborator(t *transaction, blueprintID, userID string, role blueprint.CollaboratorRole, now blueprint.Time) error {
	const upsert = `INSERT INTO collaborators (blueprint_id, user_id, role, created_at)
		SELECT id, ?2, ?3, ?4 FROM blueprints WHERE id = ?1 AND deleted_at IS NULL
		ON CONFLICT (blueprint_id, user_id) DO UPDATE SET role = excluded.role`
	t.changed()
	set, err := t.exec(upsert, blueprintID, userID, string(role), now)
	if err == nil && set == 0 {
		return notFound("blueprint", blueprintID)
	}
	return err
}

const userColumns = `u.id, u.email, u.name, u.created_at, o.id
	FROM users u JOIN organizations o ON o.created_by = u.id AND o.personal = 1`

func scanUser(scan scanner) (user blueprint.User, err error) {
	err = scan(&user.ID, &user.Email, &user.Name, &user.CreatedAt, &user.WorkspaceID)
	return user, err
}

// CreateUser creates an account and its personal workspace. CodeConflict if another account
// has the email address, in any letter case. It is for the command line, seeds and the
// first start of a server.
func (s *Store) CreateUser(ctx context.Context, email, name string) (user blueprint.User, err error) {
	defer wrap(&err, "create user")
	now := blueprint.TimeOf(s.options.Clock.Now())
	user = blueprint.User{ID: s.drawn("user", email).UUID(), Email: email, Name: name, CreatedAt: now, WorkspaceID: s.drawn("workspace", email).UUID()}
	workspace := name
	workspace = cmp.Or(workspace, email)
	err = s.write(ctx, func(t *transaction) error {
		t.changed()
		const insert = "INSERT INTO users (id, email, email_fold, name, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (email_fold) DO NOTHING"
		inserted, err := t.exec(insert, user.ID, email, fold(email), name, now)
		if err != nil {
			return err
		}
		if inserted == 0 {
			return blueprint.Errorf(blueprint.CodeConflict, "there is a user with the email %s already", email)
		}
		if err := insertOrganization(t, user.WorkspaceID, workspace, user.ID, now, true); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"user", user.ID, user.WorkspaceID, map[string]any{"name": name}})
	})
	return user, err
}

// RenameUser changes the name of the principal. The name and the slug of the personal
// workspace stay unchanged.
func (s *Store) RenameUser(ctx context.Context, principal blueprint.Principal, name string) (user blueprint.User, err error) {
	defer wrap(&err, "rename user %s", principal.UserID)
	err = s.write(ctx, func(t *transaction) error {
		user, err = scanUser(t.first("SELECT "+userColumns+" WHERE u.id = ?", principal.UserID))
		if err != nil {
			return err
		}
		before := user.Name
		if user.Name = name; before == name {
			return t.unchanged(ctx)
		}
		if _, err := t.exec("UPDATE users SET name = ? WHERE id = ?", name, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"user", user.ID, user.WorkspaceID, map[string]any{"name": name, "nameBefore": before}})
	})
	return user, err
}

// ServerOwner returns the owner of the server: the user that was created first.
// CodeNotFound if there is none. It is called when a server starts.
func (s *Store) ServerOwner(ctx context.Context) (user blueprint.User, err error) {
	defer wrap(&err, "owner of the server")
	user, err = s.userWhere(ctx, " ORDER BY u.seq LIMIT 1")
	if errors.Is(err, sql.ErrNoRows) {
		err = blueprint.Errorf(blueprint.CodeNotFound, "there are no users yet")
	}
	return user, err
}

// UserByEmail returns the user with an email, in any letter case; CodeNotFound if there
// is none. It is for the command line, and for procedures that name a user to add.
func (s *Store) UserByEmail(ctx context.Context, email string) (user blueprint.User, err error) {
	defer wrap(&err, "user by email")
	user, err = s.userWhere(ctx, " WHERE u.email_fold = ?", fold(email))
	return user, orNotFound(err, "user", email)
}

// User returns a user by id; CodeNotFound if there is none.
func (s *Store) User(ctx context.Context, id string) (user blueprint.User, err error) {
	defer wrap(&err, "user %s", id)
	user, err = s.userWhere(ctx, " WHERE u.id = ?", id)
	return user, orNotFound(err, "user", id)
}

// userWhere returns the first user that a clause selects, or sql.ErrNoRows.
func (s *Store) userWhere(ctx context.Context, clause string, args ...any) (blueprint.User, error) {
	return readValue(ctx, s, func(q *session) (blueprint.User, error) {
		return scanUser(q.first("SELECT "+userColumns+clause, args...))
	})
}

// Users lists all users in the order of their creation. It is for the command line.
func (s *Store) Users(ctx context.Context) (users []blueprint.User, err error) {
	defer wrap(&err, "users")
	err = readRows(ctx, s, &users, "SELECT "+userColumns+" ORDER BY u.seq", nil, scanUser)
	return users, err
}

// Creator returns the creator of a blueprint as a principal; CodeNotFound if the blueprint
// is unknown or deleted. It is for the command line, which acts as the creator.
func (s *Store) Creator(ctx context.Context, id string) (principal blueprint.Principal, err error) {
	defer wrap(&err, "creator of blueprint %s", id)
	err = s.readRow(ctx, "SELECT created_by FROM blueprints WHERE id = ? AND deleted_at IS NULL", []any{id}, &principal.UserID)
	return principal, orNotFound(err, "blueprint", id)
}

// fold maps strings that differ only in letter case (Unicode) to the same string.
func fold(text string) string { return strings.Map(foldRune, text) }

// foldRune returns the smallest of the characters that differ only in case: K for k and for
// the Kelvin sign.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}

func inSlug(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// slug returns a name for URLs: lower-case words joined by hyphens; never empty.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !inSlug(r) })
	if len(words) == 0 {
		return "x"
	}
	return strings.Join(words, "-")
}
