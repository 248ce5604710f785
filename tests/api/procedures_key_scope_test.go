package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// limitedTo returns a person with a new key of their own.
func (p person) limitedTo(t *testing.T, limits object) person {
	t.Helper()
	input := object{"name": "limited"}
	for name, value := range limits {
		input[name] = value
	}
	return person{service: p.service, User: p.User, authorization: "Bearer " + at(p.ok(t, "apiKey.create", input), "key").(string)}
}

// keyNamed returns a key of the person's from their list.
func (p person) keyNamed(t *testing.T, name string) any {
	t.Helper()
	for _, key := range p.ok(t, "apiKey.list", nil).([]any) {
		if at(key, "name") == name {
			return key
		}
	}
	t.Fatalf("no key is named %s", name)
	return nil
}

// notByKind are the scopes of procedures that their kind does not tell.
var notByKind = map[string]blueprint.KeyScope{
	"apiKey.list": blueprint.ScopeAdmin, "auditLog.list": blueprint.ScopeAdmin, "collaborator.list": blueprint.ScopeAdmin, "organization.members": blueprint.ScopeAdmin,
	"mcpTool.list": blueprint.ScopeWrite, "blueprint.validate": blueprint.ScopeRead,
}

// TestScopesOfProcedures holds the scopes of the table to the rules: queries are
// read and what changes something is not, but for the exceptions above.
func TestScopesOfProcedures(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, p := range slices.Concat(s.RPC.Procedures(), s.Dashboard.Procedures()) {
		if !slices.Contains(blueprint.AllScopes(), p.Scope) {
			t.Errorf("%s has the scope %q", p.Name, p.Scope)
		}
		want, special := notByKind[p.Name]
		if !special && p.Kind != trpc.KindMutation {
			want = blueprint.ScopeRead
		}
		if want != "" && p.Scope != want || want == "" && p.Scope == blueprint.ScopeRead {
			t.Errorf("%s, a %s, has the scope %s", p.Name, p.Kind, p.Scope)
		}
	}
}

// TestScopesOfKeys calls each procedure with a key for each set of scopes. The
// input is none or a wrong one: what counts is whether the scope let it through.
func TestScopesOfKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	for _, test := range []struct {
		scopes []any
		allows string // "" = what AllScopes does
	}{
		{[]any{"read"}, "read"}, {[]any{"run"}, "read run"}, {[]any{"write"}, "read write"},
		{[]any{"write", "run", "write"}, "read run write"}, {[]any{"admin"}, "read run write admin"}, {nil, "read run write admin"},
	} {
		limits := object{}
		if test.scopes != nil {
			limits["scopes"] = test.scopes
		}
		for _, p := range s.RPC.Procedures() {
			key := ada.limitedTo(t, limits) // apiKey.revoke and the like may spoil the last one
			answer := key.call(t, p.Name, object{"name": 5, "frob": 1})
			refused := strings.Contains(answer.text, "this API key lacks the scope")
			switch allowed := slices.Contains(strings.Fields(test.allows), string(p.Scope)); {
			case allowed && (refused || answer.status == http.StatusUnauthorized):
				t.Errorf("%v, %s: %d %s", test.scopes, p.Name, answer.status, answer.text)
			case !allowed && (!refused || answer.status != http.StatusForbidden):
				t.Errorf("%v, %s: %d %s, want 403", test.scopes, p.Name, answer.status, answer.text)
			}
		}
		for path, needed := range map[string]string{
			"POST /v1/triggers/" + s.IDs.UUID() + "/fire": "run", "POST /mcp": "run", "GET /files/none": "read", "GET /clock": "read",
			"POST /clock/advance": "admin", "GET /sandbox/calls": "read", "DELETE /sandbox": "admin", "POST /sandbox/send": "admin",
		} {
			method, path, _ := strings.Cut(path, " ")
			answer := ada.limitedTo(t, limits).send(t, method, path, `{}`)
			lacks := strings.Contains(answer.text, "this API key lacks the scope")
			if allowed := slices.Contains(strings.Fields(test.allows), needed); allowed == lacks || lacks && answer.status != http.StatusForbidden {
				t.Errorf("%v, %s: %d %s", test.scopes, path, answer.status, answer.text)
			}
		}
	}
}

// TestScopesInABatch judges each call of a batch by itself.
func TestScopesInABatch(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	writer := s.user(t, "ada").limitedTo(t, object{"scopes": []any{"write"}})
	answer := writer.send(t, http.MethodPost, "/api/trpc/blueprint.create,apiKey.create,blueprint.create?batch=1",
		`{"0": {"json": {"title": "a"}}, "1": {"json": {"name": "more"}}, "2": {"json": {"title": "b"}}}`)
	list, _ := answer.value.([]any)
	if answer.status != http.StatusMultiStatus || len(list) != 3 || at(list[0], "result.data.json.title") != "a" || at(list[2], "result.data.json.title") != "b" ||
		at(list[1], "error.json.data.code") != "FORBIDDEN" || at(list[1], "error.json.data.path") != "apiKey.create" {
		t.Errorf("%d %s", answer.status, answer.text)
	}
	if total := at(writer.ok(t, "blueprint.list", nil), "pagination.total"); total == nil || total.(interface{ String() string }).String() != "2" {
		t.Errorf("there are %v blueprints", total)
	}
}

// TestLimitsOfKeys makes keys with scopes and an expiry, and lists them.
func TestLimitsOfKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	const soon, later = "2030-05-01T13:00:00.000Z", "2030-05-01T14:00:00Z"
	made := ada.ok(t, "apiKey.create", object{"name": "ci", "scopes": []any{"run", "read", "run"}, "expiresAt": "2030-05-01T15:00:00+02:00"})
	record := `{"id": "<ulid>", "name": "ci", "last4": "` + at(made, "last4").(string) + `", "scopes": ["read", "run"], "createdAt": "` + noonText + `", "expiresAt": "` + soon + `", "lastUsedAt": null, "revokedAt": null`
	expect(t, "created", made, record+`, "key": "`+at(made, "key").(string)+`"}`)
	expect(t, "listed", ada.keyNamed(t, "ci"), record+"}")

	for _, wrong := range []object{
		{"scopes": []any{}}, {"scopes": []any{"read", "sudo"}}, {"scopes": []any{5}}, {"scopes": "read"}, {"scopes": []any{"Read"}},
		{"expiresAt": ""}, {"expiresAt": "tomorrow"}, {"expiresAt": "2030-05-02"}, {"expiresAt": 1903953600000}, {"expiresAt": "2030-05-01T13:00:00"},
		{"expiresAt": noonText}, {"expiresAt": "1969-01-01T00:00:00Z"}, {"expiresAt": "2030-05-01T13:59:59+02:00"},
	} {
		wrong["name"] = "wrong"
		answer := ada.refused(t, blueprint.CodeBadRequest, "apiKey.create", wrong)
		field := "scopes"
		if wrong["expiresAt"] != nil {
			field = "expiresAt"
		}
		if !strings.HasPrefix(answer, field) {
			t.Errorf("%v: %s", wrong, answer)
		}
	}
	if list := ada.ok(t, "apiKey.list", nil).([]any); len(list) != 2 {
		t.Errorf("refused keys were made: %v", list)
	}

	// A key makes none that may do more or lasts longer.
	brief := ada.limitedTo(t, object{"expiresAt": soon})
	for _, more := range []object{{"name": "x"}, {"name": "x", "expiresAt": later}, {"name": "x", "expiresAt": "2030-05-01T13:00:00.001Z"}} {
		if message := brief.refused(t, blueprint.CodeForbidden, "apiKey.create", more); !strings.Contains(message, "outlives") {
			t.Errorf("%v: %s", more, message)
		}
	}
	brief.ok(t, "apiKey.create", object{"name": "x", "expiresAt": soon})
	admin := ada.limitedTo(t, object{"scopes": []any{"admin"}})
	expect(t, "all", at(admin.ok(t, "apiKey.create", object{"name": "x"}), "scopes"), `["admin", "read", "run", "write"]`)
	for _, scope := range []string{"read", "run", "write"} {
		ada.limitedTo(t, object{"scopes": []any{scope}}).refused(t, blueprint.CodeForbidden, "apiKey.create", object{"name": "x", "scopes": []any{scope}})
	}
}

// TestExpiredKeys lets a key expire by the clock of the service, after it was
// used, so that the server has it in memory.
func TestExpiredKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	brief := ada.limitedTo(t, object{"expiresAt": "2030-05-01T12:05:00Z"})
	asks := map[string]func() reply{
		"a query":    func() reply { return brief.call(t, "blueprint.list", nil) },
		"a mutation": func() reply { return brief.call(t, "blueprint.create", object{"title": "t"}) },
		"a batch": func() reply {
			return brief.send(t, http.MethodGet, "/api/trpc/blueprint.list,organization.list?batch=1", "")
		},
		"/v1": func() reply { return brief.send(t, http.MethodPost, "/v1/triggers/"+s.IDs.UUID()+"/fire", "{}") },
		"/mcp": func() reply {
			return brief.send(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		},
		"/files":       func() reply { return brief.send(t, http.MethodGet, "/files/none", "") },
		"/clock":       func() reply { return brief.send(t, http.MethodGet, "/clock", "") },
		"the sandbox":  func() reply { return brief.send(t, http.MethodGet, "/sandbox/calls", "") },
		"subscription": func() reply { return brief.call(t, "execution.subscribe", object{"executionId": "exec_1_x"}) },
	}
	try := func(want bool) {
		t.Helper()
		for name, ask := range asks {
			if answer := ask(); (answer.status == http.StatusUnauthorized) != want {
				t.Errorf("%s: %d %s", name, answer.status, answer.text)
			}
		}
	}
	try(false)
	s.advance(t, "4m59s")
	try(false)
	id := ada.keyNamed(t, "limited")
	s.advance(t, "1s")
	try(true)
	if after := ada.keyNamed(t, "limited"); at(after, "lastUsedAt") != at(id, "lastUsedAt") || at(after, "revokedAt") != nil {
		t.Errorf("after its expiry the key is %v", after)
	}
	ada.ok(t, "blueprint.list", nil)
}

// TestSubscriptionEndsAtTheExpiry follows a run with a key that expires before
// the run goes on.
func TestSubscriptionEndsAtTheExpiry(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	brief := ada.limitedTo(t, object{"expiresAt": "2030-05-01T12:05:00Z"})
	nodes := []any{node("ask", "human", object{"prompt": "?"}), node("end", "template", object{"text": "told to nobody"})}
	run := ada.launch(t, ada.blueprint(t, "asks", nodes...), nil, nodes...)
	lines := brief.subscribed(t, run)
	s.advance(t, "5m")
	ada.ok(t, "execution.resume", object{"executionId": run, "input": "yes"})
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
	}
	if !strings.Contains(text.String(), "serialized-error") || !strings.Contains(text.String(), "UNAUTHORIZED") || strings.Contains(text.String(), "told to nobody") {
		t.Errorf("the rest of the stream is %s", text.String())
	}
}
