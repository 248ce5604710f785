package engine

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
)

// loop is the state of a for-each node. All of it follows from the journal: items begin
// in order while fewer than concurrency are active.
type loop struct {
	items        []any
	concurrency  int      // maximum number of active items
	frames       []*frame // by item; nil = not begun
	size         int      // of items
	next         int
	active       int  // begun and not over
	halted       bool // no more items begin
	tooManySteps bool // halted for maxSteps
}

func (r *fold) beginLoop(n *nodeRun, e *entry) {
	given, _ := e.Output.([]any)
	items := r.editedItems(n, given)
	r.move(n, looping)
	before := n.loop
	n.loop = &loop{items: items, concurrency: max(1, e.read().Most), frames: make([]*frame, 0, len(items)), size: e.size, halted: n.frame.plan.Halted()}
	if e.size == 0 || len(r.begin.Edits) > 0 {
		n.loop.size, _ = jsonSize(items, maxSize)
	}
	r.outputSize += n.loop.size
	if before != nil && len(before.items) == len(items) { // another attempt keeps finished items
		n.loop.keepFinished(before)
	}
	if before != nil {
		r.outputSize -= before.size
		r.inherit(n, before)
	}
	r.beginItems(n, e.At)
}

// editedItems returns the items of a for-each node with those that were edited.
func (r *fold) editedItems(n *nodeRun, items []any) []any {
	if len(r.begin.Edits) == 0 {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		if edited, ok := r.begin.Edits[fmt.Sprintf("%s[%d]", n.address(), i)]; ok {
			items[i] = edited
		}
	}
	return items
}

func (l *loop) keepFinished(before *loop) {
	for _, f := range before.frames {
		if f != nil && !f.finished() {
			f = nil
		}
		l.frames = append(l.frames, f)
	}
}

// finished reports whether the item ended well, possibly early.
func (f *frame) finished() bool {
	return f.closed && f.failed < 0 && (f.early || !f.plan.Halted())
}

// inherit carries over the work on items that begin again: finished nodes are reused, and
// all usage stays counted.
func (r *fold) inherit(n *nodeRun, before *loop) {
	for k, f := range before.frames {
		if f != nil && (k >= len(n.loop.frames) || n.loop.frames[k] != f) {
			r.inheritItem(n, f)
		}
	}
}

// inheritItem does so for the nodes of one item. A finished for-each node stays as it is,
// with all its items.
func (r *fold) inheritItem(n *nodeRun, f *frame) {
	for i := range f.nodes {
		m := &f.nodes[i]
		n.inheritUsage(m)
		r.outputSize -= m.storedSize()
		if m.settled() {
			done := m.step()
			done.loop = m.loop
			m.eachOfItems(func(inner *nodeRun) {
				n.inheritUsage(inner)
				r.outputSize -= inner.storedSize()
				done.Acted = done.Acted || inner.acted
			})
			r.reused[done.Node] = &done
			continue
		}
		if m.loop == nil {
			continue
		}
		for _, item := range m.loop.frames {
			if item != nil {
				r.inheritItem(n, item)
			}
		}
	}
}

// inheritUsage moves the usage of a node of an item that begins again to its for-each node.
func (n *nodeRun) inheritUsage(m *nodeRun) {
	if m.usage != nil {
		n.use(m.usage)
		m.usage = nil
	}
	n.signIn = n.signIn || m.signIn
}

// storedSize returns what a node of an item counts in the run's outputSize.
func (m *nodeRun) storedSize() int {
	switch {
	case m.loop != nil:
		return m.loop.size
	case !m.pass && m.state() == blueprint.NodeCompleted:
		return m.outputSize
	default:
		return 0
	}
}

// reuseLoop settles a for-each node of an item that began again, with its items and result
// from before. The nodes after it keep their results, so its own must not change either.
func (r *fold) reuseLoop(s *step) {
	delete(r.reused, s.Node)
	n := r.find(s.Node)
	n.frame.plan.Start(n.index)
	n.writers = r.visibleWriters(n)
	n.loop, n.start, n.end, n.attempt = s.loop, s.Start, s.End, s.Attempt
	n.err, n.masked, n.acted = s.Error, s.Masked, s.Acted
	for _, item := range n.loop.frames {
		if item != nil {
			item.parent = n.frame
		}
	}
	r.outputSize += n.storedSize()
	n.eachOfItems(func(m *nodeRun) { r.outputSize += m.storedSize() })
	if s.Error != nil {
		r.failNode(n, s.End)
		return
	}
	n.output, n.outputSize = r.outputs(n.loop)
	n.frame.plan.Complete(n.index, "")
}

// settled reports whether the node ended in a way that lets a repeated item reuse it: it
// neither ended its item nor was stopped between two attempts.
func (m *nodeRun) settled() bool {
	state := m.state()
	return state == blueprint.NodeCompleted && !m.endsItem || state == blueprint.NodeFailed && !m.haltedWalk
}

// repeatable reports whether unfinished items may begin again: not if a node that must not
// act twice has acted, or may have acted, and did not finish.
func (l *loop) repeatable() bool {
	if l.tooManySteps {
		return false
	}
	return !slices.ContainsFunc(l.frames, func(f *frame) bool { return f != nil && !f.finished() && f.isDoubtful() })
}

// rejected reports whether a decision failed an item: asking again could turn a rejection into
// an approval.
func (l *loop) rejected() bool {
	return slices.ContainsFunc(l.frames, func(f *frame) bool {
		if f == nil || f.finished() {
			return false
		}
		for i := range f.nodes {
			m := &f.nodes[i]
			if m.rejected || !m.settled() && m.loop != nil && m.loop.rejected() {
				return true
			}
		}
		return false
	})
}

// isDoubtful reports whether a node of an item, or of one within it, might act twice if the
// item began again.
func (f *frame) isDoubtful() bool {
	for i := range f.nodes {
		m := &f.nodes[i]
		within := func(item *frame) bool { return item != nil && item.isDoubtful() }
		if !m.settled() && (m.acted || m.loop != nil && slices.ContainsFunc(m.loop.frames, within)) {
			return true
		}
	}
	return false
}

// beginItems begins items up to the concurrency limit; it settles the node without any.
func (r *fold) beginItems(n *nodeRun, at blueprint.Time) {
	l := n.loop
	for ; l.next < len(l.items) && l.active < l.concurrency && !l.halted; l.next++ {
		if l.next < len(l.frames) && l.frames[l.next] != nil {
			continue
		}
		if r.steps += n.node().body.graph.Len(); r.steps > maxSteps {
			l.halted, l.tooManySteps = true, true
			break
		}
		r.beginItem(n, l.next)
	}
	if l.active == 0 && n.phase == looping {
		r.endLoop(n, at)
	}
}

func (r *fold) beginItem(n *nodeRun, item int) {
	l := n.loop
	f := newFrame(n.node().body, n.frame, n.index, item)
	weight, err := jsonSize(l.items[item], maxSize)
	if err != nil {
		weight = maxSize
	}
	f.value = sizedValue{l.items[item], weight}
	for len(l.frames) <= item {
		l.frames = append(l.frames, nil)
	}
	l.frames[item] = f
	l.active++
	r.reuse(f)
	if f.plan.Done() {
		f.closed = true
		l.active--
		return
	}
	r.markReady(f)
}

// maxSteps bounds the steps of all items of a run.
const maxSteps = 200_000

// closeFrame closes a frame that is over, continues its for-each node, and so on outward.
func (r *fold) closeFrame(f *frame, at blueprint.Time) {
	for f.parent != nil && !f.closed && !f.reusing && f.plan.Done() {
		f.closed = true
		n := f.loopNode()
		n.loop.active--
		r.beginItems(n, at)
		f = n.frame
	}
	r.markReady(f)
}

// endLoop settles a for-each node without active items.
func (r *fold) endLoop(n *nodeRun, at blueprint.Time) {
	l := n.loop
	r.move(n, idle)
	n.end = at
	switch failed := l.failure(); {
	case r.canceled != nil:
		n.err = cancelledStep()
		r.failNode(n, at)
	case n.frame.plan.Halted():
		n.dropped = true
		n.frame.plan.Skip(n.index)
	case failed != nil:
		n.err = failed
		f := &blueprint.Failure{Message: failed.Message, Code: failed.Code, Permanent: l.rejected()}
		if mayRepeat(n, n.attempt, f) && l.repeatable() {
			n.phase = idle
			r.move(n, waiting)
			n.end, n.due, n.retry, n.next = 0, blueprint.TimeOf(at.Time().Add(r.delay(n, n.attempt, f))), true, n.attempt+1
			return
		}
		r.failNode(n, at)
	default:
		n.err = nil
		n.output, n.outputSize = r.outputs(l)
		n.frame.plan.Complete(n.index, "")
	}
	r.reuse(n.frame) // successors waited for it
	r.closeFrame(n.frame, at)
}

// failure returns the error of the first failed item, nil when none failed.
func (l *loop) failure() *blueprint.StepError {
	if l.tooManySteps {
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

// outputs returns the outputs of the items, in order, and their size.
func (r *fold) outputs(l *loop) ([]any, int) {
	out, weight := make([]any, len(l.items)), 2
	for i, f := range l.frames {
		value, w := r.output(f)
		out[i] = value
		weight = min(weight+2+w, maxSize)
	}
	return out, weight
}

// output returns the output of the end nodes of a frame and its size: for one node its
// output, for several an object by node id, null for none.
func (r *fold) output(f *frame) (any, int) {
	ends := f.plan.Ends()
	switch len(ends) {
	case 0:
		return nil, 4
	case 1:
		n := r.withOutput(&f.nodes[ends[0]])
		return n.output, n.outputSize
	}
	object, weight := make(map[string]any, len(ends)), 0
	for _, i := range ends {
		n := r.withOutput(&f.nodes[i])
		object[n.node().ID] = n.output
		weight = min(weight+6+len(n.node().ID)+n.outputSize, maxSize)
	}
	return object, weight
}

// halt stops a frame and everything within it: nothing starts any more, and nodes that are
// not running settle.
func (r *fold) halt(f *frame, at blueprint.Time) {
	f.plan.Halt()
	for i := range f.nodes {
		if n := &f.nodes[i]; n.phase == looping {
			r.haltLoop(n, at)
		} else {
			r.dropNode(n, at)
		}
	}
}

// haltLoop stops all items of a for-each node, and settles it once no node is running.
func (r *fold) haltLoop(n *nodeRun, at blueprint.Time) {
	l := n.loop
	l.halted = true
	for _, f := range l.frames {
		if f == nil || f.closed {
			continue
		}
		if r.halt(f, at); !f.closed && f.plan.Done() { // a for-each node in it may have closed it
			f.closed = true
			l.active--
		}
	}
	if l.active == 0 && n.phase == looping {
		r.endLoop(n, at)
	}
}
