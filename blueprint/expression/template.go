package expression

import (
	"slices"
	"strings"

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
