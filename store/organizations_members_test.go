package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// Who may give which role to whom, and take it.
func TestMembers(t *testing.T) {
	roles := []blueprint.OrganizationRole{"", "member", "admin", "owner"}
	for _, own := range roles {
		for _, before := range roles {
			t.Run(string(own+" and "+before), func(t *testing.T) {
				s := open(t, testOptions(t))
				ctx := context.Background()
				founder, who, whom := user(t, s, "founder"), user(t, s, "who"), user(t, s, "whom")
				team := must(s.CreateOrganization(ctx, founder, "team"))(t).ID
				set := func(p blueprint.Principal, role blueprint.OrganizationRole) {
					if role == "" {
						if belongs(t, s, p, team) {
							check(t, s.DropMember(ctx, p, team, p.UserID))
						}
						return
					}
					check(t, s.SetMember(ctx, team, p.UserID, role))
				}
				high := func(role blueprint.OrganizationRole) bool { return role == "admin" || role == "owner" }
				for _, role := range roles {
					set(who, own)
					set(whom, before)
					may := own == "owner" || own == "admin" && !high(role) && !high(before)
					var err error
					if role == "" {
						err = s.DropMember(ctx, who, team, whom.UserID)
					} else {
						var m blueprint.Member
						m, err = s.AddMember(ctx, who, team, "whom@EXAMPLE.com", role)
						if err == nil && m != (blueprint.Member{UserID: whom.UserID, Email: "whom@example.com", Name: "whom", Role: role}) {
							t.Errorf("added %+v", m)
						}
					}
					var now blueprint.OrganizationRole
					for _, m := range must(s.Members(ctx, founder, team))(t) {
						if m.UserID == whom.UserID {
							now = m.Role
						}
					}
					want := before
					switch {
					case may && role == "" && before == "":
						wantCode(t, err, blueprint.CodeNotFound)
					case may:
						check(t, err)
						want = role
					default:
						wantCode(t, err, blueprint.CodeForbidden)
					}
					if now != want {
						t.Errorf("from %q to %q: is %q, want %q", before, role, now, want)
					}
				}
				set(who, own)
				err := s.DropMember(ctx, who, team, who.UserID)
				if own == "" {
					wantCode(t, err, blueprint.CodeForbidden)
				} else {
					check(t, err) // every member may leave
				}
			})
		}
	}
}

func TestMembersRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		owner := people["owner"]
		workspace := must(s.UserByEmail(ctx, "owner@example.com"))(t).WorkspaceID
		add := func(by blueprint.Principal, of, email string, role blueprint.OrganizationRole) error {
			_, err := s.AddMember(ctx, by, of, email, role)
			return err
		}
		shared := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
		for name, c := range map[string]struct {
			err  error
			code blueprint.Code
			say  string
		}{
			"unknown email":                           {add(owner, team, "nobody@example.com", "member"), blueprint.CodeNotFound, "blueprintd user add"},
			"personal workspace":                      {add(owner, workspace, "stranger@example.com", "member"), blueprint.CodeBadRequest, "personal"},
			"unknown organization":                    {add(owner, "3b241101-e2bb-4255-8caf-4136c566a962", "stranger@example.com", "member"), blueprint.CodeForbidden, "not a member"},
			"last owner, other role":                  {add(owner, team, "owner@example.com", "admin"), blueprint.CodeConflict, "owner"},
			"last owner leaves":                       {s.DropMember(ctx, owner, team, owner.UserID), blueprint.CodeConflict, "owner"},
			"remove a user who is not a member":       {s.DropMember(ctx, owner, team, people["stranger"].UserID), blueprint.CodeNotFound, "no member"},
			"remove an unknown user":                  {s.DropMember(ctx, owner, team, "3b241101-e2bb-4255-8caf-4136c566a962"), blueprint.CodeNotFound, "no member"},
			"remove a user who is not a collaborator": {s.DropCollaborator(ctx, people["creator"], shared.ID, people["stranger"].UserID), blueprint.CodeNotFound, "no collaborator"},
			"from the workspace":                      {s.DropMember(ctx, owner, workspace, owner.UserID), blueprint.CodeConflict, "owner"},
			"an admin who gives up the role":          {add(people["admin"], team, "admin@example.com", "member"), blueprint.CodeForbidden, "owners"},
			"members of another's":                    {second(s.Members(ctx, people["stranger"], team)), blueprint.CodeForbidden, "not a member"},
			"name, by a member":                       {second(s.RenameOrganization(ctx, people["member"], team, "x")), blueprint.CodeForbidden, "admins"},
			"the creator collaborates":                {collaborate(ctx, s, people["creator"], team), blueprint.CodeBadRequest, "already"},
		} {
			t.Run(name, func(t *testing.T) {
				wantCode(t, c.err, c.code)
				if c.err == nil || !strings.Contains(c.err.Error(), c.say) {
					t.Errorf("%v, want %q in it", c.err, c.say)
				}
			})
		}
	})
}

func second[T any](_ T, err error) error { return err }

func collaborate(ctx context.Context, s *Store, creator blueprint.Principal, team string) error {
	b, err := s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", OrganizationID: team})
	if err == nil {
		_, err = s.AddCollaborator(ctx, creator, b.ID, "creator@example.com", "editor")
	}
	return err
}

// All numbers per account are limited.
func TestAccountLimits(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	ctx := context.Background()
	ann := user(t, s, "ann")
	for name, c := range map[string]struct {
		most int
		one  func(i int) error
	}{
		"organizations": {mostOrganizations, func(i int) error { _, err := s.CreateOrganization(ctx, ann, fmt.Sprint(i)); return err }},
		"categories":    {mostCategories, func(i int) error { _, err := s.CreateCategory(ctx, ann, "", fmt.Sprint(i)); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, s.Transact(ctx, func() error {
				for i := range c.most {
					check(t, c.one(i))
				}
				return nil
			}))
			if err := c.one(c.most); blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.Contains(err.Error(), "limit of "+name) {
				t.Errorf("%v, want a refusal with limit of %s", err, name)
			}
		})
	}
}
