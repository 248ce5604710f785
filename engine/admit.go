package engine

import (
	"context"
	"errors"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// Urgency is how long a new run may execute before it must be durable.
type Urgency time.Duration

// Urgencies of a run. Side effects, waits and the end of the run make it durable earlier.
const (
	// AtOnce stores the run before its first node starts: its firing may be repeated.
	AtOnce Urgency = 0
	// Soon is for callers that wait for Handle.Accepted: a run of pure nodes that ends
	// within it costs one commit.
	Soon = Urgency(5 * time.Millisecond)
	// AtEnd is for callers that wait for Handle.Wait; they may execute quick nodes on their
	// own goroutine. After this time the run is stored and visible in any case.
	AtEnd = Urgency(time.Second)
)

// Start begins a run and returns its handle; with AtEnd the caller may have executed and
// committed quick nodes. Errors: CodeBadRequest if the blueprint has no nodes or the
// variables are invalid, CodeUnavailable when the engine is stopping or its queue is full,
// CodeTooManyRequests if the trigger or the user has used its share of the queue or its
// concurrency group has too many blocked runs, *blueprint.ConcurrencyLimitError.
func (e *Engine) Start(request *blueprint.StartRequest, urgency Urgency) (*Handle, error) {
	return e.start(endedContext, request, urgency)
}

// StartOrWait is Start for callers that can wait for memory for a large input, until
// ctx ends or Options.InputWait has passed.
func (e *Engine) StartOrWait(ctx context.Context, request *blueprint.StartRequest, urgency Urgency) (*Handle, error) {
	return e.start(ctx, request, urgency)
}

var endedContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (e *Engine) start(wait context.Context, request *blueprint.StartRequest, urgency Urgency) (*Handle, error) {
	p, err := e.program(request.Definition, request.AdHoc)
	if err != nil {
		return nil, err
	}
	b := &begin{
		UserID: request.Principal.UserID, CanManage: request.CanManage,
		Given: request.Variables, InputData: request.InputData, Trigger: request.Trigger, Budget: request.Budget, Record: request.Record, Hidden: request.Hidden,
	}
	if request.Concurrency != nil {
		b.Concurrency = &concurrencyPlace{ConcurrencyGroup: *request.Concurrency}
	}
	if request.AdHoc {
		b.Map, b.MapAuthor = request.Definition.Map.Raw, request.Principal.UserID
	}
	return e.launch(wait, e.newExecutionID(request.Firing), p, b, ledger{request.Firing, request.Coalesced, request.Cursor, request.Events, request.Generation}, urgency)
}

// newExecutionID returns the id of a run without a parent, derived from the firing if any.
func (e *Engine) newExecutionID(firing *blueprint.Firing) string {
	now, cause := e.Clock.Now(), ""
	if firing != nil {
		cause = firing.ID
	}
	return e.IDs.ExecutionID(now, "execution", cause)
}

// driveScheduled drives a run when Options.Schedule calls it; until then the run does
// not hold the clock. It takes over a reference.
func (e *Engine) driveScheduled(r *run) {
	r.mu.Lock()
	unhold := r.releaseClock
	r.releaseClock, r.driven = func() {}, true
	r.mu.Unlock()
	e.Schedule(func() {
		r.mu.Lock()
		r.releaseClock = e.Clock.Hold()
		r.mu.Unlock()
		e.drive(r)
	})
	unhold()
}

// program returns the compiled form of a definition; ad hoc ones are not cached.
func (e *Engine) program(definition *blueprint.Definition, adHoc bool) (*program, error) {
	if adHoc {
		return compile(e.Catalogue, definition)
	}
	return e.programs.get(definition)
}

// launch creates a run and starts or queues it. Until wait ends, it waits for memory.
func (e *Engine) launch(wait context.Context, id string, p *program, b *begin, l ledger, urgency Urgency) (*Handle, error) {
	r := e.newRun(id)
	if err := r.setUp(p, b); err != nil {
		r.cancel(err)
		return nil, err
	}
	if err := e.admitInput(wait, r); err != nil {
		r.cancel(err)
		return nil, err
	}
	handle := r.start(l)
	if e.Peers != nil && b.Concurrency != nil {
		r.group = &b.Concurrency.ConcurrencyGroup
	}
	if mutant.Is(mutant.AckBeforeCommit) && (l.firing == nil || l.firing.Key == l.firing.ID) {
		handle.accept(nil)
	}
	// Whether it may begin is known once it is stored, if others may have its group.
	r.atOnce = urgency == AtOnce || r.group != nil
	as, err := e.admitWhenDecided(r)
	if err != nil {
		e.releaseInput(r)
		r.releaseClock()
		r.cancel(err)
		return nil, err
	}
	e.startWork(r, as, urgency)
	return handle, nil
}

// start fills in the row and the first entry of a new run and returns its handle.
func (r *run) start(l ledger) *Handle {
	e, definition := r.engine, r.program.definition
	at := blueprint.TimeOf(e.Clock.Now())
	r.row = blueprint.ExecutionRow{
		ID: r.id, LogID: blueprint.LogID(r.id), BlueprintID: definition.BlueprintID, BlueprintVersion: definition.Version,
		OrganizationID: definition.OrganizationID, UserID: r.begin.UserID, ParentExecutionID: r.begin.Parent, RetryOf: r.begin.RetryOf,
		Status: blueprint.StatusRunning, CreatedAt: at, UpdatedAt: at, StartTime: at,
	}
	r.ledger = l
	switch firing := l.firing; {
	case firing != nil:
		firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &r.id
		r.row.TriggerID, r.row.FiringID = firing.TriggerID, firing.ID
	case r.begin.RetryOf != "" && r.begin.Trigger != nil:
		r.row.TriggerID = r.begin.Trigger.ID
	}
	r.pending = []*entry{{Kind: entryBegin, At: at, details: &details{Begin: r.begin}}}
	handle := &Handle{ID: r.id, accepted: make(chan struct{}), settled: make(chan struct{}), responded: make(chan struct{})}
	handle.FiringID = r.row.FiringID
	r.handle, r.refs, r.releaseClock = handle, 1, e.Clock.Hold()
	return handle
}

// startWork starts a run as it was admitted. One that waits for a slot is stored
// meanwhile, since its caller waits for Accepted; a blocked one is parked.
func (e *Engine) startWork(r *run, as admission, urgency Urgency) {
	switch {
	case as == waitsForSlot:
		go r.flush()
	case as == blocked:
		go e.unref(r)
	case e.Schedule != nil:
		if r.flush() != nil {
			go e.unref(r)
		} else {
			e.driveScheduled(r)
		}
	case r.atOnce:
		go e.drive(r)
	default:
		r.mu.Lock()
		r.flushWithin(urgency)
		r.mu.Unlock()
		if urgency == AtEnd {
			e.driveInline(r)
		} else {
			go e.drive(r)
		}
	}
}

// slotState says whether a run may work. Runs in memory hold at most Options.MaxRunning
// slots, each until its run is evicted.
type slotState uint8

const (
	noSlot slotState = iota
	queued           // waiting for a slot
	hasSlot
)

type admission uint8

const (
	runsNow admission = iota // it has a slot
	waitsForSlot
	blocked // by its concurrency group
)

// admit adds a new run with one reference.
func (e *Engine) admit(r *run) (admission, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	child := r.begin.Parent != "" // admitted together with its parent
	switch {
	case e.stopping.Load():
		return 0, errShuttingDown
	case e.runs[r.id] != nil: // its commit failed just now, and it is not evicted yet
		return 0, unavailable("the run is being evicted")
	case child:
	case r.reserved > 0:
		if e.held-e.reserved > e.Limits.Held {
			return 0, errMemoryFull()
		}
	case e.held > 0 && e.held+r.memory > e.room(r.memory):
		return 0, errMemoryFull()
	}
	atOnce, err := e.checkConcurrency(r)
	if err == nil && atOnce && !child {
		err = e.mayQueue(r)
	}
	if err != nil {
		return 0, err
	}
	r.memoryCounted = true
	e.held += r.memory
	e.reserved += int(r.reserved)
	e.runs[r.id] = r
	if e.joinGroup(r, atOnce); !atOnce {
		return blocked, nil
	}
	if e.takeSlot(r) {
		return runsNow, nil
	}
	return waitsForSlot, nil
}

// mayQueue returns why a run can neither get a slot nor wait for one. e.mu is held.
func (e *Engine) mayQueue(r *run) error {
	f := e.queue.flow(r.flowName())
	defer e.queue.update(f)
	if e.queue.hasSlotFor(f) {
		return nil
	}
	switch may, any := e.queue.hasPlaceFor(f); {
	case !any:
		return unavailable("the queue is full")
	case !may:
		return tooMany("too many runs of this trigger, user or organization are queued; retry later")
	}
	return nil
}

// room returns how much memory all inputs together may take, given an input of this size.
// Small ones may use a quarter more, so that large ones never block them.
func (e *Engine) room(memory int) int {
	if e.isLarge(memory) {
		return e.Limits.Held
	}
	return e.Limits.Held + e.Limits.Held/4
}

func (e *Engine) isLarge(memory int) bool { return memory > min(e.Limits.Held/1024, 64<<10) }

// admitInput acquires memory for a large input, first come, first served. It waits
// until ctx ends, at most Options.InputWait. An input larger than the limit is admitted
// alone and counts as the whole limit, so that small ones fit. Child runs take nothing.
func (e *Engine) admitInput(ctx context.Context, r *run) error {
	if !e.isLarge(r.memory) || r.begin.Parent != "" {
		return nil
	}
	size := int64(min(r.memory, e.Limits.Held))
	if !e.inputs.TryAcquire(size) {
		if e.InputWait <= 0 || ctx.Err() != nil {
			return errMemoryFull()
		}
		ctx, cancel := context.WithTimeout(ctx, e.InputWait)
		defer cancel()
		defer context.AfterFunc(e.ctx, cancel)()
		if e.inputs.Acquire(ctx, size) != nil {
			return errMemoryFull()
		}
	}
	r.reserved, r.memory = size, int(size)
	return nil
}

func (e *Engine) releaseInput(r *run) {
	if r.reserved > 0 {
		e.inputs.Release(r.reserved)
		r.reserved = 0
	}
}

func errMemoryFull() error {
	return unavailable("the inputs of the running executions take too much memory")
}

// enqueue takes over a reference and drives the run once it has a slot. The queue may
// exceed MaxQueued, because the run was accepted earlier.
func (e *Engine) enqueue(r *run) {
	e.mu.Lock()
	waits := r.slotState == queued
	now := !waits && e.takeSlot(r)
	e.mu.Unlock()
	switch {
	case now && e.Schedule != nil:
		e.driveScheduled(r)
	case now:
		go e.drive(r)
	case waits: // the queue holds a reference already
		e.unref(r)
	}
}

// takeSlot assigns a slot to the run if its flow may have another one, else queues the
// run. The caller holds e.mu.
func (e *Engine) takeSlot(r *run) bool {
	if r.slotState == hasSlot {
		return true
	}
	r.flow = e.queue.flow(r.flowName())
	if e.queue.hasSlotFor(r.flow) || e.stopping.Load() {
		r.slotState = hasSlot
		e.queue.addTaken(r.flow, 1)
		return true
	}
	r.slotState = queued
	r.element.value = r
	e.queue.push(r.flow, &r.element)
	return false
}

// flowName returns the organization and the flow of a run; a child run is in the flow
// of its first ancestor.
func (r *run) flowName() (group, flow string) {
	switch b := r.begin; {
	case b.Flow != "":
		flow = b.Flow
	case b.Trigger != nil:
		flow = b.Trigger.ID
	default:
		flow = b.UserID
	}
	return r.row.OrganizationID, flow
}

// releaseSlot frees the slot of an evicted run and starts queued runs. e.mu is held.
func (e *Engine) releaseSlot(r *run) {
	if r.slotState != hasSlot {
		return
	}
	r.slotState = noSlot
	e.queue.addTaken(r.flow, -1)
	r.flow = nil
	for next := e.queue.pop(); next != nil; next = e.queue.pop() {
		next.slotState = hasSlot
		go e.drive(next)
	}
}

// unqueue removes a run that has nothing left to do from the queue and drops the
// queue's reference. The caller holds r.mu.
func (e *Engine) unqueue(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.slotState == queued {
		e.leaveQueue(r)
		r.refs--
	}
}

// leaveQueue removes a run from the queue. The caller holds e.mu.
func (e *Engine) leaveQueue(r *run) {
	r.slotState = noSlot
	e.queue.remove(r.flow, &r.element)
	r.flow = nil
}

var errShuttingDown = unavailable("the server is shutting down")

func unavailable(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: message, RetryAfter: 2 * time.Second}
}

func tooMany(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: message, RetryAfter: 2 * time.Second}
}

// undecidedError defers the admission of a run until its channel closes.
type undecidedError struct{ until <-chan struct{} }

func (*undecidedError) Error() string { return "not known yet" }

func (e *Engine) admitWhenDecided(r *run) (admission, error) {
	for {
		as, err := e.admit(r)
		var later *undecidedError
		if !errors.As(err, &later) {
			return as, err
		}
		select {
		case <-later.until:
		case <-e.ctx.Done():
			return 0, errShuttingDown
		}
	}
}

// checkConcurrency reports whether a new run may begin at once or is blocked; the error
// refuses it. The caller holds e.mu.
func (e *Engine) checkConcurrency(r *run) (atOnce bool, err error) {
	key := r.concurrencyKey()
	if key != "" && e.concurrency.recovering { // its number must be higher than all existing ones
		return false, &undecidedError{e.concurrency.recovered}
	}
	g := e.concurrency.byKey[key]
	if g == nil {
		return true, nil
	}
	if r.begin.RetryOf == "" {
		g.adopt(r.begin)
		e.admitBlocked(g) // those before it, when the limit was raised
	}
	switch {
	case !g.full():
		return true, nil
	case g.onLimit == blueprint.LimitSkip && g.durable+g.cancelling >= g.limit:
		return false, &blueprint.ConcurrencyLimitError{Limit: g.limit, Running: g.members.length, Oldest: g.members.first.value.id}
	case g.onLimit == blueprint.LimitSkip && g.members.length >= g.limit:
		return false, e.awaitCommits(g)
	case g.blocked.length+g.cancelledBlocked >= blueprint.MaxBlocked:
		return false, blueprint.GroupQueueFull(g.limit)
	}
	return false, nil
}

// awaitCommits defers admission until the runs being committed are durable or refused:
// a run whose key had started one takes no slot. It flushes them. e.mu is held.
func (e *Engine) awaitCommits(g *concurrencyGroup) error {
	for at := g.members.first; at != nil; at = at.next {
		s := at.value
		if r := e.runs[s.id]; r != nil && !s.durable && !s.cancelling && !s.flushed {
			s.flushed = true
			go r.flush()
		}
	}
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return &undecidedError{g.changed}
}

func (g *concurrencyGroup) notifyChanged() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
