package engine

import (
	"bytes"
	"context"

	"blueprintd/blueprint"
)

// brief is as much of a record as its errorSummary needs.
type brief struct {
	Begin struct {
		UserID    string `json:"user"`
		CanManage bool   `json:"manage"`
		DataOf    string `json:"dataOf"`
	} `json:"begin"`
	Steps []struct {
		Node   string               `json:"n"`
		Status blueprint.StepStatus `json:"s"`
		Error  *blueprint.StepError `json:"err"`
	} `json:"steps"`
	Failed   string  `json:"failed"`
	Canceled *string `json:"cancelled"`
}

// failedStep is in every record of a step that failed.
var failedStep = []byte(`"s":"` + blueprint.StepFailed + `"`)

// Gist gives the errorSummary of a run that has ended, as View does but without
// reading all that its nodes took and gave, and what a paused one waits for
// first. Either is nil where there is none, or where it cannot be read. privateTo is
// as of blueprint.Execution, where there is a problem.
func (e *Engine) Gist(ctx context.Context, execution *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	row := &execution.Row
	switch {
	case row.Status == blueprint.StatusPaused:
		view, err := e.ViewWithin(ctx, execution, 0)
		if err == nil && view.Status == blueprint.StatusPaused && view.AwaitingInput != nil {
			awaiting = &view.AwaitingInput.Kind
		}
		return nil, awaiting, ""
	case !row.Status.Terminal():
		return nil, nil, ""
	}
	record, err := e.openRecord(execution)
	if err != nil || row.Status == blueprint.StatusCompleted && !bytes.Contains(record, failedStep) {
		return nil, nil, ""
	}
	var b brief
	if decode(record, &b) != nil {
		return nil, nil, ""
	}
	s := stored{Failed: b.Failed, Canceled: b.Canceled, Steps: make([]step, len(b.Steps))}
	for i, at := range b.Steps {
		s.Steps[i] = step{Node: at.Node, Status: at.Status, Error: at.Error}
	}
	x := &blueprint.Execution{Failure: s.failure(row.Status)}
	x.Status = row.Status
	if summary := s.telemetry(x).ErrorSummary; summary != "" {
		return &summary, nil, (&begin{UserID: b.Begin.UserID, CanManage: b.Begin.CanManage, DataOf: b.Begin.DataOf}).privateTo()
	}
	return nil, nil, ""
}
