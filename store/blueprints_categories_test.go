package store

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

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
		t.Errorf("categories %+v, want %v", got, []blueprint.Label{{ID: id, Name: "Ops", Slug: "ops"}})
	}
}

func TestCategoriesOfTeam(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		member, stranger := people["member"], people["stranger"]
		red := must(s.CreateCategory(ctx, member, team, "Red & Hot"))(t)
		own := must(s.CreateCategory(ctx, member, "", "Own"))(t)
		if red.Slug != "red-hot" || red.OrganizationID != team || own.OrganizationID == team {
			t.Errorf("%+v %+v, want Slug red-hot, OrganizationID %v and OrganizationID other than %v", red, own, team, team)
		}
		b := must(s.CreateBlueprint(ctx, member, blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
		list := must(s.SetCategories(ctx, member, b.ID, []string{red.ID}))(t)
		if len(list) != 1 || list[0] != red {
			t.Errorf("%+v, want length 1 and %v", list, red)
		}
		_, err := s.SetCategories(ctx, member, b.ID, []string{red.ID, own.ID})
		wantCode(t, err, blueprint.CodeBadRequest)
		if !strings.Contains(err.Error(), "categoryIds[1]") {
			t.Errorf("%v, want \"categoryIds[1]\" in it", err)
		}
		_, err = s.CreateCategory(ctx, member, team, "red hot")
		wantCode(t, err, blueprint.CodeConflict)
		if !strings.Contains(err.Error(), "Red & Hot") {
			t.Errorf("%v, want the name of the existing category in it", err)
		}
		for _, name := range []string{"🚀", "🔥", "!"} { // they have no letters, but differ
			must(s.CreateCategory(ctx, member, team, name))(t)
		}
		_, err = s.CreateCategory(ctx, member, team, "🔥")
		wantCode(t, err, blueprint.CodeConflict)
		_, err = s.Categories(ctx, stranger, team)
		wantCode(t, err, blueprint.CodeForbidden)
		wantCode(t, s.DeleteCategory(ctx, stranger, red.ID), blueprint.CodeForbidden)
		wantCode(t, s.DeleteCategory(ctx, stranger, "unknown"), blueprint.CodeNotFound)
		check(t, s.DeleteCategory(ctx, member, red.ID))
		if d := must(s.GetBlueprint(ctx, member, b.ID))(t); len(d.Categories) != 0 {
			t.Errorf("%+v, want none", d.Categories)
		}
	})
}

// An unknown category is CodeNotFound, one of an organization that the caller is not a member
// of CodeForbidden, and one of another organization of the caller CodeBadRequest.
func TestCategoriesThatCannotBeSet(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		member, stranger := people["member"], people["stranger"]
		red := must(s.CreateCategory(ctx, member, team, "Red"))(t)
		own := must(s.CreateCategory(ctx, member, "", "Own"))(t)
		foreign := must(s.CreateCategory(ctx, stranger, "", "Foreign"))(t)
		const unknown = "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"
		b := must(s.CreateBlueprint(ctx, member, blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
		must(s.SetCategories(ctx, member, b.ID, []string{red.ID}))(t)
		for name, test := range map[string]struct {
			ids  []string
			want blueprint.Code
		}{
			"unknown":                        {[]string{red.ID, unknown}, blueprint.CodeNotFound},
			"unknown after foreign":          {[]string{foreign.ID, unknown}, blueprint.CodeNotFound},
			"foreign":                        {[]string{red.ID, foreign.ID}, blueprint.CodeForbidden},
			"foreign after own of elsewhere": {[]string{own.ID, foreign.ID}, blueprint.CodeForbidden},
			"own of elsewhere":               {[]string{own.ID}, blueprint.CodeBadRequest},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := s.SetCategories(ctx, member, b.ID, test.ids)
				wantCode(t, err, test.want)
				if got := must(s.GetBlueprint(ctx, member, b.ID))(t).Categories; len(got) != 1 || got[0].ID != red.ID {
					t.Errorf("categories %+v, want only %s", got, red.ID)
				}
			})
		}
	})
}
