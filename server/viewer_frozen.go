package server

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/rpc"
)

// errFrozen refuses whatever would change or start something.
var errFrozen = blueprint.Errorf(blueprint.CodeForbidden, "this only shows a run from a file: nothing can be changed or started here")

// frozenRunner has one run, as a file tells of it, and starts nothing.
type frozenRunner struct {
	file *recording.File
	row  blueprint.ExecutionRow
}

func (r frozenRunner) execution() *blueprint.Execution {
	x := r.file.Execution(r.row.OrganizationID, r.row.UserID)
	x.LogID = r.row.LogID
	return x
}

// View gives the run.
func (r frozenRunner) View(_ context.Context, stored *blueprint.StoredExecution) (*blueprint.Execution, error) {
	if stored.Row.ID != r.row.ID {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no execution %s", stored.Row.ID)
	}
	return r.execution(), nil
}

// ViewWithin gives the run.
func (r frozenRunner) ViewWithin(ctx context.Context, stored *blueprint.StoredExecution, _ int) (*blueprint.Execution, error) {
	return r.View(ctx, stored)
}

// Summary gives why the run failed and what it waits for.
func (r frozenRunner) Summary(context.Context, *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	var kind *blueprint.AwaitKind
	if asked := r.file.Run.AwaitingInput; asked != nil {
		kind = &asked.Kind
	}
	if summary := r.file.Run.Telemetry.ErrorSummary; summary != "" {
		return &summary, kind, ""
	}
	return nil, kind, ""
}

// Recording gives the run with what the file has of its exchanges.
func (r frozenRunner) Recording(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Recording, error) {
	x, err := r.View(ctx, stored)
	if err != nil {
		return nil, err
	}
	out := &blueprint.Recording{Execution: x, Handles: r.file.Run.Handles}
	if from := r.file.Run.Trigger; from != nil {
		out.Trigger = &blueprint.TriggerContext{ID: from.ID, Type: from.Type, Headers: from.Headers}
	}
	if tape := r.file.Cassette; tape != nil {
		out.Recorded, out.Exchanges = true, tape.Exchanges
		for id, c := range tape.Connections {
			out.Connections = append(out.Connections, blueprint.UsedConnection{ID: id, Type: c.Type})
		}
	}
	return out, nil
}

// Watch tells of no change: there is none.
func (r frozenRunner) Watch(string) (<-chan struct{}, func()) { return nil, func() {} }

// Execute refuses.
func (r frozenRunner) Execute(context.Context, *blueprint.StartRequest) (string, *blueprint.Execution, error) {
	return "", nil, errFrozen
}

// Start refuses.
func (r frozenRunner) Start(context.Context, *blueprint.StartRequest) (string, error) {
	return "", errFrozen
}

// Resume refuses.
func (r frozenRunner) Resume(context.Context, rpc.ResumeAnswer) error { return errFrozen }

// Cancel refuses.
func (r frozenRunner) Cancel(context.Context, string, string) error { return errFrozen }

// CancelAll refuses.
func (r frozenRunner) CancelAll(context.Context, []string, string) error { return errFrozen }

// Retry refuses.
func (r frozenRunner) Retry(context.Context, *blueprint.StoredExecution, string, blueprint.Principal, bool) (string, error) {
	return "", errFrozen
}

// frozenTriggers are triggers that never fire. There are none.
type frozenTriggers struct{ rpc.Triggers }

// Changed does nothing.
func (frozenTriggers) Changed() {}

// Preview refuses.
func (frozenTriggers) Preview(string, string, int) ([]string, error) { return nil, errFrozen }
