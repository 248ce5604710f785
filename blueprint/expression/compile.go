package expression

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// compiler turns a syntax tree into operations. It rejects unknown kinds of nodes,
// so an update of the parser adds no features by itself.
type compiler struct {
	count   int             // operations so far
	names   map[string]*int // top-level names and where evaluations will hold them
	whole   map[string]bool // names used other than by a constant key
	parts   []member
	uses    []use
	used    map[used]bool
	behind  string // the key after nodes.<id>, compiled next
	visible []local
	slots   int // of let variables
	depth   int // predicates around the node
	at      int // of the node, in characters from the start
}

type local struct {
	name string
	slot int
}

// compile compiles a node. The parser lets two parents share a node (a < b < c,
// a ?: b), so a small source can stand for an exponentially large tree: nodes
// count each time they are met.
func (c *compiler) compile(node ast.Node) operation {
	if node == nil {
		panic(failf("the expression is incomplete"))
	}
	around, at := c.at, node.Location().From
	c.at = at // stays there when dispatch panics
	if c.count++; c.count > maxOperations {
		panic(failf("more than %d operations; use a code node", maxOperations))
	}
	compiled := c.dispatch(node, at)
	c.at = around
	return compiled
}

func (c *compiler) dispatch(node ast.Node, at int) operation {
	switch n := node.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(int64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.ChainNode: // every access is optional already
		return c.compile(n.Node)
	case *ast.MemberNode:
		return c.member(n, at)
	case *ast.SliceNode:
		return c.slice(n, at)
	case *ast.UnaryNode:
		return c.unary(n, at)
	case *ast.BinaryNode:
		return c.binary(n, at)
	case *ast.ConditionalNode:
		return c.conditional(n, at)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.SequenceNode:
		return c.sequence(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.object(n)
	case *ast.PredicateNode:
		return c.compile(n.Node)
	case *ast.BuiltinNode:
		if _, ok := predicates[n.Name]; ok {
			return c.predicate(n, at)
		}
		return c.call(n.Name, n.Arguments, at)
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			panic(failf("values have no methods; write filter(list, ...) or list | filter(...)"))
		}
		return c.call(callee.Value, n.Arguments, at)
	default:
		panic(failf("this is not supported here"))
	}
}

func constant(value any) operation {
	return func(*evaluation) any { return value }
}

func (c *compiler) identifier(n *ast.IdentifierNode) operation {
	if slot, ok := c.localSlot(n.Value); ok {
		return func(e *evaluation) any { return e.locals[slot] }
	}
	switch n.Value {
	case "null":
		return constant(nil)
	case "$env":
		panic(failf("$env does not exist here; write the name itself"))
	}
	c.whole[n.Value] = true
	c.use(n.Value, "", n.Location().From)
	return c.topLevel(n.Value)
}

func (c *compiler) localSlot(name string) (slot int, ok bool) {
	for i := len(c.visible) - 1; i >= 0; i-- {
		if c.visible[i].name == name {
			return c.visible[i].slot, true
		}
	}
	return 0, false
}

func (c *compiler) topLevel(name string) operation {
	position, ok := c.names[name]
	if !ok {
		position = new(int)
		c.names[name] = position
	}
	return func(e *evaluation) any { return e.names[*position] }
}

func (c *compiler) pointer(n *ast.PointerNode) operation {
	if c.depth == 0 {
		panic(failf("# is only defined inside a predicate"))
	}
	level := c.depth - 1
	switch n.Name {
	case "":
		return func(e *evaluation) any { return e.frames[level].item }
	case "index":
		return func(e *evaluation) any { return int64(e.frames[level].index) }
	default:
		panic(failf("#%s does not exist; there are # and #index", n.Name))
	}
}

func (c *compiler) conditional(n *ast.ConditionalNode, at int) operation {
	parts := c.all(n.Cond, n.Exp1, n.Exp2)
	return func(e *evaluation) any {
		if e.boolean(parts[0], at, "the condition") {
			return parts[1](e)
		}
		return parts[2](e)
	}
}

// boolean evaluates a condition; what names it in the error.
func (e *evaluation) boolean(run operation, at int, what string) bool {
	value := run(e)
	answer, ok := value.(bool)
	if !ok {
		e.at = at
		panic(failf("%s must be true or false, not %s", what, KindOf(value)))
	}
	return answer
}

func (c *compiler) let(n *ast.VariableDeclaratorNode) operation {
	value := c.compile(n.Value)
	for _, known := range c.visible {
		if known.name == n.Name {
			panic(failf("%s is declared twice", n.Name))
		}
	}
	slot := c.slots
	c.slots++
	c.visible = append(c.visible, local{n.Name, slot})
	body := c.compile(n.Expr)
	c.visible = c.visible[:len(c.visible)-1]
	return func(e *evaluation) any {
		e.locals[slot] = value(e)
		return body(e)
	}
}

func (c *compiler) sequence(n *ast.SequenceNode) operation {
	parts := c.all(n.Nodes...)
	return func(e *evaluation) (last any) {
		for _, part := range parts {
			last = part(e)
		}
		return last
	}
}

func (c *compiler) all(nodes ...ast.Node) []operation {
	parts := make([]operation, len(nodes))
	for i, node := range nodes {
		parts[i] = c.compile(node)
	}
	return parts
}

func (c *compiler) call(name string, nodes []ast.Node, at int) operation {
	f, ok := functions[name]
	if !ok {
		if clock[name] {
			panic(failf("%s() does not exist here; the name now holds the time", name))
		}
		panic(failf("no such function %q%s %s", blueprint.Shorten(name, hintLength), blueprint.DidYouMean(blueprint.Shorten(name, hintLength), functionNames), known(name, functionNames)))
	}
	if len(nodes) < f.least || len(nodes) > f.most {
		panic(failf("%s takes %s, not %d", name, f.arity(), len(nodes)))
	}
	parts := c.all(nodes...)
	return func(e *evaluation) any {
		arguments := make([]any, len(parts))
		for i, part := range parts {
			arguments[i] = part(e)
		}
		e.at = at
		return f.run(&invocation{evaluation: e, name: name, arguments: arguments})
	}
}

// clock lists the functions of expr that read the clock or return time values.
var clock = map[string]bool{"now": true, "date": true, "duration": true, "timezone": true}

// arity returns the accepted number of arguments for a message.
func (f function) arity() string {
	switch {
	case f.most == f.least && f.least == 1:
		return "1 argument"
	case f.most == f.least:
		return fmt.Sprintf("%d arguments", f.least)
	case f.most >= maxOperations:
		return fmt.Sprintf("at least %d arguments", f.least)
	default:
		return fmt.Sprintf("%d to %d arguments", f.least, f.most)
	}
}
