package blueprint

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
