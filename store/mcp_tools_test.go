package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestToolNames changes whatever decides a tool's name, as its owner and as
// another user who can manage the blueprint: only the owner's changes count.
func TestToolNames(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, ben := user(t, s, "ann"), user(t, s, "ben")
		short := "_by_" + ann.UserID[:8]
		shared, own := create(t, s, ann, "Shared"), create(t, s, ben, "Own")
		lend(t, s, shared, ben, blueprint.CollaboratorAdmin)
		trigger := func(by blueprint.Principal, b blueprint.Blueprint, config map[string]any) string {
			return must(s.CreateTrigger(ctx, by, b.ID, blueprint.TriggerAPI, config))(t).ID
		}
		relabel := func(by blueprint.Principal, id, label string) {
			must(s.UpdateTrigger(ctx, by, id, func(blueprint.Trigger) (map[string]any, error) { return map[string]any{"label": label}, nil }, nil))(t)
		}
		retitle := func(by blueprint.Principal, b blueprint.Blueprint, title string) {
			must(s.UpdateBlueprint(ctx, by, b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
		}
		want := func(why string, names ...string) {
			t.Helper()
			var got []string
			for _, tool := range must(s.Tools(ctx, ben))(t) {
				name := tool.Name
				if !tool.Enabled {
					name += "?"
				}
				if (tool.OwnerID == ben.UserID) == strings.Contains(name, "_by_") {
					t.Errorf("%+v, want other than %v", tool, strings.Contains(name, "_by_"))
				}
				got = append(got, name)
			}
			if !slices.Equal(got, names) {
				t.Errorf("%s: ben's tools are %q, want %q", why, got, names)
			}
		}
		anns := trigger(ann, shared, map[string]any{"label": "Deploy"})
		bens := trigger(ben, shared, map[string]any{"label": "Deploy"})
		trigger(ben, own, nil)
		second := trigger(ben, own, map[string]any{"label": "deploy!"})
		all := []string{"deploy" + short + "?", "deploy", "own", "deploy-2"}
		want("at first", all...)
		relabel(ann, bens, "Own") // ann manages ben's trigger, and not the name of ben's tool
		retitle(ann, shared, "Own")
		want("after ann's changes", all...)
		trigger(ann, shared, map[string]any{"label": "Own"})
		all = append(all, "own"+short+"?")
		want("after ann made another", all...)
		retitle(ben, own, "Mine")
		all[2] = "mine"
		want("after ben's title", all...)
		relabel(ben, second, "second")
		all[3] = "second"
		want("after ben's label", all...)

		check(t, s.EnableTool(ctx, ben, anns))
		check(t, s.EnableTool(ctx, ben, anns))
		all[0] = "deploy" + short
		want("enabled", all...)
		relabel(ann, anns, "Release")
		want("enabled, then relabelled", all...)
		another := trigger(ann, shared, map[string]any{"label": "Deploy"})
		want("another with that name", append(all, "deploy"+short+"-2?")...)
		check(t, s.DisableTool(ctx, ben, anns))
		all[0] = "release" + short + "?"
		want("disabled", append(all, "deploy"+short+"?")...)
		check(t, s.EnableTool(ctx, ben, another))
		check(t, s.DisableTool(ctx, ben, second))
		check(t, s.DisableTool(ctx, ben, second))
		all[3] = "second?"
		want("an own one disabled", append(all, "deploy"+short)...)
		check(t, s.DeleteTrigger(ctx, ann, another))
		want("deleted", all...)
		trigger(ben, own, map[string]any{"label": "second"})
		want("a name that an own disabled one keeps", append(all, "second-2")...)
		must(s.DeleteBlueprint(ctx, ben, own.ID))(t)
		want("a deleted blueprint", all[0], all[1], all[4])
		trigger(ben, create(t, s, ben, "T"), map[string]any{"label": "second"})
		want("its names are free", all[0], all[1], all[4], "second")
	})
}

func TestEnableTool(t *testing.T) {
	s := open(t, testOptions(t))
	ctx := context.Background()
	ann, ben, cid := user(t, s, "ann"), user(t, s, "ben"), user(t, s, "cid")
	public := blueprint.VisibilityPublic
	b := create(t, s, ann, "T")
	api := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerAPI, nil))(t)
	hook := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
	lend(t, s, b, ben, blueprint.CollaboratorEditor)
	for _, change := range []func(context.Context, blueprint.Principal, string) error{s.EnableTool, s.DisableTool} {
		wantCode(t, change(ctx, cid, api.ID), blueprint.CodeForbidden)
		wantCode(t, change(ctx, cid, hook.ID), blueprint.CodeForbidden)
		wantCode(t, change(ctx, ben, hook.ID), blueprint.CodeBadRequest)
		wantCode(t, change(ctx, ben, b.ID), blueprint.CodeNotFound)
	}
	must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
	check(t, s.EnableTool(ctx, cid, api.ID))
	wantCode(t, s.EnableTool(ctx, cid, hook.ID), blueprint.CodeNotFound) // not even its type is shown
	if list := must(s.Tools(ctx, cid))(t); len(list) != 1 || !list[0].Enabled {
		t.Errorf("%+v, want length 1 and Enabled", list)
	}
	private := blueprint.VisibilityPrivate
	must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &private}))(t)
	if list := must(s.Tools(ctx, cid))(t); len(list) != 0 {
		t.Errorf("%+v, want none", list)
	}
	check(t, s.DisableTool(ctx, cid, api.ID)) // consent can be withdrawn at any time
	wantCode(t, s.EnableTool(ctx, cid, api.ID), blueprint.CodeForbidden)
}

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
					t.Errorf("%+v, want label %v", c, c.Title)
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
		lend(t, s, shown, ben, blueprint.CollaboratorEditor)
		bens := trigger(ben, shown, blueprint.TriggerAPI)
		want(ben, bens.ID) // others' triggers only once they are enabled
		want(ann, first.ID, second.ID)
		check(t, s.EnableTool(ctx, ben, second.ID))
		check(t, s.EnableTool(ctx, ann, bens.ID))
		want(ben, second.ID, bens.ID)
		want(ann, first.ID, second.ID, bens.ID)
		want(cid)
		check(t, s.DropCollaborator(ctx, ben, shown.ID, ben.UserID))
		want(ben, second.ID)           // who may only see it runs it as themselves
		want(ann, first.ID, second.ID) // a trigger whose creator lost access cannot be called
		if list := must(s.Callables(ctx, ann, 1))(t); len(list) != 1 {
			t.Errorf("%d are listed, want 1", len(list))
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
