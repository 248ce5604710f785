package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) unary(n *ast.UnaryNode, at int) operation {
	operand := c.compile(n.Node)
	switch n.Operator {
	case "!", "not":
		return func(e *evaluation) any {
			answer := e.boolean(operand, at, "what follows "+n.Operator)
			return !answer
		}
	case "-", "+":
		return func(e *evaluation) any {
			value := operand(e)
			e.at = at
			if _, ok := e.number(value); !ok {
				panic(failf("%s takes a number, not %s", n.Operator, KindOf(value)))
			}
			if n.Operator == "+" {
				return value
			}
			value = e.arithmetic("-", int64(0), value)
			return value
		}
	default:
		panic(failf("the operator %s is not supported here", n.Operator))
	}
}

func (c *compiler) binary(n *ast.BinaryNode, at int) operation {
	parts := c.all(n.Left, n.Right)
	left, right := parts[0], parts[1]
	switch n.Operator {
	case "&&", "and", "||", "or":
		decisive := n.Operator == "||" || n.Operator == "or"
		return func(e *evaluation) any {
			answer := e.boolean(left, at, "the left side of "+n.Operator)
			if answer == decisive {
				return answer
			}
			return e.boolean(right, at, "the right side of "+n.Operator)
		}
	case "??":
		return func(e *evaluation) any {
			value := left(e)
			if value != nil {
				return value
			}
			return right(e)
		}
	case "matches":
		return c.matches(n, left, right, at)
	}
	apply, ok := operators[n.Operator]
	if !ok {
		panic(failf("the operator %s is not supported here", n.Operator))
	}
	return func(e *evaluation) any {
		a, b := left(e), right(e)
		e.at = at
		return apply(e, n.Operator, a, b)
	}
}

// operators are the binary operators that evaluate both sides.
var operators = map[string]func(e *evaluation, operator string, a, b any) any{
	"==": func(e *evaluation, _ string, a, b any) any { return e.equal(a, b) },
	"!=": func(e *evaluation, _ string, a, b any) any {
		same := e.equal(a, b)
		return !same
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

func (e *evaluation) compute(operator string, a, b any) any {
	return e.arithmetic(operator, a, b)
}

// plus adds numbers and concatenates strings.
func plus(e *evaluation, operator string, a, b any) any {
	x, okLeft := a.(string)
	y, okRight := b.(string)
	switch {
	case okLeft && okRight:
		e.memory(len(x) + len(y))
		e.scan(len(x) + len(y))
		return x + y
	case okLeft || okRight:
		panic(failf("+ cannot join %s and %s; convert values with string(...)", KindOf(a), KindOf(b)))
	default:
		return e.arithmetic(operator, a, b)
	}
}

// order returns a comparison of two numbers or two strings.
func order(holds func(int) bool) func(*evaluation, string, any, any) any {
	return func(e *evaluation, operator string, a, b any) any {
		result := e.compare(operator, a, b)
		return holds(result)
	}
}

// search returns a test of two strings that is false when either is null.
func search(test func(text, part string) bool) func(*evaluation, string, any, any) any {
	return func(e *evaluation, operator string, a, b any) any {
		if a == nil || b == nil {
			return false
		}
		text, okText := a.(string)
		part, okPart := b.(string)
		if !okText || !okPart {
			panic(failf("%s takes strings, not %s and %s", operator, KindOf(a), KindOf(b)))
		}
		e.scan(len(text) + len(part))
		return test(text, part)
	}
}

// contained is "in": an item of an array or a key of an object.
func contained(e *evaluation, _ string, a, b any) any {
	switch v := b.(type) {
	case nil:
		return false
	case []any:
		for _, item := range v {
			if e.equal(a, item) {
				return true
			}
		}
		return false
	case map[string]any:
		key, ok := keyOf(a)
		if !ok {
			return false
		}
		_, ok = v[key]
		return ok
	default:
		panic(failf(`"in" searches arrays and objects, not %s; use contains for text`, KindOf(b)))
	}
}

// span is a..b: all whole numbers between, both ends included.
func span(e *evaluation, _ string, a, b any) any {
	x, okFrom := e.number(a)
	y, okTo := e.number(b)
	if !okFrom || !okTo || !x.whole || !y.whole {
		panic(failf(".. takes two whole numbers, not %s and %s", KindOf(a), KindOf(b)))
	}
	if y.integer < x.integer {
		return e.list(0)
	}
	// An unsigned distance cannot overflow; beyond the budget its size is irrelevant.
	distance := min(uint64(y.integer)-uint64(x.integer), maxBytes)
	result := e.list(int(distance) + 1)
	for i := range result {
		result[i] = e.keep(x.integer + int64(i))
	}
	return result
}

// list allocates an array of n items.
func (e *evaluation) list(n int) []any {
	e.built = true
	e.memory(32 + 16*n)
	e.work(1 + n/4)
	return make([]any, n)
}

// keep returns a value in the form it has inside arrays and objects.
func (e *evaluation) keep(value any) any {
	switch value.(type) {
	case int, int64, float64, string:
		e.memory(40) // a header and a short text
		return plain(value)
	}
	return value
}
