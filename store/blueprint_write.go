package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"blueprintd/blueprint"
)

// CreateBlueprint creates a private blueprint of version 1.0.0. CodeForbidden if the
// principal is not a member of the organization, whether it exists or not; CodeConflict if
// another blueprint there has the source; CodeBadRequest if the principal has reached the
// plan's limit of blueprints.
func (s *Store) CreateBlueprint(ctx context.Context, principal blueprint.Principal, given blueprint.NewBlueprint) (made blueprint.Blueprint, err error) {
	defer wrap(&err, "create blueprint for user %s", principal.UserID)
	id := s.drawn("blueprint", principal.UserID).UUID()
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		if err := s.planAllows(t, principal); err != nil {
			return err
		}
		if given.OrganizationID != "" {
			member, err := isMember(t.session, principal, given.OrganizationID)
			if err == nil && !member {
				err = forbidden("organization_id: you are not a member of this organization")
			}
			if err != nil {
				return err
			}
		}
		if given.OrganizationID, err = homeOf(t.session, principal, given.OrganizationID); err != nil {
			return err
		}
		ref := blueprint.VersionRef{BlueprintID: id, Version: blueprint.InitialVersion, Author: principal.UserID}
		if err := s.insertBlueprint(t, given, ref, now); err != nil {
			return err
		}
		row, err := s.blueprintFor(t, principal, id)
		if err != nil {
			return err
		}
		made = row.Blueprint
		if err := s.audit(ctx, t, subject{"blueprint", id, made.OrganizationID, map[string]any{"title": made.Title}}); err != nil {
			return err
		}
		return s.publish(t, written(&made, blueprint.EventBlueprintCreated, "", now))
	})
	return made, err
}

// insertBlueprint inserts a private blueprint with the version of ref. CodeConflict if it
// exists or another one of its organization has its source.
func (s *Store) insertBlueprint(t *transaction, b blueprint.NewBlueprint, ref blueprint.VersionRef, now blueprint.Time) error {
	const insert = `INSERT INTO blueprints (id, title, title_fold, description, description_fold, status, visibility, version, tags,
		created_by, organization_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	tags, err := encodeTags(b.Tags)
	if err != nil {
		return err
	}
	inserted, err := t.exec(insert, ref.BlueprintID, b.Title, fold(b.Title), b.Description, fold(b.Description), cmp.Or(b.Status, blueprint.StatusDraft),
		blueprint.VisibilityPrivate, ref.Version, tags, ref.Author, b.OrganizationID, now, now)
	if err != nil {
		return err
	}
	if inserted == 0 {
		return blueprint.Errorf(blueprint.CodeConflict, "there is a blueprint %s already", ref.BlueprintID)
	}
	if err := setSource(t, ref.BlueprintID, b.Source, ref.Version); err != nil {
		return err
	}
	if err := s.insertContent(t, ref.BlueprintID, ref.Version, b.Map, blueprint.KeepSecrets(nil, b.Variables)); err != nil {
		return err
	}
	return insertVersion(t, ref, ref.Version, b.Title, ref.Version, b.Budget, ref.Author, now)
}

// planAllows returns an error if the principal has reached the plan's limit of blueprints.
func (s *Store) planAllows(t *transaction, principal blueprint.Principal) error {
	limit := s.options.MaxBlueprints
	if limit == 0 {
		return nil
	}
	count, err := countBlueprints(t.session, principal)
	if err == nil && count >= limit {
		return blueprint.Errorf(blueprint.CodeBadRequest, "blueprint limit of the plan exceeded (%d of %d)", count, limit)
	}
	return err
}

func encodeTags(tags []string) (string, error) {
	if tags == nil {
		tags = []string{}
	}
	data, err := blueprint.Encode(tags)
	return string(data), err
}

// insertVersion adds a version. ref holds its content and its author.
func insertVersion(t *transaction, ref blueprint.VersionRef, version, title, contentVersion string, budget *blueprint.Budget, userID string, now blueprint.Time) error {
	const insert = `INSERT INTO blueprint_versions (blueprint_id, version, title, content_version, created_by, created_at, budget, meaning_version, author, seq)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT coalesce(max(seq), 0) + 1 FROM blueprint_versions WHERE blueprint_id = ?1))`
	encoded, err := encodeBudget(budget)
	if err != nil {
		return err
	}
	_, err = t.exec(insert, ref.BlueprintID, version, title, contentVersion, userID, now, encoded, ref.Version, ref.Author)
	return err
}

// blueprintFor returns a blueprint as the principal may see it, secrets included.
func (s *Store) blueprintFor(t *transaction, principal blueprint.Principal, id string) (blueprintRow, error) {
	const query = "SELECT " + blueprintColumns + blueprintTables + " WHERE b.id = ?2 AND b.deleted_at IS NULL"
	row, err := s.scanBlueprint(t.first(query, principal.UserID, id))
	return row, orNotFound(err, "blueprint", id)
}

// UpdateBlueprint changes a blueprint and its version; see nextVersion. A patch that
// changes nothing keeps the version, with one exception: if it contains the map again and
// the author of the current version may no longer manage the blueprint, the principal
// becomes the author of a new version. It needs AccessManage, and AccessAdmin to change the
// visibility: CodeNotFound, or CodeForbidden. A version that is malformed or not higher
// than the current one is CodeBadRequest; a source that another blueprint of the
// organization has is CodeConflict.
func (s *Store) UpdateBlueprint(ctx context.Context, principal blueprint.Principal, id string, patch blueprint.BlueprintPatch) (updated blueprint.Blueprint, err error) {
	defer wrap(&err, "update blueprint %s for user %s", id, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		row, err := s.blueprintFor(t, principal, id)
		if err != nil {
			return err
		}
		need := blueprint.AccessManage
		if patch.Visibility != nil {
			need = blueprint.AccessAdmin
		}
		if err := needs(row.Access, need); err != nil {
			return err
		}
		before, settled := row.Blueprint, false
		if patch.Source != nil {
			if settled, err = forgetEdits(t, id); err != nil {
				return err
			}
		}
		content, changed := apply(patch, &row.Blueprint)
		ref := row.ref
		adopted, err := adopts(t, principal, &patch, ref)
		if err != nil {
			return err
		}
		content, changed = content || adopted, changed || adopted
		if !changed && patch.Version == nil {
			updated = row.Blueprint
			if patch.Source != nil && (moveSource(&updated, *patch.Source) || settled) {
				return s.keepSource(ctx, t, &before, &updated)
			}
			return t.unchanged(ctx)
		}
		if row.Version, err = nextVersion(row.Version, patch.Version, content); err != nil {
			return err
		}
		if adopted || content && !sameMeaning(&before, &row.Blueprint) {
			ref.Version, ref.Author = row.Version, principal.UserID
		}
		row.UpdatedAt = max(now, row.CreatedAt)
		t.changed()
		if content {
			row.contentVersion = row.Version
			if err := s.insertContent(t, id, row.Version, row.BlueprintMap, row.EnvironmentVariables); err != nil {
				return err
			}
		}
		if err := insertVersion(t, ref, row.Version, row.Title, row.contentVersion, row.Budget, principal.UserID, now); err != nil {
			return err
		}
		if err := saveBlueprint(t, &row.Blueprint); err != nil {
			return err
		}
		if patch.Source != nil && moveSource(&row.Blueprint, *patch.Source) {
			if err := setSource(t, id, row.Source, row.Version); err != nil {
				return err
			}
		}
		if err := s.renameOwnTools(t, principal, id, before.Title, row.Title); err != nil {
			return err
		}
		updated = row.Blueprint
		if err := s.audit(ctx, t, subject{"blueprint", id, updated.OrganizationID, changesOf(&before, &updated)}); err != nil {
			return err
		}
		return s.publish(t, written(&updated, blueprint.EventBlueprintUpdated, before.Status, now))
	})
	return updated, err
}

// adopts reports whether a patch makes the principal the author of the map and the
// variables, even without changes: the current author may not manage the blueprint.
func adopts(t *transaction, principal blueprint.Principal, patch *blueprint.BlueprintPatch, ref blueprint.VersionRef) (bool, error) {
	if patch.Map == nil && patch.Variables == nil || ref.Author == principal.UserID {
		return false, nil
	}
	may, _, err := mayUseResource(t.session, ref.Author, ref.Author, blueprint.Resource{Kind: blueprint.ResourceSecret, ID: ref.BlueprintID})
	return !may, err
}

// sameMeaning reports whether two states of a blueprint behave the same when run. A state
// that cannot be parsed differs from any other.
func sameMeaning(a, b *blueprint.Blueprint) bool {
	mapA, variablesA, errA := parse(a.BlueprintMap, a.EnvironmentVariables)
	mapB, variablesB, errB := parse(b.BlueprintMap, b.EnvironmentVariables)
	return errA == nil && errB == nil && mapA.Equivalent(mapB) && blueprint.EquivalentVariables(variablesA, variablesB)
}

// written returns the events for a blueprint that was written; before was its status.
func written(b *blueprint.Blueprint, event, before string, at blueprint.Time) []blueprint.Event {
	e := blueprint.Event{
		Name: event, OrganizationID: b.OrganizationID, BlueprintID: b.ID, At: at,
		Data: map[string]any{"title": b.Title, "version": b.Version, "status": b.Status},
	}
	events := []blueprint.Event{e}
	if b.Status == blueprint.StatusPublished && before != blueprint.StatusPublished {
		e.Name = blueprint.EventBlueprintPublished
		events = append(events, e)
	}
	return events
}

// apply makes the changes of a patch, and reports whether the map or the variables
// changed, and whether anything changed.
func apply(patch blueprint.BlueprintPatch, b *blueprint.Blueprint) (content, changed bool) {
	text := func(from, to *string) {
		if from != nil && *from != *to {
			*to, changed = *from, true
		}
	}
	text(patch.Title, &b.Title)
	text(patch.Description, &b.Description)
	text(patch.Status, &b.Status)
	text(patch.Visibility, &b.Visibility)
	if patch.Tags != nil && !slices.Equal(*patch.Tags, b.Tags) {
		b.Tags, changed = append([]string{}, *patch.Tags...), true
	}
	if patch.Budget != nil {
		before, after := b.Budget, patch.Budget
		if !after.Limits() {
			after = nil
		}
		b.Budget, changed = after, changed || !reflect.DeepEqual(before, after)
	}
	if patch.Map != nil && !blueprint.Equal(*patch.Map, b.BlueprintMap) {
		b.BlueprintMap, content = *patch.Map, true
	}
	if patch.Variables != nil {
		variables := blueprint.KeepSecrets(b.EnvironmentVariables, *patch.Variables)
		if !blueprint.Equal(variables, b.EnvironmentVariables) {
			b.EnvironmentVariables, content = variables, true
		}
	}
	return content, changed || content
}

func titleOf(t *transaction, blueprintID string) (title string, err error) {
	err = t.row("SELECT title FROM blueprints WHERE id = ?", []any{blueprintID}, &title)
	return title, err
}

func saveBlueprint(t *transaction, b *blueprint.Blueprint) error {
	tags, err := encodeTags(b.Tags)
	if err != nil {
		return err
	}
	const update = `UPDATE blueprints SET title = ?, title_fold = ?, description = ?, description_fold = ?, status = ?, visibility = ?,
		version = ?, tags = ?, updated_at = ? WHERE id = ?`
	_, err = t.exec(update, b.Title, fold(b.Title), b.Description, fold(b.Description), b.Status, b.Visibility, b.Version, tags, b.UpdatedAt, b.ID)
	return err
}

// DeleteBlueprint deletes a blueprint and its triggers: from now on it is unknown, and no
// run of it can start. It returns the unfinished runs for the caller to cancel. It needs
// AccessAdmin: CodeNotFound, or CodeForbidden.
func (s *Store) DeleteBlueprint(ctx context.Context, principal blueprint.Principal, id string) (unfinished []string, err error) {
	return s.deleteBlueprint(ctx, principal, id, nil)
}

// DeleteDraft deletes a draft of an agent that nothing starts. For any other blueprint, including
// one that was a draft a moment ago, the error is CodeConflict.
func (s *Store) DeleteDraft(ctx context.Context, principal blueprint.Principal, id string) (unfinished []string, err error) {
	return s.deleteBlueprint(ctx, principal, id, func(t *transaction) error {
		var status, visibility string
		var tags []byte
		var triggers int
		err := t.row("SELECT status, visibility, tags, (SELECT count(*) FROM triggers WHERE blueprint_id = b.id AND deleted_at IS NULL) FROM blueprints b WHERE id = ?", []any{id}, &status, &visibility, &tags, &triggers)
		if err != nil {
			return err
		}
		var list []string
		if err := json.Unmarshal(tags, &list); err != nil {
			return fmt.Errorf("tags of blueprint %s: %w", id, err)
		}
		if _, is := blueprint.ParseDraft(list); !is || status == blueprint.StatusPublished || visibility == blueprint.VisibilityPublic || triggers > 0 {
			return blueprint.Errorf(blueprint.CodeConflict, "this blueprint is not a draft any more, or is live: it is published, public or has triggers")
		}
		return nil
	})
}

// deleteBlueprint deletes a blueprint unless check, if there is one, fails in the same transaction.
func (s *Store) deleteBlueprint(ctx context.Context, principal blueprint.Principal, id string, check func(*transaction) error) (unfinished []string, err error) {
	defer wrap(&err, "delete blueprint %s for user %s", id, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, id, blueprint.AccessAdmin); err != nil {
			return err
		}
		if check != nil {
			if err := check(t); err != nil {
				return err
			}
		}
		t.changed()
		if _, err := t.exec("UPDATE blueprints SET deleted_at = ? WHERE id = ?", now, id); err != nil {
			return err
		}
		title, err := titleOf(t, id)
		if err != nil {
			return err
		}
		if err := s.auditOfBlueprint(ctx, t, id, subject{kind: "blueprint", id: id, detail: map[string]any{"title": title}}); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE triggers SET deleted_at = ?, changed = "+nextGeneration+" WHERE blueprint_id = ? AND deleted_at IS NULL", now, id); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM mcp_tools WHERE trigger_id IN (SELECT id FROM triggers WHERE blueprint_id = ?)", id); err != nil {
			return err
		}
		unfinished = nil
		query := "SELECT id FROM executions WHERE blueprint_seq = (SELECT seq FROM blueprints WHERE id = ?) AND end_time IS NULL ORDER BY created_at, seq"
		return collect(t.session, &unfinished, query, []any{id}, column)
	})
	return unfinished, err
}

// moveSource records that the current state of a blueprint matches that of an external
// source ("" = of none), and reports whether that is a change.
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

// noteEdits records which keys of a trigger's config differ from those that were last
// set from the source of its blueprint.
func noteEdits(t *transaction, before, after *blueprint.Trigger) error {
	keys := changedKeys("", before.Config, after.Config)
	if len(keys) == 0 {
		return nil
	}
	var data []byte
	if err := t.row("SELECT coalesce(edited, '[]') FROM triggers WHERE id = ?", []any{after.ID}, &data); err != nil {
		return err
	}
	var edited []string
	if err := json.Unmarshal(data, &edited); err != nil {
		return fmt.Errorf("edited keys of trigger %s: %w", after.ID, err)
	}
	edited = append(edited, keys...)
	slices.Sort(edited)
	data, err := blueprint.Encode(slices.Compact(edited))
	if err != nil {
		return err
	}
	_, err = t.exec("UPDATE triggers SET edited = ? WHERE id = ?", string(data), after.ID)
	return err
}

// forgetEdits records that the triggers of a blueprint match its source, and reports
// whether that is a change.
func forgetEdits(t *transaction, blueprintID string) (news bool, err error) {
	n, err := t.exec("UPDATE triggers SET edited = NULL WHERE blueprint_id = ? AND edited IS NOT NULL", blueprintID)
	return n > 0, err
}

// setSource records the source of a blueprint and the version that it has. CodeConflict
// if another blueprint of the organization has the source.
func setSource(t *transaction, id, source, version string) error {
	if source == "" {
		_, err := t.exec("UPDATE blueprints SET source = NULL, synced_version = NULL WHERE id = ?", id)
		return err
	}
	const update = `UPDATE blueprints SET source = ?1, synced_version = ?2 WHERE id = ?3 AND NOT EXISTS (SELECT 1 FROM blueprints o
		WHERE o.organization_id = blueprints.organization_id AND o.source = ?1 AND o.deleted_at IS NULL AND o.id <> ?3)`
	updated, err := t.exec(update, source, version, id)
	if err == nil && updated == 0 {
		return blueprint.Errorf(blueprint.CodeConflict, "source: another blueprint of the organization has %q", blueprint.OneLine(source))
	}
	return err
}

// keepSource stores a patch that changes only the source. It does not count as a change of
// the blueprint: there is no new version and no event.
func (s *Store) keepSource(ctx context.Context, t *transaction, before, after *blueprint.Blueprint) error {
	t.changed()
	if err := setSource(t, after.ID, after.Source, after.Version); err != nil {
		return err
	}
	return s.audit(ctx, t, subject{"blueprint", after.ID, after.OrganizationID, changesOf(before, after)})
}
