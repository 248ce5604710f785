package expression

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Preview evaluates templates and expressions over values as a user sees them, with one
// budget for all of them. It is not safe for concurrent use.
type Preview struct {
	scope  Scope
	mask   string
	room   int
	budget *budget
	search *budget // for the mask
}

// Previewed is the value of one template or expression.
type Previewed struct {
	Value any
	// Masked reports whether Value depends on a masked text, and so may differ from the value
	// in a run. It may be true although only another part of the text's object is masked.
	Masked bool
	// Omitted reports whether Value was left out because it is too large.
	Omitted bool
}

// NewPreview returns a Preview over the values in scope, where mask stands in place of what
// the user may not see. The values that it returns take at most room bytes of JSON together.
func NewPreview(scope Scope, mask string, room int) *Preview {
	return &Preview{scope: scope, mask: mask, room: room, budget: newBudget(), search: newBudget()}
}

// Template returns the value of a template. Errors are those of compiling and resolving it.
func (p *Preview) Template(source string) (Previewed, error) {
	t, err := compileTemplate(source)
	if err != nil {
		return Previewed{}, err
	}
	value, err := t.resolve(p.scope, p.budget, true)
	if err != nil {
		return Previewed{}, t.located(err)
	}
	return p.shown(value, func() bool {
		return slices.ContainsFunc(t.parts, func(of part) bool {
			if of.expression != nil {
				return p.readsMask(of.expression.source)
			}
			if of.path == nil {
				return false
			}
			value, _ := of.path.lookup(p.scope)
			return p.hasMask(value)
		})
	}), nil
}

// located returns an error of one of the template's expressions with its place in the template.
func (t *Template) located(err error) error {
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.template || refused.Path != "" {
		return err
	}
	for _, of := range t.parts {
		if of.expression != nil && of.expression.source == refused.Source {
			return refused.inTemplate(t.source, of.at)
		}
	}
	return err
}

// Expression returns the value of an expression. Errors are those of CompileExpression and
// Expression.Eval.
func (p *Preview) Expression(source string) (Previewed, error) {
	x, err := CompileExpression(source)
	if err != nil {
		return Previewed{}, err
	}
	value, err := x.run(p.scope, p.budget)
	if err != nil {
		return Previewed{}, err
	}
	return p.shown(value, func() bool { return p.readsMask(source) }), nil
}

// Condition returns the value of an expression that must be true or false, and an error with
// CodeNotBoolean beside any other value. Masked and omitted values are not judged, because a
// masked one may differ from that in a run.
func (p *Preview) Condition(source string) (Previewed, error) {
	found, err := p.Expression(source)
	if err != nil || found.Masked || found.Omitted {
		return found, err
	}
	_, err = Boolean(found.Value)
	return found, err
}

// shown returns a value if there is room for it. masked reports whether the value depends on a
// masked one; if the budget of that search is exceeded, the value counts as masked.
func (p *Preview) shown(value any, masked func() bool) (out Previewed) {
	at := unknownPlace
	if recoverFailure(&at, func() { out.Masked = masked() }) != nil {
		out.Masked = true
	}
	left := &budget{text: int64(p.room)}
	if recoverFailure(&at, func() { measure(value, left.output) }) != nil {
		out.Omitted = true
		return out
	}
	p.room, out.Value = int(left.text), value
	return out
}

// readsMask reports whether a value that an expression refers to contains the mask.
func (p *Preview) readsMask(source string) bool {
	tree, err := parser.Parse(source)
	if err != nil {
		return false
	}
	c := chains{inside: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, &c)
	return slices.ContainsFunc(c.found, func(node ast.Node) bool {
		if c.inside[node] {
			return false
		}
		value, _ := p.follow(node)
		return p.hasMask(value)
	})
}

// chains collects the names of an expression with the keys after them.
type chains struct {
	found  []ast.Node
	inside map[ast.Node]bool // those that a longer chain begins with
}

// Visit is called for the parts of a node before the node.
func (c *chains) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.found = append(c.found, n)
	case *ast.MemberNode:
		if step(n) != nil {
			c.found = append(c.found, n)
			c.inside[bare(n.Node)] = true
		}
	}
}

// bare returns what the node of an optional chain contains.
func bare(node ast.Node) ast.Node {
	for {
		chain, ok := node.(*ast.ChainNode)
		if !ok {
			return node
		}
		node = chain.Node
	}
}

// step returns the constant key or index of a member as an operation takes it, or nil.
func step(n *ast.MemberNode) any {
	switch property := n.Property.(type) {
	case *ast.StringNode:
		return property.Value
	case *ast.IntegerNode:
		return property.Value
	}
	return nil
}

// follow returns the value of a chain, as far as its keys exist: below a text it is the text.
func (p *Preview) follow(node ast.Node) (value any, whole bool) {
	switch n := bare(node).(type) {
	case *ast.IdentifierNode:
		return p.scope.Lookup(n.Value)
	case *ast.MemberNode:
		value, whole = p.follow(n.Node)
		if !whole {
			return value, false
		}
		switch key := step(n).(type) {
		case string:
			if object, ok := value.(map[string]any); ok {
				next, has := object[key]
				return next, has
			}
		case int:
			if list, ok := value.([]any); ok {
				if key >= len(list) {
					return nil, false
				}
				return list[key], true
			}
		}
		return value, false
	}
	return nil, false
}

// hasMask reports whether a value contains the mask, in a text or a key.
func (p *Preview) hasMask(value any) bool {
	p.search.work(1)
	switch v := value.(type) {
	case string:
		p.search.scan(len(v))
		return strings.Contains(v, p.mask)
	case []any:
		return slices.ContainsFunc(v, p.hasMask)
	case map[string]any:
		for key, member := range v {
			if p.hasMask(key) || p.hasMask(member) {
				return true
			}
		}
	case json.Number, bool, nil:
	}
	return false
}
