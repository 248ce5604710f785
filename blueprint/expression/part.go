package expression

import (
	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// member is a key of a top-level name that an expression spells out.
type member struct{ name, key string }

// absent is the value of a part whose name has no parts in the scope.
type absent struct{}

// lookParts looks the parts up once for the whole evaluation.
func (e *evaluation) lookParts(parts []member, scope Scope) {
	e.parts = make([]any, len(parts))
	for i, p := range parts {
		e.parts[i] = absent{}
		if from, has := partsOf(scope, p.name); has {
			e.parts[i], _ = from.Part(p.name, p.key)
		}
	}
}

// key compiles the access to a key that the source spells out.
func (c *compiler) key(node ast.Node, key string, at int) (operation, error) {
	if ofNode(node) {
		c.behind = key
	}
	base, slot, err := c.holder(node, key)
	c.behind = ""
	if err != nil {
		return nil, err
	}
	return func(e *evaluation) (any, error) {
		if slot >= 0 {
			if _, none := e.parts[slot].(absent); !none {
				return e.parts[slot], nil
			}
		}
		value, err := base(e)
		if err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			return v[key], nil
		default:
			return nil, located(at, failf("%s has no key %q", kindOf(value), blueprint.Shorten(key, hintLength)))
		}
	}, nil
}

// holder compiles what a key is asked of. With a top-level name the key gets a
// slot among the parts; without, slot is -1.
func (c *compiler) holder(node ast.Node, key string) (base operation, slot int, err error) {
	name, ok := node.(*ast.IdentifierNode)
	if ok {
		_, local := c.localSlot(name.Value)
		ok = !local && name.Value != "null" && name.Value != "$env"
	}
	if !ok {
		base, err = c.compile(node)
		return base, -1, err
	}
	if c.count++; c.count > maxOperations {
		return nil, -1, located(node.Location().From, failf("more than %d operations; use a code node", maxOperations))
	}
	c.parts = append(c.parts, member{name.Value, key})
	c.use(name.Value, key, node.Location().From)
	return c.topLevel(name.Value), len(c.parts) - 1, nil
}
