package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
)

// report decodes a config into its struct and collects issues.
type report struct {
	config map[string]any
	// static says that templates are unresolved. Values with one stay zero, except for
	// strings and values of any kind.
	static bool
	issues []blueprint.Issue
}

func (r *report) issue(message string, path ...any) {
	r.issues = append(r.issues, blueprint.Issue{Path: slices.Clone(path), Message: message, Severity: blueprint.SeverityError})
}

// warn reports a warning; only before a run.
func (r *report) warn(message string, path ...any) {
	if r.static {
		r.issues = append(r.issues, blueprint.Issue{Path: slices.Clone(path), Message: message, Severity: blueprint.SeverityWarning})
	}
}

// isTemplate reports whether a value is unknown because it holds an unresolved template.
func (r *report) isTemplate(value any) bool {
	source, ok := value.(string)
	return ok && r.static && strings.Contains(source, "{{")
}

func (r *report) given(key string) bool { return r.config[key] != nil }

// decode decodes an object described by a shape.
func (r *report) decode(s *shape, target reflect.Value, object map[string]any, path ...any) {
	for i := range s.fields {
		f := &s.fields[i]
		value, given := object[f.key]
		switch {
		case given && (value != nil || f.kind == anyField || f.kind == textField && f.required):
			r.field(f, target.Field(f.index), value, append(path, f.key)...)
		case f.required:
			r.issue("required", append(path, f.key)...)
		}
	}
	if !r.static {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(s.fields, func(f field) bool { return f.key == key }) {
			r.warnUnknown(s, object, key, append(path, key))
		}
	}
}

func (r *report) warnUnknown(s *shape, object map[string]any, key string, path []any) {
	var known []string
	for i := range s.fields {
		if _, given := object[s.fields[i].key]; !given {
			known = append(known, s.fields[i].key)
		}
	}
	r.warn("is not a key of this node type"+blueprint.DidYouMean(key, known), path...)
	r.issues[len(r.issues)-1].Spot.OnKey = true
}

// warnEmpty warns of required texts that are "" without another issue, as in a form
// that was not filled in. An empty expression is reported when it is compiled.
func (r *report) warnEmpty(s *shape) {
	for i := range s.fields {
		f := &s.fields[i]
		if !f.required || r.config[f.key] != "" || f.kind == expressionField || f.kind == itemsField {
			continue
		}
		wrong := slices.ContainsFunc(r.issues, func(issue blueprint.Issue) bool { return len(issue.Path) > 0 && issue.Path[0] == f.key })
		if !wrong {
			r.warn("is empty", f.key)
		}
	}
}

func (r *report) field(f *field, target reflect.Value, value any, path ...any) {
	switch f.kind {
	case itemsField:
		r.items(target, value, path)
	case anyField, schemaField, subgraphField:
		target.Field(0).Set(reflect.ValueOf(&value).Elem())
		target.Field(1).SetBool(true)
	case expressionField:
		target.SetString(r.expression(value, path))
	case textField:
		if _, ok := value.(string); !ok && r.static {
			r.warn("is not text; it is written as text when the node runs", path...)
		}
		target.SetString(render(value))
	case stringField, sourceField:
		r.text(f, target, value, path)
	default:
		if !r.isTemplate(value) {
			r.structured(f, target, value, path)
		}
	}
}

func (r *report) text(f *field, target reflect.Value, value any, path []any) {
	source, ok := value.(string)
	switch {
	case !ok:
		r.issue("must be a string", path...)
	case f.enum != nil && !r.isTemplate(value) && !slices.Contains(f.enum, source):
		r.issue("must be "+choices(f.enum), path...)
	default:
		target.SetString(source)
	}
}

func (r *report) structured(f *field, target reflect.Value, value any, path []any) {
	switch f.kind {
	case boolField:
		if answer, ok := value.(bool); ok {
			target.SetBool(answer)
		} else {
			r.issue("must be true or false", path...)
		}
	case integerField:
		number, ok := blueprint.WholeNumber(value)
		switch {
		case !ok:
			r.issue("must be a whole number", path...)
		case !f.inRange(number):
			r.issue(f.rangeText(), path...)
		default:
			target.Set(reflect.ValueOf(&number))
		}
	case numberField:
		number, ok := value.(json.Number)
		switch {
		case !ok:
			r.issue("must be a number", path...)
		case !f.numberInRange(number):
			r.issue(f.rangeText(), path...)
		default:
			target.Set(reflect.ValueOf(&number))
		}
	case stringsField:
		r.strings(target, value, path)
	case objectField:
		if object, ok := value.(map[string]any); ok {
			target.Set(reflect.ValueOf(object))
		} else {
			r.issue("must be an object", path...)
		}
	case listField:
		list, ok := value.([]any)
		if !ok {
			r.issue("must be an array", path...)
			return
		}
		elements := reflect.MakeSlice(target.Type(), len(list), len(list))
		for i, element := range list {
			if object, ok := element.(map[string]any); ok {
				r.decode(f.elements, elements.Index(i), object, append(slices.Clone(path), i)...)
			} else if !r.isTemplate(element) {
				r.issue("must be an object", append(slices.Clone(path), i)...)
			}
		}
		target.Set(elements)
	}
}

func (r *report) strings(target reflect.Value, value any, path []any) {
	list, ok := value.([]any)
	if !ok {
		r.issue("must be an array", path...)
		return
	}
	elements := make([]string, len(list))
	for i, element := range list {
		if elements[i], ok = element.(string); !ok {
			r.issue("must be a string", append(slices.Clone(path), i)...)
		}
	}
	target.Set(reflect.ValueOf(elements))
}

func (r *report) items(target reflect.Value, value any, path []any) {
	switch v := value.(type) {
	case []any:
		if holdsTemplate(v) {
			r.issue("must be an expression such as [input.first, input.second] when it is not fixed: templates in a list are not resolved", path...)
		}
		target.Field(1).Set(reflect.ValueOf(&value).Elem())
	case string:
		source, before := bareExpression(v)
		r.compile(source, before, path)
		target.Field(0).SetString(source)
	default:
		r.issue("must be a list, or an expression that returns a list", path...)
	}
}

func holdsTemplate(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "{{")
	case []any:
		return slices.ContainsFunc(v, holdsTemplate)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), holdsTemplate)
	}
	return false
}

// expression returns the source of an expression without braces around it.
func (r *report) expression(value any, path []any) string {
	source, ok := value.(string)
	if !ok {
		r.issue("must be an expression, as a string", path...)
		return ""
	}
	bare, before := bareExpression(source)
	if bare != source {
		r.warn("is an expression already: remove the braces", path...)
	}
	r.compile(bare, before, path)
	return bare
}

// condition checks an expression that must be true or false.
func (r *report) condition(source expression, path ...any) {
	if !r.static || source == "" {
		return
	}
	if compiled, err := expressions.CompileExpression(string(source)); err == nil && compiled.Kind() != "" {
		r.issue("a condition must be true or false, this is always "+compiled.Kind(), path...)
	}
}

// compile checks an expression that starts before characters into its line.
func (r *report) compile(source string, before int, path []any) {
	if !r.static {
		return
	}
	if _, err := expressions.CompileExpression(source); err != nil {
		r.issue(err.Error(), path...)
		r.issues[len(r.issues)-1].Spot = expressions.SpotOf(err, before)
	}
}

func (f *field) inRange(number int64) bool {
	least, errLeast := f.minimum.Int64()
	most, errMost := f.maximum.Int64()
	return (errLeast != nil || number >= least) && (errMost != nil || number <= most)
}

func (f *field) numberInRange(number json.Number) bool {
	n, err := number.Float64()
	least, errLeast := f.minimum.Float64()
	most, errMost := f.maximum.Float64()
	return err == nil && (errLeast != nil || n >= least) && (errMost != nil || n <= most)
}

func (f *field) rangeText() string {
	if f.maximum == "" {
		return fmt.Sprintf("must be at least %s", f.minimum)
	}
	return fmt.Sprintf("must be from %s to %s", f.minimum, f.maximum)
}

// choices returns "a", "b" or "c".
func choices(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return strconv.Quote(list[0])
	}
	return `"` + strings.Join(list[:last], `", "`) + `" or ` + strconv.Quote(list[last])
}

// render formats a value as a template does inside other text.
func render(value any) string {
	if source, ok := value.(string); ok {
		return source
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
