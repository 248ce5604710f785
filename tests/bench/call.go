package main

import (
	"context"
	"net/http"
	"strings"

	"blueprintd/tests/process"
)

type object = map[string]any

func node(id, kind string, config object) object {
	return object{"id": id, "type": kind, "title": id, "config": config}
}

// three is the flow that is measured: three nodes without side effects, the
// first of which takes the name from where the run has it.
func three(name string) []any {
	return []any{
		node("a", "set", object{"values": object{"who": name}}),
		node("b", "template", object{"text": "Hello {{who}}"}),
		node("c", "transform", object{"expression": "upper(input.text)"}),
	}
}

// payload is the body of a webhook, 222 bytes of JSON.
func payload() string { return `{"name":"Ada","pad":"` + strings.Repeat("x", 200) + `"}` }

// flows are what is stored in the server: blueprints and triggers by id.
type flows struct {
	wait, accept string // webhooks of the three nodes, by how they answer
	execute      string // the blueprint for blueprint.execute
	pause, ask   string // webhooks of runs that wait for an hour, and for a person
}

func storeFlows(ctx context.Context, address string) (f flows, err error) {
	client := process.NewClient(address, apiKey, http.DefaultClient)
	blueprint := func(title string, nodes []any) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = client.Create(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}})
		return id
	}
	webhook := func(blueprint string, config object) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": config})
		return id
	}
	greet := blueprint("three nodes", three("{{inputData.name}}"))
	f.wait, f.accept = webhook(greet, object{"respond": "wait"}), webhook(greet, object{})
	f.execute = blueprint("three nodes, called", three("{{name}}"))
	f.pause = webhook(blueprint("wait", []any{node("w", "wait", object{"durationMs": 3_600_000})}), object{})
	f.ask = webhook(blueprint("human", []any{node("h", "human", object{"prompt": "Go on?"})}), object{})
	return f, err
}
