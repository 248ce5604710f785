package describe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blueprintd/rpc/trpc"
)

var numberType = reflect.TypeFor[json.Number]()

// isOptional reports whether t is a trpc.Optional.
func isOptional(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[trpc.Procedure]().PkgPath() && strings.HasPrefix(t.Name(), "Optional[")
}

// List describes procedures by their inputs and outputs, one a line, sorted by name.
func List(procedures []trpc.Procedure) string {
	var text strings.Builder
	for _, p := range byName(procedures) {
		if p.Public {
			text.WriteString("public ")
		}
		fmt.Fprintf(&text, "%s %s %s", p.Kind, p.Name, describeType(p.Input, true, nil))
		if p.Kind != trpc.KindSubscription {
			text.WriteString(" -> " + describeType(p.Output, false, nil))
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func byName(list []trpc.Procedure) []trpc.Procedure {
	return slices.SortedFunc(slices.Values(list), func(a, b trpc.Procedure) int { return strings.Compare(a.Name, b.Name) })
}

// describeType formats a type as the JSON that it reads or writes. open holds the enclosing
// structs, so that a recursive one is named instead of unfolded.
func describeType(t reflect.Type, input bool, open []reflect.Type) string {
	switch {
	case t == numberType:
		return "number"
	case isOptional(t):
		return describeType(t.Field(0).Type, input, open)
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return t.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem(), input, open)
	case reflect.Slice, reflect.Array:
		return "[" + describeType(t.Elem(), input, open) + "]"
	case reflect.Map:
		return "{*: " + describeType(t.Elem(), input, open) + "}"
	case reflect.Interface:
		return "any"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Struct:
		if slices.Contains(open, t) {
			return t.String()
		}
		return "{" + strings.Join(describeFields(t, input, append(open, t)), ", ") + "}"
	}
	return t.Kind().String()
}

// describeFields formats the fields of a struct. A question mark marks optional fields.
func describeFields(t reflect.Type, input bool, open []reflect.Type) []string {
	var fields []string
	eachField(t, func(_ reflect.Type, declared reflect.StructField, name, options string) {
		check, each := declared.Tag.Get("check"), declared.Tag.Get("each")
		words := slices.DeleteFunc(strings.Split(check, ","), func(word string) bool { return word == "" || word == "required" })
		if list := trpc.Words(declared.Type); input && list != nil && enumOf(declared) == nil {
			words = append(words, "enum="+strings.Join(list, "|"))
		}
		switch {
		case input && strings.Contains(","+check+",", ",required,"):
		case input, strings.Contains(options, "omit"):
			name += "?"
		case declared.Type.Kind() == reflect.Pointer:
			words = append(words, "or null")
		}
		if each != "" {
			words = append(words, "each "+each)
		}
		text := name + ": " + describeType(declared.Type, input, open)
		if len(words) > 0 {
			text += "(" + strings.Join(words, " ") + ")"
		}
		fields = append(fields, text)
	})
	return fields
}

// eachField visits the fields of a struct as JSON has them, those of embedded structs in
// place, with their names and the options of their tags.
func eachField(t reflect.Type, see func(of reflect.Type, declared reflect.StructField, name, options string)) {
	for i := range t.NumField() {
		declared := t.Field(i)
		tag, tagged := declared.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if !tagged && declared.Anonymous {
			embedded := declared.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct {
				eachField(embedded, see)
				continue
			}
		}
		if name == "-" || !declared.IsExported() {
			continue
		}
		if name == "" {
			name = declared.Name
		}
		see(t, declared, name, options)
	}
}
