package main

import (
	"context"
	"fmt"
	"sync"

	"blueprintd/harness"
)

type object = map[string]any

// shape is a blueprint of the load.
type shape struct {
	name   string
	weight int      // how often it is chosen
	modes  []string // how webhooks of it answer: "" at once, "wait" at the end; none = clients do not start it
	nodes  []any
	edges  []any

	id       string            // as stored
	webhooks map[string]string // mode -> trigger
	api      string            // trigger
	follows  map[string][]string
	once     map[string]bool // nodes with effect once
	last     string          // the node whose text names the execution

	// Of the shape whose blueprint changes; mu guards nodes too.
	mu        sync.Mutex
	published int // the latest edition that was acknowledged
	tried     int // the latest that was sent
}

func node(id, kind string, config object, more ...any) object {
	n := object{"id": id, "type": kind, "title": id, "config": config}
	for i := 0; i+1 < len(more); i += 2 {
		n[more[i].(string)] = more[i+1]
	}
	return n
}

func edge(source, target string, handle ...any) object {
	e := object{"source": source, "target": target}
	if len(handle) > 0 {
		e["sourceHandle"] = handle[0]
	}
	return e
}

// shapes gives the blueprints of the load, whose calls go to the ledger.
func shapes(ledger string) []*shape {
	call := func(id, mood string, more ...any) object {
		return node(id, "http-request", object{"method": "POST", "url": fmt.Sprintf("%s/call?node=%s&mood=%s", ledger, id, mood), "body": object{"from": "{{execution.id}}"}}, more...)
	}
	before := node("before", "set", object{"values": object{"kept": "{{execution.id}}"}})
	after := node("after", "template", object{"text": "{{kept}} done"})
	respond := node("respond", "respond", object{"status": 201, "body": object{"execution": "{{kept}}"}})
	wait := func(id string) object { return node(id, "wait", object{"durationMs": "{{inputData.wait ?? 50}}"}) }
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
		{name: "human", weight: 2, modes: []string{""}, nodes: []any{before, call("first", ""), node("ask", "human", object{"prompt": "Your name?"}), call("second", ""), after}},
		{name: "expire", weight: 2, modes: []string{""}, nodes: []any{before, call("first", ""), node("ask", "human", object{"prompt": "Too late?", "expiresMs": 400, "onExpire": "continue"}), call("second", ""), after}},
		{name: "approval", weight: 2, modes: []string{""}, nodes: []any{before, node("ask", "approval-gate", object{"prompt": "Go on?"}), call("yes", ""), call("no", ""), node("join", "merge", object{"mode": "first"}), after},
			edges: []any{edge("before", "ask"), edge("ask", "yes", "approved"), edge("ask", "no", "rejected"), edge("yes", "join"), edge("no", "join"), edge("join", "after")}},
		{name: edited, weight: 3, modes: []string{""}, nodes: edition(ledger, 1), published: 1, tried: 1},
		{name: "parallel", weight: 3, modes: []string{""}, nodes: []any{before, call("left", ""), call("right", "flaky", "retry", retry), wait("pause"), call("once", "", "effect", "once"), node("join", "merge", object{}), after},
			edges: []any{edge("before", "left"), edge("before", "right"), edge("before", "pause"), edge("pause", "once"), edge("left", "join"), edge("right", "join"), edge("once", "join"), edge("join", "after")}},
	}
	for _, s := range list {
		s.webhooks = map[string]string{}
		s.derive()
	}
	return list
}

// derive fills in what follows from the nodes and edges.
func (s *shape) derive() {
	s.follows, s.once, s.last = map[string][]string{}, map[string]bool{}, "after"
	previous := ""
	for _, value := range s.nodes {
		n := value.(object)
		id := n["id"].(string)
		s.once[id] = n["effect"] == "once"
		if previous != "" && s.edges == nil {
			s.follows[id] = []string{previous}
		}
		previous = id
	}
	for _, value := range s.edges {
		e := value.(object)
		target := e["target"].(string)
		s.follows[target] = append(s.follows[target], e["source"].(string))
	}
}

// triggers gives all that clients knock at.
func (s *shape) triggers() []string {
	all := []string{}
	if s.api != "" {
		all = append(all, s.api)
	}
	for _, id := range s.webhooks {
		all = append(all, id)
	}
	return all
}

// blueprintMap gives the map as create takes it.
func (s *shape) blueprintMap() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := object{"nodes": s.nodes}
	if s.edges != nil {
		m["edges"] = s.edges
	}
	return m
}

// create stores a shape and the triggers that clients knock at.
func (s *shape) create(ctx context.Context, d *harness.Client) error {
	var err error
	if s.id, err = d.Create(ctx, "blueprint.create", object{"title": s.name, "blueprint_map": s.blueprintMap()}); err != nil {
		return err
	}
	trigger := func(kind string, config object) (string, error) {
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
	if len(s.modes) == 0 {
		return nil
	}
	s.api, err = trigger("api", object{"label": s.name})
	return err
}
