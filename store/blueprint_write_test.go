package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestCreateBlueprint(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		workspace := must(s.ServerOwner(ctx))(t).WorkspaceID
		m := must(blueprint.Decode([]byte(`{"nodes":[{"id":"a","type":"set","title":"A","config":{"n":12345678901234567890.10}}],"zoom":1e3,"nul":"\u0000"}`)))(t)
		variables := []any{map[string]any{"name": "n", "type": "string", "default": "v", "extra": true}}
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{
			Title: "Title \x00 é", Description: "D", Status: blueprint.StatusPublished, Tags: []string{"b", "a", "b"}, Map: m, Variables: variables,
		}))(t)
		at := blueprint.TimeOf(start)
		want := blueprint.Blueprint{
			ID: made.ID, Title: "Title \x00 é", Description: "D", Status: "published", Visibility: "private", Version: "1.0.0", Tags: []string{"b", "a", "b"},
			CreatedBy: ann.UserID, OrganizationID: workspace, CreatedAt: at, UpdatedAt: at, EnvironmentVariables: variables, BlueprintMap: m, Access: blueprint.AccessOwner,
		}
		if !cmp.Equal(made, want) || !blueprint.IsUUID(made.ID) {
			t.Error(cmp.Diff(want, made))
		}
		empty := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T"}))(t)
		if empty.BlueprintMap != nil || empty.EnvironmentVariables == nil || empty.Tags == nil || empty.Status != blueprint.StatusDraft {
			t.Errorf("made %+v, want BlueprintMap nil, EnvironmentVariables not nil, Tags not nil and Status %v", empty, blueprint.StatusDraft)
		}
		details := must(s.GetBlueprint(ctx, ann, made.ID))(t)
		label := []blueprint.Label{{ID: workspace, Name: "ann", Slug: "ann"}}
		if !cmp.Equal(details, blueprint.BlueprintDetails{Blueprint: want, CanManage: true, IsOwner: true, Categories: []blueprint.Label{}, Organizations: label}) {
			t.Error(cmp.Diff(want, details.Blueprint), details)
		}
		for _, id := range []string{"unknown", "", "'", "\x00"} {
			_, err := s.GetBlueprint(ctx, ann, id)
			wantCode(t, err, blueprint.CodeNotFound)
		}
		_, err := s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", OrganizationID: "unknown"})
		wantCode(t, err, blueprint.CodeForbidden)
	})
}

func TestPlanLimit(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.MaxBlueprints = 2
	s := open(t, options)
	ann, bob := user(t, s, "ann"), user(t, s, "bob")
	first := create(t, s, ann, "1")
	create(t, s, ann, "2")
	_, err := s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "3"})
	wantCode(t, err, blueprint.CodeBadRequest)
	if !strings.Contains(err.Error(), "blueprint limit of the plan exceeded (2 of 2)") {
		t.Errorf("%v, want \"blueprint limit of the plan exceeded (2 of 2)\" in it", err)
	}
	create(t, s, bob, "another user's")
	must(s.DeleteBlueprint(ctx, ann, first.ID))(t)
	create(t, s, ann, "3")
}

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
			t.Errorf("made %+v, want Source sync:a:x.yaml and SyncedVersion 1.0.0", made)
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
			t.Errorf("after a refusal: %v, want %v", got, [3]string{"1.0.0", "", ""})
		}
		list, total := listedBySource(t, s, ann, "sync:a:")
		if total != 1 || len(list) != 1 || list[0].ID != made.ID {
			t.Errorf("listed %d of %d, want 1, 1 and ID %v", len(list), total, made.ID)
		}
		if _, total := listedBySource(t, s, ann, "sync:%"); total != 0 {
			t.Errorf("a pattern is none: %d, want 0", total)
		}

		public := "public"
		must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		if got := kept(bob, made.ID); got[1] != "" || got[2] != "" {
			t.Errorf("a stranger sees %v, want nothing and nothing", got)
		}
		if _, total, err := s.ListBlueprints(ctx, bob, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic, Source: "sync:", Page: 1, Limit: 1}); err != nil || total != 0 {
			t.Errorf("a stranger finds %d by their source, %v; want 0", total, err)
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
			t.Errorf("version %s, %s synced; want %v and %v", again.Version, again.SyncedVersion, updated.Version, updated.Version)
		}
	})
}

// TestLongTexts stores the longest texts that an index contains.
func TestLongTexts(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		text := make([]rune, 1000) // which the database cannot compress
		for i := range text {
			text[i] = rune(0x4e00 + i*i*i%20011)
		}
		b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Source: string(text)}))(t)
		if got := must(s.GetBlueprint(ctx, ann, b.ID))(t).Source; got != string(text) {
			t.Errorf("source %q, want %q", got, string(text))
		}
		_, err := s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Source: string(text)})
		wantCode(t, err, blueprint.CodeConflict)
		c := must(s.CreateConnection(ctx, ann, blueprint.NewConnection{Name: "C", Type: "slack", Config: slackConfig()}))(t)
		i := blueprint.SignIn{
			StateHash: []byte(strings.Repeat("x", 32)), Ticket: true, ConnectionID: c.ID, UserID: ann.UserID, Secret: []byte("y"), ExecutionID: "run",
			Address: string(text), CreatedAt: 1, ExpiresAt: 2,
		}
		if got := must(s.OpenTicket(ctx, i))(t); got.Address != string(text) {
			t.Errorf("address %q, want %q", got.Address, string(text))
		}
	})
}

func TestBudgetOfBlueprint(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		tokens, calls := int64(1000), int64(3)
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Budget: &blueprint.Budget{Tokens: &tokens}}))(t)
		if diff := cmp.Diff(&blueprint.Budget{Tokens: &tokens}, made.Budget); diff != "" {
			t.Errorf("budget as created (-want +got):\n%s", diff)
		}
		changed := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{Calls: &calls, OnBreach: blueprint.BreachPauses}}))(t)
		same := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{Calls: &calls, OnBreach: blueprint.BreachPauses}}))(t)
		if changed.Version != "1.0.1" || same.Version != "1.0.1" {
			t.Errorf("versions %s and %s, want 1.0.1 and 1.0.1", changed.Version, same.Version)
		}
		now, _, err := s.Definition(ctx, ann, made.ID)
		check(t, err)
		if diff := cmp.Diff(&blueprint.Budget{Calls: &calls, OnBreach: blueprint.BreachPauses}, now.Budget); diff != "" {
			t.Errorf("budget of the definition (-want +got):\n%s", diff)
		}
		first := must(s.DefinitionVersion(ctx, made.ID, "1.0.0"))(t)
		if first.Budget == nil || *first.Budget.Tokens != 1000 {
			t.Errorf("the first version has %+v, want not nil and Tokens 1000", first.Budget)
		}
		if got := must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Budget: &blueprint.Budget{}}))(t); got.Budget != nil {
			t.Errorf("left with %+v, want nil", got.Budget)
		}
	})
}
