package blueprintd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Run is the result of Execute.
type Run struct {
	ID            string                     `json:"-"`
	Status        string                     `json:"status"` // completed, failed, paused or running
	Output        json.RawMessage            `json:"output"`
	Outputs       map[string]json.RawMessage `json:"outputs"` // by node
	Error         *RunError                  `json:"error"`   // nil unless it failed
	AwaitingInput *Awaiting                  `json:"awaitingInput"`
}

// RunError describes the node that failed a run, and the reason.
type RunError struct {
	NodeID  string `json:"nodeId"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// Awaiting describes what a paused run waits for.
type Awaiting struct {
	NodeID string `json:"nodeId"`
	Kind   string `json:"kind"` // human, approval, oauth, unknown-outcome or budget
	Prompt string `json:"prompt"`
}

// Execution is the state of a run.
type Execution struct {
	ID            string    `json:"id"`
	Status        string    `json:"status"`   // running, paused, completed or failed; not_found if there is no such run
	Progress      int       `json:"progress"` // percent
	TotalSteps    int       `json:"totalSteps"`
	Steps         []Step    `json:"steps"`
	AwaitingInput *Awaiting `json:"awaitingInput"`
}

// Step is the execution of one node.
type Step struct {
	NodeID   string          `json:"nodeId"`
	NodeType string          `json:"nodeType"`
	Status   string          `json:"status"` // pending, running, completed, failed, skipped or paused
	Attempt  int             `json:"attempt"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
	Error    *RunError       `json:"error"`
}

// Step returns the step of a node, or nil if there is none.
func (e *Execution) Step(nodeID string) *Step {
	for i := range e.Steps {
		if e.Steps[i].NodeID == nodeID {
			return &e.Steps[i]
		}
	}
	return nil
}

// Input is the input of a run.
type Input struct {
	InputData any            `json:"inputData,omitempty"` // {{inputData.name}} in a template; nil = none
	Variables map[string]any `json:"variables,omitempty"` // {{name}}
	Record    bool           `json:"record,omitempty"`    // store the traffic with other services
}

// Execute runs a blueprint with variables and waits until the run ends, pauses, or outlasts
// the server's --sync-timeout. A run that fails is not an error of Execute.
func (c *Client) Execute(ctx context.Context, blueprintID string, variables map[string]any) (*Run, error) {
	return c.ExecuteWith(ctx, blueprintID, Input{Variables: variables})
}

// ExecuteWith is Execute with input data, which nodes read as inputData.
func (c *Client) ExecuteWith(ctx context.Context, blueprintID string, input Input) (*Run, error) {
	call := struct {
		ID string `json:"id"`
		Input
	}{blueprintID, input}
	var answer struct {
		ExecutionID string `json:"executionId"`
		Result      Run    `json:"result"`
	}
	if err := c.Mutate(ctx, "blueprint.execute", call, &answer); err != nil {
		return nil, err
	}
	answer.Result.ID = answer.ExecutionID
	return &answer.Result, nil
}

// Execution returns the current state of a run.
func (c *Client) Execution(ctx context.Context, executionID string) (*Execution, error) {
	var e Execution
	if err := c.Query(ctx, "execution.getExecutionStatus", map[string]any{"executionId": executionID}, &e); err != nil {
		return nil, err
	}
	return &e, nil
}

// Resume answers a paused run and returns its new state, in which it may still be running.
// The input of a human node is an object with the fields of its form; that of an approval is
// {"approved": true} or {"approved": false}, with an optional "comment".
func (c *Client) Resume(ctx context.Context, executionID string, input any) (*Execution, error) {
	var e Execution
	if err := c.Mutate(ctx, "execution.resume", map[string]any{"executionId": executionID, "input": input}, &e); err != nil {
		return nil, err
	}
	return &e, nil
}

// RunSummary is an entry of a list of runs.
type RunSummary struct {
	ExecutionID    string    `json:"executionId"`
	BlueprintID    string    `json:"blueprintId"`
	BlueprintTitle string    `json:"blueprintTitle"`
	TriggerID      string    `json:"triggerId"`   // "" for a run that no trigger started
	TriggerType    string    `json:"triggerType"` // manual, scheduled, webhook, ...; "" for a run that no trigger started
	Status         string    `json:"status"`      // running, paused, completed or failed
	CreatedAt      time.Time `json:"createdAt"`
	DurationMs     int       `json:"durationMs"`
	Error          string    `json:"error"`    // "" unless it failed
	Awaiting       string    `json:"awaiting"` // the Kind of Awaiting; "" unless it is paused
}

// Runs returns the runs of a blueprint, newest first, at most 100.
func (c *Client) Runs(ctx context.Context, blueprintID string) ([]RunSummary, error) {
	var answer struct {
		Runs []RunSummary `json:"runs"`
	}
	err := c.Query(ctx, "execution.listRuns", map[string]any{"blueprintId": blueprintID, "limit": 100}, &answer)
	return answer.Runs, err
}

const maxPoll = 100 * time.Millisecond

// Wait waits until a run is completed, failed or paused, and returns its state.
// If ctx ends before that, Wait returns the last known state with the error.
func (c *Client) Wait(ctx context.Context, executionID string) (*Execution, error) {
	var last *Execution
	for pause := time.Millisecond; ; pause = min(2*pause, maxPoll) {
		e, err := c.Execution(ctx, executionID)
		if err != nil {
			return last, err
		}
		switch last = e; e.Status {
		case "completed", "failed", "paused":
			return e, nil
		case "not_found":
			return e, fmt.Errorf("there is no run %s", executionID)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return last, fmt.Errorf("the run is still %s: %w", e.Status, context.Cause(ctx))
		}
	}
}
