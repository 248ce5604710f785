package main

import (
	"context"
	"fmt"

	"blueprintd/tests/process"
)

type object = map[string]any

// shape is a blueprint of the load.
type shape struct {
	name    string
	weight  int // how often clients start it; 0 = others start it
	nodes   []any
	edges   []any
	config  object   // of its webhook
	event   string   // that starts it
	cron    string   // that starts it
	limit   int      // most runs at once; 0 = no limit
	effects []string // nodes that call, all of them in a completed run
	// follows names, for a calling node, the calling node before it, whose number it repeats.
	follows map[string]string

	id, trigger string // as stored
}

// The names of shapes that the checks know.
const (
	approvalShape = "approval"
	callShape     = "call"
	emitterShape  = "emitter"
	listenerShape = "listener"
	onceShape     = "once"
)

const madeEvent = "custom.made"

// callTimeout is the time limit of a call, in milliseconds: longer than the longest SIGSTOP. A
// process that is frozen for longer finds that its calls have exceeded their limit.
const callTimeout = 60_000

// shapes returns the blueprints of the load, whose calls go to a service.
func shapes(service string) []*shape {
	call := func(id, after string, more ...any) object {
		body := object{"from": "{{execution.id}}/" + id}
		if after != "" {
			body["prior"] = "{{nodes." + after + ".output.body.n}}"
		}
		return process.Node(id, "http-request", object{"method": "POST", "url": service + "/call?node=" + id, "body": body, "timeoutMs": callTimeout}, more...)
	}
	// These requests have the effect pure: they need no commit before they are sent.
	read := func(id string) object {
		return process.Node(id, "http-request", object{"method": "GET", "url": service + "/read?key={{execution.id}}/" + id, "timeoutMs": callTimeout}, "effect", "pure")
	}
	wait := func(config any) object { return process.Node("wait", "wait", object{"durationMs": config}) }
	before := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}"}})
	after := process.Node("after", "template", object{"text": "{{kept}} done"})
	respond := process.Node("respond", "respond", object{"status": 201, "body": object{"execution": "{{execution.id}}"}})
	edge := func(source, target string, handle ...any) object {
		e := object{"source": source, "target": target}
		if len(handle) > 0 {
			e["sourceHandle"] = handle[0]
		}
		return e
	}
	queued := func(limit int) object { return object{"concurrency": object{"limit": limit, "onLimit": "queue"}} }
	both, chained := []string{"first", "second"}, map[string]string{"second": "first"}
	limited := func(name string, weight, limit int, more object) *shape {
		config := queued(limit)
		for key, value := range more {
			config[key] = value
		}
		nodes := []any{before, call("first", ""), wait(250), call("second", "first"), after}
		if more != nil {
			nodes = []any{before, call("first", ""), wait(100), call("second", "first"), respond, after}
		}
		return &shape{name: name, weight: weight, limit: limit, config: config, nodes: nodes, effects: both, follows: chained}
	}
	scheduled := func(n int, nodes ...any) *shape {
		return &shape{name: fmt.Sprint("minute-", n), cron: "* * * * *", nodes: nodes, effects: []string{"call"}}
	}
	return []*shape{
		{name: "pure", weight: 2, nodes: []any{before, after}},
		{name: callShape, weight: 3, nodes: []any{before, call("first", ""), call("second", "first"), after}, effects: both, follows: chained},
		{name: "wait", weight: 5, nodes: []any{before, call("first", ""), wait("{{inputData.wait}}"), call("second", "first"), after}, effects: both, follows: chained},
		{name: "answered", weight: 2, config: object{"respond": "wait"}, nodes: []any{before, call("first", ""), respond, after}, effects: []string{"first"}},
		{name: onceShape, weight: 2, nodes: []any{before, call("once", "", "effect", "once"), after}},
		{name: "parallel", weight: 2, nodes: []any{before, call("left", ""), call("right", ""), wait("{{inputData.wait}}"), process.Node("join", "merge", object{}), call("last", "left"), after},
			edges:   []any{edge("before", "left"), edge("before", "right"), edge("before", "wait"), edge("left", "join"), edge("right", "join"), edge("wait", "join"), edge("join", "last"), edge("last", "after")},
			effects: []string{"left", "right", "last"}, follows: map[string]string{"last": "left"}},
		{name: "reads", weight: 2, nodes: []any{before, read("r1"), read("r2"), read("r3"), read("r4"), read("r5"), read("r6"), after}, effects: []string{"r1", "r6"}},
		{name: approvalShape, weight: 4, nodes: []any{before, process.Node("ask", "approval-gate", object{"prompt": "Go on?"}), call("yes", ""), call("no", ""), process.Node("join", "merge", object{"mode": "first"}), after},
			edges: []any{edge("before", "ask"), edge("ask", "yes", "approved"), edge("ask", "no", "rejected"), edge("yes", "join"), edge("no", "join"), edge("join", "after")}},
		limited("queued", 3, 2, nil),
		limited("queued-alone", 1, 1, nil),
		limited("queued-answered", 1, 3, object{"respond": "wait"}),
		{name: emitterShape, weight: 3, nodes: []any{before, call("first", ""), process.Node("emit", "emit-event", object{"event": madeEvent, "data": object{"of": "{{execution.id}}"}}), after}, effects: []string{"first"}},
		{name: listenerShape, event: madeEvent, nodes: []any{process.Node("before", "set", object{"values": object{"of": "{{inputData.data.of}}"}}), call("call", ""), after2}, effects: []string{"call"}},
		scheduled(1, before, call("call", ""), after),
		scheduled(2, before, wait(2000), call("call", ""), after),
		scheduled(3, before, call("call", ""), wait(500), after),
	}
}

var after2 = process.Node("after", "template", object{"text": "{{of}} done"})

// create stores a shape and its trigger.
func (s *shape) create(ctx context.Context, api *process.Client) error {
	m := object{"nodes": s.nodes}
	if s.edges != nil {
		m["edges"] = s.edges
	}
	var err error
	if s.id, err = api.Create(ctx, "blueprint.create", object{"title": s.name, "blueprint_map": m}); err != nil {
		return err
	}
	kind, config := "webhook", object{"breaker": false}
	for key, value := range s.config {
		config[key] = value
	}
	switch {
	case s.event != "":
		kind, config["event"] = "event", s.event
	case s.cron != "":
		kind, config["cron"], config["catchUp"] = "scheduled", s.cron, "all"
	}
	s.trigger, err = api.Create(ctx, "blueprintTriggers.create", object{"blueprintId": s.id, "triggerType": kind, "config": config})
	return err
}
