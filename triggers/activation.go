package triggers

import (
	"context"
	"errors"
	"time"

	"blueprintd/blueprint"
)

// How long a run may work before it and its firing must be on the disk.
const (
	// atOnce is for keys that may come twice: of two deliveries only one gets
	// so far that a node runs.
	atOnce = 0
	// soon is for callers that wait for the acknowledgement, and for ticks: one
	// that is not on the disk yet when the server dies is decided again.
	soon = 5 * time.Millisecond
	// atEnd is for callers that wait for the run's end.
	atEnd = time.Second
)

// activation is something that wants to start a trigger's blueprint.
type activation struct {
	binding  *blueprint.Binding
	firing   *blueprint.Firing
	input    any
	headers  map[string]any
	hidden   []string // secrets that the input may hold
	depth    int      // how many events led here
	root     string   // the key of the first of them
	record   bool     // what the run exchanges is kept, whatever the trigger says
	resumed  bool     // it switched its trigger on again
	keyed    bool     // the key came from outside and may come again
	bodyID   string   // of a delivery that says in its body which one it is; filled in by judge
	patience time.Duration
	run      Run // once it has been fired

	generation int64 // that the binding is of, when it may be out of date

	// Of a tick.
	coalesced *blueprint.Firing
	cursor    blueprint.Time
	events    []blueprint.Event // raised when it starts
}

// newFiring makes a ledger row that is received now. Its key is its own id
// until it is given another.
func (t *Service) newFiring(triggerID string, source blueprint.Source) *blueprint.Firing {
	now := t.Clock.Now()
	id := t.IDs.At(now, "firing", triggerID).ULID(now)
	return &blueprint.Firing{ID: id, TriggerID: triggerID, Source: source, Key: id, ReceivedAt: blueprint.TimeOf(now)}
}

// begin hands an activation to the runner. The run is not durable yet. Where a
// full group skips, one that comes again is found out before it could take, for a
// moment, the place of another. It waits for room for a large input until ctx ends.
func (t *Service) begin(ctx context.Context, a *activation) (Run, error) {
	b, group := a.binding, ConcurrencyOf(&a.binding.Trigger)
	if group != nil && group.OnLimit == blueprint.LimitSkip {
		if first := t.earlier(context.Background(), a); first != nil {
			return nil, first
		}
	}
	run, err := t.Runner.Start(ctx, &blueprint.StartRequest{
		Definition: b.Definition, Principal: b.Principal, CanManage: b.CanManage, InputData: a.input, Hidden: a.hidden,
		Trigger: &blueprint.TriggerContext{ID: b.Trigger.ID, Type: b.Trigger.Type, Headers: a.headers, Depth: a.depth, Root: a.root},
		Firing:  a.firing, Coalesced: a.coalesced, Cursor: a.cursor, Events: a.events,
		Concurrency: group, Record: a.record || b.Trigger.Config["record"] == true, Generation: a.generation,
	}, a.patience)
	return run, crowded(err)
}

// start begins a run and returns once it is durable together with its ledger
// row. When the key has started a run before, that is recorded, and the error
// is a *blueprint.DuplicateFiringError. Other errors leave no row.
func (t *Service) start(ctx context.Context, a *activation) (Run, error) {
	run, err := t.begin(ctx, a)
	return t.finish(ctx, a, run, err)
}

// finish is the second half of start, for who begins several runs before it
// waits for the first. It takes what begin gave. Of an activation that may be out
// of date it records nothing, and the error may be a *blueprint.StaleError.
func (t *Service) finish(ctx context.Context, a *activation, run Run, err error) (Run, error) {
	// Whoever asked may go away meanwhile; what becomes of the firing is to be known all the same.
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = run.Accepted(ctx)
	}
	if err == nil {
		t.started.Add(1)
		t.counts.firings.Add(string(a.firing.Source), string(blueprint.DecisionStarted))
		return run, nil
	}
	var duplicate *blueprint.DuplicateFiringError
	if !errors.As(err, &duplicate) {
		if isStale(err) {
			return nil, err
		}
		if duplicate = t.earlier(ctx, a); duplicate == nil {
			return nil, err
		}
	}
	if a.firing.BodyHash == "" && a.generation == 0 {
		t.recordDuplicate(ctx, a, duplicate)
	}
	return nil, duplicate
}

// earlier looks whether a key has started a run before. What could not be
// started asks: a delivery that comes again gets its first answer even when the
// blueprint cannot run any more or the server is busy.
func (t *Service) earlier(ctx context.Context, a *activation) *blueprint.DuplicateFiringError {
	if !a.keyed {
		return nil
	}
	first, err := t.Store.StartedFiring(ctx, a.firing.TriggerID, a.firing.Key)
	if err != nil || first.ExecutionID == nil {
		return nil
	}
	return &blueprint.DuplicateFiringError{FiringID: first.ID, ExecutionID: *first.ExecutionID}
}

// recordDuplicate stores the row of a firing whose key had started a run. What
// came is there with the first; to send it again costs its sender nothing.
func (t *Service) recordDuplicate(ctx context.Context, a *activation, first *blueprint.DuplicateFiringError) {
	firing := a.firing
	firing.Files = nil
	if firing.Delivery != nil {
		firing.Delivery.Body = nil
	}
	firing.Decision, firing.ExecutionID = blueprint.DecisionDuplicate, &first.ExecutionID
	firing.SetReason(blueprint.NewReason(blueprint.ReasonDuplicate, "executionId", first.ExecutionID, "firingId", first.FiringID))
	// Mail is looked up before anybody asks who sent it.
	if kind := a.binding.Trigger.Type; !a.binding.Trigger.IsOpen() && kind != blueprint.TriggerEmail || t.mayRecord(firing, firing.Why) {
		t.record(ctx, firing)
	}
}

// decide sets the decision of a firing that starts nothing.
func decide(firing *blueprint.Firing, decision blueprint.Decision, why blueprint.Reason) {
	firing.Decision, firing.ExecutionID = decision, nil
	firing.SetReason(why)
}

// recordRefused stores the row of a firing that was not allowed or not valid.
func (t *Service) recordRefused(ctx context.Context, firing *blueprint.Firing, why blueprint.Reason) {
	decide(firing, blueprint.DecisionRefused, why)
	t.record(ctx, firing)
}

// recordSkipped stores the row of a firing that a filter left out.
func (t *Service) recordSkipped(ctx context.Context, firing *blueprint.Firing, why blueprint.Reason) {
	decide(firing, blueprint.DecisionSkipped, why)
	t.record(ctx, firing)
}

// record stores a row that starts nothing. The caller gets the same answer
// whether that works or not, so a failure is only logged: while the store takes
// no rows, once, for anybody can send deliveries.
func (t *Service) record(ctx context.Context, firing *blueprint.Firing) {
	err := t.Store.RecordFirings(context.WithoutCancel(ctx), firing.TriggerID, []blueprint.Firing{*firing}, 0)
	switch {
	case err == nil:
	case blueprint.CodeOf(err) != blueprint.CodeUnavailable:
		t.Logger.Warn("a firing is missing in the ledger", "trigger", firing.TriggerID, "decision", firing.Decision, "error", err)
		return
	default:
		if t.missing.Add(1) == 1 {
			t.Logger.Warn("a firing is missing in the ledger, and so will be others that start nothing until it takes rows again",
				"trigger", firing.TriggerID, "decision", firing.Decision, "error", err)
		}
		return
	}
	if missing := t.missing.Swap(0); missing > 0 {
		t.Logger.Info("the ledger takes rows again", "missing", missing)
	}
	t.counts.firings.Add(string(firing.Source), string(firing.Decision))
}

// shorten bounds a text, at a character's end.
func shorten(text string) string { return blueprint.Shorten(text, 300) }

// shown returns of an error what may be shown: itself, or "internal error".
func shown(err error) *blueprint.Error {
	var known *blueprint.Error
	if errors.As(err, &known) && known.Code != blueprint.CodeInternal {
		return known
	}
	return blueprint.Errorf(blueprint.CodeInternal, "internal error")
}

// failure is shown, for errors that go no further: what the answer does not
// tell is logged.
func (t *Service) failure(triggerID string, err error) *blueprint.Error {
	answer := shown(err)
	switch {
	case answer.Code == blueprint.CodeInternal && errors.Is(err, context.Canceled):
		return blueprint.Errorf(blueprint.CodeClientClosed, "the client went away")
	case answer.Code == blueprint.CodeInternal:
		t.Logger.Error("a firing failed", "trigger", triggerID, "error", err)
	case answer.Err != nil:
		t.Logger.Warn("a firing was refused", "trigger", triggerID, "code", answer.Code, "error", err)
	}
	return answer
}

// resume returns the binding of a trigger after a delivery came for it, and whether
// the delivery has switched the trigger on: the server had switched it off some
// time ago, and does not keep those out for ever whom strangers can keep out so.
// Until then it is CodeUnavailable. CodeNotFound when the trigger is gone.
func (t *Service) resume(ctx context.Context, b *blueprint.Binding) (_ *blueprint.Binding, done bool, refused *blueprint.Error) {
	if b.Trigger.IsActive || b.RetryAt == 0 || !b.CanManage {
		return b, false, nil
	}
	if wait, ok := t.pause(b); !ok {
		return b, false, wait
	}
	done, err := t.Store.LetIn(ctx, b.Trigger.ID)
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	if done {
		t.Logger.Info("a trigger that the server switched off is tried again", "trigger", b.Trigger.ID)
	}
	present, err := t.Store.Binding(ctx, b.Trigger.ID) // perhaps another delivery was the first
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	return present, done, nil
}

// pause reports whether a trigger that the server switched off may be tried again,
// and what its senders are told until then. A time too far away is of a clock
// that was set back.
func (t *Service) pause(b *blueprint.Binding) (wait *blueprint.Error, over bool) {
	left := b.RetryAt.Time().Sub(t.Clock.Now())
	if left <= 0 || left > blueprint.BreakerPause {
		return nil, true
	}
	return &blueprint.Error{Code: blueprint.CodeUnavailable, RetryAfter: left, Message: "the runs of this trigger keep failing, so it takes a rest: try again later"}, false
}

// offReason tells why a trigger that is not active starts nothing: somebody
// switched it off, or the server did because its runs kept failing.
func offReason(binding *blueprint.Binding) blueprint.Reason {
	if binding.Tripped == nil {
		return blueprint.NewReason(blueprint.ReasonInactive)
	}
	return binding.Tripped.Because(blueprint.ReasonTripped)
}

// off is offReason for who fired it and can switch it on again.
func off(binding *blueprint.Binding) *blueprint.Error {
	refused := blueprint.ReasonError(blueprint.CodeBadRequest, offReason(binding))
	if binding.Tripped != nil {
		refused.Hint = "mend the cause, then switch it on again with isActive: true"
	}
	return refused
}
