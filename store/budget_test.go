package store

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

func TestBudgetOfBlueprint(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		tokens, calls := int64(1000), int64(3)
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Budget: &blueprint.Budget{Tokens: &tokens}}))(t)
		if made.Budget == nil || *made.Budget.Tokens != 1000 || made.Budget.Calls != nil {
			t.Errorf("made with %+v", made.Budget)
		}
		changed := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{Calls: &calls, OnBreach: blueprint.BreachPauses}}))(t)
		same := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{Calls: &calls, OnBreach: blueprint.BreachPauses}}))(t)
		if changed.Version != "1.0.1" || same.Version != "1.0.1" {
			t.Errorf("versions %s and %s", changed.Version, same.Version)
		}
		now, _, err := s.Definition(ctx, ann, made.ID)
		if err != nil || now.Budget == nil || now.Budget.Tokens != nil || *now.Budget.Calls != 3 || now.Budget.OnBreach != blueprint.BreachPauses {
			t.Errorf("the definition has %+v, %v", now, err)
		}
		first := must(s.DefinitionVersion(ctx, made.ID, "1.0.0"))(t)
		if first.Budget == nil || *first.Budget.Tokens != 1000 {
			t.Errorf("the first version has %+v", first.Budget)
		}
		if got := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{}}))(t); got.Budget != nil {
			t.Errorf("left with %+v", got.Budget)
		}
	})
}
