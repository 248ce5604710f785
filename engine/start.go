package engine

import (
	"context"

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
// too many wait in the lane, *blueprint.LaneFullError.
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
	if request.Lane != nil {
		b.Lane = &turnout{Lane: *request.Lane}
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

// program gives the compiled form of a definition; an ad hoc one is not kept.
func (e *Engine) program(definition *blueprint.Definition, adHoc bool) (*program, error) {
	if adHoc {
		return compile(e.Catalogue, definition)
	}
	return e.programs.of(definition)
}

// launch makes the run of a beginning and sets it to work now or when its turn
// comes. A run that has to wait for its turn is stored meanwhile: its caller
// may not wait for so long. One that waits for its lane is put down. Until wait
// ends, it waits for room for a large input.
func (e *Engine) launch(wait context.Context, id string, p *program, b *begin, l ledger, urgency Urgency) (*Handle, error) {
	now := e.Clock.Now()
	r := e.newRun(id)
	if err := r.setUp(p, b); err != nil {
		r.cancel(err)
		return nil, err
	}
	if err := e.admitInput(wait, r); err != nil {
		r.cancel(err)
		return nil, err
	}
	definition, at := p.definition, blueprint.TimeOf(now)
	r.row = blueprint.ExecutionRow{
		ID: r.id, LogID: e.IDs.Stream("log", r.id).ULID(now), BlueprintID: definition.BlueprintID, BlueprintVersion: definition.Version,
		OrganizationID: definition.OrganizationID, UserID: b.UserID, ParentExecutionID: b.Parent,
		Status: blueprint.StatusRunning, CreatedAt: at, UpdatedAt: at, StartTime: at,
	}
	r.ledger = l
	if firing := l.firing; firing != nil {
		firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &r.id
		r.row.TriggerID, r.row.FiringID = firing.TriggerID, firing.ID
	}
	r.pending = []*entry{{Kind: entryBegin, At: at, Begin: b}}
	handle := newHandle(r.id)
	handle.FiringID = r.row.FiringID
	r.handle, r.units, r.unhold = handle, 1, e.Clock.Hold()

	if mutant.Is(mutant.AckBeforeCommit) && (l.firing == nil || l.firing.Key == l.firing.ID) {
		handle.accept(nil)
	}

	r.atOnce = urgency == AtOnce

	as, err := e.enlist(r)
	switch {
	case err != nil:
		e.releaseInput(r)
		r.unhold()
		r.cancel(err)
		return nil, err
	case as == queues:
		go r.flush()
	case as == stands:
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
	return handle, nil
}
