package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Authorize is the one place that decides whether a run may use a resource. It returns
// CodeNotFound if the run's principal may not, and a *blueprint.MissingGrant if the author
// of one of its versions may not and the principal has not granted that version. It reads
// the current state: a right that any process revoked is gone immediately.
func (s *Store) Authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) (err error) {
	defer wrap(&err, "authorize the use of %s %s", resource.Kind, resource.ID)
	return s.read(ctx, func(q *session) error { return authorize(q, authority, resource) })
}

// authorize is Authorize within a transaction.
func authorize(q *session, authority blueprint.Authority, resource blueprint.Resource) error {
	may, name, err := mayUseResource(q, authority.PrincipalID, authority.PrincipalID, resource)
	if err != nil {
		return err
	}
	if !may {
		return notFound(phrase(resource.Kind), resource.ID)
	}
	for _, version := range authority.Others() {
		may, _, err := mayUseResource(q, version.Author, authority.PrincipalID, resource)
		if err == nil && !may {
			may, err = granted(q, authority.PrincipalID, version)
		}
		if err != nil {
			return err
		}
		if !may {
			resource.Name = name
			return missingGrant(q, authority.PrincipalID, version, resource)
		}
	}
	return nil
}

// rightQueries select for each kind of resource ?2 if user ?1 may use it, and its name.
var rightQueries = map[blueprint.ResourceKind]string{
	blueprint.ResourceConnection: "SELECT (" + connectionLevel + ") >= 1, c.name FROM connections c WHERE c.id = ?2",
	blueprint.ResourceSignIn:     "SELECT (" + connectionLevel + ") >= 1, c.name FROM connections c WHERE c.id = ?2",
	blueprint.ResourceSecret:     managedQuery,
	blueprint.ResourceEvents:     managedQuery,
	blueprint.ResourceBlueprint:  "SELECT " + mayStart + ", b.title FROM blueprints b WHERE b.id = ?2 AND b.deleted_at IS NULL",
	blueprint.ResourceFile: "SELECT " + mayManage + `, '' FROM files p JOIN firings f ON f.seq = p.firing JOIN triggers t ON t.seq = f.trigger_seq
		JOIN blueprints b ON b.id = t.blueprint_id WHERE p.id = ?2`,
}

const managedQuery = "SELECT " + mayManage + ", '' FROM blueprints b WHERE b.id = ?2"

// mayUseResource reports whether a user may use a resource in a run of the principal, and
// returns its name. No user may use a missing resource.
func mayUseResource(q *session, userID, principalID string, resource blueprint.Resource) (may bool, name string, err error) {
	err = q.row(rightQueries[resource.Kind], []any{userID, resource.ID}, &may, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return false, "", nil
	}
	if resource.Kind == blueprint.ResourceSignIn {
		may = may && userID == principalID // only the owner may use a token
	}
	name = cmp.Or(name, resource.Name)
	return may, name, err
}

// MissingGrantFor returns a stored missing grant as a reader may see it: with the name of
// the resource if the reader may use it, and with the author's email address if the reader
// may manage the blueprint.
func (s *Store) MissingGrantFor(ctx context.Context, reader blueprint.Principal, stored *blueprint.MissingGrant) (shown *blueprint.MissingGrant, err error) {
	defer wrap(&err, "missing grant of blueprint %s for user %s", stored.BlueprintID, reader.UserID)
	g := *stored
	err = s.read(ctx, func(q *session) error {
		may, name, err := mayUseResource(q, reader.UserID, reader.UserID, g.Resource)
		switch {
		case err != nil:
			return err
		case may && g.Resource.Kind == blueprint.ResourceFile:
			var head []byte
			if err := q.row("SELECT sealed_head FROM files WHERE id = ?", []any{g.Resource.ID}, &head); err != nil {
				return err
			}
			file := blueprint.File{ID: g.Resource.ID}
			if err := s.openHead(&file, head); err != nil {
				return err
			}
			g.Resource.Name = file.Name
		case may:
			g.Resource.Name = name
		}
		author, err := authorFor(q, reader.UserID, g.BlueprintID, g.Author.ID)
		g.Author.Email = author.Email
		return err
	})
	return &g, err
}

func granted(q *session, userID string, version blueprint.VersionRef) (granted bool, err error) {
	if version.Version == "" {
		return false, nil
	}
	const query = "SELECT EXISTS (SELECT 1 FROM grants WHERE user_id = ? AND blueprint_id = ? AND version = ?)"
	err = q.row(query, []any{userID, version.BlueprintID, version.Version}, &granted)
	return granted, err
}

// missingGrant describes the grant that the principal of a run lacks.
func missingGrant(q *session, principalID string, version blueprint.VersionRef, resource blueprint.Resource) error {
	g := &blueprint.MissingGrant{BlueprintID: version.BlueprintID, Version: version.Version, Resource: resource}
	var err error
	if g.Author, err = authorFor(q, principalID, version.BlueprintID, version.Author); err != nil {
		return err
	}
	return g
}

// authorFor names an author to a reader: by email only if they manage the blueprint.
func authorFor(q *session, readerID, blueprintID, authorID string) (blueprint.Author, error) {
	author := blueprint.Author{ID: authorID}
	const query = "SELECT u.name, CASE WHEN " + mayManage + " THEN u.email ELSE '' END FROM users u, blueprints b WHERE b.id = ?2 AND u.id = ?3"
	err := q.row(query, []any{readerID, blueprintID, authorID}, &author.Name, &author.Email)
	return author, optional(err)
}

// accessLevel is the only expression that decides what a user may do with blueprint b. Its
// value is the blueprint.Access of user ?1. A creator who has left the organization can
// still see the blueprint, but has no other rights of a creator.
const accessLevel = `CASE
	WHEN b.created_by = ?1 AND EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1) THEN 5
	WHEN EXISTS (SELECT 1 FROM collaborators c WHERE c.blueprint_id = b.id AND c.user_id = ?1 AND c.role = 'admin')
	  OR EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1 AND m.role IN ('admin', 'owner')) THEN 4
	WHEN EXISTS (SELECT 1 FROM collaborators c WHERE c.blueprint_id = b.id AND c.user_id = ?1)
	  OR EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1) THEN 3
	WHEN b.visibility = 'public' THEN 2
	WHEN b.created_by = ?1 THEN 1
	ELSE 0 END`

// Conditions on a blueprint b for user ?1.
const (
	mayManage = "(" + accessLevel + ") >= 3"
	mayStart  = "(" + accessLevel + ") >= 2"
	maySee    = "(" + accessLevel + ") >= 1"
)

// needs returns CodeForbidden when an access level is lower than needed.
func needs(have, need blueprint.Access) error {
	if have >= need && have != blueprint.AccessNone {
		return nil
	}
	switch need {
	case blueprint.AccessManage:
		return forbidden("this needs the right to manage the blueprint")
	case blueprint.AccessAdmin, blueprint.AccessOwner:
		return forbidden("only the blueprint's creator and its admins may do this")
	}
	return forbidden("you have no access to this blueprint")
}

// accessTo returns a user's access level on a blueprint that is not deleted, and its newest
// version. CodeNotFound if there is no such blueprint, CodeForbidden if the level is lower
// than needed.
func accessTo(q *session, userID, id string, need blueprint.Access) (grant, error) {
	var g grant
	const query = "SELECT b.version, " + accessLevel + " FROM blueprints b WHERE b.id = ?2 AND b.deleted_at IS NULL"
	err := q.row(query, []any{userID, id}, &g.version, &g.access)
	if err != nil {
		return g, orNotFound(err, "blueprint", id)
	}
	return g, needs(g.access, need)
}

// grant is a user's access level on a blueprint, with the blueprint's current version.
type grant struct {
	access  blueprint.Access
	version string
}

// Grant lets a version of a blueprint use the principal's own resources in the principal's
// runs; "" is the current version. The grant covers every version with the same map and
// variables. It needs AccessView: CodeNotFound, also for an unknown version, or
// CodeForbidden.
func (s *Store) Grant(ctx context.Context, principal blueprint.Principal, id, version string) (err error) {
	defer wrap(&err, "grant blueprint %s for user %s", id, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		present, err := accessTo(t.session, principal.UserID, id, blueprint.AccessView)
		if err != nil {
			return err
		}
		version = cmp.Or(version, present.version)
		var meaning string
		err = t.row("SELECT meaning_version FROM blueprint_versions WHERE blueprint_id = ? AND version = ?", []any{id, version}, &meaning)
		if err != nil {
			return orNotFound(err, "version", version)
		}
		return s.grantVersion(ctx, t, principal.UserID, id, meaning)
	})
}

// GrantVersions grants the versions of a run that asked its principal to sign in. Versions
// whose blueprint the user may no longer start are skipped.
func (s *Store) GrantVersions(ctx context.Context, userID string, versions []blueprint.VersionRef) (err error) {
	defer wrap(&err, "grant versions for user %s", userID)
	if len(versions) == 0 {
		return nil
	}
	return s.write(ctx, func(t *transaction) error {
		for _, version := range versions {
			_, err := accessTo(t.session, userID, version.BlueprintID, blueprint.AccessView)
			if code := blueprint.CodeOf(err); code == blueprint.CodeNotFound || code == blueprint.CodeForbidden {
				continue
			}
			if err == nil {
				err = s.grantVersion(ctx, t, userID, version.BlueprintID, version.Version)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) grantVersion(ctx context.Context, t *transaction, userID, id, meaning string) error {
	const insert = "INSERT INTO grants (user_id, blueprint_id, version, granted_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
	made, err := t.exec(insert, userID, id, meaning, blueprint.TimeOf(s.options.Clock.Now()))
	if err != nil {
		return err
	}
	if made == 0 {
		return t.unchanged(ctx)
	}
	return s.auditOfUser(ctx, t, userID, subject{kind: "blueprint", id: id, detail: map[string]any{"version": meaning}})
}

// RevokeGrants revokes all grants of the principal for a blueprint. Users may always revoke
// their own; a user without any needs AccessView: CodeNotFound, or CodeForbidden.
func (s *Store) RevokeGrants(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "revoke grants of blueprint %s for user %s", id, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		removed, err := t.exec("DELETE FROM grants WHERE user_id = ? AND blueprint_id = ?", principal.UserID, id)
		if err != nil {
			return err
		}
		if removed == 0 {
			_ = t.unchanged(ctx)
			_, err := accessTo(t.session, principal.UserID, id, blueprint.AccessView)
			return err
		}
		return s.auditOfUser(ctx, t, principal.UserID, subject{kind: "blueprint", id: id, detail: map[string]any{"grants": removed}})
	})
}

// ListGrants lists the principal's grants for blueprints that still exist, newest first.
func (s *Store) ListGrants(ctx context.Context, principal blueprint.Principal) (list []blueprint.Granted, err error) {
	defer wrap(&err, "grants of user %s", principal.UserID)
	const query = `SELECT g.blueprint_id, CASE WHEN ` + maySee + ` THEN b.title ELSE '' END, g.version, v.author, u.name, g.granted_at
		FROM grants g JOIN blueprints b ON b.id = g.blueprint_id JOIN blueprint_versions v ON v.blueprint_id = g.blueprint_id AND v.version = g.version
		JOIN users u ON u.id = v.author WHERE g.user_id = ?1 AND b.deleted_at IS NULL ORDER BY g.granted_at DESC, g.blueprint_id, g.version`
	list = []blueprint.Granted{}
	err = readRows(ctx, s, &list, query, []any{principal.UserID}, fields(func(g *blueprint.Granted) []any {
		return []any{&g.BlueprintID, &g.Title, &g.Version, &g.Author.ID, &g.Author.Name, &g.GrantedAt}
	}))
	return list, err
}

// Authority returns the principal under whose authority the current version of a blueprint
// runs. It needs AccessView: CodeNotFound, or CodeForbidden.
func (s *Store) Authority(ctx context.Context, principal blueprint.Principal, id string) (view blueprint.AuthorityView, err error) {
	defer wrap(&err, "authority of blueprint %s for user %s", id, principal.UserID)
	view.Triggers = []blueprint.TriggerAuthority{}
	err = s.read(ctx, func(q *session) error {
		present, err := accessTo(q, principal.UserID, id, blueprint.AccessView)
		if err != nil {
			return err
		}
		ref := blueprint.VersionRef{BlueprintID: id}
		const current = "SELECT meaning_version, author FROM blueprint_versions WHERE blueprint_id = ? AND version = ?"
		if err := q.row(current, []any{id, present.version}, &ref.Version, &ref.Author); err != nil {
			return err
		}
		view.Version, view.Mine = present.version, ref.Author == principal.UserID
		if view.Author, err = authorFor(q, principal.UserID, id, ref.Author); err != nil {
			return err
		}
		if view.Granted, err = granted(q, principal.UserID, ref); err != nil {
			return err
		}
		if view.Basis, err = basis(q, principal.UserID, ref); err != nil {
			return err
		}
		if present.access < blueprint.AccessManage {
			return nil
		}
		const triggers = `SELECT t.id, t.type, t.created_by, coalesce(u.name, ''), coalesce(u.email, ''),
			EXISTS (SELECT 1 FROM grants g WHERE g.user_id = t.created_by AND g.blueprint_id = ?1 AND g.version = ?2)
			FROM triggers t LEFT JOIN users u ON u.id = t.created_by WHERE t.blueprint_id = ?1 AND t.deleted_at IS NULL ORDER BY t.seq`
		return q.each(triggers, []any{id, ref.Version}, func(scan scanner) error {
			var one blueprint.TriggerAuthority
			err := scan(&one.TriggerID, &one.Type, &one.Principal.ID, &one.Principal.Name, &one.Principal.Email, &one.Granted)
			one.Mine = one.Principal.ID == ref.Author
			view.Triggers = append(view.Triggers, one)
			return err
		})
	})
	return view, err
}

// basis returns the newest version before ref that the user wrote or granted.
func basis(q *session, userID string, ref blueprint.VersionRef) (*string, error) {
	const query = `SELECT v.version FROM blueprint_versions v WHERE v.blueprint_id = ?1 AND v.version = v.meaning_version AND v.version <> ?2
		AND (v.author = ?3 OR EXISTS (SELECT 1 FROM grants g WHERE g.user_id = ?3 AND g.blueprint_id = ?1 AND g.version = v.version))
		ORDER BY v.seq DESC LIMIT 1`
	var version string
	err := q.row(query, []any{ref.BlueprintID, ref.Version, userID}, &version)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &version, err
}
