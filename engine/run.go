package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
)

// phase says what a started node of a run is doing.
type phase uint8

const (
	idle     phase = iota // not started, settled, or about to start again
	working               // an attempt runs in a goroutine
	waiting               // until due: a wait node, or the delay before the next attempt
	awaiting              // for input, or until due
	looping               // over the items of a for-each node
	calling               // waits for a run that it started
	phases                // how many there are
)

// nodeRun is what a run knows of one node.
type nodeRun struct {
	frame *frame // the walk it belongs to
	index int    // its number there
	loop  *loop  // of a for-each node, once it knows its items

	phase   phase
	attempt int
	next    int // number of the next attempt; 0 counts as 1
	start   blueprint.Time
	end     blueprint.Time
	due     blueprint.Time // when waiting or awaiting ends; 0 = never
	retry   bool           // waiting is the delay before another attempt
	await   *await

	// output is what the node hands on, and writers are the variables seen
	// behind it. Both are final once the node is settled, so whoever starts
	// later may read them without the lock.
	output  any
	weight  int // of output, as weigh gives it
	writers *blueprint.Writers
	known   bool // of a disabled node: output and writers are worked out

	pass      bool // the output is the input
	handle    string
	variables bool // the output's members are run variables
	calls     []blueprint.Call
	tokens    int64
	models    int64             // calls to language models
	acted     bool              // it did, or may have done, what must not be done twice
	uses      []use             // connections
	servers   []server          // MCP servers
	child     string            // the run that it waits for, or waited for
	call      *blueprint.SubRun // what that is of
	carried   any               // the state of a pause, for when the node runs again
	signIn    bool              // it asked for one
	signedIn  bool              // somebody has done so while it was about to ask
	err       *blueprint.StepError
	masked    bool // a credential was replaced in the output or in err
	raising   bool // its budget is being raised
	dropped   bool // it was under way when the run stopped
	halts     bool // it failed, and its walk ended with it or before
	item      bool // it ended its item early
}

// run is one execution in memory.
//
// Two locks: flushing is held by whoever makes the run durable, so that
// entries reach the disk in order; mu guards all below it. flushing is taken
// first, the engine's own lock last.
//
// Whoever needs the run to stay in memory holds a unit of it: the goroutines
// that drive it, the queue in which it waits for its turn, a caller that
// answers or cancels it. Whoever gives back the last unit brings the run to
// rest.
type run struct {
	engine   *Engine
	id       string
	flushing gate
	loading  chan struct{} // closed once it has been read back; nil for one that was not

	mu        sync.Mutex
	row       blueprint.ExecutionRow
	ledger    ledger
	begin     *begin
	exchanges []blueprint.Exchange // of a run that is recorded
	taped     int                  // bytes of JSON that they take
	tapeFull  bool                 // no more of them are kept
	program   *program
	root      *frame
	steps     int              // of items, whatever became of them
	ready     []*frame         // walks that may have nodes to start
	weight    int              // of begin.InputData
	memory    int              // that it takes, which counts in engine.held
	counted   bool             // in engine.held
	reserved  int64            // of engine.inputs, for its input; guarded by the engine's lock once it is taken in
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
	shared    bool     // runs below keep what they use here
	logs      []blueprint.LogEntry
	respond   *blueprint.Response
	orphans   []string // runs that nobody waits for any more, to be cancelled
	napping   bool     // it is at rest, and stays in memory
	driven    bool     // somebody who takes turns works on it, or will
	stopped   *nodeRun // the node of an item that failed the run at once
	canceled  *string

	evidence     int  // bytes of JSON that the exchanges of failed attempts took
	evidenceFull bool // the log says that more of them are left out

	units   int
	pending []*entry      // applied, not durable
	durable bool          // the row is on disk
	begun   bool          // so was more than its beginning when it was read back
	paused  bool          // so says the row on disk
	atOnce  bool          // it must be before the first node starts
	ended   bool          // over; its last commit is under way or done
	broken  error         // the disk refused it: it cannot go on in this process
	gone    bool          // dropped from memory: whoever holds it must look it up again
	left    chan struct{} // closed when gone; nil while nobody waits for that
	timer   *clock.Timer
	timerAt blueprint.Time // 0 = no timer
	late    *time.Timer    // flushes what has been pending for too long
	lateAt  time.Time      // when it does; zero = it is not set
	handle  *Handle
	unhold  func()  // lets go of the clock, which stands still while a run is in memory
	final   *stored // the record of a run that has ended, secrets masked
	truth   *stored // the same with its secrets
	ctx     context.Context
	cancel  context.CancelCauseFunc

	// Guarded by the engine's lock.
	turn turn
	flow *flow      // while it has a turn or waits for one
	spot spot[*run] // in the flow, while it waits
}

// ledger is what is stored together with a new run: the firing that caused it.
type ledger struct {
	firing    *blueprint.Firing
	coalesced *blueprint.Firing
	cursor    blueprint.Time
	events    []blueprint.Event

	generation int64 // that the disk must still have; 0 = any
}

// gate is a lock that is held while the disk works. It is a channel, so that
// tests in virtual time can tell that somebody waits for it.
type gate chan struct{}

func (g gate) Lock()   { g <- struct{}{} }
func (g gate) Unlock() { <-g }

// TryLock takes it if nobody has it.
func (g gate) TryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

// newRun makes a run that has not begun and that nobody knows of.
func (e *Engine) newRun(id string) *run {
	r := &run{engine: e, id: id, flushing: make(gate, 1)}
	r.ctx, r.cancel = context.WithCancelCause(e.ctx)
	return r
}

// setUp gives the run its program and its beginning. An issue with the
// variables is a CodeBadRequest error.
func (r *run) setUp(p *program, b *begin) error {
	bound, issues := blueprint.BindVariables(p.definition.Variables, b.Given)
	if len(issues) > 0 {
		return variableError(issues)
	}
	weight, err := weigh(b.InputData, r.engine.Limits.Value)
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "inputData: %s", err)
	}
	r.program, r.begin, r.bound, r.weight, r.memory = p, b, bound, weight, footprint(b.InputData)
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

func variableError(issues []blueprint.Issue) error {
	for i := range issues {
		issues[i].Path = append([]any{"variables"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}

// reuse settles the nodes of a walk that an earlier run had finished, in the
// order of the walk.
func (r *run) reuse(f *frame) {
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

func (r *run) startReused(s *step) {
	delete(r.reused, s.Node)
	r.apply(&entry{Kind: entryStart, Node: s.Node, At: s.Start, Attempt: s.Attempt})
}

func (r *run) endReused(s *step) {
	r.apply(&entry{Kind: entryEnd, Node: s.Node, At: s.End, Output: s.Output, Pass: s.Pass, Handle: s.Handle, Variables: s.Variables, Stop: s.Item, Item: s.Item, Error: s.Error, Acted: s.Acted, Masked: s.Masked})
}

// status gives the status of a run that has not ended: paused when somebody is
// asked for input and nothing else can be done at once, by another run neither.
func (r *run) status() blueprint.Status {
	if r.count[working] == 0 && r.count[awaiting] > 0 && r.count[calling] == 0 && !r.startable() {
		return blueprint.StatusPaused
	}
	return blueprint.StatusRunning
}
