package jsonschema

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
)

// maxSteps bounds the steps of a validation: rules on small values, about 100 ns each.
const maxSteps = 5_000_000

// maxChain bounds the rules nested on one value, which take stack frames of the library.
const maxChain = 100

// maxValueDepth bounds the nesting of values, which need not come from a decoder.
const maxValueDepth = 2 * blueprint.MaxDepth

// costs holds the cost of every schema that is reachable from a root.
type costs struct {
	of map[*jsonschema.Schema]*cost
	// bound * size(value) is an upper limit of the steps for a value. It is infinite for
	// a schema that refers to itself.
	bound float64
}

// cost is the cost of one schema without its subschemas, and the subschemas.
type cost struct {
	weight  float64
	types   []string
	unique  bool                 // compares all items with each other
	here    []*jsonschema.Schema // applied to the same value
	parts   []*jsonschema.Schema // applied to every part, besides descent
	descent *descent
}

// prepare replaces the keywords of a compiled schema that apply to parts of a value by a
// descent, and computes the costs.
func prepare(root *jsonschema.Schema) (*costs, error) {
	c := &costs{of: map[*jsonschema.Schema]*cost{}}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if _, known := c.of[s]; known {
			continue
		}
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			return nil, errors.New("$dynamicRef and $recursiveRef are not supported; use $ref")
		}
		item := weigh(s)
		c.of[s] = item
		if item.descent = newDescent(s); item.descent != nil {
			s.Extensions = append(s.Extensions, item.descent)
			queue = append(queue, item.descent.schemas()...)
			for _, rule := range item.descent.patterns {
				item.weight += float64(rule.pattern.size)
			}
		}
		queue = append(append(queue, item.here...), item.parts...)
	}
	chains := map[*jsonschema.Schema]int{}
	for s := range c.of {
		if c.chain(s, chains) > maxChain {
			return nil, errors.New("too many rules are nested on the same value, or a $ref refers to itself")
		}
	}
	c.bound = c.total(root, map[*jsonschema.Schema]float64{})
	return c, nil
}

// weigh returns the cost of a schema, without descent.
func weigh(s *jsonschema.Schema) *cost {
	c := &cost{weight: 1 + float64(len(s.Required)), unique: s.UniqueItems}
	for _, schema := range []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if schema != nil {
			c.here = append(c.here, schema)
		}
	}
	c.here = append(append(append(c.here, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		c.here = append(c.here, s.DependentSchemas[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		if schema, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			c.here = append(c.here, schema)
		}
	}
	for _, required := range s.DependentRequired {
		c.weight += float64(len(required))
	}
	for _, schema := range []*jsonschema.Schema{s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties} {
		if schema != nil {
			c.weight += 4 // the library records every part for these
			c.parts = append(c.parts, schema)
		}
	}
	if s.Types != nil {
		c.types = s.Types.ToStrings()
	}
	if s.Enum != nil {
		c.weight += 4 * size(s.Enum.Values)
	}
	if s.Const != nil {
		c.weight += 4 * size(*s.Const)
	}
	if s.Pattern != nil {
		c.weight += float64(s.Pattern.(*pattern).size)
	}
	if s.Format != nil {
		c.weight += 4
		if s.Format.Name == "regex" { // compile the pattern with our limits
			c.weight += 2_000
			s.Format = regexFormat
		}
	}
	return c
}

// chain returns the length of the longest chain of rules for one value, more than
// maxChain if it is a cycle.
func (c *costs) chain(s *jsonschema.Schema, known map[*jsonschema.Schema]int) int {
	if length, ok := known[s]; ok {
		return length
	}
	known[s] = maxChain + 1 // seen by a cycle
	longest := 0
	for _, next := range c.of[s].here {
		longest = max(longest, c.chain(next, known))
	}
	known[s] = longest + 1
	return known[s]
}

// total returns the sum of the weights on all paths through a schema.
func (c *costs) total(s *jsonschema.Schema, known map[*jsonschema.Schema]float64) float64 {
	if sum, ok := known[s]; ok {
		return sum
	}
	known[s] = math.Inf(1) // seen by a cycle
	item := c.of[s]
	sum := item.weight
	if item.unique {
		sum += 20 * maxValueDepth
	}
	next := append(slices.Clone(item.here), item.parts...)
	if item.descent != nil {
		next = append(next, item.descent.schemas()...)
	}
	for _, s := range next {
		sum += c.total(s, known)
	}
	known[s] = sum
	return sum
}

// breadth returns the size of a value without its parts.
func breadth(value any) float64 {
	switch v := value.(type) {
	case string:
		return 1 + float64(len(v))/16
	case json.Number:
		return 1 + float64(len(v))/16
	case []any:
		return 1 + float64(len(v))
	case map[string]any:
		sum := 1.0
		for name := range v {
			sum += 1 + float64(len(name))/16
		}
		return sum
	default:
		return 1
	}
}

// size returns the size of a value with its parts.
func size(value any) float64 {
	sum := breadth(value)
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			sum += size(item)
		}
	case map[string]any:
		for _, item := range v {
			sum += size(item)
		}
	}
	return sum
}
