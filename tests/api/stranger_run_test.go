package api

import (
	"encoding/json"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestDataOfStrangers runs a public blueprint as a user who cannot manage it. Its owner
// sees that it ran and its status; inputs and outputs are only for the caller.
func TestDataOfStrangers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, eve := s.NewUser(t, "ada"), s.NewUser(t, "eve")
	const canary, asked = "canary-of-eve", "asked-of-ada"
	nodes := []any{
		node("log", "log", object{"level": "info", "message": "{{inputData.secret}}", "data": object{"given": "{{given}}"}}),
		node("say", "template", object{"text": "{{inputData.secret}}"}),
		node("choose", "switch", object{"value": "{{inputData.then}}", "cases": []any{
			object{"equals": "human", "handle": "human"}, object{"equals": "approval", "handle": "approval"}, object{"equals": "fail", "handle": "fail"},
		}}),
		node("human", "human", object{"prompt": "for {{inputData.secret}}"}),
		node("approval", "approval-gate", object{"prompt": asked}),
		node("fail", "stop", object{"failed": true, "message": "no {{inputData.secret}}"}),
		node("fine", "template", object{"text": "{{inputData.secret}}"}),
	}
	edge := func(from, to, handle string) object {
		return object{"source": from, "target": to, "sourceHandle": handle}
	}
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "Public", "environment_variables": []any{object{"name": "given"}},
		"blueprint_map": object{"nodes": nodes, "edges": []any{
			edge("log", "say", "main"), edge("say", "choose", "main"), edge("choose", "human", "human"), edge("choose", "approval", "approval"), edge("choose", "fail", "fail"), edge("choose", "fine", "default"),
		}},
	})
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	run := func(then string) string {
		answer := eve.OK(t, "blueprint.execute", object{"id": id, "variables": object{"given": canary}, "inputData": object{"secret": canary, "then": then}, "record": true})
		return at(answer, "executionId").(string)
	}
	runs := map[string]string{"completed": run("end"), "failed": run("fail"), "human": run("human"), "approval": run("approval")}
	byRun := []string{"execution.getExecutionStatus", "execution.getRecord", "execution.getExchanges", "execution.export", "execution.exportTest"}
	shown := func(p servertest.Caller) string {
		var text strings.Builder
		for _, execution := range runs {
			for _, name := range byRun {
				text.WriteString(p.Call(t, name, object{"executionId": execution}).Text)
			}
		}
		text.WriteString(p.Call(t, "execution.getExecutionLogs", object{"blueprintId": id}).Text)
		text.WriteString(p.Call(t, "execution.listRecentExecutions", object{}).Text)
		text.WriteString(p.Call(t, "execution.listRuns", object{"blueprintId": id}).Text)
		return text.String()
	}
	if text := shown(eve); strings.Count(text, canary) < 20 {
		t.Errorf("eve does not see her own data: %s, want at least 20", text)
	}
	if text := shown(ada); strings.Contains(text, canary) || !strings.Contains(text, asked) {
		t.Errorf("ada sees eve's data, or not what she is asked: %s; want no %q and %q in it", text, canary, asked)
	}
	status := ada.OK(t, "execution.getExecutionStatus", object{"executionId": runs["failed"]})
	if at(status, "status") != "failed" || at(status, "failedSteps") != json.Number("1") || at(status, "startTime") == nil || len(at(status, "steps").([]any)) != len(nodes) {
		t.Errorf("of the failed run ada sees %s", servertest.Encoded(t, status))
	}

	// Neither a response nor a retry by ada shows it, not even to her other blueprint that
	// subscribes to failed runs.
	hears := ada.IDOf(t, "blueprint.create", object{"title": "Hears", "blueprint_map": object{"nodes": []any{node("a", "merge", object{})}}})
	heard := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hears, "triggerType": "event", "config": object{"event": "execution.failed"}})
	for name, call := range map[string]servertest.Reply{
		"approval": ada.Call(t, "execution.resume", object{"executionId": runs["approval"], "input": object{"approved": true}}),
		"human":    ada.Call(t, "execution.resume", object{"executionId": runs["human"], "input": object{"x": 1}}),
		"retry":    ada.Call(t, "execution.retry", object{"executionId": runs["failed"], "fromNodeId": "say"}),
	} {
		t.Run(name, func(t *testing.T) {
			if call.Status != 200 || strings.Contains(call.Text, canary) {
				t.Errorf("%d %s, want 200 and no %q", call.Status, call.Text, canary)
			}
			if name == "retry" {
				runs["retried"] = at(call.Payload(), "executionId").(string)
				ada.Await(t, runs["retried"], blueprint.StatusFailed)
			}
		})
	}
	ada.Call(t, "blueprint.execute", object{"id": id, "inputData": object{"secret": "ada's own", "then": "fail"}})
	s.Advance(t, "0s")
	if rows := firings(t, ada, heard); len(rows) != 1 {
		t.Errorf("ada's trigger hears of %d runs, want 1, her own", len(rows))
	}
	ada.OK(t, "collaborator.add", object{"blueprintId": id, "email": "eve@example.org", "role": "editor"})
	if text := shown(ada); strings.Contains(text, canary) {
		t.Errorf("ada sees eve's data afterwards: %s, want no %q", text, canary)
	}
}

// A stranger who started a run of a public blueprint can still answer and cancel it
// when the blueprint is private, and can start nothing more.
func TestRunOfStrangerOutlivesVisibility(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, eve := s.NewUser(t, "ada"), s.NewUser(t, "eve")
	ask := node("ask", "human", object{"prompt": "?"})
	id := ada.Blueprint(t, "Public", ask)
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	runs := []string{eve.Launch(t, id, nil, ask), eve.Launch(t, id, nil, ask)}
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "private"})

	eve.Refused(t, blueprint.CodeForbidden, "blueprint.execute", object{"id": id})
	eve.OK(t, "execution.cancel", object{"executionId": runs[0]})
	eve.Await(t, runs[0], blueprint.StatusFailed)
	eve.OK(t, "execution.resume", object{"executionId": runs[1], "input": object{}})
	eve.Await(t, runs[1], blueprint.StatusCompleted)
	eve.Refused(t, blueprint.CodeForbidden, "execution.retry", object{"executionId": runs[0]})
}
