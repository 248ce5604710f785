package main

// each makes a for-each node over items.
func each(id string, items any, concurrency int, nodes ...any) object {
	return node(id, "for-each", object{"items": items, "concurrency": concurrency, "nodes": nodes})
}

// heard is the event that runs of the load raise.
const heard = "custom.torture"

// manyShapes gives those whose runs walk over more than their own graph: over
// items, into other runs, and by events; and one of every node without effect.
func manyShapes(ledger string) []*shape {
	at := func(address, mood string, more ...any) object { return callOf(ledger, "call", address, mood, more...) }
	wait := func(id string) object { return node(id, "wait", object{"durationMs": "{{inputData.wait ?? 50}}"}) }
	retry := object{"maxAttempts": 4, "delayMs": 40, "backoff": 1}
	tries := object{"maxAttempts": 8, "delayMs": 40, "backoff": 1}
	// run starts another blueprint, which is told which node that was.
	run := func(address, blueprint string) object {
		return node(idOf(address), "blueprint", object{"blueprintId": blueprint, "inputData": object{"at": address, "wait": "{{inputData.wait ?? 50}}"}})
	}
	emit := func(address string) object {
		return node(idOf(address), "emit-event", object{"event": heard, "data": object{"from": "{{execution.id}}/" + address}})
	}
	list := []any{10, 20, 30}
	began := node("before", "set", object{"values": object{"kept": "{{execution.id}}", "at": "{{inputData.at ?? null}}"}})
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
			node("each", "for-each", object{"items": []any{object{"at": "each[0]/run"}, object{"at": "each[1]/run"}}, "concurrency": 2, "blueprintId": "#child"}), lastNode}},
		{name: "listener", hears: heard, nodes: []any{firstNode, at("call", ""), lastNode}},
		{name: "emit", weight: 2, modes: one, nodes: []any{firstNode, emit("emit"), each("each", list, 2, emit("each[{{index}}]/emit")), lastNode}},
		{name: "each", weight: 3, modes: []string{"", "wait"}, nodes: []any{firstNode, each("each", list, 2, at("each[{{index}}]/call", "flaky", "retry", retry), wait("pause"), at("each[{{index}}]/second", "")), lastNode}},
		{name: "each-once", weight: 3, modes: one, nodes: []any{firstNode, each("each", "1..5", 2, at("each[{{index}}]/once", "", "effect", "once"), wait("pause")), lastNode}},
		{name: "each-repeated", weight: 2, modes: one, nodes: []any{firstNode, repeated, lastNode}},
		{name: "each-repeated-once", weight: 2, modes: one, nodes: []any{firstNode, repeatedOnce, lastNode}},
		{name: "each-asks", asks: true, weight: 2, modes: one, nodes: []any{firstNode, each("each", list, 3, at("each[{{index}}]/call", ""), node("ask", "human", object{"prompt": "What of {{item}}?"})), lastNode}},
		{name: "nested", weight: 2, modes: one, nodes: []any{firstNode, node("rows", "transform", object{"expression": "[[1, 2], [], [inputData.n]]"}),
			each("each", "input", 2, node("row", "set", object{"values": object{"row": "{{index}}"}}), each("inner", "item", 2, at("each[{{row}}]/inner[{{index}}]/call", ""))), lastNode}},
		{name: "ways", weight: 2, modes: []string{"", "wait"},
			nodes: []any{
				firstNode, node("sum", "transform", object{"expression": "inputData.n + 1"}), node("note", "log", object{"level": "info", "message": "{{kept}} has {{input}}"}),
				node("script", "code", object{"source": "await null; console.log('n is', inputData.n); return {text: variables.kept + ' scripted', odd: inputData.n % 2}"}),
				node("which", "conditional", object{"condition": "input.odd == 1"}),
				node("pick", "switch", object{"value": "{{inputData.client}}", "cases": []any{object{"equals": 1, "handle": "one"}, object{"when": "inputData.client > 3", "handle": "more"}}}),
				node("odd", "template", object{"text": "odd"}), node("one", "template", object{"text": "one"}), node("more", "template", object{"text": "more"}), node("rest", "template", object{"text": "rest"}),
				node("join", "merge", object{"mode": "first"}), at("call", ""), lastNode,
			},
			edges: []any{
				edge("before", "sum"), edge("sum", "note"), edge("note", "script"), edge("script", "which"), edge("which", "odd", "true"), edge("which", "pick", "false"),
				edge("pick", "one", "one"), edge("pick", "more", "more"), edge("pick", "rest", "default"),
				edge("odd", "join"), edge("one", "join"), edge("more", "join"), edge("rest", "join"), edge("join", "call"), edge("call", "after"),
			}},
		{name: "stop", weight: 1, modes: one, last: "stop", nodes: []any{firstNode, at("call", ""), node("stop", "stop", object{"message": "enough"}), lastNode}},
	}
}
