package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server"
)

// TestUnknownKeys puts a canary under a key of unknown meaning of every input
// object. What is accepted is sealed on disk, and never shown to a person who may
// not manage it.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "strict.db")
	s := newService(t, atNoon, onFile(path))
	ada, ben := s.user(t, "ada"), s.user(t, "ben")
	id := ada.blueprint(t, "Strict", node("a", "merge", object{}))
	ada.ok(t, "blueprint.update", object{"id": id, "visibility": "public"})

	needed := map[string]object{"scheduled": {"cron": "@yearly"}}
	for _, kind := range []string{"manual", "scheduled", "webhook", "email", "slack", "event", "api"} {
		config := object{"color": canary, "x-more": object{"deep": []any{canary}}}
		for name, value := range needed[kind] {
			config[name] = value
		}
		made := ada.ok(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		said := encoded(t, at(made, "warnings"))
		if at(made, "config.color") != canary || !strings.Contains(said, "config.color: unknown key") || !strings.Contains(said, `x-more`) {
			t.Errorf("%s: the answer is %s", kind, encoded(t, made))
		}
		updated := ada.ok(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"color": nil, "x-more": nil, "shape": canary}})
		if said := encoded(t, at(updated, "warnings")); !strings.Contains(said, "config.shape: unknown key") || strings.Contains(said, "color") {
			t.Errorf("%s: the answer to an update is %s", kind, encoded(t, updated))
		}
		plain := ada.ok(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"shape": nil}})
		if _, given := plain.(object)["warnings"]; given != (kind == "email") {
			t.Errorf("%s: without an unknown key the answer is %s", kind, encoded(t, plain))
		}
		ada.ok(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"shape": canary}})
		for _, name := range []string{"my-secret", "TOKEN", "hmacKey", "x_signature", "thePassword", "sender_2", "fromHost", "allowed", "subdomain", "filterBy", "authorizedBy", "verifyToken"} {
			refused := object{name: canary}
			for name, value := range needed[kind] {
				refused[name] = value
			}
			text := ada.refused(t, blueprint.CodeBadRequest, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": refused})
			if !strings.Contains(text, name) || strings.Contains(text, canary) {
				t.Errorf("%s %s: %s", kind, name, text)
			}
		}
	}
	for _, variable := range []object{
		{"name": "A", "secret": true, "value": canary}, {"name": "A", "isSecret": true, "defaultValue": canary}, {"name": "A", "is_secret": true, "default_value": canary},
		{"name": "A", "secret": true, "hint": canary, "more": object{"deep": canary}}, {"name": "A", "secret": true, "default": "", "hint": canary},
	} {
		answer := ada.ok(t, "blueprint.update", object{"id": id, "environment_variables": []any{variable}})
		shown := at(answer, "environment_variables").([]any)[0]
		if at(shown, "secret") != true || !strings.Contains(encoded(t, shown), encoded(t, canary)) || at(shown, "value") != nil || at(shown, "isSecret") != nil {
			t.Errorf("%v: the answer is %s", variable, encoded(t, shown))
		}
		if kept := at(ada.ok(t, "blueprint.update", object{"id": id, "environment_variables": ben.ok(t, "blueprint.get", object{"id": id}).(object)["environment_variables"]}), "environment_variables"); encoded(t, kept) != encoded(t, []any{shown}) {
			t.Errorf("%v: with what a viewer sees sent back it is %s", variable, encoded(t, kept))
		}
	}
	ada.refused(t, blueprint.CodeBadRequest, "blueprint.update", object{"id": id, "environment_variables": []any{object{"name": "A", "value": canary, "default": "x"}}})
	for _, kind := range []string{"ai-provider", "mcp-server", "oauth2", "http", "smtp", "slack"} {
		text := ada.refused(t, blueprint.CodeBadRequest, "connection.create", object{"name": "c", "type": kind, "config": object{"color": canary}})
		if !strings.Contains(text, "color: is unknown") || strings.Contains(text, canary) {
			t.Errorf("%s: %s", kind, text)
		}
	}

	// Every procedure ignores what it does not know.
	known := object{
		"blueprintId": id, "title": "Another", "name": "n", "cron": "@yearly", "type": "http", "triggerType": "manual", "rating": 3, "email": "nobody@example.org", "role": "editor",
		"config": object{"auth": object{"type": "none"}, "hosts": []any{"example.org"}}, "blueprint_map": object{"nodes": []any{}}, "nodes": []any{node("a", "merge", object{})},
		"options": object{"blueprintId": id, "unheardOf": canary}, "categoryIds": []any{}, "budget": object{"tokens": 1}, "unheardOf": canary, "unheard-of": object{"deep": canary},
	}
	called := 0
	procedures := s.RPC.Procedures()
	for _, p := range procedures {
		if strings.HasSuffix(p.Name, ".delete") || strings.HasSuffix(p.Name, ".revoke") || p.Name == "blueprint.update" {
			continue
		}
		input := object{"id": id}
		for name, value := range known {
			input[name] = value
		}
		answer := ada.call(t, p.Name, input)
		if answer.status < 300 {
			called++
		}
		if in := found(answer.text, canary); len(in) > 0 && !ownQueries[p.Name] {
			t.Errorf("%s answers it in the forms %q: %.500s", p.Name, in, answer.text)
		}
		if in := found(ben.call(t, p.Name, input).text, canary); len(in) > 0 {
			t.Errorf("%s shows it to a viewer in the forms %q", p.Name, in)
		}
	}
	if called < 20 {
		t.Errorf("of %d procedures %d did anything", len(procedures), called)
	}
	for name, input := range map[string]object{
		"blueprint.get": {"id": id}, "blueprint.list": {"scope": "public"}, "blueprintTriggers.list": {"blueprintId": id}, "blueprintTriggers.listAll": {}, "blueprint.versions": {"id": id},
	} {
		if in := found(ben.call(t, name, input).text, canary); len(in) > 0 {
			t.Errorf("%s shows it to a viewer in the forms %q", name, in)
		}
	}
	disk(t, path, "while the server runs", canary)
	s.stop()
	if in := found(s.logs.String(), canary); len(in) > 0 {
		t.Errorf("the log has it in the forms %q", in)
	}
	disk(t, path, "in the end", canary)
}

// TestUnknownKeysOfNodes puts a canary under keys that a node's type does not know,
// one in each object of a config whose keys it names. It is kept for who manages the
// blueprint, and no other reader gets it; they can still run what they are shown.
func TestUnknownKeysOfNodes(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon, inABox, func(o *server.Options) { o.SyncTimeout = time.Millisecond })
	ada, ben := s.user(t, "ada"), s.user(t, "ben")
	const canary = "canary-under-a-node"
	configs := map[string][]object{
		"no-such-type": {{"url": canary}},
		"http_request": {
			{"url": "https://example.com/", "multipart": []any{object{"name": "a", "value": "b", "x-token": canary}}},
			{"url": "https://example.com/", "pagination": object{"next": "header:Link", "x-token": canary}},
		},
		"switch":           {{"cases": []any{object{"when": "true", "handle": "on", "x-token": canary}}}},
		"human_checkpoint": {{"prompt": "?", "x-token": canary}},
		"for-each": {
			{"items": []any{1}, "nodes": []any{node("in", "merge", object{"x-token": canary}), node("each", "for-each", object{"items": []any{1}, "nodes": []any{node("deep", "merge", object{"x-token": canary})}})}},
			{"items": []any{1}, "nodes": []any{node("in", "no-such-type", object{"x-token": canary})}}, {"items": []any{1}, "nodes": []any{canary}},
		},
	}
	for _, kind := range ada.ok(t, "node.types", nil).([]any) {
		config := object{"bearer_token": canary, "x-more": object{"deep": []any{canary}}}
		for name, value := range at(kind, "example").(object) {
			config[name] = value
		}
		name := at(kind, "type").(string)
		configs[name] = append(configs[name], config)
	}
	for kind, all := range configs {
		for _, config := range all {
			nodes := []any{node("a", kind, config, "position", object{"x": 1})}
			told := encoded(t, ada.ok(t, "blueprint.validate", object{"blueprint_map": object{"nodes": nodes}}))
			if config["bearer_token"] != nil && (!strings.Contains(told, `"bearer_token"`) || !strings.Contains(told, `"x-more"`)) {
				t.Errorf("%s: validate says %s", kind, told)
			}
			id := ada.blueprint(t, kind, nodes...)
			ada.ok(t, "blueprint.update", object{"id": id, "visibility": "public"})
			if stored := at(ada.ok(t, "blueprint.get", object{"id": id}), "blueprint_map.nodes"); encoded(t, stored) != encoded(t, nodes) {
				t.Errorf("%s: its owner gets %s", kind, encoded(t, stored))
			}
			seen := ben.ok(t, "blueprint.get", object{"id": id})
			shown := at(seen, "blueprint_map.nodes").([]any)
			if kept := at(shown[0], "config"); at(shown[0], "position.x") == nil || config["bearer_token"] != nil && len(kept.(object)) != len(config)-2 {
				t.Errorf("%s: a stranger gets %s", kind, encoded(t, shown))
			}
			run := ben.id(t, "execution.executeBlueprintWithLogging", object{"nodes": shown, "options": object{"blueprintId": id}})
			s.advance(t, "0s")
			input := object{"id": id, "blueprintId": id, "executionId": run, "nodes": shown, "options": object{"blueprintId": id}, "scope": "public", "title": "t", "blueprint_map": at(seen, "blueprint_map")}
			for _, p := range s.RPC.Procedures() {
				if in := found(ben.call(t, p.Name, input).text, canary); len(in) > 0 {
					t.Errorf("%s: %s shows it to a stranger in the forms %q", kind, p.Name, in)
				}
			}
			ben.refused(t, blueprint.CodeForbidden, "execution.executeBlueprintWithLogging", object{"nodes": append(shown, node("more", "merge", object{})), "options": object{"blueprintId": id}})
		}
	}
	s.stop()
	if in := found(s.logs.String(), canary); len(in) > 0 {
		t.Errorf("the log has it in the forms %q", in)
	}
}

// ownQueries are the queries that show a user who may manage a blueprint what they
// themselves wrote.
var ownQueries = map[string]bool{
	"blueprint.get": true, "blueprint.list": true, "blueprint.versions": true, "blueprintTriggers.list": true, "blueprintTriggers.listAll": true,
}

// An event trigger without an event hears every event of the server but custom
// ones.
func TestEventTriggerWithoutEvent(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	listener := ada.blueprint(t, "Listener", node("a", "merge", object{}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": listener, "triggerType": "event"})
	other := ada.blueprint(t, "Other", node("emit", "emit-event", object{"event": "custom.x", "data": object{}}))
	heard := func() (reasons []any) {
		s.advance(t, "1s")
		for _, row := range ada.firings(t, trigger) {
			if at(row, "decision") == "started" {
				reasons = append(reasons, at(row, "reason"))
			}
		}
		return reasons
	}
	ada.ok(t, "blueprint.execute", object{"id": other})
	expect(t, "heard", heard(), `["heard execution.completed", "heard blueprint.created"]`)
	narrow := ada.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"event": "custom.x"}})
	expect(t, "narrowed", at(narrow, "config"), `{"event": "custom.x"}`)
	ada.ok(t, "blueprint.execute", object{"id": other})
	expect(t, "heard when narrowed", heard(), `["heard custom.x", "heard execution.completed", "heard blueprint.created"]`)
	ada.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"event": nil}})
	ada.blueprint(t, "A third", node("a", "merge", object{}))
	expect(t, "heard when widened", heard(), `["heard blueprint.created", "heard custom.x", "heard execution.completed", "heard blueprint.created"]`)
}

// An email trigger says when no mail can come; with a listener it says nothing.
func TestEmailTriggerWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []func(*server.Options)
		warns   bool
	}{{nil, true}, {[]func(*server.Options){withMail}, false}} {
		ada := newService(t, c.options...).user(t, "ada")
		id := ada.blueprint(t, "t", node("a", "merge", object{}))
		made := ada.ok(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "email", "config": object{"allow_from": []any{"@example.org"}}})
		if said, warned := made.(object)["warnings"]; warned != c.warns || c.warns && !strings.Contains(encoded(t, said), "--smtp-addr") {
			t.Errorf("it says %v", said)
		}
		expect(t, "its senders", at(made, "config.allowFrom"), `["@example.org"]`)
	}
}

// A manual trigger takes inputData, as every other does, and keeps it for a
// redelivery.
func TestManualTriggerTakesInput(t *testing.T) {
	t.Parallel()
	ada := newService(t, atNoon).user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "transform", object{"expression": "inputData.name"}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	fired := ada.ok(t, "blueprintTriggers.fire", object{"triggerId": trigger, "inputData": object{"name": "Ada"}})
	again := ada.ok(t, "blueprintTriggers.redeliver", object{"firingId": at(fired, "firingId")})
	for what, run := range map[string]any{"fired": fired, "redelivered": again} {
		ended := ada.until(t, at(run, "executionId").(string), blueprint.StatusCompleted)
		expect(t, what, at(ended, "steps").([]any)[0].(object)["output"], `"Ada"`)
	}
	expect(t, "without", at(ada.until(t, at(ada.ok(t, "blueprintTriggers.fire", object{"triggerId": trigger}), "executionId").(string), blueprint.StatusCompleted), "steps").([]any)[0].(object)["output"], "null")
}

// The breaker works and explains itself on a clock that stands: it counts the runs
// that are started in the instant in which the trigger was switched on again, and
// names times of that clock alone.
func TestBreakerOnAStandingClock(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "stop", object{"failed": true, "message": "no"}))
	trigger := ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "a secret of the hook"}})
	signed := func(body string) string {
		made := hmac.New(sha256.New, []byte("a secret of the hook"))
		made.Write([]byte(body))
		return hex.EncodeToString(made.Sum(nil))
	}
	failing := func(round string) {
		t.Helper()
		for i := range 20 {
			body := fmt.Sprintf(`{"round": %q, "i": %d}`, round, i)
			if got := ada.send(t, "POST", "/webhooks/blueprint/"+trigger, body, "X-Signature", signed(body)); got.status != 202 {
				t.Fatalf("%s %d: %d %s", round, i, got.status, got.text)
			}
			s.advance(t, "0s")
		}
	}
	for _, round := range []string{"first", "again at once"} {
		failing(round)
		listed := at(ada.ok(t, "blueprintTriggers.listAll", object{}), "data").([]any)[0]
		if at(listed, "is_active") != false || !strings.Contains(fmt.Sprint(at(listed, "paused_reason")), "20 runs in a row failed, the last of them exec_") {
			t.Fatalf("%s: %s", round, encoded(t, listed))
		}
		row := ada.firings(t, trigger)[0]
		expect(t, round+" says when", at(row, "receivedAt"), `"2030-05-01T12:00:00.000Z"`)
		told := ada.ok(t, "blueprintTriggers.explain", object{"firingId": at(row, "id")})
		if text := encoded(t, told); !strings.Contains(text, "The server switched this trigger off, after 20 failed runs in a row.") || !strings.Contains(text, "2030-05-01 12:00 UTC") || strings.Contains(text, "another clock") {
			t.Errorf("%s: %s", round, text)
		}
		ada.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": true})
	}
}
