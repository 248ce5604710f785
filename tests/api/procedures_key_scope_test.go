package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/tests/servertest"
)

// limitedTo returns a user with a new key of their own.
func limitedTo(t *testing.T, p servertest.Caller, limits object) servertest.Caller {
	t.Helper()
	input := object{"name": "limited"}
	for name, value := range limits {
		input[name] = value
	}
	return servertest.Caller{Server: p.Server, User: p.User, Authorization: "Bearer " + at(p.OK(t, "apiKey.create", input), "key").(string)}
}

// keyNamed returns a key from the user's list.
func keyNamed(t *testing.T, p servertest.Caller, name string) any {
	t.Helper()
	for _, key := range p.OK(t, "apiKey.list", nil).([]any) {
		if at(key, "name") == name {
			return key
		}
	}
	t.Fatalf("no key is named %s", name)
	return nil
}

// notByKind are the scopes of procedures that do not follow from their kinds.
var notByKind = map[string]blueprint.KeyScope{
	"apiKey.list": blueprint.ScopeAdmin, "auditLog.list": blueprint.ScopeAdmin, "collaborator.list": blueprint.ScopeAdmin, "organization.members": blueprint.ScopeAdmin,
	"mcpTool.list": blueprint.ScopeWrite, "blueprint.validate": blueprint.ScopeRead, "blueprint.evaluateExpressions": blueprint.ScopeRead,
}

// TestScopesOfProcedures checks the scopes of the table: queries need read and mutations do
// not, except for those above.
func TestScopesOfProcedures(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, p := range slices.Concat(s.RPC.Procedures(), s.Dashboard.Procedures()) {
		if !slices.Contains(blueprint.AllScopes(), p.Scope) {
			t.Errorf("%s has the scope %q", p.Name, p.Scope)
		}
		want, special := notByKind[p.Name]
		if !special && p.Kind != trpc.KindMutation {
			want = blueprint.ScopeRead
		}
		if want != "" && p.Scope != want || want == "" && p.Scope == blueprint.ScopeRead {
			t.Errorf("%s, a %s, has the scope %s; want %v", p.Name, p.Kind, p.Scope, want)
		}
	}
}

// TestScopesOfKeys calls each procedure with a key for each set of scopes, with no or an
// invalid input: only the scope check matters.
func TestScopesOfKeys(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, document := s.NewUser(t, "ada"), openAPIValue(t)
	for _, test := range []struct {
		scopes []any
		allows string // "" = all scopes
	}{
		{[]any{"read"}, "read"}, {[]any{"run"}, "read run"}, {[]any{"write"}, "read write"},
		{[]any{"write", "run", "write"}, "read run write"}, {[]any{"admin"}, "read run write admin"}, {nil, "read run write admin"},
	} {
		t.Run(fmt.Sprint(test.scopes), func(t *testing.T) {
			limits := object{}
			if test.scopes != nil {
				limits["scopes"] = test.scopes
			}
			for _, p := range s.RPC.Procedures() {
				key := limitedTo(t, ada, limits) // apiKey.revoke and the like may spoil the last one
				answer := key.Call(t, p.Name, object{"name": 5, "frob": 1})
				refused := strings.Contains(answer.Text, "this API key lacks the scope")
				switch allowed := slices.Contains(strings.Fields(test.allows), string(p.Scope)); {
				case allowed && (refused || answer.Status == http.StatusUnauthorized):
					t.Errorf("%v, %s: %d %s", test.scopes, p.Name, answer.Status, answer.Text)
				case !allowed && (!refused || answer.Status != http.StatusForbidden):
					t.Errorf("%v, %s: %d %s, want 403", test.scopes, p.Name, answer.Status, answer.Text)
				}
			}
			for path, needed := range map[string]string{
				"POST /v1/triggers/{triggerId}/fire": "run", "POST /mcp": "run write", "GET /files/{id}": "read", "GET /clock": "read",
				"POST /clock/advance": "admin", "GET /sandbox/calls": "read", "DELETE /sandbox": "admin", "POST /sandbox/send": "admin",
			} {
				t.Run(caseName(path), func(t *testing.T) {
					method, path, _ := strings.Cut(path, " ")
					if said := scopesIn(document, path, method); said != needed {
						t.Errorf("openapi.json says that %s needs %q, want %q", path, said, needed)
					}
					answer := limitedTo(t, ada, limits).Send(t, method, strings.NewReplacer("{triggerId}", s.IDs.UUID(), "{id}", "none").Replace(path), `{}`)
					lacks := strings.Contains(answer.Text, "this API key lacks the scope")
					allows := func(scope string) bool { return slices.Contains(strings.Fields(test.allows), scope) }
					if allowed := slices.ContainsFunc(strings.Fields(needed), allows); allowed == lacks || lacks && answer.Status != http.StatusForbidden {
						t.Errorf("%v, %s: %d %s", test.scopes, path, answer.Status, answer.Text)
					}
				})
			}
		})
	}
}

// scopesIn returns the scopes of which a key needs one for a route, by the description.
func scopesIn(document object, path, method string) string {
	var scopes []string
	alternatives, _ := at(document, "paths").(object)[path].(object)[strings.ToLower(method)].(object)["security"].([]any)
	for _, one := range alternatives {
		for _, scope := range one.(object)["key"].([]any) {
			scopes = append(scopes, scope.(string))
		}
	}
	return strings.Join(scopes, " ")
}

// TestScopesInABatch checks the scope of each call of a batch.
func TestScopesInABatch(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	writer := limitedTo(t, s.NewUser(t, "ada"), object{"scopes": []any{"write"}})
	answer := writer.Send(t, http.MethodPost, "/api/trpc/blueprint.create,apiKey.create,blueprint.create?batch=1",
		`{"0": {"json": {"title": "a"}}, "1": {"json": {"name": "more"}}, "2": {"json": {"title": "b"}}}`)
	list, _ := answer.Value.([]any)
	if answer.Status != http.StatusMultiStatus || len(list) != 3 {
		t.Fatalf("%d %s, want %d with three answers", answer.Status, answer.Text, http.StatusMultiStatus)
	}
	got := []any{at(list[0], "result.data.json.title"), at(list[1], "error.json.data.code"), at(list[1], "error.json.data.path"), at(list[2], "result.data.json.title")}
	if diff := cmp.Diff([]any{"a", "FORBIDDEN", "apiKey.create", "b"}, got); diff != "" {
		t.Errorf("first title, code and path of the second, third title (-want +got):\n%s", diff)
	}
	if total := at(writer.OK(t, "blueprint.list", nil), "pagination.total"); total == nil || total.(interface{ String() string }).String() != "2" {
		t.Errorf("there are %v blueprints, want not nil and 2", total)
	}
}

// TestLimitsOfKeys creates keys with scopes and an expiry, and lists them.
func TestLimitsOfKeys(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	const soon, later = "2030-05-01T13:00:00.000Z", "2030-05-01T14:00:00Z"
	made := ada.OK(t, "apiKey.create", object{"name": "ci", "scopes": []any{"run", "read", "run"}, "expiresAt": "2030-05-01T15:00:00+02:00"})
	record := `{"id": "<ulid>", "name": "ci", "last4": "` + at(made, "last4").(string) + `", "scopes": ["read", "run"], "createdAt": "` + noonText + `", "expiresAt": "` + soon + `", "lastUsedAt": null, "revokedAt": null`
	servertest.Shape(t, "created", made, record+`, "key": "`+at(made, "key").(string)+`"}`)
	servertest.Shape(t, "listed", keyNamed(t, ada, "ci"), record+"}")

	for _, wrong := range []object{
		{"scopes": []any{}}, {"scopes": []any{"read", "sudo"}}, {"scopes": []any{5}}, {"scopes": "read"}, {"scopes": []any{"Read"}},
		{"expiresAt": ""}, {"expiresAt": "tomorrow"}, {"expiresAt": "2030-05-02"}, {"expiresAt": 1903953600000}, {"expiresAt": "2030-05-01T13:00:00"},
		{"expiresAt": noonText}, {"expiresAt": "1969-01-01T00:00:00Z"}, {"expiresAt": "2030-05-01T13:59:59+02:00"},
	} {
		wrong["name"] = "wrong"
		answer := ada.Refused(t, blueprint.CodeBadRequest, "apiKey.create", wrong)
		field := "scopes"
		if wrong["expiresAt"] != nil {
			field = "expiresAt"
		}
		if !strings.HasPrefix(answer, field) {
			t.Errorf("%v: %s, want %q at the start", wrong, answer, field)
		}
	}
	if list := ada.OK(t, "apiKey.list", nil).([]any); len(list) != 2 {
		t.Errorf("refused keys were made: %v, want length 2", list)
	}

	// A key cannot create one with more scopes or a later expiry.
	brief := limitedTo(t, ada, object{"expiresAt": soon})
	for _, more := range []object{{"name": "x"}, {"name": "x", "expiresAt": later}, {"name": "x", "expiresAt": "2030-05-01T13:00:00.001Z"}} {
		if message := brief.Refused(t, blueprint.CodeForbidden, "apiKey.create", more); !strings.Contains(message, "outlives") {
			t.Errorf("%v: %s, want \"outlives\" in it", more, message)
		}
	}
	brief.OK(t, "apiKey.create", object{"name": "x", "expiresAt": soon})
	admin := limitedTo(t, ada, object{"scopes": []any{"admin"}})
	servertest.Shape(t, "all", at(admin.OK(t, "apiKey.create", object{"name": "x"}), "scopes"), `["admin", "read", "run", "write"]`)
	for _, scope := range []string{"read", "run", "write"} {
		limitedTo(t, ada, object{"scopes": []any{scope}}).Refused(t, blueprint.CodeForbidden, "apiKey.create", object{"name": "x", "scopes": []any{scope}})
	}
}

// TestExpiredKeys expires a key by the clock of the server, after it was used and cached.
func TestExpiredKeys(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	brief := limitedTo(t, ada, object{"expiresAt": "2030-05-01T12:05:00Z"})
	asks := map[string]func() servertest.Reply{
		"a query":    func() servertest.Reply { return brief.Call(t, "blueprint.list", nil) },
		"a mutation": func() servertest.Reply { return brief.Call(t, "blueprint.create", object{"title": "t"}) },
		"a batch": func() servertest.Reply {
			return brief.Send(t, http.MethodGet, "/api/trpc/blueprint.list,organization.list?batch=1", "")
		},
		"/v1": func() servertest.Reply {
			return brief.Send(t, http.MethodPost, "/v1/triggers/"+s.IDs.UUID()+"/fire", "{}")
		},
		"/mcp": func() servertest.Reply {
			return brief.Send(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		},
		"/files":      func() servertest.Reply { return brief.Send(t, http.MethodGet, "/files/none", "") },
		"/clock":      func() servertest.Reply { return brief.Send(t, http.MethodGet, "/clock", "") },
		"the sandbox": func() servertest.Reply { return brief.Send(t, http.MethodGet, "/sandbox/calls", "") },
		"subscription": func() servertest.Reply {
			return brief.Call(t, "execution.subscribe", object{"executionId": "exec_1_x"})
		},
	}
	try := func(want bool) {
		t.Helper()
		for name, ask := range asks {
			t.Run(name, func(t *testing.T) {
				if answer := ask(); (answer.Status == http.StatusUnauthorized) != want {
					t.Errorf("%d %s, want %v", answer.Status, answer.Text, want)
				}
			})
		}
	}
	try(false)
	s.Advance(t, "4m59s")
	try(false)
	id := keyNamed(t, ada, "limited")
	s.Advance(t, "1s")
	try(true)
	if after := keyNamed(t, ada, "limited"); at(after, "lastUsedAt") != at(id, "lastUsedAt") || at(after, "revokedAt") != nil {
		t.Errorf("after its expiry the key is %v", after)
	}
	ada.OK(t, "blueprint.list", nil)
}

// TestSubscriptionEndsAtTheExpiry follows a run with a key that expires before the run
// continues.
func TestSubscriptionEndsAtTheExpiry(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	brief := limitedTo(t, ada, object{"expiresAt": "2030-05-01T12:05:00Z"})
	nodes := []any{node("ask", "human", object{"prompt": "?"}), node("end", "template", object{"text": "not for the stream"})}
	run := ada.Launch(t, ada.Blueprint(t, "asks", nodes...), nil, nodes...)
	lines := subscribed(t, brief, run)
	s.Advance(t, "5m")
	ada.OK(t, "execution.resume", object{"executionId": run, "input": "yes"})
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
	}
	if !strings.Contains(text.String(), "serialized-error") || !strings.Contains(text.String(), "UNAUTHORIZED") || strings.Contains(text.String(), "not for the stream") {
		t.Errorf("the rest of the stream is %s, want \"serialized-error\" in it, \"UNAUTHORIZED\" in it and no \"not for the stream\"", text.String())
	}
}
