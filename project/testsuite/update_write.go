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

// expectOrder is the order in which an expectation is written.
var expectOrder = []string{"status", "error", "output", "branches", "steps", "calls"}

// inOrder returns the members of an object: those of an expectation in their order,
// the others behind.
func inOrder(object map[string]any) []string {
	var names []string
	for _, name := range expectOrder {
		if has(object, name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// keyText writes the name of a member as YAML.
func keyText(name string) string {
	data, err := document.Marshal([]document.Member{{Name: name, Value: true}}, false)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), ": true\n")
}

// blockText writes a value as YAML in lines: what stands behind the key, or lines
// of their own that are deeper than an indentation. As an element of a list it
// has the indentation itself, and the first line none.
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

// flowLine is how long a value may be that is written into a line with others.
const flowLine = 120

// flowText writes a value for braces: as JSON over several lines, or in the way
// of YAML on one. ok is false for what would make a line too long to read.
func (t *text) flowText(value any, margin string, several bool) (written string, ok bool) {
	if !t.isJSON && !several {
		written = flowValue(value)
		return written, len(written) <= flowLine
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

// encodeInOrder writes an object with the members of an expectation in their order.
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

// flowScalar returns a scalar as it is written elsewhere when that can stand in
// braces, and as JSON otherwise.
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
