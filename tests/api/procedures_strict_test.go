package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestUnknownKeys puts a canary under an unknown key of every input object. Accepted ones
// are sealed on disk, and never shown to a user who may not manage the blueprint.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "strict.db")
	s := servertest.New(t, servertest.AtNoon, servertest.OnFile(path))
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "Strict", node("a", "merge", object{}))
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})

	needed := map[string]object{"scheduled": {"cron": "@yearly"}}
	for _, kind := range []string{"manual", "scheduled", "webhook", "email", "slack", "event", "api"} {
		config := object{"color": canary, "x-more": object{"deep": []any{canary}}}
		for name, value := range needed[kind] {
			config[name] = value
		}
		made := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		said := servertest.Encoded(t, at(made, "warnings"))
		if at(made, "config.color") != canary || !strings.Contains(said, "config.color: unknown key") || !strings.Contains(said, `x-more`) {
			t.Errorf("%s: the answer is %s, want config.color %v, \"config.color: unknown key\" in it and \"x-more\" in it", kind, servertest.Encoded(t, made), canary)
		}
		updated := ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"color": nil, "x-more": nil, "shape": canary}})
		if said := servertest.Encoded(t, at(updated, "warnings")); !strings.Contains(said, "config.shape: unknown key") || strings.Contains(said, "color") {
			t.Errorf("%s: the answer to an update is %s, want \"config.shape: unknown key\" in it and no \"color\"", kind, servertest.Encoded(t, updated))
		}
		plain := ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"shape": nil}})
		if _, given := plain.(object)["warnings"]; given != (kind == "email") {
			t.Errorf("%s: without an unknown key the answer is %s", kind, servertest.Encoded(t, plain))
		}
		ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(made, "id"), "config": object{"shape": canary}})
		for _, name := range []string{"my-secret", "TOKEN", "hmacKey", "x_signature", "thePassword", "sender_2", "fromHost", "allowed", "subdomain", "filterBy", "authorizedBy", "verifyToken"} {
			refused := object{name: canary}
			for name, value := range needed[kind] {
				refused[name] = value
			}
			text := ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": refused})
			if !strings.Contains(text, name) || strings.Contains(text, canary) {
				t.Errorf("%s %s: %s, want %q in it and no %q", kind, name, text, name, canary)
			}
		}
	}
	for _, variable := range []object{
		{"name": "A", "secret": true, "value": canary}, {"name": "A", "isSecret": true, "defaultValue": canary}, {"name": "A", "is_secret": true, "default_value": canary},
		{"name": "A", "secret": true, "hint": canary, "more": object{"deep": canary}}, {"name": "A", "secret": true, "default": "", "hint": canary},
	} {
		answer := ada.OK(t, "blueprint.update", object{"id": id, "environment_variables": []any{variable}})
		shown := at(answer, "environment_variables").([]any)[0]
		if at(shown, "secret") != true || !strings.Contains(servertest.Encoded(t, shown), servertest.Encoded(t, canary)) || at(shown, "value") != nil || at(shown, "isSecret") != nil {
			t.Errorf("%v: the answer is %s", variable, servertest.Encoded(t, shown))
		}
		if kept := at(ada.OK(t, "blueprint.update", object{"id": id, "environment_variables": ben.OK(t, "blueprint.get", object{"id": id}).(object)["environment_variables"]}), "environment_variables"); servertest.Encoded(t, kept) != servertest.Encoded(t, []any{shown}) {
			t.Errorf("%v: with what a viewer sees sent back it is %s", variable, servertest.Encoded(t, kept))
		}
	}
	ada.Refused(t, blueprint.CodeBadRequest, "blueprint.update", object{"id": id, "environment_variables": []any{object{"name": "A", "value": canary, "default": "x"}}})
	for _, kind := range []string{"ai-provider", "mcp-server", "oauth2", "http", "smtp", "slack"} {
		text := ada.Refused(t, blueprint.CodeBadRequest, "connection.create", object{"name": "c", "type": kind, "config": object{"color": canary}})
		if !strings.Contains(text, "color: is unknown") || strings.Contains(text, canary) {
			t.Errorf("%s: %s, want \"color: is unknown\" in it and no %q", kind, text, canary)
		}
	}

	// Every procedure ignores unknown keys.
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
		answer := ada.Call(t, p.Name, input)
		if answer.Status < 300 {
			called++
		}
		if in := servertest.Found(answer.Text, canary); len(in) > 0 && !ownQueries[p.Name] {
			t.Errorf("%s answers it in the forms %q: %.500s", p.Name, in, answer.Text)
		}
		if in := servertest.Found(ben.Call(t, p.Name, input).Text, canary); len(in) > 0 {
			t.Errorf("%s shows it to a viewer in the forms %q, want none", p.Name, in)
		}
	}
	if called < 20 {
		t.Errorf("of %d procedures %d did anything, want at least 20", len(procedures), called)
	}
	for name, input := range map[string]object{
		"blueprint.get": {"id": id}, "blueprint.list": {"scope": "public"}, "blueprintTriggers.list": {"blueprintId": id}, "blueprintTriggers.listAll": {}, "blueprint.versions": {"id": id},
	} {
		t.Run(name, func(t *testing.T) {
			if in := servertest.Found(ben.Call(t, name, input).Text, canary); len(in) > 0 {
				t.Errorf("%s shows it to a viewer in the forms %q, want none", name, in)
			}
		})
	}
	disk(t, path, "while the server runs", canary)
	s.Stop()
	if in := servertest.Found(s.Logs.String(), canary); len(in) > 0 {
		t.Errorf("the log has it in the forms %q, want none", in)
	}
	disk(t, path, "in the end", canary)
}

// TestUnknownKeysOfNodes puts a canary under keys that a node's type does not define, one
// in each object of a config with defined keys. It is kept for managers of the blueprint
// and hidden from other readers, who can still run what they are shown.
func TestUnknownKeysOfNodes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox, func(o *server.Options) { o.SyncTimeout = time.Millisecond })
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
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
	for _, kind := range ada.OK(t, "node.types", nil).([]any) {
		config := object{"bearer_token": canary, "x-more": object{"deep": []any{canary}}}
		for name, value := range at(kind, "example").(object) {
			config[name] = value
		}
		name := at(kind, "type").(string)
		configs[name] = append(configs[name], config)
	}
	for kind, all := range configs {
		t.Run(kind, func(t *testing.T) {
			for _, config := range all {
				nodes := []any{node("a", kind, config, "position", object{"x": 1})}
				told := servertest.Encoded(t, ada.OK(t, "blueprint.validate", object{"blueprint_map": object{"nodes": nodes}}))
				if config["bearer_token"] != nil && (!strings.Contains(told, `"bearer_token"`) || !strings.Contains(told, `"x-more"`)) {
					t.Errorf("validate says %s", told)
				}
				id := ada.Blueprint(t, kind, nodes...)
				ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
				if stored := at(ada.OK(t, "blueprint.get", object{"id": id}), "blueprint_map.nodes"); servertest.Encoded(t, stored) != servertest.Encoded(t, nodes) {
					t.Errorf("its owner gets %s", servertest.Encoded(t, stored))
				}
				seen := ben.OK(t, "blueprint.get", object{"id": id})
				shown := at(seen, "blueprint_map.nodes").([]any)
				if kept := at(shown[0], "config"); at(shown[0], "position.x") == nil || config["bearer_token"] != nil && len(kept.(object)) != len(config)-2 {
					t.Errorf("a stranger gets %s", servertest.Encoded(t, shown))
				}
				run := ben.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": shown, "options": object{"blueprintId": id}})
				s.Advance(t, "0s")
				input := object{"id": id, "blueprintId": id, "executionId": run, "nodes": shown, "options": object{"blueprintId": id}, "scope": "public", "title": "t", "blueprint_map": at(seen, "blueprint_map")}
				for _, p := range s.RPC.Procedures() {
					if in := servertest.Found(ben.Call(t, p.Name, input).Text, canary); len(in) > 0 {
						t.Errorf("%s shows it to a stranger in the forms %q, want none", p.Name, in)
					}
				}
				ben.Refused(t, blueprint.CodeForbidden, "execution.executeBlueprintWithLogging", object{"nodes": append(shown, node("more", "merge", object{})), "options": object{"blueprintId": id}})
			}
		})
	}
	s.Stop()
	if in := servertest.Found(s.Logs.String(), canary); len(in) > 0 {
		t.Errorf("the log has it in the forms %q, want none", in)
	}
}

// ownQueries are the queries that show managers of a blueprint what they wrote.
var ownQueries = map[string]bool{
	"blueprint.get": true, "blueprint.list": true, "blueprint.versions": true, "blueprintTriggers.list": true, "blueprintTriggers.listAll": true,
}

// An event trigger without an event receives every event of the server except custom
// ones.
func TestEventTriggerWithoutEvent(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	listener := ada.Blueprint(t, "Listener", node("a", "merge", object{}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": listener, "triggerType": "event"})
	other := ada.Blueprint(t, "Other", node("emit", "emit-event", object{"event": "custom.x", "data": object{}}))
	heard := func() (reasons []any) { // sorted: events of the same instant come in any order
		s.Advance(t, "1s")
		for _, row := range firings(t, ada, trigger) {
			if at(row, "decision") == "started" {
				reasons = append(reasons, at(row, "reason"))
			}
		}
		slices.SortFunc(reasons, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		return reasons
	}
	ada.OK(t, "blueprint.execute", object{"id": other})
	servertest.Shape(t, "heard", heard(), `["received event blueprint.created", "received event execution.completed"]`)
	narrow := ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"event": "custom.x"}})
	servertest.Shape(t, "narrowed", at(narrow, "config"), `{"event": "custom.x"}`)
	ada.OK(t, "blueprint.execute", object{"id": other})
	servertest.Shape(t, "heard when narrowed", heard(), `["received event blueprint.created", "received event custom.x", "received event execution.completed"]`)
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"event": nil}})
	ada.Blueprint(t, "A third", node("a", "merge", object{}))
	servertest.Shape(t, "heard when widened", heard(), `["received event blueprint.created", "received event blueprint.created", "received event custom.x", "received event execution.completed"]`)
}

// A new email trigger has a warning if the server receives no mail, and none if it does.
func TestEmailTriggerWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []func(*server.Options)
		warns   bool
	}{{nil, true}, {[]func(*server.Options){withMail}, false}} {
		t.Run(fmt.Sprint(c.warns), func(t *testing.T) {
			ada := servertest.New(t, c.options...).NewUser(t, "ada")
			id := ada.Blueprint(t, "t", node("a", "merge", object{}))
			made := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "email", "config": object{"allow_from": []any{"@example.org"}}})
			if said, warned := made.(object)["warnings"]; warned != c.warns || c.warns && !strings.Contains(servertest.Encoded(t, said), "--smtp-addr") {
				t.Errorf("it says %v", said)
			}
			servertest.Shape(t, "its senders", at(made, "config.allowFrom"), `["@example.org"]`)
		})
	}
}

// A manual trigger takes inputData, as every other does, and keeps it for a
// redelivery.
func TestManualTriggerTakesInput(t *testing.T) {
	t.Parallel()
	ada := servertest.New(t, servertest.AtNoon).NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData.name"}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	fired := ada.OK(t, "blueprintTriggers.fire", object{"triggerId": trigger, "inputData": object{"name": "Ada"}})
	again := ada.OK(t, "blueprintTriggers.redeliver", object{"firingId": at(fired, "firingId")})
	for what, run := range map[string]any{"fired": fired, "redelivered": again} {
		ended := ada.Await(t, at(run, "executionId").(string), blueprint.StatusCompleted)
		servertest.Shape(t, what, at(ended, "steps").([]any)[0].(object)["output"], `"Ada"`)
	}
	servertest.Shape(t, "without", at(ada.Await(t, at(ada.OK(t, "blueprintTriggers.fire", object{"triggerId": trigger}), "executionId").(string), blueprint.StatusCompleted), "steps").([]any)[0].(object)["output"], "null")
}

// The breaker works on a clock that stands still: it counts the runs that start in the same
// instant as the reactivation, and names times of that clock only.
func TestBreakerOnAStandingClock(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "stop", object{"failed": true, "message": "no"}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "a secret of the hook"}})
	signed := func(body string) string {
		made := hmac.New(sha256.New, []byte("a secret of the hook"))
		made.Write([]byte(body))
		return hex.EncodeToString(made.Sum(nil))
	}
	failing := func(round string) {
		t.Helper()
		for i := range 20 {
			body := fmt.Sprintf(`{"round": %q, "i": %d}`, round, i)
			if got := ada.Send(t, "POST", "/webhooks/blueprint/"+trigger, body, "X-Signature", signed(body)); got.Status != 202 {
				t.Fatalf("%s %d: %d %s, want 202", round, i, got.Status, got.Text)
			}
			s.Advance(t, "0s")
		}
	}
	for _, round := range []string{"first", "again at once"} {
		failing(round)
		listed := at(ada.OK(t, "blueprintTriggers.listAll", object{}), "data").([]any)[0]
		if at(listed, "is_active") != false || !strings.Contains(fmt.Sprint(at(listed, "paused_reason")), "20 runs in a row failed, the last of them exec_") {
			t.Fatalf("%s: %s, want is_active false and \"20 runs in a row failed, the last of them exec_\" in it", round, servertest.Encoded(t, listed))
		}
		row := firings(t, ada, trigger)[0]
		servertest.Shape(t, round+" says when", at(row, "receivedAt"), `"2030-05-01T12:00:00.000Z"`)
		told := ada.OK(t, "blueprintTriggers.explain", object{"firingId": at(row, "id")})
		if text := servertest.Encoded(t, told); !strings.Contains(text, "The server paused this trigger after 20 failed runs in a row.") || !strings.Contains(text, "2030-05-01 12:00 UTC") || strings.Contains(text, "another clock") {
			t.Errorf("%s: %s", round, text)
		}
		ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": true})
	}
}
