package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/agents"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// tool sends a request to /mcp and returns its result or error.
func callTool(t testing.TB, p servertest.Caller, method string, params object, headers ...string) object {
	t.Helper()
	answer := sendMCP(t, p, method, params, headers...)
	record, _ := answer.Value.(object)
	if answer.Status != http.StatusOK || record == nil {
		t.Fatalf("%s: %d %s, want %v and not nil", method, answer.Status, answer.Text, http.StatusOK)
	}
	if result, ok := record["result"].(object); ok {
		return result
	}
	return record["error"].(object)
}

// published returns the tools that are blueprints.
func published(t testing.TB, p servertest.Caller) []any {
	t.Helper()
	tools := callTool(t, p, "tools/list", object{})["tools"].([]any)
	return slices.DeleteFunc(tools, func(tool any) bool { return strings.HasPrefix(at(tool, "name").(string), agents.Prefix) })
}

func sendMCP(t testing.TB, p servertest.Caller, method string, params object, headers ...string) servertest.Reply {
	t.Helper()
	body := servertest.Encoded(t, object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	return p.Send(t, http.MethodPost, "/mcp", body, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...)
}

// published creates a published blueprint with an api trigger.
func publishTool(t testing.TB, p servertest.Caller, title string, config object, nodes ...any) (blueprintID, triggerID string) {
	t.Helper()
	id := p.Blueprint(t, title, nodes...)
	p.OK(t, "blueprint.update", object{"id": id, "status": "published", "description": "About " + title})
	return id, p.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api", "config": config})
}

func TestToolsOfBlueprints(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	greet := object{"label": "Say Hello", "inputSchema": servertest.Decoded(t, `{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}`)}
	greetID, triggerID := publishTool(t, ada, "Greetings", greet, node("t", "transform", object{"expression": `{"hello": inputData.name, "by": trigger.headers["x-by"]}`}))
	publishTool(t, ada, "Doomed", object{}, node("s", "stop", object{"failed": true, "message": "never"}))
	publishTool(t, ada, "Patient", object{}, node("h", "human", object{"prompt": "?"}))
	draft := ada.Blueprint(t, "Draft", node("s", "set", object{"values": object{}}))
	ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": draft, "triggerType": "api"})

	const want = `[{"description":"About Greetings","inputSchema":{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"},"name":"say-hello","title":"Say Hello"},` +
		`{"description":"About Doomed","inputSchema":{"type":"object"},"name":"doomed","title":"Doomed"},{"description":"About Patient","inputSchema":{"type":"object"},"name":"patient","title":"Patient"}]`
	if got := servertest.Encoded(t, published(t, ada)); got != want {
		t.Errorf("ada is offered %s, want %v", got, want)
	}
	if got := servertest.Encoded(t, published(t, ben)); got != "[]" {
		t.Errorf("ben is offered %s, want []", got)
	}
	if got := servertest.Encoded(t, callTool(t, ben, "tools/call", object{"name": "say-hello", "arguments": object{"name": "x"}})); !strings.Contains(got, "-32602") {
		t.Errorf("ben called it: %s, want \"-32602\" in it", got)
	}

	got := callTool(t, ada, "tools/call", object{"name": "say-hello", "arguments": object{"name": "Ann"}}, "X-By", "test")
	if servertest.Encoded(t, got["structuredContent"]) != `{"by":"test","hello":"Ann"}` || servertest.Encoded(t, got["content"]) != `[{"text":"{\"by\":\"test\",\"hello\":\"Ann\"}","type":"text"}]` || got["isError"] != nil {
		t.Errorf("got %v", got)
	}
	got = callTool(t, ada, "tools/call", object{"name": "say-hello", "arguments": object{"name": 5}})
	if got["isError"] != true || !strings.Contains(servertest.Encoded(t, got["content"]), "arguments.name: must be a string") {
		t.Errorf("got %v, want isError true and \"arguments.name: must be a string\" in it", got)
	}
	history := ada.OK(t, "blueprintTriggers.history", object{"triggerId": triggerID}).(object)
	rows, _ := history["firings"].([]any)
	var decided []string
	for _, row := range rows {
		decided = append(decided, fmt.Sprint(at(row, "source"), " ", at(row, "decision")))
	}
	if diff := cmp.Diff([]string{"api refused", "api started"}, decided); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}
	if got = callTool(t, ada, "tools/call", object{"name": "doomed"}); got["isError"] != true || !strings.Contains(servertest.Encoded(t, got["content"]), "at node s: never") {
		t.Errorf("got %v, want isError true and \"at node s: never\" in it", got)
	}
	got = callTool(t, ada, "tools/call", object{"name": "patient"})
	id, _ := at(got, "structuredContent.executionId").(string)
	if got["isError"] != nil || at(got, "structuredContent.status") != "paused" || !strings.Contains(servertest.Encoded(t, got["content"]), id) {
		t.Errorf("got %v, want isError nil, structuredContent.status paused and %q in it", got, id)
	}
	ada.Await(t, id, blueprint.StatusPaused)

	ada.OK(t, "blueprint.update", object{"id": greetID, "status": "draft"})
	if got := servertest.Encoded(t, callTool(t, ada, "tools/call", object{"name": "say-hello"})); !strings.Contains(got, `unknown tool \"say-hello\"; list the tools with tools/list`) {
		t.Errorf("got %s, want %q in it", got, `unknown tool \"say-hello\"; list the tools with tools/list`)
	}
}

func TestMCPIsGuarded(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) {
		o.Origins, o.RateLimit, o.RateBurst = []string{"https://friend.example"}, 0.001, 4
	})
	stranger := servertest.Caller{Server: s, Authorization: "Bearer not-a-key-of-anybody"}
	if answer := sendMCP(t, stranger, "ping", nil); answer.Status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d %s, want %v", answer.Status, answer.Text, http.StatusUnauthorized)
	}
	for _, step := range []struct {
		origin string
		want   int
	}{
		{"https://evil.example", 403}, {"null", 403}, {strings.Replace(s.Host, "127.0.0.1", "evil.example", 1), 403},
		{"https://friend.example", 200}, {s.Host, 200},
	} {
		// A page after DNS rebinding would send its own name.
		if answer := sendMCP(t, s.Root, "ping", object{}, "Origin", step.origin); answer.Status != step.want {
			t.Errorf("%s: %d %s, want %v", step.origin, answer.Status, answer.Text, step.want)
		}
	}
	sendMCP(t, s.Root, "ping", object{})
	sendMCP(t, s.Root, "ping", object{})
	if answer := sendMCP(t, s.Root, "ping", object{}); answer.Status != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a fifth request: %d %s, want %v and Retry-After not empty", answer.Status, answer.Text, http.StatusTooManyRequests)
	}
	if answer := s.Root.Send(t, http.MethodOptions, "/mcp", "", "Origin", "https://friend.example", "Access-Control-Request-Method", "POST"); answer.Status != http.StatusNoContent {
		t.Errorf("preflight: %d, want %v", answer.Status, http.StatusNoContent)
	}
}

// TestToolsOfOthers enables an api trigger as a collaborator and as a user who
// only sees the blueprint: the collaborator's call fires the trigger, the other
// one runs the blueprint under their own authority.
func TestToolsOfOthers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben, cid := s.NewUser(t, "ada"), s.NewUser(t, "ben"), s.NewUser(t, "cid")
	config := object{"label": "Greet", "inputSchema": servertest.Decoded(t, `{"type": "object", "required": ["name"]}`)}
	id, triggerID := publishTool(t, ada, "Greetings", config, node("t", "transform", object{"expression": `inputData.name`}))
	ada.OK(t, "collaborator.add", object{"blueprintId": id, "email": "ben@example.org", "role": "editor"})
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	publishTool(t, ben, "Greet", object{}, node("t", "template", object{"text": "ben's"}))
	name := "greet_by_" + ada.ID[:8]
	listed := func(p servertest.Caller) string { return servertest.Encoded(t, p.OK(t, "mcpTool.list", object{})) }
	for _, p := range []servertest.Caller{ben, cid} {
		if got := servertest.Encoded(t, callTool(t, p, "tools/list", object{})["tools"]); strings.Contains(got, "Greetings") {
			t.Errorf("offered without consent: %s, want no \"Greetings\"", got)
		}
		if got := servertest.Encoded(t, callTool(t, p, "tools/call", object{"name": name, "arguments": object{"name": "x"}})); !strings.Contains(got, "-32602") {
			t.Errorf("called without consent: %s, want \"-32602\" in it", got)
		}
	}
	row := func(name string, enabled bool) string {
		return servertest.Encoded(t, object{"triggerId": triggerID, "name": name, "ownerId": ada.ID, "enabled": enabled})
	}
	if got := listed(ada); got != "["+row("greet", true)+"]" {
		t.Errorf("ada's list: %s", got)
	}
	if got := listed(ben); !strings.Contains(got, row(name, false)) || !strings.Contains(got, `"name":"greet"`) {
		t.Errorf("ben's list: %s", got)
	}
	if got := listed(cid); got != "[]" {
		t.Errorf("cid's list: %s, want []", got)
	}
	for _, p := range []servertest.Caller{ben, cid} {
		if got := servertest.Encoded(t, p.OK(t, "mcpTool.enable", object{"triggerId": triggerID})); got != `{"success":true}` {
			t.Errorf("enable: %s, want {\"success\":true}", got)
		}
		if got := listed(p); !strings.Contains(got, row(name, true)) {
			t.Errorf("enabled: %s", got)
		}
		if got := servertest.Encoded(t, callTool(t, p, "tools/call", object{"name": name, "arguments": object{}})); !strings.Contains(got, "arguments.name: required") {
			t.Errorf("bad arguments: %s, want \"arguments.name: required\" in it", got)
		}
		if got := callTool(t, p, "tools/call", object{"name": name, "arguments": object{"name": "x"}}); at(got, "structuredContent.output") != "x" {
			t.Errorf("called: %v, want structuredContent.output x", got)
		}
	}
	var users []string
	runs := at(ada.OK(t, "execution.listRuns", object{"blueprintId": id}), "runs").([]any)
	for _, run := range runs {
		users = append(users, at(run, "userId").(string))
	}
	if strings.Join(users, " ") != cid.ID+" "+ada.ID {
		t.Errorf("the runs are of %q, want cid's own and the one that ben fired", users)
	}
	for _, p := range []servertest.Caller{ben, cid} {
		if got := servertest.Encoded(t, p.OK(t, "mcpTool.disable", object{"triggerId": triggerID})); got != `{"success":true}` {
			t.Errorf("disable: %s, want {\"success\":true}", got)
		}
		if got := servertest.Encoded(t, callTool(t, p, "tools/list", object{})["tools"]); strings.Contains(got, name) {
			t.Errorf("still offered: %s, want no %q", got, name)
		}
	}
}
