package project

import "blueprintd/blueprint"

// MaxDelayMs is how long an answer of a test may take, in milliseconds.
const MaxDelayMs = 60_000

// The statuses that a test may expect of a run and of a step.
var (
	RunStatuses  = []string{"completed", "failed", "paused", "running"}
	StepStatuses = []string{"pending", "running", "completed", "failed", "skipped", "paused"}
)

// suiteSchema returns the JSON Schema (2020-12) of a test file, as a plain JSON value.
func suiteSchema() map[string]any {
	describe := func(kind, text string) map[string]any { return map[string]any{"type": kind, "description": text} }
	object := func(text string, properties map[string]any, required ...any) map[string]any {
		out := map[string]any{"type": "object", "description": text, "properties": properties, "additionalProperties": false}
		if required != nil {
			out["required"] = required
		}
		return out
	}
	byName := func(text string, value any) map[string]any {
		return map[string]any{"type": "object", "description": text, "additionalProperties": value}
	}
	enum := func(list []string) map[string]any {
		values := make([]any, len(list))
		for i, text := range list {
			values[i] = text
		}
		return map[string]any{"enum": values}
	}
	anything := map[string]any{"description": "a value, or a matcher: {\"$any\": true}, {\"$exact\": value}, {\"$match\": regexp}, {\"$partial\": value}, {\"$type\": name}"}
	answer := object("an answer: output (or handle), status, or error", map[string]any{
		"output":  map[string]any{"description": "stands for the node's work; the answer of human and approval-gate nodes"},
		"handle":  describe("string", "the handle at which the run goes on"),
		"status":  map[string]any{"type": "integer", "minimum": 100, "maximum": 999, "description": "of an HTTP answer; 250 takes a mail"},
		"headers": byName("of the answer", map[string]any{"type": []any{"string", "number", "boolean"}}),
		"body":    map[string]any{"description": "of the answer: text as it is, anything else as JSON"},
		"error":   describe("string", "why the node fails, or the host cannot be reached"),
		"times":   map[string]any{"type": "integer", "minimum": 1, "description": "how often it answers"},
		"delayMs": map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDelayMs, "description": "how long it takes, in real time"},
	})
	stub := map[string]any{"anyOf": []any{answer, map[string]any{"type": "array", "minItems": 1, "items": answer}}}
	kinds := make([]string, len(blueprint.ConnectionTypes))
	for i, kind := range blueprint.ConnectionTypes {
		kinds[i] = string(kind)
	}
	call := object("what is to be compared of a request", map[string]any{
		"nodeId": anything, "method": anything, "url": anything, "host": anything, "headers": map[string]any{"type": "object"}, "body": anything,
	})
	calls := func(text string) map[string]any {
		return map[string]any{"type": "array", "description": text, "items": call}
	}
	expect := object("what is to come of the run", map[string]any{
		"status":   enum(RunStatuses),
		"output":   anything,
		"error":    anything,
		"steps":    byName("by the address of a node", object("what is to come of a node", map[string]any{"status": enum(StepStatuses), "output": anything, "error": anything})),
		"branches": byName("the handle that was taken, by the address of a node", map[string]any{"type": "string"}),
		"calls": map[string]any{"anyOf": []any{
			calls("all requests, in their order"),
			object("requests in any order", map[string]any{
				"unordered": calls("all requests"), "some": calls("requests that went out, perhaps among others"), "none": calls("not one request is like these"),
			}),
		}},
	}, "status")
	test := object("a test", map[string]any{
		"name":        describe("string", "what it shows"),
		"variables":   describe("object", "of the run"),
		"inputData":   map[string]any{"description": "of the run"},
		"clock":       map[string]any{"type": "string", "format": "date-time", "description": "where the virtual clock begins; 2000-01-01T00:00:00Z without it"},
		"cassette":    describe("string", "a recording, a path relative to this file"),
		"connections": byName("by the name that a blueprint refers to, or by id, in place of stand-ins", object("a connection", map[string]any{"name": describe("string", "its name"), "type": enum(kinds), "config": describe("object", "without secrets")}, "type")),
		"stubs":       byName("what answers, by the address of a node or by host", stub),
		"expect":      expect,
	}, "name", "expect")
	out := object("tests of a blueprint", map[string]any{
		"$schema":    describe("string", "where this schema is, for editors"),
		"blueprint":  describe("string", "the blueprint's file, a path relative to this one"),
		"blueprints": byName("the files of blueprints that nodes run, by the id that they name", map[string]any{"type": "string"}),
		"tests":      map[string]any{"type": "array", "minItems": 1, "items": test},
	}, "blueprint", "tests")
	out["$schema"], out["title"] = "https://json-schema.org/draft/2020-12/schema", "Tests of a blueprintd blueprint"
	return out
}
