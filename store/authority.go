package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Authorize is the one place that decides whether a run may use a resource. It
// returns CodeNotFound when the run's principal may not, and a
// *blueprint.MissingGrant when the author of one of its versions may not and the
// principal has not granted that version. It reads what holds now: a right that
// was taken away by any process counts at once.
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

// rightQueries select for each kind of resource ?2 whether user ?1 may use it, and
// its name.
var rightQueries = map[blueprint.ResourceKind]string{
	blueprint.ResourceConnection: "SELECT (" + connectionLevel + ") >= 1, c.name FROM connections c WHERE c.id = ?2",
	blueprint.ResourceSignIn:     "SELECT (" + connectionLevel + ") >= 1, c.name FROM connections c WHERE c.id = ?2",
	blueprint.ResourceSecret:     "SELECT " + mayManage + ", '' FROM blueprints b WHERE b.id = ?2",
	blueprint.ResourceBlueprint:  "SELECT " + mayStart + ", b.title FROM blueprints b WHERE b.id = ?2 AND b.deleted_at IS NULL",
	blueprint.ResourceFile: "SELECT " + mayManage + `, '' FROM files p JOIN firings f ON f.seq = p.firing JOIN triggers t ON t.id = f.trigger_id
		JOIN blueprints b ON b.id = t.blueprint_id WHERE p.id = ?2`,
}

// mayUseResource reports whether a user may use a resource in a run of the
// principal, and names it. A missing resource is usable by no user.
func mayUseResource(q *session, userID, principalID string, resource blueprint.Resource) (may bool, name string, err error) {
	err = q.row(rightQueries[resource.Kind], []any{userID, resource.ID}, &may, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return false, "", nil
	}
	if resource.Kind == blueprint.ResourceSignIn {
		may = may && userID == principalID // a token is its owner's alone
	}
	name = cmp.Or(name, resource.Name)
	return may, name, err
}

// MissingGrantFor returns a missing grant, as it is stored, as a reader may see it:
// with the name of the resource for a user who may use it themselves, and with the
// author's e-mail address for one who may manage the blueprint.
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

// missingGrant describes what is missing to the principal of a run.
func missingGrant(q *session, principalID string, version blueprint.VersionRef, resource blueprint.Resource) error {
	g := &blueprint.MissingGrant{BlueprintID: version.BlueprintID, Version: version.Version, Resource: resource}
	var err error
	if g.Author, err = authorFor(q, principalID, version.BlueprintID, version.Author); err != nil {
		return err
	}
	return g
}

// authorFor names an author to a reader: by e-mail address only to one who may
// manage the blueprint.
func authorFor(q *session, readerID, blueprintID, authorID string) (blueprint.Author, error) {
	author := blueprint.Author{ID: authorID}
	const query = "SELECT u.name, CASE WHEN " + mayManage + " THEN u.email ELSE '' END FROM users u, blueprints b WHERE b.id = ?2 AND u.id = ?3"
	err := q.row(query, []any{readerID, blueprintID, authorID}, &author.Name, &author.Email)
	return author, optional(err)
}
