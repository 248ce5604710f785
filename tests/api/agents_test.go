package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/agents"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// build calls a tool that must succeed, and returns its structured content.
func build(t testing.TB, p servertest.Caller, tool string, arguments object) object {
	t.Helper()
	got := callTool(t, p, "tools/call", object{"name": tool, "arguments": arguments})
	content, ok := got["structuredContent"].(object)
	if !ok || got["isError"] == true {
		t.Fatalf("%s: %s, want a result", tool, servertest.Encoded(t, got))
	}
	return content
}

// unbuilt calls a tool that must fail, and returns its error as JSON.
func unbuilt(t testing.TB, p servertest.Caller, tool string, arguments object) string {
	t.Helper()
	got := callTool(t, p, "tools/call", object{"name": tool, "arguments": arguments})
	if got["isError"] != true {
		t.Fatalf("%s: %s, want an error", tool, servertest.Encoded(t, got))
	}
	return servertest.Encoded(t, at(got, "structuredContent.error"))
}

// stepOf returns the i-th step of a run.
func stepOf(run object, i int) any {
	steps, _ := run["steps"].([]any)
	if i >= len(steps) {
		return nil
	}
	return steps[i]
}

// has checks that a JSON text has parts.
func has(t testing.TB, what, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s: got %s, want %s in it", what, got, part)
		}
	}
}

func addNode(id, kind string, config object) object {
	return object{"op": "add_node", "node": object{"id": id, "type": kind, "config": config}}
}

func TestAgentBuildsABlueprint(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")

	types := servertest.Encoded(t, build(t, ada, "build_list_node_types", object{"search": "http"}))
	if !strings.Contains(types, `"type":"http-request"`) || strings.Contains(types, "configSchema") {
		t.Errorf("the list of types is %s", types)
	}
	kind := build(t, ada, "build_get_node_type", object{"type": "http-request"})
	if at(kind, "configSchema.properties.url") == nil || kind["example"] == nil {
		t.Errorf("the type is %s", servertest.Encoded(t, kind))
	}
	has(t, "a misspelled type", unbuilt(t, ada, "build_get_node_type", object{"type": "http-reqest"}), `did you mean \"http-request\"`, "build_list_node_types")

	draft := build(t, ada, "build_create_draft", object{"title": "Orders"})
	id := draft["id"].(string)
	broken := build(t, ada, "build_edit_draft", object{"id": id, "version": draft["version"], "changes": []any{
		addNode("get", "http-request", object{"url": "https://api.example.com/orders/{{inputData.id}}"}),
		addNode("large", "transfrom", object{"expression": "nodes.get.output.body.total > limit"}),
		object{"op": "set_variable", "variable": object{"name": "limit", "type": "number", "default": 100}},
	}})
	has(t, "a wrong type", servertest.Encoded(t, broken), `"valid":false`, `"nodeId":"large"`, `"key":"type"`, `"path":"blueprint_map.nodes[1].type"`, `did you mean \"transform\"`)
	has(t, "proposed with an error", unbuilt(t, ada, "build_propose", object{"id": id, "version": broken["version"], "note": "x"}), "errors cannot be proposed", "build_validate")
	fixed := build(t, ada, "build_edit_draft", object{"id": id, "version": broken["version"], "changes": []any{
		object{"op": "change_node", "id": "large", "node": object{"type": "transform"}},
	}})
	want := `{"changed":[{"change":"changed","keys":["type"],"node":"large"}],"id":"` + id + `","issues":[],"valid":true,"version":"1.2.0"}`
	if got := servertest.Encoded(t, fixed); got != want {
		t.Errorf("repaired: %s, want %s", got, want)
	}

	missing := servertest.Encoded(t, build(t, ada, "build_run_sandbox", object{"id": id, "input": object{"id": 7}}))
	has(t, "without a fake", missing, `"status":"failed"`, `there is no fake for GET https://api.example.com/orders/7; add fakes: {\"api.example.com\": {\"status\": 200, \"body\": {}}}`)
	has(t, "a fake of nothing", unbuilt(t, ada, "build_run_sandbox", object{"id": id, "fakes": object{"gte": object{"output": 1}}}), `"path":["fakes","gte"]`, "neither a node nor a host")
	fakes := object{"api.example.com": object{"status": 200, "body": object{"total": 150}}}
	ran := build(t, ada, "build_run_sandbox", object{"id": id, "input": object{"id": 7}, "saveAs": "a large order", "fakes": fakes})
	if ran["status"] != "completed" || ran["output"] != true || at(stepOf(ran, 0), "output.body.total") == nil {
		t.Errorf("the run is %s", servertest.Encoded(t, ran))
	}
	passed := build(t, ada, "build_run_tests", object{"id": id, "tests": ran["test"]})
	has(t, "the saved test", servertest.Encoded(t, passed), `"failed":0`, `"passed":1`, `"name":"a large order"`)
	failed := build(t, ada, "build_run_tests", object{"id": id, "tests": strings.Replace(ran["test"].(string), "output: true", "output: false", 1)})
	has(t, "a changed test", servertest.Encoded(t, failed), `"failed":1`, "tests:", "true")

	proposed := build(t, ada, "build_propose", object{"id": id, "version": fixed["version"], "note": "Checks orders."})
	has(t, "the proposal", servertest.Encoded(t, proposed), `{"change":"added","node":"get"}`, "dashboard")
	read := servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": id}))
	has(t, "the proposed draft", read, `"draft":{"proposed":true}`, `"description":"Checks orders."`, `"triggers":[]`)
	has(t, "search", servertest.Encoded(t, build(t, ada, "build_search_blueprints", object{"drafts": true})), id, `"total":1`)
	edited := build(t, ada, "build_edit_draft", object{"id": id, "version": proposed["version"], "changes": []any{object{"op": "set_title", "title": "Orders, checked"}}})
	has(t, "edited after the proposal", servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": id})), `"draft":{"proposed":false}`, `"title":"Orders, checked"`)
	has(t, "an earlier version", servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": id, "version": "1.0.0"})), `"nodes":[]`)
	if edited["version"] == proposed["version"] {
		t.Errorf("the version is still %v", edited["version"])
	}

	entries := servertest.Encoded(t, at(ada.OK(t, "auditLog.list", object{}), "entries"))
	has(t, "the audit log", entries, `"tool":"build_propose"`, `"tool":"build_edit_draft"`, `"action":"blueprint.create"`, `"key":"key of ada"`)
	build(t, ada, "build_delete_draft", object{"id": id})
	ada.Refused(t, blueprint.CodeNotFound, "blueprint.get", object{"id": id})
}

// A run in the sandbox reaches nothing, although the server itself could.
func TestAgentRunsHaveNoEffect(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	ada := s.NewUser(t, "ada")
	child := ada.Blueprint(t, "Child", node("t", "template", object{"text": "child of {{inputData}}"}))
	id := ada.Blueprint(t, "Effects",
		node("say", "emit-event", object{"event": "custom.said"}),
		node("wait", "wait", object{"durationMs": 86_400_000}),
		node("sub", "blueprint", object{"blueprintId": child}),
		node("ask", "human", object{"prompt": "How many?"}),
		node("call", "http-request", object{"url": s.Host + "/healthz"}),
	)
	paused := build(t, ada, "build_run_sandbox", object{"id": id})
	if paused["status"] != "paused" || at(paused, "waitsFor.nodeId") != "ask" {
		t.Errorf("without an answer: %s", servertest.Encoded(t, paused))
	}
	got := build(t, ada, "build_run_sandbox", object{"id": id, "fakes": object{"ask": object{"output": object{"n": 3}}}})
	has(t, "a loopback address", servertest.Encoded(t, got), `"code":"not_stubbed"`, `"nodeType":"blueprint","output":{"text":"child of`)
	if got := servertest.Encoded(t, build(t, ada, "build_list_runs", object{})); got != `{"runs":[]}` {
		t.Errorf("runs are stored: %s", got)
	}
}

func TestAgentReadsRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "Breaks", node("big", "transform", object{"expression": "inputData.text"}), node("stop", "stop", object{"failed": true, "message": "no more"}))
	run := ada.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"text": strings.Repeat("x", 10_000)}})
	executionID := at(run, "executionId")
	has(t, "the list", servertest.Encoded(t, build(t, ada, "build_list_runs", object{"blueprintId": id, "status": "failed"})), executionID.(string), "no more")
	record := build(t, ada, "build_get_run", object{"executionId": executionID})
	if at(stepOf(record, 0), "output.truncated") != true || len(servertest.Encoded(t, record)) > 40_000 {
		t.Errorf("a large output is not cut: %d bytes", len(servertest.Encoded(t, record)))
	}
	if whole := build(t, ada, "build_get_run", object{"executionId": executionID, "nodes": []any{"big"}}); at(stepOf(whole, 0), "output") != strings.Repeat("x", 10_000) {
		t.Errorf("the output of a named node is cut: %s", servertest.Encoded(t, whole))
	}
	has(t, "why", servertest.Encoded(t, build(t, ada, "build_explain", object{"executionId": executionID})), `"nodeId":"stop"`, "no more")
	has(t, "why of nothing", unbuilt(t, ada, "build_explain", object{}), "exactly one subject")
	has(t, "the test", servertest.Encoded(t, build(t, ada, "build_save_test", object{"executionId": executionID})), "breaks.test.yaml", "breaks.blueprint.yaml")
	triggerID := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	ada.OK(t, "blueprintTriggers.fire", object{"triggerId": triggerID})
	firings := build(t, ada, "build_explain", object{"triggerId": triggerID})
	has(t, "why of a trigger", servertest.Encoded(t, firings), `"decision":"started"`, `"summary":`)
	has(t, "why of a firing", servertest.Encoded(t, build(t, ada, "build_explain", object{"firingId": at(firings["firings"].([]any)[0], "id")})), `"summary":`)
}

// Tools do what the key may do, and change only drafts that nothing starts.
func TestAgentAuthority(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	publishTool(t, ada, "Greet", object{}, node("t", "template", object{"text": "hello"}))
	names := func(p servertest.Caller) (list []string) {
		for _, tool := range callTool(t, p, "tools/list", object{})["tools"].([]any) {
			list = append(list, at(tool, "name").(string))
		}
		return list
	}
	var builders []string
	for _, tool := range (*agents.Tools)(nil).List() {
		builders = append(builders, tool.Name)
	}
	for scopes, want := range map[string][]string{"run": {"greet"}, "write": builders, "run,write": append([]string{"greet"}, builders...), "admin": append([]string{"greet"}, builders...)} {
		t.Run(scopes, func(t *testing.T) {
			key := limitedTo(t, ada, object{"scopes": strings.Split(scopes, ",")})
			if diff := cmp.Diff(want, names(key)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
	if answer := sendMCP(t, limitedTo(t, ada, object{"scopes": []any{"read"}}), "ping", object{}); answer.Status != http.StatusForbidden {
		t.Errorf("a key that may only read: %d %s, want %d", answer.Status, answer.Text, http.StatusForbidden)
	}
	runs, writes := limitedTo(t, ada, object{"scopes": []any{"run"}}), limitedTo(t, ada, object{"scopes": []any{"write"}})
	for _, name := range builders {
		has(t, name+" with the scope run", unbuilt(t, runs, name, object{"id": "x"}), `"code":"FORBIDDEN"`, `lacks the scope \"write\"`)
	}
	begin := object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "x", "version": "1"}}
	has(t, "instructions for a builder", servertest.Encoded(t, callTool(t, writes, "initialize", begin)), "build_list_node_types")
	if got := servertest.Encoded(t, callTool(t, runs, "initialize", begin)); strings.Contains(got, "build_") {
		t.Errorf("instructions for a key with the scope run: %s", got)
	}
	has(t, "a blueprint with the scope write", servertest.Encoded(t, callTool(t, writes, "tools/call", object{"name": "greet"})), "-32602")

	live := ada.Blueprint(t, "Live", node("t", "template", object{"text": "live"}))
	ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": live, "triggerType": "webhook"})
	edit := []any{object{"op": "set_title", "title": "mine"}}
	has(t, "a live blueprint", unbuilt(t, ada, "build_edit_draft", object{"id": live, "version": "1.0.0", "changes": edit}), `"code":"CONFLICT"`, "is not a draft", "build_create_draft with from")
	has(t, "deleting a live blueprint", unbuilt(t, ada, "build_delete_draft", object{"id": live}), `"code":"CONFLICT"`)
	draft := build(t, ada, "build_create_draft", object{"from": live})
	draftID := draft["id"].(string)
	if got := servertest.Encoded(t, draft["draft"]); got != `{"fromVersion":"1.0.0","of":"`+live+`","proposed":false}` {
		t.Errorf("the draft is %s", got)
	}
	has(t, "a draft of a draft", unbuilt(t, ada, "build_create_draft", object{"from": draftID}), "is a draft already")
	for tool, arguments := range map[string]object{
		"build_get_blueprint": {"id": draftID}, "build_edit_draft": {"id": draftID, "version": "1.0.0", "changes": edit}, "build_delete_draft": {"id": draftID}, "build_validate": {"id": draftID},
		"build_run_sandbox": {"id": draftID}, "build_run_tests": {"id": draftID, "tests": "x"}, "build_propose": {"id": draftID, "version": "1.0.0", "note": "x"}, "build_create_draft": {"from": live},
		"build_list_runs": {"blueprintId": live},
	} {
		t.Run("another user's: "+tool, func(t *testing.T) {
			got := unbuilt(t, ben, tool, arguments)
			if has(t, tool, got, `"code":"FORBIDDEN"`); strings.Contains(got, "Live") {
				t.Errorf("the error tells the title: %s", got)
			}
		})
	}
	ada.OK(t, "blueprint.update", object{"id": live, "visibility": "public"})
	has(t, "another user's public blueprint", unbuilt(t, ben, "build_create_draft", object{"from": live}), `"code":"FORBIDDEN"`, "without from")

	ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": draftID, "triggerType": "webhook"})
	has(t, "a draft with a trigger", unbuilt(t, ada, "build_edit_draft", object{"id": draftID, "version": "1.0.0", "changes": edit}), `"code":"CONFLICT"`, "this draft is live")
	has(t, "an unknown id", unbuilt(t, ada, "build_get_blueprint", object{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}), `"code":"NOT_FOUND"`)
	has(t, "no id", unbuilt(t, ada, "build_get_blueprint", object{"ID": "x"}), `"code":"BAD_REQUEST"`, "id")
	has(t, "an unknown tool", servertest.Encoded(t, callTool(t, ada, "tools/call", object{"name": "build_get_blueprints"})), "-32602", `did you mean \"build_get_blueprint\"`)
}

func TestAgentPatches(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	draft := build(t, ada, "build_create_draft", object{"title": "Patched", "blueprint_map": object{"nodes": []any{
		object{"id": "a", "type": "template", "config": object{"text": "a"}},
		object{"id": "loop", "type": "for-each", "config": object{"items": "{{inputData.list}}", "nodes": []any{object{"id": "in", "type": "template", "config": object{"text": "{{item}}"}}}}},
	}}})
	id := draft["id"].(string)
	edit := func(version any, changes ...any) object {
		return object{"id": id, "version": version, "changes": changes}
	}
	for name, test := range map[string]struct {
		change object
		want   []string
	}{
		"an unknown operation": {object{"op": "rename_node"}, []string{`"path":["changes",0,"op"]`, "add_node"}},
		"a missing member":     {object{"op": "add_node"}, []string{"changes[0].node: required for add_node"}},
		"a wrong node id":      {object{"op": "change_node", "id": "lop", "node": object{}}, []string{`there is no node \"lop\"`, `did you mean \"loop\"`, "the nodes are a, loop"}},
		"a wrong inner id":     {object{"op": "remove_node", "id": "loop/out"}, []string{`there is no node \"loop/out\"`, "in"}},
		"nothing inside":       {object{"op": "remove_node", "id": "a/in"}, []string{`the node \"a\" has no nodes inside`}},
		"an id that is taken":  {addNode("a", "template", nil), []string{`there is a node \"a\" already`}},
		"another id":           {object{"op": "change_node", "id": "a", "node": object{"id": "b"}}, []string{"cannot be changed"}},
		"an edge to nothing":   {object{"op": "add_edge", "edge": object{"source": "a", "target": "b"}}, []string{`there is no node \"b\"`}},
		"no such edge":         {object{"op": "remove_edge", "edge": object{"source": "a", "target": "loop"}}, []string{"there is no edge a -> loop"}},
		"no such variable":     {object{"op": "remove_variable", "name": "x"}, []string{`there is no variable \"x\"`}},
		"a move to nowhere":    {object{"op": "move_node", "id": "a"}, []string{"needs before, after or position"}},
		"a cycle":              {object{"op": "add_edge", "edge": object{"source": "a", "target": "a"}}, []string{"blueprint_map"}},
	} {
		t.Run(name, func(t *testing.T) {
			has(t, name, unbuilt(t, ada, "build_edit_draft", edit("1.0.0", object{"op": "set_title", "title": "half"}, test.change)), append(test.want[1:], `"code":"BAD_REQUEST"`, strings.ReplaceAll(strings.ReplaceAll(test.want[0], `changes",0`, `changes",1`), "changes[0]", "changes[1]"))...)
		})
	}
	if got := ada.OK(t, "blueprint.get", object{"id": id}); at(got, "version") != "1.0.0" || at(got, "title") != "Patched" {
		t.Fatalf("a change was half made: %s", servertest.Encoded(t, got))
	}
	second := build(t, ada, "build_edit_draft", edit("1.0.0",
		object{"op": "change_node", "id": "loop[*]/in", "node": object{"title": "Inner", "config": object{"text": "<{{item}}>"}}}, addNode("loop/last", "template", object{"text": "{{input}}!"}),
		object{"op": "add_node", "node": object{"id": "b", "type": "template", "config": object{"text": "b"}}, "before": "loop"}, object{"op": "move_node", "id": "a", "after": "loop"},
	))
	has(t, "the changes", servertest.Encoded(t, second), `{"change":"changed","keys":["config.nodes"],"node":"loop"}`, `{"change":"added","node":"b"}`, `"valid":true`)
	has(t, "the new order", servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": id, "nodes": []any{"b", "a"}})), `"title":"b","type":"template"},{"config":{"text":"a"},"id":"a"`)
	stale := unbuilt(t, ada, "build_edit_draft", edit("1.0.0", object{"op": "remove_node", "id": "a"}))
	has(t, "a stale patch", stale, `"code":"CONFLICT"`, "the draft is at version 1.1.0 now; this change was made from version 1.0.0", "node b (added)", `"nodeId":"loop"`, "build_get_blueprint")
	has(t, "a version that never was", unbuilt(t, ada, "build_edit_draft", edit("7.0.0", object{"op": "remove_node", "id": "a"})), `"code":"NOT_FOUND"`, "no version 7.0.0")
	has(t, "a stale proposal", unbuilt(t, ada, "build_propose", object{"id": id, "version": "1.0.0", "note": "x"}), `"code":"CONFLICT"`)

	// Of several patches from one version, one is made.
	var group sync.WaitGroup
	answers := make([]string, 4)
	for i := range answers {
		group.Go(func() {
			answers[i] = servertest.Encoded(t, callTool(t, ada, "tools/call", object{"name": "build_edit_draft", "arguments": edit("1.1.0", addNode(fmt.Sprint("n", i), "template", object{"text": "x"}))}))
		})
	}
	group.Wait()
	made := slices.DeleteFunc(slices.Clone(answers), func(answer string) bool { return strings.Contains(answer, `"code":"CONFLICT"`) })
	if len(made) != 1 || !strings.Contains(made[0], `"version":"1.2.0"`) {
		t.Errorf("of four patches from one version these were made: %s", made)
	}
}

func TestAgentLimits(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.MaxBody = 1 << 20 })
	ada := s.NewUser(t, "ada")
	var nodes, changes []any
	for i := range 300 {
		nodes = append(nodes, object{"id": fmt.Sprint("n", i), "type": "template", "config": object{"text": strings.Repeat("x", 1000)}})
		changes = append(changes, object{"op": "remove_node", "id": fmt.Sprint("n", i)})
	}
	draft := build(t, ada, "build_create_draft", object{"title": "Large", "blueprint_map": object{"nodes": nodes}})
	outline := servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": draft["id"]}))
	if has(t, "a large map", outline, `"id":"n299"`, "without their configs"); len(outline) > 64<<10 {
		t.Errorf("a large map is returned as %d bytes", len(outline))
	}
	has(t, "one node of it", servertest.Encoded(t, build(t, ada, "build_get_blueprint", object{"id": draft["id"], "nodes": []any{"n7"}})), "xxxx")
	has(t, "too many changes", unbuilt(t, ada, "build_edit_draft", object{"id": draft["id"], "version": "1.0.0", "changes": changes}), `"code":"BAD_REQUEST"`, "at most 200")
	if answer := sendMCP(t, ada, "tools/call", object{"name": "build_validate", "arguments": object{"blueprint_map": object{"nodes": []any{strings.Repeat("x", 1<<20)}}}}); answer.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d, want %d", answer.Status, http.StatusRequestEntityTooLarge)
	}
	ran := servertest.Encoded(t, build(t, ada, "build_run_sandbox", object{"id": draft["id"]}))
	if len(ran) > 600<<10 {
		t.Errorf("a large run is returned as %d bytes", len(ran))
	}
}

func TestAgentResources(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	listed := servertest.Encoded(t, callTool(t, s.Root, "resources/list", object{}))
	has(t, "the list", listed, `"uri":"blueprintd://docs/concepts"`, `"uri":"blueprintd://schemas/test.json"`)
	has(t, "a page", servertest.Encoded(t, callTool(t, s.Root, "resources/read", object{"uri": "blueprintd://docs/concepts"})), "# Concepts", `"mimeType":"text/markdown"`)
	has(t, "a schema", servertest.Encoded(t, callTool(t, s.Root, "resources/read", object{"uri": "blueprintd://schemas/blueprint.json"})), `urn:blueprintd:schema:blueprint`)
	has(t, "templates", servertest.Encoded(t, callTool(t, s.Root, "resources/templates/list", object{})), `"resourceTemplates":[]`)
	has(t, "an unknown one", servertest.Encoded(t, callTool(t, s.Root, "resources/read", object{"uri": "file:///etc/passwd"})), "-32602", "resources/list")
}

// Descriptions and schemas are read by a model in every conversation.
func TestAgentToolsAreBrief(t *testing.T) {
	t.Parallel()
	whole := 0
	for _, tool := range (*agents.Tools)(nil).List() {
		if !strings.HasPrefix(tool.Name, agents.Prefix) || strings.Contains(tool.Name, "_by_") {
			t.Errorf("%s could be the name of a blueprint", tool.Name)
		}
		if len(tool.Description) > 170 {
			t.Errorf("the description of %s has %d characters, want at most 170", tool.Name, len(tool.Description))
		}
		whole += len(tool.Description) + len(servertest.Encoded(t, tool.Input))
	}
	if whole > 9000 {
		t.Errorf("all tools take %d bytes, want at most 9000", whole)
	}
}
