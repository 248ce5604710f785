package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) unary(n *ast.UnaryNode, at int) (operation, error) {
	operand, err := c.compile(n.Node)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "!", "not":
		return func(e *evaluation) (any, error) {
			answer, err := e.boolean(operand, at, "what follows "+n.Operator)
			return !answer, err
		}, nil
	case "-", "+":
		return func(e *evaluation) (any, error) {
			value, err := operand(e)
			if err != nil {
				return nil, err
			}
			if _, ok, err := e.number(value); err != nil || !ok {
				if err == nil {
					err = failf("%s takes a number, not %s", n.Operator, kindOf(value))
				}
				return nil, located(at, err)
			}
			if n.Operator == "+" {
				return value, nil
			}
			value, err = e.arithmetic("-", int64(0), value)
			return value, located(at, err)
		}, nil
	default:
		return nil, failf("the operator %s is not supported here", n.Operator)
	}
}

func (c *compiler) binary(n *ast.BinaryNode, at int) (operation, error) {
	parts, err := c.all(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	left, right := parts[0], parts[1]
	switch n.Operator {
	case "&&", "and", "||", "or":
		decisive := n.Operator == "||" || n.Operator == "or"
		return func(e *evaluation) (any, error) {
			answer, err := e.boolean(left, at, "the left side of "+n.Operator)
			if err != nil || answer == decisive {
				return answer, err
			}
			return e.boolean(right, at, "the right side of "+n.Operator)
		}, nil
	case "??":
		return func(e *evaluation) (any, error) {
			value, err := left(e)
			if err != nil || value != nil {
				return value, err
			}
			return right(e)
		}, nil
	case "matches":
		return c.matches(n, left, right, at)
	}
	apply, ok := operators[n.Operator]
	if !ok {
		return nil, failf("the operator %s is not supported here", n.Operator)
	}
	return func(e *evaluation) (any, error) {
		a, err := left(e)
		if err != nil {
			return nil, err
		}
		b, err := right(e)
		if err != nil {
			return nil, err
		}
		result, err := apply(e, n.Operator, a, b)
		return result, located(at, err)
	}, nil
}

// operators are the binary operators that always need both sides.
var operators = map[string]func(e *evaluation, operator string, a, b any) (any, error){
	"==": func(e *evaluation, _ string, a, b any) (any, error) { return e.equal(a, b) },
	"!=": func(e *evaluation, _ string, a, b any) (any, error) {
		same, err := e.equal(a, b)
		return !same, err
	},
	"<":          order(func(order int) bool { return order < 0 }),
	"<=":         order(func(order int) bool { return order <= 0 }),
	">":          order(func(order int) bool { return order > 0 }),
	">=":         order(func(order int) bool { return order >= 0 }),
	"in":         contained,
	"contains":   search(strings.Contains),
	"startsWith": search(strings.HasPrefix),
	"endsWith":   search(strings.HasSuffix),
	"..":         span,
	"+":          plus,
	"-":          (*evaluation).compute,
	"*":          (*evaluation).compute,
	"/":          (*evaluation).compute,
	"%":          (*evaluation).compute,
	"**":         (*evaluation).compute,
	"^":          (*evaluation).compute,
}

func (e *evaluation) compute(operator string, a, b any) (any, error) {
	return e.arithmetic(operator, a, b)
}

// plus adds numbers and joins strings.
func plus(e *evaluation, operator string, a, b any) (any, error) {
	x, okLeft := a.(string)
	y, okRight := b.(string)
	switch {
	case okLeft && okRight:
		if err := e.memory(len(x) + len(y)); err != nil {
			return nil, err
		}
		return x + y, e.scan(len(x) + len(y))
	case okLeft || okRight:
		return nil, failf("+ cannot join %s and %s; string(...) makes text of a value", kindOf(a), kindOf(b))
	default:
		return e.arithmetic(operator, a, b)
	}
}

// order makes a comparison of two numbers or two strings.
func order(holds func(int) bool) func(*evaluation, string, any, any) (any, error) {
	return func(e *evaluation, operator string, a, b any) (any, error) {
		result, err := e.compare(operator, a, b)
		if err != nil {
			return nil, err
		}
		return holds(result), nil
	}
}

// search makes a test on two strings, false when one of them is null.
func search(test func(text, part string) bool) func(*evaluation, string, any, any) (any, error) {
	return func(e *evaluation, operator string, a, b any) (any, error) {
		if a == nil || b == nil {
			return false, nil
		}
		text, okText := a.(string)
		part, okPart := b.(string)
		if !okText || !okPart {
			return nil, failf("%s takes strings, not %s and %s", operator, kindOf(a), kindOf(b))
		}
		if err := e.scan(len(text) + len(part)); err != nil {
			return nil, err
		}
		return test(text, part), nil
	}
}

// contained is "in": an item of an array or a key of an object.
func contained(e *evaluation, _ string, a, b any) (any, error) {
	switch v := b.(type) {
	case nil:
		return false, nil
	case []any:
		for _, item := range v {
			if same, err := e.equal(a, item); err != nil || same {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := keyOf(a)
		if !ok {
			return false, nil
		}
		_, ok = v[key]
		return ok, nil
	default:
		return nil, failf(`"in" looks into arrays and objects, not %s; use contains for text`, kindOf(b))
	}
}

// span is a..b: all whole numbers between, both ends included.
func span(e *evaluation, _ string, a, b any) (any, error) {
	x, okFrom, err := e.number(a)
	if err != nil {
		return nil, err
	}
	y, okTo, err := e.number(b)
	if err != nil {
		return nil, err
	}
	if !okFrom || !okTo || !x.whole || !y.whole {
		return nil, failf(".. takes two whole numbers, not %s and %s", kindOf(a), kindOf(b))
	}
	if y.integer < x.integer {
		return e.list(0)
	}
	// The distance as unsigned cannot overflow; past the budget its size does not matter.
	distance := min(uint64(y.integer)-uint64(x.integer), maxBytes)
	result, err := e.list(int(distance) + 1)
	if err != nil {
		return nil, err
	}
	for i := range result {
		if result[i], err = e.keep(x.integer + int64(i)); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// list pays for an array of n items and makes it.
func (e *evaluation) list(n int) ([]any, error) {
	e.built = true
	if err := e.memory(32 + 16*n); err != nil {
		return nil, err
	}
	return make([]any, n), e.work(1 + n/4)
}

// keep turns a value into the form it has inside arrays and objects.
func (e *evaluation) keep(value any) (any, error) {
	switch value.(type) {
	case int, int64, float64, string:
		return plain(value), e.memory(40) // a header and a short text
	default:
		return value, nil
	}
}
