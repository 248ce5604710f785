package store

import (
	"context"
	"encoding/json"

	"blueprintd/blueprint"
)

// moveSource says that a blueprint is, as it now is, what is kept in a place
// outside ("" = nowhere any more), and tells whether that is news.
func moveSource(b *blueprint.Blueprint, source string) bool {
	version := b.Version
	if source == "" {
		version = ""
	}
	if b.Source == source && b.SyncedVersion == version {
		return false
	}
	b.Source, b.SyncedVersion = source, version
	return true
}

// noteEdits keeps which keys of a trigger's config are others than those that
// were last made from the source of its blueprint.
func noteEdits(t *transaction, before, after *blueprint.Trigger) error {
	keys := changedKeys("", before.Config, after.Config)
	if len(keys) == 0 {
		return nil
	}
	data, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	const update = `UPDATE triggers SET edited = (SELECT json_group_array(value) FROM
		(SELECT value FROM json_each(coalesce(edited, '[]')) UNION SELECT value FROM json_each(?))) WHERE id = ?`
	_, err = t.exec(update, string(data), after.ID)
	return err
}

// forgetEdits says that the triggers of a blueprint are what is kept in its
// source, and tells whether that is news.
func forgetEdits(t *transaction, blueprintID string) (news bool, err error) {
	n, err := t.exec("UPDATE triggers SET edited = NULL WHERE blueprint_id = ? AND edited IS NOT NULL", blueprintID)
	return n > 0, err
}

// setSource writes where a blueprint is kept outside and which version of it that
// is. CodeConflict when another blueprint of its organization is kept there.
func setSource(t *transaction, id, source, version string) error {
	if source == "" {
		_, err := t.exec("UPDATE blueprints SET source = NULL, synced_version = NULL WHERE id = ?", id)
		return err
	}
	_, err := t.exec("UPDATE blueprints SET source = ?, synced_version = ? WHERE id = ?", source, version, id)
	if duplicate(err) {
		return blueprint.Errorf(blueprint.CodeConflict, "source: another blueprint of the organization has %q", blueprint.OneLine(source))
	}
	return err
}

// keepSource writes a source that alone has changed: that is no change of the
// blueprint itself, so it makes no version and no event.
func (s *Store) keepSource(ctx context.Context, t *transaction, before, after *blueprint.Blueprint) error {
	t.changed()
	if err := setSource(t, after.ID, after.Source, after.Version); err != nil {
		return err
	}
	return s.audit(ctx, t, subject{"blueprint", after.ID, after.OrganizationID, changesOf(before, after)})
}
