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
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/secret"
)

// Journal stores runs. Commit stores its argument in one transaction and is safe for
// concurrent use. Errors with CodeUnavailable are temporary, all others permanent.
type Journal interface {
	Records
	Commit(ctx context.Context, commit *blueprint.JournalCommit) error
	Unfinished(ctx context.Context) ([]blueprint.ExecutionRow, error)
}

// Connections opens connections for nodes. Errors: CodeNotFound when the principal may
// use none of that id, *blueprint.Pause when a user must sign in first,
// *blueprint.Failure.
type Connections interface {
	Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error)
}

// Blueprints returns a blueprint that a user may run, and reports whether the user may
// use its secret variables. Errors: CodeNotFound, CodeForbidden.
type Blueprints interface {
	Runnable(ctx context.Context, userID, blueprintID string) (definition *blueprint.Definition, canManage bool, err error)
}

// Authority decides whether a run may use a resource. Errors: CodeNotFound when the
// principal may not, *blueprint.MissingGrant when the author of a version may not.
type Authority interface {
	Authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) error
}

// Options configure an Engine. Catalogue, Journal, Clock, IDs, Sealer, Logger are required.
type Options struct {
	Catalogue blueprint.Catalogue
	Journal   Journal
	Clock     clock.Clock
	IDs       *ids.Source
	Sealer    *secret.Sealer
	Logger    *slog.Logger
	// Authority decides what runs may use; nil = everything that their principal may use.
	Authority   Authority
	Connections Connections
	Blueprints  Blueprints
	// Emit publishes an event and returns how many runs it started; nil = no triggers.
	Emit func(ctx context.Context, event blueprint.Event) (started int, err error)
	// Concurrency returns the current limit of a concurrency group, nil for none. When
	// it fails, or is nil, the limit of the group's newest run applies.
	Concurrency func(ctx context.Context, key string) (*blueprint.ConcurrencyGroup, error)
	// MaxRunning is the maximum number of runs that execute concurrently; 0 = 1000. See
	// fairQueue for how slots are shared.
	MaxRunning int
	// MaxQueued is the maximum number of runs that wait for a slot; 0 = 10,000. Beyond it
	// runs are refused with CodeUnavailable, beyond the share of a trigger or organization
	// with CodeTooManyRequests.
	MaxQueued int
	// Drain is how long nodes may continue once the engine stops, in real time; 0 = 10
	// s.
	Drain time.Duration
	// Link returns the approval link of a question for the node that uses it, and the part of
	// it that is secret. The same arguments give the same link. Nil = there are no links.
	Link func(executionID, questionAddress, usedBy string) (link, secret string)
	// Peers are the other processes that share the journal; nil = none.
	Peers Peers
	// Lost closes when the journal has failed permanently.
	Lost <-chan struct{}
	// Schedule calls f when its turn has come, so that runs and their nodes execute
	// sequentially in a repeatable order. Nil = concurrently.
	Schedule func(f func())
	// Limits bound a single run; zero fields have defaults.
	Limits Limits
	// InputWait is the maximum real time that StartOrWait waits for memory for a large
	// input; 0 = not at all.
	InputWait time.Duration
}

// Engine runs executions. It is safe for concurrent use.
type Engine struct {
	Options
	*Reader
	counts counts

	inputs *semaphore.Weighted // of Limits.Held, for large inputs of new runs

	ctx       context.Context // of all work
	cancelAll context.CancelCauseFunc

	stopOnce     sync.Once
	stopping     atomic.Bool // set under mu
	budgetRaises atomic.Int64
	drained      chan struct{} // closed when the last run is parked after stopping
	unstored     atomic.Int64  // runs whose last entries could not be stored before the end

	// mu guards all below. It is acquired after the locks of a run.
	mu          sync.Mutex
	runs        map[string]*run    // in memory
	parked      map[string]*parked // those with a timer or a handle
	held        int                // memory of the inputs of new runs
	reserved    int                // the part of held that was acquired from inputs
	queue       fairQueue          // run slots; each waiting run holds a reference
	concurrency concurrency
	openCalls   map[callKey]struct{} // language model calls in progress that count against budgets
	hibernating int                  // runs parked in memory
	watchers    map[string]map[chan struct{}]struct{}
	timedParked int // parked runs that wait for an instant
}

// parked is the part of a parked run that stays in memory. The handle lives as long as its
// caller refers to it.
type parked struct {
	timer   *clock.Timer
	timerAt blueprint.Time
	handle  weak.Pointer[Handle]
	paused  bool
}

// New returns an engine. Nothing runs before Run.
func New(options Options) *Engine {
	options.MaxRunning = cmp.Or(options.MaxRunning, 1000)
	options.MaxQueued = cmp.Or(options.MaxQueued, 10_000)
	options.Limits = options.Limits.orDefaults()
	options.Drain = cmp.Or(options.Drain, 10*time.Second)
	e := &Engine{
		Options: options, inputs: semaphore.NewWeighted(int64(options.Limits.Held)), counts: newCounts(), drained: make(chan struct{}),
		Reader: newReader(options.Catalogue, options.Journal, options.Sealer, options.Limits),
		queue:  fairQueue{slots: options.MaxRunning, places: options.MaxQueued, groups: map[string]*group{}}, concurrency: concurrency{byKey: map[string]*concurrencyGroup{}, members: map[string]*member{}},
		runs: map[string]*run{}, parked: map[string]*parked{}, openCalls: map[callKey]struct{}{}, watchers: map[string]map[chan struct{}]struct{}{},
	}
	e.ctx, e.cancelAll = context.WithCancelCause(context.Background())
	return e
}

// Run recovers every run that an earlier process left unfinished, calls ready, and serves
// until ctx ends. Then nothing new starts: running nodes may finish within Options.Drain,
// and the next start treats the others as after a crash. It does not wait for them when the
// journal has failed (the cause of ctx is CodeUnavailable, or Options.Lost closes), since
// their results could not be stored. Run returns when all runs are parked.
func (e *Engine) Run(ctx context.Context, ready func()) error {
	recovered := make(chan struct{})
	go e.boundRecovery(ctx, recovered)
	err := e.recoverAll(ctx)
	close(recovered)
	if err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	deadline := e.drainTimer(ctx)
	defer deadline.Stop()
	e.stop()
	select {
	case <-e.drained:
	case <-deadline.C:
	case <-e.Lost:
	}
	e.cancelAll(errStopping)
	<-e.drained
	e.dropParked() // runs parked while the engine was stopping
	if n := e.unstored.Load(); n > 0 {
		e.Logger.Warn("the last steps of runs were not stored", "runs", n, "hint", "no action needed: each run continues from its last stored step, at the next start or in another process of the server")
	}
	return nil
}

// drainTimer returns a timer that fires when an engine whose context has ended has to cancel
// its work.
func (e *Engine) drainTimer(ctx context.Context) *time.Timer {
	if blueprint.CodeOf(context.Cause(ctx)) == blueprint.CodeUnavailable {
		return time.NewTimer(0)
	}
	return time.NewTimer(e.Drain)
}

// boundRecovery cancels the work of a recovery that does not end although the engine should:
// it writes what has become of interrupted nodes, and repeats that while the journal is
// unavailable.
func (e *Engine) boundRecovery(ctx context.Context, recovered <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-e.Lost:
	case <-recovered:
		return
	}
	e.stop()
	deadline := e.drainTimer(ctx)
	defer deadline.Stop()
	select {
	case <-recovered:
		return
	case <-deadline.C:
	case <-e.Lost:
	}
	e.cancelAll(errStopping)
}

func (e *Engine) now() blueprint.Time { return blueprint.TimeOf(e.Clock.Now()) }

func (e *Engine) retryLater(f func()) { e.Clock.At(e.Clock.Now().Add(retryInterval), f) }

// goHeld calls f in a goroutine and holds the clock until it returns.
func (e *Engine) goHeld(f func()) {
	release := e.Clock.Hold()
	go func() {
		defer release()
		f()
	}()
}

// stop prevents new work. Queued runs are parked and continue at the next start. Only the
// first call has an effect.
func (e *Engine) stop() { e.stopOnce.Do(e.stopWork) }

func (e *Engine) stopWork() {
	e.mu.Lock()
	e.stopping.Store(true)
	if e.concurrency.recovering {
		close(e.concurrency.recovered) // waiting callers are refused
	}
	for first := e.queue.order.first(); first != nil; first = e.queue.order.first() {
		r := first.value.order.first().value.waiting.first.value
		e.leaveQueue(r)
		go e.unref(r) // it may wait for the disk
	}
	for _, r := range e.runs {
		go e.wakeHibernating(r)
	}
	if len(e.runs) == 0 {
		close(e.drained)
	}
	e.mu.Unlock()
	e.dropParked()
}

// dropParked drops the parked runs from memory and settles their handles.
func (e *Engine) dropParked() {
	e.mu.Lock()
	resting := e.parked
	e.parked = map[string]*parked{}
	e.timedParked = 0
	e.mu.Unlock()
	for id, p := range resting {
		p.timer.Stop()
		if handle := p.handle.Value(); handle != nil {
			if view, err := e.parkedRecord(id); err != nil {
				handle.refuse(err)
			} else {
				handle.settle(&parkedRun{view: view})
			}
		}
	}
}

func (e *Engine) parkedRecord(id string) (*blueprint.Execution, error) {
	stored, err := e.Journal.Load(e.ctx, id)
	if err != nil {
		return nil, err
	}
	return e.View(e.ctx, stored)
}

// Stats are counters since New and current numbers of an engine.
type Stats struct {
	Started, Completed, Failed int64 // of runs, once durable
	Recovered                  int64
	Working                    int   // runs with a slot
	Queued                     int   // runs that wait for a slot
	Flows                      int   // triggers, and users without one, with queued runs
	LongestQueue               int   // of one flow
	Blocked                    int   // runs blocked by their concurrency group
	Waiting                    int   // parked runs with a timer
	Paused                     int64 // runs that wait for an answer, as stored
	Held                       int   // memory of inputs and recordings of new runs, in bytes
	MaxRunning, MaxQueued      int
	// Durations are from start to end of each run, on the engine's clock.
	Durations metrics.Distribution
}

// Stats returns current numbers. It does not access the journal.
func (e *Engine) Stats() Stats {
	c := &e.counts
	stats := Stats{
		Started: c.started.Value(), Completed: c.completed.Value(), Failed: c.failed.Value(), Recovered: c.recovered.Value(),
		Paused: c.paused.Value(), MaxRunning: e.MaxRunning, MaxQueued: e.MaxQueued, Durations: c.durations.Distribution(),
	}
	e.mu.Lock()
	stats.Working, stats.Queued, stats.Waiting, stats.Held = e.queue.taken, e.queue.queued, e.timedParked, e.held
	stats.Flows, stats.LongestQueue = e.queue.longest()
	stats.Blocked = e.concurrency.blocked
	e.mu.Unlock()
	return stats
}

type counts struct {
	started, completed, failed, recovered metrics.Counter
	paused                                metrics.Gauge
	durations                             *metrics.Histogram
}

func newCounts() counts {
	return counts{durations: metrics.NewHistogram(
		time.Millisecond, 5*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond, 500*time.Millisecond,
		time.Second, 5*time.Second, 30*time.Second, time.Minute, 10*time.Minute, time.Hour, 24*time.Hour,
	)}
}

func (c *counts) addRecovered(rows []blueprint.ExecutionRow) {
	c.recovered.Add(int64(len(rows)))
	for i := range rows {
		if rows[i].Status == blueprint.StatusPaused {
			c.paused.Add(1)
		}
	}
}

// countCommit counts the status changes of a commit.
func (d *disk) countCommit(c *counts, commit *blueprint.JournalCommit) {
	if commit.New {
		c.started.Add(1)
	}
	switch paused := commit.Row.Status == blueprint.StatusPaused; {
	case paused && !d.paused:
		c.paused.Add(1)
	case !paused && d.paused:
		c.paused.Add(-1)
	}
	d.paused = commit.Row.Status == blueprint.StatusPaused
	switch commit.Row.Status {
	case blueprint.StatusCompleted:
		c.completed.Add(1)
	case blueprint.StatusFailed:
		c.failed.Add(1)
	default:
		return
	}
	c.durations.Observe(time.Duration(commit.Row.EndTime-commit.Row.StartTime) * time.Millisecond)
}
