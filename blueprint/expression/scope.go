package expression

import (
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// Scope resolves the top-level names of templates and expressions: variables,
// inputData, input, nodes, execution, blueprint, trigger, now, item, index.
// Values are decoded JSON with json.Number and immutable.
type Scope interface {
	// Lookup returns the value of a name, and whether the name exists. It is
	// called once per name and evaluation, even for names in branches that are
	// not taken, so it should be cheap.
	Lookup(name string) (value any, ok bool)
	// Names lists all names, sorted, for suggestions in errors.
	Names() []string
}

// partial is implemented by a Scope that can return single members of an object
// that is expensive to build. Constant keys in the source use it.
type partial interface {
	// HasParts reports whether a name is such an object.
	HasParts(name string) bool
	// Part returns one member of the object.
	Part(name, key string) (value any, ok bool)
	// Nearby returns some members of the object for suggestions in errors.
	Nearby(name string) map[string]any
}

func partsOf(scope Scope, name string) (partial, bool) {
	p, ok := scope.(partial)
	return p, ok && p.HasParts(name)
}

// MapScope is a Scope that holds its values in a map.
type MapScope map[string]any

// Lookup returns the value of a name.
func (s MapScope) Lookup(name string) (any, bool) {
	value, ok := s[name]
	return value, ok
}

// Names lists the names, sorted.
func (s MapScope) Names() []string { return slices.Sorted(maps.Keys(s)) }

func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// member is a constant key of a top-level name.
type member struct{ name, key string }

// absent is the value of a part that the scope cannot look up alone.
type absent struct{}

// lookParts looks up every part, once per evaluation.
func (e *evaluation) lookParts(parts []member, scope Scope) {
	e.parts = make([]any, len(parts))
	for i, p := range parts {
		e.parts[i] = absent{}
		if from, has := partsOf(scope, p.name); has {
			e.parts[i], _ = from.Part(p.name, p.key)
		}
	}
}

// key compiles the access to a constant key.
func (c *compiler) key(node ast.Node, key string, at int) operation {
	if ofNode(node) {
		c.behind = key
	}
	base, slot := c.holder(node, key)
	c.behind = ""
	return func(e *evaluation) any {
		if slot >= 0 {
			if _, none := e.parts[slot].(absent); !none {
				return e.parts[slot]
			}
		}
		value := base(e)
		switch v := value.(type) {
		case nil:
			return nil
		case map[string]any:
			return v[key]
		default:
			e.at = at
			panic(failf("%s has no key %q", KindOf(value), blueprint.Shorten(key, hintLength)))
		}
	}
}

// holder compiles the value that has the key. The key of a top-level name gets a
// slot among the parts; otherwise slot is -1.
func (c *compiler) holder(node ast.Node, key string) (base operation, slot int) {
	name, ok := node.(*ast.IdentifierNode)
	if ok {
		_, local := c.localSlot(name.Value)
		ok = !local && name.Value != "null" && name.Value != "$env"
	}
	if !ok {
		base = c.compile(node)
		return base, -1
	}
	if c.count++; c.count > maxOperations {
		c.at = node.Location().From
		panic(failf("more than %d operations; use a code node", maxOperations))
	}
	c.parts = append(c.parts, member{name.Value, key})
	c.use(name.Value, key, node.Location().From)
	return c.topLevel(name.Value), len(c.parts) - 1
}
