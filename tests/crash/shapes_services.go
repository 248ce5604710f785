package main

import "fmt"

// serviceShapes gives those whose nodes reach services through connections.
func serviceShapes(ledger string) []*shape {
	through := func(connection string, n object) object {
		n["config"].(object)["connectionId"] = "@" + connection
		return n
	}
	guarded := func(address string) object {
		return through("guarded", callOf(ledger, "guarded/call", address, "doomed", "retry", object{"maxAttempts": 2, "delayMs": 40}))
	}
	prompt := func(address string, more ...any) object {
		config := object{"model": "parrot", "prompt": fmt.Sprintf("Who am I? <{{execution.id}}/%s>", address)}
		for i := 0; i+1 < len(more); i += 2 {
			config[more[i].(string)] = more[i+1]
		}
		return through("model", node(idOf(address), "ai-prompt", config))
	}
	tool := func(address string) object {
		return through("tools", node(idOf(address), "mcp-tool", object{"tool": "note", "arguments": object{"key": "{{execution.id}}/" + address}}))
	}
	later := object{"maxAttempts": 4, "delayMs": 40, "backoff": 1}
	mail := func(address string) object {
		return through("mail", node(idOf(address), "send-email", object{"to": "Ada <ada@example.org>", "subject": fmt.Sprintf("<{{execution.id}}/%s>", address), "text": "Hello.\n.\nBye."}, "retry", later))
	}
	post := func(address string) object {
		return through("chat", node(idOf(address), "send-slack", object{"channel": "#torture", "text": fmt.Sprintf("<{{execution.id}}/%s>", address)}, "retry", later))
	}
	wait := node("wait", "wait", object{"durationMs": "{{inputData.wait ?? 50}}"})
	// What a service repeats of its credentials is in the run from then on.
	repeated := node("note", "log", object{"level": "info", "message": "it said {{input}}", "data": "{{input}}"})
	one := []string{""}
	return []*shape{
		{name: "guarded", weight: 3, modes: []string{"", "wait"}, nodes: []any{firstNode, guarded("guarded"), repeated, lastNode}},
		// What it said goes on to another run, into an event and through a script.
		{name: "tells", weight: 2, modes: one, nodes: []any{
			firstNode, guarded("guarded"),
			node("script", "code", object{"source": "console.log(input); return {text: variables.kept + ' scripted', echo: [input.body.echo]}"}),
			node("emit", "emit-event", object{"event": heard, "data": object{"told": "{{input}}"}}),
			node("run", "blueprint", object{"blueprintId": "#child", "inputData": object{"at": "run", "told": "{{nodes.guarded.output}}"}}), lastNode,
		}},
		{name: "redirected", weight: 2, modes: one, nodes: []any{firstNode, through("guarded", callOf(ledger, "guarded/away", "away", "")), lastNode}},
		{name: "metered", weight: 3, modes: one, nodes: []any{firstNode, through("identity", callOf(ledger, "metered/call", "direct", "")), repeated, wait, through("metered", callOf(ledger, "metered/call", "named", "")), lastNode}},
		{name: "prompt", weight: 2, modes: one, nodes: []any{firstNode, prompt("prompt"), repeated, lastNode}},
		{name: "prompt-tool", weight: 2, modes: one, nodes: []any{firstNode, prompt("prompt", "mcpConnectionIds", []any{"@tools"}), lastNode}},
		{name: "tool", weight: 2, modes: one, nodes: []any{firstNode, tool("tool"), repeated, lastNode}},
		{name: "mail", weight: 2, modes: one, nodes: []any{firstNode, mail("mail"), lastNode}},
		{name: "post", weight: 2, modes: one, nodes: []any{firstNode, post("post"), repeated, lastNode}},
		{name: "each-sends", weight: 2, modes: one, nodes: []any{firstNode, each("each", []any{"a", "b"}, 2, guarded("each[{{index}}]/guarded"), mail("each[{{index}}]/mail"), post("each[{{index}}]/post")), lastNode}},
	}
}
