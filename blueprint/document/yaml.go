package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"blueprintd/blueprint"
)

func (d *Document) parseYAML(data []byte) (any, *SyntaxError) {
	if offset := crowded(data); offset >= 0 {
		return nil, &SyntaxError{Position: newLines(data).at(offset), Message: fmt.Sprintf("the file has more than %d values", MaxValues)}
	}
	tokens := lexer.Tokenize(string(data))
	if err := bounded(tokens); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		out := &SyntaxError{Position: Position{1, 1}}
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			out.Message = syntax.GetMessage() // Error would format the file, in quadratic time
			if at := syntax.GetToken(); at != nil && at.Position != nil {
				out.Position = Position{at.Position.Line, at.Position.Column}
			}
		} else {
			out.Message = strings.SplitN(err.Error(), "\n", 2)[0]
		}
		return nil, d.source.explain(out)
	}
	var body ast.Node
	for _, document := range parsed.Docs {
		if document.Body == nil {
			continue
		}
		if body != nil {
			return nil, &SyntaxError{Position: position(document.Body), Message: "a second document in one file; write one file for each blueprint"}
		}
		body = document.Body
	}
	if body == nil {
		return nil, &SyntaxError{Position: Position{1, 1}, Message: "the file is empty"}
	}
	d.root.at, _ = valuePosition(body)
	if d.root.at == (Position{}) {
		d.root.at = Position{1, 1}
	}
	w := &yamlWalk{anchors: map[string]anchor{}}
	return w.value(body, &d.root, 0)
}

type yamlWalk struct {
	anchors map[string]anchor
	count   int  // values so far
	aliased int  // of which added by aliases
	inside  bool // within the target of an alias
}

// anchor is the target of aliases.
type anchor struct {
	node ast.Node
	size int // in values, including those of aliases
}

func position(node ast.Node) Position {
	// The token of a block mapping is its first colon; the key is clearer.
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return position(n.Values[0])
		}
	case *ast.MappingValueNode:
		return position(n.Key)
	}
	if t := node.GetToken(); t != nil && t.Position != nil {
		return Position{t.Position.Line, t.Position.Column}
	}
	return Position{1, 1}
}

// valuePosition returns the position of a value without its anchor and tag; given is
// false for an empty value.
func valuePosition(node ast.Node) (at Position, given bool) {
	switch n := node.(type) {
	case *ast.AnchorNode:
		return valuePosition(n.Value)
	case *ast.TagNode:
		if n.Value != nil {
			return valuePosition(n.Value)
		}
	case *ast.NullNode:
		return position(n), n.GetToken() != nil && n.GetToken().Type == token.NullType
	case nil:
		return Position{}, false
	}
	return position(node), true
}

// written returns the length of a name with its quotes in characters, 0 if unknown.
func written(node ast.Node) int {
	t := node.GetToken()
	text := strings.TrimSpace(t.Origin)
	if t.Type == token.StringType && text != t.Value || strings.Contains(text, "\n") {
		return 0
	}
	return utf8.RuneCountInString(text)
}

func wrong(node ast.Node, format string, args ...any) *SyntaxError {
	return &SyntaxError{Position: position(node), Message: fmt.Sprintf(format, args...)}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// value converts a value and records positions. level counts the enclosing collections.
func (w *yamlWalk) value(node ast.Node, here *place, level int) (any, *SyntaxError) {
	if w.count++; w.count > MaxValues {
		return nil, wrong(node, "the file has more than %d values", MaxValues)
	}
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		here.text = position(node)
	}
	switch n := node.(type) {
	case *ast.NullNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.StringNode:
		if n.Token.Type == token.StringType && jsonNumber.MatchString(n.Value) {
			return json.Number(n.Value), nil // too large for the parser's float64
		}
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		text := strings.ReplaceAll(n.GetToken().Value, "_", "")
		if jsonNumber.MatchString(text) {
			return json.Number(text), nil
		}
		// 0x1F, 0o17, +1, .5 are numbers in YAML but not in JSON.
		return w.number(n)
	case *ast.InfinityNode, *ast.NanNode:
		return nil, wrong(node, "is not a JSON number")
	case *ast.AnchorNode:
		before := w.count
		value, err := w.value(n.Value, here, level)
		w.anchors[n.Name.GetToken().Value] = anchor{n.Value, w.count - before}
		return value, err
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := w.anchors[name]
		if !ok {
			return nil, wrong(node, "this alias (*name) has no anchor; a text that begins with * needs quotes") // it may be a secret
		}
		if w.inside { // counted with the enclosing alias
			return w.value(target.node, here, level)
		}
		if w.aliased += target.size; w.aliased > MaxAliased {
			return nil, wrong(node, "the file's aliases add more than %d values", MaxAliased)
		}
		w.inside = true
		value, err := w.value(target.node, here, level)
		w.inside = false
		return value, err
	case *ast.TagNode:
		return w.tagged(n, here, level)
	case *ast.MappingNode:
		return w.mapping(n, n.Values, here, level)
	case *ast.MappingValueNode:
		return w.mapping(n, []*ast.MappingValueNode{n}, here, level)
	case *ast.SequenceNode:
		if level >= blueprint.MaxDepth {
			return nil, tooDeep(position(node))
		}
		list := make([]any, 0, len(n.Values))
		for _, element := range n.Values {
			at, given := valuePosition(element)
			if !given {
				at = position(element)
			}
			value, err := w.value(element, here.element(at), level+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return nil, wrong(node, "%s is not supported here", strings.ToLower(node.Type().String()))
}

func (w *yamlWalk) number(node ast.Node) (any, *SyntaxError) {
	scalar, ok := node.(ast.ScalarNode)
	if !ok {
		return nil, wrong(node, "is not a number")
	}
	data, err := json.Marshal(scalar.GetValue())
	if err != nil {
		return nil, wrong(node, "is not a JSON number")
	}
	return json.Number(data), nil
}

func (w *yamlWalk) tagged(n *ast.TagNode, here *place, level int) (any, *SyntaxError) {
	switch n.Start.Value {
	case string(token.StringTag):
		if scalar, ok := n.Value.(ast.ScalarNode); ok {
			return scalar.GetToken().Value, nil
		}
	case string(token.IntegerTag), string(token.FloatTag), string(token.BooleanTag), string(token.NullTag), string(token.MappingTag), string(token.SequenceTag):
		return w.value(n.Value, here, level)
	}
	return nil, wrong(n, "this tag (!name) is not supported; a text that begins with ! needs quotes") // it may be a secret
}

func (w *yamlWalk) mapping(node ast.Node, values []*ast.MappingValueNode, here *place, level int) (any, *SyntaxError) {
	if level >= blueprint.MaxDepth {
		return nil, tooDeep(position(node))
	}
	object := make(map[string]any, len(values))
	var merges []*ast.MappingValueNode
	for _, member := range values {
		if _, merge := member.Key.(*ast.MergeKeyNode); merge {
			merges = append(merges, member)
			continue
		}
		name := member.Key.GetToken().Value
		if _, twice := object[name]; twice {
			return nil, wrong(member.Key, "duplicate key %q", name)
		}
		below := here.member(name, position(member.Key))
		below.keyName = written(member.Key)
		if at, given := valuePosition(member.Value); given {
			below.at = at
		}
		value, err := w.value(member.Value, below, level+1)
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	for _, member := range merges { // last, because own members have precedence
		if err := w.merge(object, member, here, level); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// merge adds the members of the objects named by << that object does not have.
func (w *yamlWalk) merge(object map[string]any, member *ast.MappingValueNode, here *place, level int) *SyntaxError {
	var from place
	value, err := w.value(member.Value, &from, level)
	if err != nil {
		return err
	}
	list, places := []any{value}, []*place{&from}
	if several, ok := value.([]any); ok {
		list, places = several, from.elements
	}
	for i, value := range list {
		merged, ok := value.(map[string]any)
		if !ok {
			return wrong(member.Value, "<< needs an object")
		}
		for name, value := range merged {
			if _, own := object[name]; !own {
				object[name] = value
				*here.member(name, Position{}) = *places[i].members[name]
			}
		}
	}
	return nil
}
