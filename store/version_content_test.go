package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Each version is given as it was, secrets included, to who can manage it.
func TestVersionContent(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		first := []any{map[string]any{"name": "token", "secret": true, "default": "one"}}
		second := []any{map[string]any{"name": "token", "secret": true, "default": "two"}}
		m := map[string]any{"nodes": []any{}}
		b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: m, Variables: first}))(t)
		changed := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Variables: &second}))(t)
		title := "U"
		named := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
		for version, want := range map[string][]any{b.Version: first, changed.Version: second, named.Version: second} {
			got := must(s.VersionContent(ctx, ann, b.ID, version))(t)
			if got.Version != version || got.CreatedBy != ann.UserID || !cmp.Equal(got.EnvironmentVariables, want) || !cmp.Equal(got.BlueprintMap, any(m)) {
				t.Errorf("version %s: %+v", version, got)
			}
		}
		for _, c := range []struct {
			who         blueprint.Principal
			id, version string
			code        blueprint.Code
		}{
			{ann, b.ID, "9.9.9", blueprint.CodeNotFound},
			{ann, "unknown", b.Version, blueprint.CodeNotFound},
			{bob, b.ID, b.Version, blueprint.CodeForbidden},
		} {
			_, err := s.VersionContent(ctx, c.who, c.id, c.version)
			wantCode(t, err, c.code)
		}
		visibility := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &visibility}))(t)
		_, err := s.VersionContent(ctx, bob, b.ID, b.Version) // which bob may see by now
		wantCode(t, err, blueprint.CodeForbidden)
	})
}
