// Package form shows a JSON Schema as a page with a form that works without scripts, and
// reads what a browser sends back.
package form

import (
	"encoding/json"
	"slices"
	"strings"

	"blueprintd/blueprint/jsonschema"
)

// Field is one property of a form's schema.
type Field struct {
	Name        string
	Title       string
	Description string
	Control     string // text, lines, number, checkbox, choice, choices, file, files, json, or "" for one that has none
	Type        string // of an input element: text, email, url, date, number
	Required    bool
	Options     []string // of a choice
	Step        string   // of a number
	Keypad      string   // of a number, on phones
	MaxLength   string
	Default     []string

	numbers bool // the options are numbers
}

// controls says which properties a form can have.
const controls = "must be a string, number, integer or boolean, a list of choices, or a file (an object with the format file)"

// Check reports what of a schema a form cannot ask for.
func Check(schema map[string]any, refuse func(message string, path ...any)) {
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" || len(properties) == 0 {
		refuse(`must have the type "object", and properties`)
		return
	}
	for _, field := range FieldsOf(schema) {
		if strings.HasPrefix(field.Name, "_") {
			refuse("must not begin with _", "properties", field.Name)
		} else if field.Control == "" {
			refuse(controls, "properties", field.Name)
		}
	}
	order, isList := schema["x-order"].([]any)
	if schema["x-order"] != nil && !isList {
		refuse("must be a list of the names of properties", "x-order")
	}
	for i, name := range order {
		if text, ok := name.(string); !ok || properties[text] == nil {
			refuse("must be the name of a property", "x-order", i)
		}
	}
}

// FieldsOf returns the fields of a form.
func FieldsOf(schema map[string]any) (fields []Field) {
	for _, member := range jsonschema.Members(schema) {
		field := fieldOf(member.Name, member.Schema)
		field.Required = member.Required
		fields = append(fields, field)
	}
	return fields
}

func fieldOf(name string, schema map[string]any) (f Field) {
	f = Field{Name: name, Title: name, Type: "text"}
	if title, _ := schema["title"].(string); title != "" {
		f.Title = title
	}
	f.Description, _ = schema["description"].(string)
	f.Options = optionsOf(schema["enum"])
	switch value := schema["default"].(type) {
	case nil:
	case []any:
		f.Default = optionsOf(value)
	default:
		f.Default = optionsOf([]any{value})
	}
	format, _ := schema["format"].(string)
	switch kind := schema["type"]; {
	case (kind == "string" || kind == "integer" || kind == "number") && schema["enum"] != nil:
		f.numbers = kind != "string"
		if f.Options != nil {
			f.Control = "choice"
		}
	case kind == "string":
		f.Control = "text"
		switch length, _ := schema["maxLength"].(json.Number); format {
		case "email", "date":
			f.Type, f.MaxLength = format, length.String()
		case "uri":
			f.Type, f.MaxLength = "url", length.String()
		default:
			f.MaxLength = length.String()
			if n, err := length.Int64(); err == nil && n > 200 || format == "textarea" {
				f.Control = "lines"
			}
		}
	case kind == "integer", kind == "number":
		f.Control, f.Type, f.Step = "number", "number", "any"
		minimum, _ := schema["minimum"].(json.Number)
		switch isPositive := minimum != "" && !strings.HasPrefix(minimum.String(), "-"); { // the keypad of numbers has no minus sign
		case kind == "integer" && isPositive:
			f.Step, f.Keypad = "1", "numeric"
		case kind == "integer":
			f.Step = "1"
		case isPositive:
			f.Keypad = "decimal"
		}
	case kind == "boolean":
		f.Control = "checkbox"
	case kind == "object" && format == "file":
		f.Control = "file"
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		switch {
		case items["type"] == "object" && items["format"] == "file":
			f.Control = "files"
		case items["type"] == "string":
			if f.Options = optionsOf(items["enum"]); f.Options != nil {
				f.Control = "choices"
			}
		}
	}
	return f
}

// optionsOf returns the texts of a list of strings and numbers, nil if it has other values.
func optionsOf(list any) (options []string) {
	values, _ := list.([]any)
	for _, value := range values {
		switch value := value.(type) {
		case string:
			options = append(options, value)
		case json.Number:
			options = append(options, value.String())
		case bool:
			if value {
				options = append(options, "on")
			}
		default:
			return nil
		}
	}
	return options
}

// Whole is the name of the only field of a form for a value that is not an object.
const Whole = "answer"

// FieldsOfAny returns the fields for a value of any schema; a nil schema accepts every value. A
// value without a control of its own is entered as JSON. whole reports whether the only field
// is the value itself.
func FieldsOfAny(schema any) (fields []Field, whole bool) {
	object, _ := schema.(map[string]any)
	if len(object) == 0 {
		return []Field{{Name: Whole, Title: "Answer", Control: "lines", Required: true}}, true
	}
	fields = FieldsOf(object)
	if len(fields) == 0 || slices.ContainsFunc(fields, func(f Field) bool { return strings.HasPrefix(f.Name, "_") }) {
		whole, fields = true, []Field{fieldOf(Whole, object)}
		fields[0].Required = true
		if fields[0].Title == Whole {
			fields[0].Title = "Answer"
		}
	}
	for i := range fields {
		if f := &fields[i]; f.Control == "" || f.Control == "file" || f.Control == "files" {
			f.Control = "json"
			f.Description = strings.TrimSpace(f.Description + " Enter JSON.")
		}
	}
	return fields, whole
}
