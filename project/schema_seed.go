package project

import (
	"encoding/json"
	"strconv"

	"blueprintd/blueprint"
)

// seedSchema is the schema of a seed file.
func seedSchema() map[string]any {
	file := BlueprintSchema()
	delete(file, "$defs")
	file["properties"].(map[string]any)["owner"] = emailOf("the email of its owner; by default the owner of the server")
	kinds := make([]any, 0, 6)
	for _, form := range blueprint.ConnectionForms() {
		kinds = append(kinds, string(form.Type))
	}
	members := seedList("the members", closedObject("", []any{"email", "role"}, map[string]any{
		"email": emailOf("of one of the users"), "role": choiceOf("what they may do", string(blueprint.OrganizationMember), string(blueprint.OrganizationAdmin), string(blueprint.OrganizationOwner)),
	}))
	members["type"] = "array"
	members["contains"] = map[string]any{"type": "object", "required": []any{"role"}, "properties": map[string]any{"role": map[string]any{"const": string(blueprint.OrganizationOwner)}}}
	schema := closedObject("The initial content of a server. In keys, passwords, configs of connections and secrets of triggers, ${NAME} is replaced by an environment variable.", nil, map[string]any{
		"$schema": oneType("string", "where this schema is, for editors"),
		"users": seedList("people", closedObject("", []any{"email"}, map[string]any{
			"email": emailOf("the address"), "name": shortText("the name; by default the part of the email address before the @", 0, 200),
			"apiKey": shortText("an API key of 8 or more printable characters", 1, 4096), "password": shortText("the password for the dashboard", 1, 4096),
		})),
		"organizations": seedList("organizations", closedObject("", []any{"name", "members"}, map[string]any{"name": shortText("the name; once in the file", 1, 200), "members": members})),
		"blueprints":    seedList("blueprints, as in their files", file),
		"connections": seedList("credentials of other services", closedObject("", []any{"name", "type", "config"}, map[string]any{
			"name": shortText("the name; once in the file", 1, 200), "type": choiceOf("the type", kinds...), "config": oneType("object", "the config, with secrets"),
			"owner": emailOf("the email of its owner; by default the owner of the server"), "organization": shortText("the name of its organization", 0, 200),
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
