package store

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

// TestConfiguredBy tells who answers for the whole of a config: who said all of
// it, and nobody once it is the work of several.
func TestConfiguredBy(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		whole := func(host string) map[string]any {
			return map[string]any{"auth": map[string]any{"type": "bearer", "token": "t"}, "hosts": []any{host}}
		}
		part := map[string]any{"auth": map[string]any{"type": "bearer", "token": "other"}}
		name := "N"
		c := must(s.CreateConnection(ctx, people["creator"], blueprint.NewConnection{Name: "C", Type: "http", Config: whole("a.example"), OrganizationID: team}))(t)
		for _, step := range []struct {
			who    string
			change map[string]any
			want   string
		}{
			{"creator", part, "creator"},
			{"admin", nil, "creator"},
			{"admin", map[string]any{}, "creator"},
			{"admin", part, "creator"}, // as it was
			{"admin", map[string]any{"hosts": []any{"a.example:443"}}, ""},
			{"creator", map[string]any{}, ""},
			{"creator", map[string]any{"hosts": []any{"a.example:443"}}, ""},
			{"admin", whole("b.example"), "admin"},
			{"creator", part, ""},
			{"creator", whole("a.example"), "creator"},
		} {
			got := must(s.UpdateConnection(ctx, people[step.who], c.ID, &name, step.change))(t)
			used := must(s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: people["member"].UserID}, c.ID))(t)
			if want := people[step.who].UserID; got.ConfiguredBy != used.ConfiguredBy || used.ConfiguredBy != people[step.want].UserID {
				t.Errorf("after %v by %s (%s): %s, want %s", step.change, step.who, want, used.ConfiguredBy, step.want)
			}
		}
	})
}

// TestSealedForItsOwner moves what is sealed to other owners in the file, as
// somebody who can write there and has no key may do: it does not open.
func TestSealedForItsOwner(t *testing.T) {
	ctx := context.Background()
	for name, test := range map[string]struct{ team, change string }{
		"to another user":         {"", "UPDATE connections SET created_by = ?1"},
		"to an organization":      {"", "UPDATE connections SET organization_id = ?2"},
		"to another organization": {"team", "UPDATE connections SET organization_id = ?3"},
		"to its creator":          {"team", "UPDATE connections SET organization_id = NULL"},
		"by another creator":      {"team", "UPDATE connections SET created_by = ?1"},
		"configured by another":   {"team", "UPDATE connections SET configured_by = ?1"},
		"configured by several":   {"team", "UPDATE connections SET configured_by = NULL"},
		"of another type":         {"team", "UPDATE connections SET type = 'ai-provider'"},
		"tokens":                  {"team", "UPDATE connection_tokens SET user_id = ?1"},
		"sign-ins":                {"team", "UPDATE sign_ins SET user_id = ?1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, testOptions(t))
			people, team := cast(t, s)
			ann, bob := people["creator"], people["owner"]
			other := must(s.CreateOrganization(ctx, bob, "other"))(t).ID
			if test.team == "" {
				team = ""
			}
			c := connection(t, s, ann, team)
			check(t, s.SaveToken(ctx, c.ID, ann.UserID, []byte("t"), nil))
			check(t, s.BeginSignIn(ctx, signIn(c.ID, ann, 1)))
			check(t, s.write(ctx, func(w *transaction) error {
				_, err := w.exec("WITH given(a, b, c) AS (SELECT ?1, ?2, ?3) "+test.change, bob.UserID, other, other)
				return err
			}))
			opened := []string{}
			for _, who := range []blueprint.Principal{ann, bob} {
				if _, err := s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: who.UserID}, c.ID); err == nil {
					opened = append(opened, "config")
				}
				if token, err := s.Token(ctx, c.ID, who.UserID); err == nil && token != nil {
					opened = append(opened, "token")
				}
			}
			if _, err := s.FindSignIn(ctx, signIn(c.ID, ann, 1).StateHash); err == nil {
				opened = append(opened, "sign-in")
			}
			want := map[string]bool{"config": name == "tokens" || name == "sign-ins", "token": name != "tokens", "sign-in": name != "sign-ins"}
			for _, what := range opened {
				if !want[what] {
					t.Errorf("the %s opens", what)
				}
			}
		})
	}
}
