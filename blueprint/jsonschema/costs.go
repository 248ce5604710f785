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

// maxSteps is what one check may cost. A step is a rule that meets a small
// value, some 100 ns.
const maxSteps = 5_000_000

// maxChain is how many rules may follow one another on the same value: each
// costs the library several frames of the stack.
const maxChain = 100

// maxValueDepth bounds the recursion over values that no decoder has bounded.
const maxValueDepth = 2 * blueprint.MaxDepth

// costs says what meeting each schema costs.
type costs struct {
	of map[*jsonschema.Schema]*cost
	// bound is a factor: a value whose size is n costs at most bound * n steps.
	// It is infinite for a schema that refers to itself.
	bound float64
}

// cost is what one schema costs for a value, without what it leads to.
type cost struct {
	weight  float64
	types   []string
	unique  bool                 // compares all items with each other
	here    []*jsonschema.Schema // what the same value also meets
	parts   []*jsonschema.Schema // what every part meets, besides descent
	descent *descent
}

// prepare walks a compiled schema once: it puts a descent in place of the
// keywords that lead into values, and weighs every rule.
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
			return nil, errors.New("too many rules follow one another on the same value, or a $ref leads back to itself")
		}
	}
	c.bound = c.total(root, map[*jsonschema.Schema]float64{})
	return c, nil
}

// weigh lists what a schema leads to for the same value and for all its parts.
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
			c.weight += 4 // these record every part
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
		if s.Format.Name == "regex" { // the library would ask patterns, which is done
			c.weight += 2_000
			s.Format = regexFormat
		}
	}
	return c
}

// chain returns the length of the longest chain of rules for one value, more than
// maxChain when it has no end.
func (c *costs) chain(s *jsonschema.Schema, known map[*jsonschema.Schema]int) int {
	if length, ok := known[s]; ok {
		return length
	}
	known[s] = maxChain + 1 // what a chain that comes back here will find
	longest := 0
	for _, next := range c.of[s].here {
		longest = max(longest, c.chain(next, known))
	}
	known[s] = longest + 1
	return known[s]
}

// total adds up the weights on all ways through the schema.
func (c *costs) total(s *jsonschema.Schema, known map[*jsonschema.Schema]float64) float64 {
	if sum, ok := known[s]; ok {
		return sum
	}
	known[s] = math.Inf(1) // a way that comes back here is endless
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

// breadth is the size of a value without what is in it.
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

// size is the size of a value with all that is in it.
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
