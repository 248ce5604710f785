package store

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

func TestSources(t *testing.T) {
	text := func(v string) *string { return &v }
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		kept := func(p blueprint.Principal, id string) [3]string {
			b := must(s.GetBlueprint(ctx, p, id))(t)
			return [3]string{b.Version, b.Source, b.SyncedVersion}
		}
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Source: "sync:a:x.yaml"}))(t)
		if made.Source != "sync:a:x.yaml" || made.SyncedVersion != "1.0.0" {
			t.Errorf("made %+v", made)
		}
		_, err := s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T2", Source: "sync:a:x.yaml"})
		wantCode(t, err, blueprint.CodeConflict)
		must(s.CreateBlueprint(ctx, bob, blueprint.NewBlueprint{Title: "T", Source: "sync:a:x.yaml"}))(t) // of another organization

		for _, step := range []struct {
			name  string
			patch blueprint.BlueprintPatch
			want  [3]string
		}{
			{"an edit by somebody", blueprint.BlueprintPatch{Title: text("U")}, [3]string{"1.0.1", "sync:a:x.yaml", "1.0.0"}},
			{"the same again", blueprint.BlueprintPatch{Title: text("U"), Source: text("sync:a:x.yaml")}, [3]string{"1.0.1", "sync:a:x.yaml", "1.0.1"}},
			{"nothing new", blueprint.BlueprintPatch{Source: text("sync:a:x.yaml")}, [3]string{"1.0.1", "sync:a:x.yaml", "1.0.1"}},
			{"a change from there", blueprint.BlueprintPatch{Title: text("V"), Source: text("sync:a:x.yaml")}, [3]string{"1.0.2", "sync:a:x.yaml", "1.0.2"}},
			{"a new place", blueprint.BlueprintPatch{Source: text("sync:a:y.yaml")}, [3]string{"1.0.2", "sync:a:y.yaml", "1.0.2"}},
			{"nowhere", blueprint.BlueprintPatch{Source: text("")}, [3]string{"1.0.2", "", ""}},
			{"back", blueprint.BlueprintPatch{Source: text("sync:a:x.yaml")}, [3]string{"1.0.2", "sync:a:x.yaml", "1.0.2"}},
		} {
			updated := must(s.UpdateBlueprint(ctx, ann, made.ID, step.patch))(t)
			if got := kept(ann, made.ID); got != step.want || updated.Source != step.want[1] || updated.SyncedVersion != step.want[2] {
				t.Errorf("%s: %v, told %s %s, want %v", step.name, got, updated.Source, updated.SyncedVersion, step.want)
			}
		}

		other := create(t, s, ann, "other")
		for _, patch := range []blueprint.BlueprintPatch{{Source: text("sync:a:x.yaml")}, {Title: text("new"), Source: text("sync:a:x.yaml")}} {
			_, err = s.UpdateBlueprint(ctx, ann, other.ID, patch)
			wantCode(t, err, blueprint.CodeConflict)
		}
		if got := kept(ann, other.ID); got != [3]string{"1.0.0", "", ""} {
			t.Errorf("after a refusal: %v", got)
		}
		list, total := listedBySource(t, s, ann, "sync:a:")
		if total != 1 || len(list) != 1 || list[0].ID != made.ID {
			t.Errorf("listed %d of %d", len(list), total)
		}
		if _, total := listedBySource(t, s, ann, "sync:%"); total != 0 {
			t.Errorf("a pattern is none: %d", total)
		}

		public := "public"
		must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		if got := kept(bob, made.ID); got[1] != "" || got[2] != "" {
			t.Errorf("a stranger sees %v", got)
		}
		if _, total, err := s.ListBlueprints(ctx, bob, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic, Source: "sync:", Page: 1, Limit: 1}); err != nil || total != 0 {
			t.Errorf("a stranger finds %d by their source, %v", total, err)
		}
		_, err = s.UpdateBlueprint(ctx, bob, made.ID, blueprint.BlueprintPatch{Source: text("sync:b:z.yaml")})
		wantCode(t, err, blueprint.CodeForbidden)

		must(s.DeleteBlueprint(ctx, ann, made.ID))(t)
		must(s.UpdateBlueprint(ctx, ann, other.ID, blueprint.BlueprintPatch{Source: text("sync:a:x.yaml")}))(t) // it is free again
	})
}

func listedBySource(t *testing.T, s *Store, p blueprint.Principal, source string) ([]blueprint.Blueprint, int) {
	t.Helper()
	list, total, err := s.ListBlueprints(context.Background(), p, blueprint.BlueprintFilter{Source: source, Page: 1, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return list, total
}
