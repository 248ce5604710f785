package document

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// spot returns the piece of the text that a place within a string is.
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
	// The place behind the last character of it; what follows may be on a line below.
	_, last := utf8.DecodeLastRuneInString(text[begin:end])
	if _, ok = t.reach(text, end-last); ok {
		t.next()
		if to := d.source.position(t.at); to.Line == span.Start.Line && to.Column > span.Start.Column {
			span.End = to
		}
	}
	return span, true
}

// offsetIn returns the offset of a line and column of a text.
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

// valueSpan returns the piece of the text that a value is.
func (d *Document) valueSpan(here *place, value any) Span {
	span := Span{Start: here.at}
	if here.text != here.at { // an object or array, or what an alias stands for
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

// trace reads a string as it is written in a file, in quotes, without, or in
// the lines of a block, and finds where each of its characters stands. White
// space is passed over on both sides: how lines are folded and indented does not
// matter then. One in white space is where the next other character is.
type trace struct {
	data  []byte
	at    int // what next reads
	quote byte
	read  int // how much of the string was found
	ended int // where what was found last ends
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
	case '|', '>': // what follows it on the line is no text
		for t.at < len(data) && data[t.at] != '\n' {
			t.at++
		}
	}
	t.ended = t.at
	return t
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// reach returns the offset in the file of what stands at an offset of the string,
// not before the one that was asked for last. At its end it is where the last
// character ends.
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

// close returns the offset behind the string's last character and its quote.
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

// next reads one character as it is written; start is where. An escape that
// stands for nothing counts as a blank.
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

// lines finds the line and column of an offset. Asked for one offset after the
// other it reads the text once.
type lines struct {
	data   []byte
	offset int      // up to here it has read,
	here   Position // and this is the place
}

func newLines(data []byte) *lines { return &lines{data: data, here: Position{1, 1}} }

// at returns the position of an offset; its column counts characters.
func (l *lines) at(offset int) Position {
	if offset < l.offset {
		*l = *newLines(l.data)
	}
	for offset = min(offset, len(l.data)); l.offset < offset; l.offset++ {
		switch c := l.data[l.offset]; {
		case c == '\n':
			l.here = Position{l.here.Line + 1, 1}
		case c&0xc0 != 0x80: // not the second or a later byte of a character
			l.here.Column++
		}
	}
	return l.here
}
