package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// Urgency says how long a new run may work before it must be on the disk.
type Urgency time.Duration

// How soon a run must be durable at the latest. Whatever has a side effect,
// waits, or ends makes it durable earlier.
const (
	// AtOnce stores the run before its first node starts: for a firing whose
	// key may come twice.
	AtOnce Urgency = 0
	// Soon is for callers that wait for Handle.Accepted: a run of pure nodes
	// that ends within it costs one commit.
	Soon = Urgency(5 * time.Millisecond)
	// AtEnd is for callers that wait for Handle.Wait, who may as well work on the
	// run themselves as long as its nodes are quick: after this time even a
	// run that nobody was told of can be seen.
	AtEnd = Urgency(time.Second)
)

// Start begins a run and returns soon; the handle tells what becomes of it. With
// AtEnd the caller may have worked on quick nodes, and committed them.
// Errors: CodeBadRequest when the blueprint has no nodes or the variables do
// not fit, CodeUnavailable when the engine is stopping or its queue is full,
// CodeTooManyRequests when the trigger or the user has its share of the queue or
// too many wait in the concurrency group, *blueprint.ConcurrencyLimitError.
func (e *Engine) Start(request *blueprint.StartRequest, urgency Urgency) (*Handle, error) {
	return e.start(noWait, request, urgency)
}

// StartOrWait is Start for callers that can wait for room: while the inputs of
// the runs at work leave none for a large one, it waits until ctx ends or
// Options.InputWait has passed.
func (e *Engine) StartOrWait(ctx context.Context, request *blueprint.StartRequest, urgency Urgency) (*Handle, error) {
	return e.start(ctx, request, urgency)
}

// noWait has ended.
var noWait = func() context.Context {
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
	return e.launch(wait, e.newID(request.Firing), p, b, ledger{request.Firing, request.Coalesced, request.Cursor, request.Events, request.Generation}, urgency)
}

// newID makes the id of a run that nobody waits for: of one that a firing starts
// by that.
func (e *Engine) newID(firing *blueprint.Firing) string {
	now, cause := e.Clock.Now(), ""
	if firing != nil {
		cause = firing.ID
	}
	return e.IDs.At(now, "execution", cause).ExecutionID(now)
}

// inTurn has a run driven when its turn comes; until then it does not hold the
// clock. The unit is that of drive.
func (e *Engine) inTurn(r *run) {
	r.mu.Lock()
	unhold := r.unhold
	r.unhold, r.driven = func() {}, true
	r.mu.Unlock()
	e.Turn(func() {
		r.mu.Lock()
		r.unhold = e.Clock.Hold()
		r.mu.Unlock()
		e.drive(r)
	})
	unhold()
}

// program returns the compiled form of a definition; an ad hoc one is not kept.
func (e *Engine) program(definition *blueprint.Definition, adHoc bool) (*program, error) {
	if adHoc {
		return compile(e.Catalogue, definition)
	}
	return e.programs.of(definition)
}

// launch makes the run of a beginning and sets it to work now or when its turn
// comes. Until wait ends, it waits for room for a large input.
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
	if mutant.Is(mutant.AckBeforeCommit) && (l.firing == nil || l.firing.Key == l.firing.ID) {
		handle.accept(nil)
	}
	r.atOnce = urgency == AtOnce
	as, err := e.enlist(r)
	if err != nil {
		e.releaseInput(r)
		r.unhold()
		r.cancel(err)
		return nil, err
	}
	e.setToWork(r, as, urgency)
	return handle, nil
}

// start makes the row and the first entry of a run that is set up, and the handle of
// its caller.
func (r *run) start(l ledger) *Handle {
	e, definition := r.engine, r.program.definition
	now := e.Clock.Now()
	at := blueprint.TimeOf(now)
	r.row = blueprint.ExecutionRow{
		ID: r.id, LogID: e.IDs.Stream("log", r.id).ULID(now), BlueprintID: definition.BlueprintID, BlueprintVersion: definition.Version,
		OrganizationID: definition.OrganizationID, UserID: r.begin.UserID, ParentExecutionID: r.begin.Parent,
		Status: blueprint.StatusRunning, CreatedAt: at, UpdatedAt: at, StartTime: at,
	}
	r.ledger = l
	if firing := l.firing; firing != nil {
		firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &r.id
		r.row.TriggerID, r.row.FiringID = firing.TriggerID, firing.ID
	}
	r.pending = []*entry{{Kind: entryBegin, At: at, Begin: r.begin}}
	handle := newHandle(r.id)
	handle.FiringID = r.row.FiringID
	r.handle, r.units, r.unhold = handle, 1, e.Clock.Hold()
	return handle
}

// setToWork begins with a new run, as it was admitted. One that has to wait for its
// turn is stored meanwhile: its caller may not wait for so long. One that is blocked
// by its concurrency group is put down.
func (e *Engine) setToWork(r *run, as admission, urgency Urgency) {
	switch {
	case as == queues:
		go r.flush()
	case as == blocked:
		go e.leave(r)
	case e.Turn != nil:
		if r.flush() != nil {
			go e.leave(r)
		} else {
			e.inTurn(r)
		}
	case urgency == AtOnce:
		go e.drive(r)
	default:
		r.mu.Lock()
		r.soon(urgency)
		r.mu.Unlock()
		if urgency == AtEnd {
			e.driveHere(r)
		} else {
			go e.drive(r)
		}
	}
}

// turn says whether a run may work. Of all runs in memory at most
// Options.MaxRunning have their turn, from when they get it until they are
// dropped from memory.
type turn uint8

const (
	noTurn turn = iota
	queued      // it waits for one
	hasTurn
)

// admission is what becomes of a new run at first.
type admission uint8

const (
	begins  admission = iota // it has its turn
	queues                   // it waits for its turn
	blocked                  // its concurrency group has to let it begin
)

// admit takes in a new run, with one unit for its work, and tells how it
// begins.
func (e *Engine) admit(r *run) (admission, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	child := r.begin.Parent != "" // it belongs to a run that was taken in
	switch {
	case e.stopping.Load():
		return 0, errShuttingDown
	case e.runs[r.id] != nil: // refused by the disk just now, and not put down yet
		return 0, unavailable("the run is being put down")
	case child:
	case r.reserved > 0:
		if e.held-e.reserved > e.Limits.Held { // by what had not to reserve anything
			return 0, errNoRoom()
		}
	case e.held > 0 && e.held+r.memory > e.room(r.memory):
		return 0, errNoRoom()
	}
	atOnce, err := e.checkConcurrency(r)
	if err == nil && atOnce && !child {
		err = e.mayQueue(r)
	}
	if err != nil {
		return 0, err
	}
	r.counted = true
	e.held += r.memory
	e.reserved += int(r.reserved)
	e.runs[r.id] = r
	if e.takeSlot(r, atOnce); !atOnce {
		return blocked, nil
	}
	if e.takeTurn(r) {
		return begins, nil
	}
	return queues, nil
}

// mayQueue tells why a run can neither have its turn now nor wait for it; nil
// when it can. e.mu is held.
func (e *Engine) mayQueue(r *run) error {
	f := e.queue.of(r.flowName())
	defer e.queue.place(f)
	if e.queue.hasTurnFor(f) {
		return nil
	}
	switch may, any := e.queue.hasPlaceFor(f); {
	case !any:
		return unavailable("too many runs are waiting for their turn")
	case !may:
		return tooMany("so many runs of this trigger, user or organization wait for their turn that the places left are for others")
	}
	return nil
}

// room is how much memory all inputs together may take for one more to be taken
// in. A quarter more is kept for small ones, so that large ones never keep them
// out.
func (e *Engine) room(memory int) int {
	if e.isLarge(memory) {
		return e.Limits.Held
	}
	return e.Limits.Held + e.Limits.Held/4
}

// isLarge reports whether an input that takes so much memory may have to wait
// for room.
func (e *Engine) isLarge(memory int) bool { return memory > min(e.Limits.Held/1024, 64<<10) }

// admitInput takes room for the input of a new run, if it is large. It waits until
// ctx ends, at most Options.InputWait, in the order of coming. What is larger
// than all room is let in alone and counts as all of it, so that small ones are
// still taken. The runs that others start belong to those that
// were let in, and reserve nothing.
func (e *Engine) admitInput(ctx context.Context, r *run) error {
	if !e.isLarge(r.memory) || r.begin.Parent != "" {
		return nil
	}
	size := int64(min(r.memory, e.Limits.Held))
	if !e.inputs.TryAcquire(size) {
		if e.InputWait <= 0 || ctx.Err() != nil {
			return errNoRoom()
		}
		ctx, cancel := context.WithTimeout(ctx, e.InputWait)
		defer cancel()
		defer context.AfterFunc(e.ctx, cancel)()
		if e.inputs.Acquire(ctx, size) != nil {
			return errNoRoom()
		}
	}
	r.reserved, r.memory = size, int(size)
	return nil
}

// releaseInput gives back what admitInput took.
func (e *Engine) releaseInput(r *run) {
	if r.reserved > 0 {
		e.inputs.Release(r.reserved)
		r.reserved = 0
	}
}

func errNoRoom() error { return unavailable("the runs at work hold too much input") }

// work hands a unit of a run to a goroutine that works on it, once the run has
// its turn. The queue may grow beyond MaxQueued: the run was accepted long ago.
func (e *Engine) work(r *run) {
	e.mu.Lock()
	waits := r.turn == queued
	now := !waits && e.takeTurn(r)
	e.mu.Unlock()
	switch {
	case now && e.Turn != nil:
		e.inTurn(r)
	case now:
		go e.drive(r)
	case waits: // the unit that the queue holds will do
		e.leave(r)
	}
}

// takeTurn gives a run its turn when its flow may have one more, else puts it
// into the queue. e.mu is held.
func (e *Engine) takeTurn(r *run) bool {
	if r.turn == hasTurn {
		return true
	}
	r.flow = e.queue.of(r.flowName())
	if e.queue.hasTurnFor(r.flow) || e.stopping.Load() {
		r.turn = hasTurn
		e.queue.turn(r.flow, 1)
		return true
	}
	r.turn = queued
	r.spot.of = r
	e.queue.wait(r.flow, &r.spot)
	return false
}

// flowName returns the organization and the flow to which the work of a run
// belongs. One that another started belongs to where that belongs.
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

// passTurn takes the turn of a run that is dropped from memory back, and gives
// turns to those in the queue who may have one now. e.mu is held.
func (e *Engine) passTurn(r *run) {
	if r.turn != hasTurn {
		return
	}
	r.turn = noTurn
	e.queue.turn(r.flow, -1)
	r.flow = nil
	for next := e.queue.next(); next != nil; next = e.queue.next() {
		next.turn = hasTurn
		go e.drive(next)
	}
}

// unqueue takes a run that has nothing to do any more out of the queue, with
// the unit that the queue holds. r.mu is held.
func (e *Engine) unqueue(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.turn == queued {
		e.leaveQueue(r)
		r.units--
	}
}

// leaveQueue takes a run out of the queue. e.mu is held.
func (e *Engine) leaveQueue(r *run) {
	r.turn = noTurn
	e.queue.leave(r.flow, &r.spot)
	r.flow = nil
}

// errShuttingDown refuses work while the engine stops.
var errShuttingDown = unavailable("the server is shutting down")

// unavailable refuses work for a reason that passes.
func unavailable(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: message, RetryAfter: 2 * time.Second}
}

// tooMany refuses work because there is so much of the same already.
func tooMany(message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: message, RetryAfter: 2 * time.Second}
}

// maxBlocked is how many runs of one concurrency group may be blocked.
const maxBlocked = 1000

// notYetError defers the decision on a run until its channel closes.
type notYetError struct{ until <-chan struct{} }

func (*notYetError) Error() string { return "not known yet" }

// enlist admits a new run once it is known whether its concurrency group has room.
func (e *Engine) enlist(r *run) (admission, error) {
	for {
		as, err := e.admit(r)
		var later *notYetError
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

// checkConcurrency reports whether a new run may begin at once or is blocked; the
// error refuses it. e.mu is held.
func (e *Engine) checkConcurrency(r *run) (atOnce bool, err error) {
	key := r.concurrencyKey()
	if key != "" && e.concurrency.filling { // its number must be higher than all existing ones
		return false, &notYetError{e.concurrency.open}
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
	case g.onLimit == blueprint.LimitSkip && g.alive+g.leaving >= g.limit:
		return false, &blueprint.ConcurrencyLimitError{Limit: g.limit, Running: g.slots.length, Oldest: g.slots.first.of.id}
	case g.onLimit == blueprint.LimitSkip && g.slots.length >= g.limit:
		return false, e.unsettled(g)
	case g.blocked.length+g.leavingBlocked >= maxBlocked:
		return false, tooMany(fmt.Sprintf("the queue of this trigger is full (%d wait, config.concurrency.limit %d)", maxBlocked, g.limit)).WithReason(blueprint.ReasonQueueFull)
	}
	return false, nil
}

// unsettled defers the decision until the runs being committed are durable or
// refused: the key of one may have started a run before, and then it takes no slot.
// Their commits are brought forward. e.mu is held.
func (e *Engine) unsettled(g *concurrencyGroup) error {
	for at := g.slots.first; at != nil; at = at.after {
		s := at.of
		if r := e.runs[s.id]; r != nil && !s.alive && !s.leaving && !s.hurried {
			s.hurried = true
			go r.flush()
		}
	}
	if g.settle == nil {
		g.settle = make(chan struct{})
	}
	return &notYetError{g.settle}
}

// notifySettled wakes those that unsettled told to wait. e.mu is held.
func (g *concurrencyGroup) notifySettled() {
	if g.settle != nil {
		close(g.settle)
		g.settle = nil
	}
}
