package blueprint

import "maps"

// layoutMembers are the members of a map that only the editor uses.
var layoutMembers = []string{"notes", "groups"}

// placeMember is the member of a node with its place in the editor.
const placeMember = "position"

// WithoutLayout returns a copy of a decoded map without what only the editor uses: the places
// of nodes, notes and groups. Two maps that are then equal run and read the same.
func WithoutLayout(m any) any {
	return eachNode(m, func(map[string]any) map[string]any { return nil }, nil)
}

// MergeLayout returns a copy of a changed map with the layout of the current one where the
// change left that of the base as it was, so that applying the change does not undo a layout
// that was made meanwhile. The maps are decoded.
func MergeLayout(base, changed, current any) any {
	was, now := nodesByID(base), nodesByID(current)
	merged := eachNode(changed, func(node map[string]any) map[string]any {
		id, _ := node["id"].(string)
		old, here := was[id], now[id]
		if old == nil || here == nil || !Equal(old[placeMember], node[placeMember]) {
			return node
		}
		return here
	}, func(name string) (any, bool) {
		from, _ := base.(map[string]any)
		mine, _ := changed.(map[string]any)
		to, _ := current.(map[string]any)
		if Equal(from[name], mine[name]) {
			value, given := to[name]
			return value, given
		}
		value, given := mine[name]
		return value, given
	})
	return merged
}

// eachNode returns a copy of a map whose nodes have the place of the node that from returns, none
// for nil, and whose layout members have the values that member returns, none for a nil member.
func eachNode(m any, from func(node map[string]any) map[string]any, member func(name string) (any, bool)) any {
	object, ok := m.(map[string]any)
	if !ok {
		return m
	}
	out := maps.Clone(object)
	for _, name := range layoutMembers {
		delete(out, name)
		if member == nil {
			continue
		}
		if value, given := member(name); given {
			out[name] = value
		}
	}
	list, ok := object["nodes"].([]any)
	if !ok {
		return out
	}
	nodes := make([]any, len(list))
	for i, element := range list {
		nodes[i] = element
		node, ok := element.(map[string]any)
		if !ok {
			continue
		}
		node = maps.Clone(node)
		place, given := from(node)[placeMember]
		if delete(node, placeMember); given {
			node[placeMember] = place
		}
		nodes[i] = node
	}
	out["nodes"] = nodes
	return out
}

func nodesByID(m any) map[string]map[string]any {
	found := map[string]map[string]any{}
	object, _ := m.(map[string]any)
	list, _ := object["nodes"].([]any)
	for _, element := range list {
		node, _ := element.(map[string]any)
		if id, ok := node["id"].(string); ok {
			found[id] = node
		}
	}
	return found
}
