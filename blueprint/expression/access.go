package expression

import (
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) member(n *ast.MemberNode, at int) (operation, error) {
	if n.Method {
		return nil, failf("values have no methods")
	}
	if name, ok := n.Property.(*ast.StringNode); ok {
		return c.key(n.Node, name.Value, at)
	}
	base, err := c.compile(n.Node)
	if err != nil {
		return nil, err
	}
	property, err := c.compile(n.Property)
	if err != nil {
		return nil, err
	}
	return func(e *evaluation) (any, error) {
		value, err := base(e)
		if err != nil {
			return nil, err
		}
		key, err := property(e)
		if err != nil {
			return nil, err
		}
		result, err := e.fetch(value, key)
		return result, located(at, err)
	}, nil
}

// fetch returns what a value holds at a key or position; nil for what is missing.
func (e *evaluation) fetch(value, key any) (any, error) {
	if value == nil || key == nil {
		return nil, nil
	}
	switch v := value.(type) {
	case map[string]any:
		name, ok := keyOf(key)
		if !ok {
			return nil, failf("a key of an object is a string, not %s", kindOf(key))
		}
		return v[name], nil
	case []any:
		position, err := e.position(key, len(v))
		if err != nil || position < 0 || position >= len(v) {
			return nil, err
		}
		return v[position], nil
	case string:
		length, err := e.characters(v)
		if err != nil {
			return nil, err
		}
		position, err := e.position(key, length)
		if err != nil || position < 0 || position >= length {
			return nil, err
		}
		start := byteOffset(v, position)
		_, size := utf8.DecodeRuneInString(v[start:])
		return v[start : start+size], nil
	default:
		return nil, failf("%s has no keys", kindOf(value))
	}
}

// position reads a whole number; a negative one counts from the end.
func (e *evaluation) position(key any, length int) (int, error) {
	n, ok, err := e.number(key)
	switch {
	case err != nil:
		return 0, err
	case !ok || !n.whole:
		return 0, failf("a position is a whole number, not %s", kindOf(key))
	case n.integer < 0:
		return int(max(n.integer+int64(length), -1)), nil
	default:
		return int(min(n.integer, int64(length))), nil
	}
}

// characters counts the characters of a text.
func (e *evaluation) characters(text string) (int, error) {
	// The caller usually walks through the text once more.
	if err := e.scan(4 * len(text)); err != nil {
		return 0, err
	}
	return utf8.RuneCountInString(text), nil
}

// slice compiles value[from:to].
func (c *compiler) slice(n *ast.SliceNode, at int) (operation, error) {
	base, err := c.compile(n.Node)
	if err != nil {
		return nil, err
	}
	var ends [2]operation
	for i, node := range []ast.Node{n.From, n.To} {
		if node == nil {
			continue
		}
		if ends[i], err = c.compile(node); err != nil {
			return nil, err
		}
	}
	return func(e *evaluation) (any, error) {
		value, err := base(e)
		if err != nil {
			return nil, err
		}
		result, err := e.slice(value, ends)
		return result, located(at, err)
	}, nil
}

func (e *evaluation) slice(value any, ends [2]operation) (any, error) {
	length := 0
	switch v := value.(type) {
	case []any:
		length = len(v)
	case string:
		var err error
		if length, err = e.characters(v); err != nil {
			return nil, err
		}
	default:
		return nil, failf("%s has no parts to cut out", kindOf(value))
	}
	bounds := [2]int{0, length}
	for i, end := range ends {
		if end == nil {
			continue
		}
		key, err := end(e)
		if err != nil {
			return nil, err
		}
		position, err := e.position(key, length)
		if err != nil {
			return nil, err
		}
		bounds[i] = max(position, 0)
	}
	from, to := min(bounds[0], bounds[1]), bounds[1]
	if text, ok := value.(string); ok {
		start := byteOffset(text, from)
		return text[start : start+byteOffset(text[start:], to-from)], nil
	}
	return value.([]any)[from:to:to], nil
}
