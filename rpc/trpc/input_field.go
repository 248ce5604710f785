package trpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// field is one field of an input struct, ready to be decoded.
type field struct {
	name     string
	index    []int
	rules    rules
	isAny    bool // it takes any value
	fallback any  // the JSON value of an absent field; nil for none
	// guards are parts of names by which callers may mean this field; nil for a field
	// that may be left out without harm. See guard.
	guards []string
	value  valueDecoder
}

// decode takes the field's value out of its object. A field marked undefined
// has left the object already. Null for an optional field counts as absent,
// unless the field is nullable.
func (f *field) decode(d *decoding, above *step, object map[string]any, target reflect.Value) {
	value, present := object[f.name]
	at := &step{above, f.name}
	switch {
	case present && value == nil && f.rules.required && f.isAny:
		d.fault(at, "required")
	case present && (value != nil || f.rules.required || f.rules.nullable):
		f.value(d, at, value, target.FieldByIndex(f.index))
	case f.rules.required:
		d.fault(at, "required")
	case f.fallback != nil:
		f.value(d, at, f.fallback, target.FieldByIndex(f.index))
	}
}

// fields compiles the fields of a struct, those of embedded ones in place.
func (c *compiler) fields(t reflect.Type, index []int, where string) []field {
	var fields []field
	for i := range t.NumField() {
		declared := t.Field(i)
		place := append(append([]int(nil), index...), i)
		tag, tagged := declared.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case name == "-":
		case !tagged && declared.Anonymous && declared.Type.Kind() == reflect.Struct:
			fields = append(fields, c.fields(declared.Type, place, where)...)
		case name == "" || !declared.IsExported():
			c.fail(where+"."+declared.Name, "needs an exported name and a json tag")
		default:
			fields = append(fields, c.field(declared, name, place))
		}
	}
	seen := map[string]bool{}
	for _, field := range fields {
		if seen[field.name] {
			c.fail(where, "two fields named %s", field.name)
		}
		seen[field.name] = true
	}
	return fields
}

// guard refuses unknown keys by which a caller means a field that narrows rights:
// ignored like all others, they would grant more than was asked for.
func guard(d *decoding, above *step, fields []field, object map[string]any) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	for _, key := range sortedKeys(object) {
		if slices.Contains(names, key) || object[key] == nil {
			continue
		}
		folded, nearest := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key)), blueprint.Nearest(key, names)
		for i := range fields {
			f := &fields[i]
			means := func(word string) bool { return word != "" && strings.Contains(folded, word) }
			if f.guards != nil && (f.name == nearest || strings.EqualFold(f.name, folded) || slices.ContainsFunc(f.guards, means)) {
				d.fault(&step{above, key}, fmt.Sprintf("unknown; the key is %q", f.name))
				break
			}
		}
	}
}

// field compiles one field: its rules, its decoder, its default.
func (c *compiler) field(declared reflect.StructField, name string, index []int) field {
	r := c.fieldRules(declared, name)
	compiled := field{name: name, index: index, rules: r, isAny: declared.Type.Kind() == reflect.Interface, value: c.compile(declared.Type, r, name)}
	if words, has := declared.Tag.Lookup("guards"); has {
		if r.required {
			c.fail(name, "guards means nothing for a required field")
		}
		compiled.guards = strings.Split(words, "|")
	}
	if r.fallback == nil {
		return compiled
	}
	base := declared.Type
	if base.Kind() == reflect.Pointer || base.Implements(optionalType) {
		c.fail(name, "a field that tells absent from given has no default")
	}
	switch {
	case base.Kind() == reflect.Bool && (*r.fallback == "true" || *r.fallback == "false"):
		compiled.fallback = *r.fallback == "true"
	case base.Kind() == reflect.String && base != numberType:
		compiled.fallback = *r.fallback
	default:
		compiled.fallback = json.Number(*r.fallback)
	}
	trial := &decoding{}
	compiled.value(trial, nil, compiled.fallback, reflect.New(base).Elem())
	if len(trial.issues) > 0 {
		c.fail(name, "default=%s %s", *r.fallback, trial.issues[0].Message)
	}
	return compiled
}

// fieldRules reads the two tags of a field.
func (c *compiler) fieldRules(declared reflect.StructField, name string) rules {
	r, err := parseRules(declared.Tag.Get("check"))
	if err != nil {
		c.fail(name, "%v", err)
	}
	if tag, has := declared.Tag.Lookup("each"); has {
		each, err := parseRules(tag)
		if err != nil {
			c.fail(name, "each: %v", err)
		}
		if each.required || each.fallback != nil {
			c.fail(name, "each: required and default mean nothing for elements")
		}
		r.each = &each
	}
	return r
}
