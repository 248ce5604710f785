package store

import (
	"context"
	"slices"
	"testing"

	"blueprintd/blueprint"
)

func TestCallables(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, ben, cid := user(t, s, "ann"), user(t, s, "ben"), user(t, s, "cid")
		published, draft, public := blueprint.StatusPublished, blueprint.StatusDraft, blueprint.VisibilityPublic
		make := func(title string, patch blueprint.BlueprintPatch) blueprint.Blueprint {
			b := create(t, s, ann, title)
			must(s.UpdateBlueprint(ctx, ann, b.ID, patch))(t)
			return b
		}
		trigger := func(by blueprint.Principal, b blueprint.Blueprint, kind blueprint.TriggerType) blueprint.Trigger {
			return must(s.CreateTrigger(ctx, by, b.ID, kind, map[string]any{"label": b.Title}))(t)
		}
		want := func(who blueprint.Principal, ids ...string) {
			t.Helper()
			var got []string
			for _, c := range must(s.Callables(ctx, who, 100))(t) {
				got = append(got, c.Trigger.ID)
				if c.Trigger.Config["label"] != c.Title {
					t.Errorf("%+v", c)
				}
			}
			if !slices.Equal(got, ids) {
				t.Errorf("%s may call %v, want %v", who.UserID, got, ids)
			}
		}
		shown := make("shown", blueprint.BlueprintPatch{Status: &published, Visibility: &public})
		hidden := make("hidden", blueprint.BlueprintPatch{Status: &draft})
		first := trigger(ann, shown, blueprint.TriggerAPI)
		trigger(ann, shown, blueprint.TriggerWebhook)
		trigger(ann, hidden, blueprint.TriggerAPI)
		second := trigger(ann, shown, blueprint.TriggerAPI)
		want(ann, first.ID, second.ID)
		want(ben)
		check(t, s.SetCollaborator(ctx, shown.ID, ben.UserID, blueprint.RoleEditor))
		bens := trigger(ben, shown, blueprint.TriggerAPI)
		want(ben, bens.ID) // others' triggers only once they are enabled
		want(ann, first.ID, second.ID)
		check(t, s.EnableTool(ctx, ben, second.ID))
		check(t, s.EnableTool(ctx, ann, bens.ID))
		want(ben, second.ID, bens.ID)
		want(ann, first.ID, second.ID, bens.ID)
		want(cid)
		check(t, s.RemoveCollaborator(ctx, shown.ID, ben.UserID))
		want(ben, second.ID)           // who may only see it runs it as themselves
		want(ann, first.ID, second.ID) // what nobody stands for any more fires for nobody
		if list := must(s.Callables(ctx, ann, 1))(t); len(list) != 1 {
			t.Errorf("%d are listed", len(list))
		}
		off := false
		must(s.UpdateTrigger(ctx, ann, first.ID, nil, &off))(t)
		check(t, s.DeleteTrigger(ctx, ann, second.ID))
		want(ann)
		third := trigger(ann, shown, blueprint.TriggerAPI)
		want(ann, third.ID)
		must(s.UpdateBlueprint(ctx, ann, shown.ID, blueprint.BlueprintPatch{Status: &draft}))(t)
		want(ann)
	})
}
