package expression

import (
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// maxIssues is how many malformed strings of one config are reported.
const maxIssues = 100

// Config is a node's config whose strings are compiled templates.
type Config struct {
	root  map[string]any
	shape *shape // nil when nothing in it depends on the scope
	alone int    // strings that are one placeholder and nothing else
	names []string
	refs  []blueprint.Reference
	err   error // of the first malformed string
}

// shape lists what to replace in a copy of a value. A value without placeholders
// has no shape and is shared with the config.
type shape struct {
	template *Template
	object   map[string]any
	keys     []string // of object, sorted
	array    []any
	indexes  []int // of array
	parts    []*shape
}

// CompileConfig compiles every string of a config, at any depth. Where skip(path)
// is true the value and everything below it stay as they are; skip may be nil and
// must not retain the path. Object keys are not templates. Every malformed string
// is an issue with its path inside the config; Resolve returns the first one's
// error.
func CompileConfig(config map[string]any, skip func(path []any) bool) (*Config, []blueprint.Issue) {
	c := &configCompiler{skip: skip, names: map[string]bool{}}
	result := &Config{root: config, shape: c.object(config)}
	result.alone, result.names, result.refs, result.err = c.alone, sortedNames(c.names), c.refs, c.err
	return result, c.issues
}

// Names lists the top-level names that the config refers to, sorted.
func (c *Config) Names() []string { return slices.Clone(c.names) }

// References lists what the config refers to, in the order of its keys.
func (c *Config) References() []blueprint.Reference { return slices.Clone(c.refs) }

// Resolve returns the config with all placeholders replaced. It shares values with
// the config and the scope, so the result must not be changed below its first
// level. Errors are those of Template.Resolve; one budget covers the whole config.
func (c *Config) Resolve(scope Scope) (map[string]any, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.shape == nil {
		if c.root == nil {
			return map[string]any{}, nil
		}
		return maps.Clone(c.root), nil
	}
	// A value that is inserted twice is small in memory but not when it is stored.
	r := &resolver{scope: scope, budget: newBudget(), weigh: c.alone > 1}
	value, err := r.resolve(c.shape)
	if err != nil {
		return nil, err
	}
	return value.(map[string]any), nil
}

type configCompiler struct {
	skip   func([]any) bool
	path   []any
	names  map[string]bool
	refs   []blueprint.Reference
	issues []blueprint.Issue
	err    error
	count  int // placeholders
	alone  int
}

func (c *configCompiler) value(value any) *shape {
	if c.skip != nil && c.skip(c.path) {
		return nil
	}
	switch v := value.(type) {
	case string:
		return c.text(v)
	case map[string]any:
		return c.object(v)
	case []any:
		s := &shape{array: v}
		for i, item := range v {
			if part := c.below(i, item); part != nil {
				s.indexes = append(s.indexes, i)
				s.parts = append(s.parts, part)
			}
		}
		return s.orNil()
	default:
		return nil
	}
}

func (c *configCompiler) object(object map[string]any) *shape {
	s := &shape{object: object}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if part := c.below(key, object[key]); part != nil {
			s.keys = append(s.keys, key)
			s.parts = append(s.parts, part)
		}
	}
	return s.orNil()
}

func (c *configCompiler) below(step, value any) *shape {
	c.path = append(c.path, step)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.value(value)
}

func (c *configCompiler) text(source string) *shape {
	template, err := compileTemplate(source)
	if err == nil {
		c.count += len(template.parts)
		if c.count > maxPlaceholders {
			err = &Error{Source: source, Code: CodeBadTemplate, template: true, Message: fmt.Sprintf(
				"the config has more than %d placeholders", maxPlaceholders)}
		}
	}
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		if len(c.issues) < maxIssues {
			c.issues = append(c.issues, blueprint.Issue{Path: slices.Clone(c.path), Message: err.Error(), Severity: "error", Spot: SpotOf(err, 0)})
		}
		return nil
	}
	if template.constant() {
		return nil
	}
	if template.alone() {
		c.alone++
	}
	for _, name := range template.names {
		c.names[name] = true
	}
	w, at := walker{source: source}, slices.Clone(c.path)
	for i := range template.parts {
		c.refs = append(c.refs, template.parts[i].references(at, &w)...)
	}
	return &shape{template: template}
}

func (s *shape) orNil() *shape {
	if len(s.parts) == 0 {
		return nil
	}
	return s
}

type resolver struct {
	scope  Scope
	budget *budget
	weigh  bool
}

func (r *resolver) resolve(s *shape) (any, error) {
	switch {
	case s.template != nil:
		return s.template.resolve(r.scope, r.budget, r.weigh)
	case s.object != nil:
		object := maps.Clone(s.object)
		for i, key := range s.keys {
			value, err := r.resolve(s.parts[i])
			if err != nil {
				return nil, err
			}
			object[key] = value
		}
		return object, nil
	default:
		array := slices.Clone(s.array)
		for i, index := range s.indexes {
			value, err := r.resolve(s.parts[i])
			if err != nil {
				return nil, err
			}
			array[index] = value
		}
		return array, nil
	}
}
