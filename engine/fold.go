package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// fold is the state of a run. It is determined only by the program and the journal entries,
// applied in order: it uses no clock, no database and no engine. The caller of a method
// holds the run's mu.
type fold struct {
	id           string
	begin        *begin
	program      *program
	root         *frame
	steps        int              // of items, in any state
	ready        []*frame         // may have nodes to start
	inputSize    int              // of begin.InputData
	outputSize   int              // of all nodes
	count        [phases]int      // nodes in each phase but idle
	restarts     []*nodeRun       // started nodes that are due for another attempt
	reused       map[string]*step // by address: finished steps of an earlier run, until settled
	variables    map[string]any   // declared, with the caller's values
	masker       lazyMasker
	secrets      []any         // values of secret variables
	hidden       []string      // other secrets in its values, sorted: of connections and of related runs
	finder       secret.Finder // of hidden, once it is needed
	bounds       []bound       // budgets of the run, outermost first
	usage        budgetUsage   // of its family, when the first of bounds is its own
	runsStarted  int           // by it and its descendants, when it has no parent
	logs         []blueprint.LogEntry
	response     *blueprint.Response
	orphans      []string // runs that no node waits for any more, to be cancelled
	stopped      *nodeRun // the node of an item that failed the whole run
	canceled     *string
	exchanges    []blueprint.Exchange // of a recorded run
	tapeSize     int                  // bytes of JSON of exchanges
	tapeFull     bool                 // no more exchanges are kept
	evidenceSize int                  // bytes of JSON of the exchanges of failed attempts
}

// setUp sets the program and the beginning. Errors have CodeBadRequest.
func (r *fold) setUp(p *program, b *begin, limits Limits) error {
	bound, issues := blueprint.BindVariables(p.definition.Variables, b.Given)
	if len(issues) > 0 {
		return variableError(issues)
	}
	weight, err := jsonSize(b.InputData, limits.Value)
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "inputData: %s", err)
	}
	r.program, r.begin, r.variables, r.inputSize = p, b, bound, weight
	r.root = newFrame(&p.body, nil, 0, 0)
	r.keepExchanges(&entry{details: &details{Exchanges: b.Taped}})
	for _, name := range p.secrets {
		if bound[name] != nil {
			r.secrets = append(r.secrets, bound[name])
		}
	}
	r.masker.add(r.secrets...)
	r.hide(b.Hidden)
	r.bind()
	r.reused = make(map[string]*step, len(b.Reuse))
	for i := range b.Reuse {
		r.reused[b.Reuse[i].Node] = &b.Reuse[i]
	}
	r.reuse(r.root)
	r.markReady(r.root)
	return nil
}

// apply applies an entry. Only it changes the state, live and in replay.
func (r *fold) apply(e *entry) {
	if r.applyToRun(e) {
		return
	}
	if e.Error != nil {
		r.evidenceSize += stepExchangeSize(e.Error.Exchange)
	}
	n, d := r.find(e.Node), e.read()
	n.acted = n.acted && !d.Clean || d.Acted
	r.applyToNode(n, e)
	r.keepExchanges(e)
	if e.details != nil {
		n.use(&nodeUsage{d.Calls, d.Tokens, d.Models, d.Uses, d.Servers})
	}
	switch {
	case e.Kind == entryLoop:
		r.beginLoop(n, e)
	case n.frame.plan.Halted() && n.phase > working:
		r.dropNode(n, e.At) // it began to wait after its frame was stopped
	}
	r.closeFrame(n.frame, e.At)
}

// applyToRun applies an entry that belongs to no node, and reports whether it is one.
func (r *fold) applyToRun(e *entry) bool {
	d := e.read()
	switch e.Kind {
	case entryLog:
		r.logs = append(r.logs, *d.Log)
	case entryHide:
		r.hide(d.Secrets)
	case entryCancel:
		r.canceled = &d.Reason
		r.halt(r.root, e.At)
	case entryAsk:
		r.usage.addCall(d.Number, d.Runs, d.Tokens)
	case entrySpent:
		r.usage.endCall(d.Number, d.Tokens)
	case entryRaise:
		r.usage.raise(d.Runs, d.Raise)
	case entryStarted:
		r.runsStarted++
	default:
		return false
	}
	return true
}

func (r *fold) applyToNode(n *nodeRun, e *entry) {
	d := e.read()
	switch e.Kind {
	case entryStart:
		if n.state() == blueprint.NodePending {
			n.frame.plan.Start(n.index)
			n.start = e.At
			n.writers = r.visibleWriters(n)
		}
		if at := slices.Index(r.restarts, n); at >= 0 {
			r.restarts = slices.Delete(r.restarts, at, at+1)
		}
		n.attempt = e.Attempt
		n.acted = n.acted || n.node().effect == blueprint.EffectOnce
		r.move(n, working)
	case entryAgain:
		n.due, n.retry, n.await, n.next = 0, false, nil, e.Attempt
		r.move(n, idle)
		r.restarts = append(r.restarts, n)
	case entryRetry:
		n.due, n.retry, n.err, n.masked, n.next = d.Due, true, e.Error, e.Masked, n.attempt+1
		r.move(n, waiting)
	case entryWait:
		n.due = d.Due
		r.move(n, waiting)
	case entryAwait:
		d.Await.LinkExpiresAt = d.Await.linkExpiry()
		n.due, n.await, n.pauseState = d.Await.ExpiresAt, d.Await, d.Await.State
		n.signIn = n.signIn || d.Await.Kind == blueprint.AwaitOAuth
		r.move(n, awaiting)
	case entryCall:
		n.child, n.call = d.Child, d.Call
		r.runsStarted++
		r.move(n, calling)
	case entryEnd:
		if r.end(n, e); !n.frame.reusing {
			r.reuse(n.frame) // successors waited for it
		}
	}
}

func (r *fold) move(n *nodeRun, to phase) {
	r.count[n.phase]--
	r.count[to]++
	n.phase = to
}

func (r *fold) end(n *nodeRun, e *entry) {
	n.due, n.await, n.retry = 0, nil, false
	r.move(n, idle)
	n.end = e.At
	n.handle, n.err, n.masked, n.expired = e.Handle, e.Error, e.Masked, e.read().Expired
	if respond := e.read().Respond; respond != nil && r.response == nil {
		r.response = respond
	}
	plan := n.frame.plan
	switch {
	case e.Error == nil && e.Stop:
		r.setOutput(n, e)
		n.endsItem = e.Item && n.frame != r.root
		n.frame.early = n.frame.early || n.endsItem && !plan.Halted()
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
		r.setOutput(n, e)
		plan.Complete(n.index, e.Handle)
	case e.Stop && !e.Item && n.frame != r.root:
		r.stopped = n
		r.failWalk(n, e.At)
		r.halt(r.root, e.At)
	case e.Stop:
		n.rejected = true
		r.failWalk(n, e.At)
	default:
		r.failNode(n, e.At)
	}
}

// failNode settles a node that failed permanently with n.err.
func (r *fold) failNode(n *nodeRun, at blueprint.Time) {
	reaction := n.node().OnError
	if r.canceled != nil || reaction == blueprint.OnErrorStop {
		r.failWalk(n, at)
		return
	}
	n.output = map[string]any{"error": errorValue(n.err)}
	n.outputSize = len(n.err.Message)
	n.frame.plan.Fail(n.index, reaction)
}

// failWalk settles a node whose failure stops its frame; if there are several, the first in
// map order counts. A failed item also stops the others.
func (r *fold) failWalk(n *nodeRun, at blueprint.Time) {
	f := n.frame
	if f.failed < 0 || n.index < f.failed {
		f.failed = n.index
	}
	n.haltedWalk = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
	if holder := f.loopNode(); holder != nil {
		r.haltLoop(holder, at)
	} else {
		r.halt(f, at)
	}
}

func (r *fold) setOutput(n *nodeRun, e *entry) {
	n.pass, n.variables = e.Pass, e.Variables
	if e.Pass {
		n.output, n.outputSize = r.input(n)
		return
	}
	n.output, n.outputSize = e.Output, e.size
	if e.size == 0 {
		n.outputSize, _ = jsonSize(e.Output, maxSize)
	}
	r.outputSize += n.outputSize
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

// dropNode settles a node of a halted frame that is not running: a wait or a question
// is skipped, a node between two attempts keeps its failure.
func (r *fold) dropNode(n *nodeRun, at blueprint.Time) {
	again := slices.Index(r.restarts, n)
	if n.phase <= working && again < 0 {
		return
	}
	failed := n.retry || again >= 0 && n.err != nil
	n.due, n.await, n.retry, n.end = 0, nil, false, at
	if n.phase == calling {
		r.orphans = append(r.orphans, n.child)
		n.acted = true // its run may have acted
	}
	r.move(n, idle)
	if again >= 0 {
		r.restarts = slices.Delete(r.restarts, again, again+1)
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
	n.haltedWalk = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
}

// validate reports whether a stored entry can follow; if not, the journal is damaged.
func (r *fold) validate(e *entry) error {
	d := e.read()
	switch e.Kind {
	case entryLog:
		if d.Log == nil {
			return errors.New("log entry without a line")
		}
		return nil
	case entryRaise:
		if d.Raise == nil {
			return errors.New("raise entry without a budget")
		}
		return nil
	case entryCancel, entryHide, entryAsk, entrySpent, entryStarted:
		return nil
	}
	n := r.find(e.Node)
	if n == nil {
		return fmt.Errorf("unknown node %q", e.Node)
	}
	var ok bool
	switch phase := n.phase; e.Kind {
	case entryStart:
		ok = n.frame.plan.IsReady(n.index) || slices.Contains(r.restarts, n)
	case entryCall:
		ok = phase == working && d.Child != "" && d.Call != nil
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
		ok = phase == working && d.Await != nil
	}
	if !ok {
		return fmt.Errorf("entry %q of node %q cannot follow the entries before it", e.Kind, e.Node)
	}
	return nil
}

// reuse settles the nodes of a frame that an earlier run had finished, in order.
func (r *fold) reuse(f *frame) {
	was := f.reusing
	f.reusing = true
	defer func() { f.reusing = was }()
	for progress := len(r.reused) > 0; progress; {
		progress = false
		var enders []*step // of the item: after all others
		for _, i := range f.plan.Ready() {
			s, ok := r.reused[f.nodes[i].address()]
			switch {
			case !ok || !f.plan.IsReady(i):
			case s.Item:
				enders = append(enders, s)
			default:
				progress = true
				if s.loop != nil {
					r.reuseLoop(s)
					continue
				}
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
	r.apply(&entry{Kind: entryEnd, Node: s.Node, At: s.End, Output: s.Output, Pass: s.Pass, Handle: s.Handle, Variables: s.Variables, Stop: s.Item, Item: s.Item, Error: s.Error, Masked: s.Masked, details: &details{Acted: s.Acted, Expired: s.Expired}})
}

// status returns the status of a run that has not ended: paused when a node awaits
// input and nothing else can proceed without it.
func (r *fold) status() blueprint.Status {
	if r.count[working] == 0 && r.count[awaiting] > 0 && r.count[calling] == 0 && !r.startable() {
		return blueprint.StatusPaused
	}
	return blueprint.StatusRunning
}

// frame is one walk over a graph: that of the run, or of one item of a for-each node.
// Its fields are final unless marked as guarded by run.mu.
type frame struct {
	body      *body
	plan      *blueprint.Plan // guarded
	nodes     []nodeRun       // never moved: later nodes read final fields without the lock
	parent    *frame          // nil for the run's own
	loopIndex int             // of the for-each node in parent
	item      int             // index
	value     sizedValue
	prefix    string // of the addresses of its nodes

	failed  int  // guarded: the node whose failure stopped it, -1 for none
	isReady bool // guarded: in fold.ready
	reusing bool // guarded: reuse is in progress
	closed  bool // guarded: over, and its for-each node knows
	early   bool // guarded: a node of the item ended it
}

func newFrame(b *body, parent *frame, at, item int) *frame {
	f := &frame{body: b, plan: blueprint.NewPlan(b.graph), nodes: make([]nodeRun, b.graph.Len()), parent: parent, loopIndex: at, item: item, failed: -1}
	for i := range f.nodes {
		f.nodes[i].frame, f.nodes[i].index = f, i
	}
	if parent != nil {
		f.prefix = parent.prefix + parent.body.nodes[at].ID + "[" + strconv.Itoa(item) + "]/"
	}
	return f
}

func (n *nodeRun) node() *compiled { return &n.frame.body.nodes[n.index] }

// address returns the node's unique address: "loop[3]/inner" for a node of an item.
func (n *nodeRun) address() string { return n.frame.prefix + n.node().ID }

func (n *nodeRun) state() blueprint.NodeState { return n.frame.plan.State(n.index) }

// inputs returns the predecessors on edges taken.
func (n *nodeRun) inputs() []*nodeRun {
	from := n.frame.plan.Inputs(n.index)
	out := make([]*nodeRun, len(from))
	for i, index := range from {
		out[i] = &n.frame.nodes[index]
	}
	return out
}

// loopNode returns the for-each node of the frame; nil for the run's own.
func (f *frame) loopNode() *nodeRun {
	if f.parent == nil {
		return nil
	}
	return &f.parent.nodes[f.loopIndex]
}

// find returns the node of an address, nil when there is none (yet).
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

// markReady notes that a frame may have nodes to start.
func (r *fold) markReady(f *frame) {
	if !f.isReady && f.plan.CanStart() {
		f.isReady = true
		r.ready = append(r.ready, f)
	}
}

// nextReady returns a node that may start now, nil when there is none.
func (r *fold) nextReady() *nodeRun {
	for len(r.ready) > 0 {
		f := r.ready[0]
		if i, ok := f.plan.First(); ok {
			return &f.nodes[i]
		}
		f.isReady = false
		r.ready[0] = nil
		r.ready = r.ready[1:]
	}
	return nil
}

func (r *fold) startable() bool { return len(r.restarts) > 0 || r.nextReady() != nil }

// each calls f for each node in map order. A for-each node is followed by the nodes of its items.
func (r *fold) each(f func(n *nodeRun)) { walk(r.root, f) }

func walk(within *frame, f func(n *nodeRun)) {
	for i := range within.nodes {
		n := &within.nodes[i]
		f(n)
		n.eachOfItems(f)
	}
}

// eachOfItems calls f for each node of the items of a for-each node.
func (n *nodeRun) eachOfItems(f func(n *nodeRun)) {
	if n.loop == nil {
		return
	}
	for _, item := range n.loop.frames {
		if item != nil {
			walk(item, f)
		}
	}
}
