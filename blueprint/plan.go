package blueprint

import (
	"fmt"
	"slices"
)

// NodeState is the state of a node in a Plan.
type NodeState uint8

// The states of a node. Every state but NodePending and NodeStarted is final.
const (
	NodePending   NodeState = iota // not started
	NodeStarted                    // started and not settled
	NodeCompleted                  // ran and has an output
	NodeFailed                     // ran and failed
	NodeSkipped                    // no edge was taken, or the run ended early
	NodePassed                     // disabled: did not run, passed on its input
)

// Plan is a walk over a Graph: it returns the nodes that are ready, and the caller
// reports the result of each. It is deterministic and not safe for concurrent use.
//
// A node is ready once all incoming edges are settled and at least one was taken; if
// none was, it is skipped and its edges are not taken. A disabled node is passed at once.
type Plan struct {
	graph   *Graph
	state   []NodeState
	open    []int  // per node: incoming edges not settled yet
	taken   []bool // per edge
	ready   []int  // ascending
	started int
	halted  bool
	led     [][]uint64 // per node: the nodes that led to it, as bits; nil until needed
}

// NewPlan returns a Plan at its start.
func NewPlan(graph *Graph) *Plan {
	n := len(graph.nodes)
	p := &Plan{graph: graph, state: make([]NodeState, n), open: make([]int, n), taken: make([]bool, len(graph.edges))}
	for i := range graph.nodes {
		p.open[i] = len(graph.in[i])
	}
	for i := range graph.nodes {
		if len(graph.in[i]) == 0 {
			p.arrive(i)
		}
	}
	return p
}

// arrive is called once for each node when its last incoming edge settles. It continues
// through skipped and disabled nodes without recursion.
func (p *Plan) arrive(first int) {
	queue := []int{first}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if p.state[i] != NodePending {
			continue
		}
		live := len(p.graph.in[i]) == 0
		for _, e := range p.graph.in[i] {
			live = live || p.taken[e]
		}
		switch {
		case !live:
			queue = append(queue, p.settle(i, NodeSkipped, func(string) bool { return false })...)
		case p.graph.nodes[i].Disabled:
			queue = append(queue, p.settle(i, NodePassed, func(handle string) bool { return handle == "" })...)
		default:
			at, _ := slices.BinarySearch(p.ready, i)
			p.ready = slices.Insert(p.ready, at, i)
		}
	}
}

// settle sets the final state of node i, takes its edges as take decides, and returns
// the nodes whose last incoming edge this settled.
func (p *Plan) settle(i int, state NodeState, take func(handle string) bool) (arrived []int) {
	p.state[i] = state
	for _, e := range p.graph.out[i] {
		edge := p.graph.edges[e]
		p.taken[e] = take(edge.handle)
		if p.open[edge.to]--; p.open[edge.to] == 0 {
			arrived = append(arrived, edge.to)
		}
	}
	return arrived
}

// Ready returns the nodes that may start, in the order of the map; none after Halt.
func (p *Plan) Ready() []int {
	if p.halted {
		return nil
	}
	return slices.Clone(p.ready)
}

// First returns the first node of Ready.
func (p *Plan) First() (i int, ok bool) {
	if !p.CanStart() {
		return 0, false
	}
	return p.ready[0], true
}

// Precedes reports whether edges that were taken lead from one node to another, which
// must be ready or later.
func (p *Plan) Precedes(from, to int) bool {
	return from < len(p.state) && p.ledTo(to)[from/64]>>(from%64)&1 == 1
}

// ledTo returns the nodes that led to one, as bits. It reuses earlier results.
func (p *Plan) ledTo(to int) []uint64 {
	if p.led == nil {
		p.led = make([][]uint64, len(p.state))
	}
	if p.led[to] != nil {
		return p.led[to]
	}
	found := make([]uint64, (len(p.state)+63)/64)
	for open := []int{to}; len(open) > 0; {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, e := range p.graph.in[i] {
			from := p.graph.edges[e].from
			if !p.taken[e] || found[from/64]>>(from%64)&1 == 1 {
				continue
			}
			found[from/64] |= 1 << (from % 64)
			if p.led[from] == nil {
				open = append(open, from)
				continue
			}
			for word, bits := range p.led[from] {
				found[word] |= bits
			}
		}
	}
	p.led[to] = found
	return found
}

// CanStart reports whether any node is ready.
func (p *Plan) CanStart() bool { return !p.halted && len(p.ready) > 0 }

func (p *Plan) IsReady(i int) bool {
	_, ready := slices.BinarySearch(p.ready, i)
	return ready && !p.halted
}

// Start starts a ready node. It panics if the node is not ready.
func (p *Plan) Start(i int) {
	at, ready := slices.BinarySearch(p.ready, i)
	if !ready || p.halted {
		panic(fmt.Sprintf("blueprint: node %d was started without being ready", i))
	}
	p.ready = slices.Delete(p.ready, at, at+1)
	p.state[i] = NodeStarted
	p.started++
}

// Complete settles a started node and takes its edges without a handle and of handle.
func (p *Plan) Complete(i int, handle string) {
	p.end(i, NodeCompleted, func(h string) bool { return h == "" || h == handle })
}

// Fail settles a started node that failed. With OnErrorContinue its edges without a
// handle are taken, with OnErrorBranch those of ErrorHandle. With OnErrorStop none are
// taken and the walk halts.
func (p *Plan) Fail(i int, reaction OnError) {
	switch reaction {
	case OnErrorContinue:
		p.end(i, NodeFailed, func(h string) bool { return h == "" })
	case OnErrorBranch:
		p.end(i, NodeFailed, func(h string) bool { return h == ErrorHandle })
	default:
		p.Halt()
		p.end(i, NodeFailed, func(string) bool { return false })
	}
}

// Finish settles a started node as completed and ends the run early: its edges are not
// taken, and nodes that have not started are skipped unless the walk was halted.
func (p *Plan) Finish(i int) {
	if !p.halted {
		p.skipPending()
	}
	p.end(i, NodeCompleted, func(string) bool { return false })
}

// Stop ends the walk early: nodes that have not started are skipped, others still settle.
func (p *Plan) Stop() {
	if !p.halted {
		p.skipPending()
	}
}

// Skip settles a started node as skipped, such as a waiting one when the run stops.
func (p *Plan) Skip(i int) { p.end(i, NodeSkipped, func(string) bool { return false }) }

func (p *Plan) end(i int, state NodeState, take func(string) bool) {
	if p.state[i] != NodeStarted {
		panic(fmt.Sprintf("blueprint: node %d was settled without being started", i))
	}
	p.started--
	if p.halted {
		p.state[i] = state // nothing starts any more
		return
	}
	for _, node := range p.settle(i, state, take) {
		p.arrive(node)
	}
}

// Halt stops the walk: no more nodes start. Started nodes still settle.
func (p *Plan) Halt() { p.halted = true }

// skipPending skips all nodes that have not started, and halts.
func (p *Plan) skipPending() {
	p.halted = true
	for i, state := range p.state {
		if state == NodePending {
			p.state[i] = NodeSkipped
		}
	}
}

// Halted reports whether Halt, Finish or a stopping failure ended the walk.
func (p *Plan) Halted() bool { return p.halted }

func (p *Plan) State(i int) NodeState { return p.state[i] }

// Done reports whether no node is started and none can start.
func (p *Plan) Done() bool { return p.started == 0 && !p.CanStart() }

// Inputs returns the sources of the taken edges to node i, in the order of the edges and
// without duplicates.
func (p *Plan) Inputs(i int) []int {
	var sources []int
	var seen map[int]bool // only where many edges meet
	for _, e := range p.graph.in[i] {
		from := p.graph.edges[e].from
		switch {
		case !p.taken[e] || seen[from]:
			continue
		case seen != nil:
			seen[from] = true
		case slices.Contains(sources, from):
			continue
		case len(sources) == 32:
			seen = map[int]bool{from: true}
			for _, source := range sources {
				seen[source] = true
			}
		}
		sources = append(sources, from)
	}
	return sources
}

// Ends returns the ends of the run in the order of the map: nodes that completed, were
// passed, or failed without stopping the run, and have no taken outgoing edge.
func (p *Plan) Ends() []int {
	var ends []int
	for i, state := range p.state {
		if state != NodeCompleted && state != NodePassed && !(state == NodeFailed && p.graph.nodes[i].OnError != OnErrorStop) {
			continue
		}
		if !slices.ContainsFunc(p.graph.out[i], func(e int) bool { return p.taken[e] }) {
			ends = append(ends, i)
		}
	}
	return ends
}
