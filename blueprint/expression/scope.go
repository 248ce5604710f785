package expression

import (
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"blueprintd/blueprint"
)

// Scope resolves the top-level names of templates and expressions: variables,
// inputData, input, nodes, execution, blueprint, trigger, now, item, index.
// Values are decoded JSON with json.Number and immutable.
type Scope interface {
	// Lookup returns the value of a name, and whether the name exists. It is
	// called once per name and evaluation, even for names in branches that are
	// not taken, so it should be cheap.
	Lookup(name string) (value any, ok bool)
	// Names lists all names, sorted, for suggestions in errors.
	Names() []string
}

// partial is implemented by a Scope that can return single members of an object
// that is expensive to build. Constant keys in the source use it.
type partial interface {
	// HasParts reports whether a name is such an object.
	HasParts(name string) bool
	// Part returns one member of the object.
	Part(name, key string) (value any, ok bool)
	// Nearby returns some members of the object for suggestions in errors.
	Nearby(name string) map[string]any
}

func partsOf(scope Scope, name string) (partial, bool) {
	p, ok := scope.(partial)
	return p, ok && p.HasParts(name)
}

// MapScope is a Scope that holds its values in a map.
type MapScope map[string]any

// Lookup returns the value of a name.
func (s MapScope) Lookup(name string) (any, bool) {
	value, ok := s[name]
	return value, ok
}

// Names lists the names, sorted.
func (s MapScope) Names() []string { return slices.Sorted(maps.Keys(s)) }

func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// member is a constant key of a top-level name.
type member struct{ name, key string }

// absent is the value of a part that the scope cannot look up alone.
type absent struct{}

// lookParts looks up every part, once per evaluation.
func (e *evaluation) lookParts(parts []member, scope Scope) {
	e.parts = make([]any, len(parts))
	for i, p := range parts {
		e.parts[i] = absent{}
		if from, has := partsOf(scope, p.name); has {
			e.parts[i], _ = from.Part(p.name, p.key)
		}
	}
}

// key compiles the access to a constant key.
func (c *compiler) key(node ast.Node, key string, at int) operation {
	if ofNode(node) {
		c.behind = key
	}
	base, slot := c.holder(node, key)
	c.behind = ""
	return func(e *evaluation) any {
		if slot >= 0 {
			if _, none := e.parts[slot].(absent); !none {
				return e.parts[slot]
			}
		}
		value := base(e)
		switch v := value.(type) {
		case nil:
			return nil
		case map[string]any:
			return v[key]
		default:
			e.at = at
			panic(failf("%s has no key %q", KindOf(value), blueprint.Shorten(key, hintLength)))
		}
	}
}

// holder compiles the value that has the key. The key of a top-level name gets a
// slot among the parts; otherwise slot is -1.
func (c *compiler) holder(node ast.Node, key string) (base operation, slot int) {
	name, ok := node.(*ast.IdentifierNode)
	if ok {
		_, local := c.localSlot(name.Value)
		ok = !local && name.Value != "null" && name.Value != "$env"
	}
	if !ok {
		base = c.compile(node)
		return base, -1
	}
	if c.count++; c.count > maxOperations {
		c.at = node.Location().From
		panic(failf("more than %d operations; use a code node", maxOperations))
	}
	c.parts = append(c.parts, member{name.Value, key})
	c.use(name.Value, key, node.Location().From)
	return c.topLevel(name.Value), len(c.parts) - 1
}

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
