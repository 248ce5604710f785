package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// Grant lets a version of a blueprint use what is the principal's own in their
// runs; "" is the current version. It holds for every version with the same map
// and variables. It needs AccessView: CodeNotFound, which an unknown version is
// too, or CodeForbidden.
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

// GrantVersions grants the versions of a run that asked its principal to sign in.
// Versions whose blueprint the user may not start any more are left out.
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

// RevokeGrants takes back all grants of the principal for a blueprint. Users may
// always take back their own; one without any needs AccessView: CodeNotFound, or
// CodeForbidden.
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

// ListGrants lists what the principal has granted, newest first, as far as the
// blueprints exist.
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

// Authority shows the principal under whose authority the current version of a
// blueprint runs. It needs AccessView: CodeNotFound, or CodeForbidden.
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

// basis returns the newest version before one that the user wrote or granted.
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
