package blueprint

import (
	"fmt"
	"slices"
	"strconv"
)

// edges warns of edges that are never taken, and of nodes that therefore never
// run.
func (v *validator) edges(m *Map) {
	cases := map[*Node]map[string]bool{} // the handles of each node's cases
	dead := make([]bool, len(m.Edges))
	for i, edge := range m.Edges {
		source := &m.Nodes[v.index[edge.Source]]
		if reason := v.neverTaken(source, edge.Handle, cases); reason != "" {
			dead[i] = true
			path := []any{"edges", i}
			if edge.Handle != "" {
				path = append(path, "sourceHandle")
			}
			v.add(Issue{Path: path, NodeID: source.ID, Message: "is never taken: " + reason, Severity: SeverityWarning})
		}
	}
	if v.graph == nil {
		return
	}
	if m.Sequential() {
		v.behindStop(m)
		return
	}
	runs := make([]bool, len(m.Nodes))
	for _, i := range v.graph.order { // its edges are numbered as those of the map
		runs[i] = len(v.graph.in[i]) == 0
		for _, e := range v.graph.in[i] {
			runs[i] = runs[i] || runs[v.graph.edges[e].from] && !dead[e]
		}
	}
	for i := range m.Nodes {
		node := &m.Nodes[i]
		switch {
		case node.Disabled:
		case !runs[i]:
			v.add(Issue{Path: []any{"nodes", i}, NodeID: node.ID, Message: "never runs: no edge that leads to it is ever taken", Severity: SeverityWarning})
		case len(m.Nodes) > 1 && len(v.graph.in[i]) == 0 && len(v.graph.out[i]) == 0:
			v.add(Issue{Path: []any{"nodes", i}, NodeID: node.ID, Message: "is joined to no other node: it runs at the start, beside the rest", Severity: SeverityWarning})
		}
	}
}

// behindStop warns of what stands behind a stop node where nodes run one after
// the other.
func (v *validator) behindStop(m *Map) {
	for i := range m.Nodes {
		if m.Nodes[i].Type != "stop" || m.Nodes[i].Disabled || m.Nodes[i].OnError != OnErrorStop || i == len(m.Nodes)-1 {
			continue
		}
		message := fmt.Sprintf("never runs: the node %s before it ends the run", strconv.Quote(m.Nodes[i].ID))
		if more := len(m.Nodes) - i - 2; more > 0 {
			message += fmt.Sprintf(", also for the %d behind it", more)
		}
		v.add(Issue{Path: []any{"nodes", i + 1}, NodeID: m.Nodes[i+1].ID, Message: message, Severity: SeverityWarning})
		return
	}
}

// neverTaken tells why an edge with a handle is never taken, "" when it may be.
func (v *validator) neverTaken(source *Node, handle string, cases map[*Node]map[string]bool) string {
	kind := v.catalogue[source.Type]
	switch {
	case source.Disabled:
		if handle != "" {
			return "a disabled node takes only edges without a sourceHandle"
		}
		return ""
	case source.Type == "stop" && source.OnError == OnErrorStop:
		return "the source ends the run"
	case handle == "" || kind == nil:
		return ""
	case handle == ErrorHandle:
		if source.OnError != OnErrorBranch {
			return `the source does not have "onError": "branch"`
		}
		return ""
	case slices.Contains(kind.Handles, handle) || slices.Contains(kind.Handles, "*"):
		return ""
	}
	own, seen := cases[source]
	if !seen {
		own = caseHandles(source)
		cases[source] = own
	}
	if own[handle] {
		return ""
	}
	known := slices.Clone(kind.Handles)
	for name := range own {
		known = append(known, name)
	}
	slices.Sort(known)
	return fmt.Sprintf("%q has no handle %q", source.Type, handle) + DidYouMean(handle, known[:min(len(known), 100)])
}

// caseHandles gives the handles that the cases of a node choose.
func caseHandles(node *Node) map[string]bool {
	handles := map[string]bool{}
	list, _ := node.Config["cases"].([]any)
	for _, element := range list {
		object, _ := element.(map[string]any)
		if handle, ok := object["handle"].(string); ok {
			handles[handle] = true
		}
	}
	return handles
}
