package jsonschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
)

// check returns an issue if value cannot be validated within the limits.
func (c *costs) check(root *jsonschema.Schema, value any) *blueprint.Issue {
	if message := unfit(value, 0); message != "" {
		return unfitAt(value, nil)
	}
	if c.bound*size(value) <= maxSteps {
		return nil
	}
	m := &meter{costs: c}
	if !m.meet(root, value) {
		return &blueprint.Issue{Path: []any{}, Message: "is too large to be checked against this schema"}
	}
	return nil
}

// unfit returns why a value cannot be validated, "" if it can.
func unfit(value any, depth int) string {
	if depth > maxValueDepth {
		return "is nested too deeply"
	}
	switch v := value.(type) {
	case nil, bool, string:
	case json.Number:
		return countable(v)
	case []any:
		for _, item := range v {
			if message := unfit(item, depth+1); message != "" {
				return message
			}
		}
	case map[string]any:
		for _, item := range v {
			if message := unfit(item, depth+1); message != "" {
				return message
			}
		}
	default:
		return "is not a JSON value"
	}
	return ""
}

// unfitAt returns an issue for the first part of an unfit value that makes it so.
func unfitAt(value any, path []any) *blueprint.Issue {
	depth := len(path)
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if depth < maxValueDepth && unfit(item, depth+1) != "" {
				return unfitAt(item, append(path, i))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if depth < maxValueDepth && unfit(v[name], depth+1) != "" {
				return unfitAt(v[name], append(path, name))
			}
		}
	}
	return &blueprint.Issue{Path: append([]any{}, path...), Message: unfit(value, depth)}
}

// meter counts the steps of a validation by walking the same schemas and values.
type meter struct {
	costs *costs
	steps float64
}

// meet adds the steps for validating value against s and reports whether they are allowed.
func (m *meter) meet(s *jsonschema.Schema, value any) bool {
	item := m.costs.of[s]
	m.steps += item.weight * breadth(value)
	if list, ok := value.([]any); ok && item.unique {
		times := float64(len(list))
		if times > 20 {
			times = 4 // more than 20 items are hashed
		}
		m.steps += times * size(value)
	}
	if m.steps > maxSteps {
		return false
	}
	if len(item.types) > 0 && !fits(item.types, value) {
		return true // so does the validation
	}
	for _, next := range item.here {
		if !m.meet(next, value) {
			return false
		}
	}
	return m.parts(item, value)
}

func (m *meter) parts(item *cost, value any) bool {
	for _, schema := range item.parts {
		switch v := value.(type) {
		case []any:
			for _, part := range v {
				if !m.meet(schema, part) {
					return false
				}
			}
		case map[string]any:
			for _, part := range v {
				if !m.meet(schema, part) {
					return false
				}
			}
		}
	}
	if item.descent == nil {
		return true
	}
	within := true
	item.descent.each(value, func(schema *jsonschema.Schema, part any, _ string) bool {
		within = m.meet(schema, part)
		return within
	})
	if object, ok := value.(map[string]any); ok && item.descent.names != nil {
		for name := range object {
			within = within && m.meet(item.descent.names, name)
		}
	}
	return within
}

// fits reports whether a value may have one of the types. Every number counts as an
// integer: the validation distinguishes them, at the same cost.
func fits(types []string, value any) bool {
	name := TypeName(value)
	return slices.Contains(types, name) || name == "number" && slices.Contains(types, "integer")
}

// TypeName returns the JSON Schema name of a value's type.
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// article maps type names to words for messages.
var article = map[string]string{
	"null": "null", "boolean": "true or false", "number": "a number", "integer": "a whole number",
	"string": "a string", "array": "an array", "object": "an object",
}

func typeWords(types []string) string {
	var words []string
	for _, name := range types {
		if word := article[name]; !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return alternatives(words)
}

func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// formatExample describes formats in messages.
var formatExample = map[string]string{
	"date":      "a date such as 2026-01-31",
	"date-time": "a date and time such as 2026-01-31T12:00:00Z",
	"time":      "a time such as 12:00:00Z",
	"duration":  "a duration such as P1DT12H",
	"email":     "an email address",
	"hostname":  "a host name",
	"ipv4":      "an IPv4 address",
	"ipv6":      "an IPv6 address",
	"uri":       "an absolute URL",
	"iri":       "an absolute URL",
	"uuid":      "a UUID",
}

func formatWords(format string) string {
	if words, ok := formatExample[format]; ok {
		return words
	}
	return "a valid " + format
}
