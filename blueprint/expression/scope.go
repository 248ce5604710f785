package expression

import (
	"maps"
	"slices"
)

// Scope answers the top-level names of templates and expressions: variables,
// inputData, input, nodes, execution, blueprint, trigger, now, item, index.
// Values are decoded JSON with json.Number; nobody changes them.
type Scope interface {
	// Lookup returns the value of a name, and whether the name exists. It is
	// called once per name and evaluation, also for names in a branch of an
	// expression that is then not taken, so it should be cheap.
	Lookup(name string) (value any, ok bool)
	// Names lists all names, sorted; errors suggest from it.
	Names() []string
}

// partial is what a Scope is besides when one of its names stands for an object
// that costs much to make whole: what is asked for by a key that the source
// spells out is then looked up alone.
type partial interface {
	// HasParts reports whether a name stands for such an object.
	HasParts(name string) bool
	// Part returns one member of the object, and whether there is one.
	Part(name, key string) (value any, ok bool)
	// Nearby returns some members of the object, for errors to suggest from.
	Nearby(name string) map[string]any
}

// partsOf returns the scope as a partial one when a name of it has parts.
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

// sortedNames turns a set of names into a sorted list.
func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
