package engine

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"golang.org/x/sync/semaphore"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

// Journal is the disk under the engine. Commit makes all of its argument
// durable in one transaction or none of it, and is safe for concurrent use.
// Errors with CodeUnavailable may pass; others will not.
type Journal interface {
	Commit(ctx context.Context, commit *blueprint.JournalCommit) error
	Load(ctx context.Context, id string) (*blueprint.StoredExecution, error)
	Unfinished(ctx context.Context) ([]blueprint.ExecutionRow, error)
	DefinitionVersion(ctx context.Context, blueprintID, version string) (*blueprint.Definition, error)
}

// Connections opens a connection for a node. Errors: CodeNotFound when there is
// none that the principal may use, *blueprint.Pause when somebody must sign in
// first, *blueprint.Failure.
type Connections interface {
	Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error)
}

// Blueprints gives a blueprint that a user may run, and tells whether the user
// may use its secret variables. Errors: CodeNotFound, CodeForbidden.
type Blueprints interface {
	Runnable(ctx context.Context, userID, blueprintID string) (definition *blueprint.Definition, canManage bool, err error)
}

// Authority decides whether a run may use a resource. Errors: CodeNotFound when its
// principal may not, *blueprint.MissingGrant when the author of a version may not.
type Authority interface {
	Authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) error
}

// Options are what an Engine needs. All but Authority, Connections, Blueprints, Emit, Concurrency, MaxRunning,
// MaxQueued, Drain, Lost, Turn and Limits are required.
type Options struct {
	Catalogue blueprint.Catalogue
	Journal   Journal
	Clock     clock.Clock
	IDs       *ids.Source
	Sealer    *secret.Sealer
	Logger    *slog.Logger
	// Authority decides what runs may use; nil = all that their principal may.
	Authority Authority
	// Connections opens connections for nodes; nil = there are none.
	Connections Connections
	// Blueprints finds the blueprints that nodes run; nil = none.
	Blueprints Blueprints
	// Emit raises an event; nil = nobody listens.
	Emit func(ctx context.Context, event blueprint.Event) (started int, err error)
	// Concurrency returns the current limit of a concurrency group, nil for none. When
	// it fails, the limit of the group's newest run applies; nil = that one always does.
	Concurrency func(ctx context.Context, key string) (*blueprint.ConcurrencyGroup, error)
	// MaxRunning is how many runs work at once; 0 = 1000. More wait their turn.
	// The runs of one trigger, or of one user without any, leave turns for
	// others: a ninth when they are alone and there are many, none of fewer
	// than nine; those of one organization a seventeenth.
	MaxRunning int
	// MaxQueued is how many may wait for their turn; 0 = 10,000. One more is
	// refused with CodeUnavailable. It is shared as turns are; beyond a share it
	// is CodeTooManyRequests.
	MaxQueued int
	// Drain is how long nodes may go on once the engine stops; 0 = 10 s. It is
	// real time.
	Drain time.Duration
	// Lost closes when the journal has failed for good; nil = it never does.
	Lost <-chan struct{}
	// Turn calls f when it is its turn, which keeps the order of all that runs
	// the same each time: one run after the other, one node of a run after the
	// other. Nil = nobody waits.
	Turn func(f func())
	// Limits bound a single run; what is 0 has its default.
	Limits Limits
	// InputWait is how long StartOrWait waits for room for a large input; 0 = not
	// at all. It is real time.
	InputWait time.Duration
}

// Engine runs executions. It is safe for concurrent use.
type Engine struct {
	Options
	*Reader
	counts counts

	inputs *semaphore.Weighted // of Limits.Held: room for large inputs of new runs

	ctx context.Context // of everything that runs
	cut context.CancelCauseFunc

	stopping atomic.Bool   // set under mu
	raises   atomic.Int64  // how many budgets were raised
	quiet    chan struct{} // closed when the last run is parked after stopping

	// mu guards all below it. A run's own locks may be held when it is taken,
	// never the other way round.
	mu          sync.Mutex
	runs        map[string]*run    // in memory
	parked      map[string]*parked // those with a timer or a caller
	held        int                // memory that the input data of the new ones takes
	reserved    int                // what of that was taken from inputs
	queue       fairQueue          // who has a turn, and who waits for one, each with a unit
	concurrency concurrency        // unfinished runs of triggers
	asking      map[asked]struct{} // calls to language models under way that count against budgets
	hibernating int                // runs that are parked in memory
	watchers    map[string]map[chan struct{}]struct{}
	waiting     int // of the parked ones: those that wait for an instant
}

// parked is what stays in memory of a parked run. Its handle is there only as
// long as somebody has it.
type parked struct {
	timer   *clock.Timer
	timerAt blueprint.Time
	handle  weak.Pointer[Handle]
	paused  bool // it waits for an answer
}

// New makes an engine. Nothing runs before Run.
func New(options Options) *Engine {
	options.MaxRunning = cmp.Or(options.MaxRunning, 1000)
	options.MaxQueued = cmp.Or(options.MaxQueued, 10_000)
	options.Limits = options.Limits.orDefaults()
	options.Drain = cmp.Or(options.Drain, 10*time.Second)
	e := &Engine{
		Options: options, inputs: semaphore.NewWeighted(int64(options.Limits.Held)), Reader: newReader(options.Catalogue, options.Journal, options.Sealer, options.Limits), counts: newCounts(), quiet: make(chan struct{}),
		queue: fairQueue{turns: options.MaxRunning, places: options.MaxQueued, groups: map[string]*group{}}, concurrency: newConcurrency(),
		runs: map[string]*run{}, parked: map[string]*parked{}, asking: map[asked]struct{}{}, watchers: map[string]map[chan struct{}]struct{}{},
	}
	e.ctx, e.cut = context.WithCancelCause(context.Background())
	return e
}

// Run keeps the engine going until ctx ends, and returns when all runs have
// been parked on the disk. It first takes up every run that an earlier
// process left unfinished, then calls ready. From the end of ctx on nothing
// new starts: nodes under way may finish within Options.Drain; one that does
// not is treated at the next start as after a crash. When ctx ends because the
// journal has failed (its cause is CodeUnavailable), or Options.Lost closes
// meanwhile, nobody waits for them, for what they did could not be written down.
func (e *Engine) Run(ctx context.Context, ready func()) error {
	if err := e.recoverAll(ctx); err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	drain := e.Drain
	if blueprint.CodeOf(context.Cause(ctx)) == blueprint.CodeUnavailable {
		drain = 0
	}
	deadline := time.NewTimer(drain)
	defer deadline.Stop()
	e.stop()
	select {
	case <-e.quiet:
	case <-deadline.C:
	case <-e.Lost:
	}
	e.cut(errStopping)
	<-e.quiet
	e.forget() // what was parked just as the engine was stopping
	return nil
}

// stop keeps anything new from starting. Runs that wait for their turn are put
// down, and go on at the next start.
func (e *Engine) stop() {
	e.mu.Lock()
	e.stopping.Store(true)
	if e.concurrency.filling {
		close(e.concurrency.open) // those who wait for that are refused
	}
	for first := e.queue.order.first(); first != nil; first = e.queue.order.first() {
		r := first.of.order.first().of.runs.first.of
		e.leaveQueue(r)
		go e.leave(r) // the disk may keep it waiting
	}
	for _, r := range e.runs {
		go e.rouse(r)
	}
	if len(e.runs) == 0 {
		close(e.quiet)
	}
	e.mu.Unlock()
	e.forget()
}

// forget lets go of the parked runs, which wait for the next start. Callers
// that wait for one are told how it stands.
func (e *Engine) forget() {
	e.mu.Lock()
	resting := e.parked
	e.parked = map[string]*parked{}
	e.waiting = 0
	e.mu.Unlock()
	for id, p := range resting {
		p.timer.Stop()
		if handle := p.handle.Value(); handle != nil {
			handle.tell(e.parkedRecord(id))
		}
	}
}

// parkedRecord returns the record of a parked run.
func (e *Engine) parkedRecord(id string) (*blueprint.Execution, error) {
	stored, err := e.Journal.Load(e.ctx, id)
	if err != nil {
		return nil, err
	}
	return e.View(e.ctx, stored)
}
