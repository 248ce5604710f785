package store

import (
	"context"
	"database/sql"
	"errors"
)

// SownBlueprint gives the id of a blueprint that a seed made for a user in an
// organization, "" for the personal workspace, by the title that it was made with,
// and tells whether it was deleted since. It may have another title now.
// CodeNotFound when there is none.
//
// What a seed makes nobody did: unlike what people and folders make, it has no line
// in the audit log that says so. When the lines of old are pruned, what people made
// as long ago counts as well.
func (s *Store) SownBlueprint(ctx context.Context, userID, organizationID, title string) (id string, deleted bool, err error) {
	defer wrap(&err, "look for what a seed made")
	const query = `SELECT b.id, b.deleted_at IS NOT NULL FROM blueprints b JOIN organizations o ON o.id = b.organization_id
		JOIN blueprint_versions v ON v.blueprint_id = b.id AND v.seq = 1
		WHERE b.created_by = ?1 AND v.title = ?3 AND (b.organization_id = ?2 OR ?2 = '' AND o.personal = 1) AND b.source IS NULL
		AND NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.organization_id = b.organization_id AND a.target_id = b.id AND a.action IN ('blueprint.create', 'blueprint.import'))
		ORDER BY b.deleted_at IS NOT NULL, b.seq LIMIT 1`
	err = s.read(ctx, func(q *session) error {
		err := q.row(query, []any{userID, organizationID, title}, &id, &deleted)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("blueprint", title)
		}
		return err
	})
	return id, deleted, err
}

// SownConnectionDeleted tells whether a connection that a seed made for a user in
// an organization, "" for their own, was deleted under this name. The audit log
// says so, for as long as it is kept.
func (s *Store) SownConnectionDeleted(ctx context.Context, userID, organizationID, name string) (deleted bool, err error) {
	defer wrap(&err, "look for what a seed made")
	const query = `SELECT EXISTS (SELECT 1 FROM audit_log d
		WHERE d.organization_id = coalesce(nullif(?2, ''), (SELECT id FROM organizations WHERE created_by = ?1 AND personal = 1))
		AND d.action = 'connection.delete' AND d.detail ->> '$.name' = ?3
		AND NOT EXISTS (SELECT 1 FROM audit_log c WHERE c.organization_id = d.organization_id AND c.target_id = d.target_id AND c.action = 'connection.create'))`
	err = s.read(ctx, func(q *session) error { return q.row(query, []any{userID, organizationID, name}, &deleted) })
	return deleted, err
}
