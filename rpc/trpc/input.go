package trpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// maxIssues bounds the issues of a response.
const maxIssues = 1000

// Optional is a field of an input that distinguishes absent from present. With the rule
// nullable, null is present and leaves Value zero.
type Optional[T any] struct {
	Value T
	Set   bool
}

func (Optional[T]) isOptional() {}

type optional interface{ isOptional() }

type inputPlan struct {
	decodeValue valueDecoder
	isStruct    bool
}

// compileInput returns the decoder of an input type. It panics for an invalid type or tag.
func compileInput(procedure string, input reflect.Type) inputPlan {
	compiler := compiler{procedure: procedure}
	return inputPlan{compiler.compile(input, rules{}, input.String()), input.Kind() == reflect.Struct}
}

// decode fills target, which is of the plan's type. A missing input counts as an empty
// object for a struct, so that the error names the missing fields.
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
		refused := InvalidInput(work.issues...)
		if raw.bare {
			refused.Message += `; put the input in an object with the key "json"`
		}
		return refused
	}
	return nil
}

// InvalidInput returns the CodeBadRequest error with these issues.
func InvalidInput(issues ...blueprint.Issue) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: issuesText(issues), Issues: issues}
}

// IssueAt returns an issue at a path of keys (string) and positions (int).
func IssueAt(message string, path ...any) blueprint.Issue {
	return blueprint.Issue{Path: path, Message: message}
}

// issuesText formats issues in one line: title: required; tags[1]: ...
func issuesText(issues []blueprint.Issue) string {
	texts := make([]string, len(issues))
	for i, issue := range issues {
		texts[i] = pathText(issue.Path) + ": " + issue.Message
	}
	return strings.Join(texts, "; ")
}

// pathText formats a path as in blueprint_map.nodes[0].type; keys that are not plain names
// become ["key"]. The empty path is "input".
func pathText(path []any) string {
	if len(path) == 0 {
		return "input"
	}
	var text strings.Builder
	for i, element := range path {
		switch key, isKey := element.(string); {
		case !isKey:
			fmt.Fprintf(&text, "[%v]", element)
		case !plainName.MatchString(key):
			fmt.Fprintf(&text, "[%q]", key)
		case i > 0:
			text.WriteString("." + key)
		default:
			text.WriteString(key)
		}
	}
	return text.String()
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z_]+$`)

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

// plain returns a value as JSON without the marks of superjson. An undefined element
// becomes null, as in JavaScript.
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
		for _, key := range slices.Sorted(maps.Keys(value)) {
			value[key] = d.plain(&step{at, key}, value[key])
		}
	}
	return value
}

// field is one field of an input struct, ready to be decoded.
type field struct {
	name     string
	index    []int
	rules    rules
	isAny    bool     // accepts any value
	fallback any      // the JSON value of an absent field; nil = none
	guards   []string // see guard; nil = none
	value    valueDecoder
}

// decode decodes the field's value in object. Null for an optional field counts as
// absent, unless the field is nullable.
func (f *field) decode(d *decoding, above *step, object map[string]any, target reflect.Value) {
	value, present := object[f.name]
	at := &step{above, f.name}
	switch {
	case present && value == nil && f.rules.required && f.isAny && !f.rules.nullable:
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

// maxMisspelled is the maximal length of a key taken for a misspelled name, in bytes.
const maxMisspelled = 100

// guard refuses unknown keys that are probably meant as a field that narrows rights: if
// they were ignored like other keys, the call would grant more than intended.
func guard(d *decoding, above *step, fields []field, object map[string]any) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if len(key) > maxMisspelled || slices.Contains(names, key) || object[key] == nil {
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

func (c *compiler) field(declared reflect.StructField, name string, index []int) field {
	r := c.fieldRules(declared, name)
	compiled := field{name: name, index: index, rules: r, isAny: declared.Type.Kind() == reflect.Interface, value: c.compile(declared.Type, r, name)}
	if words, has := declared.Tag.Lookup("guards"); has {
		if r.required {
			c.fail(name, "guards does not apply to a required field")
		}
		compiled.guards = strings.Split(words, "|")
	}
	if r.fallback == nil {
		return compiled
	}
	base := declared.Type
	if base.Kind() == reflect.Pointer || base.Implements(optionalType) {
		c.fail(name, "a pointer or Optional has no default")
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
			c.fail(name, "each: required and default do not apply to elements")
		}
		r.each = &each
	}
	return r
}
