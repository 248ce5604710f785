package describe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// A schema is a JSON Schema, or another object of an OpenAPI document.
type schema = map[string]any

// APIPage returns the documentation page of the API, made from its OpenAPI document.
func APIPage(document []byte) ([]byte, error) {
	var d struct {
		Tags []struct {
			Name, Description string
		}
		Paths      map[string]map[string]any
		Components struct {
			Schemas map[string]schema
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	page.WriteString(apiIntroduction)
	for _, tag := range d.Tags {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", tag.Name, tag.Description)
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, method := range []string{"get", "post", "put", "delete"} {
				operation, _ := d.Paths[path][method].(schema)
				if tags, _ := operation["tags"].([]any); len(tags) > 0 && tags[0] == tag.Name {
					writeOperation(&page, path, method, operation)
				}
			}
		}
	}
	page.WriteString("\n## Types\n\nThe types that responses refer to. `?` marks fields that may be absent.\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		fmt.Fprintf(&page, "\n### Type %s\n\n```ts shown\n%s\n```\n", name, typeText(d.Components.Schemas[name], ""))
	}
	return page.Bytes(), nil
}

const apiIntroduction = `# API

Every procedure and route of the server with its input and its response. This page is generated; a server returns the same as OpenAPI 3.1 at ` + "`/openapi.json`" + `.

## Calling procedures

A query is a GET of ` + "`/api/trpc/{router}.{procedure}`" + ` with the parameter ` + "`input`" + `, URL-encoded JSON. A mutation is a POST with a JSON body. The parameters are in an object ` + "`json`" + `, and the result is at ` + "`result.data.json`" + `:

` + "```sh server" + `
blueprintd serve
` + "```" + `

` + "```sh" + `
curl -s -H "Authorization: Bearer $KEY" --get http://127.0.0.1:8787/api/trpc/blueprint.list --data-urlencode 'input={"json":{"limit":5}}'
curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"json":{"title":"Hello"}}' http://127.0.0.1:8787/api/trpc/blueprint.create
` + "```" + `

Clients of tRPC 10 and 11 with the superjson transformer call the same procedures, including batches, streams and subscriptions. Each procedure names the scope that the API key needs. Errors have the tRPC code in ` + "`error.json.data.code`" + ` and, for invalid input, the fields in ` + "`error.json.data.issues`" + `; see [Decisions](decisions.md#identifiers-and-errors).
`

// writeOperation writes a procedure or a route: name, summary, input and response.
func writeOperation(page *bytes.Buffer, path, method string, operation schema) {
	procedure, isProcedure := strings.CutPrefix(path, "/api/trpc/")
	heading, kind := strings.ToUpper(method)+" "+path, ""
	if isProcedure {
		heading, kind = procedure, map[string]string{"get": "Query", "post": "Mutation"}[method]
	}
	fmt.Fprintf(page, "\n### %s\n\n%s.", heading, strings.TrimSuffix(operation["summary"].(string), "."))
	if text, _ := operation["description"].(string); text != "" {
		fmt.Fprintf(page, " %s.", strings.TrimSuffix(text, "."))
	}
	var notes []string
	if kind != "" {
		notes = append(notes, kind)
	}
	if scopes := scopesOf(operation); scopes != "" {
		notes = append(notes, "scope "+scopes)
	}
	if len(notes) > 0 {
		fmt.Fprintf(page, "\n\n%s.", strings.Join(notes, ", "))
	}
	page.WriteByte('\n')
	input, example := inputOf(operation)
	if isProcedure {
		input, example = wrapped(input, "json"), wrappedValue(example)
	}
	if text := typeText(input, ""); text != "" && text != "unknown" && text != "{}" {
		fmt.Fprintf(page, "\nInput:\n\n```ts shown\n%s\n```\n", text)
	}
	if example != nil && asText(example) != "{}" {
		fmt.Fprintf(page, "\nExample:\n\n```json\n%s\n```\n", asText(example))
	}
	answer := answerOf(operation)
	if isProcedure {
		answer = wrapped(answer, "result", "data", "json")
	}
	switch text := typeText(answer, ""); {
	case text == "" || text == "unknown":
	case named.MatchString(text):
		fmt.Fprintf(page, "\nResponse: [%s](#type-%s)\n", text, strings.ToLower(text))
	default:
		fmt.Fprintf(page, "\nResponse:\n\n```ts shown\n%s\n```\n", text)
	}
}

// named matches the name of a type that the page describes.
var named = regexp.MustCompile(`^[A-Z]\w*$`)

// scopesOf returns the scopes of which a key needs one, "" for an operation without a key.
func scopesOf(operation schema) string {
	security, _ := operation["security"].([]any)
	var scopes []string
	for _, alternative := range security {
		names, _ := alternative.(schema)["key"].([]any)
		for _, name := range names {
			scopes = append(scopes, fmt.Sprintf("`%v`", name))
		}
	}
	return strings.Join(scopes, " or ")
}

// inputOf returns the schema and the example of an operation's input.
func inputOf(operation schema) (schema, any) {
	if body, ok := operation["requestBody"].(schema); ok {
		return content(body)
	}
	parameters, _ := operation["parameters"].([]any)
	for _, p := range parameters {
		if parameter, _ := p.(schema); parameter["name"] == "input" {
			return content(parameter)
		}
	}
	return nil, nil
}

// answerOf returns the schema of an operation's successful response.
func answerOf(operation schema) schema {
	responses, _ := operation["responses"].(schema)
	for _, status := range []string{"202", "201", "200"} {
		if response, ok := responses[status].(schema); ok {
			if found, _ := content(response); found != nil {
				return found
			}
		}
	}
	return nil
}

func content(of schema) (schema, any) {
	kinds, _ := of["content"].(schema)
	media, _ := kinds["application/json"].(schema)
	found, _ := media["schema"].(schema)
	return found, media["example"]
}

// wrapped returns the schema of a property of a property.
func wrapped(s schema, names ...string) schema {
	for _, name := range names {
		properties, _ := s["properties"].(schema)
		s, _ = properties[name].(schema)
	}
	return s
}

func wrappedValue(example any) any {
	if object, ok := example.(map[string]any); ok {
		return object["json"]
	}
	return example
}

// typeText returns a JSON Schema as a TypeScript type.
func typeText(s schema, indent string) string {
	if s == nil {
		return ""
	}
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	if values, ok := s["enum"].([]any); ok {
		return joined(values, func(v any) string { return asText(v) })
	}
	if value, ok := s["const"]; ok {
		return asText(value)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if choices, ok := s[key].([]any); ok {
			return joined(choices, func(v any) string { return typeText(v.(schema), indent) })
		}
	}
	switch kind := s["type"].(type) {
	case []any:
		return joined(kind, func(v any) string {
			one := maps.Clone(s)
			one["type"] = v
			return typeText(one, indent)
		})
	case string:
		return typeTextOf(kind, s, indent)
	}
	if _, ok := s["properties"]; ok {
		return typeTextOf("object", s, indent)
	}
	return "unknown"
}

func typeTextOf(kind string, s schema, indent string) string {
	switch kind {
	case "integer":
		return "number"
	case "array":
		items, _ := s["items"].(schema)
		of := cmp.Or(typeText(items, indent), "unknown")
		if strings.Contains(of, " | ") {
			return "(" + of + ")[]"
		}
		return of + "[]"
	case "object":
		properties, _ := s["properties"].(schema)
		if len(properties) == 0 {
			if values, ok := s["additionalProperties"].(schema); ok {
				return "Record<string, " + typeText(values, indent) + ">"
			}
			return "object"
		}
		required, _ := s["required"].([]any)
		var b strings.Builder
		b.WriteString("{\n")
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			mark := "?"
			if slices.Contains(required, any(name)) {
				mark = ""
			}
			property := properties[name].(schema)
			fmt.Fprintf(&b, "%s  %s%s: %s", indent, name, mark, typeText(property, indent+"  "))
			if text, _ := property["description"].(string); text != "" {
				b.WriteString(" // " + text)
			}
			b.WriteByte('\n')
		}
		return b.String() + indent + "}"
	}
	return kind
}

func joined(all []any, one func(any) string) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, one(v))
	}
	return strings.Join(texts, " | ")
}

func asText(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// categories are the groups of node types in the order in which the page has them.
var categories = []struct{ name, title string }{
	{"flow", "Flow"}, {"data", "Data"}, {"people", "People"}, {"services", "Services"}, {"events", "Events"},
}

// NodesPage returns the documentation page of the node types. folder holds the example
// of each type, TYPE.blueprint.yaml, and its test, TYPE.test.yaml.
func NodesPage(types []*blueprint.NodeType, folder string) ([]byte, error) {
	var page bytes.Buffer
	page.WriteString("# Nodes\n\nEvery node type with its config, its output and an example. This page is generated from the catalogue; `node.types` returns the same to programs.\n\nKeys in bold are required. `effect` says what happens when the process dies while a node works; see [Concepts](concepts.md#runs). Strings are [templates](expressions.md), and a template can stand for any other value; keys of kind expression hold an expression without braces.\n")
	for _, category := range categories {
		fmt.Fprintf(&page, "\n## %s\n", category.title)
		for _, kind := range slices.SortedFunc(slices.Values(types), func(a, b *blueprint.NodeType) int { return cmp.Compare(a.Order, b.Order) }) {
			if kind.Category != category.name {
				continue
			}
			if err := writeNodeType(&page, kind, folder); err != nil {
				return nil, fmt.Errorf("each node type needs an example and its test in tests/describe/testdata/nodes: %w", err)
			}
		}
	}
	page.WriteString("\n## Run the examples\n\nSave the files above and run the tests, which stub other services:\n\n```sh\nblueprintd test\n```\n")
	return page.Bytes(), nil
}

func writeNodeType(page *bytes.Buffer, kind *blueprint.NodeType, folder string) error {
	fmt.Fprintf(page, "\n### %s\n\n%s\n\n", kind.Type, kind.Description)
	handles := append([]string{"main"}, kind.Handles...)
	if len(kind.Handles) > 0 && kind.PassesInput || kind.Type == "approval-gate" {
		handles = kind.Handles
	}
	fmt.Fprintf(page, "Effect `%s`; handles `%s`", kind.Effect, strings.Join(handles, "`, `"))
	if kind.PassesInput {
		page.WriteString("; outputs its input unchanged")
	}
	page.WriteString(".\n\n")
	properties, _ := kind.Schema["properties"].(map[string]any)
	if len(properties) > 0 {
		page.WriteString("| key | kind | meaning |\n|---|---|---|\n")
		writeKeys(page, "", kind.Schema)
	}
	if kind.Output != nil {
		fmt.Fprintf(page, "\nOutput:\n\n```ts shown\n%s\n```\n", typeText(kind.Output, ""))
	}
	for _, name := range []string{kind.Type + ".blueprint.yaml", kind.Type + ".test.yaml"} {
		example, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(page, "\n```yaml %s\n%s```\n", name, example)
	}
	return nil
}

// writeKeys writes a row for each member of an object, and below it those of its members,
// whose keys begin with prefix.
func writeKeys(page *bytes.Buffer, prefix string, object schema) {
	properties, _ := object["properties"].(schema)
	required, _ := object["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(schema)
		key := "`" + prefix + name + "`"
		if slices.Contains(required, any(name)) {
			key = "**" + key + "**"
		}
		kind := kindOf(property)
		if fallback, ok := property["default"]; ok {
			kind += ", default `" + asText(fallback) + "`"
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", key, kind, cmp.Or(cellOf(property["description"]), cellOf(property["title"])))
		for _, one := range choices(property) {
			if items, ok := one["items"].(schema); ok {
				writeKeys(page, prefix+name+"[].", items)
			} else {
				writeKeys(page, prefix+name+".", one)
			}
		}
	}
}

// choices returns the schemas of which a value of a config matches one, except that of a
// template in its place, which every value can have.
func choices(property schema) (all []schema) {
	list, _ := property["anyOf"].([]any)
	for _, each := range list {
		if one := each.(schema); one["pattern"] != `\{\{` {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return []schema{property}
	}
	return all
}

// kindOf names the kind of value of a config member.
func kindOf(property schema) string {
	if property["x-kind"] == "map" { // nodes or edges
		return "list of " + strings.ToLower(cellOf(property["title"]))
	}
	var kinds []string
	for _, one := range choices(property) {
		kinds = append(kinds, kindOfChoice(one))
	}
	return strings.Join(kinds, " or ")
}

func kindOfChoice(s schema) string {
	items, _ := s["items"].(schema)
	switch {
	case s["format"] == "expression":
		return "expression"
	case s["type"] == "array" && items == nil:
		return "list"
	case s["type"] == "array" && items["properties"] != nil:
		return "list of objects"
	case s["type"] == "array":
		return "list of " + kindOf(items) + "s"
	case s["properties"] != nil:
		return "object"
	}
	return strings.NewReplacer(" | ", ", ", "\n", " ", "unknown", "any value").Replace(typeText(s, ""))
}

func cellOf(v any) string {
	s, _ := v.(string)
	return strings.ReplaceAll(s, "|", "\\|")
}

// listedCommand matches a command in the list of commands of a help text.
var listedCommand = regexp.MustCompile(`(?m)^   ([a-z-]+) {2,}\S`)

// CLIPage returns the documentation page of the command line, made from the help texts
// of the commands, NAME.txt in folder.
func CLIPage(folder string) ([]byte, error) {
	var page bytes.Buffer
	page.WriteString("# Command line\n\nEvery command with its flags and examples, as `--help` prints them. This page is generated.\n\nEach flag of `serve` has an environment variable, `BLUEPRINTD_<FLAG>`; so have those of other commands, except flags that apply to a single call. `source <(blueprintd completion bash)` completes commands and flags in bash. Exit codes: 0 done, 1 failed, 2 wrong usage or a bad file, 3 paused.\n")
	add := func(name string) (help string, err error) {
		text, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".txt"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s\n```\n", name, strings.TrimSpace(string(text)))
		return string(text), nil
	}
	all, err := add("blueprintd")
	if err != nil {
		return nil, err
	}
	for _, listed := range listedCommand.FindAllStringSubmatch(all, -1) {
		if listed[1] == "help" {
			continue
		}
		help, err := add(listed[1])
		if err != nil {
			return nil, err
		}
		if _, commands, has := strings.Cut(help, "\nCOMMANDS:\n"); has {
			for _, below := range listedCommand.FindAllStringSubmatch(commands, -1) {
				if _, err := add(listed[1] + " " + below[1]); err != nil && below[1] != "help" {
					return nil, err
				}
			}
		}
	}
	return page.Bytes(), nil
}
