// Package ast holds the nodes of the syntax trees of expressions. They are like those of
// the expr library, without what it needs to check and optimize them.
package ast

import "github.com/expr-lang/expr/file"

// Node is a node of a syntax tree.
type Node interface {
	// Location returns where the node is in the source, in characters.
	Location() file.Location
	SetLocation(file.Location)
}

type place struct{ at file.Location }

func (p *place) Location() file.Location      { return p.at }
func (p *place) SetLocation(at file.Location) { p.at = at }

// The constants.
type (
	// NilNode is nil.
	NilNode struct{ place }
	// BoolNode is true or false.
	BoolNode struct {
		place
		Value bool
	}
	// IntegerNode is a whole number.
	IntegerNode struct {
		place
		Value int
	}
	// FloatNode is another number.
	FloatNode struct {
		place
		Value float64
	}
	// StringNode is a string, or the name of a member.
	StringNode struct {
		place
		Value string
	}
	// BytesNode is b"text".
	BytesNode struct {
		place
		Value []byte
	}
)

// What names a value.
type (
	// IdentifierNode is the name of a variable or a function.
	IdentifierNode struct {
		place
		Value string
	}
	// PointerNode is # or #name, the item of a predicate.
	PointerNode struct {
		place
		Name string
	}
	// MemberNode is a.b or a[b].
	MemberNode struct {
		place
		Node, Property Node
		Optional       bool // a?.b
		Method         bool // a.b()
	}
	// SliceNode is a[from:to]; From and To may be nil.
	SliceNode struct {
		place
		Node, From, To Node
	}
	// ChainNode is a chain of members of which one is optional.
	ChainNode struct {
		place
		Node Node
	}
)

// What computes a value.
type (
	// UnaryNode is an operator with one operand.
	UnaryNode struct {
		place
		Operator string
		Node     Node
	}
	// BinaryNode is an operator with two operands.
	BinaryNode struct {
		place
		Operator    string
		Left, Right Node
	}
	// ConditionalNode is a ? b : c, or if a {b} else {c}.
	ConditionalNode struct {
		place
		Ternary          bool
		Cond, Exp1, Exp2 Node
	}
	// CallNode is the call of a function.
	CallNode struct {
		place
		Callee    Node
		Arguments []Node
	}
	// BuiltinNode is the call of a function that takes a predicate.
	BuiltinNode struct {
		place
		Name      string
		Arguments []Node
	}
	// PredicateNode is the body of a predicate.
	PredicateNode struct {
		place
		Node Node
	}
)

// What holds several expressions.
type (
	// VariableDeclaratorNode is let Name = Value; Expr.
	VariableDeclaratorNode struct {
		place
		Name        string
		Value, Expr Node
	}
	// SequenceNode is expressions separated by semicolons.
	SequenceNode struct {
		place
		Nodes []Node
	}
	// ArrayNode is [a, b].
	ArrayNode struct {
		place
		Nodes []Node
	}
	// MapNode is {a: b}; its Pairs are PairNodes.
	MapNode struct {
		place
		Pairs []Node
	}
	// PairNode is a key and its value.
	PairNode struct {
		place
		Key, Value Node
	}
)
