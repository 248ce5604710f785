package store

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// TestAuthor follows who counts as the author of a version, through every kind of
// change.
func TestAuthor(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		creator, member := people["creator"], people["member"]
		node := func(x any, title string) any {
			return map[string]any{"nodes": []any{map[string]any{"id": "n", "type": "set", "title": title, "config": map[string]any{"values": map[string]any{"x": x}}, "position": title}}}
		}
		b := must(s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", OrganizationID: team, Map: node("1", "a")}))(t)
		title, variables := "other title", []any{map[string]any{"name": "v", "description": "d"}}
		described := []any{map[string]any{"name": "v", "description": "other"}}
		of := func(m any) *any { return &m }
		for _, step := range []struct {
			what    string
			by      blueprint.Principal
			patch   blueprint.BlueprintPatch
			version string
			ref     blueprint.VersionRef
		}{
			{"title of the blueprint", member, blueprint.BlueprintPatch{Title: &title}, "1.0.1", blueprint.VersionRef{Version: "1.0.0", Author: creator.UserID}},
			{"title and position of a node", member, blueprint.BlueprintPatch{Map: of(node("1", "b"))}, "1.1.0", blueprint.VersionRef{Version: "1.0.0", Author: creator.UserID}},
			{"identical save", member, blueprint.BlueprintPatch{Map: of(node("1", "b"))}, "1.1.0", blueprint.VersionRef{Version: "1.0.0", Author: creator.UserID}},
			{"config", member, blueprint.BlueprintPatch{Map: of(node("2", "b"))}, "1.2.0", blueprint.VersionRef{Version: "1.2.0", Author: member.UserID}},
			{"variable", creator, blueprint.BlueprintPatch{Variables: &variables}, "1.3.0", blueprint.VersionRef{Version: "1.3.0", Author: creator.UserID}},
			{"description of a variable", member, blueprint.BlueprintPatch{Variables: &described}, "1.4.0", blueprint.VersionRef{Version: "1.3.0", Author: creator.UserID}},
		} {
			must(s.UpdateBlueprint(ctx, step.by, b.ID, step.patch))(t)
			got, _, err := s.Definition(ctx, creator, b.ID)
			step.ref.BlueprintID = b.ID
			if err != nil || got.Version != step.version || got.Ref != step.ref {
				t.Errorf("%s: version %s, ref %+v, %v; want %s, %+v", step.what, got.Version, got.Ref, err, step.version, step.ref)
			}
		}
		// The author leaves: an identical save by another manager takes the version over.
		check(t, s.DropMember(ctx, creator, team, creator.UserID))
		must(s.UpdateBlueprint(ctx, member, b.ID, blueprint.BlueprintPatch{Title: &b.Title}))(t)
		if got, _, _ := s.Definition(ctx, member, b.ID); got.Ref.Author != creator.UserID {
			t.Errorf("author after a new title: %s, want the one who left", got.Ref.Author)
		}
		must(s.UpdateBlueprint(ctx, member, b.ID, blueprint.BlueprintPatch{Map: of(node("2", "b"))}))(t)
		if got, _, _ := s.Definition(ctx, member, b.ID); got.Ref.Author != member.UserID || got.Ref.Version != got.Version {
			t.Errorf("after saving the map of an author who left: %+v at %s, want the saver's own version", got.Ref, got.Version)
		}
	})
}

// TestAuthorize holds the one decision against a table: every kind of resource, for
// authors who may use it themselves and who may not, with and without a grant.
func TestAuthorize(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		creator, editor := people["creator"], people["editor"]
		b := must(s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", OrganizationID: team, Map: oneNode("set")}))(t)
		private := must(s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "private", Map: oneNode("set")}))(t)
		lend(t, s, b, editor, "editor")
		own := must(s.CreateConnection(ctx, creator, blueprint.NewConnection{Name: "own", Type: blueprint.ConnectionSlack, Config: slackConfig()}))(t)
		teams := must(s.CreateConnection(ctx, creator, blueprint.NewConnection{Name: "teams", Type: blueprint.ConnectionSlack, Config: slackConfig(), OrganizationID: team}))(t)
		resources := map[string]blueprint.Resource{
			"own connection":  {Kind: blueprint.ResourceConnection, ID: own.ID},
			"team connection": {Kind: blueprint.ResourceConnection, ID: teams.ID},
			"sign-in":         {Kind: blueprint.ResourceSignIn, ID: teams.ID},
			"secret":          {Kind: blueprint.ResourceSecret, ID: b.ID, Name: "token"},
			"blueprint":       {Kind: blueprint.ResourceBlueprint, ID: b.ID},
			"private one":     {Kind: blueprint.ResourceBlueprint, ID: private.ID},
		}
		const allowed, grant, never = "allowed", "grant", "never"
		for _, test := range []struct {
			who, of string
			want    map[string]string
		}{
			{"creator", "creator", map[string]string{"own connection": allowed, "team connection": allowed, "sign-in": allowed, "secret": allowed, "blueprint": allowed, "private one": allowed}},
			{"creator", "member", map[string]string{"own connection": grant, "team connection": allowed, "sign-in": grant, "secret": allowed, "blueprint": allowed, "private one": grant}},
			{"creator", "editor", map[string]string{"own connection": grant, "team connection": grant, "sign-in": grant, "secret": allowed, "blueprint": allowed, "private one": grant}},
			{"creator", "former member", map[string]string{"own connection": grant, "team connection": grant, "sign-in": grant, "secret": grant, "blueprint": grant, "private one": grant}},
			{"editor", "creator", map[string]string{"own connection": never, "team connection": never, "sign-in": never, "secret": allowed, "blueprint": allowed, "private one": never}},
			{"stranger", "creator", map[string]string{"own connection": never, "team connection": never, "sign-in": never, "secret": never, "blueprint": never, "private one": never}},
		} {
			t.Run(test.who+" of "+test.of, func(t *testing.T) {
				principal, author := people[test.who], people[test.of]
				// The second version is another one that led to the run: it is checked too.
				for _, versions := range [][]blueprint.VersionRef{
					{{BlueprintID: b.ID, Version: "1.0.0", Author: author.UserID}},
					{{BlueprintID: b.ID, Version: "1.0.0", Author: author.UserID}, {BlueprintID: private.ID, Version: "1.0.0", Author: principal.UserID}},
				} {
					authority := blueprint.Authority{PrincipalID: principal.UserID, Versions: versions}
					for name, want := range test.want {
						got := func() string {
							err := s.Authorize(ctx, authority, resources[name])
							var missing *blueprint.MissingGrant
							switch {
							case err == nil:
								return allowed
							case errors.As(err, &missing) && missing.Author.ID == author.UserID && missing.Version == "1.0.0":
								return grant
							case blueprint.CodeOf(err) == blueprint.CodeNotFound:
								return never
							}
							return err.Error()
						}
						if is := got(); is != want {
							t.Errorf("%s: %s, want %s", name, is, want)
						}
						if want != grant {
							continue
						}
						check(t, s.Grant(ctx, principal, b.ID, ""))
						if is := got(); is != allowed {
							t.Errorf("%s after the grant: %s, want %v", name, is, allowed)
						}
						authority.Versions[0].Version = ""
						if is := s.Authorize(ctx, authority, resources[name]); is == nil {
							t.Errorf("%s: a grant of a stored version covers nodes that are not stored", name)
						}
						authority.Versions[0].Version = "1.0.0"
						check(t, s.RevokeGrants(ctx, principal, b.ID))
						if is := got(); is != want {
							t.Errorf("%s after taking the grant back: %s, want %s", name, is, want)
						}
					}
				}
			})
		}
	})
}

func TestGrants(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		creator, member, stranger := people["creator"], people["member"], people["stranger"]
		b := must(s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", OrganizationID: team, Map: oneNode("set")}))(t)
		wantCode(t, s.Grant(ctx, stranger, b.ID, ""), blueprint.CodeForbidden)
		wantCode(t, s.RevokeGrants(ctx, stranger, b.ID), blueprint.CodeForbidden)
		wantCode(t, s.Grant(ctx, member, b.ID, "9.9.9"), blueprint.CodeNotFound)
		wantCode(t, s.Grant(ctx, member, "unknown", ""), blueprint.CodeNotFound)
		view := must(s.Authority(ctx, member, b.ID))(t)
		author := blueprint.Author{ID: creator.UserID, Name: "creator", Email: "creator@example.com"}
		if diff := cmp.Diff(blueprint.AuthorityView{Version: "1.0.0", Author: author, Triggers: view.Triggers}, view); diff != "" {
			t.Errorf("before the grant (-want +got):\n%s", diff)
		}
		check(t, s.Grant(ctx, member, b.ID, ""))
		check(t, s.Grant(ctx, member, b.ID, "1.0.0"))
		if diff := cmp.Diff([]blueprint.Granted{{BlueprintID: b.ID, Title: "T", Version: "1.0.0", Author: blueprint.Author{ID: creator.UserID, Name: "creator"}, GrantedAt: blueprint.TimeOf(start)}}, must(s.ListGrants(ctx, member))(t)); diff != "" {
			t.Errorf("grants (-want +got):\n%s", diff)
		}
		other := oneNode("log")
		must(s.UpdateBlueprint(ctx, creator, b.ID, blueprint.BlueprintPatch{Map: &other}))(t)
		view = must(s.Authority(ctx, member, b.ID))(t)
		if view.Granted || view.Version != "1.1.0" || view.Basis == nil || *view.Basis != "1.0.0" {
			t.Errorf("after an edit: %+v, want a version that is not granted, based on 1.0.0", view)
		}
		if list := must(s.ListGrants(ctx, stranger))(t); len(list) != 0 {
			t.Errorf("a stranger's grants: %+v, want none", list)
		}
		check(t, s.RevokeGrants(ctx, member, b.ID))
		if list := must(s.ListGrants(ctx, member))(t); len(list) != 0 {
			t.Errorf("after taking them back: %+v, want none", list)
		}
	})
}

// A trigger uses the connection in its config under its creator's authority, so
// others may not choose one of the creator's own.
func TestConnectionOfSomebodyElsesTrigger(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		creator, member := people["creator"], people["member"]
		b := must(s.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", OrganizationID: team, Map: oneNode("set")}))(t)
		own := must(s.CreateConnection(ctx, creator, blueprint.NewConnection{Name: "own", Type: blueprint.ConnectionSlack, Config: slackConfig()}))(t)
		teams := must(s.CreateConnection(ctx, creator, blueprint.NewConnection{Name: "teams", Type: blueprint.ConnectionSlack, Config: slackConfig(), OrganizationID: team}))(t)
		trigger := must(s.AddTrigger(ctx, creator, b.ID, blueprint.TriggerSlack, map[string]any{"signingSecret": "s"}, true))(t)
		put := func(who blueprint.Principal, id string) error {
			_, err := s.UpdateTrigger(ctx, who, trigger.ID, func(present blueprint.Trigger) (map[string]any, error) {
				return map[string]any{"signingSecret": "s", "connectionId": id}, nil
			}, nil)
			return err
		}
		wantCode(t, put(member, own.ID), blueprint.CodeBadRequest)
		check(t, put(member, teams.ID))
		check(t, put(creator, own.ID))
		check(t, put(member, own.ID)) // it stays
	})
}
