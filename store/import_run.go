package store

import (
	"context"
	"fmt"

	"blueprintd/blueprint"
)

// ImportRun puts a run with its blueprint, as a file tells of them, into a
// database that nobody works on, for somebody to look at: with the same ids,
// version and times. It gives the row of the run, filled in. Of a run that has
// not ended there is no journal, so no engine may meet it. CodeConflict when
// there is such a blueprint or run already.
func (s *Store) ImportRun(ctx context.Context, principal blueprint.Principal, given blueprint.ImportedRun) (row blueprint.ExecutionRow, err error) {
	row = given.Row
	defer wrap(&err, "import execution %s", row.ID)
	if !s.options.Ephemeral {
		return row, fmt.Errorf("runs are imported into a database in memory alone")
	}
	b, now := given.Blueprint, row.CreatedAt
	tags, err := encodeTags(b.Tags)
	if err != nil {
		return row, err
	}
	row.UserID, row.LogID = principal.UserID, s.options.IDs.ULID(now.Time())
	const insert = `INSERT INTO blueprints (id, title, title_fold, description, description_fold, status, visibility, version, tags,
		created_by, organization_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	err = s.write(ctx, func(t *transaction) error {
		if row.OrganizationID, err = homeOf(t, principal, ""); err != nil {
			return err
		}
		_, err := t.exec(insert, row.BlueprintID, b.Title, fold(b.Title), b.Description, fold(b.Description), blueprint.StatusDraft,
			blueprint.VisibilityPrivate, row.BlueprintVersion, tags, principal.UserID, row.OrganizationID, now, now)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "there is a blueprint %s already", row.BlueprintID)
		}
		if err != nil {
			return err
		}
		if err := s.insertContent(t, row.BlueprintID, row.BlueprintVersion, b.Map, blueprint.KeepSecrets(nil, b.Variables)); err != nil {
			return err
		}
		ref := blueprint.VersionRef{BlueprintID: row.BlueprintID, Version: row.BlueprintVersion, Author: principal.UserID}
		if err := insertVersion(t, ref, row.BlueprintVersion, b.Title, row.BlueprintVersion, nil, principal.UserID, now); err != nil {
			return err
		}
		commit := &blueprint.JournalCommit{Row: row}
		if row.Status.Terminal() {
			commit.Record = []byte{} // the file is what is shown
		}
		_, err = beginExecution(t, commit)
		return err
	})
	return row, err
}
