package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

const (
	open  = "{{"
	close = "}}"
)

// templateParser cuts a template into parts. at is a byte offset into source.
type templateParser struct {
	source string
	at     int
	open   int // of the placeholder
	parts  []part
}

func parseTemplate(source string) ([]part, error) {
	p := &templateParser{source: source}
	for count := 0; ; count++ {
		text, _, more := strings.Cut(source[p.at:], open)
		if text != "" {
			p.parts = append(p.parts, part{text: text})
		}
		p.at += len(text)
		if !more {
			return p.parts, nil
		}
		if count == maxPlaceholders {
			return nil, p.bad("more than %d placeholders", maxPlaceholders)
		}
		if err := p.placeholder(); err != nil {
			return nil, err
		}
	}
}

// placeholder reads from {{ to }}.
func (p *templateParser) placeholder() error {
	start := p.at
	p.open = start
	p.at += len(open)
	if strings.HasPrefix(p.rest(), "=") {
		p.at++
		return p.expression(start)
	}
	p.skipSpace()
	path, length, err := parsePath(p.rest())
	p.at += length
	if err != nil {
		return p.bad("%v", err)
	}
	next := part{path: path}
	p.skipSpace()
	if strings.HasPrefix(p.rest(), "??") {
		p.at += len("??")
		p.skipSpace()
		if next.fallback, err = p.literal(); err != nil {
			return err
		}
		next.hasFallback = true
		p.skipSpace()
	}
	if !strings.HasPrefix(p.rest(), close) {
		return p.bad(`expected "}}", found %s`, found(p.rest()))
	}
	p.at += len(close)
	next.source = p.source[start:p.at]
	next.at = start
	p.parts = append(p.parts, next)
	return nil
}

func (p *templateParser) literal() (any, error) {
	decoder := json.NewDecoder(strings.NewReader(p.rest()))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return nil, p.bad(`expected a JSON value after "??", such as "text", 0 or null`)
	}
	value, err := blueprint.Decode(raw)
	if err != nil {
		return nil, p.bad(`the JSON value after "??" is nested too deeply`)
	}
	p.at += int(decoder.InputOffset())
	return value, nil
}

// expression compiles what is between {{= and }}.
func (p *templateParser) expression(start int) error {
	length := expressionLength(p.rest())
	if length < 0 {
		p.at = start
		return p.bad(`this "{{=" has no "}}" after its expression`)
	}
	source := p.rest()[:length]
	compiled, err := CompileExpression(source)
	if e := (*Error)(nil); errors.As(err, &e) {
		// Convert the place in the expression to one in the template.
		inside := 0
		if e.Column > 0 {
			for line := 1; line < e.Line; line++ {
				inside += strings.IndexByte(source[inside:], '\n') + 1
			}
			inside += byteOffset(source[inside:], e.Column-1)
		}
		line, column := place(p.source, p.at+inside)
		return &Error{Source: p.source, Message: e.Message, Code: e.Code, Line: line, Column: column, template: true}
	}
	p.parts = append(p.parts, part{expression: compiled, at: p.at})
	p.at += length + len(close)
	return nil
}

// expressionLength returns the offset of the }} that ends an expression, or -1.
// Braces may be nested in the expression and occur in its strings and comments.
func expressionLength(text string) int {
	braces := 0
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case rest[0] == '"' || rest[0] == '\'':
			length := closingQuote(rest)
			if length < 0 {
				return -1
			}
			i += length - 1
		case rest[0] == '`': // a doubled one is part of the string; two strings in a row do as well
			length := strings.IndexByte(rest[1:], '`')
			if length < 0 {
				return -1
			}
			i += length + 1
		case strings.HasPrefix(rest, "//"):
			length := strings.IndexByte(rest, '\n')
			if length < 0 {
				return -1
			}
			i += length
		case strings.HasPrefix(rest, "/*"):
			length := strings.Index(rest[2:], "*/")
			if length < 0 {
				return -1
			}
			i += length + 3
		case rest[0] == '{':
			braces++
		case rest[0] == '}' && braces > 0:
			braces--
		case strings.HasPrefix(rest, close):
			return i
		}
	}
	return -1
}

func (p *templateParser) rest() string { return p.source[p.at:] }

func (p *templateParser) skipSpace() {
	p.at = len(p.source) - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
}

// bad returns a CodeBadTemplate error at the current place.
func (p *templateParser) bad(format string, args ...any) error {
	line, column := place(p.source, p.at)
	openLine, openColumn := place(p.source, p.open)
	return &Error{
		openLine: openLine, openColumn: openColumn,
		Source: p.source, Code: CodeBadTemplate, Line: line, Column: column, template: true,
		Message: fmt.Sprintf(format, args...) + ` (to write "{{" itself: {{= "{{" }})`,
	}
}
