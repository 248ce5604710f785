package blueprintdtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Advance moves the virtual clock through everything that falls due, and returns the number
// of runs that triggers started. When it returns, the work that fell due is done.
func (s *Server) Advance(by time.Duration) (fired int) {
	s.t.Helper()
	return s.advance(object{"by": by.String()})
}

// AdvanceTo moves the clock to an instant, as Advance does.
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

// Call is one message of a node to another service, and what a sandbox answered.
type Call struct {
	At          time.Time `json:"at"`
	ExecutionID string    `json:"executionId"`
	NodeID      string    `json:"nodeId"`
	NodeType    string    `json:"nodeType"`
	Request     struct {
		Method  string            `json:"method"` // of HTTP; MAIL for a mail
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"` // names in small letters
		Body    json.RawMessage   `json:"body"`    // JSON where it was, else a string
	} `json:"request"`
	Response struct {
		Status int             `json:"status"` // 0 = there was no answer
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error string `json:"error"` // why there was no answer
}

// Calls returns the messages of all nodes so far, oldest first (WithSandbox).
func (s *Server) Calls() []Call {
	s.t.Helper()
	var answer struct {
		Calls []Call `json:"calls"`
	}
	s.call(http.MethodGet, "/sandbox/calls", nil, &answer)
	return answer.Calls
}

// Rule says how a sandbox answers instead of its fakes, or a procedure instead of
// doing anything.
type Rule struct {
	Match  Match  `json:"match"`
	Times  int    `json:"times,omitempty"` // how often it answers; 0 = always
	Answer Answer `json:"answer"`
}

// Match says which messages a rule answers: those that fit all that is given. A *
// stands for anything.
type Match struct {
	Procedure   string `json:"procedure,omitempty"` // blueprint.execute: a call of this server's own procedures
	Route       string `json:"route,omitempty"`     // webhooks, v1 or mcp: a call of those
	Host        string `json:"host,omitempty"`
	NodeType    string `json:"nodeType,omitempty"`
	Method      string `json:"method,omitempty"`
	Path        string `json:"path,omitempty"`
	NodeID      string `json:"nodeId,omitempty"`
	ExecutionID string `json:"executionId,omitempty"`
}

// Answer is what a rule answers.
type Answer struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	DelayMs int               `json:"delayMs,omitempty"`
	Close   bool              `json:"close,omitempty"` // cut the connection
	Whole   bool              `json:"whole,omitempty"` // of a procedure: refuse a batch before any of its calls is made
	Error   string            `json:"error,omitempty"` // there is no connection
}

// Rules replaces the rules of the sandbox (WithSandbox). The first that matches
// answers.
func (s *Server) Rules(rules ...Rule) {
	s.t.Helper()
	if rules == nil {
		rules = []Rule{}
	}
	s.call(http.MethodPut, "/sandbox/rules", object{"rules": rules}, nil)
}

// Reset forgets the calls and the rules of the sandbox (WithSandbox).
func (s *Server) Reset() {
	s.t.Helper()
	s.call(http.MethodDelete, "/sandbox", nil, nil)
}

// call makes a request to the server itself that must succeed.
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
