package trpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// maxIssues bounds the answer to an input that is wrong in very many places.
const maxIssues = 1000

// Optional is a field of an input that tells absent from given. With the rule
// nullable, null is given and leaves Value empty.
type Optional[T any] struct {
	Value T
	Set   bool
}

func (Optional[T]) isOptional() {}

// optional is how the decoder knows an Optional of any type.
type optional interface{ isOptional() }

// inputPlan is the compiled decoder of one input type.
type inputPlan struct {
	decodeValue valueDecoder
	isStruct    bool
}

// compileInput prepares the decoder of an input type. A type or tag that
// cannot work panics, naming the procedure; so it never gets past a start.
func compileInput(procedure string, input reflect.Type) inputPlan {
	compiler := compiler{procedure: procedure}
	return inputPlan{compiler.compile(input, rules{}, input.String()), input.Kind() == reflect.Struct}
}

// decode fills target, of the plan's type. No input at all is an empty object
// to a struct, so that the answer names the fields that are missing.
func (p inputPlan) decode(raw rawInput, target reflect.Value) error {
	value := raw.value
	if !raw.present {
		if !p.isStruct {
			return nil
		}
		value = map[string]any{}
	}
	work := &decoding{marked: raw.marked}
	p.decodeValue(work, nil, value, target)
	if len(work.issues) > 0 {
		return InvalidInput(work.issues...)
	}
	return nil
}

// InvalidInput is the answer to an input with these faults.
func InvalidInput(issues ...blueprint.Issue) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: issuesText(issues), Issues: issues}
}

// IssueAt is one fault of an input, for checks that span fields. path leads
// to it through keys (string) and positions (int).
func IssueAt(message string, path ...any) blueprint.Issue {
	return blueprint.Issue{Path: path, Message: message}
}

// issuesText says what is wrong in one line: title: required; tags[1]: ...
func issuesText(issues []blueprint.Issue) string {
	var text strings.Builder
	for i, issue := range issues {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(pathText(issue.Path))
		text.WriteString(": ")
		text.WriteString(issue.Message)
	}
	return text.String()
}

// pathText writes a path as people do: blueprint_map.nodes[0].type, with keys
// that are no plain names as ["key"]. The input as a whole is called input.
func pathText(path []any) string {
	if len(path) == 0 {
		return "input"
	}
	var text strings.Builder
	for i, element := range path {
		switch element := element.(type) {
		case string:
			switch {
			case !isPlainName(element):
				fmt.Fprintf(&text, "[%s]", strconv.Quote(element))
			case i > 0:
				text.WriteString("." + element)
			default:
				text.WriteString(element)
			}
		default:
			fmt.Fprintf(&text, "[%v]", element)
		}
	}
	return text.String()
}

func isPlainName(key string) bool {
	for _, r := range key {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return key != ""
}

// decoding is the state of filling one input.
type decoding struct {
	issues []blueprint.Issue
	marked bool
}

// step is one key or position of the path to a value.
type step struct {
	above   *step
	element any
}

// fault notes what is wrong at a place.
func (d *decoding) fault(at *step, message string) {
	if len(d.issues) >= maxIssues {
		return
	}
	path := []any{}
	for ; at != nil; at = at.above {
		path = append(path, at.element)
	}
	slices.Reverse(path)
	d.issues = append(d.issues, blueprint.Issue{Path: path, Message: message})
}

// plain returns a value as JSON, with the marks of superjson gone: an undefined
// element is null, as JavaScript itself writes it.
func (d *decoding) plain(at *step, value any) any {
	if !d.marked {
		return value
	}
	switch value := value.(type) {
	case undefinedElement:
		return nil
	case foreign:
		if value.kind == "number" {
			d.fault(at, "must be a finite number")
		}
		return d.plain(at, value.value)
	case []any:
		for i, element := range value {
			value[i] = d.plain(&step{at, i}, element)
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			value[key] = d.plain(&step{at, key}, value[key])
		}
	}
	return value
}

func sortedKeys[V any](object map[string]V) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

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

// longestSlip is how many bytes a key may have that is taken for a misspelt name.
const longestSlip = 100

// guard refuses unknown keys by which a caller means a field that narrows rights:
// ignored like all others, they would grant more than was asked for.
func guard(d *decoding, above *step, fields []field, object map[string]any) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	for _, key := range sortedKeys(object) {
		if len(key) > longestSlip || slices.Contains(names, key) || object[key] == nil {
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
