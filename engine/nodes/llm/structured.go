package llm

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// schemaPrompt adds a schema to the system prompt, for providers that cannot enforce it.
func schemaPrompt(system string, schema any) string {
	written, err := blueprint.Encode(schema)
	if err != nil {
		return system
	}
	rule := "Your final answer must be exactly one JSON value that fits the JSON Schema below, with no text before or after it and no code fence.\n\n" + string(written)
	if system == "" {
		return rule
	}
	return system + "\n\n" + rule
}

// isObject reports whether a schema requires an object, as providers can enforce.
func isObject(schema any) bool { return object(schema)["type"] == "object" }

// keptKeywords have the same meaning to providers and contain no schemas.
var keptKeywords = []string{"type", "required", "description", "title", "$ref"}

// formats are those that providers can enforce.
var formats = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// closeSchema rewrites a schema to the part of JSON Schema that providers support:
// every object lists its properties and allows no others. Other constraints move into
// descriptions. It returns false when the result would forbid what the schema allows.
func closeSchema(schema any) (map[string]any, bool) {
	source, ok := schema.(map[string]any)
	if !ok {
		return nil, false
	}
	out, rest, known := map[string]any{}, map[string]any{}, false
	for key, value := range source {
		fits := true
		switch {
		case key == "properties" || key == "$defs" || key == "definitions":
			out[key], fits = closeProperties(object(value))
		case key == "items":
			out[key], fits = closeSchema(value)
		case key == "anyOf" || key == "allOf":
			out[key], fits = closeSchemas(list(value))
		case key == "oneOf" && source["anyOf"] == nil:
			out["anyOf"], fits = closeSchemas(list(value))
		case key == "additionalProperties":
			fits = value == false
		case key == "patternProperties" || key == "propertyNames":
			fits = false
		case key == "enum" || key == "const" || slices.Contains(keptKeywords, key), key == "format" && slices.Contains(formats, value):
			out[key] = value
		case key != "$schema" && key != "$id":
			rest[key] = value
		}
		if !fits {
			return nil, false
		}
		known = known || slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}, key)
	}
	if out["$ref"] != nil { // only definitions may stand beside it
		maps.DeleteFunc(out, func(key string, _ any) bool { return key != "$ref" && key != "$defs" && key != "definitions" })
		return out, true
	}
	if types := list(out["type"]); out["type"] == "object" || slices.Contains(types, any("object")) || out["properties"] != nil {
		if out["properties"] == nil {
			return nil, false // any object is allowed
		}
		out["additionalProperties"] = false
	}
	if len(rest) > 0 {
		written, err := blueprint.Encode(rest)
		if err != nil {
			return nil, false
		}
		out["description"] = strings.TrimSpace(text(out["description"]) + " It must also fit " + string(written))
	}
	return out, known
}

func closeProperties(properties map[string]any) (map[string]any, bool) {
	out := make(map[string]any, len(properties))
	for name, property := range properties {
		inner, ok := closeSchema(property)
		if !ok {
			return nil, false
		}
		out[name] = inner
	}
	return out, true
}

func closeSchemas(schemas []any) ([]any, bool) {
	out := make([]any, len(schemas))
	for i, schema := range schemas {
		inner, ok := closeSchema(schema)
		if !ok {
			return nil, false
		}
		out[i] = inner
	}
	return out, true
}

// strict reports whether a schema is enforceable: closed, with all properties required.
func strict(schema any) bool {
	written, ok := closeSchema(schema)
	bare := maps.Clone(object(schema))
	delete(bare, "$schema")
	return ok && blueprint.Equal(written, bare) && allRequired(bare)
}

func allRequired(schema any) bool {
	switch v := schema.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !allRequired(item) })
	case map[string]any:
		required := list(v["required"])
		for name := range object(v["properties"]) {
			if !slices.Contains(required, any(name)) {
				return false
			}
		}
		for value := range maps.Values(v) {
			if !allRequired(value) {
				return false
			}
		}
	}
	return true
}

// JSON decodes the JSON value of a response, also from a code fence or after reasoning,
// which models add when the schema is only in the prompt; false without any.
func JSON(answer string) (any, bool) {
	source := strings.TrimSpace(strings.TrimPrefix(answer, "\uFEFF"))
	if strings.HasPrefix(source, "<think>") {
		if _, after, found := strings.Cut(source, "</think>"); found {
			source = strings.TrimSpace(after)
		}
	}
	if value, err := blueprint.Decode([]byte(source)); err == nil {
		return value, true
	}
	if _, after, found := strings.Cut(source, "```"); found {
		after = strings.TrimPrefix(after, "json")
		if inside, _, found := strings.Cut(after, "```"); found {
			if value, err := blueprint.Decode([]byte(inside)); err == nil {
				return value, true
			}
		}
	}
	data := []byte(source)
	for _, pair := range [...][2]byte{{'{', '}'}, {'[', ']'}} {
		from, to := bytes.IndexByte(data, pair[0]), bytes.LastIndexByte(data, pair[1])
		if from < 0 || to < from {
			continue
		}
		if value, err := blueprint.Decode(data[from : to+1]); err == nil {
			return value, true
		}
	}
	return nil, false
}
