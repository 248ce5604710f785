package server

import (
	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/store"
	"context"
	"errors"
)

// ImportBlueprint stores a parsed file with its triggers, or nothing, and gives
// the new id.
func ImportBlueprint(ctx context.Context, s *store.Store, owner blueprint.Principal, b *project.Blueprint) (string, error) {
	created, err := s.CreateBlueprint(ctx, owner, blueprint.NewBlueprint{
		Title: b.Title, Description: b.Description, Status: blueprint.StatusDraft, Tags: b.Tags, Map: b.Map, Variables: b.Variables, Budget: b.Budget,
	})
	if err != nil {
		return "", err
	}
	undo := func(err error) (string, error) {
		_, undone := s.DeleteBlueprint(ctx, owner, created.ID)
		return "", errors.Join(err, undone)
	}
	for _, t := range b.Triggers {
		if err := importTrigger(ctx, s, owner, created.ID, t); err != nil {
			return undo(err)
		}
	}
	return created.ID, nil
}

func importTrigger(ctx context.Context, s *store.Store, owner blueprint.Principal, blueprintID string, t project.Trigger) error {
	_, err := s.AddTrigger(ctx, owner, blueprintID, blueprint.TriggerType(t.Kind), t.Config, t.Active)
	return err
}
