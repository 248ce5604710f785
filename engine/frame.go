package engine

import (
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// frame is one walk over a graph: that of the run, or that of one item of a
// for-each node. Its fields are final but for those marked, which run.mu
// guards.
type frame struct {
	body   *body
	plan   *blueprint.Plan // guarded
	nodes  []nodeRun       // never moved: who starts later reads what is final of them without the lock
	parent *frame          // nil for the run's own
	at     int             // the for-each node in parent
	item   int             // which item, from 0
	value  weighed         // the item
	prefix string          // of the addresses of its nodes

	failed  int  // guarded: the node whose failure stopped this walk, -1 for none
	listed  bool // guarded: in run.ready
	opening bool // guarded: what an earlier run had finished is being settled
	closed  bool // guarded: over, and its for-each node knows
	early   bool // guarded: a node of the item ended it
}

// newFrame begins a walk.
func newFrame(b *body, parent *frame, at, item int) *frame {
	f := &frame{body: b, plan: blueprint.NewPlan(b.graph), nodes: make([]nodeRun, b.graph.Len()), parent: parent, at: at, item: item, failed: -1}
	for i := range f.nodes {
		f.nodes[i].frame, f.nodes[i].index = f, i
	}
	if parent != nil {
		f.prefix = parent.prefix + parent.body.nodes[at].ID + "[" + strconv.Itoa(item) + "]/"
	}
	return f
}

// node gives what the run's program says of a node.
func (n *nodeRun) node() *compiled { return &n.frame.body.nodes[n.index] }

// address is unique in the run: "loop[3]/inner" for a node of an item.
func (n *nodeRun) address() string { return n.frame.prefix + n.node().ID }

func (n *nodeRun) state() blueprint.NodeState { return n.frame.plan.State(n.index) }

// inputs gives the taken predecessors. r.mu is held.
func (n *nodeRun) inputs() []*nodeRun {
	from := n.frame.plan.Inputs(n.index)
	out := make([]*nodeRun, len(from))
	for i, index := range from {
		out[i] = &n.frame.nodes[index]
	}
	return out
}

// holder gives the for-each node that a walk belongs to; nil for the run's own.
func (f *frame) holder() *nodeRun {
	if f.parent == nil {
		return nil
	}
	return &f.parent.nodes[f.at]
}

// find gives the node of an address, nil when there is none (yet). The run's mu is held.
func (r *fold) find(address string) *nodeRun { return find(r.root, address) }

func find(f *frame, address string) *nodeRun {
	if i := f.body.graph.Index(address); i >= 0 {
		return &f.nodes[i]
	}
	head, rest, inner := strings.Cut(address, "]/")
	at := strings.LastIndexByte(head, '[')
	if !inner || at < 0 {
		return nil
	}
	i := f.body.graph.Index(head[:at])
	item, err := strconv.Atoi(head[at+1:])
	if i < 0 || err != nil || strconv.Itoa(item) != head[at+1:] || f.nodes[i].loop == nil || item < 0 || item >= len(f.nodes[i].loop.frames) || f.nodes[i].loop.frames[item] == nil {
		return nil
	}
	return find(f.nodes[i].loop.frames[item], rest)
}

// list notes that a walk may have nodes to start. The run's mu is held.
func (r *fold) list(f *frame) {
	if !f.listed && f.plan.CanStart() {
		f.listed = true
		r.ready = append(r.ready, f)
	}
}

// first gives a node that may start now, nil when there is none. The run's mu is held.
func (r *fold) first() *nodeRun {
	for len(r.ready) > 0 {
		f := r.ready[0]
		if i, ok := f.plan.First(); ok {
			return &f.nodes[i]
		}
		f.listed = false
		r.ready[0] = nil
		r.ready = r.ready[1:]
	}
	return nil
}

// startable tells whether a node could start now. The run's mu is held.
func (r *fold) startable() bool { return len(r.again) > 0 || r.first() != nil }

// each calls f for every node: those of the run in the order of the map, behind
// each for-each node those of its items in turn. The run's mu is held.
func (r *fold) each(f func(n *nodeRun)) { walk(r.root, f) }

func walk(within *frame, f func(n *nodeRun)) {
	for i := range within.nodes {
		n := &within.nodes[i]
		f(n)
		if n.loop == nil {
			continue
		}
		for _, item := range n.loop.frames {
			if item != nil {
				walk(item, f)
			}
		}
	}
}
