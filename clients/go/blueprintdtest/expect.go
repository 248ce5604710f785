package blueprintdtest

import "net/http"

// Expectation says what has to be asked of the sandbox.
type Expectation struct {
	Match   Match    `json:"match"`
	Times   *int     `json:"times,omitempty"`   // nil = at least once
	Request *Request `json:"request,omitempty"` // what the request has to have, each as far as it is given
}

// Request is what an expectation looks at.
type Request struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
}

// Expect says what has to be asked from now on (WithSandbox). What has not been
// asked when the server stops fails the test; Unmet tells at any time.
func (s *Server) Expect(expectations ...Expectation) {
	s.t.Helper()
	if expectations == nil {
		expectations = []Expectation{}
	}
	s.call(http.MethodPut, "/sandbox/expectations", object{"expect": expectations}, nil)
}

// Unmet tells in words, a line each, what was expected and has not come.
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

// Send sends a signed webhook to a trigger of the server, as the service of its
// preset would (WithSandbox).
func (s *Server) Send(triggerID string, body any) {
	s.t.Helper()
	s.call(http.MethodPost, "/sandbox/send", object{"webhook": triggerID, "body": body}, nil)
}
