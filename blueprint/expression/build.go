package expression

import (
	"github.com/expr-lang/expr/ast"
)

const (
	objectSize = 400 // bytes of an object of up to eight keys
	entrySize  = 100 // of each further one, what growing throws away included
)

// object pays for an object of n keys and makes it.
func (e *evaluation) object(n int) (map[string]any, error) {
	e.built = true
	if err := e.memory(objectSize + entrySize*max(0, n-8)); err != nil {
		return nil, err
	}
	return make(map[string]any, n), e.work(2 + 2*n)
}

// array compiles [a, b, c].
func (c *compiler) array(n *ast.ArrayNode) (operation, error) {
	parts, err := c.all(n.Nodes...)
	if err != nil {
		return nil, err
	}
	return func(e *evaluation) (any, error) {
		result, err := e.list(len(parts))
		if err != nil {
			return nil, err
		}
		for i, part := range parts {
			value, err := part(e)
			if err != nil {
				return nil, err
			}
			if result[i], err = e.keep(value); err != nil {
				return nil, err
			}
		}
		return result, nil
	}, nil
}

// object compiles {a: b, (c): d}. Of a repeated key the first wins, as in expr,
// which fills objects from the end.
func (c *compiler) object(n *ast.MapNode) (operation, error) {
	var keys, values []operation
	for _, node := range n.Pairs {
		pair, ok := node.(*ast.PairNode)
		if !ok {
			return nil, failf("this is not supported here")
		}
		both, err := c.all(pair.Key, pair.Value)
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, both[0]), append(values, both[1])
	}
	at := n.Location().From
	return func(e *evaluation) (any, error) {
		result, err := e.object(len(keys))
		if err != nil {
			return nil, err
		}
		for i := range keys {
			key, err := keys[i](e)
			if err != nil {
				return nil, err
			}
			name, ok := keyOf(key)
			if !ok {
				return nil, located(at, failf("a key of an object is a string, not %s", kindOf(key)))
			}
			value, err := values[i](e)
			if err != nil {
				return nil, err
			}
			if _, repeated := result[name]; repeated {
				continue
			}
			if result[name], err = e.keep(value); err != nil {
				return nil, err
			}
		}
		return result, nil
	}, nil
}
