package document

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Position is a place in a text. Line and column count from 1, columns in characters.
// The zero Position is unknown.
type Position struct{ Line, Column int }

// Span is a part of a line. End is exclusive; zero = unknown, or on another line.
type Span struct{ Start, End Position }

// place is the position of a value and of the values in it.
type place struct {
	key      Position // of its name, for the members of an object
	keyName  int      // characters of the name, with its quotes; 0 = unknown
	at       Position // of the value, or of the name if there is none
	text     Position // of the text of a string or number; else zero
	members  map[string]*place
	elements []*place
}

func (p *place) member(name string, at Position) *place {
	if p.members == nil {
		p.members = map[string]*place{}
	}
	made := &place{key: at, at: at}
	p.members[name] = made
	return made
}

func (p *place) element(at Position) *place {
	made := &place{at: at}
	p.elements = append(p.elements, made)
	return made
}

// find returns the place of the value at a path and the value, or those of the nearest
// enclosing value in the text.
func (d *Document) find(path []any) (here *place, value any, whole bool) {
	here, value = &d.root, d.Value
	for _, part := range path {
		var below *place
		var inside any
		switch part := part.(type) {
		case string:
			below = here.members[part]
			object, _ := value.(map[string]any)
			inside = object[part]
		case int:
			list, _ := value.([]any)
			if part >= 0 && part < len(here.elements) && part < len(list) {
				below, inside = here.elements[part], list[part]
			}
		}
		if below == nil {
			return here, value, false
		}
		here, value = below, inside
	}
	return here, value, true
}

// At returns the position of the value at a path, or of the nearest enclosing value in
// the text. That of an empty value is the position of its name.
func (d *Document) At(path []any) Position {
	here, _, _ := d.find(path)
	return d.source.clamp(here.at)
}

// SpanOf returns the span of an issue: a value, a name, or a part of a string.
func (d *Document) SpanOf(issue blueprint.Issue) Span {
	span := d.spanOf(issue)
	span.Start = d.source.clamp(span.Start)
	return span
}

func (d *Document) spanOf(issue blueprint.Issue) Span {
	here, value, whole := d.find(issue.Path)
	spot := issue.Spot
	switch {
	case !whole: // a missing value
		return Span{Start: here.at}
	case spot.OnKey && here.key != Position{}:
		return d.within(here.key, here.keyName)
	case spot.Line > 0:
		if text, ok := value.(string); ok {
			if span, ok := d.spot(here, text, spot); ok {
				return span
			}
		}
	}
	return d.valueSpan(here, value)
}

// within returns the span of length characters at a position.
func (d *Document) within(at Position, length int) Span {
	if length <= 0 {
		return Span{Start: at}
	}
	return Span{Start: at, End: Position{at.Line, at.Column + length}}
}

// spot returns the span of a part of the string text at here.
func (d *Document) spot(here *place, text string, spot blueprint.Spot) (Span, bool) {
	from, ok := d.source.offset(here.text)
	if !ok {
		return Span{}, false
	}
	begin := offsetIn(text, spot.Line, spot.Column)
	t := newTrace(d.source.data, from)
	offset, ok := t.reach(text, begin)
	if !ok {
		return Span{}, false
	}
	span := Span{Start: d.source.position(offset)}
	if spot.Length <= 0 {
		return span, true
	}
	end := begin
	for range spot.Length {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	// The end is after its last character, because the next one may be on another line.
	_, last := utf8.DecodeLastRuneInString(text[begin:end])
	if _, ok = t.reach(text, end-last); ok {
		t.next()
		if to := d.source.position(t.at); to.Line == span.Start.Line && to.Column > span.Start.Column {
			span.End = to
		}
	}
	return span, true
}

// offsetIn returns the offset of a line and column in text, both from 1.
func offsetIn(text string, line, column int) int {
	offset := 0
	for ; line > 1; line-- {
		end := strings.IndexByte(text[offset:], '\n')
		if end < 0 {
			return len(text)
		}
		offset += end + 1
	}
	for ; column > 1 && offset < len(text); column-- {
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}
	return offset
}

func (d *Document) valueSpan(here *place, value any) Span {
	span := Span{Start: here.at}
	if here.text != here.at { // an object, an array or an alias
		return span
	}
	from, ok := d.source.offset(here.text)
	if !ok {
		return span
	}
	switch v := value.(type) {
	case string:
		t := newTrace(d.source.data, from)
		if offset, ok := t.reach(v, len(v)); ok {
			if offset, ok = t.close(offset); ok {
				if end := d.source.position(offset); end.Line == span.Start.Line && end.Column > span.Start.Column {
					span.End = end
				}
			}
		}
	case json.Number, bool:
		rest := d.source.data[from:]
		for i, c := range rest {
			if i == len(rest)-1 && strings.IndexByte(" \t\r\n,]}#", c) < 0 {
				i = len(rest)
			} else if strings.IndexByte(" \t\r\n,]}#", c) < 0 {
				continue
			}
			return d.within(here.at, i)
		}
	}
	return span
}

// trace finds the offsets of a string's characters in the file, where the string is
// quoted, plain or a block. It skips white space in both, so that folding and indentation
// do not matter; the offset of white space is that of the next other character.
type trace struct {
	data  []byte
	at    int // offset of the next character
	quote byte
	read  int // bytes of the string that were found
	ended int // end of the last found character
}

func newTrace(data []byte, at int) *trace {
	t := &trace{data: data, at: at, ended: at}
	if at >= len(data) {
		return t
	}
	switch c := data[at]; c {
	case '"', '\'':
		t.quote = c
		t.at++
	case '|', '>': // skip the rest of the header
		for t.at < len(data) && data[t.at] != '\n' {
			t.at++
		}
	}
	t.ended = t.at
	return t
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// reach returns the offset in the file of an offset in text, which must not be less than
// that of the previous call. The end of text is the end of its last character.
func (t *trace) reach(text string, offset int) (int, bool) {
	for t.read < len(text) {
		want, size := utf8.DecodeRuneInString(text[t.read:])
		if blank(want) {
			t.read += size
			continue
		}
		before := t.at
		got, start, ok := t.next()
		for ok && blank(got) {
			before = t.at
			got, start, ok = t.next()
		}
		if !ok || got != want {
			return 0, false
		}
		if t.read >= offset {
			t.at = before
			return start, true
		}
		t.read += size
		t.ended = t.at
	}
	return t.ended, true
}

// close returns the offset after the closing quote, if any, of a string ending at offset.
func (t *trace) close(offset int) (int, bool) {
	if t.quote == 0 {
		return offset, true
	}
	t.at = offset
	for t.at < len(t.data) {
		if t.data[t.at] == t.quote {
			return t.at + 1, true
		}
		if got, _, ok := t.next(); !ok || !blank(got) {
			return 0, false
		}
	}
	return 0, false
}

// next decodes one character at start. An escaped line break counts as white space.
func (t *trace) next() (r rune, start int, ok bool) {
	start = t.at
	if t.at >= len(t.data) {
		return 0, start, false
	}
	r, size := utf8.DecodeRune(t.data[t.at:])
	switch {
	case t.quote == '\'' && r == '\'':
		if t.at+1 >= len(t.data) || t.data[t.at+1] != '\'' {
			return 0, start, false
		}
		size = 2
	case t.quote == '"' && r == '"':
		return 0, start, false
	case t.quote == '"' && r == '\\':
		r, size = escaped(t.data[t.at:])
	}
	t.at += size
	return r, start, size > 0
}

// lines converts offsets to positions. For ascending offsets it reads the text once.
type lines struct {
	data   []byte
	offset int      // end of the part that was read
	here   Position // of offset
}

func newLines(data []byte) *lines { return &lines{data: data, here: Position{1, 1}} }

func (l *lines) at(offset int) Position {
	if offset < l.offset {
		*l = *newLines(l.data)
	}
	for offset = min(offset, len(l.data)); l.offset < offset; l.offset++ {
		switch c := l.data[l.offset]; {
		case c == '\n':
			l.here = Position{l.here.Line + 1, 1}
		case c&0xc0 != 0x80: // the first byte of a character
			l.here.Column++
		}
	}
	return l.here
}
