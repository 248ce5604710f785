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
			panic(failf("%s has no key %q", kindOf(value), blueprint.Shorten(key, hintLength)))
		}
	}
}

// holder compiles what a key is asked of. With a top-level name the key gets a
// slot among the parts; without, slot is -1.
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
