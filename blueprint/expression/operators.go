package expression

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
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

// equal compares two values, numbers by value and everything else by content.
func (e *evaluation) equal(a, b any) bool {
	e.work(1)
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		if !ok || len(x) != len(y) {
			return false
		}
		e.work(len(x) / 64)
		return x == y
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !e.equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		return e.equalObjects(x, y)
	default:
		return e.equalNumbers(a, b)
	}
}

// equalObjects compares every member even after the first difference: map order is
// random, and equal evaluations must cost equal steps.
func (e *evaluation) equalObjects(x, y map[string]any) bool {
	same := true
	for key := range x {
		if _, ok := y[key]; !ok {
			same = false
		}
		e.work(4 + len(key)/16)
	}
	if !same {
		return false
	}
	for key, left := range x {
		equal := e.equal(left, y[key])
		same = same && equal
	}
	return same
}

// equalNumbers compares by value, or by text if a number is too large to compute with.
func (e *evaluation) equalNumbers(a, b any) bool {
	if x, ok := a.(json.Number); ok && a == b {
		e.work(len(x) / 64)
		return true
	}
	x, okLeft, failed := e.parse(a)
	if !okLeft || failed != nil {
		return false
	}
	y, okRight, failed := e.parse(b)
	return okRight && failed == nil && compareNumbers(x, y) == 0
}

// compare orders two numbers or two strings.
func (e *evaluation) compare(operator string, a, b any) int {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			e.work(1 + min(len(x), len(y))/64)
			return strings.Compare(x, y)
		}
	}
	x, okLeft := e.number(a)
	y, okRight := e.number(b)
	if !okLeft || !okRight {
		panic(failf("%s cannot compare %s and %s", operator, KindOf(a), KindOf(b)))
	}
	return compareNumbers(x, y)
}

// sorted returns the items in the order of their keys, which are all numbers or
// all strings. Equal keys keep their order in both directions.
func (e *evaluation) sorted(name string, items, keys []any, direction any) []any {
	descending := direction == "desc"
	if !descending && direction != "asc" {
		panic(failf(`%s takes the order "asc" or "desc"`, name))
	}
	type entry struct {
		position int
		text     string
		number   number
	}
	// Each level of the sort compares every item once or twice, short runs up to a
	// dozen times, and a comparison of texts costs their length.
	size := 0
	entries := make([]entry, 0)
	e.memory(len(keys) * 80)
	entries = slices.Grow(entries, len(keys))
	texts := 0
	for i, key := range keys {
		n, ok := e.number(key)
		text, isText := key.(string)
		if !ok && !isText {
			panic(failf("%s takes numbers or strings, not %s", name, KindOf(key)))
		}
		if isText {
			texts++
		}
		size += 1 + (len(text)+len(n.big))/64
		entries = append(entries, entry{i, text, n})
	}
	if texts != 0 && texts != len(keys) {
		panic(failf("%s cannot sort numbers and strings together", name))
	}
	e.work(size * (12 + 2*bits.Len(uint(len(keys)))) / 4)
	slices.SortFunc(entries, func(a, b entry) int {
		order := 0
		if texts > 0 {
			order = strings.Compare(a.text, b.text)
		} else {
			order = compareNumbers(a.number, b.number)
		}
		if descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.position, b.position))
	})
	result := e.list(len(entries))
	for i, entry := range entries {
		result[i] = items[entry.position]
	}
	return result
}

const (
	maxPattern = 1000 // bytes of a regular expression
	maxProgram = 2000 // instructions it may compile to
)

// pattern is a compiled regular expression. RE2 takes at most size steps per character.
type pattern struct {
	expression *regexp.Regexp
	size       int
}

func compilePattern(source string) *pattern {
	found, problem := parsePattern(source)
	if problem != nil {
		panic(problem)
	}
	return found
}

// CompilePattern compiles a regular expression within the limits of matches. problem is
// the reason why it cannot be used, or "".
func CompilePattern(source string) (compiled *regexp.Regexp, problem string) {
	found, failed := parsePattern(source)
	if failed != nil {
		return nil, failed.message
	}
	return found.expression, ""
}

func parsePattern(source string) (found *pattern, problem *failure) {
	if len(source) > maxPattern {
		return nil, failf("a pattern has at most %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, failf("the pattern is malformed")
	}
	size := programSize(tree)
	if size > maxProgram {
		return nil, failf("the pattern repeats too much")
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, failf("the pattern is malformed")
	}
	return &pattern{compiled, size}, nil
}

// programSize estimates how many instructions a pattern compiles to.
func programSize(tree *syntax.Regexp) int {
	size := 1 + len(tree.Rune)
	if tree.Op == syntax.OpCharClass {
		size = 1 + len(tree.Rune)/16
	}
	for _, part := range tree.Sub {
		size += programSize(part)
	}
	if tree.Op == syntax.OpRepeat {
		size *= max(tree.Max, tree.Min+1)
	}
	return min(size, maxProgram+1)
}

// matches compiles "text matches pattern"; a literal pattern is compiled here.
func (c *compiler) matches(n *ast.BinaryNode, left, right operation, at int) operation {
	var fixed *pattern
	if literal, ok := n.Right.(*ast.StringNode); ok {
		fixed = compilePattern(literal.Value)
	}
	return func(e *evaluation) any {
		a, b := left(e), right(e)
		e.at = at
		return e.matches(a, b, fixed)
	}
}

func (e *evaluation) matches(a, b any, fixed *pattern) bool {
	if a == nil || b == nil {
		return false
	}
	text, okText := a.(string)
	source, okPattern := b.(string)
	if !okText || !okPattern {
		panic(failf("matches takes strings, not %s and %s", KindOf(a), KindOf(b)))
	}
	if fixed == nil {
		fixed = e.pattern(source)
	}
	e.work(1 + (1+len(text)/8)*fixed.size)
	return fixed.expression.MatchString(text)
}

// pattern compiles a dynamic pattern.
func (e *evaluation) pattern(source string) *pattern {
	if e.last != nil && e.lastPattern == source {
		return e.last
	}
	e.work(20_000)
	e.memory(100 << 10)
	compiled := compilePattern(source)
	e.last, e.lastPattern = compiled, source
	return compiled
}
