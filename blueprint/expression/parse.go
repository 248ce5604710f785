package expression

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
	"github.com/expr-lang/expr/parser/operator"
	"github.com/expr-lang/expr/parser/utils"

	"blueprintd/blueprint/expression/ast"
)

// maxNodes is the size of the largest syntax tree.
const maxNodes = 10_000

// parse returns the syntax tree of a source; errors are *file.Error. It reads the same
// language as the parser of the library, which TestParserAgreesWithExpr holds it
// against. That one is not used because it refers to the library's functions, and these
// to methods by name: the linker would have to keep every exported method of the program.
func parse(source string) (root ast.Node, err error) {
	input := file.NewSource(source)
	p := &treeParser{lexer: lexer.New()}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *file.Error:
			root, err = nil, failed.Bind(input)
		default:
			panic(failed)
		}
	}()
	p.lexer.Reset(input)
	p.next()
	root = p.sequence()
	if !p.current.Is(lexer.EOF) {
		p.unexpected()
	}
	return root, nil
}

// treeParser is a recursive descent with precedence. Its methods panic with a *file.Error.
type treeParser struct {
	lexer   *lexer.Lexer
	current lexer.Token
	ahead   *lexer.Token // read already; follows current
	depth   int          // predicates around current
	nodes   int
}

func (p *treeParser) failAt(token lexer.Token, format string, args ...any) {
	panic(&file.Error{Location: token.Location, Message: fmt.Sprintf(format, args...)})
}

func (p *treeParser) fail(format string, args ...any) { p.failAt(p.current, format, args...) }

func (p *treeParser) unexpected() { p.fail("unexpected token %v", p.current) }

// next reads a token.
func (p *treeParser) next() {
	if p.ahead != nil {
		p.current, p.ahead = *p.ahead, nil
		return
	}
	token, err := p.lexer.Next()
	var wrong *file.Error
	switch {
	case err == nil:
		p.current = token
	case errors.Is(err, io.EOF):
		p.fail("unexpected end of expression")
	case errors.As(err, &wrong):
		panic(wrong)
	default:
		p.fail("unknown lexing error")
	}
}

func (p *treeParser) is(kind lexer.Kind, values ...string) bool { return p.current.Is(kind, values...) }

func (p *treeParser) expect(kind lexer.Kind, values ...string) {
	if !p.is(kind, values...) {
		p.unexpected()
	}
	p.next()
}

// skip reads over a token if it is the current one.
func (p *treeParser) skip(kind lexer.Kind, value string) bool {
	found := p.is(kind, value)
	if found {
		p.next()
	}
	return found
}

// node counts a node and sets its place.
func node[T ast.Node](p *treeParser, n T, at file.Location) T {
	if p.nodes++; p.nodes > maxNodes {
		p.fail("compilation failed: expression exceeds maximum allowed nodes")
	}
	n.SetLocation(at)
	return n
}

// sequence reads expressions that are separated by semicolons.
func (p *treeParser) sequence() ast.Node {
	nodes := []ast.Node{p.expression(0)}
	for p.skip(lexer.Operator, ";") && !p.is(lexer.EOF) {
		nodes = append(nodes, p.expression(0))
	}
	if len(nodes) == 1 {
		return nodes[0]
	}
	return node(p, &ast.SequenceNode{Nodes: nodes}, nodes[0].Location())
}

// expression reads an expression whose operators bind at least as tightly as a
// precedence.
func (p *treeParser) expression(precedence int) ast.Node {
	if precedence == 0 && p.is(lexer.Operator, "let") {
		return p.declaration()
	}
	if precedence == 0 && p.is(lexer.Operator, "if") {
		return p.choice()
	}
	left, before := p.primary(), ""
	for p.is(lexer.Operator) {
		negated := p.is(lexer.Operator, "not")
		if negated && !p.negation(precedence) {
			break
		}
		token := p.current
		op, known := operator.Binary[token.Value]
		if !known || op.Precedence < precedence {
			break
		}
		p.next()
		left = p.operation(left, token, op, before)
		if negated {
			left = node(p, &ast.UnaryNode{Operator: "not", Node: left}, token.Location)
		}
		before = token.Value
	}
	if precedence == 0 {
		left = p.ternary(left)
	}
	return left
}

// negation reads the "not" of an operator such as "not in". It reports whether the
// operator binds tightly enough; if not, "not" stays the current token.
func (p *treeParser) negation(precedence int) bool {
	not := p.current
	p.next()
	if !operator.AllowedNegateSuffix(p.current.Value) {
		p.unexpected()
	}
	if op, known := operator.Binary[p.current.Value]; known && op.Precedence >= precedence {
		return true
	}
	ahead := p.current
	p.current, p.ahead = not, &ahead
	return false
}

// operation reads what follows a binary operator. before is the operator to its left.
func (p *treeParser) operation(left ast.Node, token lexer.Token, op operator.Operator, before string) ast.Node {
	switch {
	case token.Value == "|":
		name := p.current
		p.expect(lexer.Identifier)
		return p.call(name, []ast.Node{left})
	case before == "??" && token.Value != "??":
		p.failAt(token, "Operator (%v) and coalesce expressions (??) cannot be mixed. Wrap either by parentheses.", token.Value)
	case operator.IsComparison(token.Value):
		return p.comparison(left, token, op.Precedence)
	}
	tightly := op.Precedence
	if op.Associativity == operator.Left {
		tightly++
	}
	right := p.expression(tightly)
	return node(p, &ast.BinaryNode{Operator: token.Value, Left: left, Right: right}, token.Location)
}

// comparison reads a chain of comparisons: a < b < c is a < b && b < c.
func (p *treeParser) comparison(left ast.Node, token lexer.Token, precedence int) ast.Node {
	var chain ast.Node
	for {
		right := p.expression(precedence + 1)
		one := node(p, &ast.BinaryNode{Operator: token.Value, Left: left, Right: right}, token.Location)
		if chain == nil {
			chain = one
		} else {
			chain = node(p, &ast.BinaryNode{Operator: "&&", Left: chain, Right: one}, token.Location)
		}
		left, token = right, p.current
		if !token.Is(lexer.Operator) || !operator.IsComparison(token.Value) {
			return chain
		}
		p.next()
	}
}

// declaration reads let name = value; rest.
func (p *treeParser) declaration() ast.Node {
	p.next()
	name := p.current
	p.expect(lexer.Identifier)
	p.expect(lexer.Operator, "=")
	value := p.expression(0)
	p.expect(lexer.Operator, ";")
	rest := p.sequence()
	return node(p, &ast.VariableDeclaratorNode{Name: name.Value, Value: value, Expr: rest}, name.Location)
}

// choice reads if condition { } else { }.
func (p *treeParser) choice() ast.Node {
	p.next()
	n := &ast.ConditionalNode{Cond: p.expression(0)}
	n.Exp1 = p.block()
	p.expect(lexer.Operator, "else")
	if p.is(lexer.Operator, "if") {
		n.Exp2 = p.choice()
	} else {
		n.Exp2 = p.block()
	}
	return n
}

func (p *treeParser) block() ast.Node {
	p.expect(lexer.Bracket, "{")
	body := p.sequence()
	p.expect(lexer.Bracket, "}")
	return body
}

// ternary reads condition ? yes : no, and value ?: otherwise.
func (p *treeParser) ternary(condition ast.Node) ast.Node {
	for p.skip(lexer.Operator, "?") {
		yes := condition
		if !p.skip(lexer.Operator, ":") {
			yes = p.expression(0)
			p.expect(lexer.Operator, ":")
		}
		no := p.expression(0)
		condition = node(p, &ast.ConditionalNode{Ternary: true, Cond: condition, Exp1: yes, Exp2: no}, p.current.Location)
	}
	return condition
}

// primary reads a value with what is applied to it.
func (p *treeParser) primary() ast.Node {
	token := p.current
	if op, known := operator.Unary[token.Value]; known && token.Is(lexer.Operator) {
		p.next()
		operand := p.expression(op.Precedence)
		return p.postfix(node(p, &ast.UnaryNode{Operator: token.Value, Node: operand}, token.Location))
	}
	switch {
	case p.skip(lexer.Bracket, "("):
		inner := p.sequence()
		p.expect(lexer.Bracket, ")")
		return p.postfix(inner)
	case p.depth > 0 && token.Is(lexer.Operator, "#", "."):
		name := ""
		if p.skip(lexer.Operator, "#") && p.is(lexer.Identifier) {
			name = p.current.Value
			p.next()
		}
		return p.postfix(node(p, &ast.PointerNode{Name: name}, token.Location))
	case p.skip(lexer.Operator, "::"):
		token = p.current
		p.expect(lexer.Identifier)
		return p.postfix(p.call(token, nil))
	}
	switch token.Kind {
	case lexer.Identifier:
		return p.name()
	case lexer.Number:
		p.next()
		return p.number(token)
	case lexer.String:
		p.next()
		return p.postfix(node(p, &ast.StringNode{Value: token.Value}, token.Location))
	case lexer.Bytes:
		p.next()
		return p.postfix(node(p, &ast.BytesNode{Value: []byte(token.Value)}, token.Location))
	}
	switch {
	case token.Is(lexer.Bracket, "["):
		return p.postfix(p.array())
	case token.Is(lexer.Bracket, "{"):
		return p.postfix(p.object())
	}
	p.unexpected()
	return nil
}

// name reads a constant, a variable or a call.
func (p *treeParser) name() ast.Node {
	token := p.current
	p.next()
	switch token.Value {
	case "true", "false":
		return node(p, &ast.BoolNode{Value: token.Value == "true"}, token.Location)
	case "nil":
		return node(p, &ast.NilNode{}, token.Location)
	}
	if p.is(lexer.Bracket, "(") {
		return p.postfix(p.call(token, nil))
	}
	return p.postfix(node(p, &ast.IdentifierNode{Value: token.Value}, token.Location))
}

// number returns the value of a number, whose token is read already.
func (p *treeParser) number(token lexer.Token) ast.Node {
	text := strings.ReplaceAll(token.Value, "_", "")
	lower, base, kind := strings.ToLower(text), 0, ""
	switch {
	case strings.HasPrefix(lower, "0x"):
		kind = "hex"
	case strings.ContainsAny(lower, ".e"):
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			p.fail("invalid float literal: %v", err)
		}
		return node(p, &ast.FloatNode{Value: value}, token.Location)
	case strings.HasPrefix(lower, "0b"):
		kind = "binary"
	case strings.HasPrefix(lower, "0o"):
		kind = "octal"
	default:
		kind, base = "integer", 10
	}
	value, err := strconv.ParseInt(text, base, 64)
	if err != nil {
		p.fail("invalid %s literal: %v", kind, err)
	}
	if value > math.MaxInt {
		p.fail("integer literal is too large")
	}
	return node(p, &ast.IntegerNode{Value: int(value)}, token.Location)
}

// arity is how many arguments a predicate takes: the list, the body, and others.
var arity = map[string]struct{ least, most int }{
	"all": {2, 2}, "none": {2, 2}, "any": {2, 2}, "one": {2, 2}, "filter": {2, 2}, "map": {2, 2}, "count": {1, 2}, "sum": {1, 2},
	"find": {2, 2}, "findIndex": {2, 2}, "findLast": {2, 2}, "findLastIndex": {2, 2}, "groupBy": {2, 2}, "sortBy": {2, 3}, "reduce": {2, 3},
}

// call reads the arguments of a function; piped are those to the left of a "|".
func (p *treeParser) call(name lexer.Token, piped []ast.Node) ast.Node {
	takes, isPredicate := arity[name.Value]
	if !isPredicate {
		callee := node(p, &ast.IdentifierNode{Value: name.Value}, name.Location)
		return node(p, &ast.CallNode{Callee: callee, Arguments: p.arguments(piped)}, name.Location)
	}
	p.expect(lexer.Bracket, "(")
	given := slices.Clone(piped)
	for len(given) < takes.most && !(len(given) >= takes.least && p.is(lexer.Bracket, ")")) {
		if p.is(lexer.Bracket, ")") {
			p.fail("expected at least %d arguments", takes.most-len(piped))
		}
		if len(given) > len(piped) {
			p.expect(lexer.Operator, ",")
		}
		if len(given) == 1 {
			given = append(given, p.predicate())
		} else {
			given = append(given, p.expression(0))
		}
	}
	p.skip(lexer.Operator, ",")
	p.expect(lexer.Bracket, ")")
	return node(p, &ast.BuiltinNode{Name: name.Value, Arguments: given}, name.Location)
}

// arguments reads the arguments of a function after those that are known.
func (p *treeParser) arguments(known []ast.Node) []ast.Node {
	return append(slices.Clone(known), p.list("(", ")", func() ast.Node { return p.expression(0) })...)
}

// list reads items that are separated by commas; one may follow the last.
func (p *treeParser) list(open, end string, item func() ast.Node) []ast.Node {
	p.expect(lexer.Bracket, open)
	nodes := []ast.Node{}
	for !p.is(lexer.Bracket, end) {
		if len(nodes) > 0 {
			p.expect(lexer.Operator, ",")
			if p.is(lexer.Bracket, end) {
				break
			}
			if p.is(lexer.Operator, ",") {
				p.unexpected()
			}
		}
		nodes = append(nodes, item())
	}
	p.expect(lexer.Bracket, end)
	return nodes
}

// predicate reads the body of a predicate.
func (p *treeParser) predicate() ast.Node {
	start := p.current
	p.depth++
	var body ast.Node
	if p.is(lexer.Bracket, "{") {
		p.next()
		body = p.sequence()
		p.depth--
		p.expect(lexer.Bracket, "}")
	} else {
		body = p.expression(0)
		if p.is(lexer.Operator, ";") {
			p.fail("wrap predicate with brackets { and }")
		}
		p.depth--
	}
	return node(p, &ast.PredicateNode{Node: body}, start.Location)
}

func (p *treeParser) array() ast.Node {
	token := p.current
	nodes := p.list("[", "]", func() ast.Node { return p.expression(0) })
	return node(p, &ast.ArrayNode{Nodes: nodes}, token.Location)
}

func (p *treeParser) object() ast.Node {
	token := p.current
	pairs := p.list("{", "}", func() ast.Node {
		key := p.key()
		p.expect(lexer.Operator, ":")
		value := p.expression(0)
		return node(p, &ast.PairNode{Key: key, Value: value}, token.Location)
	})
	return node(p, &ast.MapNode{Pairs: pairs}, token.Location)
}

// key reads a key of an object: a number, a string, a name, or an expression in
// parentheses.
func (p *treeParser) key() ast.Node {
	switch {
	case p.is(lexer.Number), p.is(lexer.String), p.is(lexer.Identifier):
		key := node(p, &ast.StringNode{Value: p.current.Value}, p.current.Location)
		p.next()
		return key
	case p.is(lexer.Bracket, "("):
		return p.expression(0)
	}
	p.fail("a map key must be a quoted string, a number, a identifier, or an expression enclosed in parentheses (unexpected token %v)", p.current)
	return nil
}

// postfix reads what is applied to a value: members, items, slices and calls.
func (p *treeParser) postfix(value ast.Node) ast.Node {
	for {
		token := p.current
		switch {
		case p.skip(lexer.Operator, "?."):
			if p.is(lexer.Bracket, "[") {
				value = p.item(value, true)
			} else {
				value = p.member(value, true)
			}
		case p.skip(lexer.Operator, "."):
			value = p.member(value, false)
		case token.Is(lexer.Bracket, "["):
			value = p.item(value, false)
		default:
			return value
		}
	}
}

// member reads the name after a dot, and the arguments of a method.
func (p *treeParser) member(value ast.Node, optional bool) ast.Node {
	name := p.current
	p.next()
	// Operators such as "not" and "matches" are valid names.
	if name.Kind != lexer.Identifier && (name.Kind != lexer.Operator || !utils.IsValidIdentifier(name.Value)) {
		p.fail("expected name")
	}
	property := node(p, &ast.StringNode{Value: name.Value}, name.Location)
	chain, isChain := value.(*ast.ChainNode)
	if isChain {
		value = chain.Node
	}
	n := node(p, &ast.MemberNode{Node: value, Property: property, Optional: optional}, name.Location)
	value = n
	if p.is(lexer.Bracket, "(") {
		n.Method = true
		value = node(p, &ast.CallNode{Callee: n, Arguments: p.arguments(nil)}, name.Location)
	}
	if isChain || optional {
		value = node(p, &ast.ChainNode{Node: value}, name.Location)
	}
	return value
}

// item reads [index] or [from:to].
func (p *treeParser) item(value ast.Node, optional bool) ast.Node {
	token := p.current
	p.next()
	var from, to ast.Node
	if !p.is(lexer.Operator, ":") {
		from = p.expression(0)
	}
	if p.skip(lexer.Operator, ":") {
		if !p.is(lexer.Bracket, "]") {
			to = p.expression(0)
		}
		value = node(p, &ast.SliceNode{Node: value, From: from, To: to}, token.Location)
	} else {
		value = node(p, &ast.MemberNode{Node: value, Property: from, Optional: optional}, token.Location)
		if optional {
			value = node(p, &ast.ChainNode{Node: value}, token.Location)
		}
	}
	p.expect(lexer.Bracket, "]")
	return value
}
