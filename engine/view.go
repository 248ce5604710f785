package engine

import (
	"context"

	"blueprintd/blueprint"
)

// View gives the whole record of a run as readers may see it, secrets masked.
// It takes what the store has of the run; for one that is at work it tells how
// far it is.
func (e *Engine) View(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	if execution.Row.Status.Terminal() {
		return e.viewRecord(execution)
	}
	if live := e.liveView(execution.Row.ID); live != nil {
		return live, nil
	}
	// It is at rest, or has come to rest since it was read: the disk knows.
	stored, err := e.Journal.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		return e.viewRecord(stored)
	}
	r := e.newRun(stored.Row.ID)
	defer r.cancel(context.Canceled)
	if err := e.fold(ctx, r, stored); err != nil {
		return nil, err
	}
	return r.view(), nil
}

func (e *Engine) viewRecord(execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	s, err := e.decodeRecord(execution, false)
	if err != nil {
		return nil, err
	}
	return s.expand(&execution.Row), nil
}

// liveView gives a run that is in memory, nil for any other.
func (e *Engine) liveView(id string) *blueprint.Execution {
	e.mu.Lock()
	live := e.runs[id]
	e.mu.Unlock()
	if live == nil {
		return nil
	}
	live.mu.Lock()
	defer live.mu.Unlock()
	if live.gone || live.begin == nil {
		return nil
	}
	return live.view()
}

// view gives the run as it stands. r.mu is held.
func (r *run) view() *blueprint.Execution {
	row := r.row
	if !row.Status.Terminal() {
		row.Status = r.status()
	}
	return r.account().mask(r.masker).expand(&row)
}

// expand makes the record that clients see.
func (s *stored) expand(row *blueprint.ExecutionRow) *blueprint.Execution {
	x := &blueprint.Execution{
		LogID: row.LogID, BlueprintID: row.BlueprintID, BlueprintVersion: row.BlueprintVersion, OrganizationID: row.OrganizationID, UserID: row.UserID,
		TriggerID: row.TriggerID, FiringID: row.FiringID, ParentExecutionID: row.ParentExecutionID, RetryOf: s.Begin.RetryOf,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, InputVariables: s.Begin.Given, InputData: s.Begin.InputData, Outputs: map[string]any{},
	}
	x.ID, x.Status, x.StartTime, x.EndTime, x.TotalSteps = row.ID, row.Status, row.StartTime, row.EndTime, len(s.Steps)
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
		case blueprint.StepRunning:
			if x.CurrentStep == nil {
				x.CurrentStep = &at.Node
			}
		}
		if a := s.Awaiting[at.Node]; a != nil {
			x.AwaitingInputs = append(x.AwaitingInputs, a)
		}
	}
	if len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
	x.Progress = 100 * settled / max(1, len(s.Steps))
	if x.Status == blueprint.StatusCompleted {
		x.Progress = 100
	}
	x.Failure = s.failure(x.Status)
	x.Telemetry = s.telemetry(x)
	x.Logs = s.lifecycle(x, len(values.left))
	return x
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
		return &blueprint.RunError{Message: message, Code: "cancelled"}
	}
	for i := range s.Steps {
		if at := &s.Steps[i]; at.Node == s.Failed && at.Error != nil {
			return &blueprint.RunError{NodeID: at.Node, Message: at.Error.Message, Code: at.Error.Code}
		}
	}
	return &blueprint.RunError{Message: "failed"}
}
