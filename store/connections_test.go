package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// slackConfig is a good config with a secret.
func slackConfig() map[string]any { return map[string]any{"botToken": "canary-of-slack"} }

// connection makes one of an organization, or of the principal.
func connection(t testing.TB, s *Store, by blueprint.Principal, organizationID string) blueprint.Connection {
	t.Helper()
	given := blueprint.NewConnection{Name: "C", Type: blueprint.ConnectionSlack, Config: slackConfig(), OrganizationID: organizationID}
	return must(s.CreateConnection(context.Background(), by, given))(t)
}

func TestConnections(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		ann := people["creator"]
		own := connection(t, s, ann, "")
		at := blueprint.TimeOf(start)
		want := blueprint.Connection{ID: own.ID, Name: "C", Type: "slack", Config: map[string]any{"botToken": nil}, CreatedBy: ann.UserID, ConfiguredBy: ann.UserID, CreatedAt: at, UpdatedAt: at}
		if !cmp.Equal(own, want) || !blueprint.IsUUID(own.ID) {
			t.Error(cmp.Diff(want, own))
		}
		advance(t, s, time.Second)
		shared := connection(t, s, ann, team)
		if shared.OrganizationID == nil || *shared.OrganizationID != team {
			t.Errorf("made %+v, want OrganizationID not nil and OrganizationID %v", shared, team)
		}
		if got := must(s.Connection(ctx, ann, own.ID))(t); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		want.Config = slackConfig()
		if got := must(s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: ann.UserID}, own.ID))(t); !cmp.Equal(*got, want) {
			t.Error(cmp.Diff(want, *got))
		}
		for who, ids := range map[string][]string{"creator": {shared.ID, own.ID}, "member": {shared.ID}, "stranger": {}, "former member": {}} {
			t.Run(who, func(t *testing.T) {
				list, got := must(s.Connections(ctx, people[who], ""))(t), []string{}
				for _, c := range list {
					got = append(got, c.ID)
				}
				if !cmp.Equal(got, ids) {
					t.Errorf("%s lists %v, want %v", who, got, ids)
				}
			})
		}
		if list := must(s.Connections(ctx, ann, team))(t); !cmp.Equal(list, []blueprint.Connection{shared}) {
			t.Errorf("of the team: %+v, want %v", list, []blueprint.Connection{shared})
		}
		for _, organization := range []string{team, "unknown"} {
			_, err := s.Connections(ctx, people["stranger"], organization)
			wantCode(t, err, blueprint.CodeForbidden)
			_, err = s.CreateConnection(ctx, people["stranger"], blueprint.NewConnection{Name: "C", Type: "slack", Config: slackConfig(), OrganizationID: organization})
			wantCode(t, err, blueprint.CodeForbidden)
		}
		_, err := s.CreateConnection(ctx, ann, blueprint.NewConnection{Name: "C", Type: "slack", Config: map[string]any{"botToken": nil}})
		wantCode(t, err, blueprint.CodeBadRequest)
		if !strings.Contains(err.Error(), "config.botToken: required") {
			t.Errorf("%v, want \"config.botToken: required\" in it", err)
		}
	})
}

func TestConnectionRights(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		codes := map[bool]blueprint.Code{true: "", false: blueprint.CodeForbidden}
		for _, test := range []struct {
			who                        string
			uses, changes, usesForeign bool
		}{
			{"creator", true, true, true},
			{"owner", true, true, false},
			{"admin", true, true, false},
			{"member", true, false, false},
			{"collaborator admin", false, false, false},
			{"editor", false, false, false},
			{"former member", false, false, false},
			{"stranger", false, false, false},
		} {
			shared, own := connection(t, s, people["creator"], team), connection(t, s, people["creator"], "")
			who := people[test.who]
			name := "by " + test.who
			for id, may := range map[string][2]bool{shared.ID: {test.uses, test.changes}, own.ID: {test.usesForeign, test.usesForeign}} {
				_, err := s.Connection(ctx, who, id)
				wantCode(t, err, codes[may[0]])
				_, err = s.UpdateConnection(ctx, who, id, &name, nil)
				wantCode(t, err, codes[may[1]])
				forUse := map[bool]blueprint.Code{true: "", false: blueprint.CodeNotFound}[may[0]]
				_, err = s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: who.UserID}, id)
				wantCode(t, err, forUse)
				_, err = s.Token(ctx, id, who.UserID)
				wantCode(t, err, forUse)
				wantCode(t, s.SaveToken(ctx, id, who.UserID, []byte("t"), nil), forUse)
				wantCode(t, s.BeginSignIn(ctx, signIn(id, who, byte(len(name)))), forUse)
				_, err = s.WaitingSignIns(ctx, id, who.UserID)
				wantCode(t, err, forUse)
				check(t, s.DeleteToken(ctx, id, who.UserID))
				_, _ = s.TakeSignIn(ctx, signIn(id, who, byte(len(name))).StateHash)
				wantCode(t, s.DeleteConnection(ctx, who, id), codes[may[1]])
			}
		}
		// Who leaves an organization leaves the connections there, their own too.
		left := connection(t, s, people["member"], team)
		check(t, s.DropMember(ctx, people["member"], team, people["member"].UserID))
		_, err := s.Connection(ctx, people["member"], left.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		for _, id := range []string{"unknown", "", "\x00"} {
			_, err := s.Connection(ctx, people["creator"], id)
			wantCode(t, err, blueprint.CodeNotFound)
			wantCode(t, s.DeleteConnection(ctx, people["creator"], id), blueprint.CodeNotFound)
		}
	})
}

func TestUpdateConnection(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		c := connection(t, s, ann, "")
		check(t, s.SaveToken(ctx, c.ID, ann.UserID, []byte("t"), nil))
		check(t, s.BeginSignIn(ctx, signIn(c.ID, ann, 1)))
		advance(t, s, time.Minute)
		name := "D"
		got := must(s.UpdateConnection(ctx, ann, c.ID, &name, map[string]any{"botToken": nil}))(t)
		if got.Name != "D" || got.UpdatedAt == got.CreatedAt || got.Config["botToken"] != nil {
			t.Errorf("updated %+v, want Name D, UpdatedAt other than %v and botToken nil", got, got.CreatedAt)
		}
		elsewhere := map[string]any{"baseUrl": "https://evil.example"}
		_, err := s.UpdateConnection(ctx, ann, c.ID, nil, elsewhere)
		wantCode(t, err, blueprint.CodeBadRequest)
		if !strings.Contains(fmt.Sprint(err), "config.botToken: must be given again") || strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("%v, want \"config.botToken: must be given again\" in it and no \"canary\"", err)
		}
		if used := must(s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: ann.UserID}, c.ID))(t); !cmp.Equal(used.Config, slackConfig()) {
			t.Errorf("the refused update left %v", used.Config)
		}
		if string(must(s.Token(ctx, c.ID, ann.UserID))(t)) != "t" {
			t.Error("the refused update took the token")
		}
		elsewhere["botToken"] = "mine"
		must(s.UpdateConnection(ctx, ann, c.ID, nil, elsewhere))(t)
		if token := must(s.Token(ctx, c.ID, ann.UserID))(t); token != nil {
			t.Errorf("the token %q went along to another host, want nil", token)
		}
		if waiting := must(s.WaitingSignIns(ctx, c.ID, ann.UserID))(t); len(waiting) > 0 {
			t.Errorf("the sign-in went along to another host: %v, want none", waiting)
		}
	})
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	ctx := context.Background()
	people, team := cast(t, s)
	check(t, s.Transact(ctx, func() error {
		for range mostConnections {
			connection(t, s, people["creator"], "")
		}
		return nil
	}))
	_, err := s.CreateConnection(ctx, people["creator"], blueprint.NewConnection{Name: "C", Type: "slack", Config: slackConfig()})
	wantCode(t, err, blueprint.CodeBadRequest)
	connection(t, s, people["creator"], team)
	connection(t, s, people["member"], "")
}

// TestConnectionSecretsAreSealed looks for plain secrets in the files.
func TestConnectionSecretsAreSealed(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	c := connection(t, s, ann, "")
	check(t, s.SaveToken(ctx, c.ID, ann.UserID, []byte("canary-of-the-token"), nil))
	i := signIn(c.ID, ann, 1)
	i.Secret = []byte("canary-of-the-verifier")
	check(t, s.BeginSignIn(ctx, i))
	for _, suffix := range []string{"", "-wal"} {
		if data := must(os.ReadFile(options.Path + suffix))(t); strings.Contains(string(data), "canary") {
			t.Errorf("a secret is readable in %s, want no \"canary\"", suffix)
		}
	}
}

// TestConfiguredBy checks that configured_by is the user who wrote the whole config, and
// empty once several users have changed it.
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

// TestSealedForItsOwner moves encrypted values to rows of other owners, as a process that
// can write the file but has no key can: they do not decrypt.
func TestSealedForItsOwner(t *testing.T) {
	t.Parallel()
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
		"versions of a sign-in":   {"team", `UPDATE sign_ins SET versions = '[{"blueprintId":"b","version":"1.0.0","author":"' || ?1 || '"}]'`},
		"run of a sign-in":        {"team", "UPDATE sign_ins SET execution_id = ?1"},
		"node of a sign-in":       {"team", "UPDATE sign_ins SET address = ?1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			signIn := strings.Contains(name, "sign-in")
			want := map[string]bool{"config": name == "tokens" || signIn, "token": name != "tokens", "sign-in": !signIn}
			for _, what := range opened {
				if !want[what] {
					t.Errorf("the %s opens, want %v", what, want)
				}
			}
		})
	}
}
