package api

import (
	"net/http"
	"strings"
	"testing"

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
	if got := unbuilt(t, ada, "build_get_node_type", object{"type": "http-reqest"}); !strings.Contains(got, `did you mean \"http-request\"`) {
		t.Errorf("got %s", got)
	}

	draft := build(t, ada, "build_create_draft", object{"title": "Orders"})
	id := draft["id"].(string)
	edited := build(t, ada, "build_edit_draft", object{"id": id, "version": draft["version"], "changes": []any{
		object{"op": "add_node", "node": object{"id": "get", "type": "http-request", "config": object{"url": "https://api.example.com/orders/{{inputData.id}}"}}},
		object{"op": "add_node", "node": object{"id": "ok", "type": "conditon", "config": object{"expression": "input.body.total > limit"}}},
		object{"op": "set_variable", "variable": object{"name": "limit", "type": "number", "default": 100}},
	}})
	t.Logf("edited %s", servertest.Encoded(t, edited))
	if edited["valid"] != false {
		t.Errorf("a type that does not exist is valid")
	}
	t.Logf("%s", servertest.Encoded(t, build(t, ada, "build_validate", object{"id": id})))
	fixed := build(t, ada, "build_edit_draft", object{"id": id, "version": edited["version"], "changes": []any{object{"op": "change_node", "id": "ok", "node": object{"type": "condition"}}}})
	t.Logf("fixed %s", servertest.Encoded(t, fixed))
	missing := build(t, ada, "build_run_sandbox", object{"id": id, "input": object{"id": 7}})
	t.Logf("missing %s", servertest.Encoded(t, missing))
	ran := build(t, ada, "build_run_sandbox", object{"id": id, "input": object{"id": 7}, "saveAs": "a large order", "fakes": object{"api.example.com": object{"status": 200, "body": object{"total": 150}}}})
	t.Logf("ran %s", servertest.Encoded(t, ran))
	tested := build(t, ada, "build_run_tests", object{"id": id, "tests": ran["test"]})
	t.Logf("tested %s", servertest.Encoded(t, tested))
	proposed := build(t, ada, "build_propose", object{"id": id, "version": fixed["version"], "note": "Checks orders."})
	t.Logf("proposed %s", servertest.Encoded(t, proposed))
	t.Logf("log %s", servertest.Encoded(t, ada.OK(t, "auditLog.list", object{})))
	t.Logf("tools %s", servertest.Encoded(t, callTool(t, ada, "tools/list", object{})))
	t.Logf("resources %s", servertest.Encoded(t, callTool(t, ada, "resources/list", object{})))
	_ = http.StatusOK
}
