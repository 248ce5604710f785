package expression

import (
	"regexp"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

const (
	maxPattern = 1000 // bytes of a regular expression
	maxProgram = 2000 // instructions it may compile to
)

// pattern is a compiled regular expression (RE2: never exponential, but each
// character may cost as many steps as the pattern is long).
type pattern struct {
	expression *regexp.Regexp
	size       int
}

// compilePattern compiles a pattern whose repetitions stay small.
func compilePattern(source string) (*pattern, error) {
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

// programSize is about how many instructions a pattern compiles to.
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

// matches compiles "text matches pattern", literal patterns once and for all.
func (c *compiler) matches(n *ast.BinaryNode, left, right operation, at int) (operation, error) {
	var fixed *pattern
	if literal, ok := n.Right.(*ast.StringNode); ok {
		var err error
		if fixed, err = compilePattern(literal.Value); err != nil {
			return nil, err
		}
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
		result, err := e.matches(a, b, fixed)
		return result, located(at, err)
	}, nil
}

func (e *evaluation) matches(a, b any, fixed *pattern) (bool, error) {
	if a == nil || b == nil {
		return false, nil
	}
	text, okText := a.(string)
	source, okPattern := b.(string)
	if !okText || !okPattern {
		return false, failf("matches takes strings, not %s and %s", kindOf(a), kindOf(b))
	}
	if fixed == nil {
		var err error
		if fixed, err = e.pattern(source); err != nil {
			return false, err
		}
	}
	if err := e.work(1 + (1+len(text)/8)*fixed.size); err != nil {
		return false, err
	}
	return fixed.expression.MatchString(text), nil
}

// pattern compiles a pattern that comes from data.
func (e *evaluation) pattern(source string) (*pattern, error) {
	if e.last != nil && e.lastPattern == source {
		return e.last, nil
	}
	if err := e.work(20_000); err != nil {
		return nil, err
	}
	if err := e.memory(100 << 10); err != nil {
		return nil, err
	}
	compiled, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	e.last, e.lastPattern = compiled, source
	return compiled, nil
}
