package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

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
		lend(t, s, lent, stranger, "editor")
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
			t.Run(fmt.Sprintf("%+v", test.filter), func(t *testing.T) {
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
			})
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
		t.Errorf("saw %d of 10, want 10", len(seen))
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
			t.Errorf("ann sees %v, want hidden", got.EnvironmentVariables)
		}
		if got := must(s.GetBlueprint(ctx, bob, made.ID))(t); secret(got.EnvironmentVariables) != nil {
			t.Errorf("bob sees %v, want nil", got.EnvironmentVariables)
		}
		list, _, err := s.ListBlueprints(ctx, bob, blueprint.BlueprintFilter{Scope: blueprint.ScopePublic, Page: 1, Limit: 1})
		if err != nil || secret(list[0].EnvironmentVariables) != nil {
			t.Errorf("bob lists %v, %v; want nil", list, err)
		}
		definition, access, err := s.Definition(ctx, bob, made.ID)
		if err != nil || access != blueprint.AccessView || definition.Variables[1].Default != "hidden" {
			t.Errorf("definition %+v, %d, %v; want %v and Default hidden", definition, access, err, blueprint.AccessView)
		}
	})
}
