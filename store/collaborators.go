package store

import (
	"context"

	"blueprintd/blueprint"
)

// mostCollaborators is how many collaborators a blueprint may have.
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

// AddCollaborator makes the user with an email a collaborator of a blueprint, or changes
// the role of one. It needs AccessAdmin: CodeNotFound, also for an email without an
// account, or CodeForbidden. CodeBadRequest for the creator, who has all rights anyway,
// and for too many.
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
			return blueprint.Errorf(blueprint.CodeBadRequest, "email: %s made the blueprint and may do everything with it already", member.Email)
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
		ON CONFLICT DO UPDATE SET role = excluded.role`
	t.changed()
	set, err := t.exec(upsert, blueprintID, userID, string(role), now)
	if err == nil && set == 0 {
		return notFound("blueprint", blueprintID)
	}
	return err
}
