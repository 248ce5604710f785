package blueprint

import "maps"

// layoutMembers are the members of a map that only the editor uses.
var layoutMembers = []string{"notes", "groups"}

// placeMember is the member of a node with its place in the editor.
const placeMember = "position"

// WithoutLayout returns a copy of a decoded map without what only the editor uses: the places
// of nodes, notes and groups. Two maps that are then equal have the same meaning.
func WithoutLayout(m any) any {
	return withLayout(m, func(string) any { return nil }, func(map[string]any) any { return nil })
}

// MergeLayout returns a copy of a changed map. Where the change left the layout of its base
// alone, the copy has the layout of the current map, so that applying the change does not undo
// a layout made meanwhile. The maps are decoded.
func MergeLayout(base, changed, current any) any {
	old, _ := base.(map[string]any)
	mine, _ := changed.(map[string]any)
	now, _ := current.(map[string]any)
	oldNodes, nowNodes := nodesByID(old), nodesByID(now)
	return withLayout(changed, func(name string) any {
		return merge(name, old, mine, now)
	}, func(node map[string]any) any {
		id, _ := node["id"].(string)
		return merge(placeMember, oldNodes[id], node, nowNodes[id])
	})
}

// merge returns a member of now if mine has that of old and all three exist, and that of mine
// otherwise.
func merge(name string, old, mine, now map[string]any) any {
	if old != nil && now != nil && Equal(old[name], mine[name]) {
		return now[name]
	}
	return mine[name]
}

// withLayout returns a copy of a map with other layout members, and with other places of its
// nodes. What is nil is left out.
func withLayout(m any, member func(name string) any, place func(node map[string]any) any) any {
	object, ok := m.(map[string]any)
	if !ok {
		return m
	}
	out := maps.Clone(object)
	for _, name := range layoutMembers {
		setOrDelete(out, name, member(name))
	}
	list, ok := object["nodes"].([]any)
	if !ok {
		return out
	}
	nodes := make([]any, len(list))
	for i, element := range list {
		nodes[i] = element
		if node, ok := element.(map[string]any); ok {
			moved := maps.Clone(node)
			setOrDelete(moved, placeMember, place(node))
			nodes[i] = moved
		}
	}
	out["nodes"] = nodes
	return out
}

func setOrDelete(object map[string]any, name string, value any) {
	if value == nil {
		delete(object, name)
	} else {
		object[name] = value
	}
}

func nodesByID(m map[string]any) map[string]map[string]any {
	found := map[string]map[string]any{}
	list, _ := m["nodes"].([]any)
	for _, element := range list {
		node, _ := element.(map[string]any)
		if id, ok := node["id"].(string); ok {
			found[id] = node
		}
	}
	return found
}
