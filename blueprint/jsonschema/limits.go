package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
)

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
