package store

import (
	"context"
	"crypto/sha256"
	"fmt"

	"blueprintd/blueprint"
)

// ImportRun inserts a run with its blueprint from a file, with the same ids, version and
// times, into a database that is only read from. It returns the complete row of the
// run. A run that has not ended has no journal, so no engine may load it. CodeConflict
// if the blueprint or the run exists already.
func (s *Store) ImportRun(ctx context.Context, principal blueprint.Principal, given blueprint.ImportedRun) (row blueprint.ExecutionRow, err error) {
	row = given.Row
	defer wrap(&err, "import execution %s", row.ID)
	if !s.options.Ephemeral {
		return row, fmt.Errorf("runs are imported into a database in memory alone")
	}
	b, now := given.Blueprint, row.CreatedAt
	b.Status, b.Source, b.Budget = "", "", nil
	row.UserID, row.LogID = principal.UserID, s.options.IDs.ULID(now.Time())
	err = s.write(ctx, func(t *transaction) error {
		if row.OrganizationID, err = homeOf(t.session, principal, ""); err != nil {
			return err
		}
		b.OrganizationID = row.OrganizationID
		ref := blueprint.VersionRef{BlueprintID: row.BlueprintID, Version: row.BlueprintVersion, Author: principal.UserID}
		err := s.insertBlueprint(t, b, ref, now)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "there is a blueprint %s already", row.BlueprintID)
		}
		if err != nil {
			return err
		}
		commit := &blueprint.JournalCommit{Row: row}
		if row.Status.Terminal() {
			commit.Record = []byte{} // the file is shown instead
		}
		_, err = beginExecution(t, commit)
		return err
	})
	return row, err
}

// OwnOrganization returns the id of an organization that a user created, by its name;
// CodeNotFound. Like OwnConnection and OwnBlueprint it is for seeds.
func (s *Store) OwnOrganization(ctx context.Context, userID, name string) (id string, err error) {
	return s.own(ctx, "organization", name, "SELECT id FROM organizations WHERE created_by = ? AND name = ? AND personal = 0 ORDER BY created_at, id LIMIT 1", userID, name)
}

// OwnConnection returns the id of a connection that a user made in an organization,
// "" for their own, by its name; CodeNotFound.
func (s *Store) OwnConnection(ctx context.Context, userID, organizationID, name string) (id string, err error) {
	return s.own(ctx, "connection", name, "SELECT id FROM connections WHERE created_by = ? AND coalesce(organization_id, '') = ? AND name = ? ORDER BY created_at, id LIMIT 1",
		userID, organizationID, name)
}

// OwnBlueprint returns the id of a blueprint that a user made in an organization,
// "" for the personal workspace, by its title; CodeNotFound.
func (s *Store) OwnBlueprint(ctx context.Context, userID, organizationID, title string) (id string, err error) {
	const query = `SELECT b.id FROM blueprints b JOIN organizations o ON o.id = b.organization_id
		WHERE b.created_by = ?1 AND b.title = ?3 AND b.deleted_at IS NULL AND (b.organization_id = ?2 OR ?2 = '' AND o.personal = 1) ORDER BY b.seq LIMIT 1`
	return s.own(ctx, "blueprint", title, query, userID, organizationID, title)
}

// own returns the id of the first row of a query; CodeNotFound for none.
func (s *Store) own(ctx context.Context, what phrase, name, query string, args ...any) (id string, err error) {
	defer wrap(&err, "look for %s", what)
	err = s.readRow(ctx, query, args, &id)
	return id, orNotFound(err, what, name)
}

// HasKey reports whether a user has a key that is not revoked. It is not a use of
// the key.
func (s *Store) HasKey(ctx context.Context, userID, token string) (has bool, err error) {
	defer wrap(&err, "look for a key of user %s", userID)
	hash := sha256.Sum256([]byte(token))
	err = s.readRow(ctx, "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = ? AND user_id = ? AND revoked_at IS NULL)", []any{hash[:], userID}, &has)
	return has, err
}
