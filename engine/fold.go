package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// fold is what a run has come to. It follows from the program and the entries of
// the journal, applied in their order, and from nothing else: no clock, no disk,
// no engine.
type fold struct {
	id        string
	begin     *begin
	program   *program
	root      *frame
	steps     int              // of items, whatever became of them
	ready     []*frame         // walks that may have nodes to start
	weight    int              // of begin.InputData
	total     int              // weight of all outputs
	count     [phases]int      // nodes in each phase; that of idle is not kept
	again     []*nodeRun       // started nodes that are due for another attempt
	reused    map[string]*step // by address: what an earlier run had finished, until it is settled
	bound     map[string]any   // variables by declaration and caller
	masker    atomic.Pointer[secret.Masker]
	secrets   []any    // the values of its secret variables
	hidden    []string // other secrets that its values may hold, sorted: of connections, and of runs that handed it something
	bounds    []bound  // the budgets that hold for it, outermost first
	spending  spending // of its family, when it is the first of bounds
	led       int      // how many runs it and those below have started, when it is the first run
	logs      []blueprint.LogEntry
	respond   *blueprint.Response
	orphans   []string // runs that nobody waits for any more, to be cancelled
	stopped   *nodeRun // the node of an item that failed the run at once
	canceled  *string
	exchanges []blueprint.Exchange // of a run that is recorded
	taped     int                  // bytes of JSON that they take
	tapeFull  bool                 // no more of them are kept
	evidence  int                  // bytes of JSON that the exchanges of failed attempts took
}

// setUp gives the run its program and its beginning. An issue with the
// variables is a CodeBadRequest error.
func (r *fold) setUp(p *program, b *begin, limits Limits) error {
	bound, issues := blueprint.BindVariables(p.definition.Variables, b.Given)
	if len(issues) > 0 {
		return variableError(issues)
	}
	weight, err := weigh(b.InputData, limits.Value)
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "inputData: %s", err)
	}
	r.program, r.begin, r.bound, r.weight = p, b, bound, weight
	r.root = newFrame(&p.body, nil, 0, 0)
	r.keep(&entry{Exchanges: b.Taped})
	for _, name := range p.secrets {
		if bound[name] != nil {
			r.secrets = append(r.secrets, bound[name])
		}
	}
	r.hide(b.Hidden)
	r.bind()
	r.reused = make(map[string]*step, len(b.Reuse))
	for i := range b.Reuse {
		r.reused[b.Reuse[i].Node] = &b.Reuse[i]
	}
	r.reuse(r.root)
	r.list(r.root)
	return nil
}

// apply lets an entry happen to the run. It is the only way a run changes, in
// life and when it is read back. The run's mu is held.
func (r *fold) apply(e *entry) {
	if r.applyToRun(e) {
		return
	}
	if e.Error != nil {
		r.evidence += stepHeft(e.Error.Exchange)
	}
	n := r.find(e.Node)
	n.acted = n.acted && !e.Clean || e.Acted
	r.applyToNode(n, e)
	r.keep(e)
	n.calls = append(n.calls, e.Calls...)
	n.tokens += e.Tokens
	n.models += e.Models
	n.note(e.Uses, e.Servers)
	switch {
	case e.Kind == entryLoop:
		r.beginLoop(n, e)
	case n.frame.plan.Halted() && n.phase > working:
		r.drop(n, e.At) // it came to wait after the walk was stopped
	}
	r.close(n.frame, e.At)
}

// applyToRun applies an entry that is about no node, and reports whether it is one.
func (r *fold) applyToRun(e *entry) bool {
	switch e.Kind {
	case entryLog:
		r.logs = append(r.logs, *e.Log)
	case entryHide:
		r.hide(e.Secrets)
	case entryCancel:
		r.canceled = &e.Reason
		r.halt(r.root, e.At)
	case entryAsk:
		r.spending.ask(e.Number, e.Runs, e.Tokens)
	case entrySpent:
		r.spending.end(e.Number, e.Tokens)
	case entryRaise:
		r.spending.raise(e.Runs, e.Raise)
	case entryLed:
		r.led++
	default:
		return false
	}
	return true
}

// applyToNode moves a node on to what an entry says of it.
func (r *fold) applyToNode(n *nodeRun, e *entry) {
	switch e.Kind {
	case entryStart:
		if n.state() == blueprint.NodePending {
			n.frame.plan.Start(n.index)
			n.start = e.At
			n.writers = r.seen(n)
		}
		if at := slices.Index(r.again, n); at >= 0 {
			r.again = slices.Delete(r.again, at, at+1)
		}
		n.attempt = e.Attempt
		n.acted = n.acted || n.node().effect == blueprint.EffectOnce
		r.move(n, working)
	case entryAgain:
		n.due, n.retry, n.await, n.next = 0, false, nil, e.Attempt
		r.move(n, idle)
		r.again = append(r.again, n)
	case entryRetry:
		n.due, n.retry, n.err, n.masked, n.next = e.Due, true, e.Error, e.Masked, n.attempt+1
		r.move(n, waiting)
	case entryWait:
		n.due = e.Due
		r.move(n, waiting)
	case entryAwait:
		n.due, n.await, n.carried = e.Await.ExpiresAt, e.Await, e.Await.State
		n.signIn = n.signIn || e.Await.Kind == blueprint.AwaitOAuth
		r.move(n, awaiting)
	case entryCall:
		n.child, n.call = e.Child, e.Call
		r.led++
		r.move(n, calling)
	case entryEnd:
		if r.end(n, e); !n.frame.opening {
			r.reuse(n.frame) // what stood behind it waited for it
		}
	}
}

// move changes what a node is doing.
func (r *fold) move(n *nodeRun, to phase) {
	r.count[n.phase]--
	r.count[to]++
	n.phase = to
}

// end settles a node as an entry says.
func (r *fold) end(n *nodeRun, e *entry) {
	n.due, n.await, n.retry = 0, nil, false
	r.move(n, idle)
	n.end = e.At
	n.handle, n.err, n.masked = e.Handle, e.Error, e.Masked
	if e.Respond != nil && r.respond == nil {
		r.respond = e.Respond
	}
	plan := n.frame.plan
	switch {
	case e.Error == nil && e.Stop:
		r.handOn(n, e)
		n.item = e.Item && n.frame != r.root
		n.frame.early = n.frame.early || n.item && !plan.Halted()
		plan.Finish(n.index)
		if within := n.frame; e.Item {
			r.halt(within, e.At)
		} else {
			for ; within != nil; within = within.parent {
				within.plan.Stop()
			}
			r.halt(r.root, e.At)
		}
	case e.Error == nil:
		r.handOn(n, e)
		plan.Complete(n.index, e.Handle)
	case e.Stop && !e.Item && n.frame != r.root:
		r.stopped = n
		r.stoppedBy(n, e.At)
		r.halt(r.root, e.At)
	case e.Stop:
		r.stoppedBy(n, e.At)
	default:
		r.fell(n, e.At)
	}
}

// fell settles a node that failed for good; its error says why. The run's mu is held.
func (r *fold) fell(n *nodeRun, at blueprint.Time) {
	reaction := n.node().OnError
	if r.canceled != nil || reaction == blueprint.OnErrorStop {
		r.stoppedBy(n, at)
		return
	}
	n.output = map[string]any{"error": errorValue(n.err)}
	n.weight = len(n.err.Message)
	n.frame.plan.Fail(n.index, reaction)
}

// stoppedBy settles a node whose failure stops its walk; of several the first
// in the map counts. That of an item stops the other items too. The run's mu is held.
func (r *fold) stoppedBy(n *nodeRun, at blueprint.Time) {
	f := n.frame
	if f.failed < 0 || n.index < f.failed {
		f.failed = n.index
	}
	n.halts = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
	if holder := f.holder(); holder != nil {
		r.haltLoop(holder, at)
	} else {
		r.halt(f, at)
	}
}

// handOn gives a node the output that an entry tells of.
func (r *fold) handOn(n *nodeRun, e *entry) {
	n.pass, n.variables = e.Pass, e.Variables
	if e.Pass {
		n.output, n.weight = r.input(n)
		return
	}
	n.output, n.weight = e.Output, e.weight
	if e.weight == 0 {
		n.weight, _ = weigh(e.Output, tooHeavy)
	}
	r.total += n.weight
	if values, ok := e.Output.(map[string]any); ok && e.Variables {
		n.writers = n.writers.Write(n.index, values)
	}
}

func errorValue(e *blueprint.StepError) map[string]any {
	value := map[string]any{"message": e.Message}
	if e.Code != "" {
		value["code"] = e.Code
	}
	return value
}

// drop settles a node of a halted walk on which nobody works: a wait or a
// question is skipped, a node between two attempts keeps its failure. The
// run's mu is held.
func (r *fold) drop(n *nodeRun, at blueprint.Time) {
	again := slices.Index(r.again, n)
	if n.phase <= working && again < 0 {
		return
	}
	failed := n.retry || again >= 0 && n.err != nil
	n.due, n.await, n.retry, n.end = 0, nil, false, at
	if n.phase == calling {
		r.orphans = append(r.orphans, n.child)
		n.acted = true // that run may have
	}
	r.move(n, idle)
	if again >= 0 {
		r.again = slices.Delete(r.again, again, again+1)
	}
	f := n.frame
	if !failed {
		n.dropped = true
		f.plan.Skip(n.index)
		return
	}
	if f.failed > n.index && n.node().OnError == blueprint.OnErrorStop {
		f.failed = n.index
	}
	n.halts = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
}

// follows reports whether an entry that was read back can have happened. One that
// cannot means a damaged journal.
func (r *fold) follows(e *entry) error {
	switch e.Kind {
	case entryLog:
		if e.Log == nil {
			return fmt.Errorf("a log line is empty")
		}
		return nil
	case entryRaise:
		if e.Raise == nil {
			return fmt.Errorf("a raise of a budget is empty")
		}
		return nil
	case entryCancel, entryHide, entryAsk, entrySpent, entryLed:
		return nil
	}
	n := r.find(e.Node)
	if n == nil {
		return fmt.Errorf("it tells of a node %q that the blueprint does not have", e.Node)
	}
	var ok bool
	switch phase := n.phase; e.Kind {
	case entryStart:
		ok = n.frame.plan.IsReady(n.index) || slices.Contains(r.again, n)
	case entryCall:
		ok = phase == working && e.Child != "" && e.Call != nil
	case entryLoop:
		_, list := e.Output.([]any)
		ok = phase == working && list && n.node().body != nil
	case entryAgain, entryEnd:
		ok = phase != idle
	case entryRetry:
		ok = (phase == working || phase == calling) && e.Error != nil
	case entryWait:
		ok = phase == working
	case entryAwait:
		ok = phase == working && e.Await != nil
	}
	if !ok {
		return fmt.Errorf("the entry %q of node %q does not follow from those before it", e.Kind, e.Node)
	}
	return nil
}

// reuse settles the nodes of a walk that an earlier run had finished, in the
// order of the walk.
func (r *fold) reuse(f *frame) {
	was := f.opening
	f.opening = true
	defer func() { f.opening = was }()
	for progress := len(r.reused) > 0; progress; {
		progress = false
		var enders []*step // of the item: what else was done comes before them
		for _, i := range f.plan.Ready() {
			s, ok := r.reused[f.nodes[i].address()]
			switch {
			case !ok || !f.plan.IsReady(i):
			case s.Item:
				enders = append(enders, s)
			default:
				progress = true
				r.startReused(s)
				r.endReused(s)
			}
		}
		if progress {
			continue
		}
		for _, s := range enders {
			r.startReused(s)
		}
		for _, s := range enders {
			r.endReused(s)
		}
	}
}

func (r *fold) startReused(s *step) {
	delete(r.reused, s.Node)
	r.apply(&entry{Kind: entryStart, Node: s.Node, At: s.Start, Attempt: s.Attempt})
}

func (r *fold) endReused(s *step) {
	r.apply(&entry{Kind: entryEnd, Node: s.Node, At: s.End, Output: s.Output, Pass: s.Pass, Handle: s.Handle, Variables: s.Variables, Stop: s.Item, Item: s.Item, Error: s.Error, Acted: s.Acted, Masked: s.Masked})
}

// status returns the status of a run that has not ended: paused when somebody is
// asked for input and nothing else can be done at once, by another run neither.
func (r *fold) status() blueprint.Status {
	if r.count[working] == 0 && r.count[awaiting] > 0 && r.count[calling] == 0 && !r.startable() {
		return blueprint.StatusPaused
	}
	return blueprint.StatusRunning
}

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

// node returns what the run's program says of a node.
func (n *nodeRun) node() *compiled { return &n.frame.body.nodes[n.index] }

// address is unique in the run: "loop[3]/inner" for a node of an item.
func (n *nodeRun) address() string { return n.frame.prefix + n.node().ID }

func (n *nodeRun) state() blueprint.NodeState { return n.frame.plan.State(n.index) }

// inputs returns the taken predecessors. r.mu is held.
func (n *nodeRun) inputs() []*nodeRun {
	from := n.frame.plan.Inputs(n.index)
	out := make([]*nodeRun, len(from))
	for i, index := range from {
		out[i] = &n.frame.nodes[index]
	}
	return out
}

// holder returns the for-each node that a walk belongs to; nil for the run's own.
func (f *frame) holder() *nodeRun {
	if f.parent == nil {
		return nil
	}
	return &f.parent.nodes[f.at]
}

// find returns the node of an address, nil when there is none (yet). The run's mu is held.
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

// first returns a node that may start now, nil when there is none. The run's mu is held.
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

// startable reports whether a node could start now. The run's mu is held.
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
