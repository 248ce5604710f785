package store

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestCreateBlueprint(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		workspace := must(s.FirstUser(ctx))(t).WorkspaceID
		m := must(blueprint.Decode([]byte(`{"nodes":[{"id":"a","type":"set","title":"A","config":{"n":12345678901234567890.10}}],"zoom":1e3,"nul":"\u0000"}`)))(t)
		variables := []any{map[string]any{"name": "n", "type": "string", "default": "v", "extra": true}}
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{
			Title: "Title \x00 é", Description: "D", Status: blueprint.StatusPublished, Tags: []string{"b", "a", "b"}, Map: m, Variables: variables,
		}))(t)
		at := blueprint.TimeOf(start)
		want := blueprint.Blueprint{
			ID: made.ID, Title: "Title \x00 é", Description: "D", Status: "published", Visibility: "private", Version: "1.0.0", Tags: []string{"b", "a", "b"},
			CreatedBy: ann.UserID, OrganizationID: workspace, CreatedAt: at, UpdatedAt: at, EnvironmentVariables: variables, BlueprintMap: m,
		}
		if !cmp.Equal(made, want) || !blueprint.IsUUID(made.ID) {
			t.Error(cmp.Diff(want, made))
		}
		empty := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T"}))(t)
		if empty.BlueprintMap != nil || empty.EnvironmentVariables == nil || empty.Tags == nil || empty.Status != blueprint.StatusDraft {
			t.Errorf("made %+v", empty)
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
		t.Error(err)
	}
	create(t, s, bob, "another user's")
	must(s.DeleteBlueprint(ctx, ann, first.ID))(t)
	create(t, s, ann, "3")
}

func TestVersions(t *testing.T) {
	text := func(v string) *string { return &v }
	value := func(v any) *any { return &v }
	secret := func(v any) *[]any {
		return &[]any{map[string]any{"name": "s", "secret": true, "default": v}}
	}
	tags := []string{"x"}
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		for _, step := range []struct {
			name  string
			patch blueprint.BlueprintPatch
			want  string // "" = CodeBadRequest
		}{
			{"nothing", blueprint.BlueprintPatch{}, "1.0.0"},
			{"the same", blueprint.BlueprintPatch{Title: text("T"), Map: value(oneNode("set"))}, "1.0.0"},
			{"title", blueprint.BlueprintPatch{Title: text("U")}, "1.0.1"},
			{"description", blueprint.BlueprintPatch{Description: text("D")}, "1.0.2"},
			{"map", blueprint.BlueprintPatch{Map: value(oneNode("log"))}, "1.1.0"},
			{"map and title", blueprint.BlueprintPatch{Map: value(oneNode("stop")), Title: text("V")}, "1.2.0"},
			{"tags", blueprint.BlueprintPatch{Tags: &tags}, "1.2.1"},
			{"status", blueprint.BlueprintPatch{Status: text("published")}, "1.2.2"},
			{"visibility", blueprint.BlueprintPatch{Visibility: text("public")}, "1.2.3"},
			{"secret", blueprint.BlueprintPatch{Variables: secret("hidden")}, "1.3.0"},
			{"secret sent back as null", blueprint.BlueprintPatch{Variables: secret(nil)}, "1.3.0"},
			{"secret removed", blueprint.BlueprintPatch{Variables: secret("")}, "1.4.0"},
			{"lower", blueprint.BlueprintPatch{Version: text("1.3.9"), Title: text("W")}, ""},
			{"equal", blueprint.BlueprintPatch{Version: text("1.4.0")}, ""},
			{"higher", blueprint.BlueprintPatch{Version: text("1.10.0")}, "1.10.0"},
			{"numbers, not texts", blueprint.BlueprintPatch{Version: text("1.9.0")}, ""},
			{"higher with a map", blueprint.BlueprintPatch{Version: text("2.0.0"), Map: value(oneNode("set"))}, "2.0.0"},
			{"after it", blueprint.BlueprintPatch{Title: text("X")}, "2.0.1"},
		} {
			advance(t, s, time.Second)
			updated, err := s.UpdateBlueprint(ctx, ann, b.ID, step.patch)
			if step.want == "" {
				wantCode(t, err, blueprint.CodeBadRequest)
				continue
			}
			if err != nil || updated.Version != step.want {
				t.Errorf("%s: version %q, want %q: %v", step.name, updated.Version, step.want, err)
			}
			if got := must(s.GetBlueprint(ctx, ann, b.ID))(t); !cmp.Equal(got.Blueprint, updated) {
				t.Errorf("%s: %s", step.name, cmp.Diff(got.Blueprint, updated))
			}
		}
		var got []string
		for _, v := range must(s.Versions(ctx, ann, b.ID))(t) {
			kind := v.BlueprintMap.(map[string]any)["nodes"].([]any)[0].(map[string]any)["type"]
			got = append(got, fmt.Sprintf("%s %s %d", v.Version, kind, len(v.EnvironmentVariables)))
			definition := must(s.DefinitionVersion(ctx, b.ID, v.Version))(t)
			if definition.Version != v.Version || definition.Map.Nodes[0].Type != kind || len(definition.Variables) != len(v.EnvironmentVariables) {
				t.Errorf("definition of %s: %+v", v.Version, definition)
			}
			if definition.Variables != nil && definition.Variables[0].HasDefault != (v.Version == "1.3.0") {
				t.Errorf("variables of %s: %+v", v.Version, definition.Variables)
			}
		}
		want := []string{
			"2.0.1 set 1", "2.0.0 set 1", "1.10.0 stop 1", "1.4.0 stop 1", "1.3.0 stop 1", "1.2.3 stop 0", "1.2.2 stop 0", "1.2.1 stop 0",
			"1.2.0 stop 0", "1.1.0 log 0", "1.0.2 set 0", "1.0.1 set 0", "1.0.0 set 0",
		}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if first := must(s.DefinitionVersion(ctx, b.ID, "1.0.0"))(t); first.Title != "T" {
			t.Errorf("title of the first version is %q", first.Title)
		}
		_, err := s.DefinitionVersion(ctx, b.ID, "9.9.9")
		wantCode(t, err, blueprint.CodeNotFound)
		must(s.DeleteBlueprint(ctx, ann, b.ID))(t)
		must(s.DefinitionVersion(ctx, b.ID, "1.0.1"))(t)
		_, _, err = s.Definition(ctx, ann, b.ID)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

func TestListBlueprints(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		creator, member, stranger := people["creator"], people["member"], people["stranger"]
		public := blueprint.VisibilityPublic
		add := func(by blueprint.Principal, organization, title, description, status string) blueprint.Blueprint {
			advance(t, s, time.Second)
			return must(s.CreateBlueprint(ctx, by, blueprint.NewBlueprint{Title: title, Description: description, Status: status, OrganizationID: organization}))(t)
		}
		add(creator, team, "École", "100% sure", "draft")
		add(creator, "", "straße_1", "", "published")
		shown := add(creator, "", "Public", "ÉTÉ", "published")
		must(s.UpdateBlueprint(ctx, creator, shown.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		lent := add(creator, "", "Lent", "ΟΔΟΣ", "draft")
		check(t, s.SetCollaborator(ctx, lent.ID, stranger.UserID, "editor"))
		gone := add(creator, team, "Gone", "", "draft")
		must(s.DeleteBlueprint(ctx, creator, gone.ID))(t)

		for _, test := range []struct {
			who    blueprint.Principal
			filter blueprint.BlueprintFilter
			want   string
			total  int
		}{
			{creator, blueprint.BlueprintFilter{}, "Lent, Public, straße_1, École", 4},
			{creator, blueprint.BlueprintFilter{Limit: 3}, "Lent, Public, straße_1", 4},
			{creator, blueprint.BlueprintFilter{Limit: 3, Page: 2}, "École", 4},
			{creator, blueprint.BlueprintFilter{Limit: 3, Page: 3}, "", 4},
			{creator, blueprint.BlueprintFilter{Status: "published"}, "Public, straße_1", 2},
			{creator, blueprint.BlueprintFilter{Search: "éCO"}, "École", 1},
			{creator, blueprint.BlueprintFilter{Search: "É"}, "Public, École", 2},
			{creator, blueprint.BlueprintFilter{Search: "οδος"}, "Lent", 1},
			{creator, blueprint.BlueprintFilter{Search: "%"}, "École", 1},
			{creator, blueprint.BlueprintFilter{Search: "_"}, "straße_1", 1},
			{creator, blueprint.BlueprintFilter{Search: "STRAßE"}, "straße_1", 1},
			{creator, blueprint.BlueprintFilter{Search: "e100"}, "", 0},
			{creator, blueprint.BlueprintFilter{Search: "lent", Status: "published"}, "", 0},
			{creator, blueprint.BlueprintFilter{Scope: blueprint.ScopeShared}, "", 0},
			{creator, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic}, "", 0},
			{member, blueprint.BlueprintFilter{}, "", 0},
			{member, blueprint.BlueprintFilter{Scope: blueprint.ScopeShared}, "École", 1},
			{stranger, blueprint.BlueprintFilter{Scope: blueprint.ScopeShared}, "Lent", 1},
			{stranger, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic}, "Public", 1},
		} {
			if test.filter.Limit == 0 {
				test.filter.Limit = 20
			}
			test.filter.Page = max(test.filter.Page, 1)
			list, total, err := s.ListBlueprints(ctx, test.who, test.filter)
			var titles []string
			for _, b := range list {
				titles = append(titles, b.Title)
			}
			if got := strings.Join(titles, ", "); err != nil || got != test.want || total != test.total || list == nil {
				t.Errorf("%+v: %q of %d, want %q of %d: %v", test.filter, got, total, test.want, test.total, err)
			}
		}
		_, _, err := s.ListBlueprints(ctx, creator, blueprint.BlueprintFilter{Scope: "all", Page: 1, Limit: 1})
		wantCode(t, err, blueprint.CodeBadRequest)
	})
}

// Blueprints of one instant are listed by id, so that pages never overlap.
func TestPagesOfOneInstant(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	seen := map[string]bool{}
	for range 10 {
		create(t, s, ann, "T")
	}
	for page := 1; page <= 4; page++ {
		list, _, err := s.ListBlueprints(context.Background(), ann, blueprint.BlueprintFilter{Page: page, Limit: 3})
		check(t, err)
		for i, b := range list {
			if seen[b.ID] || i > 0 && list[i-1].ID < b.ID {
				t.Errorf("page %d, %d: %s out of order", page, i, b.ID)
			}
			seen[b.ID] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("saw %d of 10", len(seen))
	}
}

func TestSecretsAreSeenByManagersOnly(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Variables: []any{
			map[string]any{"name": "open", "default": "plain"}, map[string]any{"name": "token", "secret": true, "default": "hidden"},
		}}))(t)
		public := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, made.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		secret := func(list []any) any { return list[1].(map[string]any)["default"] }
		if got := must(s.GetBlueprint(ctx, ann, made.ID))(t); secret(got.EnvironmentVariables) != "hidden" {
			t.Errorf("ann sees %v", got.EnvironmentVariables)
		}
		if got := must(s.GetBlueprint(ctx, bob, made.ID))(t); secret(got.EnvironmentVariables) != nil {
			t.Errorf("bob sees %v", got.EnvironmentVariables)
		}
		list, _, err := s.ListBlueprints(ctx, bob, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic, Page: 1, Limit: 1})
		if err != nil || secret(list[0].EnvironmentVariables) != nil {
			t.Errorf("bob lists %v, %v", list, err)
		}
		definition, access, err := s.Definition(ctx, bob, made.ID)
		if err != nil || access != blueprint.AccessView || definition.Variables[1].Default != "hidden" {
			t.Errorf("definition %+v, %d, %v", definition, access, err)
		}
	})
}

func TestOpinions(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		public := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		rating := func(v float64) *float64 { return &v }
		for _, step := range []struct {
			who    blueprint.Principal
			rating float64
			want   blueprint.Opinions
		}{
			{ann, 5, blueprint.Opinions{AverageRating: 5, RatingCount: 1, UserRating: rating(5)}},
			{bob, 2.5, blueprint.Opinions{AverageRating: 3.75, RatingCount: 2, UserRating: rating(2.5)}},
			{bob, 4, blueprint.Opinions{AverageRating: 4.5, RatingCount: 2, UserRating: rating(4)}},
			{ann, 0, blueprint.Opinions{AverageRating: 4, RatingCount: 1}},
			{ann, 0, blueprint.Opinions{AverageRating: 4, RatingCount: 1}},
			{bob, 0, blueprint.Opinions{}},
		} {
			if got := must(s.Rate(ctx, step.who, b.ID, step.rating))(t); !cmp.Equal(got, step.want) {
				t.Errorf("rating %v: %s", step.rating, cmp.Diff(step.want, got))
			}
			got := must(s.GetBlueprint(ctx, step.who, b.ID))(t)
			if got.AverageRating != step.want.AverageRating || got.RatingCount != step.want.RatingCount || !cmp.Equal(got.UserRating, step.want.UserRating) {
				t.Errorf("after rating %v: %+v", step.rating, got)
			}
		}
		for _, wrong := range []float64{-1, 5.1, math.NaN(), math.Inf(1)} {
			_, err := s.Rate(ctx, ann, b.ID, wrong)
			wantCode(t, err, blueprint.CodeBadRequest)
		}
		for _, favorite := range []bool{true, true, false, false} {
			if got := must(s.Favorite(ctx, bob, b.ID, favorite))(t); got.IsFavorited != favorite {
				t.Errorf("favorite %v: %+v", favorite, got)
			}
			if got := must(s.GetBlueprint(ctx, bob, b.ID))(t); got.IsFavorited != favorite {
				t.Errorf("favorite %v: %+v", favorite, got)
			}
			if must(s.GetBlueprint(ctx, ann, b.ID))(t).IsFavorited {
				t.Error("it became ann's favorite")
			}
		}
	})
}

// What does not parse is the caller's mistake when it is to run, not before.
func TestMalformedDefinition(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{
		Title: "T", Map: map[string]any{"nodes": []any{map[string]any{"id": "a"}}}, Variables: []any{map[string]any{"name": "input"}},
	}))(t)
	_, _, err := s.Definition(ctx, ann, made.ID)
	wantCode(t, err, blueprint.CodeBadRequest)
	for _, part := range []string{"blueprint_map.nodes[0].type: required", "environment_variables[0].name"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

func TestCategories(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	id := s.options.IDs.UUID()
	check(t, s.write(ctx, func(t *transaction) error {
		if _, err := t.exec("INSERT INTO categories (id, organization_id, name, slug) VALUES (?, ?, 'Ops', 'ops')", id, b.OrganizationID); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO blueprint_categories (blueprint_id, category_id) VALUES (?, ?)", b.ID, id)
		return err
	}))
	if got := must(s.GetBlueprint(ctx, ann, b.ID))(t).Categories; !cmp.Equal(got, []blueprint.Label{{ID: id, Name: "Ops", Slug: "ops"}}) {
		t.Errorf("categories %+v", got)
	}
}
