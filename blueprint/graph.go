package blueprint

import (
	"fmt"
	"slices"
	"strings"
)

// Graph is a compiled Map whose nodes are indexes in the map. It is immutable.
type Graph struct {
	nodes      []Node
	sequential bool
	edges      []link
	in, out    [][]int // node -> its edges, in the order of the map
	index      map[string]int
	order      []int // topological order of the nodes
	rank       []int // per node: its index in order
}

type link struct {
	from, to int
	handle   string
}

// Compile builds the graph of a parsed map. Without edges each node is connected to the
// next. A cycle is an issue.
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

// maxRoute is how many nodes of a cycle an issue names.
const maxRoute = 20

// route formats a path of nodes, without the middle of a long one.
func (g *Graph) route(nodes []int) string {
	var text strings.Builder
	for i, node := range nodes {
		left := len(nodes) - i
		if i >= maxRoute/2 && left > maxRoute/2 {
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

// cycle returns a cycle with its first node repeated at the end, or nil. It is not
// recursive because a map may be 10,000 nodes deep.
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

func (g *Graph) Len() int { return len(g.nodes) }

func (g *Graph) Node(i int) *Node { return &g.nodes[i] }

// Sequential reports whether the map has no edges, so that its nodes run in order.
func (g *Graph) Sequential() bool { return g.sequential }

// Index returns the index of a node, or -1.
func (g *Graph) Index(id string) int {
	if i, ok := g.index[id]; ok {
		return i
	}
	return -1
}

// Downstream reports for each node whether it is reachable from one of from, or is one.
func (g *Graph) Downstream(from ...int) []bool {
	seen := make([]bool, len(g.nodes))
	queue := slices.Clone(from)
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

// sort computes a topological order of an acyclic graph.
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

// way is a pair of nodes: a start and a target.
type way struct{ from, to int }

// leads reports for each way whether edges lead from its first node to its second. One
// walk over the graph handles 64 start nodes.
func (g *Graph) leads(ways []way) []bool {
	answers := make([]bool, len(ways))
	byStart := make([][]int, len(g.nodes)) // ways by their start
	var starts []int
	for k, w := range ways {
		if byStart[w.from] == nil {
			starts = append(starts, w.from)
		}
		byStart[w.from] = append(byStart[w.from], k)
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
			for _, k := range byStart[start] {
				answers[k] = reached[ways[k].to]&bit[start] != 0
			}
		}
	}
	return answers
}
