package blueprintdtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Advance moves the virtual clock forward, through everything that becomes due, and returns
// the number of runs started by triggers. It returns once that work is done.
func (s *Server) Advance(by time.Duration) (fired int) {
	s.t.Helper()
	return s.advance(object{"by": by.String()})
}

// AdvanceTo is Advance to an instant.
func (s *Server) AdvanceTo(at time.Time) (fired int) {
	s.t.Helper()
	return s.advance(object{"to": at.UTC().Format(time.RFC3339Nano)})
}

func (s *Server) advance(body object) int {
	s.t.Helper()
	var answer struct {
		Fired int `json:"fired"`
	}
	s.call(http.MethodPost, "/clock/advance", body, &answer)
	return answer.Fired
}

// Now returns the time of the server's clock.
func (s *Server) Now() time.Time {
	s.t.Helper()
	var info struct {
		Now time.Time `json:"now"`
	}
	s.query("server.getInfo", nil, &info)
	return info.Now
}

// Call is one request of a node to another service, with the answer of the sandbox.
type Call struct {
	At          time.Time `json:"at"`
	ExecutionID string    `json:"executionId"`
	NodeID      string    `json:"nodeId"`
	NodeType    string    `json:"nodeType"`
	Request     struct {
		Method  string            `json:"method"` // of HTTP; MAIL for a mail
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"` // names in lower case
		Body    json.RawMessage   `json:"body"`    // the JSON body, or another body as a string; "" when empty
	} `json:"request"`
	Response struct {
		Status int             `json:"status"` // 0 = there was no answer
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error string `json:"error"` // the reason for a missing answer
	// ApprovalLinks are the approval links in the request, where they are masked.
	ApprovalLinks []string `json:"approvalLinks"`
}

// Calls returns the requests of all nodes so far, oldest first (WithSandbox).
func (s *Server) Calls() []Call {
	s.t.Helper()
	var answer struct {
		Calls []Call `json:"calls"`
	}
	s.call(http.MethodGet, "/sandbox/calls", nil, &answer)
	return answer.Calls
}

// Rule is an answer of the sandbox that replaces that of a fake or of a procedure.
type Rule struct {
	Match  Match  `json:"match"`
	Times  int    `json:"times,omitempty"` // the number of answers; 0 = unlimited
	Answer Answer `json:"answer"`
}

// Match selects the requests that a rule answers. All set members must match. A * matches
// any text.
type Match struct {
	Procedure   string `json:"procedure,omitempty"` // blueprint.execute: a call of this server's own procedures
	Route       string `json:"route,omitempty"`     // webhooks, v1 or mcp: an inbound call of these routes
	Host        string `json:"host,omitempty"`
	NodeType    string `json:"nodeType,omitempty"`
	Method      string `json:"method,omitempty"`
	Path        string `json:"path,omitempty"`
	NodeID      string `json:"nodeId,omitempty"`
	ExecutionID string `json:"executionId,omitempty"`
	// RPC is the method of a message to an MCP server. Without it, only tools/call matches.
	RPC   string         `json:"rpc,omitempty"`
	Query map[string]any `json:"query,omitempty"` // parameters that the URL must have
	Body  any            `json:"body,omitempty"`  // members that the body must have
}

// Answer is the answer of a rule. Text, JSON, ToolCalls and Usage answer for a model and
// need a Match with the node type ai-prompt.
type Answer struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	DelayMs int               `json:"delayMs,omitempty"`
	Close   bool              `json:"close,omitempty"` // close the connection halfway
	Whole   bool              `json:"whole,omitempty"` // for a procedure: refuse a batch before any of its calls is made
	Error   string            `json:"error,omitempty"` // fail to connect, with this reason
	Pause   *Pause            `json:"pause,omitempty"` // pause the run; the input of Resume is the node's output

	Text      string     `json:"text,omitempty"`      // the text of the model
	JSON      any        `json:"json,omitempty"`      // the text of the model, as a JSON value
	ToolCalls []ToolCall `json:"toolCalls,omitempty"` // the tools that the model calls
	Usage     *Usage     `json:"usage,omitempty"`     // nil = by the length of the texts
}

// Pause is the question of a run that a rule pauses.
type Pause struct {
	Prompt string `json:"prompt"`
	Kind   string `json:"kind,omitempty"` // human or approval; "" = human
}

// ToolCall is a request of a model to call a tool.
type ToolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// Usage is the number of tokens that a model reports; 0 = by the length of the texts.
type Usage struct {
	InputTokens  int `json:"inputTokens,omitempty"`
	OutputTokens int `json:"outputTokens,omitempty"`
}

// Rules replaces the rules of the sandbox (WithSandbox). The first matching rule answers.
func (s *Server) Rules(rules ...Rule) {
	s.t.Helper()
	if rules == nil {
		rules = []Rule{}
	}
	s.call(http.MethodPut, "/sandbox/rules", object{"rules": rules}, nil)
}

// Reset removes the calls and the rules of the sandbox (WithSandbox).
func (s *Server) Reset() {
	s.t.Helper()
	s.call(http.MethodDelete, "/sandbox", nil, nil)
}

// call makes a request to the server itself, and fails the test if the request fails.
func (s *Server) call(method, path string, body, out any) {
	s.t.Helper()
	fail := func(err error) { s.t.Helper(); s.t.Fatalf("blueprintdtest: %s %s: %v", method, path, err) }
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			fail(err)
		}
	}
	reply, err := s.request(s.t.Context(), method, s.APIHost+path, data, "Authorization", "Bearer "+s.APIKey)
	if err != nil {
		fail(err)
	}
	if reply.Status >= http.StatusBadRequest {
		fail(fmt.Errorf("%d %s", reply.Status, reply.Body))
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(reply.Body, out); err != nil {
		fail(err)
	}
}
