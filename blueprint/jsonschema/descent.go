package jsonschema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// descent replaces the keywords of one schema that apply to parts of a value. The library
// collects an error for each part, which may be millions; descent visits the parts in
// order and stops after MaxIssues. It also reports the right location for propertyNames,
// which the library stores in memory that it overwrites.
type descent struct {
	properties map[string]*jsonschema.Schema
	order      []string // names of properties, sorted
	patterns   []patternRule
	additional *jsonschema.Schema // of all other properties; may be nil
	prefix     []*jsonschema.Schema
	rest       *jsonschema.Schema // of the items after the prefix; may be nil
	names      *jsonschema.Schema // of the property names; may be nil
}

type patternRule struct {
	pattern *pattern
	schema  *jsonschema.Schema
}

// newDescent moves the keywords from a compiled schema to a descent; nil if it has none.
func newDescent(s *jsonschema.Schema) *descent {
	d := &descent{
		properties: s.Properties,
		order:      slices.Sorted(maps.Keys(s.Properties)),
		additional: others(s.AdditionalProperties),
		names:      s.PropertyNames,
		prefix:     s.PrefixItems,
		rest:       s.Items2020,
	}
	for re, schema := range s.PatternProperties {
		d.patterns = append(d.patterns, patternRule{re.(*pattern), schema})
	}
	slices.SortFunc(d.patterns, func(a, b patternRule) int {
		return cmp.Compare(a.pattern.String(), b.pattern.String())
	})
	switch items := s.Items.(type) { // up to draft 2019-09
	case *jsonschema.Schema:
		d.rest = items
	case []*jsonschema.Schema:
		d.prefix, d.rest = items, others(s.AdditionalItems)
	}
	s.Properties, s.PatternProperties, s.AdditionalProperties, s.PropertyNames = nil, nil, nil, nil
	s.PrefixItems, s.Items2020, s.Items, s.AdditionalItems = nil, nil, nil, nil
	if len(d.schemas()) == 0 {
		return nil
	}
	return d
}

// others returns the schema of a keyword for all other parts; nil if it allows all.
func others(keyword any) *jsonschema.Schema {
	switch k := keyword.(type) {
	case *jsonschema.Schema:
		return k
	case bool:
		if !k {
			return &jsonschema.Schema{Bool: new(bool)}
		}
	}
	return nil
}

// schemas returns all schemas for parts and property names.
func (d *descent) schemas() []*jsonschema.Schema {
	list := slices.Clone(d.prefix)
	for _, name := range d.order {
		list = append(list, d.properties[name])
	}
	for _, rule := range d.patterns {
		list = append(list, rule.schema)
	}
	for _, schema := range []*jsonschema.Schema{d.additional, d.rest, d.names} {
		if schema != nil {
			list = append(list, schema)
		}
	}
	return list
}

// visit is called with a part of a value and its schema; false stops the walk.
type visit func(schema *jsonschema.Schema, part any, token string) bool

// each calls yield for each part of a value that has a schema, in order.
func (d *descent) each(value any, yield visit) {
	switch v := value.(type) {
	case map[string]any:
		d.members(v, yield)
	case []any:
		for i, item := range v {
			schema := d.rest
			if i < len(d.prefix) {
				schema = d.prefix[i]
			}
			if schema == nil || !yield(schema, item, strconv.Itoa(i)) {
				return
			}
		}
	}
}

func (d *descent) members(object map[string]any, yield visit) {
	names := d.order
	if len(d.patterns) > 0 || d.additional != nil {
		names = slices.Sorted(maps.Keys(object))
	}
	for _, name := range names {
		value, given := object[name]
		if !given {
			continue
		}
		schema, known := d.properties[name]
		if known && !yield(schema, value, name) {
			return
		}
		for _, rule := range d.patterns {
			if rule.pattern.MatchString(name) {
				known = true
				if !yield(rule.schema, value, name) {
					return
				}
			}
		}
		if !known && d.additional != nil && !yield(d.additional, value, name) {
			return
		}
	}
}

// Validate is called by the library for each value that is validated against the schema.
func (d *descent) Validate(ctx *jsonschema.ValidatorContext, value any) {
	object, isObject := value.(map[string]any)
	found := 0
	d.each(value, func(schema *jsonschema.Schema, part any, token string) bool {
		if isObject {
			ctx.EvaluatedProp(token)
		}
		if err := ctx.Validate(schema, part, []string{token}); err != nil {
			found += count(err)
			ctx.AddErr(err)
		}
		return found < MaxIssues
	})
	if !isObject || d.names == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if found >= MaxIssues {
			return
		}
		if failed, ok := d.names.Validate(name).(*jsonschema.ValidationError); ok {
			found++
			ctx.AddErrors(failed.Causes, &kind.PropertyNames{Property: name})
		}
	}
}
