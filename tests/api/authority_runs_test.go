package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// left returns the credentials that left the process since the last call.
func (w *authorityWorld) left() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// A sub-run can use no more than the author of the version that started it: anna's child
// would use her connection for any input from bert's parent.
func TestAuthorityOfSubRuns(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	anna, bert := w.people["anna"], w.people["bert"]
	child := anna.IDOf(t, "blueprint.create", object{"title": "child", "organization_id": w.team, "blueprint_map": object{"nodes": []any{w.request(object{"connectionId": w.annas})}}})
	for _, parent := range [][]any{
		{node("call", "blueprint", object{"blueprintId": child, "inputData": object{}})},
		{node("call", "for-each", object{"items": []any{1.0}, "blueprintId": child})},
	} {
		bert.OK(t, "blueprint.update", object{"id": w.shared, "blueprint_map": object{"nodes": parent}})
		run := at(anna.OK(t, "blueprintTriggers.fire", object{"triggerId": w.triggers["anna"]}), "executionId").(string)
		record := awaitEnd(t, anna, run)
		if sent := w.left(); len(sent) > 0 || record["status"] != "failed" {
			t.Errorf("%v before the grant: %s, sent %q; want none and failed", parent, record["status"], sent)
		}
		if text := servertest.Encoded(t, record); !strings.Contains(text, `"blueprintId":"`+w.shared+`"`) || !strings.Contains(text, "has not been granted") {
			t.Errorf("the parent does not name the version to grant: %s, want %q in it and \"has not been granted\" in it", text, `"blueprintId":"`+w.shared+`"`)
		}
		anna.OK(t, "blueprint.grant", object{"id": w.shared})
		awaitEnd(t, anna, at(anna.OK(t, "blueprintTriggers.fire", object{"triggerId": w.triggers["anna"]}), "executionId").(string))
		if sent := w.left(); !slices.Equal(sent, []string{"Bearer credential-of-anna"}) {
			t.Errorf("%v after the grant: sent %q, want %v", parent, sent, []string{"Bearer credential-of-anna"})
		}
		// A retry of the child alone still runs under bert's version.
		anna.OK(t, "blueprint.revokeGrant", object{"id": w.shared})
		children := at(anna.OK(t, "execution.listRuns", object{"blueprintId": child}), "runs").([]any)
		again := at(anna.OK(t, "execution.retry", object{"executionId": at(children[0], "executionId"), "fromNodeId": "use"}), "executionId").(string)
		awaitEnd(t, anna, again)
		if sent := w.left(); len(sent) > 0 {
			t.Errorf("a retry of the child without the grant: sent %q, want none", sent)
		}
	}
}

// A missing grant names version, author and resource to users who may use the
// resource, and only its id to others; a retry after the grant uses it.
func TestMissingGrantIsNamed(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	anna, bert := w.people["anna"], w.people["bert"]
	w.edit(t, "bert", authorityResources[0])
	run := at(bert.OK(t, "blueprintTriggers.fire", object{"triggerId": w.triggers["anna"]}), "executionId").(string)
	version := at(anna.OK(t, "blueprint.get", object{"id": w.shared}), "version").(string)
	record := awaitEnd(t, anna, run)
	failure := at(record, "steps").([]any)[1].(object)["error"]
	if at(failure, "code") != blueprint.CodeNeedsGrant {
		t.Fatalf("failure: %s, want code %v", servertest.Encoded(t, failure), blueprint.CodeNeedsGrant)
	}
	message := at(failure, "message").(string)
	for _, want := range []string{version, bert.Name, `"anna's own"`} {
		if !strings.Contains(message, want) {
			t.Errorf("anna reads %q, want %s in it", message, want)
		}
	}
	if hint, _ := at(failure, "hint").(string); !strings.Contains(hint, "blueprint.grant") {
		t.Errorf("hint %q, want blueprint.grant in it", hint)
	}
	executed := anna.OK(t, "blueprint.execute", object{"id": w.shared})
	if text, _ := at(executed, "result.error.message").(string); at(executed, "result.error.code") != blueprint.CodeNeedsGrant || !strings.Contains(text, `"anna's own"`) {
		t.Errorf("execute answers %s, want result.error.code %v and \"anna's own\" in it", servertest.Encoded(t, executed), blueprint.CodeNeedsGrant)
	}
	seen := servertest.Encoded(t, []any{
		bert.Record(t, run), bert.OK(t, "execution.getRecord", object{"executionId": run}), bert.OK(t, "execution.getExecutionLogs", object{"blueprintId": w.shared}),
		bert.OK(t, "execution.listRuns", object{"blueprintId": w.shared}), bert.OK(t, "execution.listRecentExecutions", object{}), bert.OK(t, "execution.export", object{"executionId": run}),
	})
	if strings.Contains(seen, "anna's own") || !strings.Contains(seen, w.annas) {
		t.Errorf("bert reads of the run: %s, want no \"anna's own\" and %q in it", seen, w.annas)
	}
	anna.OK(t, "blueprint.grant", object{"id": w.shared, "version": version})
	bert.OK(t, "blueprint.update", object{"id": w.shared, "title": "another title"})
	if view := anna.OK(t, "blueprint.getAuthority", object{"id": w.shared}); at(view, "granted") != true || at(view, "mine") != false || at(view, "author.id") != bert.ID {
		t.Errorf("authority after a new title: %s, want granted true, mine false and author.id %v", servertest.Encoded(t, view), bert.ID)
	}
	again := at(anna.OK(t, "execution.retry", object{"executionId": run}), "executionId").(string)
	if record := awaitEnd(t, anna, again); record["status"] != "completed" {
		t.Errorf("retry after the grant: %s, want status completed", servertest.Encoded(t, record))
	}
	if sent := w.left(); !slices.Equal(sent, []string{"Bearer credential-of-anna"}) {
		t.Errorf("sent %q, want %v", sent, []string{"Bearer credential-of-anna"})
	}
	again = at(bert.OK(t, "execution.retry", object{"executionId": run}), "executionId").(string)
	if record := awaitEnd(t, bert, again); at(at(record, "steps").([]any)[1], "error.code") != "connection_unavailable" {
		t.Errorf("bert's retry: %s, want error.code connection_unavailable", servertest.Encoded(t, record))
	}
	if sent := w.left(); len(sent) > 0 {
		t.Errorf("bert's retry sent %q, want none", sent)
	}
}

// The caller is the author of nodes that are not stored, permanently: a retry by another
// user does not use that user's credentials.
func TestAuthorityOfOtherNodes(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	anna, bert := w.people["anna"], w.people["bert"]
	anna.OK(t, "blueprint.grant", object{"id": w.shared})
	run := at(bert.OK(t, "execution.executeBlueprintWithLogging", object{
		"nodes": []any{w.request(object{"connectionId": w.annas})}, "options": object{"blueprintId": w.shared},
	}), "executionId").(string)
	awaitEnd(t, bert, run)
	again := at(anna.OK(t, "execution.retry", object{"executionId": run}), "executionId").(string)
	record := awaitEnd(t, anna, again)
	if code := at(at(record, "steps").([]any)[0], "error.code"); code != blueprint.CodeNeedsGrant {
		t.Errorf("anna's retry of bert's nodes: %s, want %v", servertest.Encoded(t, record), blueprint.CodeNeedsGrant)
	}
	if sent := w.left(); len(sent) > 0 {
		t.Errorf("sent %q, want none", sent)
	}
	run = at(anna.OK(t, "execution.executeBlueprintWithLogging", object{
		"nodes": []any{w.request(object{"connectionId": w.annas})}, "options": object{"blueprintId": w.shared},
	}), "executionId").(string)
	awaitEnd(t, anna, run)
	if sent := w.left(); !slices.Equal(sent, []string{"Bearer credential-of-anna"}) {
		t.Errorf("her own nodes: sent %q, want %v", sent, []string{"Bearer credential-of-anna"})
	}
}

// Only managers of the blueprint see the author's email address: not the sender of a
// webhook, nor a run or an event of another blueprint.
func TestMissingGrantHidesTheAddress(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t, servertest.AtNoon)
	anna, bert, edna := w.people["anna"], w.people["bert"], w.people["edna"]
	w.edit(t, "edna", authorityResources[0])
	run := at(bert.OK(t, "blueprintTriggers.fire", object{"triggerId": w.triggers["anna"]}), "executionId").(string)
	awaitEnd(t, anna, run)
	for _, name := range []string{"anna", "bert", "edna"} {
		if text := servertest.Encoded(t, w.people[name].Record(t, run)); !strings.Contains(text, `"email":"`+edna.Email+`"`) || !strings.Contains(text, "("+edna.Email+")") {
			t.Errorf("%s manages the blueprint and does not read who wrote it: %s, want %q in it and %q in it", name, text, `"email":"`+edna.Email+`"`, "("+edna.Email+")")
		}
	}
	if text := servertest.Encoded(t, anna.OK(t, "execution.getRecord", object{"executionId": run})); !strings.Contains(text, `\"anna's own\"`) {
		t.Errorf("the record does not name the connection to anna: %s, want %q in it", text, `\"anna's own\"`)
	}

	hook := anna.IDOf(t, "blueprintTriggers.create", object{"blueprintId": w.shared, "triggerType": "webhook", "config": object{"secret": "of the webhook", "respond": "wait"}})
	answer := servertest.Caller{Server: w.Server}.Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}", "X-Webhook-Signature", process.HexHMAC("of the webhook", "{}"))
	if answer.Status != http.StatusInternalServerError || !strings.Contains(answer.Text, edna.Name) || strings.Contains(answer.Text, edna.Email) {
		t.Errorf("the sender of a webhook is told: %d %s, want %v, %q in it and no %q", answer.Status, answer.Text, http.StatusInternalServerError, edna.Name, edna.Email)
	}

	anna.OK(t, "collaborator.add", object{"blueprintId": w.child, "email": edna.Email, "role": "editor"})
	edna.OK(t, "blueprint.update", object{"id": w.child, "blueprint_map": object{"nodes": []any{w.request(object{"connectionId": w.annas})}}})
	hears := bert.IDOf(t, "blueprint.create", object{"title": "hears", "organization_id": w.team, "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
	heard := bert.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hears, "triggerType": "event", "config": object{"event": "execution.failed"}})
	parent := anna.IDOf(t, "blueprint.create", object{"title": "parent", "organization_id": w.team, "blueprint_map": object{"nodes": []any{node("call", "blueprint", object{"blueprintId": w.child, "inputData": object{}})}}})
	run = at(anna.OK(t, "blueprint.execute", object{"id": parent}), "executionId").(string)
	if text := servertest.Encoded(t, anna.Record(t, run)); !strings.Contains(text, edna.Email) {
		t.Errorf("anna manages the child and does not read who wrote it: %s, want %q in it", text, edna.Email)
	}
	w.Advance(t, "0s")
	reads := servertest.Encoded(t, bert.Record(t, run)) + servertest.Encoded(t, runInput(t, bert, at(firings(t, bert, heard)[0], "executionId").(string)))
	if strings.Count(reads, edna.Name) < 2 || strings.Contains(reads, edna.Email) {
		t.Errorf("bert, who cannot manage the child, reads %s; want at least 2 and no %q", reads, edna.Email)
	}
}

// A version by another author that needs a sign-in reveals neither the connection nor
// the sign-in address to its author or to subscribers of the pause.
func TestSignInIsForThePrincipal(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t, servertest.AtNoon)
	anna, bert := w.people["anna"], w.people["bert"]
	own := anna.IDOf(t, "connection.create", object{"name": "known to anna", "type": "oauth2", "config": object{
		"flow": "authorization_code", "authorizationUrl": w.at + "/authorize", "tokenUrl": w.at + "/token", "clientId": "client",
	}})
	hears := bert.IDOf(t, "blueprint.create", object{"title": "hears", "organization_id": w.team, "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
	heard := bert.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hears, "triggerType": "event", "config": object{"event": "execution.paused"}})
	bert.OK(t, "blueprint.update", object{"id": w.shared, "blueprint_map": object{"nodes": []any{w.request(object{"connectionId": own})}}})
	run := object{"executionId": at(bert.OK(t, "blueprintTriggers.fire", object{"triggerId": w.triggers["anna"]}), "executionId")}
	asked := at(anna.Await(t, run["executionId"].(string), blueprint.StatusPaused), "awaitingInput")
	if at(asked, "kind") != "oauth" || !strings.Contains(servertest.Encoded(t, asked), "known to anna") || !strings.Contains(servertest.Encoded(t, asked), "ticket=") {
		t.Errorf("anna is asked %s, want kind oauth, \"known to anna\" in it and \"ticket=\" in it", servertest.Encoded(t, asked))
	}
	w.Advance(t, "0s")
	rows := firings(t, bert, heard)
	if len(rows) != 1 {
		t.Fatalf("bert hears of %d pauses, want 1", len(rows))
	}
	reads := servertest.Encoded(t, []any{
		bert.OK(t, "execution.getExecutionStatus", run), bert.OK(t, "execution.getRecord", run), bert.OK(t, "execution.export", run),
		bert.OK(t, "execution.listRecentExecutions", object{}), runInput(t, bert, at(rows[0], "executionId").(string)),
	})
	if !strings.Contains(reads, `"oauth"`) || strings.Contains(reads, "known to anna") || strings.Contains(reads, "ticket=") {
		t.Errorf("bert reads %s, want \"oauth\" in it, no \"known to anna\" and no \"ticket=\"", reads)
	}
}

// A failure names a connection to readers who may use it; others see its id.
func TestNamesOfConnections(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	anna, bert := w.people["anna"], w.people["bert"]
	const name = "The \"purse\" of anna"
	auth := object{"type": "bearer", "token": "a credential of anna"}
	http := anna.IDOf(t, "connection.create", object{"name": name, "type": "http", "config": object{"auth": auth, "hosts": []any{"purse.example.org"}}})
	mail := anna.IDOf(t, "connection.create", object{"name": name, "type": "smtp", "config": object{"host": "mail.example.org", "port": 25, "tls": "none", "from": "anna@example.org"}})
	mcp := anna.IDOf(t, "connection.create", object{"name": name, "type": "mcp-server", "config": object{"url": "https://mcp.example.org/", "auth": auth}})
	for what, one := range map[string]struct {
		id   string
		node object
	}{
		"another host":       {http, w.request(object{"connectionId": http})},
		"another type":       {mail, w.request(object{"connectionId": mail})},
		"another type still": {mcp, node("a", "send-slack", object{"connectionId": mcp, "channel": "c", "text": "t"})},
		"a tool":             {http, node("a", "mcp-tool", object{"connectionId": http, "tool": "t", "arguments": object{}})},
	} {
		t.Run(what, func(t *testing.T) {
			id := anna.IDOf(t, "blueprint.create", object{"title": "t", "organization_id": w.team, "blueprint_map": object{"nodes": []any{one.node}}})
			executed := anna.OK(t, "blueprint.execute", object{"id": id, "record": true})
			run := at(executed, "executionId").(string)
			read := func(p servertest.Caller) (texts []string) {
				for _, procedure := range []string{"execution.getExecutionStatus", "execution.getRecord", "execution.getExecutionLogs", "execution.listRuns", "execution.listRecentExecutions"} {
					texts = append(texts, p.Call(t, procedure, object{"executionId": run, "blueprintId": id, "organizationId": w.team}).Text)
				}
				return texts
			}
			for i, text := range append(read(anna), servertest.Encoded(t, executed)) {
				if !strings.Contains(text, "purse") || strings.Contains(text, "connection ("+one.id) {
					t.Errorf("%s, %d: anna reads %s; want \"purse\" in it and no %q", what, i, text, "connection ("+one.id)
				}
			}
			for i, text := range append(read(bert), bert.Call(t, "execution.export", object{"executionId": run}).Text) {
				if strings.Contains(text, "purse") || !strings.Contains(text, "connection ("+one.id) {
					t.Errorf("%s, %d: bert reads %s; want no \"purse\" and %q in it", what, i, text, "connection ("+one.id)
				}
			}
		})
	}
	if strings.Contains(w.Logs.String(), "purse") {
		t.Errorf("the log names it: %s, want no \"purse\"", w.Logs)
	}
}
