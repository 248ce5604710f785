package nodes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Types of fields of config structs, besides string, bool, *int64, *json.Number,
// []string, map[string]any and slices of structs.
type (
	// text accepts any value in a run and formats it as text.
	text       string
	expression string
	// anyValue accepts any JSON value, null included.
	anyValue struct {
		Value any
		Given bool
	}
	// jsonSchema is a JSON Schema, in which templates are not resolved.
	jsonSchema anyValue
	// sourceCode is a program, in which templates are not resolved.
	sourceCode string
	// subgraph holds nodes or edges, whose templates are resolved when they run.
	subgraph anyValue
	// items is an expression or a list.
	items struct {
		Source string
		List   any
	}
)

// shape describes a config struct by its tags.
type shape struct{ fields []field }

type field struct {
	index        int // in the struct
	kind         fieldKind
	key          string
	doc          string
	required     bool
	enum         []string
	defaultValue string // the default as JSON; "" = none
	minimum      json.Number
	maximum      json.Number
	elements     *shape // of a list
	title        string
	form         string // see hint
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

func shapeOf(t reflect.Type) *shape {
	s := &shape{}
	for i := range t.NumField() {
		member := t.Field(i)
		if !member.IsExported() { // set by check
			continue
		}
		tag := member.Tag.Get
		f := field{
			index: i, key: tag("key"), doc: tag("doc"), required: tag("required") == "true", defaultValue: tag("default"),
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

// untouched reports whether templates are not resolved in the value at a path.
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
		return slices.Contains([]fieldKind{expressionField, schemaField, sourceField, subgraphField, itemsField}, f.kind)
	}
	return false
}

// expressions returns the keys that hold expressions.
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

// schema returns the JSON Schema of the config as a plain JSON value. x-order is the
// order of the keys in a form.
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
	schema := map[string]any{}
	expression := map[string]any{"type": "string", "format": "expression", "minLength": json.Number("1")}
	switch f.kind {
	case textField:
		schema["type"] = "string"
	case expressionField:
		schema = expression
	case itemsField:
		schema["anyOf"] = []any{expression, map[string]any{"type": "array"}}
	case subgraphField:
		schema["type"] = "array"
	case stringField:
		schema["type"] = "string"
		if f.enum != nil {
			schema["enum"] = toAny(f.enum)
			schema = orTemplate(schema)
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
		schema["type"] = []any{"object", "boolean"}
	case sourceField:
		schema["type"], schema["format"] = "string", "code"
	}
	schema["description"] = f.doc
	f.hint(schema)
	if f.defaultValue != "" {
		schema["default"] = mustDecode(f.defaultValue)
	}
	return schema
}

// orTemplate also allows a string with a template.
func orTemplate(schema map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "string", "pattern": `\{\{`}}}
}
