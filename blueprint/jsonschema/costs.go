package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

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

// Limits of a schema.
const (
	maxSchemaBytes  = 256 << 10
	maxSchemaValues = 5_000
	maxSchemaDepth  = 64
	maxReferences   = 300     // different ones, because the library copies tables for some
	maxPattern      = 1_000   // characters
	maxPrograms     = 100_000 // instructions of all patterns
	maxDigits       = 1_000   // of a number, and of its exponent's value
)

// oversized returns an issue if a schema exceeds a limit that is checked before compiling.
func oversized(schema any) *blueprint.Issue {
	r := ruler{references: map[string]bool{}}
	if issue := r.measure(schema, nil); issue != nil {
		return issue
	}
	if data, err := blueprint.Encode(schema); err != nil {
		return &blueprint.Issue{Message: "must be a JSON value"}
	} else if len(data) > maxSchemaBytes {
		return &blueprint.Issue{Message: fmt.Sprintf("must have at most %d bytes", maxSchemaBytes)}
	}
	return nil
}

type ruler struct {
	values     int
	references map[string]bool
}

func (r *ruler) measure(value any, path []any) *blueprint.Issue {
	r.values++
	switch {
	case r.values > maxSchemaValues:
		return &blueprint.Issue{Message: fmt.Sprintf("must hold at most %d values", maxSchemaValues)}
	case len(path) > maxSchemaDepth:
		return &blueprint.Issue{Message: fmt.Sprintf("must be at most %d levels deep", maxSchemaDepth)}
	}
	switch v := value.(type) {
	case json.Number:
		if message := countable(v); message != "" {
			return &blueprint.Issue{Path: append([]any{}, path...), Message: message}
		}
	case []any:
		for i, item := range v {
			if issue := r.measure(item, append(path, i)); issue != nil {
				return issue
			}
		}
	case map[string]any:
		if reference, ok := v["$ref"].(string); ok {
			if r.references[reference] = true; len(r.references) > maxReferences {
				return &blueprint.Issue{Message: fmt.Sprintf("must hold at most %d different references", maxReferences)}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if issue := r.measure(v[key], append(path, key)); issue != nil {
				return issue
			}
		}
	}
	return nil
}

// countable returns "" for a number that is cheap to compare exactly. The library
// represents numbers as fractions, and 1e1000000 as a million digits.
func countable(number json.Number) string {
	mantissa, exponent, found := strings.Cut(strings.ToLower(string(number)), "e")
	if found {
		if e, err := strconv.Atoi(exponent); err != nil || e > maxDigits || e < -maxDigits {
			return "is a number with too large an exponent"
		}
	}
	if len(mantissa) > maxDigits {
		return "is a number with too many digits"
	}
	return ""
}

// pattern is a regular expression with the cost of matching.
type pattern struct {
	*regexp.Regexp
	size int // instructions of its program, the maximum of steps per character
}

// patternError is the problem of a pattern, without the pattern.
type patternError string

func (e patternError) Error() string { return string(e) }

const (
	errPatternLength = patternError("it has more than 1000 characters")
	errPatternSizes  = patternError("the patterns of the schema are too large together")
)

// parsePattern compiles a pattern to its program.
func parsePattern(source string) (*syntax.Prog, error) {
	if len(source) > maxPattern {
		return nil, errPatternLength
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		if parse, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, patternError(parse.Code.String())
		}
		return nil, patternError("it is malformed")
	}
	return syntax.Compile(tree.Simplify())
}

// patterns compiles the patterns of one schema, each once.
type patterns struct {
	known map[string]*pattern
	size  int
}

func (p *patterns) compile(source string) (jsonschema.Regexp, error) {
	if known, ok := p.known[source]; ok {
		return known, nil
	}
	program, err := parsePattern(source)
	if err != nil {
		return nil, err
	}
	if p.size += len(program.Inst); p.size > maxPrograms {
		return nil, errPatternSizes
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	p.known[source] = &pattern{compiled, len(program.Inst)}
	return p.known[source], nil
}

// regexFormat validates values that must be patterns.
var regexFormat = &jsonschema.Format{Name: "regex", Validate: func(value any) error {
	if text, ok := value.(string); ok {
		if _, err := parsePattern(text); err != nil {
			return err
		}
	}
	return nil
}}
