package project

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/triggers"
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

func runSchema() map[string]any {
	stored := openObject("The blueprint as it ran.", []any{"title", "blueprint_map"}, map[string]any{
		"id": oneType("string", "the id on that server"), "version": oneType("string", "the version"), "title": oneType("string", "the title"), "blueprint_map": defined("map"),
	})
	schema := openObject("A run with its blueprint and its exchanges with other services.", []any{"format", "blueprint", "run"}, map[string]any{
		"format": map[string]any{"const": "blueprintd-run/1"}, "exportedAt": oneType("string", "the time of the export"), "server": oneType("string", "the version of the server that ran it"),
		"blueprint": stored,
		"run": openObject("The status record with input and output.", []any{"id", "status"}, map[string]any{
			"id": oneType("string", "the id of the run"), "status": choiceOf("the final status", "completed", "failed", "paused", "running"), "inputVariables": oneType("object", "the variables, with secrets as ***"),
			"inputData": anything("the input"), "output": anything("the output"), "steps": listOf("the steps", map[string]any{"type": "object"}),
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

// nameReferences allows references with certain keys in place of ids.
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

// BlueprintSchema returns the schema of a blueprint file, with all node and trigger types.
func BlueprintSchema() map[string]any {
	schema := closedObject("A blueprint: a graph of nodes and its triggers.", []any{"title", "blueprint_map"}, map[string]any{
		"$schema":     oneType("string", "the URL of this schema, for editors"),
		"title":       map[string]any{"type": "string", "minLength": json.Number("1"), "maxLength": json.Number("500"), "description": "the title"},
		"description": map[string]any{"type": "string", "maxLength": json.Number("10000"), "description": "the purpose"},
		"tags":        listOf("words to find it by", map[string]any{"type": "string", "maxLength": json.Number("200")}),
		"environment_variables": map[string]any{
			"type": []any{"array", "null"}, "items": defined("variable"), "description": "the variables of a run; {{name}} in a config is replaced by the value",
		},
		"blueprint_map": defined("map"),
		"triggers":      map[string]any{"type": []any{"array", "null"}, "items": defined("trigger"), "description": "the triggers, which start runs automatically"},
		"status":        choiceOf("the status; only in a seed file", "draft", "published"),
		"visibility":    choiceOf("the visibility; only in a seed file", "private", "public"),
		"budget": map[string]any{"type": []any{"object", "null"}, "description": "limits on the use of language models in each run", "properties": map[string]any{
			"tokens": optional(map[string]any{"type": "integer", "minimum": json.Number("0"), "description": "the maximum number of tokens"}), "calls": optional(map[string]any{"type": "integer", "minimum": json.Number("0"), "description": "the maximum number of calls"}),
			"onBreach": choiceOf("what happens at a limit; default: fail", "fail", "pause", nil),
		}},
		"owner":        oneType("string", "the email address of the owner; only in a seed file"),
		"organization": oneType("string", "the name of the organization; only in a seed file"),
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
			"type": "array", "items": defined("node"), "maxItems": json.Number("10000"), "description": "the steps",
		},
		"edges": map[string]any{"type": []any{"array", "null"}, "description": "the order of the nodes", "items": openObject("", []any{"source", "target"}, map[string]any{
			"id": oneType("string", "the id of the edge"), "source": oneType("string", "the id of the earlier node"), "target": oneType("string", "the id of the later node"),
			"sourceHandle": map[string]any{"type": []any{"string", "null"}, "description": "the output of the source: main, error, or one of its type, such as true, false, approved"},
		})},
		"node": node, "trigger": trigger,
		"variable": openObject("A variable of the blueprint's runs.", []any{"name"}, map[string]any{
			"name": map[string]any{"type": "string", "pattern": "^[A-Za-z0-9_]+$", "not": map[string]any{"enum": Words(blueprint.ReservedNames)}, "description": "the name in {{name}}"},
			"type": choiceOf("the type; default: string", types...), "default": anything("the value for runs that set none"), "description": oneType("string", "the purpose"),
			"required": oneType("boolean", "whether each run must set a value"), "secret": oneType("boolean", "whether the value is encrypted and shown as ***"),
		}),
	}
	maps.Copy(definitions, configs)
	maps.Copy(definitions, triggerConfigs)
	return definitions
}

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
	types = append(types, map[string]any{"enum": old, "description": "another name for one of the types above", "deprecated": true})
	node = openObject("A node of the blueprint.", []any{"id", "type", "title", "config"}, map[string]any{
		"id":       map[string]any{"type": "string", "minLength": json.Number("1"), "description": "the id in edges and {{nodes.<id>.output}}, unique in the map"},
		"type":     map[string]any{"anyOf": types, "description": "the type of the node"},
		"title":    oneType("string", "the title"),
		"config":   oneType("object", "the settings; {{...}} in a string is resolved just before the node runs"),
		"disabled": optional(oneType("boolean", "whether the node is skipped and passes its input on")),
		"retry": optional(openObject("how often and how soon it is tried again", []any{"maxAttempts"}, map[string]any{
			"maxAttempts": map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000"), "description": "the maximum number of attempts"},
			"delayMs":     optional(map[string]any{"type": "number", "minimum": json.Number("0"), "maximum": json.Number("86400000"), "description": "the delay in milliseconds before the second attempt; default: 1000"}),
			"backoff":     optional(map[string]any{"type": "number", "minimum": json.Number("1"), "maximum": json.Number("100"), "description": "the factor from one delay to the next; default: 2"}),
		})),
		"timeoutMs": optional(map[string]any{"type": "number", "exclusiveMinimum": json.Number("0"), "description": "the time limit of each attempt, in milliseconds"}),
		"onError":   choiceOf("the effect of a failure: stop the run, continue, or branch to the edges whose sourceHandle is error", "stop", "continue", "branch", nil),
		"effect":    choiceOf("whether the node runs again after a crash: pure and idempotent nodes do, once nodes only after a decision", "pure", "idempotent", "once", nil),
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

// TriggerSchema returns the schema of a trigger, and those of the configs of all types.
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
	trigger = openObject("A trigger, which starts the blueprint automatically.", []any{"triggerType"}, map[string]any{
		"triggerType": map[string]any{"anyOf": types, "description": "the type of the trigger"},
		"config":      map[string]any{"type": []any{"object", "null"}, "description": "the settings"},
		"isActive":    oneType("boolean", "whether the trigger is active; default: true"),
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

func seedSchema() map[string]any {
	file := BlueprintSchema()
	delete(file, "$defs")
	file["properties"].(map[string]any)["owner"] = emailOf("the email of the owner; default: the owner of the server")
	kinds := make([]any, 0, 6)
	for _, form := range blueprint.ConnectionForms() {
		kinds = append(kinds, string(form.Type))
	}
	members := seedList("the members", closedObject("", []any{"email", "role"}, map[string]any{
		"email": emailOf("the email of one of the users"), "role": choiceOf("the role", string(blueprint.OrganizationMember), string(blueprint.OrganizationAdmin), string(blueprint.OrganizationOwner)),
	}))
	members["type"] = "array"
	members["contains"] = map[string]any{"type": "object", "required": []any{"role"}, "properties": map[string]any{"role": map[string]any{"const": string(blueprint.OrganizationOwner)}}}
	schema := closedObject("The initial content of a server. In keys, passwords, configs of connections and secrets of triggers, ${NAME} is replaced by an environment variable.", nil, map[string]any{
		"$schema": oneType("string", "the URL of this schema, for editors"),
		"users": seedList("the users", closedObject("", []any{"email"}, map[string]any{
			"email": emailOf("the email address"), "name": shortText("the name; default: the part of the email address before the @", 0, 200),
			"apiKey": shortText("an API key of 8 or more printable characters", 1, 4096), "password": shortText("the password for the dashboard", 1, 4096),
		})),
		"organizations": seedList("the organizations", closedObject("", []any{"name", "members"}, map[string]any{"name": shortText("the name, unique in the file", 1, 200), "members": members})),
		"blueprints":    seedList("the blueprints, as in their files", file),
		"connections": seedList("the connections", closedObject("", []any{"name", "type", "config"}, map[string]any{
			"name": shortText("the name, unique in the file", 1, 200), "type": choiceOf("the type", kinds...), "config": oneType("object", "the config, with secrets"),
			"owner": emailOf("the email of the owner; default: the owner of the server"), "organization": shortText("the name of the organization", 0, 200),
		})),
	})
	schema["title"] = "Seed file"
	definitions := blueprintDefinitions()
	nameReferences(definitions, ConnectionKey)
	schema["$defs"] = definitions
	return schema
}

// seedList is the schema of an optional array.
func seedList(description string, items map[string]any) map[string]any {
	list := listOf(description, items)
	list["type"] = []any{"array", "null"}
	return list
}

// shortText is the schema of a string with a number of characters.
func shortText(description string, least, most int) map[string]any {
	text := oneType("string", description)
	if text["maxLength"] = json.Number(strconv.Itoa(most)); least > 0 {
		text["minLength"] = json.Number(strconv.Itoa(least))
	}
	return text
}

func emailOf(description string) map[string]any {
	email := shortText(description, 0, 320)
	email["pattern"] = `^[^@\s<>]+@[^\s<>]+$`
	return email
}

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
	answer := object("a response: output (or handle), status, or error", map[string]any{
		"output":  map[string]any{"description": "the output of the node; for human and approval-gate nodes the answer"},
		"handle":  oneType("string", "the handle at which the run continues"),
		"status":  map[string]any{"type": "integer", "minimum": 100, "maximum": 999, "description": "the status of an HTTP response; 250 accepts a mail"},
		"headers": byName("the headers of the response", map[string]any{"type": []any{"string", "number", "boolean"}}),
		"body":    map[string]any{"description": "the body of the response: text unchanged, anything else as JSON"},
		"error":   oneType("string", "the error of the node, or of the connection to the host"),
		"times":   map[string]any{"type": "integer", "minimum": 1, "description": "how often the response is used"},
		"delayMs": map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDelayMs, "description": "the delay in milliseconds of real time"},
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
	connections := func(text string) map[string]any {
		return byName(text, object("a connection", map[string]any{"name": oneType("string", "the name"), "type": enum(Words(blueprint.ConnectionTypes)), "config": oneType("object", "the config, without secrets")}, "type"))
	}
	test := object("a test", map[string]any{
		"name":        oneType("string", "the name of the test"),
		"variables":   oneType("object", "the variables of the run"),
		"inputData":   map[string]any{"description": "the input of the run"},
		"clock":       map[string]any{"type": "string", "format": "date-time", "description": "the start of the virtual clock; default: 2000-01-01T00:00:00Z"},
		"cassette":    oneType("string", "the path of a recording, relative to this file"),
		"connections": connections("connections by the name in references or by id, instead of those of the file"),
		"stubs":       byName("stubs by the address of a node, or by host", stub),
		"expect":      expect,
	}, "name", "expect")
	out := object("tests of a blueprint", map[string]any{
		"$schema":     oneType("string", "the URL of this schema, for editors"),
		"blueprint":   oneType("string", "the path of the blueprint, relative to this file"),
		"blueprints":  byName("the paths of blueprints that nodes run, by the id that the nodes use", map[string]any{"type": "string"}),
		"connections": connections("the connections of all tests, by the name in references or by id, instead of placeholders"),
		"tests":       map[string]any{"type": "array", "minItems": 1, "items": test},
	}, "blueprint", "tests")
	out["title"] = "Tests of a blueprintd blueprint"
	return out
}
