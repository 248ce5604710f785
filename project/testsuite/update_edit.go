package testsuite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// change replaces the differing parts of a value at a path, as deep in it as possible. ok
// is false if that cannot be done in place.
func (t *text) change(path []any, old, present any) (ok bool) {
	switch present := present.(type) {
	case map[string]any:
		before, is := old.(map[string]any)
		if !is || !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(name string) bool { return has(present, name) }) {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if value, stays := present[name]; !stays && !t.remove(below(path, name)) || stays && !t.change(below(path, name), before[name], value) {
				return false
			}
		}
		for _, name := range inOrder(present) {
			if !has(before, name) && !t.insert(path, name, present[name]) {
				return false
			}
		}
		return true
	case []any:
		before, is := old.([]any)
		if !is || len(before) != len(present) {
			break
		}
		for i := range present {
			if !t.change(below(path, i), before[i], present[i]) {
				return false
			}
		}
		return true
	default:
		if blueprint.EqualValues(old, present) {
			return true
		}
	}
	return t.replace(path, old, present)
}

func has(object map[string]any, name string) bool {
	_, there := object[name]
	return there
}

func (t *text) replace(path []any, old, present any) bool {
	start := t.valueAt(path)
	name, member := path[len(path)-1].(string)
	if !member && old == nil {
		return false // an element that may not be written
	}
	flow := t.inFlow(path)
	key, from := start, start
	if member {
		var ok bool
		key, _ = t.keyAt(path)
		if from, ok = t.colon(key); !ok {
			return false
		}
		if old == nil && start <= key { // an empty value
			start = from
		}
	}
	if flow {
		end := start
		lead := ""
		if start == from && member {
			lead = " "
		} else {
			end = t.end(start, true)
		}
		written, ok := t.flowText(present, t.margin(start), bytes.IndexByte(t.data[start:end], '\n') >= 0)
		t.splice(start, end, lead+written)
		return ok
	}
	indent := t.column(key)
	multiline := t.lineOf(start) != t.lineOf(from) || strings.IndexByte("|>", t.byteAt(start)) >= 0
	if !member {
		_, object := old.(map[string]any)
		_, list := old.([]any)
		multiline = (object || list) && t.byteAt(start) != '{' && t.byteAt(start) != '[' || strings.IndexByte("|>", t.byteAt(start)) >= 0
	}
	end := start
	switch {
	case multiline && member:
		end = t.blockEnd(key, indent, false)
	case multiline:
		end = t.blockEnd(start, indent, true)
	case start != from || !member:
		end = t.end(start, false)
	}
	if multiline {
		end -= len(t.data[:end]) - len(bytes.TrimRight(t.data[:end], "\n"))
	}
	written, lines := blockText(name, present, indent, member)
	switch {
	case !member:
		t.splice(start, end, written)
	case !lines:
		t.splice(from, end, " "+written)
	case multiline:
		t.splice(from, end, "\n"+written)
	default: // keeps a comment after the value on its line
		t.splice(from, end, "")
		t.after(end, written)
	}
	return true
}

func (t *text) after(offset int, lines string) {
	for t.byteAt(offset) != '\n' {
		offset++
	}
	t.splice(offset, offset, "\n"+lines)
}

// insert adds a member to a non-empty object.
func (t *text) insert(path []any, name string, value any) bool {
	start := t.valueAt(path)
	if c := t.byteAt(start); c == '{' {
		end := t.closing(start) - 1
		body := bytes.TrimRight(t.data[:end], " \t\n")
		several := bytes.IndexByte(t.data[start:end], '\n') >= 0
		last := len(body)
		margin := t.margin(last - 1)
		lead := ", "
		if several {
			lead = ",\n" + margin
			if last == start+1 || t.lineOf(last) == t.lineOf(start) {
				lead = ",\n" + margin + "  "
			}
		}
		if c := body[last-1]; c == ',' || c == '{' {
			lead = strings.TrimPrefix(lead, ",")
		}
		if !several && body[last-1] == '{' {
			lead = ""
		}
		written, ok := t.flowText(value, margin, several || t.isJSON)
		t.splice(last, last, lead+t.flowKey(name)+": "+written)
		return ok
	}
	if t.inFlow(path) {
		return false
	}
	indent := t.column(start)
	end := t.blockEnd(start, indent, true)
	written, lines := blockText(name, value, indent, true)
	pad := strings.Repeat(" ", indent) + keyText(name) + ":"
	if lines {
		pad += "\n" + written + "\n"
	} else {
		pad += " " + written + "\n"
	}
	if end > 0 && t.data[end-1] != '\n' {
		pad = "\n" + pad
	}
	t.splice(end, end, pad)
	return true
}

// remove removes a member of an object with others.
func (t *text) remove(path []any) bool {
	key, line := t.keyAt(path)
	if !t.inFlow(path) {
		if len(bytes.TrimSpace(t.data[line:key])) > 0 {
			return false // after the dash of an element
		}
		t.splice(line, t.blockEnd(key, t.column(key), false), "")
		return true
	}
	from, ok := t.colon(key)
	if !ok {
		return false
	}
	end := from
	if at := t.valueAt(path); at > key {
		end = t.end(at, true)
	}
	for next := end; ; next++ {
		switch t.byteAt(next) {
		case ' ', '\t':
			continue
		case '\n':
			if next < len(t.data) {
				continue
			}
		case ',':
			next++
			for strings.IndexByte(" \t\n", t.byteAt(next)) >= 0 && next < len(t.data) {
				next++
			}
			t.splice(key, next, "")
			return true
		}
		break
	}
	before := bytes.TrimRight(t.data[:key], " \t\n")
	if !bytes.HasSuffix(before, []byte(",")) {
		return false
	}
	t.splice(len(before)-1, end, "")
	return true
}

// text edits the bytes of a test file: edits are collected first and then applied. It does
// not use the tree of a YAML library, which formats the whole file: go-yaml loses blank
// lines, \r\n and comments after replaced values, and turns multi-line braces with a
// comment into invalid YAML.
type text struct {
	document *document.Document
	data     []byte // with \n as line ends
	starts   []int  // offsets of the lines
	isJSON   bool
	edits    []splice
}

// splice replaces a range of bytes.
type splice struct {
	from, to int
	with     string
}

func newText(name string, data []byte) (*text, error) {
	d, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	t := &text{document: d, data: data, starts: []int{0}}
	t.isJSON = strings.HasSuffix(name, ".json") || bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
	for i, c := range data {
		if c == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t, nil
}

func (t *text) offset(at document.Position) (offset, line int) {
	line = t.starts[min(max(at.Line, 1), len(t.starts))-1]
	offset = line
	for n := 1; n < at.Column && offset < len(t.data); n++ {
		offset++
		for offset < len(t.data) && t.data[offset]&0xc0 == 0x80 {
			offset++
		}
	}
	return offset, line
}

func (t *text) valueAt(path []any) int {
	offset, _ := t.offset(t.document.At(path))
	return offset
}

func (t *text) keyAt(path []any) (offset, line int) {
	return t.offset(t.document.SpanOf(blueprint.Issue{Path: path, Spot: blueprint.Spot{OnKey: true}}).Start)
}

func (t *text) splice(from, to int, with string) { t.edits = append(t.edits, splice{from, to, with}) }

// done returns the edited text; ok is false if edits overlap.
func (t *text) done() (data []byte, ok bool) {
	slices.SortStableFunc(t.edits, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	at := 0
	var out []byte
	for _, e := range t.edits {
		if e.from < at || e.to < e.from || e.to > len(t.data) {
			return nil, false
		}
		out = append(append(out, t.data[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, t.data[at:]...), true
}

// inFlow reports whether the value at a path is inside braces or brackets.
func (t *text) inFlow(path []any) bool {
	for i := range path {
		if c := t.byteAt(t.valueAt(path[:i])); c == '{' || c == '[' {
			return true
		}
	}
	return t.isJSON
}

func (t *text) byteAt(offset int) byte {
	if offset < 0 || offset >= len(t.data) {
		return '\n'
	}
	return t.data[offset]
}

func (t *text) blanks(offset int) int {
	for c := t.byteAt(offset); c == ' ' || c == '\t'; c = t.byteAt(offset) {
		offset++
	}
	return offset
}

func (t *text) colon(key int) (offset int, ok bool) {
	at := key
	if c := t.byteAt(key); c == '"' || c == '\'' {
		at = t.quoted(key)
	}
	for ; at < len(t.data) && t.data[at] != '\n'; at++ {
		if t.data[at] == ':' && (at > key && (t.data[key] == '"' || t.data[key] == '\'') || strings.IndexByte(" \t\n,{}[]\"'", t.byteAt(at+1)) >= 0) {
			return at + 1, true
		}
	}
	return 0, false
}

// quoted returns the offset after a quoted string.
func (t *text) quoted(from int) int {
	quote := t.data[from]
	for at := from + 1; at < len(t.data); at++ {
		switch {
		case quote == '"' && t.data[at] == '\\':
			at++
		case t.data[at] == quote && quote == '\'' && t.byteAt(at+1) == quote:
			at++
		case t.data[at] == quote:
			return at + 1
		}
	}
	return len(t.data)
}

// end returns the offset after an inline value.
func (t *text) end(from int, flow bool) int {
	switch t.byteAt(from) {
	case '"', '\'':
		return t.quoted(from)
	case '{', '[':
		return t.closing(from)
	}
	at := from
	for ; t.byteAt(at) != '\n'; at++ {
		c := t.data[at]
		if c == '#' && at > from && strings.IndexByte(" \t", t.data[at-1]) >= 0 || flow && strings.IndexByte(",{}[]", c) >= 0 {
			break
		}
	}
	return from + len(bytes.TrimRight(t.data[from:at], " \t"))
}

// closing returns the offset after a value in braces or brackets.
func (t *text) closing(from int) int {
	depth := 0
	before := byte(',') // the last non-blank
	for at := from; at < len(t.data); at++ {
		c := t.data[at]
		switch {
		case strings.IndexByte(" \t\n", c) >= 0:
			continue
		case (c == '"' || c == '\'') && strings.IndexByte("{[,:", before) >= 0:
			at = t.quoted(at) - 1
		case c == '#' && !t.isJSON && strings.IndexByte(" \t\n", t.data[at-1]) >= 0:
			for t.byteAt(at+1) != '\n' {
				at++
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		before = c
	}
	return len(t.data)
}

// blockEnd returns the end of the last non-empty line of a key at an indentation, or with
// siblings of its object.
func (t *text) blockEnd(from, indent int, siblings bool) int {
	end, first := len(t.data), true
	for at := from; at < len(t.data); {
		next := bytes.IndexByte(t.data[at:], '\n')
		if next < 0 {
			next = len(t.data)
		} else {
			next += at + 1
		}
		content := bytes.TrimRight(t.data[at:next], "\n")
		depth := len(content) - len(bytes.TrimLeft(content, " "))
		empty := len(bytes.TrimSpace(content)) == 0
		belongs := first || depth > indent || depth == indent && (siblings || bytes.HasPrefix(content[depth:], []byte("- ")))
		if !empty && !belongs {
			break
		}
		if !empty {
			end = next
		}
		first = false
		at = next
	}
	return end
}

// column returns the number of characters before an offset in its line.
func (t *text) column(offset int) int {
	line := t.lineOf(offset)
	return len([]rune(string(t.data[line:offset])))
}

func (t *text) lineOf(offset int) int {
	i, found := slices.BinarySearch(t.starts, offset)
	if !found {
		i--
	}
	return t.starts[i]
}

func (t *text) margin(offset int) string {
	line := t.lineOf(offset)
	return string(t.data[line:t.blanks(line)])
}

// expectOrder is the order of the members of a written expectation.
var expectOrder = []string{"status", "error", "output", "branches", "steps", "calls"}

// inOrder returns the names of the members of an object: those in expectOrder first, then
// the others sorted.
func inOrder(object map[string]any) []string {
	names := slices.Concat(expectOrder, slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(name string) bool { return slices.Contains(expectOrder, name) }))
	return slices.DeleteFunc(names, func(name string) bool { return !has(object, name) })
}

func keyText(name string) string {
	data, err := document.Marshal([]document.Member{{Name: name, Value: true}}, false)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), ": true\n")
}

// blockText returns a value as block YAML: inline after its key, or as lines with a deeper
// indentation. The lines of a list's element have the same one, except the first.
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
			rest = cmp.Or(rest, `""`)
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
