package blueprint

import (
	"reflect"
	"slices"
)

// Equivalent reports whether two maps run in the same way. Titles, positions, explicit
// defaults, and mistakes with the same effect make no difference.
func (m *Map) Equivalent(other *Map) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.sameNodes(other) && m.sameEdges(other)
}

// EquivalentNodes is Equivalent without edges.
func (m *Map) EquivalentNodes(other *Map) bool {
	return m != nil && other != nil && m.sameNodes(other)
}

func (m *Map) sameNodes(other *Map) bool {
	return slices.EqualFunc(m.Nodes, other.Nodes, func(a, b Node) bool { return sameNode(&a, &b) })
}

func (m *Map) sameEdges(other *Map) bool {
	return slices.EqualFunc(m.Edges, other.Edges, func(a, b Edge) bool {
		return a.Source == b.Source && a.Target == b.Target && a.Handle == b.Handle
	})
}

func sameNode(a, b *Node) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Disabled == b.Disabled && a.Timeout == b.Timeout && a.OnError == b.OnError && a.Effect == b.Effect &&
		sameRetry(a.Retry, b.Retry) && reflect.DeepEqual(a.Invalid, b.Invalid) && Equal(a.Config, b.Config)
}

func sameRetry(a, b *Retry) bool {
	once := func(r *Retry) bool { return r == nil || r.MaxAttempts == 1 }
	if once(a) || once(b) {
		return once(a) == once(b)
	}
	return *a == *b
}

// EquivalentVariables reports whether two lists of variables differ only in
// descriptions.
func EquivalentVariables(a, b []Variable) bool {
	return slices.EqualFunc(a, b, func(one, other Variable) bool {
		same := Equal(one.Default, other.Default)
		one.Description, other.Description = "", ""
		one.Default, other.Default = nil, nil
		return same && one == other
	})
}
