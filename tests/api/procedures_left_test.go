package api

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestWhoLeft removes a user from an organization and from a blueprint. Afterwards the
// user can reach only what they created themselves, by any route, and their triggers
// on the rest stop.
func TestWhoLeft(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		join, leave func(t *testing.T, cleo, ben servertest.Caller, team, id string)
	}{
		"organization": {
			func(t *testing.T, cleo, ben servertest.Caller, team, _ string) {
				cleo.OK(t, "organization.addMember", object{"organizationId": team, "email": ben.Email, "role": "admin"})
			},
			func(t *testing.T, _, ben servertest.Caller, team, _ string) {
				ben.OK(t, "organization.removeMember", object{"organizationId": team, "userId": ben.ID})
			},
		},
		"collaboration": {
			func(t *testing.T, cleo, ben servertest.Caller, _, id string) {
				cleo.OK(t, "collaborator.add", object{"blueprintId": id, "email": strings.ToUpper(ben.Email), "role": "admin"})
			},
			func(t *testing.T, cleo, ben servertest.Caller, _, id string) {
				cleo.OK(t, "collaborator.remove", object{"blueprintId": id, "userId": ben.ID})
			},
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := servertest.New(t, servertest.AtNoon, withMail)
			cleo, ben := s.NewUser(t, "cleo"), s.NewUser(t, "ben")
			team := cleo.IDOf(t, "organization.create", object{"name": "team"})
			shared := cleo.IDOf(t, "blueprint.create", object{"title": "shared", "organization_id": team, "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
			way.join(t, cleo, ben, team, shared)
			l := &leaving{Server: s, team: team, shared: shared, cleo: cleo, ben: ben, member: name == "organization"}
			l.before(t)
			way.leave(t, cleo, ben, team, shared)
			l.reachesNothing(t)
			l.triggersStop(t)
			l.keepsTheirOwn(t)
			l.subscriptionEnded(t)
		})
	}
}

// leaving holds everything that ben took part in before he left.
type leaving struct {
	*servertest.Server
	cleo, ben               servertest.Caller
	member                  bool // of the organization
	team, shared, own       string
	run, theirs, going      string            // cleo's, and two of ben's
	triggers                map[string]string // ben's, by type
	address                 string            // of his mailbox
	event                   string            // cleo's blueprint that publishes an event
	hook, connection, label string
	hears                   string // cleo's trigger on the events of ben's runs
	deaf                    string // ben's trigger on the events of other blueprints, if he is a member
	file, firing, ownFiring string
	lines                   *bufio.Scanner // of ben's subscription to cleo's run
}

// before uses ben's rights, so that they are known to work and cached.
func (l *leaving) before(t *testing.T) {
	ask := node("ask", "human", object{"prompt": "?"})
	l.run = l.cleo.Launch(t, l.shared, nil, ask)
	l.theirs = l.ben.Launch(t, l.shared, nil, ask)
	say := node("say", "emit-event", object{"event": "custom.said", "data": object{}})
	hears := l.cleo.IDOf(t, "blueprint.create", object{"title": "hears", "organization_id": l.team, "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
	l.hears = l.cleo.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hears, "triggerType": "event", "config": object{"event": "custom.said"}})
	l.ben.Await(t, l.ben.Launch(t, l.shared, nil, say), blueprint.StatusCompleted)
	if rows := firings(t, l.cleo, l.hears); len(rows) != 1 {
		t.Errorf("before, an event of his run: %v, want length 1", rows)
	}
	l.going = l.ben.Launch(t, l.shared, nil, node("wait", "wait", object{"durationMs": 3_600_000}), say)
	l.label = l.cleo.IDOf(t, "category.create", object{"organizationId": l.team, "name": "urgent"})
	l.connection = l.cleo.IDOf(t, "connection.create", connectionOf(&target{}, l.team))
	l.event = l.cleo.IDOf(t, "blueprint.create", object{"title": "raises", "organization_id": l.team, "blueprint_map": object{"nodes": []any{
		node("e", "emit-event", object{"event": "custom.left", "data": object{}}),
	}}})
	hook, address := mailbox(t, l.cleo, l.shared, object{})
	l.hook = hook
	if err := sendMail(t, l.Server, address, letter); err != nil {
		t.Fatal(err)
	}
	l.firing = at(firings(t, l.cleo, hook)[0], "id").(string)
	l.file = at(runInput(t, l.cleo, at(firings(t, l.cleo, hook)[0], "executionId").(string)), "attachments").([]any)[0].(object)["id"].(string)
	l.triggers = map[string]string{}
	for kind, config := range map[string]object{
		"webhook": {}, "api": {}, "manual": {}, "scheduled": {"cron": "* * * * *"}, "event": {"event": "blueprint.updated"}, "slack": {"signingSecret": "of slack"},
	} {
		l.triggers[kind] = l.ben.IDOf(t, "blueprintTriggers.create", object{"blueprintId": l.shared, "triggerType": kind, "config": config})
	}
	l.deaf = l.ben.IDOf(t, "blueprintTriggers.create", object{"blueprintId": l.shared, "triggerType": "event", "config": object{"event": "custom.left"}})
	l.triggers["email"], l.address = mailbox(t, l.ben, l.shared, object{})
	if l.member {
		l.own = l.ben.IDOf(t, "blueprint.create", object{"title": "own", "organization_id": l.team, "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
		fired := l.ben.OK(t, "blueprintTriggers.fire", object{"triggerId": l.ben.IDOf(t, "blueprintTriggers.create", object{"blueprintId": l.own, "triggerType": "manual"})})
		l.ownFiring = at(fired, "firingId").(string)
		l.ben.OK(t, "connection.get", object{"id": l.connection})
		l.ben.OK(t, "category.list", object{"organizationId": l.team})
		l.ben.OK(t, "auditLog.list", object{"organizationId": l.team})
	}
	l.ben.OK(t, "blueprint.get", object{"id": l.shared})
	l.ben.OK(t, "blueprint.setCategories", object{"id": l.shared, "categoryIds": []any{l.label}})
	if got := l.ben.Send(t, http.MethodGet, "/files/"+l.file, ""); got.Status != http.StatusOK {
		t.Errorf("the file: %d %s, want %v", got.Status, got.Text, http.StatusOK)
	}
	l.cleo.OK(t, "blueprint.execute", object{"id": l.event})
	l.cleo.OK(t, "blueprint.update", object{"id": l.shared, "description": "seen"})
	l.Advance(t, "1m")
	for _, trigger := range []string{l.triggers["scheduled"], l.triggers["event"]} {
		if rows := firings(t, l.cleo, trigger); len(rows) == 0 || at(rows[0], "decision") != "started" {
			t.Errorf("before: %v, want some and decision started", rows)
		}
	}
	if rows := firings(t, l.cleo, l.deaf); len(rows) > 0 != l.member {
		t.Errorf("before, of another blueprint: %v; want length %v", rows, l.member)
	}
	l.lines = subscribed(t, l.ben, l.run)
}

// subscribed opens a subscription to a run and reads its first record.
func subscribed(t *testing.T, p servertest.Caller, run string) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Host+"/api/trpc/execution.subscribe?input="+url.QueryEscape(servertest.Encoded(t, object{"json": object{"executionId": run}})), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", p.Authorization)
	response, err := p.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"status":"paused"`) {
			return lines
		}
	}
	t.Fatal("the subscription shows nothing")
	return nil
}

func (l *leaving) reachesNothing(t *testing.T) {
	id, run := object{"id": l.shared}, object{"executionId": l.run}
	for name, calls := range map[blueprint.Code][]struct {
		name  string
		input object
	}{
		blueprint.CodeForbidden: {
			{"blueprint.get", id}, {"blueprint.versions", id}, {"blueprint.execute", id}, {"blueprint.delete", id}, {"blueprint.favorite", id},
			{"blueprint.update", object{"id": l.shared, "title": "mine"}},
			{"blueprint.rate", object{"id": l.shared, "rating": 5}},
			{"blueprint.setCategories", object{"id": l.shared, "categoryIds": []any{}}},
			{"collaborator.list", object{"blueprintId": l.shared}},
			{"collaborator.add", object{"blueprintId": l.shared, "email": l.ben.Email, "role": "admin"}},
			{"collaborator.remove", object{"blueprintId": l.shared, "userId": l.ben.ID}},
			{"execution.getExecutionLogs", object{"blueprintId": l.shared}},
			{"execution.listRecentExecutions", object{"organizationId": l.team}},
			{"blueprintTriggers.list", object{"blueprintId": l.shared}},
			{"blueprintTriggers.create", object{"blueprintId": l.shared, "triggerType": "manual"}},
			{"blueprintTriggers.history", object{"triggerId": l.triggers["manual"]}},
			{"blueprintTriggers.update", object{"triggerId": l.triggers["manual"], "isActive": true}},
			{"blueprintTriggers.delete", object{"triggerId": l.triggers["manual"]}},
			{"blueprintTriggers.fire", object{"triggerId": l.triggers["manual"]}},
			{"blueprintTriggers.getWebhookUrl", object{"triggerId": l.triggers["webhook"]}},
			{"blueprintTriggers.rotateSecret", object{"triggerId": l.triggers["webhook"]}},
			{"connection.get", object{"id": l.connection}}, {"connection.test", object{"id": l.connection}}, {"connection.delete", object{"id": l.connection}},
			{"connection.list", object{"organizationId": l.team}}, {"connection.create", connectionOf(&target{}, l.team)},
			{"category.list", object{"organizationId": l.team}}, {"category.create", object{"organizationId": l.team, "name": "x"}}, {"category.delete", object{"id": l.label}},
			{"organization.members", object{"organizationId": l.team}}, {"organization.update", object{"organizationId": l.team, "name": "x"}},
			{"organization.addMember", object{"organizationId": l.team, "email": l.ben.Email, "role": "member"}},
			{"organization.removeMember", object{"organizationId": l.team, "userId": l.cleo.ID}},
			{"auditLog.list", object{"organizationId": l.team}},
			{"blueprint.create", object{"title": "x", "organization_id": l.team}},
		},
		blueprint.CodeNotFound: {
			{"execution.cancel", run}, {"execution.retry", run}, {"execution.resume", run}, {"execution.subscribe", run},
			{"blueprintTriggers.explain", object{"firingId": l.firing}}, {"blueprintTriggers.redeliver", object{"firingId": l.firing}},
		},
	} {
		for _, call := range calls {
			l.ben.Refused(t, name, call.name, call.input)
		}
	}
	if record := l.ben.Record(t, l.run); record["status"] != "not_found" {
		t.Errorf("cleo's run: %s, want status not_found", servertest.Encoded(t, record))
	}
	if got := l.ben.Send(t, http.MethodGet, "/files/"+l.file, ""); got.Status != http.StatusNotFound {
		t.Errorf("the file: %d %s, want %v", got.Status, got.Text, http.StatusNotFound)
	}
	if done := servertest.Encoded(t, l.ben.OK(t, "auditLog.list", object{"limit": 100})); !strings.Contains(done, "blueprintTriggers.create") || strings.Contains(done, l.triggers["webhook"]) {
		t.Errorf("what he did names the address of a webhook: %s, want \"blueprintTriggers.create\" in it and no %q", done, l.triggers["webhook"])
	}
	lists := servertest.Encoded(t, []any{
		l.ben.OK(t, "blueprint.list", object{"scope": "shared"}), l.ben.OK(t, "blueprint.list", object{}), l.ben.OK(t, "execution.listRecentExecutions", object{}), l.ben.OK(t, "connection.list", nil),
		l.ben.OK(t, "category.list", object{}), l.ben.OK(t, "organization.list", nil),
		l.ben.Send(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept", "application/json, text/event-stream").Text,
	})
	for what, secret := range map[string]string{"blueprint": `"id":"` + l.shared, "run": l.run, "connection": l.connection, "category": l.label, "organization": `"team"`} {
		if strings.Contains(lists, secret) {
			t.Errorf("the %s is in a list: %s, want no %q", what, lists, secret)
		}
	}
}

// triggersStop makes each of ben's triggers due.
func (l *leaving) triggersStop(t *testing.T) {
	before := map[string]int{}
	for kind, trigger := range l.triggers {
		before[kind] = len(firings(t, l.cleo, trigger))
	}
	nobody := servertest.Caller{Server: l.Server}
	for path, want := range map[string]int{"/webhooks/blueprint/" + l.triggers["webhook"]: 404, "/webhooks/slack/" + l.triggers["slack"]: 404} {
		if got := nobody.Send(t, http.MethodPost, path, "{}"); got.Status != want {
			t.Errorf("%s: %d %s, want %v", path, got.Status, got.Text, want)
		}
	}
	if got := l.cleo.Send(t, http.MethodPost, "/v1/triggers/"+l.triggers["api"]+"/fire", "{}"); got.Status != http.StatusForbidden {
		t.Errorf("the api trigger: %d %s, want %v", got.Status, got.Text, http.StatusForbidden)
	}
	if err := sendMail(t, l.Server, l.address, letter); err == nil || !strings.Contains(err.Error(), "550") {
		t.Errorf("his mailbox: %v, want an error and \"550\" in it", err)
	}
	l.cleo.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.fire", object{"triggerId": l.triggers["manual"]})
	heard := len(firings(t, l.cleo, l.deaf))
	l.cleo.OK(t, "blueprint.execute", object{"id": l.event})
	l.cleo.OK(t, "blueprint.update", object{"id": l.shared, "description": "new"})
	l.Advance(t, "1m")
	if now := len(firings(t, l.cleo, l.deaf)); now != heard {
		t.Errorf("his trigger hears of other blueprints: %d rows after %d", now, heard)
	}
	for kind, trigger := range l.triggers {
		rows := append(firings(t, l.cleo, trigger), nil)
		if len(rows) != before[kind]+2 || at(rows[0], "decision") != "refused" || !strings.Contains(fmt.Sprint(at(rows[0], "reason")), "creator") {
			t.Errorf("%s: %d rows after %d, the newest %v; want length %v, decision refused and \"creator\" in it", kind, len(rows)-1, before[kind], rows[0], before[kind]+2)
		}
	}
}

// keepsTheirOwn checks what ben created: his runs, which continue without events, and his blueprint.
func (l *leaving) keepsTheirOwn(t *testing.T) {
	l.Advance(t, "1h")
	if record := l.ben.Record(t, l.going); record["status"] != "completed" {
		t.Errorf("his run: %s, want status completed", servertest.Encoded(t, record))
	}
	if rows := firings(t, l.cleo, l.hears); len(rows) != 1 {
		t.Errorf("his run published an event: %v, want length 1", rows)
	}
	l.ben.Refused(t, blueprint.CodeForbidden, "execution.resume", object{"executionId": l.theirs, "input": "answer"})
	l.ben.Refused(t, blueprint.CodeForbidden, "execution.cancel", object{"executionId": l.theirs})
	l.ben.Refused(t, blueprint.CodeForbidden, "execution.retry", object{"executionId": l.theirs, "fromNodeId": "ask"})
	if l.member {
		if seen := l.ben.OK(t, "blueprint.get", object{"id": l.own}); at(seen, "can_manage") != false || at(seen, "is_owner") != true {
			t.Errorf("his blueprint: %s, want can_manage false and is_owner true", servertest.Encoded(t, seen))
		}
		if list := servertest.Encoded(t, l.ben.OK(t, "blueprint.list", object{})); !strings.Contains(list, l.own) {
			t.Errorf("his blueprint is not in his list: %s, want %q in it", list, l.own)
		}
		l.ben.OK(t, "execution.getExecutionLogs", object{"blueprintId": l.own})
		for _, call := range []struct {
			name  string
			input object
		}{
			{"blueprint.execute", object{"id": l.own}}, {"blueprint.update", object{"id": l.own, "title": "x"}}, {"blueprint.delete", object{"id": l.own}},
			{"blueprint.versions", object{"id": l.own}}, {"blueprint.grant", object{"id": l.own}}, {"blueprint.favorite", object{"id": l.own}},
			{"blueprintTriggers.list", object{"blueprintId": l.own}}, {"blueprintTriggers.create", object{"blueprintId": l.own, "triggerType": "manual"}},
			{"collaborator.list", object{"blueprintId": l.own}},
			{"blueprintTriggers.redeliver", object{"firingId": l.ownFiring}}, {"blueprintTriggers.explain", object{"firingId": l.ownFiring}},
		} {
			l.ben.Refused(t, blueprint.CodeForbidden, call.name, call.input)
		}
	}
}

// subscriptionEnded changes the run that ben watched when he left.
func (l *leaving) subscriptionEnded(t *testing.T) {
	l.cleo.OK(t, "execution.resume", object{"executionId": l.run, "input": "not for ben"})
	text := strings.Join(remaining(l.lines), "\n")
	if strings.Contains(text, "not for ben") || strings.Contains(text, "completed") || !strings.Contains(text, "serialized-error") || !strings.Contains(text, "NOT_FOUND") {
		t.Errorf("the subscription went on with %s, want no \"not for ben\", no \"completed\", \"serialized-error\" in it and \"NOT_FOUND\" in it", text)
	}
}
