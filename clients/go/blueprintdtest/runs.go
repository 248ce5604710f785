package blueprintdtest

import (
	"context"
	"encoding/json"
	"time"

	blueprintd "blueprintd/clients/go"
)

// What runs are made of is described in package blueprintd.
type (
	Run       = blueprintd.Run
	RunError  = blueprintd.RunError
	Awaiting  = blueprintd.Awaiting
	Execution = blueprintd.Execution
	Step      = blueprintd.Step
)

// Execute runs a blueprint and waits until the run ends, pauses, or outlasts the
// server's --sync-timeout. A run that fails does not fail the test.
func (s *Server) Execute(blueprintID string, variables map[string]any) *Run {
	s.t.Helper()
	run, err := s.Client.Execute(s.t.Context(), blueprintID, variables)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return run
}

// Execution returns the present state of a run.
func (s *Server) Execution(executionID string) *Execution {
	s.t.Helper()
	e, err := s.Client.Execution(s.t.Context(), executionID)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return e
}

// waitPatience is how long, in real time, Wait waits.
const waitPatience = 30 * time.Second

// Wait waits until a run is completed, failed or paused, and returns its state. A
// run that waits for a later time waits for Advance.
func (s *Server) Wait(executionID string) *Execution {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), waitPatience)
	defer cancel()
	e, err := s.Client.Wait(ctx, executionID)
	switch {
	case ctx.Err() != nil && err != nil:
		text, _ := json.MarshalIndent(e, "", "  ")
		s.t.Fatalf("blueprintdtest: run %s did not end within %s (%v); does it wait for Advance?\n%s", executionID, waitPatience, err, text)
	case err != nil:
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return e
}
