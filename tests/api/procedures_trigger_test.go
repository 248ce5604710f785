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
	"blueprintd/tests/servertest"
)

// TestTriggerRecord creates a trigger of each type and compares the records.
func TestTriggerRecord(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "t")
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
		t.Run(test.kind+" "+test.config, func(t *testing.T) {
			input := object{
				"blueprintId": id, "triggerType": test.kind,
				"id": s.IDs.UUID(), "is_active": false, "created_by": ben.ID, "blueprint_id": s.IDs.UUID(), "trigger_type": "manual", "cursor_at": 0,
			}
			if test.config != "" {
				input["config"] = servertest.Decoded(t, test.config)
			}
			if test.want == "" {
				message := ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.create", input)
				if !strings.HasPrefix(message, "config") && !strings.HasPrefix(message, "triggerType") {
					t.Errorf("%s %s: %q does not name the field", test.kind, test.config, message)
				}
				return
			}
			if test.want == "<any>" {
				test.want = `"<any>"`
			}
			want := fmt.Sprintf(`{"id": "<uuid>", "blueprint_id": %q, "trigger_type": %q, "config": %s, "is_active": true, "created_by": %q}`, id, test.kind, test.want, ada.ID)
			made := ada.OK(t, "blueprintTriggers.create", input).(object)
			if _, warned := made["warnings"]; warned != (test.kind == "email" || strings.Contains(test.config, "anything")) {
				t.Errorf("%s %s: warnings %v", test.kind, test.config, made["warnings"])
			}
			delete(made, "warnings")
			servertest.Shape(t, test.kind+" "+test.config, made, want)
			all = append(all, want)
		})
	}
	servertest.Shape(t, "the list", ada.OK(t, "blueprintTriggers.list", object{"blueprintId": id}), "["+strings.Join(all, ",")+"]")
	servertest.Shape(t, "an empty list", ada.OK(t, "blueprintTriggers.list", object{"blueprintId": ada.Blueprint(t, "other")}), "[]")
}

func TestTriggerUpdate(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "merge", object{}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "0 0 1 1 *", "timezone": "UTC"}})
	for _, step := range []struct{ change, config, active string }{ // no config: 400
		{`{}`, `{"cron": "0 0 1 1 *", "timezone": "UTC"}`, "true"},
		{`{"isActive": false}`, `{"cron": "0 0 1 1 *", "timezone": "UTC"}`, "false"},
		{`{"config": {"cron": "* * * * *"}}`, `{"cron": "* * * * *", "timezone": "UTC"}`, "false"},
		{`{"config": {"timezone": null}}`, `{"cron": "* * * * *"}`, "false"},
		{`{"config": {"cron": null}}`, ``, ""},
		{`{"config": {"cron": "* * * *"}, "isActive": true}`, ``, ""},
		{`{"config": {}, "isActive": true, "is_active": false, "trigger_type": "manual", "triggerType": "manual", "blueprintId": "x", "created_by": "x"}`, `{"cron": "* * * * *"}`, "true"},
	} {
		input := servertest.Decoded(t, step.change).(object)
		input["triggerId"] = trigger
		if step.config == "" {
			ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.update", input)
			continue
		}
		servertest.Shape(t, step.change, ada.OK(t, "blueprintTriggers.update", input), fmt.Sprintf(`{"id": %q, "blueprint_id": %q, "trigger_type": "scheduled", "config": %s, "is_active": %s, "created_by": %q}`, trigger, id, step.config, step.active, ada.ID))
		want := 0
		if step.active == "true" && step.config == `{"cron": "* * * * *"}` {
			want = 1
		}
		if fired := s.Advance(t, "1m"); fired != want {
			t.Errorf("after %s it fired %d times, want %v", step.change, fired, want)
		}
	}
	if fired := s.Advance(t, "3m"); fired != 3 {
		t.Errorf("at last it fired %d times in three minutes, want 3", fired)
	}
	servertest.Shape(t, "deleted", ada.OK(t, "blueprintTriggers.delete", object{"triggerId": trigger}), `{"success": true}`)
	if fired := s.Advance(t, "3m"); fired != 0 {
		t.Errorf("after its deletion it fired %d times, want 0", fired)
	}
	for _, name := range []string{"update", "delete", "fire", "history", "getWebhookUrl"} {
		ada.Refused(t, blueprint.CodeNotFound, "blueprintTriggers."+name, object{"triggerId": trigger})
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	const preview = "blueprintTriggers.preview"
	for _, test := range []struct{ input, want string }{
		{`{"cron": "0 0 * * *"}`, `["2030-05-02T00:00:00.000Z", "2030-05-03T00:00:00.000Z", "2030-05-04T00:00:00.000Z", "2030-05-05T00:00:00.000Z", "2030-05-06T00:00:00.000Z"]`},
		{`{"cron": "0 12 * * *", "count": 1}`, `["2030-05-02T12:00:00.000Z"]`},
		{`{"cron": "0 0 * * *", "timezone": "Europe/Zurich", "count": 1}`, `["2030-05-01T22:00:00.000Z"]`},
		{`{"cron": "@yearly", "count": 2}`, `["2031-01-01T00:00:00.000Z", "2032-01-01T00:00:00.000Z"]`},
	} {
		servertest.Shape(t, test.input, s.Root.OK(t, preview, servertest.Decoded(t, test.input)), test.want)
	}
	if ticks := s.Root.OK(t, preview, object{"cron": "* * * * *", "count": 100}).([]any); len(ticks) != 100 || ticks[99] != "2030-05-01T13:40:00.000Z" {
		t.Errorf("100 ticks end with %v, want length 100 and 2030-05-01T13:40:00.000Z", ticks[len(ticks)-1])
	}
	for input, field := range map[string]string{
		`{"cron": ""}`: "cron", `{"cron": "* * * *"}`: "cron", `{"cron": "70/5 * * * *"}`: "cron", `{"cron": "0 0 30 2 *"}`: "cron", `{"cron": "0 0 L * *"}`: "cron", `{"cron": "* * * * *", "timezone": "Nowhere"}`: "timezone",
	} {
		t.Run(input, func(t *testing.T) {
			if message := s.Root.Refused(t, blueprint.CodeBadRequest, preview, servertest.Decoded(t, input)); !strings.HasPrefix(message, field+": ") {
				t.Errorf("%q, want %q at the start", message, field+": ")
			}
		})
	}
}

// TestFire fires a trigger of each type manually and checks the run and the ledger.
func TestFire(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": `{"in": inputData, "type": trigger.type, "id": trigger.id}`}))
	ada.OK(t, "collaborator.add", object{"blueprintId": id, "email": ben.Email, "role": "editor"})
	configs := map[string]object{"scheduled": {"cron": "0 0 1 1 *"}, "slack": {"signingSecret": "abc"}, "event": {"event": "custom.x"}}
	const fire = "blueprintTriggers.fire"
	for _, kind := range []string{"manual", "scheduled", "webhook", "email", "slack", "event", "api"} {
		config := configs[kind]
		if config == nil {
			config = object{}
		}
		trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		const given = `{"n": 1.50, "list": [null]}`
		answer := ben.OK(t, fire, object{"triggerId": trigger, "inputData": servertest.Decoded(t, given)})
		servertest.Shape(t, kind, answer, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
		s.Advance(t, "0s")
		run, firing := at(answer, "executionId").(string), at(answer, "firingId").(string)
		log := ada.Log(t, run)
		servertest.Shape(t, kind+" output", at(log, "outputSummary.output"), fmt.Sprintf(`{"in": %s, "type": %q, "id": %q}`, given, kind, trigger))
		servertest.Shape(t, kind+" metadata", at(log, "executionMetadata"), fmt.Sprintf(`{"blueprintVersion": "1.0.0", "triggerId": %q, "firingId": %q}`, trigger, firing))
		if at(log, "userId") != ada.ID { // the creator of the trigger, not the caller
			t.Errorf("%s ran as %v, want %v", kind, at(log, "userId"), ada.ID)
		}
		servertest.Shape(t, kind+" without input", at(ada.OK(t, fire, object{"triggerId": trigger}), "success"), "true")
		servertest.Shape(t, kind+" history", ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger, "offset": 1}), fmt.Sprintf(`{"firings": [
			{"id": %q, "triggerId": %q, "source": "manual", "key": "<text>", "dueAt": null, "receivedAt": %q, "decision": "started", "reason": "<text>", "executionId": %q}], "total": 2}`, firing, trigger, noonText, run))

		ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": false})
		ada.Refused(t, blueprint.CodeBadRequest, fire, object{"triggerId": trigger})
		newest := at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger, "limit": 1}), "firings").([]any)
		servertest.Shape(t, kind+" inactive", newest[0], fmt.Sprintf(`{"id": "<ulid>", "triggerId": %q, "source": "manual", "key": "<text>", "dueAt": null, "receivedAt": %q, "decision": "refused", "reason": "<text>", "executionId": null}`, trigger, noonText))
	}
	// A blueprint that cannot run.
	empty := ada.Blueprint(t, "empty")
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": empty, "triggerType": "manual"})
	ada.Refused(t, blueprint.CodeBadRequest, fire, object{"triggerId": trigger})
	servertest.Shape(t, "refused", at(at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any)[0], "decision"), `"refused"`)
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "merge", object{}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	var fired []string
	for range 25 {
		fired = append([]string{at(ada.OK(t, "blueprintTriggers.fire", object{"triggerId": trigger}), "firingId").(string)}, fired...)
	}
	for _, test := range []struct {
		input    object
		from, to int
	}{{object{}, 0, 20}, {object{"limit": 100}, 0, 25}, {object{"offset": 20}, 20, 25}, {object{"limit": 3, "offset": 1}, 1, 4}, {object{"offset": 25}, 25, 25}} {
		t.Run(fmt.Sprint(test.from, " ", test.to), func(t *testing.T) {
			test.input["triggerId"] = trigger
			answer := ada.OK(t, "blueprintTriggers.history", test.input)
			var ids []string
			for _, firing := range at(answer, "firings").([]any) {
				ids = append(ids, at(firing, "id").(string))
			}
			if fmt.Sprint(ids) != fmt.Sprint(fired[test.from:test.to]) || at(answer, "total") != json.Number("25") {
				t.Errorf("%v: %v of %v", test.input, ids, at(answer, "total"))
			}
		})
	}
}

// TestWebhookEndToEnd delivers to a signed webhook and reads the run of it.
func TestWebhookEndToEnd(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "template", object{"text": `{{inputData.name}} {{trigger.headers["x-more"]}}`}))
	made := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "the secret"}})
	trigger := at(made, "id").(string)
	address := at(ada.OK(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": trigger}), "url").(string)
	if address != s.Host+"/webhooks/blueprint/"+trigger {
		t.Errorf("the address is %s, want %v", address, s.Host+"/webhooks/blueprint/"+trigger)
	}
	nobody := servertest.Caller{Server: s}
	deliver := func(body, secret string, headers ...string) servertest.Reply {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		return nobody.Send(t, http.MethodPost, strings.TrimPrefix(address, s.Host), body, append(headers, "X-Webhook-Signature", hex.EncodeToString(mac.Sum(nil)))...)
	}
	first := deliver(`{"name": "Ada"}`, "the secret", "X-More", "more", "Idempotency-Key", "one")
	if first.Status != http.StatusAccepted {
		t.Fatalf("%d %s, want %v", first.Status, first.Text, http.StatusAccepted)
	}
	servertest.Shape(t, "accepted", first.Value, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
	s.Advance(t, "0s")
	servertest.Shape(t, "its run", at(ada.Log(t, at(first.Value, "executionId").(string)), "outputSummary.output"), `{"text": "Ada more"}`)
	again := deliver(`{"name": "Ada"}`, "the secret", "Idempotency-Key", "one")
	servertest.Shape(t, "a duplicate", again.Value, servertest.Encoded(t, first.Value))
	for what, answer := range map[string]servertest.Reply{"wrong secret 401": deliver(`{}`, "another secret"), "not JSON 400": deliver(`{`, "the secret"), "no signature 401": nobody.Send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}")} {
		t.Run(what, func(t *testing.T) {
			if !strings.HasSuffix(what, fmt.Sprint(answer.Status)) || at(answer.Value, "success") != false || at(answer.Value, "error.code") == nil || at(answer.Value, "error.message") == nil {
				t.Errorf("%d %s, want %q at the end, success false, error.code not nil and error.message not nil", answer.Status, answer.Text, fmt.Sprint(answer.Status))
			}
		})
	}
	decisions := map[any]int{}
	for _, firing := range at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any) {
		decisions[at(firing, "decision")]++
	}
	if fmt.Sprint(decisions) != "map[duplicate:1 refused:3 started:1]" {
		t.Errorf("the ledger has %v, want map[duplicate:1 refused:3 started:1]", decisions)
	}
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": false})
	inactive := deliver(`{}`, "the secret")
	ada.OK(t, "blueprintTriggers.delete", object{"triggerId": trigger})
	deleted := deliver(`{}`, "the secret")
	if inactive.Status != http.StatusNotFound || deleted.Status != http.StatusNotFound || inactive.Text != deleted.Text {
		t.Errorf("inactive: %d %s; deleted: %d %s, want %v, %v and %v", inactive.Status, inactive.Text, deleted.Status, deleted.Text, http.StatusNotFound, http.StatusNotFound, deleted.Text)
	}
	slack := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "slack", "config": object{"signingSecret": "of Slack"}})
	servertest.Shape(t, "of Slack", ada.OK(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": slack}), fmt.Sprintf(`{"url": %q, "secret": "of Slack"}`, s.Host+"/webhooks/slack/"+slack))
	ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.getWebhookUrl", object{"triggerId": ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api"})})
}

// TestAPITrigger calls POST /v1/triggers/{triggerId}/fire.
func TestAPITrigger(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData"}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api", "config": object{"inputSchema": object{"type": "object", "required": []any{"n"}}}})
	path := "/v1/triggers/" + trigger + "/fire"
	first := ada.Send(t, http.MethodPost, path, `{"n": 1.50}`, "Idempotency-Key", "one")
	if first.Status != http.StatusAccepted {
		t.Fatalf("%d %s, want %v", first.Status, first.Text, http.StatusAccepted)
	}
	servertest.Shape(t, "accepted", first.Value, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
	s.Advance(t, "0s")
	servertest.Shape(t, "its run", at(ada.Log(t, at(first.Value, "executionId").(string)), "outputSummary.output"), `{"n": 1.50}`)
	for _, test := range []struct {
		what   string
		answer servertest.Reply
		status int
		code   blueprint.Code
	}{
		{"the same again", ada.Send(t, http.MethodPost, path, `{"n": 1.50}`, "Idempotency-Key", "one"), 200, ""},
		{"another body", ada.Send(t, http.MethodPost, path, `{"n": 2}`, "Idempotency-Key", "one"), 409, blueprint.CodeConflict},
		{"breaks the schema", ada.Send(t, http.MethodPost, path, `{}`), 400, blueprint.CodeBadRequest},
		{"an empty body", ada.Send(t, http.MethodPost, path, ``), 400, blueprint.CodeBadRequest},
		{"no JSON", ada.Send(t, http.MethodPost, path, `{`), 400, blueprint.CodeBadRequest},
		{"by GET", ada.Send(t, http.MethodGet, path, ``), 405, blueprint.CodeMethodNotSupported},
		{"of no trigger", ada.Send(t, http.MethodPost, "/v1/triggers/"+s.IDs.UUID()+"/fire", `{}`), 404, blueprint.CodeNotFound},
		{"a malformed id", ada.Send(t, http.MethodPost, "/v1/triggers/x/fire", `{}`), 400, blueprint.CodeBadRequest},
		{"without a key", (servertest.Caller{Server: s}).Send(t, http.MethodPost, path, `{}`), 401, blueprint.CodeUnauthorized},
	} {
		t.Run(test.what, func(t *testing.T) {
			if test.answer.Status != test.status || test.code != "" && at(test.answer.Value, "error.code") != string(test.code) {
				t.Errorf("%d %s, want code %v", test.answer.Status, test.answer.Text, test.code)
			}
			if test.code != "" {
				servertest.Shape(t, test.what, test.answer.Value, fmt.Sprintf(`{"error": {"code": %q, "message": "<text>"}}`, test.code))
			} else {
				servertest.Shape(t, test.what, test.answer.Value, servertest.Encoded(t, first.Value))
			}
		})
	}
	answer := ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger})
	for _, firing := range at(answer, "firings").([]any) {
		if at(firing, "source") != "api" {
			t.Errorf("the source is %v, want api", at(firing, "source"))
		}
	}
	if message := ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.fire", object{"triggerId": trigger, "inputData": object{}}); !strings.Contains(message, "n") {
		t.Errorf("fire by hand with what breaks the schema: %q, want \"n\" in it", message)
	}
}

// TestLostAccess removes cached rights of users, and expects that the next request is
// refused.
func TestLostAccess(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben, cleo := s.NewUser(t, "ada"), s.NewUser(t, "ben"), s.NewUser(t, "cleo")
	team, err := s.Store.CreateOrganization(t.Context(), blueprint.Principal{UserID: cleo.ID}, "team")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.SetMember(t.Context(), team.ID, ada.ID, "member"); err != nil {
		t.Fatal(err)
	}
	nodes := []any{node("a", "merge", object{})}
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": nodes}, "organization_id": team.ID})
	for _, way := range []struct {
		name       string
		give, take func()
	}{
		{"collaborator", func() {
			ada.OK(t, "collaborator.add", object{"blueprintId": id, "email": ben.Email, "role": "editor"})
		}, func() { ada.OK(t, "collaborator.remove", object{"blueprintId": id, "userId": ben.ID}) }},
		{"member", func() {
			cleo.OK(t, "organization.addMember", object{"organizationId": team.ID, "email": ben.Email, "role": "member"})
		}, func() { cleo.OK(t, "organization.removeMember", object{"organizationId": team.ID, "userId": ben.ID}) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			ben.Refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
			way.give()
			trigger := func(kind string, config object) string {
				return ben.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
			}
			hook, api, schedule := trigger("webhook", object{}), trigger("api", object{}), trigger("scheduled", object{"cron": "* * * * *"})
			run := ben.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": []any{node("ask", "approval-gate", object{"prompt": "?"})}, "options": object{"blueprintId": id}})
			post := func(p servertest.Caller, path string) servertest.Reply { return p.Send(t, http.MethodPost, path, "{}") }
			ben.OK(t, "blueprint.execute", object{"id": id})
			if fired := s.Advance(t, "1m"); fired != 1 {
				t.Errorf("the schedule fired %d times, want 1", fired)
			}
			if answer := post(servertest.Caller{Server: s}, "/webhooks/blueprint/"+hook); answer.Status != 202 {
				t.Errorf("the webhook: %d %s, want 202", answer.Status, answer.Text)
			}
			if answer := post(ada, "/v1/triggers/"+api+"/fire"); answer.Status != 202 {
				t.Errorf("the api trigger: %d %s, want 202", answer.Status, answer.Text)
			}

			way.take()
			ben.Refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
			ben.Refused(t, blueprint.CodeForbidden, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}})
			ben.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.fire", object{"triggerId": hook})
			ben.Refused(t, blueprint.CodeForbidden, "execution.resume", object{"executionId": run, "input": object{"approved": true}})
			// His triggers no longer fire for any caller, and leave rows that say why.
			ada.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.fire", object{"triggerId": hook})
			if answer := post(ada, "/v1/triggers/"+api+"/fire"); answer.Status != 403 || at(answer.Value, "error.code") != "FORBIDDEN" {
				t.Errorf("the api trigger: %d %s, want 403 and error.code FORBIDDEN", answer.Status, answer.Text)
			}
			if answer := post(servertest.Caller{Server: s}, "/webhooks/blueprint/"+hook); answer.Status != 404 {
				t.Errorf("the webhook: %d %s, want 404", answer.Status, answer.Text)
			}
			if fired := s.Advance(t, "1m"); fired != 0 {
				t.Errorf("the schedule fired %d times, want 0", fired)
			}
			for _, trigger := range []string{hook, api, schedule} {
				newest := at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any)[0]
				if at(newest, "decision") != "refused" || !strings.Contains(fmt.Sprint(at(newest, "reason")), "creator") {
					t.Errorf("the newest row is %v, want decision refused and \"creator\" in it", newest)
				}
				ada.OK(t, "blueprintTriggers.delete", object{"triggerId": trigger})
			}
		})
	}
	// A member who leaves sees what they created in the organization, and may do nothing with it.
	cleo.OK(t, "organization.removeMember", object{"organizationId": team.ID, "userId": ada.ID})
	ada.OK(t, "blueprint.get", object{"id": id})
	ada.Refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
	ada.Refused(t, blueprint.CodeForbidden, "blueprint.create", object{"title": "t", "organization_id": team.ID})
}
