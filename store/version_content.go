package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// VersionContent gives what a blueprint had in one version, with its true
// secrets, to who can manage it: CodeNotFound, or CodeForbidden.
func (s *Store) VersionContent(ctx context.Context, principal blueprint.Principal, id, version string) (v *blueprint.BlueprintVersion, err error) {
	defer wrap(&err, "version %s of blueprint %s for user %s", version, id, principal.UserID)
	const query = `SELECT v.version, v.created_at, v.created_by, v.content_version, c.map, c.variables, c.sealed_variables
		FROM blueprint_versions v JOIN blueprint_contents c ON c.blueprint_id = v.blueprint_id AND c.version = v.content_version
		WHERE v.blueprint_id = ? AND v.version = ?`
	v = &blueprint.BlueprintVersion{}
	err = s.read(ctx, func(q *session) error {
		if _, err := accessTo(q, principal.UserID, id, blueprint.AccessManage); err != nil {
			return err
		}
		var contentVersion string
		var mapText, variables, sealed []byte
		err := q.row(query, []any{id, version}, &v.Version, &v.CreatedAt, &v.CreatedBy, &contentVersion, &mapText, &variables, &sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("version", version)
		}
		if err == nil {
			v.BlueprintMap, v.EnvironmentVariables, err = s.content(id, contentVersion, mapText, variables, sealed)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}
