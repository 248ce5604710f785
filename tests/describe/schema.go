package describe

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// schemas describes Go types as JSON Schemas (2020-12). A struct of a response becomes a
// component, so that a client has one type for it.
type schemas struct {
	components map[string]any
	names      map[reflect.Type]string
}

// object is a JSON object.
type object = map[string]any

// answer returns the schema of a procedure's output.
func (s *schemas) answer(t reflect.Type) object {
	switch {
	case t == nil:
		return object{}
	case isOptional(t):
		return s.answer(t.Field(0).Type)
	case t.Kind() == reflect.Pointer:
		return s.answer(t.Elem())
	}
	if schema := leaf(t); schema != nil {
		return schema
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.answer(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.answer(t.Elem())}
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return object{}
		}
		if t.Name() == "" {
			return s.members(t)
		}
		return object{"$ref": "#/components/schemas/" + s.component(t)}
	}
	return object{}
}

// component returns the name under which a struct is described.
func (s *schemas) component(t reflect.Type) string {
	if name, known := s.names[t]; known {
		return name
	}
	letters := []rune(t.Name())
	letters[0] = unicode.ToUpper(letters[0])
	name, _, _ := strings.Cut(string(letters), "[")
	for taken := s.components[name]; taken != nil; taken = s.components[name] {
		name += "Answer"
	}
	s.names[t] = name
	s.components[name] = object{} // for references to itself
	s.components[name] = s.members(t)
	return name
}

// members describes the fields of a struct of a response.
func (s *schemas) members(t reflect.Type) object {
	properties, required := object{}, []any{}
	eachField(t, func(of reflect.Type, declared reflect.StructField, name, options string) {
		schema := s.answer(declared.Type)
		if words := enumOf(declared); words != nil && declared.Type.Kind() == reflect.String {
			schema = object{"type": "string", "enum": anys(words)}
		}
		omitted := strings.Contains(options, "omit")
		isTime := declared.Type == reflect.TypeFor[blueprint.Time]()
		isPointer := declared.Type.Kind() == reflect.Pointer
		switch {
		case isTime && !omitted && !slices.Contains(always, name), isPointer && !omitted,
			isPointer && declared.Type.Elem().Kind() == reflect.Pointer: // left out, null or a value
			schema = orNull(schema)
		}
		if text := comment(of, declared.Name); text != "" {
			null := "null" // what nil is in JSON
			if omitted {
				null = "absent"
			}
			schema["description"] = nilWord.ReplaceAllString(text, null)
		}
		if properties[name] = schema; !omitted {
			required = append(required, name)
		}
	})
	return objectOf(properties, required)
}

// input returns the schema of a procedure's input, with the rules of the tags check and
// each.
func (s *schemas) input(t reflect.Type, check, each string, open []reflect.Type) object {
	var schema object
	switch {
	case isOptional(t):
		return s.input(t.Field(0).Type, check, each, open)
	case t.Kind() == reflect.Pointer:
		return s.input(t.Elem(), check, each, open)
	}
	switch known := leaf(t); {
	case known != nil:
		schema = known
	case t.Kind() == reflect.Slice:
		schema = object{"type": "array", "items": s.input(t.Elem(), each, "", open)}
	case t.Kind() == reflect.Map:
		schema = object{"type": "object", "additionalProperties": s.input(t.Elem(), each, "", open)}
	case t.Kind() == reflect.Struct && !slices.Contains(open, t):
		schema = s.fields(t, append(open, t))
	default:
		schema = object{}
	}
	return withRules(schema, check)
}

// fields describes the fields of a struct of an input.
func (s *schemas) fields(t reflect.Type, open []reflect.Type) object {
	properties, required := object{}, []any{}
	eachField(t, func(of reflect.Type, declared reflect.StructField, name, _ string) {
		check := declared.Tag.Get("check")
		if properties[name] = s.input(declared.Type, check, declared.Tag.Get("each"), open); slices.Contains(strings.Split(check, ","), "required") {
			required = append(required, name)
		}
	})
	return objectOf(properties, required)
}

// withRules adds the rules of a tag to the schema of a value.
func withRules(schema object, check string) object {
	least, most := "minimum", "maximum"
	switch schema["type"] {
	case "string":
		least, most = "minLength", "maxLength"
	case "array":
		least, most = "minItems", "maxItems"
	case "object":
		least, most = "minProperties", "maxProperties"
	}
	for rule := range strings.SplitSeq(check, ",") {
		switch name, value, _ := strings.Cut(rule, "="); name {
		case "min":
			schema[least] = json.Number(value)
		case "max":
			schema[most] = json.Number(value)
		case "uuid":
			schema["format"] = "uuid"
		case "enum":
			schema["enum"] = anys(strings.Split(value, "|"))
		case "default":
			switch schema["type"] {
			case "string":
				schema["default"] = value
			case "boolean":
				schema["default"] = value == "true"
			default:
				schema["default"] = json.Number(value)
			}
		}
	}
	if slices.Contains(strings.Split(check, ","), "nullable") {
		return orNull(schema)
	}
	return schema
}

// leaf returns the schema of a type without parts, nil for any other. Numbers have no
// format, because they keep their digits.
func leaf(t reflect.Type) object {
	if words := trpc.Words(t); words != nil {
		return object{"type": "string", "enum": anys(words)}
	}
	switch {
	case t == numberType:
		return object{"type": "number"}
	case t == reflect.TypeFor[blueprint.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Interface:
		return object{}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return object{"type": "integer"}
	}
	return nil
}

// orNull lets a value be null too.
func orNull(schema object) object {
	if name, simple := schema["type"].(string); simple && schema["enum"] == nil {
		schema["type"] = []any{name, "null"}
		return schema
	}
	return object{"anyOf": []any{schema, object{"type": "null"}}}
}

func objectOf(properties object, required []any) object {
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, element := range list {
		out[i] = element
	}
	return out
}
