package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestTriggerRecord creates a trigger of each type and compares the records.
func TestTriggerRecord(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada, ben := s.user(t, "ada"), s.user(t, "ben")
	id := ada.blueprint(t, "t")
	var all []string
	for _, test := range []struct{ kind, config, want string }{ // no want: 400
		{"manual", ``, `{}`},
		{"manual", `{"anything": [1.0, null]}`, `{"anything": [1.0, null]}`},
		{"scheduled", `{"cron": "0 12 * * MON"}`, `{"cron": "0 12 * * MON"}`},
		{"scheduled", `{"cron": "@daily", "timezone": "Europe/Zurich", "catchUp": "all"}`, `{"cron": "@daily", "timezone": "Europe/Zurich", "catchUp": "all"}`},
		{"webhook", ``, `{}`},
		{"webhook", `{"secret": "abc", "respond": "wait"}`, `{"secret": "abc", "respond": "wait"}`},
		{"email", ``, `<any>`},
		{"slack", `{"signingSecret": "abc", "channel": "C1", "eventType": "message"}`, `{"signingSecret": "abc", "channel": "C1", "eventType": "message"}`},
		{"slack", ``, `{}`},
		{"event", ``, `{}`},
		{"event", `{"event": "execution.failed"}`, `{"event": "execution.failed"}`},
		{"event", `{"event": "custom.x", "blueprintId": "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"}`, `{"event": "custom.x", "blueprintId": "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"}`},
		{"api", ``, `{}`},
		{"api", `{"label": "l", "inputSchema": {"type": "object"}}`, `{"label": "l", "inputSchema": {"type": "object"}}`},
		{"scheduled", ``, ``},
		{"scheduled", `{"cron": "0 0 * * * *"}`, ``},
		{"scheduled", `{"cron": "@reboot"}`, ``},
		{"scheduled", `{"cron": "0 0 30 2 *"}`, ``},
		{"scheduled", `{"cron": "0 0 * * *", "timezone": "Mars/Olympus"}`, ``},
		{"scheduled", `{"cron": "0 0 * * *", "catchUp": "some"}`, ``},
		{"webhook", `{"secret": 5}`, ``},
		{"webhook", `{"respond": "later"}`, ``},
		{"slack", `{"signingSecret": ""}`, ``},
		{"webhook", `{"secret": ""}`, ``},
		{"webhook", `{"webhookSecret": "x"}`, ``},
		{"event", `{"event": "nothing.known"}`, ``},
		{"api", `{"inputSchema": {"type": 5}}`, ``},
		{"nothing", ``, ``},
	} {
		input := object{
			"blueprintId": id, "triggerType": test.kind,
			"id": s.IDs.UUID(), "is_active": false, "created_by": ben.ID, "blueprint_id": s.IDs.UUID(), "trigger_type": "manual", "cursor_at": 0,
		}
		if test.config != "" {
			input["config"] = decoded(t, test.config)
		}
		if test.want == "" {
			message := ada.refused(t, blueprint.CodeBadRequest, "blueprintTriggers.create", input)
			if !strings.HasPrefix(message, "config") && !strings.HasPrefix(message, "triggerType") {
				t.Errorf("%s %s: %q does not name the field", test.kind, test.config, message)
			}
			continue
		}
		if test.want == "<any>" {
			test.want = `"<any>"`
		}
		want := fmt.Sprintf(`{"id": "<uuid>", "blueprint_id": %q, "trigger_type": %q, "config": %s, "is_active": true, "created_by": %q}`, id, test.kind, test.want, ada.ID)
		made := ada.ok(t, "blueprintTriggers.create", input).(object)
		if _, warned := made["warnings"]; warned != (test.kind == "email" || strings.Contains(test.config, "anything")) {
			t.Errorf("%s %s: warnings %v", test.kind, test.config, made["warnings"])
		}
		delete(made, "warnings")
		expect(t, test.kind+" "+test.config, made, want)
		all = append(all, want)
	}
	expect(t, "the list", ada.ok(t, "blueprintTriggers.list", object{"blueprintId": id}), "["+strings.Join(all, ",")+"]")
	expect(t, "an empty list", ada.ok(t, "blueprintTriggers.list", object{"blueprintId": ada.blueprint(t, "other")}), "[]")
}

func TestTriggerUpdate(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "merge", object{}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "0 0 1 1 *", "timezone": "UTC"}})
	for _, step := range []struct{ change, config, active string }{ // no config: 400
		{`{}`, `{"cron": "0 0 1 1 *", "timezone": "UTC"}`, "true"},
		{`{"isActive": false}`, `{"cron": "0 0 1 1 *", "timezone": "UTC"}`, "false"},
		{`{"config": {"cron": "* * * * *"}}`, `{"cron": "* * * * *", "timezone": "UTC"}`, "false"},
		{`{"config": {"timezone": null}}`, `{"cron": "* * * * *"}`, "false"},
		{`{"config": {"cron": null}}`, ``, ""},
		{`{"config": {"cron": "* * * *"}, "isActive": true}`, ``, ""},
		{`{"config": {}, "isActive": true, "is_active": false, "trigger_type": "manual", "triggerType": "manual", "blueprintId": "x", "created_by": "x"}`, `{"cron": "* * * * *"}`, "true"},
	} {
		input := decoded(t, step.change).(object)
		input["triggerId"] = trigger
		if step.config == "" {
			ada.refused(t, blueprint.CodeBadRequest, "blueprintTriggers.update", input)
			continue
		}
		expect(t, step.change, ada.ok(t, "blueprintTriggers.update", input), fmt.Sprintf(`{"id": %q, "blueprint_id": %q, "trigger_type": "scheduled", "config": %s, "is_active": %s, "created_by": %q}`, trigger, id, step.config, step.active, ada.ID))
		want := 0
		if step.active == "true" && step.config == `{"cron": "* * * * *"}` {
			want = 1
		}
		if fired := s.advance(t, "1m"); fired != want {
			t.Errorf("after %s it fired %d times", step.change, fired)
		}
	}
	if fired := s.advance(t, "3m"); fired != 3 {
		t.Errorf("at last it fired %d times in three minutes", fired)
	}
	expect(t, "deleted", ada.ok(t, "blueprintTriggers.delete", object{"triggerId": trigger}), `{"success": true}`)
	if fired := s.advance(t, "3m"); fired != 0 {
		t.Errorf("after its deletion it fired %d times", fired)
	}
	for _, name := range []string{"update", "delete", "fire", "history", "getWebhookUrl"} {
		ada.refused(t, blueprint.CodeNotFound, "blueprintTriggers."+name, object{"triggerId": trigger})
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	const preview = "blueprintTriggers.preview"
	for _, test := range []struct{ input, want string }{
		{`{"cron": "0 0 * * *"}`, `["2030-05-02T00:00:00.000Z", "2030-05-03T00:00:00.000Z", "2030-05-04T00:00:00.000Z", "2030-05-05T00:00:00.000Z", "2030-05-06T00:00:00.000Z"]`},
		{`{"cron": "0 12 * * *", "count": 1}`, `["2030-05-02T12:00:00.000Z"]`},
		{`{"cron": "0 0 * * *", "timezone": "Europe/Zurich", "count": 1}`, `["2030-05-01T22:00:00.000Z"]`},
		{`{"cron": "@yearly", "count": 2}`, `["2031-01-01T00:00:00.000Z", "2032-01-01T00:00:00.000Z"]`},
	} {
		expect(t, test.input, s.root.ok(t, preview, decoded(t, test.input)), test.want)
	}
	if ticks := s.root.ok(t, preview, object{"cron": "* * * * *", "count": 100}).([]any); len(ticks) != 100 || ticks[99] != "2030-05-01T13:40:00.000Z" {
		t.Errorf("100 ticks end with %v", ticks[len(ticks)-1])
	}
	for input, field := range map[string]string{
		`{"cron": ""}`: "cron", `{"cron": "* * * *"}`: "cron", `{"cron": "70/5 * * * *"}`: "cron", `{"cron": "0 0 30 2 *"}`: "cron", `{"cron": "0 0 L * *"}`: "cron", `{"cron": "* * * * *", "timezone": "Nowhere"}`: "timezone",
	} {
		if message := s.root.refused(t, blueprint.CodeBadRequest, preview, decoded(t, input)); !strings.HasPrefix(message, field+": ") {
			t.Errorf("%s: %q", input, message)
		}
	}
}

// TestFire fires a trigger of each type by hand and looks at the run and the
// ledger.
func TestFire(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada, ben := s.user(t, "ada"), s.user(t, "ben")
	id := ada.blueprint(t, "t", node("a", "transform", object{"expression": `{"in": inputData, "type": trigger.type, "id": trigger.id}`}))
	ada.ok(t, "collaborator.add", object{"blueprintId": id, "email": ben.Email, "role": "editor"})
	configs := map[string]object{"scheduled": {"cron": "0 0 1 1 *"}, "slack": {"signingSecret": "abc"}, "event": {"event": "custom.x"}}
	const fire = "blueprintTriggers.fire"
	for _, kind := range []string{"manual", "scheduled", "webhook", "email", "slack", "event", "api"} {
		config := configs[kind]
		if config == nil {
			config = object{}
		}
		trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		const given = `{"n": 1.50, "list": [null]}`
		answer := ben.ok(t, fire, object{"triggerId": trigger, "inputData": decoded(t, given)})
		expect(t, kind, answer, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
		s.advance(t, "0s")
		run, firing := at(answer, "executionId").(string), at(answer, "firingId").(string)
		log := ada.log(t, run)
		expect(t, kind+" output", at(log, "outputSummary.output"), fmt.Sprintf(`{"in": %s, "type": %q, "id": %q}`, given, kind, trigger))
		expect(t, kind+" metadata", at(log, "executionMetadata"), fmt.Sprintf(`{"blueprintVersion": "1.0.0", "triggerId": %q, "firingId": %q}`, trigger, firing))
		if at(log, "userId") != ada.ID { // whoever fires, it runs as its creator
			t.Errorf("%s ran as %v", kind, at(log, "userId"))
		}
		expect(t, kind+" without input", at(ada.ok(t, fire, object{"triggerId": trigger}), "success"), "true")
		expect(t, kind+" history", ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger, "offset": 1}), fmt.Sprintf(`{"firings": [
			{"id": %q, "triggerId": %q, "source": "manual", "key": "<text>", "dueAt": null, "receivedAt": %q, "decision": "started", "reason": "<text>", "executionId": %q}], "total": 2}`, firing, trigger, noonText, run))

		ada.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": false})
		ada.refused(t, blueprint.CodeBadRequest, fire, object{"triggerId": trigger})
		newest := at(ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger, "limit": 1}), "firings").([]any)
		expect(t, kind+" inactive", newest[0], fmt.Sprintf(`{"id": "<ulid>", "triggerId": %q, "source": "manual", "key": "<text>", "dueAt": null, "receivedAt": %q, "decision": "refused", "reason": "<text>", "executionId": null}`, trigger, noonText))
	}
	// A blueprint that cannot run.
	empty := ada.blueprint(t, "empty")
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": empty, "triggerType": "manual"})
	ada.refused(t, blueprint.CodeBadRequest, fire, object{"triggerId": trigger})
	expect(t, "refused", at(at(ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any)[0], "decision"), `"refused"`)
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "merge", object{}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	var fired []string
	for range 25 {
		fired = append([]string{at(ada.ok(t, "blueprintTriggers.fire", object{"triggerId": trigger}), "firingId").(string)}, fired...)
	}
	for _, test := range []struct {
		input    object
		from, to int
	}{{object{}, 0, 20}, {object{"limit": 100}, 0, 25}, {object{"offset": 20}, 20, 25}, {object{"limit": 3, "offset": 1}, 1, 4}, {object{"offset": 25}, 25, 25}} {
		test.input["triggerId"] = trigger
		answer := ada.ok(t, "blueprintTriggers.history", test.input)
		var ids []string
		for _, firing := range at(answer, "firings").([]any) {
			ids = append(ids, at(firing, "id").(string))
		}
		if fmt.Sprint(ids) != fmt.Sprint(fired[test.from:test.to]) || at(answer, "total") != json.Number("25") {
			t.Errorf("%v: %v of %v", test.input, ids, at(answer, "total"))
		}
	}
}

// TestWebhookEndToEnd delivers to a signed webhook and reads the run of it.
func TestWebhookEndToEnd(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "template", object{"text": `{{inputData.name}} {{trigger.headers["x-more"]}}`}))
	made := ada.ok(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "the secret"}})
	trigger := at(made, "id").(string)
	address := at(ada.ok(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": trigger}), "url").(string)
	if address != s.host+"/webhooks/blueprint/"+trigger {
		t.Errorf("the address is %s", address)
	}
	nobody := person{service: s}
	deliver := func(body, secret string, headers ...string) reply {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		return nobody.send(t, http.MethodPost, strings.TrimPrefix(address, s.host), body, append(headers, "X-Webhook-Signature", hex.EncodeToString(mac.Sum(nil)))...)
	}
	first := deliver(`{"name": "Ada"}`, "the secret", "X-More", "more", "Idempotency-Key", "one")
	if first.status != http.StatusAccepted {
		t.Fatalf("%d %s", first.status, first.text)
	}
	expect(t, "accepted", first.value, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
	s.advance(t, "0s")
	expect(t, "its run", at(ada.log(t, at(first.value, "executionId").(string)), "outputSummary.output"), `{"text": "Ada more"}`)
	again := deliver(`{"name": "Ada"}`, "the secret", "Idempotency-Key", "one")
	expect(t, "a duplicate", again.value, encoded(t, first.value))
	for what, answer := range map[string]reply{"wrong secret 401": deliver(`{}`, "another secret"), "not JSON 400": deliver(`{`, "the secret"), "no signature 401": nobody.send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}")} {
		if !strings.HasSuffix(what, fmt.Sprint(answer.status)) || at(answer.value, "success") != false || at(answer.value, "error.code") == nil || at(answer.value, "error.message") == nil {
			t.Errorf("%s: %d %s", what, answer.status, answer.text)
		}
	}
	decisions := map[any]int{}
	for _, firing := range at(ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any) {
		decisions[at(firing, "decision")]++
	}
	if fmt.Sprint(decisions) != "map[duplicate:1 refused:3 started:1]" {
		t.Errorf("the ledger has %v", decisions)
	}
	ada.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": false})
	inactive := deliver(`{}`, "the secret")
	ada.ok(t, "blueprintTriggers.delete", object{"triggerId": trigger})
	deleted := deliver(`{}`, "the secret")
	if inactive.status != http.StatusNotFound || deleted.status != http.StatusNotFound || inactive.text != deleted.text {
		t.Errorf("inactive: %d %s; deleted: %d %s", inactive.status, inactive.text, deleted.status, deleted.text)
	}
	slack := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "slack", "config": object{"signingSecret": "of Slack"}})
	expect(t, "of Slack", ada.ok(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": slack}), fmt.Sprintf(`{"url": %q, "secret": "of Slack"}`, s.host+"/webhooks/slack/"+slack))
	ada.refused(t, blueprint.CodeBadRequest, "blueprintTriggers.getWebhookUrl", object{"triggerId": ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api"})})
}

// TestAPITrigger calls POST /v1/triggers/{triggerId}/fire.
func TestAPITrigger(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "transform", object{"expression": "inputData"}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api", "config": object{"inputSchema": object{"type": "object", "required": []any{"n"}}}})
	path := "/v1/triggers/" + trigger + "/fire"
	first := ada.send(t, http.MethodPost, path, `{"n": 1.50}`, "Idempotency-Key", "one")
	if first.status != http.StatusAccepted {
		t.Fatalf("%d %s", first.status, first.text)
	}
	expect(t, "accepted", first.value, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
	s.advance(t, "0s")
	expect(t, "its run", at(ada.log(t, at(first.value, "executionId").(string)), "outputSummary.output"), `{"n": 1.50}`)
	for _, test := range []struct {
		what   string
		answer reply
		status int
		code   blueprint.Code
	}{
		{"the same again", ada.send(t, http.MethodPost, path, `{"n": 1.50}`, "Idempotency-Key", "one"), 200, ""},
		{"another body", ada.send(t, http.MethodPost, path, `{"n": 2}`, "Idempotency-Key", "one"), 409, blueprint.CodeConflict},
		{"breaks the schema", ada.send(t, http.MethodPost, path, `{}`), 400, blueprint.CodeBadRequest},
		{"an empty body", ada.send(t, http.MethodPost, path, ``), 400, blueprint.CodeBadRequest},
		{"no JSON", ada.send(t, http.MethodPost, path, `{`), 400, blueprint.CodeBadRequest},
		{"by GET", ada.send(t, http.MethodGet, path, ``), 405, blueprint.CodeMethodNotSupported},
		{"of no trigger", ada.send(t, http.MethodPost, "/v1/triggers/"+s.IDs.UUID()+"/fire", `{}`), 404, blueprint.CodeNotFound},
		{"a malformed id", ada.send(t, http.MethodPost, "/v1/triggers/x/fire", `{}`), 400, blueprint.CodeBadRequest},
		{"without a key", (person{service: s}).send(t, http.MethodPost, path, `{}`), 401, blueprint.CodeUnauthorized},
	} {
		if test.answer.status != test.status || test.code != "" && at(test.answer.value, "error.code") != string(test.code) {
			t.Errorf("%s: %d %s", test.what, test.answer.status, test.answer.text)
		}
		if test.code != "" {
			expect(t, test.what, test.answer.value, fmt.Sprintf(`{"error": {"code": %q, "message": "<text>"}}`, test.code))
		} else {
			expect(t, test.what, test.answer.value, encoded(t, first.value))
		}
	}
	answer := ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger})
	for _, firing := range at(answer, "firings").([]any) {
		if at(firing, "source") != "api" {
			t.Errorf("the source is %v", at(firing, "source"))
		}
	}
	if message := ada.refused(t, blueprint.CodeBadRequest, "blueprintTriggers.fire", object{"triggerId": trigger, "inputData": object{}}); !strings.Contains(message, "n") {
		t.Errorf("fire by hand with what breaks the schema: %q", message)
	}
}

// TestLostAccess takes rights away from people whose rights the server has in
// memory, and expects that the very next request knows it.
func TestLostAccess(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada, ben, cleo := s.user(t, "ada"), s.user(t, "ben"), s.user(t, "cleo")
	team, err := s.Store.CreateOrganization(t.Context(), blueprint.Principal{UserID: cleo.ID}, "team")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.SetMember(t.Context(), team.ID, ada.ID, "member"); err != nil {
		t.Fatal(err)
	}
	nodes := []any{node("a", "merge", object{})}
	id := ada.id(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": nodes}, "organization_id": team.ID})
	for _, way := range []struct {
		name       string
		give, take func()
	}{
		{"collaborator", func() {
			ada.ok(t, "collaborator.add", object{"blueprintId": id, "email": ben.Email, "role": "editor"})
		}, func() { ada.ok(t, "collaborator.remove", object{"blueprintId": id, "userId": ben.ID}) }},
		{"member", func() {
			cleo.ok(t, "organization.addMember", object{"organizationId": team.ID, "email": ben.Email, "role": "member"})
		}, func() { cleo.ok(t, "organization.removeMember", object{"organizationId": team.ID, "userId": ben.ID}) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			ben.refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
			way.give()
			trigger := func(kind string, config object) string {
				return ben.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
			}
			hook, api, schedule := trigger("webhook", object{}), trigger("api", object{}), trigger("scheduled", object{"cron": "* * * * *"})
			run := ben.id(t, "execution.executeBlueprintWithLogging", object{"nodes": []any{node("ask", "approval-gate", object{"prompt": "?"})}, "options": object{"blueprintId": id}})
			post := func(p person, path string) reply { return p.send(t, http.MethodPost, path, "{}") }
			ben.ok(t, "blueprint.execute", object{"id": id})
			if fired := s.advance(t, "1m"); fired != 1 {
				t.Errorf("the schedule fired %d times", fired)
			}
			if answer := post(person{service: s}, "/webhooks/blueprint/"+hook); answer.status != 202 {
				t.Errorf("the webhook: %d %s", answer.status, answer.text)
			}
			if answer := post(ada, "/v1/triggers/"+api+"/fire"); answer.status != 202 {
				t.Errorf("the api trigger: %d %s", answer.status, answer.text)
			}

			way.take()
			ben.refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
			ben.refused(t, blueprint.CodeForbidden, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}})
			ben.refused(t, blueprint.CodeForbidden, "blueprintTriggers.fire", object{"triggerId": hook})
			ben.refused(t, blueprint.CodeForbidden, "execution.resume", object{"executionId": run, "input": object{"approved": true}})
			// His triggers fire for nobody any more, and leave rows that say why.
			ada.refused(t, blueprint.CodeForbidden, "blueprintTriggers.fire", object{"triggerId": hook})
			if answer := post(ada, "/v1/triggers/"+api+"/fire"); answer.status != 403 || at(answer.value, "error.code") != "FORBIDDEN" {
				t.Errorf("the api trigger: %d %s", answer.status, answer.text)
			}
			if answer := post(person{service: s}, "/webhooks/blueprint/"+hook); answer.status != 404 {
				t.Errorf("the webhook: %d %s", answer.status, answer.text)
			}
			if fired := s.advance(t, "1m"); fired != 0 {
				t.Errorf("the schedule fired %d times", fired)
			}
			for _, trigger := range []string{hook, api, schedule} {
				newest := at(ada.ok(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any)[0]
				if at(newest, "decision") != "refused" || !strings.Contains(fmt.Sprint(at(newest, "reason")), "creator") {
					t.Errorf("the newest row is %v", newest)
				}
				ada.ok(t, "blueprintTriggers.delete", object{"triggerId": trigger})
			}
		})
	}
	// A member who leaves sees what they created in the organization, and may do nothing with it.
	cleo.ok(t, "organization.removeMember", object{"organizationId": team.ID, "userId": ada.ID})
	ada.ok(t, "blueprint.get", object{"id": id})
	ada.refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
	ada.refused(t, blueprint.CodeForbidden, "blueprint.create", object{"title": "t", "organization_id": team.ID})
}
