package project

import "blueprintd/blueprint"

// MaxDelayMs is the largest delay of a stub, in milliseconds.
const MaxDelayMs = 60_000

// The statuses that a test may expect of a run and of a step.
var (
	RunStatuses  = []string{"completed", "failed", "paused", "running"}
	StepStatuses = []string{"pending", "running", "completed", "failed", "skipped", "paused"}
)

// suiteSchema is the schema of a test file.
func suiteSchema() map[string]any {
	object := func(text string, properties map[string]any, required ...any) map[string]any {
		return closedObject(text, required, properties)
	}
	byName := func(text string, value any) map[string]any {
		return map[string]any{"type": "object", "description": text, "additionalProperties": value}
	}
	enum := func(values []any) map[string]any { return map[string]any{"enum": values} }
	anything := map[string]any{"description": "a value, or a matcher: {\"$any\": true}, {\"$exact\": value}, {\"$match\": regexp}, {\"$partial\": value}, {\"$type\": name}"}
	answer := object("an answer: output (or handle), status, or error", map[string]any{
		"output":  map[string]any{"description": "replaces the work of the node; for human and approval-gate nodes the answer"},
		"handle":  oneType("string", "the handle at which the run goes on"),
		"status":  map[string]any{"type": "integer", "minimum": 100, "maximum": 999, "description": "of an HTTP answer; 250 takes a mail"},
		"headers": byName("of the answer", map[string]any{"type": []any{"string", "number", "boolean"}}),
		"body":    map[string]any{"description": "of the answer: text as it is, anything else as JSON"},
		"error":   oneType("string", "why the node fails, or the host cannot be reached"),
		"times":   map[string]any{"type": "integer", "minimum": 1, "description": "how often it answers"},
		"delayMs": map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDelayMs, "description": "how long it takes, in real time"},
	})
	stub := map[string]any{"anyOf": []any{answer, map[string]any{"type": "array", "minItems": 1, "items": answer}}}
	call := object("the expected parts of a request", map[string]any{
		"nodeId": anything, "method": anything, "url": anything, "host": anything, "headers": map[string]any{"type": "object"}, "body": anything,
	})
	calls := func(text string) map[string]any {
		return map[string]any{"type": "array", "description": text, "items": call}
	}
	expect := object("the expected result of the run", map[string]any{
		"status":   enum(Words(RunStatuses)),
		"output":   anything,
		"error":    anything,
		"steps":    byName("by the address of a node", object("the expected result of the node", map[string]any{"status": enum(Words(StepStatuses)), "output": anything, "error": anything})),
		"branches": byName("the taken handle, by the address of a node", map[string]any{"type": "string"}),
		"calls": map[string]any{"anyOf": []any{
			calls("all requests, in their order"),
			object("requests in any order", map[string]any{
				"unordered": calls("all requests"), "some": calls("some of the requests"), "none": calls("requests that must not happen"),
			}),
		}},
	}, "status")
	test := object("a test", map[string]any{
		"name":        oneType("string", "what it shows"),
		"variables":   oneType("object", "of the run"),
		"inputData":   map[string]any{"description": "of the run"},
		"clock":       map[string]any{"type": "string", "format": "date-time", "description": "the start of the virtual clock; by default 2000-01-01T00:00:00Z"},
		"cassette":    oneType("string", "a recording, a path relative to this file"),
		"connections": byName("connections by the name in references, or by id, instead of placeholders", object("a connection", map[string]any{"name": oneType("string", "its name"), "type": enum(Words(blueprint.ConnectionTypes)), "config": oneType("object", "without secrets")}, "type")),
		"stubs":       byName("stubs by the address of a node, or by host", stub),
		"expect":      expect,
	}, "name", "expect")
	out := object("tests of a blueprint", map[string]any{
		"$schema":    oneType("string", "where this schema is, for editors"),
		"blueprint":  oneType("string", "the blueprint's file, a path relative to this one"),
		"blueprints": byName("the files of blueprints that nodes run, by the id that they name", map[string]any{"type": "string"}),
		"tests":      map[string]any{"type": "array", "minItems": 1, "items": test},
	}, "blueprint", "tests")
	out["title"] = "Tests of a blueprintd blueprint"
	return out
}
