package blueprint

import (
	"fmt"
	"slices"
)

// Writers maps the variables that nodes set to the last writer on the path to a point of
// the graph. It is immutable; nil is empty.
//
// It is a linked list of additions, so that the Writers of many nodes share memory.
type Writers struct {
	wrote  map[string]int
	before *Writers
	length int
}

// Of returns the node that wrote a variable, if any did.
func (w *Writers) Of(name string) (node int, ok bool) {
	for ; w != nil; w = w.before {
		if node, ok = w.wrote[name]; ok {
			return node, true
		}
	}
	return 0, false
}

// All returns a new map of the writer of every variable.
func (w *Writers) All() map[string]int {
	all := map[string]int{}
	for ; w != nil; w = w.before {
		for name, node := range w.wrote {
			if _, hidden := all[name]; !hidden {
				all[name] = node
			}
		}
	}
	return all
}

// Write returns the Writers after a node that set the members of values.
func (w *Writers) Write(node int, values map[string]any) *Writers {
	if len(values) == 0 {
		return w
	}
	wrote := make(map[string]int, len(values))
	for name := range values {
		wrote[name] = node
	}
	return w.with(wrote)
}

func (w *Writers) with(wrote map[string]int) *Writers {
	out := &Writers{wrote: wrote, before: w, length: 1}
	if w != nil {
		out.length += w.length
	}
	return out
}

// MergeWriters returns the Writers of a node with several taken predecessors. Of several
// writers of a variable, those upstream of another one do not count; of the rest the
// last in the map wins. The result depends neither on the order of the sources nor on
// the order in which nodes finished.
func (g *Graph) MergeWriters(sources ...*Writers) *Writers {
	if len(sources) == 0 {
		return nil
	}
	common, same := sources[0], true
	for _, source := range sources[1:] {
		same = same && source == sources[0]
		common = shared(common, source)
	}
	if same {
		return common
	}
	// Writers outside the common part are downstream of it, so only they are compared.
	candidates := map[string][]int{}
	for _, source := range sources {
		own := map[string]bool{}
		for w := source; w != common; w = w.before {
			for name, node := range w.wrote {
				if !own[name] && !slices.Contains(candidates[name], node) {
					candidates[name] = append(candidates[name], node)
				}
				own[name] = true
			}
		}
	}
	if len(candidates) == 0 {
		return common
	}
	wrote := make(map[string]int, len(candidates))
	known := map[string]int{} // one search for all variables with the same writers
	for name, nodes := range candidates {
		if len(nodes) == 1 {
			wrote[name] = nodes[0]
			continue
		}
		slices.Sort(nodes)
		key := fmt.Sprint(nodes)
		last, ok := known[key]
		if !ok {
			last = g.lastOf(nodes)
			known[key] = last
		}
		wrote[name] = last
	}
	return common.with(wrote)
}

// shared returns the longest common part of two chains.
func shared(a, b *Writers) *Writers {
	for a != b {
		switch {
		case b == nil || a != nil && a.length >= b.length:
			a = a.before
		default:
			b = b.before
		}
	}
	return a
}

// lastOf returns the last node in the map among those without others downstream.
func (g *Graph) lastOf(nodes []int) int {
	// The search stops at the first of them in the order of the graph.
	first := len(g.nodes)
	for _, node := range nodes {
		first = min(first, g.rank[node])
	}
	upstream := map[int]bool{}
	queue := slices.Clone(nodes)
	for len(queue) > 0 {
		node := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, e := range g.in[node] {
			if from := g.edges[e].from; !upstream[from] && g.rank[from] >= first {
				upstream[from] = true
				queue = append(queue, from)
			}
		}
	}
	last := -1
	for _, node := range nodes {
		if !upstream[node] {
			last = max(last, node)
		}
	}
	return last
}
