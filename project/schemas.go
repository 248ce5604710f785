package project

import (
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/trial"
)

// SchemaNames are the files that have a JSON Schema for editors, in order.
var SchemaNames = []string{"blueprint", "cassette", "run", "seed", "test"}

// schemaOf gives the JSON Schema (2020-12) of a kind of file, made for editors:
// it says of more than a reader must refuse, and takes templates wherever a run
// resolves them.
func schemaOf(name string) map[string]any {
	var schema map[string]any
	switch name {
	case "blueprint":
		schema = BlueprintSchema()
	case "cassette":
		schema = recording.CassetteSchema()
	case "run":
		schema = runSchema()
	case "seed":
		schema = seedSchema()
	case "test":
		schema = trial.Schema()
	default:
		panic(fmt.Sprintf("no schema is named %q", name))
	}
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "urn:blueprintd:schema:" + name
	return schema
}

// SchemaText is a schema as it is printed and served.
func SchemaText(name string) ([]byte, error) { return blueprint.EncodeIndented(schemaOf(name)) }

// closedObject is the schema of an object that has no members but these.
func closedObject(description string, required []any, properties map[string]any) map[string]any {
	schema := openObject(description, required, properties)
	schema["additionalProperties"] = false
	return schema
}

// openObject is the schema of an object that may have other members too.
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

// oneType is the schema of a value of a type, with what it is for.
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
