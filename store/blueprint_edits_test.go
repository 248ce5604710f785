package store

import (
	"context"
	"slices"
	"testing"

	"blueprintd/blueprint"
)

// TestEdits changes triggers and looks at what is kept of that until their
// blueprint is said to be as its source is.
func TestEdits(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Source: "sync:a:x.yaml"}))(t)
		trigger := must(s.AddTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "0 5 * * *"}, false))(t)
		if trigger.IsActive {
			t.Error("it was on")
		}
		edited := func(p blueprint.Principal) []string {
			t.Helper()
			one := must(s.ListTriggers(ctx, p, b.ID))(t)[0]
			if one.IsActive {
				t.Error("it came on")
			}
			return one.Edited
		}
		set := func(config map[string]any) {
			t.Helper()
			must(s.UpdateTrigger(ctx, ann, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return config, nil }, nil))(t)
		}
		want := func(keys ...string) {
			t.Helper()
			if got := edited(ann); !slices.Equal(got, keys) {
				t.Errorf("edited %q, want %q", got, keys)
			}
		}
		want()
		set(map[string]any{"cron": "0 5 * * *"})
		want()
		set(map[string]any{"cron": "0 6 * * *"})
		set(map[string]any{"cron": "0 6 * * *", "timezone": "UTC"})
		set(map[string]any{"cron": "0 7 * * *", "timezone": "UTC"})
		want("cron", "timezone")
		public, source := blueprint.VisibilityPublic, "sync:a:x.yaml"
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		want("cron", "timezone")
		_, err := s.ListTriggers(ctx, bob, b.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		updated := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Source: &source}))(t)
		want()
		set(map[string]any{})
		want("cron", "timezone")
		again := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Source: &source}))(t)
		want()
		if again.Version != updated.Version || again.SyncedVersion != updated.Version {
			t.Errorf("version %s, %s synced", again.Version, again.SyncedVersion)
		}
	})
}
