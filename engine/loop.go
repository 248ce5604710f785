package engine

import (
	"fmt"

	"blueprintd/blueprint"
)

// loop is what a for-each node is doing. All of it follows from the journal:
// items are begun in their order as soon as there is room, and what an item
// does is told by the entries of its nodes.
type loop struct {
	items  []any
	most   int      // items at work at once
	frames []*frame // by item; nil = not begun
	weight int      // of items
	next   int      // the item to look at next
	open   int      // begun and not over
	halted bool     // nothing more is begun
	full   bool     // because the run has as many steps as it may
}

// beginLoop lets a for-each node go over its items. The run's mu is held.
func (r *fold) beginLoop(n *nodeRun, e *entry) {
	items, _ := e.Output.([]any)
	r.move(n, looping)
	before := n.loop
	n.loop = &loop{items: items, most: max(1, e.Most), frames: make([]*frame, 0, len(items)), weight: e.weight, halted: n.frame.plan.Halted()}
	if e.weight == 0 {
		n.loop.weight, _ = weigh(e.Output, tooHeavy)
	}
	r.total += n.loop.weight
	if before != nil && len(before.items) == len(items) { // another attempt: what was done stays
		n.loop.kept(before)
	}
	if before != nil {
		r.total -= before.weight
		r.inherit(n, before)
	}
	r.more(n, e.At)
}

// kept takes over the items that an earlier attempt finished.
func (l *loop) kept(before *loop) {
	for _, f := range before.frames {
		if f != nil && !f.finished() {
			f = nil
		}
		l.frames = append(l.frames, f)
	}
}

// finished reports whether an item came to its end, be it an early one.
func (f *frame) finished() bool {
	return f.closed && f.failed < 0 && (f.early || !f.plan.Halted())
}

// inherit takes over what was done of items that begin anew: their finished
// nodes are settled as they were, and what all their nodes used stays used.
// The run's mu is held.
func (r *fold) inherit(n *nodeRun, before *loop) {
	for k, f := range before.frames {
		if f == nil || k < len(n.loop.frames) && n.loop.frames[k] == f {
			continue
		}
		walk(f, func(m *nodeRun) {
			n.calls = append(n.calls, m.calls...)
			n.tokens += m.tokens
			n.models += m.models
			n.note(m.uses, m.servers)
			n.signIn = n.signIn || m.signIn
			switch {
			case m.loop != nil:
				r.total -= m.loop.weight
			case !m.settled():
			default:
				if !m.pass && m.state() == blueprint.NodeCompleted {
					r.total -= m.weight
				}
				done := m.step()
				r.reused[done.Node] = &done
			}
		})
	}
}

// settled reports whether the node came to an end that nothing behind it minds:
// one that ended its item, or that was stopped between two attempts, did not.
func (m *nodeRun) settled() bool {
	state := m.state()
	return state == blueprint.NodeCompleted && !m.item || state == blueprint.NodeFailed && !m.halts
}

// repeatable reports whether the items may begin anew: not when a node that must
// not act twice has acted, or may have, and did not finish.
func (l *loop) repeatable() bool {
	doubtful := false
	for _, f := range l.frames {
		if f != nil && !f.finished() {
			walk(f, func(m *nodeRun) { doubtful = doubtful || m.acted && !m.settled() })
		}
	}
	return !doubtful && !l.full
}

// more begins items while there is room, and settles the node when none is
// left. The run's mu is held.
func (r *fold) more(n *nodeRun, at blueprint.Time) {
	l := n.loop
	for ; l.next < len(l.items) && l.open < l.most && !l.halted; l.next++ {
		if l.next < len(l.frames) && l.frames[l.next] != nil {
			continue
		}
		if r.steps += n.node().body.graph.Len(); r.steps > maxSteps {
			l.halted, l.full = true, true
			break
		}
		r.beginItem(n, l.next)
	}
	if l.open == 0 && n.phase == looping {
		r.endLoop(n, at)
	}
}

// beginItem begins one item. The run's mu is held.
func (r *fold) beginItem(n *nodeRun, item int) {
	l := n.loop
	f := newFrame(n.node().body, n.frame, n.index, item)
	weight, err := weigh(l.items[item], tooHeavy)
	if err != nil {
		weight = tooHeavy
	}
	f.value = weighed{l.items[item], weight}
	for len(l.frames) <= item {
		l.frames = append(l.frames, nil)
	}
	l.frames[item] = f
	l.open++
	r.reuse(f)
	if f.plan.Done() {
		f.closed = true
		l.open--
		return
	}
	r.list(f)
}

// maxSteps is how many steps of items a run may have.
const maxSteps = 200_000

// close tells the for-each node of a walk that is over, and so on outward.
// The run's mu is held.
func (r *fold) close(f *frame, at blueprint.Time) {
	for f.parent != nil && !f.closed && !f.opening && f.plan.Done() {
		f.closed = true
		n := f.holder()
		n.loop.open--
		r.more(n, at)
		f = n.frame
	}
	r.list(f)
}

// endLoop settles a for-each node of which no item is under way. The run's mu is held.
func (r *fold) endLoop(n *nodeRun, at blueprint.Time) {
	l := n.loop
	r.move(n, idle)
	n.end = at
	switch failed := l.failure(); {
	case r.canceled != nil:
		n.err = cancelledStep()
		r.fell(n, at)
	case n.frame.plan.Halted():
		n.dropped = true
		n.frame.plan.Skip(n.index)
	case failed != nil:
		n.err = failed
		f := &blueprint.Failure{Message: failed.Message, Code: failed.Code}
		if mayRepeat(n, n.attempt, f) && l.repeatable() {
			n.phase = idle
			r.move(n, waiting)
			n.end, n.due, n.retry, n.next = 0, blueprint.TimeOf(at.Time().Add(r.delay(n, n.attempt, f))), true, n.attempt+1
			return
		}
		r.fell(n, at)
	default:
		n.err = nil
		n.output, n.weight = r.outputs(l)
		n.frame.plan.Complete(n.index, "")
	}
	r.reuse(n.frame) // what stood behind this node waited for it
	r.close(n.frame, at)
}

// failure says why the first item failed that did; nil when none did.
func (l *loop) failure() *blueprint.StepError {
	if l.full {
		return &blueprint.StepError{Message: fmt.Sprintf("the run would have more than %d steps", maxSteps), Code: "too_large"}
	}
	for _, f := range l.frames {
		if f == nil || f.failed < 0 {
			continue
		}
		n := &f.nodes[f.failed]
		out := &blueprint.StepError{Message: fmt.Sprintf("item %d: node %q failed", f.item, n.node().ID)}
		if n.err != nil {
			out.Message += ": " + n.err.Message
			out.Code = n.err.Code
		}
		return out
	}
	return nil
}

// output gives the last outputs of the items, in their order.
func (r *fold) outputs(l *loop) ([]any, int) {
	out, weight := make([]any, len(l.items)), 2
	for i, f := range l.frames {
		value, w := r.output(f)
		out[i] = value
		weight = min(weight+2+w, tooHeavy)
	}
	return out, weight
}

// output returns what the ends of a walk handed on: that of one as it is, of
// several an object by node id, null for none.
func (r *fold) output(f *frame) (any, int) {
	ends := f.plan.Ends()
	switch len(ends) {
	case 0:
		return nil, 4
	case 1:
		n := r.handed(&f.nodes[ends[0]])
		return n.output, n.weight
	}
	object, weight := make(map[string]any, len(ends)), 0
	for _, i := range ends {
		n := r.handed(&f.nodes[i])
		object[n.node().ID] = n.output
		weight = min(weight+6+len(n.node().ID)+n.weight, tooHeavy)
	}
	return object, weight
}

// halt stops a walk and all within it: nothing starts any more, what nobody
// works on is settled. The run's mu is held.
func (r *fold) halt(f *frame, at blueprint.Time) {
	f.plan.Halt()
	for i := range f.nodes {
		if n := &f.nodes[i]; n.phase == looping {
			r.haltLoop(n, at)
		} else {
			r.drop(n, at)
		}
	}
}

// haltLoop stops all items of a for-each node, and settles it when none of
// their nodes is at work. The run's mu is held.
func (r *fold) haltLoop(n *nodeRun, at blueprint.Time) {
	l := n.loop
	l.halted = true
	for _, f := range l.frames {
		if f == nil || f.closed {
			continue
		}
		if r.halt(f, at); !f.closed && f.plan.Done() { // a for-each node in it may have closed it
			f.closed = true
			l.open--
		}
	}
	if l.open == 0 && n.phase == looping {
		r.endLoop(n, at)
	}
}
