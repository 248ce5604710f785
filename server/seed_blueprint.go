package server

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// sowBlueprint makes a blueprint with its triggers.
func (w *sower) sowBlueprint(ctx context.Context, given *project.SeedBlueprint) error {
	owner, err := w.user(ctx, given.Owner)
	if err != nil {
		return err
	}
	principal, home := blueprint.Principal{UserID: owner.ID}, w.homes[given.Organization]
	id, err := w.Store.OwnBlueprint(ctx, owner.ID, home, given.Title)
	switch {
	case err == nil:
		w.done.Left++
	case blueprint.CodeOf(err) != blueprint.CodeNotFound:
		return err
	default:
		made, err := w.Store.CreateBlueprint(ctx, principal, blueprint.NewBlueprint{
			Title: given.Title, Description: given.Description, Status: given.Status, Tags: given.Tags, Map: w.tied(given.Map), Variables: given.Variables,
			Budget: given.Budget, OrganizationID: home,
		})
		if err != nil {
			return err
		}
		if err := w.furnish(ctx, principal, made.ID, given); err != nil {
			return err
		}
		id = made.ID
	}
	found, err := w.Store.ListTriggers(ctx, principal, id)
	if err != nil {
		return err
	}
	out := seededBlueprint{Title: given.Title, ID: id, Triggers: []seededTrigger{}}
	for i := range found {
		out.Triggers = append(out.Triggers, seededTrigger{found[i].ID, string(found[i].Type), found[i].Address(w.APIHost())})
	}
	w.done.Blueprints = append(w.done.Blueprints, out)
	return nil
}

// tied puts the ids of connections in the place of their names.
func (w *sower) tied(value any) any {
	return project.Connected(value, nil, func(name string, _ []any) string { return w.ties[name] })
}

// furnish gives a new blueprint its visibility and its triggers.
func (w *sower) furnish(ctx context.Context, principal blueprint.Principal, id string, given *project.SeedBlueprint) error {
	if given.Visibility == blueprint.VisibilityPublic {
		if _, err := w.Store.UpdateBlueprint(ctx, principal, id, blueprint.BlueprintPatch{Visibility: &given.Visibility}); err != nil {
			return err
		}
	}
	for _, t := range given.Triggers {
		t.Config, _ = w.tied(t.Config).(map[string]any)
		if err := importTrigger(ctx, w.Store, principal, id, t); err != nil {
			return err
		}
	}
	return nil
}
