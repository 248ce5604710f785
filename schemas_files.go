package main

import "blueprintd/cassette"

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
	definitions, recorded := blueprintDefinitions(), cassette.Schema()
	delete(recorded, "$schema")
	definitions["cassette"] = recorded
	schema["$defs"] = definitions
	return schema
}

// seedSchema is that of what a fresh server begins with.
func seedSchema() map[string]any {
	file := blueprintSchema()
	delete(file, "$defs")
	schema := closedObject("What a fresh server begins with.", nil, map[string]any{
		"users": listOf("people", closedObject("", []any{"email", "name"}, map[string]any{
			"email": oneType("string", "the address"), "name": oneType("string", "the name"), "apiKey": oneType("string", "an API key of 8 or more printable characters"), "password": oneType("string", "the password for the dashboard"),
		})),
		"organizations": listOf("organizations", closedObject("", []any{"name", "members"}, map[string]any{
			"name": oneType("string", "the name"), "members": listOf("who belongs to it", closedObject("", []any{"email", "role"}, map[string]any{
				"email": oneType("string", "of one of the users"), "role": choiceOf("what they may do", "member", "admin", "owner"),
			})),
		})),
		"blueprints": listOf("blueprints, as in their files", file),
		"connections": listOf("credentials of other services", closedObject("", []any{"name", "type", "config"}, map[string]any{
			"name": oneType("string", "the name"), "type": oneType("string", "the type"), "config": oneType("object", "the config, with secrets"), "owner": oneType("string", "the email address of its owner"), "organization": oneType("string", "the name of its organization"),
		})),
	})
	schema["title"] = "Seed file"
	definitions := blueprintDefinitions()
	nameConnections(definitions)
	schema["$defs"] = definitions
	return schema
}

// nameConnections lets {"$connection": name} stand in a seed file where an id of
// a connection does.
func nameConnections(value any) {
	named := openObject("a connection of this file, by its name", []any{connectionKey}, map[string]any{connectionKey: map[string]any{"type": "string"}})
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			nameConnections(element)
		}
	case map[string]any:
		for name, member := range v {
			if nameConnections(member); name != "properties" {
				continue
			}
			properties := member.(map[string]any)
			if id := properties["connectionId"]; id != nil {
				properties["connectionId"] = map[string]any{"anyOf": []any{id, named}}
			}
			if ids, ok := properties["mcpConnectionIds"]; ok {
				properties["mcpConnectionIds"] = map[string]any{"anyOf": []any{ids, listOf("", map[string]any{"anyOf": []any{map[string]any{"type": "string"}, named}})}}
			}
		}
	}
}
