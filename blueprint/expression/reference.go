package expression

import (
	"errors"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// use is the first use of a top-level name, or of a constant key of nodes.
type use struct {
	used
	at int // in characters from the start
}

type used struct {
	member
	behind string // the key of a name in blueprint.ScopeKeys, or after nodes.<id>
}

// use records the first use of a name.
func (c *compiler) use(name, key string, at int) {
	of := used{member: member{name: name}}
	switch {
	case name == "nodes":
		of.key, of.behind = key, c.behind
	case blueprint.ScopeKeys[name] != nil:
		of.behind = key
	}
	if c.used == nil {
		c.used = map[used]bool{}
	}
	if !c.used[of] {
		c.used[of] = true
		c.uses = append(c.uses, use{of, at})
	}
}

// reference returns the Reference of a use. A missing member evaluates to nil, so
// only a bare name is required.
func (u use) reference(path []any, spot blueprint.Spot) blueprint.Reference {
	return blueprint.Reference{Path: path, Name: u.name, NodeID: u.key, Key: u.behind, Optional: u.key != "" || u.behind != "", Spot: spot}
}

// ofNode reports whether node is nodes.<id>.
func ofNode(node ast.Node) bool {
	member, ok := node.(*ast.MemberNode)
	if !ok {
		return false
	}
	name, ok := member.Node.(*ast.IdentifierNode)
	return ok && name.Value == "nodes"
}

// References lists what the expression refers to, each once with its first place
// in the source. Members are optional, because a missing one evaluates to nil.
func (x *Expression) References() []blueprint.Reference {
	refs := make([]blueprint.Reference, len(x.uses))
	w := walker{source: x.source}
	for i, u := range x.uses {
		refs[i] = u.reference(nil, w.spot(byteOffset(x.source, u.at), u.name))
	}
	return refs
}

// walker converts offsets to places. For ascending offsets it reads the source once.
type walker struct {
	source          string
	at              int
	line, character int // before at, both from 0
}

// spot returns the place of a text at an offset.
func (w *walker) spot(offset int, text string) blueprint.Spot {
	if offset < w.at {
		w.at, w.line, w.character = 0, 0, 0
	}
	for w.at < offset && w.at < len(w.source) {
		r, size := utf8.DecodeRuneInString(w.source[w.at:])
		w.at += size
		if w.character++; r == '\n' {
			w.line, w.character = w.line+1, 0
		}
	}
	return blueprint.Spot{Line: w.line + 1, Column: w.character + 1, Length: utf8.RuneCountInString(text)}
}

// Spot returns the place in the source, the zero Spot when it is unknown. For an
// unclosed placeholder it is where that begins.
func (e *Error) Spot() blueprint.Spot {
	if e.Column == 0 {
		return blueprint.Spot{}
	}
	if e.openLine > 0 && e.openLine != e.Line {
		return blueprint.Spot{Line: e.openLine, Column: e.openColumn}
	}
	return blueprint.Spot{Line: e.Line, Column: e.Column}
}

// SpotOf is Spot for an error of CompileExpression whose source starts at the
// character offset before of a longer text.
func SpotOf(err error, before int) blueprint.Spot {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return blueprint.Spot{}
	}
	spot := refused.Spot()
	if spot.Line == 1 {
		spot.Column += before
	}
	return spot
}
