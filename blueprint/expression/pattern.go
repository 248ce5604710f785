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

// pattern is a compiled regular expression. RE2 takes at most size steps per character.
type pattern struct {
	expression *regexp.Regexp
	size       int
}

func compilePattern(source string) *pattern {
	if len(source) > maxPattern {
		panic(failf("a pattern has at most %d bytes", maxPattern))
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic(failf("the pattern is malformed"))
	}
	size := programSize(tree)
	if size > maxProgram {
		panic(failf("the pattern repeats too much"))
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		panic(failf("the pattern is malformed"))
	}
	return &pattern{compiled, size}
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
