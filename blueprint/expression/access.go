package expression

import (
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) member(n *ast.MemberNode, at int) operation {
	if n.Method {
		panic(failf("values have no methods"))
	}
	if name, ok := n.Property.(*ast.StringNode); ok {
		return c.key(n.Node, name.Value, at)
	}
	base, property := c.compile(n.Node), c.compile(n.Property)
	return func(e *evaluation) any {
		value, key := base(e), property(e)
		e.at = at
		return e.fetch(value, key)
	}
}

// fetch returns value[key], or nil.
func (e *evaluation) fetch(value, key any) any {
	if value == nil || key == nil {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		name, ok := keyOf(key)
		if !ok {
			panic(failf("an object key must be a string, not %s", KindOf(key)))
		}
		return v[name]
	case []any:
		position := e.position(key, len(v))
		if position < 0 || position >= len(v) {
			return nil
		}
		return v[position]
	case string:
		length := e.characters(v)
		position := e.position(key, length)
		if position < 0 || position >= length {
			return nil
		}
		start := byteOffset(v, position)
		_, size := utf8.DecodeRuneInString(v[start:])
		return v[start : start+size]
	default:
		panic(failf("%s has no keys", KindOf(value)))
	}
}

// position converts an index; a negative one counts from the end.
func (e *evaluation) position(key any, length int) int {
	n, ok := e.number(key)
	switch {
	case !ok || !n.whole:
		panic(failf("an index must be a whole number, not %s", KindOf(key)))
	case n.integer < 0:
		return int(max(n.integer+int64(length), -1))
	default:
		return int(min(n.integer, int64(length)))
	}
}

func (e *evaluation) characters(text string) int {
	e.scan(4 * len(text)) // callers usually scan it once more
	return utf8.RuneCountInString(text)
}

// slice compiles value[from:to].
func (c *compiler) slice(n *ast.SliceNode, at int) operation {
	base := c.compile(n.Node)
	var ends [2]operation
	for i, node := range []ast.Node{n.From, n.To} {
		if node == nil {
			continue
		}
		ends[i] = c.compile(node)
	}
	return func(e *evaluation) any {
		return e.slice(base(e), ends, at)
	}
}

func (e *evaluation) slice(value any, ends [2]operation, at int) any {
	e.at = at
	length := 0
	switch v := value.(type) {
	case []any:
		length = len(v)
	case string:
		length = e.characters(v)
	default:
		panic(failf("%s cannot be sliced", KindOf(value)))
	}
	bounds := [2]int{0, length}
	for i, end := range ends {
		if end == nil {
			continue
		}
		key := end(e)
		e.at = at
		bounds[i] = max(e.position(key, length), 0)
	}
	from, to := min(bounds[0], bounds[1]), bounds[1]
	if text, ok := value.(string); ok {
		start := byteOffset(text, from)
		return text[start : start+byteOffset(text[start:], to-from)]
	}
	return value.([]any)[from:to:to]
}

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
				panic(failf("an object key must be a string, not %s", KindOf(key)))
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
