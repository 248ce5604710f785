package expression

import "github.com/expr-lang/expr/ast"

// resultKinds are the functions that always return the same kind of value.
var resultKinds = map[string]any{
	"len": int64(0), "count": int64(0), "sum": int64(0), "indexOf": int64(0), "abs": int64(0), "round": int64(0), "floor": int64(0), "ceil": int64(0), "int": int64(0), "float": int64(0),
	"lower": "", "upper": "", "trim": "", "string": "", "join": "", "replace": "", "toJSON": "",
	"filter": []any{}, "map": []any{}, "keys": []any{}, "values": []any{}, "split": []any{}, "sort": []any{},
}

// Kind returns the kind of the result, such as "a number"; "" when it depends on
// the scope or may be a boolean.
func (x *Expression) Kind() string { return x.kind }

func kindOfNode(node ast.Node) string {
	switch n := node.(type) {
	case *ast.NilNode:
		return KindOf(nil)
	case *ast.IntegerNode, *ast.FloatNode:
		return KindOf(int64(0))
	case *ast.StringNode:
		return KindOf("")
	case *ast.ArrayNode:
		return KindOf([]any{})
	case *ast.MapNode:
		return KindOf(map[string]any{})
	case *ast.IdentifierNode:
		if n.Value == "null" {
			return KindOf(nil)
		}
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return KindOf(int64(0))
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "-", "*", "/", "%", "**", "^":
			return KindOf(int64(0))
		case "+":
			return "a number or a string"
		case "..":
			return KindOf([]any{})
		}
	case *ast.BuiltinNode:
		if sample, known := resultKinds[n.Name]; known {
			return KindOf(sample)
		}
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			if sample, known := resultKinds[callee.Value]; known {
				return KindOf(sample)
			}
		}
	case *ast.ConditionalNode:
		if yes := kindOfNode(n.Exp1); yes == kindOfNode(n.Exp2) {
			return yes
		}
	}
	return ""
}
