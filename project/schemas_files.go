package project

import "blueprintd/foundation/recording"

// runSchema is that of a portable run.
func runSchema() map[string]any {
	stored := openObject("The blueprint as it was.", []any{"title", "blueprint_map"}, map[string]any{
		"id": oneType("string", "its id on that server"), "version": oneType("string", "its version"), "title": oneType("string", "its title"), "blueprint_map": defined("map"),
	})
	schema := openObject("A run with its blueprint and what it exchanged.", []any{"format", "blueprint", "run"}, map[string]any{
		"format": map[string]any{"const": "blueprintd-run/1"}, "exportedAt": oneType("string", "when it was exported"), "server": oneType("string", "the version of the server that it ran on"),
		"blueprint": stored,
		"run": openObject("The status record, and what went in and came out.", []any{"id", "status"}, map[string]any{
			"id": oneType("string", "the id of the run"), "status": choiceOf("how it ended", "completed", "failed", "paused", "running"), "inputVariables": oneType("object", "its variables; secrets as ***"),
			"inputData": anything("its input"), "output": anything("its output"), "steps": listOf("what each node did", map[string]any{"type": "object"}),
		}),
		"cassette": map[string]any{"anyOf": []any{map[string]any{"type": "null"}, defined("cassette")}},
	})
	schema["title"] = "Portable run (*.run.json)"
	definitions, recorded := blueprintDefinitions(), recording.CassetteSchema()
	delete(recorded, "$schema")
	definitions["cassette"] = recorded
	schema["$defs"] = definitions
	return schema
}
