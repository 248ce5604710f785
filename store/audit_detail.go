package store

import (
	"context"
	"reflect"

	"blueprintd/blueprint"
)

// auditOfBlueprint is audit for what belongs to a blueprint.
func (s *Store) auditOfBlueprint(ctx context.Context, t *transaction, blueprintID string, about subject) (err error) {
	if blueprint.ActorOf(ctx) == nil {
		return nil
	}
	if _, about.organization, err = homeOfBlueprint(t.session, blueprintID); err != nil {
		return err
	}
	return s.audit(ctx, t, about)
}

// auditConnection writes the line of a connection that was made, deleted, or was
// another before.
func (s *Store) auditConnection(ctx context.Context, t *transaction, c, before *blueprint.Connection) error {
	about := subject{kind: "connection", id: c.ID, detail: map[string]any{"name": c.Name, "type": c.Type}}
	if before != nil {
		changed := changedKeys("config.", before.Config, c.Config)
		if before.Name != c.Name {
			changed = append(changed, "name")
			about.detail["nameBefore"] = before.Name
		}
		about.detail["changed"] = named(changed)
	}
	if c.OrganizationID == nil {
		return s.auditOfUser(ctx, t, c.CreatedBy, about)
	}
	about.organization = *c.OrganizationID
	return s.audit(ctx, t, about)
}

// changesOf says what became of a blueprint: which fields are others, never what
// is in those that may hold secrets.
func changesOf(before, after *blueprint.Blueprint) map[string]any {
	changed := []string{}
	differs := func(name string, differs bool) {
		if differs {
			changed = append(changed, name)
		}
	}
	differs("title", before.Title != after.Title)
	differs("description", before.Description != after.Description)
	differs("status", before.Status != after.Status)
	differs("visibility", before.Visibility != after.Visibility)
	differs("tags", !reflect.DeepEqual(before.Tags, after.Tags))
	differs("source", before.Source != after.Source)
	differs("budget", !reflect.DeepEqual(before.Budget, after.Budget))
	differs("blueprint_map", !blueprint.Equal(before.BlueprintMap, after.BlueprintMap))
	differs("environment_variables", !blueprint.Equal(before.EnvironmentVariables, after.EnvironmentVariables))
	detail := map[string]any{"title": after.Title, "version": after.Version, "changed": named(changed)}
	told := func(name, before, after string) {
		if before != after {
			detail[name], detail[name+"Before"] = after, before
		}
	}
	told("title", before.Title, after.Title)
	told("status", before.Status, after.Status)
	told("visibility", before.Visibility, after.Visibility)
	return detail
}

// changesOfTrigger is changesOf for a trigger.
func changesOfTrigger(before, after *blueprint.Trigger) map[string]any {
	detail := map[string]any{"blueprintId": after.BlueprintID, "type": after.Type, "changed": named(changedKeys("config.", before.Config, after.Config))}
	if before.IsActive != after.IsActive {
		detail["isActive"], detail["isActiveBefore"] = after.IsActive, before.IsActive
	}
	return detail
}

// changedKeys names the keys of an object that have another value now.
func changedKeys(prefix string, before, after map[string]any) (keys []string) {
	for key, value := range after {
		if was, known := before[key]; !known || !blueprint.Equal(was, value) {
			keys = append(keys, prefix+key)
		}
	}
	for key := range before {
		if _, stays := after[key]; !stays {
			keys = append(keys, prefix+key)
		}
	}
	return keys
}
