package project

import (
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
)

// SchemaNames are the names of the JSON Schemas.
var SchemaNames = []string{"blueprint", "cassette", "run", "seed", "test"}

// SchemaText returns the JSON Schema (2020-12) of a kind of file, for editors. It is
// stricter than the readers, and accepts templates where a run resolves them.
func SchemaText(name string) ([]byte, error) {
	schema := map[string]func() map[string]any{
		"blueprint": BlueprintSchema, "cassette": recording.CassetteSchema, "run": runSchema, "seed": seedSchema, "test": suiteSchema,
	}[name]()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "urn:blueprintd:schema:" + name
	return blueprint.EncodeIndented(schema)
}

// closedObject is the schema of an object with only these members.
func closedObject(description string, required []any, properties map[string]any) map[string]any {
	schema := openObject(description, required, properties)
	schema["additionalProperties"] = false
	return schema
}

// openObject is the schema of an object that may have other members.
func openObject(description string, required []any, properties map[string]any) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties}
	if description != "" {
		schema["description"] = description
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// oneType is the schema of a value of a type.
func oneType(kind, description string) map[string]any {
	return map[string]any{"type": kind, "description": description}
}

func anything(description string) map[string]any {
	return map[string]any{"description": description}
}

func listOf(description string, items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items, "description": description}
}

func choiceOf(description string, words ...any) map[string]any {
	return map[string]any{"enum": words, "description": description}
}

func defined(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

// runSchema is the schema of an exported run.
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

// nameReferences allows references with certain keys instead of ids.
func nameReferences(value any, keys ...string) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			nameReferences(element, keys...)
		}
	case map[string]any:
		for name, member := range v {
			if nameReferences(member, keys...); name != "properties" {
				continue
			}
			properties := member.(map[string]any)
			for _, each := range []struct{ member, key, doc string }{
				{"connectionId", ConnectionKey, "a connection, by its name"},
				{"mcpConnectionIds", ConnectionKey, "a connection, by its name"},
				{"blueprintId", BlueprintKey, "the blueprint of a file, by its path from this one, such as child.blueprint.yaml"},
			} {
				id := properties[each.member]
				if id == nil || !slices.Contains(keys, each.key) {
					continue
				}
				named := closedObject(each.doc, []any{each.key}, map[string]any{each.key: map[string]any{"type": "string"}})
				if each.member == "mcpConnectionIds" {
					named = listOf("", map[string]any{"anyOf": []any{map[string]any{"type": "string"}, named}})
				}
				properties[each.member] = map[string]any{"anyOf": []any{id, named}}
			}
		}
	}
}
