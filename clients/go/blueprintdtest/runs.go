package blueprintdtest

import (
	"context"
	"encoding/json"
	"time"
)

// Run is what became of a run that was waited for.
type Run struct {
	ID            string                     `json:"-"`
	Status        string                     `json:"status"` // completed, failed, paused or running
	Output        json.RawMessage            `json:"output"`
	Outputs       map[string]json.RawMessage `json:"outputs"` // by node
	Error         *RunError                  `json:"error"`   // nil = it did not fail
	AwaitingInput *Awaiting                  `json:"awaitingInput"`
}

// RunError says which node failed a run and why.
type RunError struct {
	NodeID  string `json:"nodeId"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// Awaiting says what a paused run waits for.
type Awaiting struct {
	NodeID string `json:"nodeId"`
	Kind   string `json:"kind"` // human, approval, oauth, unknown-outcome or budget
	Prompt string `json:"prompt"`
}

// Execute runs a blueprint and waits for its end, its pause, or the server's
// --sync-timeout. That it fails is no error.
func (s *Server) Execute(blueprintID string, variables map[string]any) *Run {
	s.t.Helper()
	input := object{"id": blueprintID}
	if variables != nil {
		input["variables"] = variables
	}
	var answer struct {
		ExecutionID string `json:"executionId"`
		Result      Run    `json:"result"`
	}
	s.mutate("blueprint.execute", input, &answer)
	answer.Result.ID = answer.ExecutionID
	return &answer.Result
}

// Execution is how a run stands.
type Execution struct {
	ID            string    `json:"id"`
	Status        string    `json:"status"`
	Progress      int       `json:"progress"` // per cent
	TotalSteps    int       `json:"totalSteps"`
	Steps         []Step    `json:"steps"`
	AwaitingInput *Awaiting `json:"awaitingInput"`
}

// Step is what one node did.
type Step struct {
	NodeID   string          `json:"nodeId"`
	NodeType string          `json:"nodeType"`
	Status   string          `json:"status"` // pending, running, completed, failed, skipped or paused
	Attempt  int             `json:"attempt"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
	Error    *RunError       `json:"error"`
}

// Step gives the step of a node; nil = there is none.
func (e *Execution) Step(nodeID string) *Step {
	for i := range e.Steps {
		if e.Steps[i].NodeID == nodeID {
			return &e.Steps[i]
		}
	}
	return nil
}

// Execution tells how a run stands just now.
func (s *Server) Execution(executionID string) *Execution {
	s.t.Helper()
	var e Execution
	s.query("execution.getExecutionStatus", object{"executionId": executionID}, &e)
	return &e
}

// waitPatience is how long, in real time, Wait waits.
const waitPatience = 30 * time.Second

// Wait waits until a run is completed, failed or paused, and tells how it stands.
// A run that waits for a time to come waits for Advance.
func (s *Server) Wait(executionID string) *Execution {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), waitPatience)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		e := s.Execution(executionID)
		switch e.Status {
		case "completed", "failed", "paused":
			return e
		case "not_found":
			s.t.Fatalf("blueprintdtest: there is no run %s", executionID)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			text, _ := json.MarshalIndent(e, "", "  ")
			s.t.Fatalf("blueprintdtest: the run is still %s after %s; does it wait for Advance?\n%s", e.Status, waitPatience, text)
		}
	}
}
