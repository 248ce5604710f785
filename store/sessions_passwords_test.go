package store

import (
	"context"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestSetupLinks(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		wantCode(t, s.CreateSetupLink(ctx, "nobody", "x"), blueprint.CodeNotFound)
		none := func(token string) {
			t.Helper()
			_, err := s.SetupLink(ctx, token)
			wantCode(t, err, blueprint.CodeNotFound)
			_, err = s.TakeSetupLink(ctx, token, blueprint.SetupLink{Email: "x@y", Name: "X"}, oneHash, "of no parent", "")
			wantCode(t, err, blueprint.CodeNotFound)
		}
		none("")
		check(t, s.CreateSetupLink(ctx, ann.UserID, "first"))
		check(t, s.CreateSetupLink(ctx, ann.UserID, "second"))
		check(t, s.CreateSetupLink(ctx, bob.UserID, "bob's"))
		none("first") // the second took its place
		pass(t, s, blueprint.SetupLifetime)
		none("second")
		check(t, s.CreateSetupLink(ctx, ann.UserID, "third"))
		pass(t, s, blueprint.SetupLifetime-time.Millisecond)
		link := must(s.SetupLink(ctx, "third"))(t)
		if link.UserID != ann.UserID || !link.Initial || must(s.AnyPassword(ctx))(t) {
			t.Errorf("link %+v", link)
		}
		_, err := s.TakeSetupLink(ctx, "third", blueprint.SetupLink{Email: "BOB@example.com", Name: "A"}, oneHash, "t", "")
		wantCode(t, err, blueprint.CodeConflict)
		if got := must(s.SetupLink(ctx, "third"))(t); got != link {
			t.Errorf("a refusal changed the link to %+v, want %v", got, link)
		}
		made := must(s.TakeSetupLink(ctx, "third", blueprint.SetupLink{Email: "Ada@example.com", Name: "Ada"}, oneHash, "ann's", "x"))(t)
		got := must(s.User(ctx, ann.UserID))(t)
		if got.Email != "Ada@example.com" || got.Name != "Ada" || made.UserID != ann.UserID {
			t.Errorf("user %+v, session %+v, want Ada with Ada@example.com and the session of %s", got, made, ann.UserID)
		}
		if in, any := admitted(t, s, "ann's"), must(s.AnyPassword(ctx))(t); !in || !any {
			t.Errorf("admitted %v, any password %v, want both", in, any)
		}
		if list := must(s.Organizations(ctx, ann))(t); list[0].Name != "Ada" {
			t.Errorf("the workspace is called %s, want Ada", list[0].Name)
		}
		none("third")

		// Another one's, and a forgotten password: the email stays.
		check(t, s.CreateSetupLink(ctx, ann.UserID, "forgotten"))
		if link := must(s.SetupLink(ctx, "forgotten"))(t); link.Initial {
			t.Error("a user with a password counts as new")
		}
		check(t, s.CreateSetupLink(ctx, bob.UserID, "bob's"))
		if link := must(s.SetupLink(ctx, "bob's"))(t); link.Initial {
			t.Error("the second user is fresh")
		}
		must(s.TakeSetupLink(ctx, "forgotten", blueprint.SetupLink{Email: "evil@example.com", Name: "Eve"}, otherHash, "again", ""))(t)
		if got := must(s.User(ctx, ann.UserID))(t); got.Email != "Ada@example.com" || got.Name != "Eve" {
			t.Errorf("user %+v, want Email Ada@example.com and Name Eve", got)
		}
		if admitted(t, s, "ann's") || !admitted(t, s, "again") {
			t.Error("the earlier session still works")
		}
		check(t, s.CreateSetupLink(ctx, ann.UserID, "late"))
		check(t, s.SetPassword(ctx, ann.UserID, oneHash))
		none("late") // the password was set meanwhile
	})
}
