package engine

import (
	"context"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// View gives the whole record of a run as readers may see it, secrets masked.
// It takes what the store has of the run; for one that is at work it tells how
// far it is.
func (e *Engine) View(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	return e.ViewWithin(ctx, execution, e.Limits.Record)
}

// ViewWithin is View for a record whose steps' inputs and outputs may take at
// most room bytes of JSON. What does not fit is null, and the log says so.
func (e *Engine) ViewWithin(ctx context.Context, execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	room = min(room, e.Limits.Record)
	if execution.Row.Status.Terminal() {
		return e.viewRecord(execution, room)
	}
	if live := e.liveView(ctx, execution.Row.ID, room); live != nil {
		return live, nil
	}
	// It is at rest, or has come to rest since it was read: the disk knows.
	stored, err := e.Journal.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		return e.viewRecord(stored, room)
	}
	r := e.newRun(stored.Row.ID)
	defer r.cancel(context.Canceled)
	if err := e.fold(ctx, r, stored); err != nil {
		return nil, err
	}
	return r.view(room), nil
}

func (e *Engine) viewRecord(execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	s, err := e.decodeRecord(execution, false)
	if err != nil {
		return nil, err
	}
	s.room = room
	return s.expand(&execution.Row), nil
}

// liveViewPatience is how long, in real time, a look at a run at work waits for
// the disk before it shows what the disk had before.
const liveViewPatience = 2 * time.Second

// liveView gives a run that is in memory, nil for any other. What it shows is
// on the disk first: nobody may be told of a step that a crash could undo.
func (e *Engine) liveView(ctx context.Context, id string, room int) *blueprint.Execution {
	e.mu.Lock()
	live := e.runs[id]
	e.mu.Unlock()
	if live == nil {
		return nil
	}
	if live.loaded(ctx) != nil {
		return nil
	}
	view, durable := live.snapshot(room)
	if view == nil || durable {
		return view
	}
	flushed := make(chan error, 1)
	go func() { flushed <- live.flush() }()
	patience := time.NewTimer(liveViewPatience)
	defer patience.Stop()
	select {
	case err := <-flushed:
		if err == nil {
			return view
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// snapshot gives the run as it stands, nil when it is not in memory any more,
// and tells whether all of that is on the disk.
func (r *run) snapshot(room int) (view *blueprint.Execution, durable bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || r.begin == nil {
		return nil, false
	}
	return r.view(room), len(r.pending) == 0
}

// view gives the run as it stands. r.mu is held.
func (r *run) view(room int) *blueprint.Execution {
	row := r.row
	if !row.Status.Terminal() {
		row.Status = r.status()
	}
	account := r.account().mask(r.masker.Load())
	account.room = room
	return account.expand(&row)
}

// expand makes the record that clients see.
func (s *stored) expand(row *blueprint.ExecutionRow) *blueprint.Execution {
	x := &blueprint.Execution{
		LogID: row.LogID, BlueprintID: row.BlueprintID, BlueprintVersion: row.BlueprintVersion, OrganizationID: row.OrganizationID, UserID: row.UserID, PrivateTo: s.Begin.privateTo(),
		TriggerID: row.TriggerID, FiringID: row.FiringID, ParentExecutionID: row.ParentExecutionID, RetryOf: s.Begin.RetryOf,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, InputVariables: s.Begin.Given, InputData: s.Begin.InputData, Outputs: map[string]any{},
	}
	x.ID, x.Status, x.StartTime, x.EndTime, x.TotalSteps = row.ID, row.Status, row.StartTime, row.EndTime, s.own()
	if x.InputVariables == nil {
		x.InputVariables = map[string]any{}
	}
	values := newValues(s)
	if x.Status == blueprint.StatusCompleted {
		x.Output = values.output(s.Ends)
	}
	x.Steps = make([]blueprint.Step, len(s.Steps))
	settled := 0
	for i := range s.Steps {
		at := &s.Steps[i]
		x.Steps[i] = values.step(at)
		if a := s.Awaiting[at.Node]; a != nil {
			x.AwaitingInputs = append(x.AwaitingInputs, a)
		}
		if at.Status == blueprint.StepRunning && (x.CurrentStep == nil || at.In != "" && strings.HasPrefix(at.Node, *x.CurrentStep+"[")) {
			x.CurrentStep = &at.Node // of those that run within each other the innermost
		}
		if at.In != "" {
			continue
		}
		switch at.Status {
		case blueprint.StepCompleted:
			x.CompletedSteps++
			settled++
			x.Outputs[at.Node] = x.Steps[i].Output
		case blueprint.StepSkipped:
			settled++
		case blueprint.StepFailed:
			x.FailedSteps++
			if at.Output != nil {
				x.Outputs[at.Node] = x.Steps[i].Output
			}
		}
	}
	if len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
	x.Progress = min(99, 100*settled/max(1, x.TotalSteps)) // 100 is for a run whose end is on the disk
	if x.Status == blueprint.StatusCompleted {
		x.Progress = 100
	}
	x.Shown = s.room - values.room
	x.Failure = s.failure(x.Status)
	x.Telemetry = s.telemetry(x)
	x.Logs = s.lifecycle(x, len(values.left))
	return x
}

// own counts the steps of the run's own map.
func (s *stored) own() (n int) {
	for i := range s.Steps {
		if s.Steps[i].In == "" {
			n++
		}
	}
	return n
}

// failure says why a failed run failed.
func (s *stored) failure(status blueprint.Status) *blueprint.RunError {
	switch {
	case status != blueprint.StatusFailed:
		return nil
	case s.Canceled != nil:
		message := "cancelled"
		if *s.Canceled != "" {
			message += ": " + *s.Canceled
		}
		return &blueprint.RunError{Message: message, Code: "cancelled", Displaced: *s.Canceled == displaced}
	}
	for i := range s.Steps {
		if at := &s.Steps[i]; at.Node == s.Failed && at.Error != nil {
			return &blueprint.RunError{NodeID: at.Node, Message: at.Error.Message, Code: at.Error.Code, Hint: at.Error.Hint, Grant: at.Error.Grant}
		}
	}
	return &blueprint.RunError{Message: "failed"}
}
