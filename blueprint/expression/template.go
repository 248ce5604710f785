package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

// Template is a compiled string with placeholders.
type Template struct {
	source string
	parts  []part
	names  []string
}

// part is plain text, a path or an expression.
type part struct {
	text        string
	path        *path
	hasFallback bool
	fallback    any
	expression  *Expression
	source      string // of a placeholder with a path
	at          int    // offset of the placeholder or expression in the template
}

// compileTemplate compiles a string. Errors are *Error with the place:
// CodeBadTemplate, or CodeBadExpression for the expression in a placeholder.
func compileTemplate(source string) (*Template, error) {
	if !strings.Contains(source, open) {
		return &Template{source: source}, nil
	}
	parts, err := parseTemplate(source)
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, p := range parts {
		if p.path != nil {
			set[p.path.name] = true
		}
		if p.expression != nil {
			for _, name := range p.expression.names {
				set[name] = true
			}
		}
	}
	return &Template{source: source, parts: parts, names: sortedNames(set)}, nil
}

// constant reports whether the template has no placeholder.
func (t *Template) constant() bool { return len(t.parts) == 0 }

// Names lists the top-level names that the template refers to, sorted.
func (t *Template) Names() []string { return slices.Clone(t.names) }

// alone reports whether the template is one placeholder and nothing else.
func (t *Template) alone() bool { return len(t.parts) == 1 && t.parts[0].dynamic() }

func (p *part) dynamic() bool { return p.path != nil || p.expression != nil }

// references returns what the placeholder refers to; path is that of the template
// in its config, and w walks through it.
func (p *part) references(path []any, w *walker) []blueprint.Reference {
	if p.expression != nil {
		refs := make([]blueprint.Reference, len(p.expression.uses))
		for i, u := range p.expression.uses {
			inside := p.at + byteOffset(p.expression.source, u.at)
			refs[i] = u.reference(path, w.spot(inside, u.name))
		}
		return refs
	}
	if p.path == nil {
		return nil
	}
	ref := blueprint.Reference{Path: path, Name: p.path.name, Optional: p.hasFallback, Spot: w.spot(p.at, p.source)}
	rest := p.path.segments
	if p.path.name == "nodes" && len(rest) > 0 {
		ref.NodeID, rest = rest[0].key, rest[1:]
	}
	if blueprint.ScopeKeys[ref.Name] != nil && len(rest) > 0 && (ref.Name != "nodes" || ref.NodeID != "") {
		ref.Key = rest[0].key
	}
	return []blueprint.Reference{ref}
}

// Resolve replaces the placeholders. A template of one placeholder alone resolves
// to its value, any other to a string of at most 16 MiB. Errors are *Error:
// CodeUnknownName, CodeBudgetExceeded, and those of Expression.Eval.
func (t *Template) Resolve(scope Scope) (any, error) { return t.resolve(scope, newBudget(), false) }

// resolve is Resolve within a budget. With weigh set, the value of a placeholder
// alone counts as output too.
func (t *Template) resolve(scope Scope, b *budget, weigh bool) (value any, err error) {
	if t.constant() {
		return t.source, nil
	}
	at := unknownPlace
	failed := recoverFailure(&at, func() {
		if !t.alone() {
			value, err = t.join(scope, b)
		} else if value, err = t.parts[0].value(scope, b); err == nil && weigh {
			measure(value, b.output)
		}
	})
	if failed != nil {
		e := failed.in(t.source)
		e.template = true
		return nil, e
	}
	return value, err
}

func (t *Template) join(scope Scope, b *budget) (any, error) {
	pieces, length := make([]string, len(t.parts)), 0
	for i := range t.parts {
		piece := t.parts[i].text
		if t.parts[i].dynamic() {
			value, err := t.parts[i].value(scope, b)
			if err != nil {
				return nil, err
			}
			piece = b.textOf(value)
		}
		b.output(len(piece))
		pieces[i] = piece
		length += len(piece)
	}
	b.memory(length)
	return strings.Join(pieces, ""), nil
}

// value evaluates a placeholder. A path that does not exist is a failure.
func (p *part) value(scope Scope, b *budget) (any, error) {
	if p.expression != nil {
		return p.expression.run(scope, b)
	}
	value, ok := p.path.lookup(scope)
	switch {
	case p.hasFallback && (!ok || value == nil):
		return p.fallback, nil
	case !ok:
		panic(p.path.broken(scope))
	default:
		return plain(value), nil
	}
}

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
		return e.inTemplate(p.source, p.at)
	}
	p.parts = append(p.parts, part{expression: compiled, at: p.at})
	p.at += length + len(close)
	return nil
}

// inTemplate returns the error of an expression as one of the template that has it at an offset.
func (e *Error) inTemplate(template string, at int) *Error {
	if e.Column > 0 {
		inside := 0
		for line := 1; line < e.Line; line++ {
			inside += strings.IndexByte(e.Source[inside:], '\n') + 1
		}
		at += inside + byteOffset(e.Source[inside:], e.Column-1)
	}
	line, column := place(template, at)
	return &Error{Source: template, Message: e.Message, Code: e.Code, Line: line, Column: column, template: true}
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
