package nodes

import (
	"strings"
	"unicode"
)

// What a form has to know of a key besides its JSON type; see field.hint.
var hints = map[fieldKind]string{
	textField: "template", stringField: "template", expressionField: "expression", boolField: "boolean", integerField: "number", numberField: "number",
	stringsField: "list", objectField: "object", listField: "list", anyField: "json", schemaField: "json-schema", sourceField: "code", subgraphField: "map",
	itemsField: "expression",
}

// hint adds to the schema of a key what a form shows it as:
//
//	title               its name for people
//	x-kind              template, expression, code, choice, boolean, number, list, object,
//	                    json, json-schema, map, connection, blueprint-id, file-id, duration-ms,
//	                    instant, event, address or header
//	x-lines             true for text of several lines
//	x-suggestions       values that are often meant; others are as good
//	x-connection-types  of a connection, or a list of them: which may be chosen
func (f *field) hint(schema map[string]any) {
	schema["title"] = f.title
	if schema["x-kind"] = hints[f.kind]; f.enum != nil {
		schema["x-kind"] = "choice"
	}
	for _, word := range strings.Fields(f.form) {
		name, value, _ := strings.Cut(word, ":")
		switch name {
		case "lines":
			schema["x-lines"] = true
		case "suggest":
			schema["x-suggestions"] = words(value)
		case "connection":
			schema["x-kind"], schema["x-connection-types"] = name, words(value)
		default:
			schema["x-kind"] = name
		}
	}
}

func words(list string) (out []any) {
	for word := range strings.SplitSeq(list, "|") {
		out = append(out, word)
	}
	return out
}

// titleOf makes a name for people of a key: "Max tokens" of maxTokens,
// "Connection" of connectionId.
func titleOf(key string) string {
	var out strings.Builder
	for i, letter := range strings.TrimSuffix(strings.TrimSuffix(key, "Id"), "Ms") {
		switch {
		case i == 0:
			letter = unicode.ToUpper(letter)
		case unicode.IsUpper(letter):
			out.WriteByte(' ')
			letter = unicode.ToLower(letter)
		}
		out.WriteRune(letter)
	}
	return out.String()
}
