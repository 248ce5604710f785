package testsuite

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// expectOrder is the order of the members of a written expectation.
var expectOrder = []string{"status", "error", "output", "branches", "steps", "calls"}

// inOrder returns the names of the members of an object: those in expectOrder first, then
// the others sorted.
func inOrder(object map[string]any) []string {
	names := slices.Concat(expectOrder, slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(name string) bool { return slices.Contains(expectOrder, name) }))
	return slices.DeleteFunc(names, func(name string) bool { return !has(object, name) })
}

// keyText returns a key as YAML.
func keyText(name string) string {
	data, err := document.Marshal([]document.Member{{Name: name, Value: true}}, false)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), ": true\n")
}

// blockText returns a value as block YAML: inline after its key, or as lines with a deeper
// indentation. The lines of an element of a list have the same indentation, and the
// first one has none.
func blockText(name string, value any, indent int, member bool) (written string, lines bool) {
	var members []document.Member
	object, isObject := value.(map[string]any)
	whole := isObject && name == "expect" && len(object) > 0
	if whole {
		for _, name := range inOrder(object) {
			members = append(members, document.Member{Name: name, Value: object[name]})
		}
	} else {
		members = []document.Member{{Name: "x", Value: value}}
	}
	data, err := document.Marshal(members, false)
	if err != nil {
		return "", false
	}
	out := strings.TrimRight(string(data), "\n")
	if !whole {
		out = strings.TrimPrefix(out, "x:")
		if rest, inline := strings.CutPrefix(out, " "); inline {
			if rest == "" {
				rest = `""`
			}
			return strings.ReplaceAll(rest, "\n", "\n"+strings.Repeat(" ", max(0, indent))), false
		}
		out = strings.TrimPrefix(strings.ReplaceAll(out, "\n  ", "\n"), "\n")
	}
	pad := strings.Repeat(" ", indent)
	if member {
		return pad + "  " + strings.ReplaceAll(out, "\n", "\n"+pad+"  "), true
	}
	return strings.ReplaceAll(out, "\n", "\n"+pad), true
}

// maxFlowLine is the length of the longest inline value in braces.
const maxFlowLine = 120

// flowText returns a value for use in braces: multi-line JSON, or flow YAML in one line.
// ok is false if the line is too long.
func (t *text) flowText(value any, margin string, several bool) (written string, ok bool) {
	if !t.isJSON && !several {
		written = flowValue(value)
		return written, len(written) <= maxFlowLine
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return "", false
	}
	if object, is := value.(map[string]any); is {
		data = encodeInOrder(object)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, margin, "  "); err != nil {
		return "", false
	}
	return out.String(), true
}

// encodeInOrder returns an object as JSON with its members as in inOrder.
func encodeInOrder(object map[string]any) []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, name := range inOrder(object) {
		if i > 0 {
			out.WriteByte(',')
		}
		key, _ := blueprint.Encode(name)
		value, _ := blueprint.Encode(object[name])
		out.Write(append(append(key, ':'), value...))
	}
	out.WriteByte('}')
	return out.Bytes()
}

func (t *text) flowKey(name string) string {
	if t.isJSON {
		data, _ := blueprint.Encode(name)
		return string(data)
	}
	return flowScalar(name, keyText(name))
}

func flowValue(value any) string {
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range inOrder(v) {
			parts = append(parts, flowScalar(name, keyText(name))+": "+flowValue(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, element := range v {
			parts = append(parts, flowValue(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	written, _ := blockText("", value, 0, true)
	return flowScalar(value, written)
}

// flowScalar returns a scalar as written, or as JSON if that is not allowed in braces.
func flowScalar(value any, written string) string {
	if strings.HasPrefix(written, `"`) || !strings.ContainsAny(written, ",[]{}\n|") {
		return written
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return "null"
	}
	return string(data)
}
