package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestUsers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		_, err := s.ServerOwner(ctx)
		wantCode(t, err, blueprint.CodeNotFound)
		ann := must(s.CreateUser(ctx, "Élodie@Example.com", "Ann"))(t)
		bob := must(s.CreateUser(ctx, "bob@example.com", ""))(t)
		_, err = s.CreateUser(ctx, "éLODIE@example.COM", "Other")
		wantCode(t, err, blueprint.CodeConflict)
		if got := must(s.ServerOwner(ctx))(t); got != ann {
			t.Errorf("owner %+v, want %+v", got, ann)
		}
		if got := must(s.UserByEmail(ctx, "ÉLODIE@example.com"))(t); got != ann {
			t.Errorf("by email %+v, want %+v", got, ann)
		}
		_, err = s.UserByEmail(ctx, "nobody@example.com")
		wantCode(t, err, blueprint.CodeNotFound)
		if got := must(s.Users(ctx))(t); !cmp.Equal(got, []blueprint.User{ann, bob}) {
			t.Errorf("users %+v, want %v", got, []blueprint.User{ann, bob})
		}
		list := must(s.Organizations(ctx, blueprint.Principal{UserID: ann.ID}))(t)
		want := []blueprint.Organization{{ID: ann.WorkspaceID, Name: "Ann", Slug: "ann", Role: "owner", Personal: true}}
		if !cmp.Equal(list, want) {
			t.Errorf("organizations: %s", cmp.Diff(want, list))
		}
	})
}
