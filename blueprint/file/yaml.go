package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"blueprintd/blueprint"
)

// maxYAMLNodes bounds what aliases may multiply a file into.
const maxYAMLNodes = 1_000_000

func (d *Document) parseYAML(data []byte) (any, *SyntaxError) {
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		out := &SyntaxError{Position: Position{1, 1}, Message: strings.SplitN(err.Error(), "\n", 2)[0]}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			out.Message = syntax.GetMessage()
			if at := syntax.GetToken(); at != nil && at.Position != nil {
				out.Position = Position{at.Position.Line, at.Position.Column}
			}
		}
		return nil, out
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
	w := &yamlWalk{document: d, anchors: map[string]ast.Node{}, left: maxYAMLNodes}
	value, failure := w.value(body, nil, 0)
	if failure != nil {
		return nil, failure
	}
	return value, nil
}

type yamlWalk struct {
	document *Document
	anchors  map[string]ast.Node
	left     int
}

func position(node ast.Node) Position {
	// The token of a block mapping is its first colon; people look at the key.
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

func wrong(node ast.Node, format string, args ...any) *SyntaxError {
	return &SyntaxError{Position: position(node), Message: fmt.Sprintf(format, args...)}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func (w *yamlWalk) value(node ast.Node, path []any, level int) (any, *SyntaxError) {
	if w.left--; w.left < 0 {
		return nil, wrong(node, "the file's aliases make it too large")
	}
	if level > blueprint.MaxDepth {
		return nil, wrong(node, "nested deeper than %d levels", blueprint.MaxDepth)
	}
	if _, known := w.document.positions[key(path)]; !known {
		w.document.mark(path, position(node))
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
		// 0x1F, 0o17, +1, .5 and their like mean a number to YAML but not to JSON.
		return w.number(n)
	case *ast.InfinityNode, *ast.NanNode:
		return nil, wrong(node, "is no number that JSON can hold")
	case *ast.AnchorNode:
		w.anchors[n.Name.GetToken().Value] = n.Value
		return w.value(n.Value, path, level)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := w.anchors[name]
		if !ok {
			return nil, wrong(node, "no anchor is named %q above", name)
		}
		return w.value(target, path, level+1)
	case *ast.TagNode:
		return w.tagged(n, path, level)
	case *ast.MappingNode:
		return w.mapping(n.Values, path, level)
	case *ast.MappingValueNode:
		return w.mapping([]*ast.MappingValueNode{n}, path, level)
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for i, element := range n.Values {
			value, err := w.value(element, append(path[:len(path):len(path)], i), level+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return nil, wrong(node, "%s cannot stand here", strings.ToLower(node.Type().String()))
}

func (w *yamlWalk) number(node ast.Node) (any, *SyntaxError) {
	scalar, ok := node.(ast.ScalarNode)
	if !ok {
		return nil, wrong(node, "is no number")
	}
	data, err := json.Marshal(scalar.GetValue())
	if err != nil {
		return nil, wrong(node, "is no number that JSON can hold")
	}
	return json.Number(data), nil
}

func (w *yamlWalk) tagged(n *ast.TagNode, path []any, level int) (any, *SyntaxError) {
	switch n.Start.Value {
	case string(token.StringTag):
		if scalar, ok := n.Value.(ast.ScalarNode); ok {
			return scalar.GetToken().Value, nil
		}
	case string(token.IntegerTag), string(token.FloatTag), string(token.BooleanTag), string(token.NullTag), string(token.MappingTag), string(token.SequenceTag):
		return w.value(n.Value, path, level)
	}
	return nil, wrong(n, "the tag %s is not supported", n.Start.Value)
}

func (w *yamlWalk) mapping(values []*ast.MappingValueNode, path []any, level int) (any, *SyntaxError) {
	object := make(map[string]any, len(values))
	for _, member := range values {
		if _, merge := member.Key.(*ast.MergeKeyNode); merge {
			merged, err := w.value(member.Value, path, level+1)
			if err != nil {
				return nil, err
			}
			from, ok := merged.(map[string]any)
			if !ok {
				return nil, wrong(member.Value, "<< needs an object")
			}
			for name, value := range from {
				if _, own := object[name]; !own {
					object[name] = value
				}
			}
			continue
		}
		name := member.Key.GetToken().Value
		if _, twice := object[name]; twice {
			return nil, wrong(member.Key, "%q stands here twice", name)
		}
		below := append(path[:len(path):len(path)], name)
		w.document.mark(below, position(member.Key))
		value, err := w.value(member.Value, below, level+1)
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	return object, nil
}
