package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Expression is a compiled expression.
type Expression struct {
	source string
	names  []string // sorted; operations refer to positions
	whole  []bool   // per name: used other than by a constant key
	parts  []member // constant keys of top-level names
	uses   []use
	locals int
	root   operation
	kind   string // see Kind
}

// CompileExpression compiles an expression. Errors are *Error with
// CodeBadExpression: malformed, too large or not supported.
func CompileExpression(source string) (*Expression, error) {
	if len(source) > maxSource {
		return nil, &Error{Source: source, Code: CodeBadExpression, Message: fmt.Sprintf(
			"longer than %d bytes; use a code node", maxSource)}
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, parseError(source, err)
	}
	c := &compiler{names: map[string]*int{}, whole: map[string]bool{}, at: unknownPlace}
	var root operation
	if failed := recoverFailure(&c.at, func() { root = c.compile(tree.Node) }); failed != nil {
		failed.code = CodeBadExpression
		return nil, failed.in(source)
	}
	set := map[string]bool{}
	for name := range c.names {
		set[name] = true
	}
	names := sortedNames(set)
	whole := make([]bool, len(names))
	for i, name := range names {
		*c.names[name] = i
		whole[i] = c.whole[name]
	}
	return &Expression{source: source, names: names, whole: whole, parts: c.parts, uses: c.uses, locals: c.slots, root: root, kind: kindOfNode(tree.Node)}, nil
}

// equalsHint explains comparison where the parser stopped at a "=".
func equalsHint(source string, line, column int) string {
	for ; line > 1; line-- {
		_, source, _ = strings.Cut(source, "\n")
	}
	at := byteOffset(source, column-1)
	switch around := source[max(0, at-2):min(len(source), at+3)]; {
	case strings.Contains(around, "==="):
		return `; "===" is written "=="`
	case strings.Contains(around, "!=="):
		return `; "!==" is written "!="`
	}
	return `; values are compared with "=="`
}

func parseError(source string, err error) error {
	e := &Error{Source: source, Code: CodeBadExpression, Message: blueprint.Shorten(err.Error(), displayLength)}
	if at := (*file.Error)(nil); errors.As(err, &at) {
		e.Message, e.Line, e.Column = blueprint.Shorten(at.Message, displayLength), at.Line, at.Column+1
	}
	switch {
	case strings.TrimSpace(source) == "":
		e.Message = "the expression is empty"
	case strings.Contains(source, "{{"):
		bare := strings.NewReplacer("{{", "", "}}", "").Replace(source)
		e.Message = "an expression is written without {{ }}: " + blueprint.Shorten(blueprint.OneLine(strings.TrimSpace(bare)), displayLength)
	case e.Message == "unexpected token EOF":
		e.Message = "the expression ends too early"
	case e.Message == `unexpected token Operator(":")`:
		e.Message += "; an object that a predicate makes is written ({key: value})"
	case e.Message == `unexpected token Operator(".")`:
		e.Message += "; .name is only defined inside a predicate, such as map(list, .name)"
	case e.Message == `unexpected token Operator("=")`:
		e.Message += equalsHint(source, e.Line, e.Column)
	}
	return e
}

// Names lists the top-level names that the expression refers to, sorted.
func (x *Expression) Names() []string { return slices.Clone(x.names) }

// Eval evaluates the expression. The result is a plain JSON value that may share
// structure with the scope's values. Errors are *Error: CodeUnknownName,
// CodeExpressionFailed, CodeBudgetExceeded.
func (x *Expression) Eval(scope Scope) (any, error) { return x.run(scope, newBudget()) }

// evaluation is one run of an expression, in one goroutine.
type evaluation struct {
	*budget
	names  []any // values of the top-level names
	parts  []any // values of the parts, nil where the scope has none
	locals []any // values of let
	frames [maxPredicates]frame
	at     int  // of the operation that runs, in characters from the start
	built  bool // created an array or object, so that the result must be measured
	// The last dynamic pattern; usually all items use the same.
	lastPattern string
	last        *pattern
}

// frame is what # and #index stand for in a predicate.
type frame struct {
	item  any
	index int
}

// operation computes one node of the syntax tree. Operations hold no state.
type operation func(*evaluation) any

func (x *Expression) run(scope Scope, b *budget) (value any, err error) {
	e := &evaluation{budget: b, at: unknownPlace, names: make([]any, len(x.names)), locals: make([]any, x.locals)}
	if failed := recoverFailure(&e.at, func() { value = x.compute(e, scope) }); failed != nil {
		return nil, failed.in(x.source)
	}
	return value, nil
}

func (x *Expression) compute(e *evaluation, scope Scope) any {
	e.work(maxOperations)
	e.lookParts(x.parts, scope)
	for i, name := range x.names {
		if _, has := partsOf(scope, name); has && !x.whole[i] {
			continue
		}
		value, ok := scope.Lookup(name)
		if !ok {
			panic(unknownName(name, name, scope))
		}
		e.names[i] = value
	}
	value := plain(x.root(e))
	e.at = unknownPlace
	if e.built {
		measure(value, e.output)
	}
	return value
}
