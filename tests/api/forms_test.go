package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// Null for an optional field counts as absent, wherever the field is.
func TestNullCountsAsAbsent(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	root := s.Root
	for _, c := range []struct{ name, input string }{
		{"blueprint.create", `{"title":"t","description":null,"status":null,"visibility":null,"tags":null,"organization_id":null,"environment_variables":null,"blueprint_map":null,"budget":null}`},
		{"blueprint.create", `{"title":"t","budget":{"tokens":null,"calls":3,"onBreach":null}}`},
		{"blueprint.create", `{"title":"t","environment_variables":[{"name":"a","type":null,"default":null,"description":null,"required":null,"secret":null}]}`},
		{"blueprint.create", `{"title":"t","blueprint_map":{"nodes":[{"id":"a","type":"merge","title":"","config":{"mode":null},"disabled":null,"retry":null,"timeoutMs":null,"onError":null,"effect":null}],"edges":null}}`},
		{"blueprint.create", `{"title":"t","blueprint_map":{"nodes":[{"id":"a","type":"merge","title":"","config":{}},{"id":"b","type":"merge","title":"","config":{}}],"edges":[{"id":null,"source":"a","target":"b","sourceHandle":null}]}}`},
		{"blueprint.list", `{"limit":null,"offset":null,"search":null,"scope":null,"status":null,"organization_id":null}`},
		{"organization.list", `null`},
		{"category.list", `{"organizationId":null}`},
		{"apiKey.create", `{"name":"k","expiresAt":null,"scopes":null}`},
		{"auditLog.list", `{"organizationId":null,"limit":null,"offset":null}`},
		{"execution.listRecentExecutions", `{"organizationId":null,"limit":null,"offset":null}`},
		{"blueprintTriggers.preview", `{"cron":"0 0 * * *","timezone":null,"count":null}`},
	} {
		t.Run(c.name+" "+c.input, func(t *testing.T) {
			if c.input == `null` {
				return
			}
			if got := root.Send(t, http.MethodPost, "/api/trpc/"+c.name, `{"json":`+c.input+`}`); got.Status != http.StatusOK && got.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %s", c.name, c.input, got.Status, got.Text)
			}
		})
	}
	// Configs of nodes.
	issues := root.OK(t, "blueprint.validate", object{"environment_variables": nil, "blueprint_map": object{"nodes": []any{
		node("h", "http-request", object{"method": nil, "url": "http://example.org/", "headers": nil, "query": nil, "body": nil, "connectionId": nil, "expectStatus": nil}),
		node("w", "wait", object{"durationMs": 1, "until": nil}),
		node("l", "log", object{"level": nil, "message": "m", "data": nil}),
		node("s", "stop", object{"message": nil, "failed": nil}),
	}}})
	if list, _ := at(issues, "issues").([]any); at(issues, "valid") != true || len(list) != 0 {
		t.Errorf("issues %v, want valid true and none", issues)
	}
	id := root.IDOf(t, "blueprint.create", object{"title": "vars", "environment_variables": []any{object{"name": "who", "default": "x"}, object{"name": "must", "required": true}},
		"blueprint_map": object{"nodes": []any{node("a", "template", object{"text": "{{who}}{{must}}"})}}})
	if got := at(root.OK(t, "blueprint.execute", object{"id": id, "variables": object{"who": nil, "must": "y"}, "inputData": nil}), "result.output.text"); got != "xy" {
		t.Errorf("the output is %v, want xy", got)
	}
	root.Refused(t, blueprint.CodeBadRequest, "blueprint.execute", object{"id": id, "variables": object{"must": nil}})
	trigger := root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual", "config": nil, "isActive": nil})
	root.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": nil, "isActive": nil})
	root.OK(t, "blueprint.update", object{"id": id, "title": nil, "blueprint_map": nil, "environment_variables": nil, "version": nil})
	root.Refused(t, blueprint.CodeBadRequest, "blueprint.create", object{"title": nil})
	root.Refused(t, blueprint.CodeBadRequest, "blueprint.get", object{"id": nil})
	if got := root.Send(t, http.MethodPost, "/clock/advance", `{"by":"1h","to":null}`); got.Status != http.StatusOK {
		t.Errorf("clock: %d %s, want %v", got.Status, got.Text, http.StatusOK)
	}
}

// A NUL inside a JSON string is an ordinary character.
func TestNULIsKept(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	id := s.Root.IDOf(t, "blueprint.create", object{"title": "a\x00b", "description": "\x00", "blueprint_map": object{"nodes": []any{node("a", "set", object{"values": object{"v": "{{inputData.x}}\x00"}})}}})
	stored := s.Root.OK(t, "blueprint.get", object{"id": id})
	if at(stored, "title") != "a\x00b" || at(stored, "description") != "\x00" {
		t.Errorf("stored as %q, %q", at(stored, "title"), at(stored, "description"))
	}
	if got := at(s.Root.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"x": "1\x002"}}), "result.output.v"); got != "1\x002\x00" {
		t.Errorf("the run gave %q", got)
	}
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": "wait"}})
	if got := (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, `{"x":"\u0000"}`); got.Status != http.StatusOK || at(got.Value, "v") != "\x00\x00" {
		t.Errorf("the webhook answered %d %q", got.Status, got.Text)
	}
}

// Invalid UTF-8 is refused with 400, but only after authentication.
func TestInvalidUTF8IsRefusedAfterAuthentication(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	stranger := servertest.Caller{Server: v.Server, Authorization: "Bearer nobodys-key"}
	for _, way := range []struct{ path, body string }{
		{"/api/trpc/blueprint.create", "{\"json\":{\"title\":\"\xff\"}}"},
		{"/api/trpc/blueprint.create,blueprint.create?batch=1", "{\"0\":{\"json\":{\"title\":\"\xff\"}}}"},
		{"/v1/triggers/" + v.api + "/fire", "{\"a\":\"\xff\"}"},
		{"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"},
		{"/clock/advance", "{\"by\":\"\xff\"}"},
	} {
		t.Run(caseName(way.path), func(t *testing.T) {
			if got := v.Root.Send(t, http.MethodPost, way.path, way.body); got.Status != http.StatusBadRequest {
				t.Errorf("%s with a key: %d %s, want %v", way.path, got.Status, got.Text, http.StatusBadRequest)
			}
			if got := stranger.Send(t, http.MethodPost, way.path, way.body); got.Status != http.StatusUnauthorized {
				t.Errorf("%s without a good key: %d %s, want %v", way.path, got.Status, got.Text, http.StatusUnauthorized)
			}
		})
	}
	nobody := servertest.Caller{Server: v.Server}
	if got := nobody.Send(t, http.MethodPost, "/webhooks/blueprint/"+v.webhook, "{\"a\":\"\xff\"}"); got.Status != http.StatusBadRequest {
		t.Errorf("an open webhook: %d %s, want %v", got.Status, got.Text, http.StatusBadRequest)
	}
	if got := nobody.Send(t, http.MethodPost, "/webhooks/blueprint/"+v.signed, "{\"a\":\"\xff\"}"); got.Status != http.StatusUnauthorized {
		t.Errorf("a signed webhook: %d %s, want %v", got.Status, got.Text, http.StatusUnauthorized)
	}
}

// Templates follow the grammar of paths, resolve once, and keep types.
func TestTemplatesInRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	run := func(nodes ...any) (object, string) {
		id := s.Root.IDOf(t, "blueprint.create", object{"title": "t", "environment_variables": []any{object{"name": "who", "default": "{{inputData.n}}"}}, "blueprint_map": object{"nodes": nodes}})
		answer := s.Root.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"n": 1, "a-b": object{"c": []any{1, object{"k y": true}}}}})
		out, _ := at(answer, "result.output").(object)
		message, _ := at(answer, "result.error.message").(string)
		return out, message
	}
	out, failed := run(
		node("my-node", "set", object{"values": object{"n": "{{inputData.n}}"}}),
		node("b", "set", object{"values": object{"of": object{
			"dashed": "{{nodes.my-node.output.n}}", "quoted": `{{nodes["my-node"].output.n}}`, "path": `{{ inputData.a-b.c[1]["k y"] }}`, "text": "n={{nodes.my-node.output}}",
			"once": "{{who}}", "default": `{{inputData.none ?? {"x":[1]}}}`, "null": "{{inputData.none ?? null}}",
			"expression": `{{= nodes["my-node"].output.n + 1 }}`, "missing": "{{= inputData.none == nil }}",
			"blueprint": "{{blueprint.title}}", "now": "{{now}}", "run": "{{execution.id}}",
		}}}),
	)
	out, _ = out["of"].(object)
	for key, want := range map[string]any{"dashed": "1", "quoted": "1", "path": "true", "text": `"n={\"n\":1}"`, "once": `"{{inputData.n}}"`, "default": `{"x":[1]}`, "null": "null", "expression": "2", "missing": "true", "blueprint": `"t"`} {
		t.Run(key, func(t *testing.T) {
			value, given := out[key]
			if got, err := blueprint.Encode(value); err != nil || !given || string(got) != want {
				t.Errorf("%s is %s, want %s (%s)", key, got, want, failed)
			}
		})
	}
	if now, _ := out["now"].(string); !strings.HasSuffix(now, "Z") {
		t.Errorf("now is %v, want \"Z\" at the end", out["now"])
	} else if _, err := time.Parse("2006-01-02T15:04:05.000Z", now); err != nil {
		t.Error(err)
	}
	if _, failed := run(node("my-node", "set", object{"values": object{}}), node("b", "set", object{"values": object{"v": "{{nodes.my-nod.output}}"}})); !strings.Contains(failed, "nodes.my-nod.output") || !strings.Contains(failed, "my-node") {
		t.Errorf("a path that leads nowhere: %q, want \"nodes.my-nod.output\" in it and \"my-node\" in it", failed)
	}
	if _, failed := run(node("a", "set", object{"values": object{"v": "{{= nope }}"}})); !strings.Contains(failed, "nope") {
		t.Errorf("an unknown name: %q, want \"nope\" in it", failed)
	}
	if _, failed := run(node("a", "conditional", object{"condition": "inputData.n"})); !strings.Contains(failed, "boolean") && !strings.Contains(failed, "true or false") {
		t.Errorf("a condition that is not boolean: %q", failed)
	}
	for text, want := range map[string]string{"{{inputData.n": "}}", "{{-n}}": "expected a name", "{{inputData.n-}}": `expected "}}"`, "{{= reduce([1], 0) }}": "reduce"} {
		t.Run(text, func(t *testing.T) {
			answer := s.Root.OK(t, "blueprint.validate", object{"blueprint_map": object{"nodes": []any{node("a", "set", object{"values": object{"v": text}})}}})
			if encoded, _ := blueprint.Encode(at(answer, "issues")); at(answer, "valid") != false || !strings.Contains(string(encoded), strings.ReplaceAll(want, `"`, `\"`)) {
				t.Errorf("%v, want valid false and %q in it", encoded, strings.ReplaceAll(want, `"`, `\"`))
			}
		})
	}
}
