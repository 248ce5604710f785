package expression

import (
	"github.com/expr-lang/expr/ast"
)

const (
	objectSize = 400 // bytes of an object of up to eight keys
	entrySize  = 100 // of each further one, garbage from growing included
)

// object allocates an object of n keys.
func (e *evaluation) object(n int) map[string]any {
	e.built = true
	e.memory(objectSize + entrySize*max(0, n-8))
	e.work(2 + 2*n)
	return make(map[string]any, n)
}

// array compiles [a, b, c].
func (c *compiler) array(n *ast.ArrayNode) operation {
	parts := c.all(n.Nodes...)
	return func(e *evaluation) any {
		result := e.list(len(parts))
		for i, part := range parts {
			value := part(e)
			result[i] = e.keep(value)
		}
		return result
	}
}

// object compiles {a: b, (c): d}. The first of a repeated key wins, as in expr.
func (c *compiler) object(n *ast.MapNode) operation {
	var keys, values []operation
	for _, node := range n.Pairs {
		pair, ok := node.(*ast.PairNode)
		if !ok {
			panic(failf("this is not supported here"))
		}
		both := c.all(pair.Key, pair.Value)
		keys, values = append(keys, both[0]), append(values, both[1])
	}
	at := n.Location().From
	return func(e *evaluation) any {
		result := e.object(len(keys))
		for i := range keys {
			key := keys[i](e)
			name, ok := keyOf(key)
			if !ok {
				e.at = at
				panic(failf("an object key must be a string, not %s", kindOf(key)))
			}
			value := values[i](e)
			if _, repeated := result[name]; repeated {
				continue
			}
			result[name] = e.keep(value)
		}
		return result
	}
}
