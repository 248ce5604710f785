package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestInputs sends each procedure invalid inputs; the error names every invalid field, in
// its message and as issues. ID is replaced by a valid id.
func TestInputs(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const someUUID = `"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"`
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	list := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	maps := func(m string) string { return `{"title": "t", "blueprint_map": ` + m + `}` }
	variables := func(v string) string { return `{"title": "t", "environment_variables": ` + v + `}` }
	for _, test := range []struct{ name, input, fields string }{
		{"blueprint.list", `{"page": 0}`, "page"},
		{"blueprint.list", `{"page": -1, "limit": 0}`, "page limit"},
		{"blueprint.list", `{"page": 1.5, "limit": 101}`, "page limit"},
		{"blueprint.list", `{"page": "1", "limit": null}`, "page"},
		{"blueprint.list", `{"status": "archived", "search": 5, "scope": "all"}`, "status search scope"},
		{"blueprint.list", `{"status": ""}`, "status"},
		{"blueprint.list", `[]`, ""},
		{"blueprint.list", `"x"`, ""},
		{"blueprint.get", `{}`, "id"},
		{"blueprint.get", `{"id": "x"}`, "id"},
		{"blueprint.get", `{"id": 5}`, "id"},
		{"blueprint.get", `{"id": null}`, "id"},
		{"blueprint.get", `{"ID": ` + someUUID + `}`, "id"},
		{"blueprint.get", `{"id": "6b1f0c5e8a6d4c1e9f332d5b7a90c412"}`, "id"},
		{"blueprint.get", `{"id": "{6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412}"}`, "id"},
		{"blueprint.versions", `{"id": ""}`, "id"},
		{"blueprint.delete", `{"id": [` + someUUID + `]}`, "id"},
		{"blueprint.create", `{}`, "title"},
		{"blueprint.create", `{"title": ""}`, "title"},
		{"blueprint.create", `{"title": null}`, "title"},
		{"blueprint.create", `{"title": ` + long(501) + `}`, "title"},
		{"blueprint.create", `{"title": 5, "description": 5, "status": "Draft", "tags": ["a", 1, "b", null], "organization_id": "x"}`, "title description status tags[1] tags[3] organization_id"},
		{"blueprint.create", `{"title": "t", "tags": "a"}`, "tags"},
		{"blueprint.create", `{"title": "t", "tags": ` + list(101, `"x"`) + `}`, "tags"},
		{"blueprint.create", `{"title": "t", "description": ` + long(10_001) + `}`, "description"},
		{"blueprint.create", maps(`[]`), "blueprint_map"},
		{"blueprint.create", maps(`{}`), "blueprint_map.nodes"},
		{"blueprint.create", maps(`{"nodes": {}}`), "blueprint_map.nodes"},
		{"blueprint.create", maps(`{"nodes": [{}]}`), "blueprint_map.nodes[0].id blueprint_map.nodes[0].type blueprint_map.nodes[0].title blueprint_map.nodes[0].config"},
		{"blueprint.create", maps(`{"nodes": [5, {"id": 1, "type": null, "title": [], "config": []}]}`),
			"blueprint_map.nodes[0] blueprint_map.nodes[1].id blueprint_map.nodes[1].type blueprint_map.nodes[1].title blueprint_map.nodes[1].config"},
		{"blueprint.create", maps(`{"nodes": [{"id": "a", "type": "merge", "title": "", "config": {}}, {"id": "a", "type": "merge", "title": "", "config": {}}]}`), "blueprint_map.nodes[1].id"},
		{"blueprint.create", maps(`{"nodes": [{"id": "a", "type": "merge", "title": "", "config": {}}], "edges": {}}`), "blueprint_map.edges"},
		{"blueprint.create", maps(`{"nodes": [{"id": "a", "type": "merge", "title": "", "config": {}}], "edges": [{"source": "a"}, {"source": "b", "target": 5}]}`),
			"blueprint_map.edges[0].target blueprint_map.edges[1].source blueprint_map.edges[1].target"},
		{"blueprint.create", maps(`{"nodes": [{"id": "a", "type": "merge", "title": "", "config": {}}], "edges": [{"source": "a", "target": "a"}]}`), "blueprint_map.edges"},
		{"blueprint.create", variables(`{}`), "environment_variables"},
		{"blueprint.create", variables(`[5, {}, {"name": 5}, {"name": "a b"}, {"name": "input"}, {"name": "x"}, {"name": "x"}]`),
			"environment_variables[0] environment_variables[1].name environment_variables[2].name environment_variables[3].name environment_variables[4].name environment_variables[6].name"},
		{"blueprint.create", variables(`[{"name": "a", "type": "text"}, {"name": "b", "default": 5}, {"name": "c", "type": "number", "default": "5"}, {"name": "d", "type": "boolean", "default": 0}, {"name": "e", "required": "yes", "secret": 1}]`),
			"environment_variables[0].type environment_variables[1].default environment_variables[2].default environment_variables[3].default environment_variables[4].required environment_variables[4].secret"},
		{"blueprint.create", `{"title": "", "blueprint_map": {"nodes": 1}, "environment_variables": [1]}`, "title blueprint_map.nodes environment_variables[0]"},
		{"blueprint.update", `{}`, "id"},
		{"blueprint.update", `{"id": ` + someUUID + `, "title": "", "description": 1, "status": "", "visibility": "secret", "tags": [1], "blueprint_map": [], "environment_variables": {}, "version": 1}`,
			"title description status visibility tags[0] blueprint_map environment_variables version"},
		{"blueprint.execute", `{"variables": []}`, "id variables"},
		{"execution.executeBlueprintWithLogging", `{}`, "nodes options"},
		{"execution.executeBlueprintWithLogging", `{"nodes": {}, "options": {}}`, "nodes options.blueprintId"},
		{"execution.executeBlueprintWithLogging", `{"nodes": [{}], "edges": 5, "options": {"blueprintId": "x", "variables": 1}}`, "nodes[0].id nodes[0].type nodes[0].title nodes[0].config edges options.blueprintId options.variables"},
		{"execution.executeBlueprintWithLogging", `{"nodes": [{"id": "a"}], "options": {"blueprintId": ` + someUUID + `}}`, "nodes[0].type nodes[0].title nodes[0].config"},
		{"execution.getExecutionStatus", `{}`, "executionId"},
		{"execution.getExecutionStatus", `{"executionId": 5}`, "executionId"},
		{"execution.subscribe", `{}`, "executionId"},
		{"execution.getExecutionLogs", `{"limit": 101, "offset": -1}`, "blueprintId limit offset"},
		{"execution.getExecutionLogs", `{"blueprintId": "x", "limit": 0, "offset": 0.5}`, "blueprintId limit offset"},
		{"execution.listRecentExecutions", `{"limit": 101, "offset": -1, "organizationId": ""}`, "organizationId limit offset"},
		{"execution.listRecentExecutions", `{"limit": 1e3, "offset": null, "organizationId": null}`, "limit"},
		{"execution.resume", `{"nodeId": 5}`, "executionId nodeId"},
		{"execution.cancel", `{"reason": 5}`, "executionId reason"},
		{"execution.retry", `{"fromNodeId": 5}`, "executionId fromNodeId"},
		{"blueprintTriggers.list", `{}`, "blueprintId"},
		{"blueprintTriggers.create", `{}`, "blueprintId triggerType"},
		{"blueprintTriggers.create", `{"blueprintId": "x", "triggerType": "Webhook", "config": []}`, "blueprintId triggerType config"},
		{"blueprintTriggers.update", `{"config": 1, "isActive": "yes"}`, "triggerId config isActive"},
		{"blueprintTriggers.delete", `{"triggerId": "x"}`, "triggerId"},
		{"blueprintTriggers.fire", `{"inputData": []}`, "triggerId inputData"},
		{"blueprintTriggers.getWebhookUrl", `{"triggerId": null}`, "triggerId"},
		{"blueprintTriggers.history", `{"limit": 0, "offset": -1}`, "triggerId limit offset"},
		{"blueprintTriggers.history", `{"triggerId": ` + someUUID + `, "limit": 101}`, "limit"},
		{"blueprintTriggers.preview", `{"count": 0}`, "cron count"},
		{"blueprintTriggers.preview", `{"cron": "0 0 * * *", "count": 101}`, "count"},
		{"blueprintTriggers.preview", `{"cron": 5, "timezone": 5, "count": "5"}`, "cron timezone count"},
		{"apiKey.create", `{}`, "name"},
		{"apiKey.create", `{"name": "  "}`, "name"},
		{"apiKey.create", `{"name": ` + long(201) + `}`, "name"},
		{"apiKey.revoke", `{}`, "id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Root.Call(t, test.name, servertest.Decoded(t, test.input))
			if answer.Status != 400 || answer.Code() != string(blueprint.CodeBadRequest) || fmt.Sprint(at(answer.Value, "error.json.code")) != "-32600" {
				t.Fatalf("%s: %d %s, want 400, Code %v and -32600", test.input, answer.Status, answer.Text, string(blueprint.CodeBadRequest))
			}
			var fields, messages []string
			issues, _ := at(answer.Value, "error.json.data.issues").([]any)
			for _, issue := range issues {
				path := slices.Clone(at(issue, "path").([]any))
				for i, element := range path {
					if position, ok := element.(json.Number); ok {
						path[i], _ = strconv.Atoi(position.String())
					}
				}
				fields = append(fields, blueprint.PathText(path))
				messages = append(messages, fmt.Sprint(at(issue, "message")))
			}
			if !slices.Equal(fields, strings.Split(test.fields, " ")) {
				t.Errorf("%s: the issues are of %q, want %q", test.input, fields, test.fields)
			}
			for i, field := range fields {
				if field == "" {
					field = "input"
				}
				if !strings.Contains(answer.Message(), field+": "+messages[i]) || messages[i] == "" {
					t.Errorf("%s: %q does not name %s, want %q in it and not empty", test.input, answer.Message(), field, field+": "+messages[i])
				}
			}
		})
	}
}

// TestBounds sends the largest permitted values.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	long := func(n int) string { return strings.Repeat("é", n) }
	id := s.Root.IDOf(t, "blueprint.create", object{"title": long(500), "description": long(10_000), "tags": []any{}})
	for name, inputs := range map[string][]object{
		"blueprint.list":                 {{}, {"page": 1, "limit": 100, "status": "draft", "search": "", "scope": "own"}, {"unknown": 1}, {"page": 1<<53 - 1, "limit": 100}, {"search": strings.Repeat("é", 500)}},
		"execution.getExecutionLogs":     {{"blueprintId": id}, {"blueprintId": id, "limit": 100, "offset": 0}, {"blueprintId": id, "limit": 1, "offset": 1_000_000}},
		"execution.listRecentExecutions": {{}, {"limit": 100, "offset": 0, "organizationId": s.Root.WorkspaceID}},
		"blueprintTriggers.preview":      {{"cron": "0 0 * * *", "count": 1}, {"cron": "0 0 * * *", "count": 100, "timezone": "Europe/Zurich"}},
	} {
		for _, input := range inputs {
			s.Root.OK(t, name, input)
		}
	}
}

// A refusal that names a field of the input lists it as an issue, also one that comes after
// the validation.
func TestIssuesOfLateRefusals(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	id := s.Root.Blueprint(t, "asks", node("ask", "human", object{"prompt": "?"}))
	run := at(s.Root.OK(t, "blueprint.execute", object{"id": id}), "executionId")
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	members, _ := s.Root.OK(t, "organization.members", object{"organizationId": at(s.Root.OK(t, "blueprint.get", object{"id": id}), "organization_id")}).([]any)
	wantFieldIssue(t, s.Root, "collaborator.add", object{"blueprintId": id, "email": at(members[0], "email"), "role": "editor"})
	wantFieldIssue(t, s.Root, "mcpTool.enable", object{"triggerId": trigger})
	wantFieldIssue(t, s.Root, "execution.resume", object{"executionId": run, "nodeId": "elsewhere"})
	s.Root.OK(t, "execution.cancel", object{"executionId": run})
	wantFieldIssue(t, s.Root, "execution.retry", object{"executionId": run, "fromNodeId": "elsewhere"})
	wantFieldIssue(t, s.Root, "execution.fork", object{"executionId": run, "fromNodeId": "elsewhere", "input": object{}})
	wantFieldIssue(t, s.Root, "blueprint.evaluateExpressions", object{"executionId": run, "nodeId": "elsewhere", "expressions": []any{object{"text": "1", "kind": "expression"}}})
}

// wantFieldIssue checks that a call is refused with one issue, which is also the message.
func wantFieldIssue(t *testing.T, caller servertest.Caller, procedure string, input object) {
	t.Helper()
	answer := caller.Call(t, procedure, input)
	field, message, _ := strings.Cut(answer.Message(), ": ")
	issues := []any{object{"path": []any{field}, "message": message}}
	if got := at(answer.Value, "error.json.data.issues"); answer.Code() != string(blueprint.CodeBadRequest) || !blueprint.Equal(got, issues) {
		t.Errorf("%s: %s, want an issue with the message", procedure, answer.Text)
	}
}
