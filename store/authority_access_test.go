package store

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// cast creates users with every relation to a blueprint of the organization "team", and
// returns them by relation.
func cast(t testing.TB, s *Store) (people map[string]blueprint.Principal, team string) {
	t.Helper()
	ctx := context.Background()
	people = map[string]blueprint.Principal{}
	for _, name := range []string{"creator", "owner", "admin", "member", "collaborator admin", "editor", "former member", "stranger"} {
		people[name] = user(t, s, name)
	}
	made := must(s.CreateOrganization(ctx, people["owner"], "team"))(t)
	for name, role := range map[string]blueprint.OrganizationRole{"creator": "member", "admin": "admin", "member": "member", "former member": "admin"} {
		check(t, s.SetMember(ctx, made.ID, people[name].UserID, role))
	}
	check(t, s.DropMember(ctx, people["former member"], made.ID, people["former member"].UserID))
	return people, made.ID
}

func TestAccess(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		public, code := blueprint.VisibilityPublic, map[bool]blueprint.Code{true: "", false: blueprint.CodeForbidden}
		for _, test := range []struct {
			who             string
			private, public blueprint.Access
		}{
			{"creator", blueprint.AccessOwner, blueprint.AccessOwner},
			{"owner", blueprint.AccessAdmin, blueprint.AccessAdmin},
			{"admin", blueprint.AccessAdmin, blueprint.AccessAdmin},
			{"collaborator admin", blueprint.AccessAdmin, blueprint.AccessAdmin},
			{"member", blueprint.AccessManage, blueprint.AccessManage},
			{"editor", blueprint.AccessManage, blueprint.AccessManage},
			{"former member", blueprint.AccessNone, blueprint.AccessView},
			{"stranger", blueprint.AccessNone, blueprint.AccessView},
		} {
			t.Run(test.who, func(t *testing.T) {
				for _, visible := range []bool{false, true} {
					b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
					lend(t, s, b, people["collaborator admin"], "editor")
					lend(t, s, b, people["collaborator admin"], "admin")
					lend(t, s, b, people["editor"], "editor")
					want := test.private
					if visible {
						want = test.public
						must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
					}
					trigger := must(s.CreateTrigger(ctx, people["creator"], b.ID, blueprint.TriggerManual, nil))(t)
					who := people[test.who]
					description := "changed"
					calls := []struct {
						name string
						need blueprint.Access
						call func() error
					}{
						{"GetBlueprint", blueprint.AccessView, func() error {
							details, err := s.GetBlueprint(ctx, who, b.ID)
							if err == nil && (details.CanManage != (want >= blueprint.AccessManage) || details.IsOwner != (want == blueprint.AccessOwner)) {
								t.Errorf("can_manage %v, is_owner %v at level %d", details.CanManage, details.IsOwner, want)
							}
							return err
						}},
						{"Definition", blueprint.AccessView, func() error {
							_, access, err := s.Definition(ctx, who, b.ID)
							if err == nil && access != want {
								t.Errorf("%s has level %d, want %d", test.who, access, want)
							}
							return err
						}},
						{"Rate", blueprint.AccessView, func() error { _, err := s.Rate(ctx, who, b.ID, 3); return err }},
						{"Favorite", blueprint.AccessView, func() error { _, err := s.Favorite(ctx, who, b.ID, true); return err }},
						{"ExecutionLogs", blueprint.AccessView, func() error { _, err := s.ExecutionLogs(ctx, who, b.ID, 20, 0); return err }},
						{"ListTriggers", blueprint.AccessManage, func() error { _, err := s.ListTriggers(ctx, who, b.ID); return err }},
						{"Versions", blueprint.AccessManage, func() error { _, err := s.Versions(ctx, who, b.ID); return err }},
						{"GetTrigger", blueprint.AccessManage, func() error { _, err := s.GetTrigger(ctx, who, trigger.ID); return err }},
						{"CreateTrigger", blueprint.AccessManage, func() error {
							_, err := s.CreateTrigger(ctx, who, b.ID, blueprint.TriggerManual, nil)
							return err
						}},
						{"UpdateTrigger", blueprint.AccessManage, func() error { _, err := s.UpdateTrigger(ctx, who, trigger.ID, nil, nil); return err }},
						{"Firings", blueprint.AccessManage, func() error { _, _, err := s.Firings(ctx, who, trigger.ID, 20, 0); return err }},
						{"FindFirings", blueprint.AccessManage, func() error {
							_, _, err := s.FindFirings(ctx, who, trigger.ID, blueprint.FiringFilter{Key: "x"}, 20, 0)
							return err
						}},
						{"FiringsToRedeliver", blueprint.AccessManage, func() error {
							_, _, err := s.FiringsToRedeliver(ctx, who, &blueprint.RedeliverRequest{TriggerID: trigger.ID, Limit: 20})
							return err
						}},
						{"Ledger", blueprint.AccessManage, func() error {
							_, err := s.Ledger(ctx, who, trigger.ID, blueprint.FiringFilter{}, 20)
							return err
						}},
						{"TickRows", blueprint.AccessManage, func() error { _, err := s.TickRows(ctx, who, trigger.ID, 1); return err }},
						{"ReasonCounts", blueprint.AccessManage, func() error { _, err := s.ReasonCounts(ctx, who, trigger.ID, 1, 20); return err }},
						{"UpdateBlueprint", blueprint.AccessManage, func() error {
							_, err := s.UpdateBlueprint(ctx, who, b.ID, blueprint.BlueprintPatch{Description: &description})
							return err
						}},
						{"visibility", blueprint.AccessAdmin, func() error {
							_, err := s.UpdateBlueprint(ctx, who, b.ID, blueprint.BlueprintPatch{Visibility: &b.Visibility})
							return err
						}},
						{"DeleteTrigger", blueprint.AccessManage, func() error { return s.DeleteTrigger(ctx, who, trigger.ID) }},
						{"DeleteBlueprint", blueprint.AccessAdmin, func() error { _, err := s.DeleteBlueprint(ctx, who, b.ID); return err }},
					}
					for _, step := range calls { // in this order: the last ones take the access away
						if step.name == "visibility" && visible {
							continue // it would hide the blueprint from the rest of the table
						}
						if got := blueprint.CodeOf(step.call()); got != code[want >= step.need] {
							t.Errorf("public: %v, %s: %q, want %q", visible, step.name, got, code[want >= step.need])
						}
					}
					if want < blueprint.AccessAdmin {
						continue
					}
					for _, call := range calls { // it is deleted now, and unknown even to its creator
						wantCode(t, call.call(), blueprint.CodeNotFound)
					}
				}
			})
		}
	})
}

// A creator who leaves an organization keeps seeing what they created there, at
// once and without any other right.
func TestLeaving(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		member := people["member"]
		own := must(s.CreateBlueprint(ctx, member, blueprint.NewBlueprint{Title: "own", OrganizationID: team}))(t)
		other := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "other", OrganizationID: team}))(t)
		for _, id := range []string{own.ID, other.ID} {
			if _, _, err := s.Definition(ctx, member, id); err != nil {
				t.Error(err)
			}
		}
		check(t, s.DropMember(ctx, member, team, member.UserID))
		details := must(s.GetBlueprint(ctx, member, own.ID))(t)
		if details.CanManage || !details.IsOwner {
			t.Errorf("own blueprint after leaving: can_manage %v, is_owner %v, want false, true", details.CanManage, details.IsOwner)
		}
		if list, _, err := s.ListBlueprints(ctx, member, blueprint.BlueprintFilter{Page: 1, Limit: 10}); err != nil || len(list) != 1 {
			t.Errorf("list after leaving: %d blueprints, %v; want 1", len(list), err)
		}
		must(s.ExecutionLogs(ctx, member, own.ID, 10, 0))(t)
		_, _, err := s.Definition(ctx, member, own.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		_, err = s.Versions(ctx, member, own.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		_, err = s.Rate(ctx, member, own.ID, 5)
		wantCode(t, err, blueprint.CodeForbidden)
		wantCode(t, s.Grant(ctx, member, own.ID, ""), blueprint.CodeForbidden)
		_, err = s.DeleteBlueprint(ctx, member, own.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		must(s.AddCollaborator(ctx, people["owner"], own.ID, must(s.User(ctx, member.UserID))(t).Email, "editor"))(t)
		if _, access, _ := s.Definition(ctx, member, own.ID); access != blueprint.AccessManage {
			t.Errorf("level %d as collaborator on what they created, want %d", access, blueprint.AccessManage)
		}
		check(t, s.DropCollaborator(ctx, member, own.ID, member.UserID))
		_, _, err = s.Definition(ctx, member, other.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		_, err = s.CreateBlueprint(ctx, member, blueprint.NewBlueprint{Title: "x", OrganizationID: team})
		wantCode(t, err, blueprint.CodeForbidden)
		if err == nil || !strings.Contains(err.Error(), "organization_id: ") {
			t.Errorf("refused with %v, want the name of the input's field", err)
		}
		lend(t, s, other, member, "editor")
		if _, access, _ := s.Definition(ctx, member, other.ID); access != blueprint.AccessManage {
			t.Errorf("level %d of an editor, want %v", access, blueprint.AccessManage)
		}
		check(t, s.DropCollaborator(ctx, member, other.ID, member.UserID))
		_, _, err = s.Definition(ctx, member, other.ID)
		wantCode(t, err, blueprint.CodeForbidden)
	})
}
