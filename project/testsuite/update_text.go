package testsuite

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

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

// offset returns the offset of a position and of its line.
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

// valueAt returns the offset of the value at a path.
func (t *text) valueAt(path []any) int {
	offset, _ := t.offset(t.document.At(path))
	return offset
}

// keyAt returns the offset of the key at a path and of its line.
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

// blanks returns the offset after blanks.
func (t *text) blanks(offset int) int {
	for c := t.byteAt(offset); c == ' ' || c == '\t'; c = t.byteAt(offset) {
		offset++
	}
	return offset
}

// colon returns the offset after the colon of a key.
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

// margin returns the indentation of the line of an offset.
func (t *text) margin(offset int) string {
	line := t.lineOf(offset)
	return string(t.data[line:t.blanks(line)])
}
