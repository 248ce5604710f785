package main

import (
	"context"
	"fmt"
	"net/http"

	"blueprintd/tests/process"
)

// objects are the objects that the dashboard user created, by kind. Objects whose
// deletion was requested are not used any more.
type objects struct {
	n    int
	made map[string][]string
}

// changeObject creates, changes or deletes an object, or starts a run.
func (u *dashboardUser) changeObject(ctx context.Context, from *browser) {
	t := &u.objects
	if t.made == nil {
		t.made = map[string][]string{}
	}
	t.n++
	name := fmt.Sprintf("thing %d", t.n)
	graph := object{"nodes": []any{process.Node("before", "set", object{"values": object{"kept": t.n}}), lastNode}}
	blueprint, trigger, connection, key := t.random(u, "blueprint"), t.random(u, "trigger"), t.random(u, "connection"), t.random(u, "key")
	const few = 4
	switch dice := u.random.IntN(20); {
	case blueprint == "" || dice == 0 && len(t.made["blueprint"]) < few:
		u.createObject(ctx, from, "blueprint", "blueprint.create", object{"title": name, "blueprint_map": graph})
	case dice < 5:
		u.mutateExpectingSuccess(ctx, from, "blueprint.update", object{"id": blueprint, "title": name, "blueprint_map": graph})
	case dice < 8:
		u.mutateExpectingSuccess(ctx, from, "blueprint.execute", object{"id": blueprint, "inputData": object{}})
	case dice < 9 && len(t.made["blueprint"]) == few:
		t.clear("trigger") // they go with it
		u.delete(ctx, from, "blueprint", "blueprint.delete", "id", blueprint)
	case trigger == "" || dice == 9 && len(t.made["trigger"]) < few:
		u.createObject(ctx, from, "trigger", "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": object{}})
	case dice < 12:
		u.mutateExpectingSuccess(ctx, from, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": t.n%2 == 0})
	case dice < 13:
		u.delete(ctx, from, "trigger", "blueprintTriggers.delete", "triggerId", trigger)
	case connection == "" || dice == 13 && len(t.made["connection"]) < few:
		u.createObject(ctx, from, "connection", "connection.create", object{"name": name, "type": "slack", "config": object{"botToken": secretOf("thing")}})
	case dice < 16:
		u.mutateExpectingSuccess(ctx, from, "connection.update", object{"id": connection, "name": name})
	case dice < 17:
		u.delete(ctx, from, "connection", "connection.delete", "id", connection)
	case key == "" || dice < 19 && len(t.made["key"]) < few:
		u.createObject(ctx, from, "key", "apiKey.create", object{"name": name})
	default:
		u.delete(ctx, from, "key", "apiKey.revoke", "id", key)
	}
}

func (t *objects) random(v *dashboardUser, kind string) string {
	if all := t.made[kind]; len(all) > 0 {
		return all[v.random.IntN(len(all))]
	}
	return ""
}

func (t *objects) clear(kind string) { t.made[kind] = nil }

// mutateExpectingSuccess makes a change from a signed-in browser.
func (u *dashboardUser) mutateExpectingSuccess(ctx context.Context, from *browser, procedure string, input object) answer {
	a, _ := u.mutate(ctx, from, procedure, input)
	switch {
	case a.Err == process.ErrDown, a.Err != nil, a.OK(), a.Status >= 500, a.Status == http.StatusTooManyRequests:
	case a.Status == http.StatusUnauthorized:
		u.sessionRefused(from, a)
	default:
		u.history.violated("I10", "", "%s of the dashboard user was refused: %s", procedure, a)
	}
	return a
}

func (u *dashboardUser) createObject(ctx context.Context, from *browser, kind, procedure string, input object) {
	if a := u.mutateExpectingSuccess(ctx, from, procedure, input); a.OK() {
		u.objects.made[kind] = append(u.objects.made[kind], a.Text("id"))
	}
}

func (u *dashboardUser) delete(ctx context.Context, from *browser, kind, procedure, field, id string) {
	if a := u.mutateExpectingSuccess(ctx, from, procedure, object{field: id}); a.Err == process.ErrDown {
		return
	}
	kept := []string{}
	for _, one := range u.objects.made[kind] {
		if one != id {
			kept = append(kept, one)
		}
	}
	u.objects.made[kind] = kept
}

// each makes a for-each node over items.
func each(id string, items any, concurrency int, nodes ...any) object {
	return process.Node(id, "for-each", object{"items": items, "concurrency": concurrency, "nodes": nodes})
}

// customEvent is the event that runs of the load publish.
const customEvent = "custom.torture"

// nestedShapes returns the shapes whose runs extend beyond their own graph: items, sub-runs
// and events; and one with every node type without side effects.
func nestedShapes(ledger string) []*shape {
	at := func(address, behavior string, more ...any) object {
		return callOf(ledger, "call", address, behavior, more...)
	}
	wait := func(id string) object {
		return process.Node(id, "wait", object{"durationMs": "{{inputData.wait ?? 50}}"})
	}
	retry := object{"maxAttempts": 4, "delayMs": 40, "backoff": 1}
	tries := object{"maxAttempts": 8, "delayMs": 40, "backoff": 1}
	// run starts another blueprint, whose input names the starting node.
	run := func(address, blueprint string) object {
		return process.Node(idOf(address), "blueprint", object{"blueprintId": blueprint, "inputData": object{"at": address, "wait": "{{inputData.wait ?? 50}}"}})
	}
	emit := func(address string) object {
		return process.Node(idOf(address), "emit-event", object{"event": customEvent, "data": object{"from": "{{execution.id}}/" + address}})
	}
	list := []any{10, 20, 30}
	began := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "at": "{{inputData.at ?? null}}"}})
	one := []string{""}
	repeated := each("each", list, 3, at("each[{{index}}]/call", "flaky"))
	repeated["retry"] = tries
	repeatedOnce := each("each", list, 3, at("each[{{index}}]/once", "doomed", "effect", "once"))
	repeatedOnce["retry"] = tries
	return []*shape{
		// Stored before those that start it.
		{name: "child", nodes: []any{began, at("call", "flaky", "retry", retry), at("once", "doomed", "effect", "once"), wait("wait"), lastNode}},
		{name: "parent", weight: 3, modes: one, nodes: []any{began, at("first", ""), run("run", "#child"), at("second", ""), lastNode}},
		{name: "grandparent", weight: 1, modes: one, nodes: []any{firstNode, run("run", "#parent"), lastNode}},
		{name: "each-run", weight: 2, modes: one, nodes: []any{firstNode,
			process.Node("each", "for-each", object{"items": []any{object{"at": "each[0]/run"}, object{"at": "each[1]/run"}}, "concurrency": 2, "blueprintId": "#child"}), lastNode}},
		{name: "listener", startEvent: customEvent, nodes: []any{firstNode, at("call", ""), lastNode}},
		{name: "emit", weight: 2, modes: one, nodes: []any{firstNode, emit("emit"), each("each", list, 2, emit("each[{{index}}]/emit")), lastNode}},
		{name: "each", weight: 3, modes: []string{"", "wait"}, nodes: []any{firstNode, each("each", list, 2, at("each[{{index}}]/call", "flaky", "retry", retry), wait("pause"), at("each[{{index}}]/second", "")), lastNode}},
		{name: "each-once", weight: 3, modes: one, nodes: []any{firstNode, each("each", "1..5", 2, at("each[{{index}}]/once", "", "effect", "once"), wait("pause")), lastNode}},
		{name: "each-repeated", weight: 2, modes: one, nodes: []any{firstNode, repeated, lastNode}},
		{name: "each-repeated-once", weight: 2, modes: one, nodes: []any{firstNode, repeatedOnce, lastNode}},
		{name: "each-asks", asksUser: true, weight: 2, modes: one, nodes: []any{firstNode, each("each", list, 3, at("each[{{index}}]/call", ""), process.Node("ask", "human", object{"prompt": "What of {{item}}?"})), lastNode}},
		{name: "nested", weight: 2, modes: one, nodes: []any{firstNode, process.Node("rows", "transform", object{"expression": "[[1, 2], [], [inputData.n]]"}),
			each("each", "input", 2, process.Node("row", "set", object{"values": object{"row": "{{index}}"}}), each("inner", "item", 2, at("each[{{row}}]/inner[{{index}}]/call", ""))), lastNode}},
		{name: "ways", weight: 2, modes: []string{"", "wait"},
			nodes: []any{
				firstNode, process.Node("sum", "transform", object{"expression": "inputData.n + 1"}), process.Node("note", "log", object{"level": "info", "message": "{{kept}} has {{input}}"}),
				process.Node("script", "code", object{"source": "await null; console.log('n is', inputData.n); return {text: variables.kept + ' scripted', odd: inputData.n % 2}"}),
				process.Node("which", "conditional", object{"condition": "input.odd == 1"}),
				process.Node("pick", "switch", object{"value": "{{inputData.client}}", "cases": []any{object{"equals": 1, "handle": "one"}, object{"when": "inputData.client > 3", "handle": "more"}}}),
				process.Node("odd", "template", object{"text": "odd"}), process.Node("one", "template", object{"text": "one"}), process.Node("more", "template", object{"text": "more"}), process.Node("rest", "template", object{"text": "rest"}),
				process.Node("join", "merge", object{"mode": "first"}), at("call", ""), lastNode,
			},
			edges: []any{
				edge("before", "sum"), edge("sum", "note"), edge("note", "script"), edge("script", "which"), edge("which", "odd", "true"), edge("which", "pick", "false"),
				edge("pick", "one", "one"), edge("pick", "more", "more"), edge("pick", "rest", "default"),
				edge("odd", "join"), edge("one", "join"), edge("more", "join"), edge("rest", "join"), edge("join", "call"), edge("call", "after"),
			}},
		{name: "stop", weight: 1, modes: one, last: "stop", nodes: []any{firstNode, at("call", ""), process.Node("stop", "stop", object{"message": "enough"}), lastNode}},
	}
}
