package nodes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// The types that fields of a config struct may have, besides string, bool,
// *int64, *json.Number, []string, map[string]any and slices of structs.
type (
	// text takes any value in a run and writes it as text.
	text string
	// expression is the source of an expression.
	expression string
	// anyValue takes any JSON value, null too.
	anyValue struct {
		Value any
		Given bool
	}
	// jsonSchema takes a JSON Schema, in which nothing is resolved.
	jsonSchema anyValue
	// sourceCode is the text of a program, in which nothing is resolved.
	sourceCode string
	// subgraph takes nodes or edges, whose templates are resolved when they run.
	subgraph anyValue
	// items takes an expression, or a list as it is.
	items struct {
		Source string
		List   any
	}
)

// shape is what the tags of a config struct say.
type shape struct{ fields []field }

// field is one key of a config.
type field struct {
	index    int // in the struct
	kind     fieldKind
	key      string
	doc      string
	required bool
	enum     []string
	standard string // the default as JSON, "" for none
	minimum  json.Number
	maximum  json.Number
	elements *shape // of a list
	title    string
	form     string // see hint
}

type fieldKind int

const (
	textField fieldKind = iota
	stringField
	expressionField
	boolField
	integerField
	numberField
	stringsField
	objectField
	listField
	anyField
	schemaField
	sourceField
	subgraphField
	itemsField
)

var fieldKinds = map[reflect.Type]fieldKind{
	reflect.TypeFor[text]():           textField,
	reflect.TypeFor[string]():         stringField,
	reflect.TypeFor[expression]():     expressionField,
	reflect.TypeFor[bool]():           boolField,
	reflect.TypeFor[*int64]():         integerField,
	reflect.TypeFor[*json.Number]():   numberField,
	reflect.TypeFor[[]string]():       stringsField,
	reflect.TypeFor[map[string]any](): objectField,
	reflect.TypeFor[anyValue]():       anyField,
	reflect.TypeFor[jsonSchema]():     schemaField,
	reflect.TypeFor[sourceCode]():     sourceField,
	reflect.TypeFor[subgraph]():       subgraphField,
	reflect.TypeFor[items]():          itemsField,
}

// shapeOf reads the tags of a struct.
func shapeOf(t reflect.Type) *shape {
	s := &shape{}
	for i := range t.NumField() {
		member := t.Field(i)
		if !member.IsExported() { // filled by check
			continue
		}
		tag := member.Tag.Get
		f := field{
			index: i, key: tag("key"), doc: tag("doc"), required: tag("required") == "true", standard: tag("default"),
			minimum: json.Number(tag("minimum")), maximum: json.Number(tag("maximum")), form: tag("form"),
		}
		if f.title = tag("title"); f.title == "" {
			f.title = titleOf(f.key)
		}
		if f.key == "" || f.doc == "" {
			panic(fmt.Sprintf("nodes: %s.%s needs a key and a doc", t, member.Name))
		}
		if list := tag("enum"); list != "" {
			f.enum = strings.Split(list, "|")
		}
		kind, known := fieldKinds[member.Type]
		switch {
		case known:
			f.kind = kind
		case member.Type.Kind() == reflect.Slice && member.Type.Elem().Kind() == reflect.Struct:
			f.kind, f.elements = listField, shapeOf(member.Type.Elem())
		default:
			panic(fmt.Sprintf("nodes: %s.%s has a type that no config can hold", t, member.Name))
		}
		s.fields = append(s.fields, f)
	}
	return s
}

// untouched reports whether the value at a path of the config is kept from the
// templates: expressions, programs and JSON Schemas.
func (s *shape) untouched(path []any) bool {
	if len(path) == 0 {
		return false
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.key != path[0] {
			continue
		}
		if f.kind == listField && len(path) > 2 {
			return f.elements.untouched(path[2:])
		}
		return f.kind == expressionField || f.kind == schemaField || f.kind == sourceField || f.kind == subgraphField || f.kind == itemsField
	}
	return false
}

// expressions lists the keys that hold expressions.
func (s *shape) expressions(under string) []string {
	var keys []string
	for _, f := range s.fields {
		switch f.kind {
		case expressionField, itemsField:
			keys = append(keys, under+f.key)
		case listField:
			keys = append(keys, f.elements.expressions(under+f.key+"[].")...)
		}
	}
	return keys
}

// schema returns the JSON Schema of the config as a plain JSON value. Its x-order
// is the order in which a form shows the keys.
func (s *shape) schema() map[string]any {
	properties, order, required := map[string]any{}, []any{}, []any{}
	for i := range s.fields {
		f := &s.fields[i]
		properties[f.key] = f.schema()
		order = append(order, f.key)
		if f.required {
			required = append(required, f.key)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "x-order": order}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (f *field) schema() map[string]any {
	var schema map[string]any
	switch f.kind {
	case textField:
		schema = map[string]any{"type": "string"}
	case expressionField:
		schema = map[string]any{"type": "string", "format": "expression", "minLength": json.Number("1")}
	case itemsField:
		schema = map[string]any{"anyOf": []any{map[string]any{"type": "string", "format": "expression", "minLength": json.Number("1")}, map[string]any{"type": "array"}}}
	case subgraphField:
		schema = map[string]any{"type": "array"}
	case stringField:
		schema = map[string]any{"type": "string"}
		if f.enum != nil {
			list := make([]any, len(f.enum))
			for i, choice := range f.enum {
				list[i] = choice
			}
			schema = orTemplate(map[string]any{"type": "string", "enum": list})
		}
	case boolField:
		schema = orTemplate(map[string]any{"type": "boolean"})
	case stringsField:
		schema = orTemplate(map[string]any{"type": "array", "items": map[string]any{"type": "string"}})
	case integerField, numberField:
		number := map[string]any{"type": "integer"}
		if f.kind == numberField {
			number["type"] = "number"
		}
		if f.minimum != "" {
			number["minimum"] = f.minimum
		}
		if f.maximum != "" {
			number["maximum"] = f.maximum
		}
		schema = orTemplate(number)
	case objectField:
		schema = orTemplate(map[string]any{"type": "object"})
	case listField:
		schema = orTemplate(map[string]any{"type": "array", "items": f.elements.schema()})
	case schemaField:
		schema = map[string]any{"type": []any{"object", "boolean"}}
	case sourceField:
		schema = map[string]any{"type": "string", "format": "code"}
	default:
		schema = map[string]any{}
	}
	schema["description"] = f.doc
	f.hint(schema)
	if f.standard != "" {
		schema["default"] = mustDecode(f.standard)
	}
	return schema
}

// orTemplate also allows a string that holds a template.
func orTemplate(schema map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "string", "pattern": `\{\{`}}}
}
