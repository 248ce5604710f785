package engine

import (
	"context"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
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

// run is one execution in memory, in three parts: what its journal has made of
// it (fold), what of that the disk has (disk), and who waits for it (waiters).
// What needs two of them is a method of the run.
//
// Two locks: flushing is held by whoever makes the run durable, so that
// entries reach the disk in order; mu guards all else that is not final.
// flushing is taken first, the engine's own lock last.
type run struct {
	engine *Engine
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu sync.Mutex
	fold
	disk
	waiters
	memory       int   // that it takes, which counts in engine.held
	counted      bool  // in engine.held
	evidenceFull bool  // the log says that no more exchanges of failed attempts are kept
	reserved     int64 // of engine.inputs, for its input; guarded by the engine's lock once it is taken in

	// Guarded by the engine's lock.
	turn turn
	flow *flow      // while it has a turn or waits for one
	spot spot[*run] // in the flow, while it waits
}

// disk is what of a run is durable, and what is to become so.
type disk struct {
	flushing gate
	row      blueprint.ExecutionRow
	ledger   ledger
	pending  []*entry    // applied, not durable
	durable  bool        // the row is on disk
	begun    bool        // so was more than its beginning when it was read back
	paused   bool        // so says the row on disk
	atOnce   bool        // it must be before the first node starts
	ended    bool        // over; its last commit is under way or done
	broken   error       // the disk refused it: it cannot go on in this process
	late     *time.Timer // flushes what has been pending for too long
	lateAt   time.Time   // when it does; zero = it is not set
	final    *stored     // the record of a run that has ended, secrets masked
	truth    *stored     // the same with its secrets
}

// waiters are those who wait for a run, and what the run itself waits for.
//
// Whoever needs the run to stay in memory holds a unit of it: the goroutines
// that drive it, the queue in which it waits for its turn, a caller that
// answers or cancels it. Whoever gives back the last unit parks the
// run.
type waiters struct {
	units       int
	handle      *Handle
	loading     chan struct{} // closed once it has been read back; nil for one that was not
	left        chan struct{} // closed when gone; nil while nobody waits for that
	gone        bool          // dropped from memory: whoever holds it must look it up again
	driven      bool          // somebody who takes turns works on it, or will
	hibernating bool          // it is parked, and stays in memory
	shared      bool          // runs below keep what they use here
	timer       *clock.Timer
	timerAt     blueprint.Time // 0 = no timer
	unhold      func()         // lets go of the clock, which stands still while a run is in memory
}

// tell gives whoever started the run its record. The run's mu is held.
func (w *waiters) tell(outcome parkedRun) {
	w.handle.settle(outcome)
	w.handle = nil
}

// refuse tells whoever started the run why it cannot go on. The run's mu is held.
func (w *waiters) refuse(err error) {
	w.handle.refuse(err)
	w.handle = nil
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
	r := &run{engine: e, fold: fold{id: id}, disk: disk{flushing: make(gate, 1)}}
	r.ctx, r.cancel = context.WithCancelCause(e.ctx)
	return r
}

// setUp gives the run its program and its beginning. An issue with the
// variables is a CodeBadRequest error.
func (r *run) setUp(p *program, b *begin) error {
	if err := r.fold.setUp(p, b, r.engine.Limits); err != nil {
		return err
	}
	r.memory = footprint(b.InputData) + r.taped
	return nil
}

func variableError(issues []blueprint.Issue) error {
	for i := range issues {
		issues[i].Path = append([]any{"variables"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}
