package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"blueprintd/tests/process"
)

type object = map[string]any

// shape is a blueprint of the load.
type shape struct {
	name   string
	weight int      // how often it is chosen
	modes  []string // when its webhooks respond: "" at once, "wait" at the end; none = clients do not start it
	nodes  []any
	edges  []any

	startEvent  string // the event that starts it
	eventFilter string // filter on the shape of the event; "" = any
	asksUser    bool   // it waits for users
	spared      bool   // its runs are neither cancelled nor retried

	id       string              // as stored
	webhooks map[string]string   // mode -> trigger
	api      string              // trigger
	event    string              // trigger
	follows  map[string][]string // by pattern: all nodes that come after
	once     map[string]bool     // nodes with effect "once"
	outputs  map[string]string   // text of a node after the id of the execution
	last     string              // the last node of every completed run; "" = none

	// Of the shape whose blueprint changes; mu guards nodes too.
	mu        sync.Mutex
	published int // the latest acknowledged edition
	sent      int // the latest edition that was sent or skipped
	unsent    int // number of editions skipped because there was no server
}

func edge(source, target string, handle ...any) object {
	e := object{"source": source, "target": target}
	if len(handle) > 0 {
		e["sourceHandle"] = handle[0]
	}
	return e
}

// callOf returns a node that calls a place of the ledger. Its id is the end of its address,
// in which templates represent the items.
func callOf(ledger, place, address, behavior string, more ...any) object {
	config := object{"method": "POST", "url": fmt.Sprintf("%s/%s?node=%s&behavior=%s", ledger, place, pattern(address), behavior), "body": object{"from": "{{execution.id}}/" + address}}
	return process.Node(idOf(address), "http-request", config, more...)
}

// The first and the last node of every blueprint of the load.
var (
	firstNode = process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}"}})
	lastNode  = process.Node("after", "template", object{"text": "{{kept}} done"})
)

// shapes returns the blueprints of the load, whose calls go to the ledger.
func shapes(ledger string) []*shape {
	call := func(id, behavior string, more ...any) object { return callOf(ledger, "call", id, behavior, more...) }
	before, after := firstNode, lastNode
	respond := process.Node("respond", "respond", object{"status": 201, "body": object{"execution": "{{kept}}"}})
	wait := func(id string) object {
		return process.Node(id, "wait", object{"durationMs": "{{inputData.wait ?? 50}}"})
	}
	retry := object{"maxAttempts": 4, "delayMs": 40, "backoff": 1}
	both := []string{"", "wait"}
	list := []*shape{
		{name: "pure", weight: 3, modes: both, nodes: []any{before, after}},
		{name: "call", weight: 4, modes: both, nodes: []any{before, call("call", ""), after}},
		{name: "once", weight: 4, modes: []string{""}, nodes: []any{before, call("once", "", "effect", "once"), after}},
		{name: "once-flaky", weight: 2, modes: []string{""}, nodes: []any{before, call("once", "flaky", "effect", "once", "retry", retry), after}},
		{name: "once-cut", weight: 2, modes: []string{""}, nodes: []any{before, call("once", "cut", "effect", "once", "retry", retry), after}},
		{name: "flaky", weight: 2, modes: []string{""}, nodes: []any{before, call("call", "flaky", "retry", retry), after}},
		{name: "broken", weight: 1, modes: []string{""}, nodes: []any{before, call("first", ""), call("call", "broken"), after}},
		{name: "wait", weight: 3, modes: both, nodes: []any{before, call("first", ""), wait("wait"), call("second", ""), after}},
		{name: "respond", weight: 2, modes: []string{"wait"}, nodes: []any{before, call("first", ""), respond, wait("wait"), call("second", ""), after}},
		{name: "human", asksUser: true, weight: 2, modes: []string{""}, nodes: []any{before, call("first", ""), process.Node("ask", "human", object{"prompt": "Your name?"}), call("second", ""), after}},
		{name: "expire", weight: 2, modes: []string{""}, nodes: []any{before, call("first", ""), process.Node("ask", "human", object{"prompt": "Too late?", "expiresMs": 400, "onExpire": "continue"}), call("second", ""), after}},
		{name: "approval", weight: 2, modes: []string{""}, nodes: []any{before, process.Node("ask", "approval-gate", object{"prompt": "Go on?"}), call("yes", ""), call("no", ""), process.Node("join", "merge", object{"mode": "first"}), after},
			asksUser: true, edges: []any{edge("before", "ask"), edge("ask", "yes", "approved"), edge("ask", "no", "rejected"), edge("yes", "join"), edge("no", "join"), edge("join", "after")}},
		{name: edited, weight: 3, modes: []string{""}, nodes: edition(ledger, 1), published: 1, sent: 1},
		{name: "parallel", weight: 3, modes: []string{""}, nodes: []any{before, call("left", ""), call("right", "flaky", "retry", retry), wait("pause"), call("once", "", "effect", "once"), process.Node("join", "merge", object{}), after},
			edges: []any{edge("before", "left"), edge("before", "right"), edge("before", "pause"), edge("pause", "once"), edge("left", "join"), edge("right", "join"), edge("once", "join"), edge("join", "after")}},
	}
	list = append(append(append(list, nestedShapes(ledger)...), serviceShapes(ledger)...), listenerShapes(ledger)...)
	for _, s := range list {
		s.derive()
	}
	return list
}

// onceTypes are the node types with effect "once" by default.
var onceTypes = []string{"ai-prompt", "mcp-tool", "send-email", "send-slack"}

// derive sets the fields that follow from the nodes and edges.
func (s *shape) derive() {
	s.webhooks, s.follows, s.once = map[string]string{}, map[string][]string{}, map[string]bool{}
	s.outputs = map[string]string{"after": " done", "script": " scripted"}
	if s.last == "" {
		s.last = "after"
	}
	s.deriveGraph("", s.nodes, s.edges)
}

func (s *shape) deriveGraph(within string, nodes, edges []any) {
	previous := ""
	for _, value := range nodes {
		n := value.(object)
		id, config := within+n["id"].(string), n["config"].(object)
		s.once[id] = n["effect"] == "once" || n["effect"] == nil && slices.Contains(onceTypes, n["type"].(string))
		if previous != "" && edges == nil {
			s.follows[id] = []string{previous}
		}
		if inner, ok := config["nodes"].([]any); ok {
			s.deriveGraph(id+"/", inner, nil)
		}
		previous = id
	}
	for _, value := range edges {
		e := value.(object)
		target := within + e["target"].(string)
		s.follows[target] = append(s.follows[target], within+e["source"].(string))
	}
}

// triggers returns the triggers that clients fire.
func (s *shape) triggers() []string {
	all := []string{}
	for _, id := range []string{s.api, s.event} {
		if id != "" {
			all = append(all, id)
		}
	}
	for _, id := range s.webhooks {
		all = append(all, id)
	}
	return all
}

// blueprintMap returns the map as blueprint.create accepts it.
func (s *shape) blueprintMap() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := object{"nodes": s.nodes}
	if s.edges != nil {
		m["edges"] = s.edges
	}
	return m
}

// create stores a shape and its triggers. names are the ids of connections and of shapes
// stored earlier, written in it as @name and #name.
func (s *shape) create(ctx context.Context, d *apiClient, names map[string]string) error {
	var err error
	s.nodes = resolved(s.nodes, names).([]any)
	if s.id, err = d.Create(ctx, "blueprint.create", object{"title": s.name, "blueprint_map": s.blueprintMap()}); err != nil {
		return err
	}
	names["#"+s.name] = s.id
	trigger := func(kind string, config object) (string, error) {
		config["breaker"] = false // some runs fail, and the triggers must stay active
		return d.Create(ctx, "blueprintTriggers.create", object{"blueprintId": s.id, "triggerType": kind, "config": config})
	}
	for _, mode := range s.modes {
		config := object{}
		if mode != "" {
			config["respond"] = mode
		}
		id, err := trigger("webhook", config)
		if err != nil {
			return err
		}
		s.webhooks[mode] = id
	}
	if s.startEvent != "" {
		config := object{"event": s.startEvent}
		if s.eventFilter != "" {
			config["blueprintId"] = names["#"+s.eventFilter]
		}
		s.event, err = trigger("event", config)
		return err
	}
	if len(s.modes) == 0 {
		return nil
	}
	s.api, err = trigger("api", object{"label": s.name})
	return err
}

// resolved returns a copy of a value with ids in place of names.
func resolved(value any, names map[string]string) any {
	switch value := value.(type) {
	case string:
		if id, known := names[value]; known {
			return id
		}
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = resolved(value[i], names)
		}
		return out
	case object:
		out := make(object, len(value))
		for key := range value {
			out[key] = resolved(value[key], names)
		}
		return out
	}
	return value
}

// serviceShapes returns the shapes whose nodes reach services through connections.
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
		return through("model", process.Node(idOf(address), "ai-prompt", config))
	}
	tool := func(address string) object {
		return through("tools", process.Node(idOf(address), "mcp-tool", object{"tool": "note", "arguments": object{"key": "{{execution.id}}/" + address}}))
	}
	later := object{"maxAttempts": 4, "delayMs": 40, "backoff": 1}
	mail := func(address string) object {
		return through("mail", process.Node(idOf(address), "send-email", object{"to": "Ada <ada@example.org>", "subject": fmt.Sprintf("<{{execution.id}}/%s>", address), "text": "Hello.\n.\nBye."}, "retry", later))
	}
	post := func(address string) object {
		return through("chat", process.Node(idOf(address), "send-slack", object{"channel": "#torture", "text": fmt.Sprintf("<{{execution.id}}/%s>", address)}, "retry", later))
	}
	wait := process.Node("wait", "wait", object{"durationMs": "{{inputData.wait ?? 50}}"})
	// The part of the credentials that a service echoes is in the run from then on.
	repeated := process.Node("note", "log", object{"level": "info", "message": "received {{input}}", "data": "{{input}}"})
	one := []string{""}
	return []*shape{
		{name: "guarded", weight: 3, modes: []string{"", "wait"}, nodes: []any{firstNode, guarded("guarded"), repeated, lastNode}},
		// Its output goes to another run, into an event and through a script.
		{name: "passes-on", weight: 2, modes: one, nodes: []any{
			firstNode, guarded("guarded"),
			process.Node("script", "code", object{"source": "console.log(input); return {text: variables.kept + ' scripted', echo: [input.body.echo]}"}),
			process.Node("emit", "emit-event", object{"event": customEvent, "data": object{"received": "{{input}}"}}),
			process.Node("run", "blueprint", object{"blueprintId": "#child", "inputData": object{"at": "run", "received": "{{nodes.guarded.output}}"}}), lastNode,
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
