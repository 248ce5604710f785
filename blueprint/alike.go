package blueprint

import "reflect"

// Equivalent reports whether the map runs as another one does: titles, positions and
// members that only spell out a default make no difference, and neither do
// mistakes that fail a node in the same way.
func (m *Map) Equivalent(other *Map) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.sameNodes(other) && m.sameEdges(other)
}

// EquivalentNodes is Equivalent without regard to edges.
func (m *Map) EquivalentNodes(other *Map) bool {
	return m != nil && other != nil && m.sameNodes(other)
}

func (m *Map) sameNodes(other *Map) bool {
	if len(m.Nodes) != len(other.Nodes) {
		return false
	}
	for i := range m.Nodes {
		if !sameNode(&m.Nodes[i], &other.Nodes[i]) {
			return false
		}
	}
	return true
}

func (m *Map) sameEdges(other *Map) bool {
	if len(m.Edges) != len(other.Edges) {
		return false
	}
	for i, edge := range m.Edges {
		to := other.Edges[i]
		if edge.Source != to.Source || edge.Target != to.Target || edge.Handle != to.Handle {
			return false
		}
	}
	return true
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

// EquivalentVariables reports whether two lists of definitions mean the same to a run:
// descriptions make no difference.
func EquivalentVariables(a, b []Variable) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		one, other := a[i], b[i]
		one.Description, other.Description = "", ""
		one.Default, other.Default = nil, nil
		if one != other || !Equal(a[i].Default, b[i].Default) {
			return false
		}
	}
	return true
}
