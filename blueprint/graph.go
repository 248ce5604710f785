package blueprint

import (
	"fmt"
	"strings"
)

// Graph is a compiled Map: nodes are numbers, their positions in the map, and
// edges are joined to them. It is immutable and may be shared by any number of
// plans.
type Graph struct {
	nodes      []Node
	sequential bool
	edges      []link
	in, out    [][]int // node -> its edges, in the order of the map
	index      map[string]int
	order      []int // the nodes, each behind all that lead to it
	rank       []int // per node: where it stands in order
}

type link struct {
	from, to int
	handle   string
}

// Compile builds the graph of a parsed map. Without edges each node is joined
// to the next. A cycle is an issue that names its nodes in order.
func Compile(m *Map) (*Graph, []Issue) {
	g := &Graph{nodes: m.Nodes, sequential: m.Sequential()}
	g.in, g.out = make([][]int, len(g.nodes)), make([][]int, len(g.nodes))
	g.index = make(map[string]int, len(g.nodes))
	for i, node := range g.nodes {
		g.index[node.ID] = i
	}
	if g.sequential {
		for i := 1; i < len(g.nodes); i++ {
			g.join(link{from: i - 1, to: i})
		}
		g.sort()
		return g, nil
	}
	for _, edge := range m.Edges {
		g.join(link{from: g.index[edge.Source], to: g.index[edge.Target], handle: edge.Handle})
	}
	if cycle := g.cycle(); cycle != nil {
		return nil, []Issue{{Path: []any{"edges"}, NodeID: g.nodes[cycle[0]].ID, Message: "form a cycle: " + g.route(cycle)}}
	}
	g.sort()
	return g, nil
}

func (g *Graph) join(l link) {
	g.out[l.from] = append(g.out[l.from], len(g.edges))
	g.in[l.to] = append(g.in[l.to], len(g.edges))
	g.edges = append(g.edges, l)
}

// maxRoute is how many nodes of a cycle its issue names.
const maxRoute = 20

// route writes nodes one after the other; of a very long way the middle is
// left out.
func (g *Graph) route(nodes []int) string {
	var text strings.Builder
	for i, node := range nodes {
		left := len(nodes) - i
		if len(nodes) > maxRoute && i >= maxRoute/2 && left > maxRoute/2 {
			if left == maxRoute/2+1 {
				fmt.Fprintf(&text, " -> (%d more)", len(nodes)-maxRoute)
			}
			continue
		}
		if i > 0 {
			text.WriteString(" -> ")
		}
		text.WriteString(g.nodes[node].ID)
	}
	return text.String()
}

// cycle returns the nodes of one cycle with the first repeated at the end, or
// nil. The walk keeps its own stack: a map may be 10,000 nodes deep.
func (g *Graph) cycle() []int {
	const unseen, open, closed = 0, 1, 2
	state := make([]uint8, len(g.nodes))
	type frame struct{ node, next int }
	for root := range g.nodes {
		if state[root] != unseen {
			continue
		}
		stack := []frame{{node: root}}
		state[root] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(g.out[top.node]) {
				state[top.node] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			to := g.edges[g.out[top.node][top.next]].to
			top.next++
			switch state[to] {
			case unseen:
				state[to] = open
				stack = append(stack, frame{node: to})
			case open:
				var nodes []int
				for _, f := range stack {
					if len(nodes) > 0 || f.node == to {
						nodes = append(nodes, f.node)
					}
				}
				return append(nodes, to)
			}
		}
	}
	return nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Node returns node i of the map.
func (g *Graph) Node(i int) *Node { return &g.nodes[i] }

// Sequential reports whether the map had no edges, so that its nodes run one
// after the other.
func (g *Graph) Sequential() bool { return g.sequential }

// Index returns the number of the node with that id, or -1.
func (g *Graph) Index(id string) int {
	if i, ok := g.index[id]; ok {
		return i
	}
	return -1
}

// Downstream marks the given nodes and all that can be reached from them.
func (g *Graph) Downstream(from ...int) []bool {
	seen := make([]bool, len(g.nodes))
	queue := append([]int(nil), from...)
	for len(queue) > 0 {
		node := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[node] {
			continue
		}
		seen[node] = true
		for _, e := range g.out[node] {
			queue = append(queue, g.edges[e].to)
		}
	}
	return seen
}

// sort brings the nodes of a graph without cycles in an order in which each
// stands behind all that lead to it.
func (g *Graph) sort() {
	open := make([]int, len(g.nodes))
	g.order, g.rank = make([]int, 0, len(g.nodes)), make([]int, len(g.nodes))
	for i := range g.nodes {
		if open[i] = len(g.in[i]); open[i] == 0 {
			g.order = append(g.order, i)
		}
	}
	for at := 0; at < len(g.order); at++ {
		g.rank[g.order[at]] = at
		for _, e := range g.out[g.order[at]] {
			if to := g.edges[e].to; open[to] > 1 {
				open[to]--
			} else {
				g.order = append(g.order, to)
			}
		}
	}
}

// way asks whether edges lead from one node to another.
type way struct{ from, to int }

// leads answers many ways at once: 64 starts in one walk over the graph, where a
// walk for each would take the square of the time.
func (g *Graph) leads(ways []way) []bool {
	answers := make([]bool, len(ways))
	asked := make([][]int, len(g.nodes)) // ways by their start
	var starts []int
	for k, w := range ways {
		if asked[w.from] == nil {
			starts = append(starts, w.from)
		}
		asked[w.from] = append(asked[w.from], k)
	}
	for len(starts) > 0 {
		some := starts[:min(64, len(starts))]
		starts = starts[len(some):]
		bit := make(map[int]uint64, len(some))
		for k, start := range some {
			bit[start] = 1 << k
		}
		reached := make([]uint64, len(g.nodes)) // by which of the starts
		for _, i := range g.order {
			onward := reached[i] | bit[i]
			if onward == 0 {
				continue
			}
			for _, e := range g.out[i] {
				reached[g.edges[e].to] |= onward
			}
		}
		for _, start := range some {
			for _, k := range asked[start] {
				answers[k] = reached[ways[k].to]&bit[start] != 0
			}
		}
	}
	return answers
}
