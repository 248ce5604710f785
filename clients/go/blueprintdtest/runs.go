package blueprintdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	blueprintd "blueprintd/clients/go"
)

// The types of runs are described in package blueprintd.
type (
	Input      = blueprintd.Input
	Run        = blueprintd.Run
	RunError   = blueprintd.RunError
	Awaiting   = blueprintd.Awaiting
	Execution  = blueprintd.Execution
	Step       = blueprintd.Step
	RunSummary = blueprintd.RunSummary
)

// Execute runs a blueprint with variables and waits until the run ends, pauses, or outlasts
// the server's --sync-timeout. A run that fails does not fail the test.
func (s *Server) Execute(blueprintID string, variables map[string]any) *Run {
	s.t.Helper()
	return s.ExecuteWith(blueprintID, Input{Variables: variables})
}

// ExecuteWith is Execute with input data, which nodes read as inputData.
func (s *Server) ExecuteWith(blueprintID string, input Input) *Run {
	s.t.Helper()
	run, err := s.Client.ExecuteWith(s.t.Context(), blueprintID, input)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return run
}

// Execution returns the current state of a run.
func (s *Server) Execution(executionID string) *Execution {
	s.t.Helper()
	e, err := s.Client.Execution(s.t.Context(), executionID)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return e
}

// Resume answers a paused run and waits until it is completed, failed or paused again. The
// input is described at the method of the client.
func (s *Server) Resume(executionID string, input any) *Execution {
	s.t.Helper()
	if _, err := s.Client.Resume(s.t.Context(), executionID, input); err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return s.Wait(executionID)
}

// Runs returns the runs of a blueprint, newest first, at most 100.
func (s *Server) Runs(blueprintID string) []RunSummary {
	s.t.Helper()
	runs, err := s.Client.Runs(s.t.Context(), blueprintID)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return runs
}

// waitPatience limits Wait, in real time.
const waitPatience = 30 * time.Second

// Wait waits until a run is completed, failed or paused, and returns its state. A run that
// waits for a later time continues only after Advance.
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

// Error is returned for a call that the server refuses.
type Error = blueprintd.Error

// Issue is one problem with an input.
type Issue = blueprintd.Issue

// Query calls a procedure that reads, and decodes its result into out like json.Unmarshal;
// nil ignores it. If the server refuses the call, the error is an *Error.
func (s *Server) Query(ctx context.Context, procedure string, input, out any) error {
	return s.Client.Query(ctx, procedure, input, out)
}

// Mutate is Query for a procedure that changes something.
func (s *Server) Mutate(ctx context.Context, procedure string, input, out any) error {
	return s.Client.Mutate(ctx, procedure, input, out)
}

// Reply is the response to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// request sends a JSON body. Headers are alternating names and values, and may replace the
// content type.
func (s *Server) request(ctx context.Context, method, address string, body []byte, headers ...string) (*Reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Reply{response.StatusCode, response.Header, data}, nil
}

// Expectation describes requests that the sandbox has to receive.
type Expectation struct {
	Match   Match    `json:"match"`
	Times   *Times   `json:"times,omitempty"`   // nil = at least once
	Request *Request `json:"request,omitempty"` // the members that the request must have; unset ones match anything
}

// Times bounds how often a request is made: at least Min times, and at most Max times unless
// Max is nil.
type Times struct {
	Min int  `json:"min"`
	Max *int `json:"max,omitempty"`
}

// Exactly returns the bounds for n requests; Exactly(0) expects none.
func Exactly(n int) *Times { return Between(n, n) }

// AtLeast returns the bounds for n requests or more.
func AtLeast(n int) *Times { return &Times{Min: n} }

// Between returns the bounds for minimum to maximum requests.
func Between(minimum, maximum int) *Times { return &Times{Min: minimum, Max: &maximum} }

// Request holds the members of a request that an expectation compares.
type Request struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
}

// Expect sets the requests that have to be made from now on (WithSandbox). An expectation
// that is not met when the server stops fails the test; Unmet returns those not met so far.
func (s *Server) Expect(expectations ...Expectation) {
	s.t.Helper()
	if expectations == nil {
		expectations = []Expectation{}
	}
	s.call(http.MethodPut, "/sandbox/expectations", object{"expect": expectations}, nil)
}

// Unmet returns one line for each expectation that is not met.
func (s *Server) Unmet() (problems []string) {
	s.t.Helper()
	var answer struct {
		Unmet []struct {
			Problem string `json:"problem"`
		} `json:"unmet"`
	}
	s.call(http.MethodPost, "/sandbox/verify", object{}, &answer)
	for _, each := range answer.Unmet {
		problems = append(problems, each.Problem)
	}
	return problems
}

// Send sends a webhook to a trigger of the server, signed like one of the service of the
// trigger's preset (WithSandbox).
func (s *Server) Send(triggerID string, body any) {
	s.t.Helper()
	s.call(http.MethodPost, "/sandbox/send", object{"webhook": triggerID, "body": body}, nil)
}
