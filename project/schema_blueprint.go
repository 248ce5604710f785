package project

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// BlueprintSchema returns the schema of a blueprint file, with the configs of all node
// and trigger types.
func BlueprintSchema() map[string]any {
	schema := closedObject("A blueprint: a graph of nodes, and what starts it.", []any{"title", "blueprint_map"}, map[string]any{
		"$schema":     oneType("string", "where this schema is, for editors"),
		"title":       map[string]any{"type": "string", "minLength": json.Number("1"), "maxLength": json.Number("500"), "description": "the name for people"},
		"description": map[string]any{"type": "string", "maxLength": json.Number("10000"), "description": "what it is for"},
		"tags":        listOf("words to find it by", map[string]any{"type": "string", "maxLength": json.Number("200")}),
		"environment_variables": map[string]any{
			"type": []any{"array", "null"}, "items": defined("variable"), "description": "the variables of a run; {{name}} in a config is replaced by the value",
		},
		"blueprint_map": defined("map"),
		"triggers":      map[string]any{"type": []any{"array", "null"}, "items": defined("trigger"), "description": "what starts it by itself"},
		"status":        choiceOf("of a blueprint in a seed file", "draft", "published"),
		"visibility":    choiceOf("of a blueprint in a seed file", "private", "public"),
		"budget": map[string]any{"type": []any{"object", "null"}, "description": "what each run may ask of language models", "properties": map[string]any{
			"tokens": optional(map[string]any{"type": "integer", "minimum": json.Number("0"), "description": "how many tokens"}), "calls": optional(map[string]any{"type": "integer", "minimum": json.Number("0"), "description": "how many calls"}),
			"onBreach": choiceOf("what happens then; fail when left out", "fail", "pause", nil),
		}},
		"owner":        oneType("string", "the email address of its owner, in a seed file"),
		"organization": oneType("string", "the name of its organization, in a seed file"),
	})
	schema["title"] = "Blueprint file (*.blueprint.yaml, *.blueprint.json)"
	definitions := blueprintDefinitions()
	nameReferences(definitions, ConnectionKey, BlueprintKey)
	schema["$defs"] = definitions
	return schema
}

// blueprintDefinitions returns the schemas of the parts of a blueprint file.
func blueprintDefinitions() map[string]any {
	node, configs := nodeSchema()
	trigger, triggerConfigs := TriggerSchema()
	types := []any{string(blueprint.VariableString), string(blueprint.VariableNumber), string(blueprint.VariableBoolean), string(blueprint.VariableJSON)}
	definitions := map[string]any{
		"map": openObject("The graph. Without edges the nodes run one after the other.", []any{"nodes"}, map[string]any{"nodes": defined("nodes"), "edges": defined("edges")}),
		"nodes": map[string]any{
			"type": "array", "items": defined("node"), "maxItems": json.Number("10000"), "description": "what is done",
		},
		"edges": map[string]any{"type": []any{"array", "null"}, "description": "which node follows which", "items": openObject("", []any{"source", "target"}, map[string]any{
			"id": oneType("string", "the edge's own id"), "source": oneType("string", "the id of the node that comes first"), "target": oneType("string", "the id of the node that follows"),
			"sourceHandle": map[string]any{"type": []any{"string", "null"}, "description": "which way out of the source: main, error, or one of its type's own, such as true, false, approved"},
		})},
		"node": node, "trigger": trigger,
		"variable": openObject("A variable of the blueprint's runs.", []any{"name"}, map[string]any{
			"name": map[string]any{"type": "string", "pattern": "^[A-Za-z0-9_]+$", "not": map[string]any{"enum": Words(blueprint.ReservedNames)}, "description": "the name in {{name}}"},
			"type": choiceOf("string when left out", types...), "default": anything("the value of runs that are given none"), "description": oneType("string", "what it is for"),
			"required": oneType("boolean", "whether a run must be given one"), "secret": oneType("boolean", "shown as *** everywhere"),
		}),
	}
	maps.Copy(definitions, configs)
	maps.Copy(definitions, triggerConfigs)
	return definitions
}

// nodeSchema returns the schema of a node, and the schemas of the configs of all types.
func nodeSchema() (node, configs map[string]any) {
	configs = map[string]any{}
	var types, rules, old []any
	all := Catalogue()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		kind := all[name]
		names := Spellings(name)
		types = append(types, map[string]any{"const": name, "title": kind.Title, "description": kind.Description})
		old = append(old, names[1:]...)
		config := plainSchema(kind.Schema).(map[string]any)
		config["description"], config["examples"] = kind.Description, []any{kind.Example}
		if properties, ok := config["properties"].(map[string]any); ok && kind.Body != nil {
			for _, part := range []string{"nodes", "edges"} {
				if properties[part] != nil {
					properties[part] = defined(part)
				}
			}
		}
		configs["config."+name] = config
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"type": map[string]any{"enum": names}}, "required": []any{"type"}},
			"then": map[string]any{"properties": map[string]any{"config": defined("config." + name)}},
		})
	}
	types = append(types, map[string]any{"enum": old, "description": "another spelling of one of the others", "deprecated": true})
	node = openObject("A step of the work.", []any{"id", "type", "title", "config"}, map[string]any{
		"id":       map[string]any{"type": "string", "minLength": json.Number("1"), "description": "what edges and {{nodes.<id>.output}} call it; once in a map"},
		"type":     map[string]any{"anyOf": types, "description": "what it does"},
		"title":    oneType("string", "its name for people"),
		"config":   oneType("object", "how it does it; {{...}} in a string is resolved just before it runs"),
		"disabled": optional(oneType("boolean", "skipped; its input is passed on")),
		"retry": optional(openObject("how often and how soon it is tried again", []any{"maxAttempts"}, map[string]any{
			"maxAttempts": map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000"), "description": "in all"},
			"delayMs":     optional(map[string]any{"type": "number", "minimum": json.Number("0"), "maximum": json.Number("86400000"), "description": "before the second attempt; 1000 when left out"}),
			"backoff":     optional(map[string]any{"type": "number", "minimum": json.Number("1"), "maximum": json.Number("100"), "description": "from one delay to the next; 2 when left out"}),
		})),
		"timeoutMs": optional(map[string]any{"type": "number", "exclusiveMinimum": json.Number("0"), "description": "of each attempt, in milliseconds"}),
		"onError":   choiceOf("what its failure does: stop the run, continue, or branch to the edges whose sourceHandle is error", "stop", "continue", "branch", nil),
		"effect":    choiceOf("what a second run after a crash may do: pure and idempotent nodes run again, once never unasked", "pure", "idempotent", "once", nil),
	})
	node["allOf"] = rules
	return node, configs
}

// Spellings returns the accepted names of a node type, its own first.
func Spellings(name string) []any {
	names := []any{name}
	if strings.Contains(name, "-") {
		names = append(names, strings.ReplaceAll(name, "-", "_"))
	}
	if name == "human" {
		names = append(names, "human-checkpoint", "human_checkpoint")
	}
	return names
}

// TriggerSchema returns the schema of a trigger, and the schemas of the configs of all
// types.
func TriggerSchema() (trigger, configs map[string]any) {
	configs = map[string]any{}
	var types, rules []any
	for _, kind := range triggers.ConfigSchemas() {
		name := string(kind.Type)
		types = append(types, map[string]any{"const": name, "description": kind.Description})
		configs["trigger."+name] = kind.Schema
		then := map[string]any{"properties": map[string]any{"config": defined("trigger." + name)}}
		if kind.Schema["anyOf"] != nil {
			then["required"] = []any{"config"}
		}
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"triggerType": map[string]any{"const": name}}, "required": []any{"triggerType"}},
			"then": then,
		})
	}
	trigger = openObject("What starts the blueprint by itself.", []any{"triggerType"}, map[string]any{
		"triggerType": map[string]any{"anyOf": types, "description": "what starts it"},
		"config":      map[string]any{"type": []any{"object", "null"}, "description": "how"},
		"isActive":    oneType("boolean", "whether it is on; true when left out"),
	})
	trigger["allOf"] = rules
	return trigger, configs
}

// optional allows null, which is the same as leaving the value out.
func optional(schema map[string]any) map[string]any {
	schema["type"] = []any{schema["type"], "null"}
	return schema
}

// plainSchema copies a schema without the extensions for forms of the dashboard.
func plainSchema(value any) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = plainSchema(element)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			format, _ := member.(string)
			if !strings.HasPrefix(name, "x-") && !(name == "format" && (format == "expression" || format == "code")) {
				out[name] = plainSchema(member)
			}
		}
		return out
	}
	return value
}

// Words returns strings as JSON values.
func Words[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, word := range list {
		out[i] = string(word)
	}
	return out
}
