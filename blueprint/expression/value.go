package expression

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// unknownPlace is the place of a failure that belongs to no operation yet.
const unknownPlace = -1

// failure is an error before its source is known. Compiling and evaluating panic
// with it; recoverFailure turns it into a value again.
type failure struct {
	at            int // characters from the start of the source
	path          string
	code, message string
}

// failf returns a failure with CodeExpressionFailed.
func failf(format string, args ...any) *failure {
	return &failure{at: unknownPlace, code: CodeExpressionFailed, message: fmt.Sprintf(format, args...)}
}

// recoverFailure calls f and returns the failure with which it panicked, nil when
// it did not. A failure without a place gets that of at.
func recoverFailure(at *int, f func()) (failed *failure) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		var ok bool
		if failed, ok = reason.(*failure); !ok {
			panic(reason)
		}
		if failed.at == unknownPlace {
			failed.at = *at
		}
	}()
	f()
	return nil
}

// in turns a failure of an evaluation into the Error of a source.
func (f *failure) in(source string) *Error {
	e := &Error{Source: source, Path: f.path, Message: f.message, Code: f.code}
	if f.at >= 0 {
		e.Line, e.Column = place(source, byteOffset(source, f.at))
	}
	return e
}

// Boolean returns the value of a condition. For a value other than true and false it returns
// an *Error with CodeNotBoolean and without a source.
func Boolean(value any) (bool, error) {
	answer, ok := value.(bool)
	if !ok {
		return false, &Error{Message: "must be true or false, and is " + KindOf(value), Code: CodeNotBoolean}
	}
	return answer, nil
}

// KindOf names the kind of a value for messages.
func KindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number, int, int64, float64:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprintf("a Go %T", value)
	}
}

// textOf returns a value as text inside other text. Only objects and arrays cost anything.
func (b *budget) textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(v)
	default:
		return b.jsonOf(value)
	}
}

func (b *budget) jsonOf(value any) string {
	// The encoder's buffer doubles, is copied twice, and keys are sorted in a list.
	measure(plain(value), func(n int) {
		b.memory(8 * n)
		b.work(1 + n/4)
	})
	data, err := blueprint.Encode(plain(value))
	if err != nil {
		panic(failf("the value cannot be written as JSON"))
	}
	return string(data)
}

// plain converts a computed number to json.Number. Only intermediate results have Go types.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		return json.Number(formatFloat(v))
	default:
		return value
	}
}

// keyOf returns a string, or the digits of a number, as an object key.
func keyOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case int, int64, float64:
		return string(plain(v).(json.Number)), true
	default:
		return "", false
	}
}

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
