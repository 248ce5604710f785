package llm

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// inWords asks for JSON where the provider cannot be held to it.
func inWords(system string, schema any) string {
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

// isObject reports whether a schema asks for an object, the only kind of answer
// that providers can be held to.
func isObject(schema any) bool { return object(schema)["type"] == "object" }

// kept are the keywords that mean the same to providers as in JSON Schema and
// need no look inside.
var kept = []string{"type", "required", "description", "title", "$ref"}

// formats are those of texts that providers can hold a model to.
var formats = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// closed writes a schema with the part of JSON Schema that providers take:
// every object lists its properties and allows no others. Whatever else it asks
// for moves into descriptions. False when it cannot be written so without
// forbidding what it allows.
func closed(schema any) (map[string]any, bool) {
	source, ok := schema.(map[string]any)
	if !ok {
		return nil, false
	}
	out, rest, known := map[string]any{}, map[string]any{}, false
	for key, value := range source {
		fits := true
		switch {
		case key == "properties" || key == "$defs" || key == "definitions":
			out[key], fits = closedEach(object(value))
		case key == "items":
			out[key], fits = closed(value)
		case key == "anyOf" || key == "allOf":
			out[key], fits = closedAll(list(value))
		case key == "oneOf" && source["anyOf"] == nil:
			out["anyOf"], fits = closedAll(list(value))
		case key == "additionalProperties":
			fits = value == false
		case key == "patternProperties" || key == "propertyNames":
			fits = false
		case key == "enum" || key == "const" || slices.Contains(kept, key), key == "format" && slices.Contains(formats, value):
			out[key] = value
		case key != "$schema" && key != "$id":
			rest[key] = value
		}
		if !fits {
			return nil, false
		}
		known = known || slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}, key)
	}
	if out["$ref"] != nil { // stands alone, but for what it may refer to
		maps.DeleteFunc(out, func(key string, _ any) bool { return key != "$ref" && key != "$defs" && key != "definitions" })
		return out, true
	}
	if types := list(out["type"]); out["type"] == "object" || slices.Contains(types, any("object")) || out["properties"] != nil {
		if out["properties"] == nil {
			return nil, false // any object will do
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

func closedEach(properties map[string]any) (map[string]any, bool) {
	out := make(map[string]any, len(properties))
	for name, property := range properties {
		inner, ok := closed(property)
		if !ok {
			return nil, false
		}
		out[name] = inner
	}
	return out, true
}

func closedAll(schemas []any) ([]any, bool) {
	out := make([]any, len(schemas))
	for i, schema := range schemas {
		inner, ok := closed(schema)
		if !ok {
			return nil, false
		}
		out[i] = inner
	}
	return out, true
}

// strict reports whether a schema can be enforced to the letter as it is: it is
// closed, and every property is required.
func strict(schema any) bool {
	written, ok := closed(schema)
	bare := maps.Clone(object(schema))
	delete(bare, "$schema") // only says which draft it is
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

// JSON reads the JSON value that an answer consists of. Models that were only
// asked in words like to put it into a code fence, or to think aloud before it.
// False when there is none.
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
