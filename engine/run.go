package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

type phase uint8

const (
	idle     phase = iota // not started, settled, or about to start again
	working               // an attempt runs in a goroutine
	waiting               // until due: a wait node, or the delay before the next attempt
	awaiting              // input, or until due
	looping               // over the items of a for-each node
	calling               // waits for a child run
	phases                // their number
)

// nodeRun is the state of one node in a run.
type nodeRun struct {
	frame *frame // the walk it belongs to
	index int    // in the frame
	loop  *loop  // of a for-each node that has its items

	phase   phase
	attempt int
	next    int // number of the next attempt; 0 counts as 1
	start   blueprint.Time
	end     blueprint.Time
	due     blueprint.Time // when waiting or awaiting ends; 0 = never
	retry   bool           // waiting is the delay before another attempt
	await   *await

	// output, and writers, the variables visible after the node, are final once the
	// node is settled. Later nodes read them without the lock.
	output     any
	outputSize int // as of jsonSize
	writers    *blueprint.Writers
	resolved   bool // of a disabled node: output and writers are set

	pass       bool // the output is the input
	handle     string
	variables  bool       // the output's members are run variables
	usage      *nodeUsage // nil for none
	acted      bool       // it had, or may have had, an effect that must not be repeated
	child      string     // the run that it waits or waited for
	call       *blueprint.SubRun
	pauseState any  // for the next attempt
	signIn     bool // it asked for one
	signedIn   bool // the user signed in while it was about to ask
	err        *blueprint.StepError
	expired    bool // no answer came in time
	masked     bool // a credential was replaced in the output or in err
	raising    bool // its budget is being raised
	dropped    bool // it was unfinished when the run stopped
	haltedWalk bool // it failed, and its frame ended with it or before
	endsItem   bool // it ended its item early
	rejected   bool // a decision failed its item, which is not asked for again
}

// nodeUsage is what the attempts of a node used.
type nodeUsage struct {
	calls       []blueprint.Call
	tokens      int64
	modelCalls  int64            // calls to language models
	connections []usedConnection // each once
	servers     []usedServer     // MCP servers, each once
}

// use adds to the node's usage.
func (n *nodeRun) use(more *nodeUsage) {
	if len(more.calls)+len(more.connections)+len(more.servers) == 0 && more.tokens == 0 && more.modelCalls == 0 {
		return
	}
	if n.usage == nil {
		n.usage = &nodeUsage{}
	}
	u := n.usage
	u.calls = append(u.calls, more.calls...)
	u.tokens += more.tokens
	u.modelCalls += more.modelCalls
	u.connections, u.servers = union(u.connections, more.connections), union(u.servers, more.servers)
}

func union[T comparable](list, more []T) []T {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// run is one execution in memory, in three parts: the state determined by its journal
// (fold), the durable part of it (disk), and its lifecycle in memory (waiters).
//
// Two locks: flushing is held while the run is made durable, so that entries are stored
// in order; mu guards everything else that is not final. flushing is acquired first,
// the engine's lock last. Methods of fold, disk and waiters require mu.
type run struct {
	engine *Engine
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu sync.Mutex
	fold
	disk
	waiters
	memory        int // counts in engine.held if memoryCounted
	memoryCounted bool
	evidenceFull  bool  // logged that no more exchanges of failed attempts are kept
	reserved      int64 // of engine.inputs; guarded by the engine's lock once admitted

	// Guarded by the engine's lock.
	slotState slotState
	flow      *flow         // while it has or waits for a slot
	element   element[*run] // in the flow, while it waits
}

// disk tracks which part of a run is durable and which is pending.
type disk struct {
	flushing   chanMutex
	row        blueprint.ExecutionRow
	ledger     ledger
	group      *blueprint.ConcurrencyGroup // of a new run, if peers may have it
	placed     bool                        // its place in the group was confirmed
	pending    []*entry                    // applied, not durable
	durable    bool                        // the row is stored
	begun      bool                        // more than its begin entry was stored when it was loaded
	paused     bool                        // according to the stored row
	atOnce     bool                        // it must be durable before the first node starts
	ended      bool                        // its last commit is in progress or done
	commitErr  error                       // permanent: it cannot continue in this process
	flushTimer *time.Timer
	flushAt    time.Time  // zero = not set
	masked     *runRecord // the record of a run that has ended
	unmasked   *runRecord // the same with its secrets
}

// waiters is the lifecycle of a run in memory. Code that needs the run in memory holds
// a reference: the goroutines that drive it, the queue of runs without a slot, callers
// that answer or cancel it. Dropping the last reference parks the run.
type waiters struct {
	refs         int
	handle       *Handle
	loading      chan struct{} // closed once loaded; nil = started in this process
	evictedCh    chan struct{} // closed on eviction; nil = nothing waits for it
	evicted      bool          // look the run up again
	driven       bool          // a goroutine that starts nodes works on it, or will
	hibernating  bool          // parked, but kept in memory
	shared       bool          // child runs count their budgets here
	timer        *clock.Timer
	timerAt      blueprint.Time // 0 = no timer
	releaseClock func()         // the clock is held while the run is in memory
}

func (w *waiters) settle(outcome *parkedRun) {
	w.handle.settle(outcome)
	w.handle = nil
}

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

	generation int64 // that the store must still have; 0 = any
}

// chanMutex is a mutex that may be held during a commit. Waiting for a channel is
// visible to testing/synctest.
type chanMutex chan struct{}

func (g chanMutex) Lock()   { g <- struct{}{} }
func (g chanMutex) Unlock() { <-g }

func (g chanMutex) TryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

func (e *Engine) newRun(id string) *run {
	r := &run{engine: e, fold: fold{id: id}, disk: disk{flushing: make(chanMutex, 1)}}
	r.ctx, r.cancel = context.WithCancelCause(e.ctx)
	return r
}

// setUp initializes a new run from its begin entry and counts the memory of its input.
func (r *run) setUp(p *program, b *begin) error {
	if err := r.fold.setUp(p, b, r.engine.Limits); err != nil {
		return err
	}
	r.memory = r.footprint()
	return nil
}

// footprint returns the memory of what the run was given and has recorded.
func (r *run) footprint() int {
	size := footprint(r.begin.InputData) + r.tapeSize
	for _, edited := range r.begin.Edits {
		size += footprint(edited)
	}
	return size
}

func variableError(issues []blueprint.Issue) error {
	for i := range issues {
		issues[i].Path = append([]any{"variables"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}

// Handle is a caller's view of a run that it started. It is safe for concurrent use. A
// nil Handle ignores every signal.
type Handle struct {
	ID       string
	FiringID string

	acceptOnce, settleOnce, respondOnce sync.Once

	accepted chan struct{} // closed once the run is durable or refused
	refusal  error

	settled chan struct{} // closed once there is nothing more to wait for
	outcome *parkedRun
	failure error

	responded chan struct{}
	response  *blueprint.Response
}

// accept reports that the run is durable or, with an error, that it does not exist.
// Only the first call counts; the same holds for settle and respond.
func (h *Handle) accept(refusal error) {
	if h != nil {
		h.acceptOnce.Do(func() {
			h.refusal = refusal
			close(h.accepted)
		})
	}
}

// settle reports that the run has ended, paused, or was parked by a server that stops.
func (h *Handle) settle(outcome *parkedRun) {
	h.accept(nil)
	h.end(outcome, nil)
}

// refuse reports that the run does not exist or cannot continue.
func (h *Handle) refuse(err error) {
	h.accept(err)
	h.end(nil, err)
}

func (h *Handle) end(outcome *parkedRun, failure error) {
	if h != nil {
		h.settleOnce.Do(func() {
			h.outcome, h.failure = outcome, failure
			close(h.settled)
		})
	}
}

func (h *Handle) respond(response *blueprint.Response) {
	if h != nil {
		h.respondOnce.Do(func() {
			h.response = response
			close(h.responded)
		})
	}
}

// Accepted waits until the run is durable. Errors: CodeConflict if the firing's key has
// started a run before, CodeUnavailable if the run could not be stored; in both cases the
// run does not exist. If ctx ends first, Accepted fails with its cause.
func (h *Handle) Accepted(ctx context.Context) error {
	select {
	case <-h.accepted:
		return h.refusal
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Wait waits until the run has ended or paused, durably, and returns its record; if the
// server stops, that of the unfinished run. Errors are those of Accepted, and those of a
// journal that fails later. If ctx ends first, the run continues and Wait fails.
func (h *Handle) Wait(ctx context.Context) (*blueprint.Execution, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return nil, err
	}
	return outcome.execution(), nil
}

// Ending is Wait for callers that need only the outcome. The output is unredacted data,
// the failure is redacted.
func (h *Handle) Ending(ctx context.Context) (blueprint.Ending, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return blueprint.Ending{}, err
	}
	return outcome.ending(), nil
}

func (h *Handle) wait(ctx context.Context) (*parkedRun, error) {
	select {
	case <-h.settled:
		return h.outcome, h.failure
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ended returns a channel that closes when Wait no longer blocks.
func (h *Handle) Ended() <-chan struct{} { return h.settled }

// Responded returns a channel that closes when a respond node has run.
func (h *Handle) Responded() <-chan struct{} { return h.responded }

// Response returns the unredacted response of the first respond node, nil without one.
func (h *Handle) Response() *blueprint.Response {
	select {
	case <-h.responded:
		return h.response
	default:
		return nil
	}
}
