package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Excerpt returns the line of a position and a line with a caret below its column, ""
// for a position outside the file.
func (d *Document) Excerpt(at Position) string { return d.source.excerpt(Span{Start: at}) }

// ExcerptOf is Excerpt for an issue, with its span underlined. Secrets that the issue or
// others are about are replaced by asterisks.
func (d *Document) ExcerptOf(issue blueprint.Issue, others ...blueprint.Issue) string {
	span := d.SpanOf(issue)
	var hidden []Span
	for _, each := range append([]blueprint.Issue{issue}, others...) {
		if !each.Spot.Secret {
			continue
		}
		if secret, ok := d.SpanOf(each).on(span.Start.Line); ok {
			hidden = append(hidden, secret)
		}
	}
	return d.source.excerpt(span, hidden...)
}

// on returns the part of a span on a line, without an end if it continues.
func (s Span) on(line int) (part Span, ok bool) {
	last := max(s.Start.Line, s.End.Line)
	if line < s.Start.Line || line > last {
		return Span{}, false
	}
	if line > s.Start.Line {
		s.Start = Position{Line: line, Column: 1}
	}
	if line < last {
		s.End = Position{}
	}
	return s, true
}

// Excerpt is Document.Excerpt for the error.
func (e *SyntaxError) Excerpt() string {
	if e.source == nil {
		return ""
	}
	return e.source.excerpt(Span{Start: e.Position})
}

const (
	shown    = 96 // columns of a line that an excerpt shows
	leading  = 32 // of them before the caret, where the line is longer
	tabStops = 4
)

// excerpt returns the line and the underlined span, for a long line the part around the
// caret. Control characters become U+FFFD.
func (s *source) excerpt(span Span, hidden ...Span) string {
	line := s.line(span.Start.Line)
	if line == nil || span.Start.Column < 1 {
		return ""
	}
	caret := len(line)
	if offset, ok := s.offset(span.Start); ok {
		caret = min(len(line), offset-int(s.starts[span.Start.Line-1]))
	}
	marked := 1
	if span.End.Line == span.Start.Line {
		marked = max(1, span.End.Column-span.Start.Column)
	}
	from := 0
	if width(line[:min(len(line), 4*shown)]) > shown {
		from = back(line, caret, leading)
		if rest := shown - 1 - width(line[from:min(len(line), from+4*shown)]); rest > 0 {
			from = back(line, from, rest)
		}
	}
	secret := func(column int) bool {
		return slices.ContainsFunc(hidden, func(h Span) bool {
			return column >= h.Start.Column && (h.End == Position{} || column < h.End.Column)
		})
	}
	column := span.Start.Column - utf8.RuneCount(line[from:caret])
	var text, mark strings.Builder
	at := 0 // column of what is shown
	if from > 0 {
		text.WriteString("…")
		mark.WriteByte(' ')
		at++
	}
	for i := from; ; {
		r, size := utf8.DecodeRune(line[i:])
		piece, columns := cell(r, at)
		if secret(column) {
			piece = strings.Repeat("*", columns)
		}
		if i < len(line) && at+columns > shown {
			text.WriteString("…")
			break
		}
		switch {
		case i == caret:
			mark.WriteString("^" + strings.Repeat("~", max(0, min(columns, marked*columns)-1)))
		case i > caret && marked > 1:
			marked--
			mark.WriteString(strings.Repeat("~", columns))
		case i < caret:
			mark.WriteString(strings.Repeat(" ", columns))
		}
		if i >= len(line) {
			break
		}
		text.WriteString(piece)
		at += columns
		i += size
		column++
	}
	number := fmt.Sprint(span.Start.Line)
	return fmt.Sprintf("  %s | %s\n  %s | %s\n", number, strings.TrimRight(text.String(), " "), strings.Repeat(" ", len(number)), mark.String())
}

// cell returns the display form of a character in a column and its width.
func cell(r rune, column int) (text string, columns int) {
	if r == '\t' {
		columns = tabStops - column%tabStops
		return strings.Repeat(" ", columns), columns
	}
	text = blueprint.OneLine(string(r))
	return text, columnsOf([]rune(text)[0])
}

// width is the approximate number of columns of a text.
func width(text []byte) (columns int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		_, more := cell(r, columns)
		columns += more
		text = text[size:]
	}
	return columns
}

// back returns the offset that is at most columns before another one.
func back(line []byte, offset, columns int) int {
	for offset > 0 {
		r, size := utf8.DecodeLastRune(line[:offset])
		_, one := cell(r, 0)
		if columns -= one; columns < 0 {
			break
		}
		offset -= size
	}
	return offset
}

// wide are the characters of two columns: East Asian, full width forms, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x231a, Hi: 0x231b, Stride: 1}, {Lo: 0x23e9, Hi: 0x23ec, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0x33ff, Stride: 1}, {Lo: 0x3400, Hi: 0x4dbf, Stride: 1},
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1}, {Lo: 0xa000, Hi: 0xa4cf, Stride: 1}, {Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18aff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x1fa70, Hi: 0x1faff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
