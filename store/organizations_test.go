package store

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

func TestOrganizations(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		team := must(s.CreateOrganization(ctx, ann, "Blue Team!"))(t)
		if team.Slug != "blue-team" || team.Role != "owner" || team.Personal {
			t.Errorf("made %+v, want Slug blue-team, Role owner and not Personal", team)
		}
		if again := must(s.CreateOrganization(ctx, ann, "blue team"))(t); again.Slug == team.Slug {
			t.Errorf("two organizations have the slug %s, want other than %v", again.Slug, team.Slug)
		}
		check(t, s.SetMember(ctx, team.ID, bob.UserID, "member"))
		if !belongs(t, s, bob, team.ID) {
			t.Error("bob is no member")
		}
		wantCode(t, s.DropMember(ctx, ann, team.ID, ann.UserID), blueprint.CodeConflict)
		wantCode(t, s.SetMember(ctx, team.ID, ann.UserID, "admin"), blueprint.CodeConflict)
		check(t, s.SetMember(ctx, team.ID, bob.UserID, "owner"))
		check(t, s.DropMember(ctx, ann, team.ID, ann.UserID))
		if belongs(t, s, ann, team.ID) {
			t.Error("ann is still a member")
		}
		workspace := must(s.ServerOwner(ctx))(t).WorkspaceID
		wantCode(t, s.SetMember(ctx, workspace, bob.UserID, "member"), blueprint.CodeBadRequest)
		wantCode(t, s.SetMember(ctx, "unknown", bob.UserID, "member"), blueprint.CodeNotFound)
		wantCode(t, s.SetMember(ctx, team.ID, "unknown", "member"), blueprint.CodeNotFound)
		wantCode(t, s.SetMember(ctx, team.ID, bob.UserID, "emperor"), blueprint.CodeInternal)
	})
}
