package triggers

import (
	"encoding/json"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// ConfigSchema describes the config of a trigger type.
type ConfigSchema struct {
	Type        blueprint.TriggerType
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value of its own
	// that the caller may change. It refuses nothing that Check takes.
	Schema map[string]any
}

// ConfigSchemas describes every trigger type, in the order in which people are
// told of them.
func ConfigSchemas() []ConfigSchema {
	text := func(doc string) map[string]any {
		return map[string]any{"type": []any{"string", "null"}, "description": doc}
	}
	secret := func(doc string) map[string]any {
		return map[string]any{"type": []any{"string", "null"}, "minLength": json.Number("1"), "description": doc}
	}
	flag := func(doc string) map[string]any {
		return map[string]any{"type": []any{"boolean", "null"}, "description": doc}
	}
	choice := func(doc string, choices ...string) map[string]any {
		list := make([]any, 0, len(choices)+1)
		for _, one := range choices {
			list = append(list, one)
		}
		return map[string]any{"enum": append(list, nil), "description": doc}
	}
	kept := "how long the secret before this one still holds; the server writes it"
	of := func(kind blueprint.TriggerType, doc string, properties map[string]any, required string) ConfigSchema {
		properties["concurrency"] = map[string]any{
			"type": []any{"object", "null"}, "description": "how many runs of it go on at once", "required": []any{"limit"}, "additionalProperties": false,
			"properties": map[string]any{
				"limit":   map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000"), "description": "how many"},
				"onLimit": choice("what becomes of one more: it waits, is left out, or ends one that runs", onLimits...),
			},
		}
		properties["record"] = flag("whether what its runs exchange with other services is kept")
		properties["breaker"] = flag("whether it is switched off when its runs keep failing")
		schema := map[string]any{"type": []any{"object", "null"}, "properties": properties, "description": doc}
		if required != "" {
			schema["type"] = "object"
			var spellings []any
			for _, name := range blueprint.TriggerKeySpellings(required) {
				spellings = append(spellings, map[string]any{"required": []any{name}})
			}
			schema["anyOf"] = spellings
		}
		return ConfigSchema{kind, doc, schema}
	}
	events := make([]any, 0, len(blueprint.ServiceEvents)+1)
	for _, event := range blueprint.ServiceEvents {
		events = append(events, map[string]any{"const": event})
	}
	events = append(events, map[string]any{"type": "null"}, map[string]any{"type": "string", "pattern": `^custom\.[A-Za-z0-9_.-]+$`})
	return []ConfigSchema{
		of(blueprint.TriggerManual, "Fired by hand.", map[string]any{}, ""),
		of(blueprint.TriggerScheduled, "Fires when a cron expression is due.", map[string]any{
			"cron":     map[string]any{"type": "string", "minLength": json.Number("1"), "description": "minute, hour, day of month, month, weekday: 0 9 * * 1-5; or @hourly, @daily, ...", "examples": []any{"0 9 * * 1-5"}},
			"timezone": text("the IANA name of the time zone, such as Europe/Zurich; UTC when left out"),
			"catchUp":  choice("what becomes of ticks that were missed while the server was down; latest when left out", catchUpLatest, catchUpAll, catchUpNone),
		}, "cron"),
		of(blueprint.TriggerWebhook, "Fires when something is posted to its address.", map[string]any{
			"secret": secret("what senders sign with; without one everybody may post"), "previousSecret": secret("the secret before this one"), "previousSecretUntil": text(kept),
			"respond": choice("accept answers at once, wait with what the run gives; accept when left out", "accept", "wait"),
			"preset":  choice("whose signatures and delivery ids are understood", signature.PresetNames()...),
		}, ""),
		of(blueprint.TriggerEmail, "Fires when mail comes to its address.", map[string]any{
			"allowFrom":   map[string]any{"type": []any{"array", "null"}, "items": map[string]any{"type": "string", "pattern": "@."}, "description": "who may send: addresses, and domains as @example.org"},
			"attachments": choice("what becomes of attached files; store when left out", "store", "ignore"),
			"requireAuth": flag("whether the sender's domain must vouch for the mail"), "address": text("the address; the server chooses it"),
		}, ""),
		of(blueprint.TriggerSlack, "Fires on an event in Slack.", map[string]any{
			"signingSecret": secret("the signing secret of the Slack app; null in a file that came without it"), "previousSigningSecret": secret("the secret before this one"), "previousSigningSecretUntil": text(kept),
			"eventType": text("only events of this type, such as message or app_mention"), "channel": text("only in this channel: its id, or its name when connectionId is given"),
			"connectionId": text("the Slack connection that knows the names of channels"),
		}, ""),
		of(blueprint.TriggerEvent, "Fires on an event of this server.", map[string]any{
			"event":       map[string]any{"anyOf": events, "description": "which one; custom.<name> is what an emit-event node raises; every event but custom ones when left out"},
			"blueprintId": text("only about this blueprint"),
		}, ""),
		of(blueprint.TriggerAPI, "Fires when its address is called with an API key.", map[string]any{
			"label":       text("its name for people, and that of its MCP tool"),
			"inputSchema": map[string]any{"type": []any{"object", "null"}, "description": "the JSON Schema that a body must fit"},
		}, ""),
	}
}
