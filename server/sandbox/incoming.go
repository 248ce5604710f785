package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// Routes are what rules call the plain ways in.
var Routes = []string{"webhooks", "v1", "mcp"}

// Fault is what a call that came in is answered in the place of what it asked for.
type Fault struct {
	// Failure is the error that is answered; nil when Value is.
	Failure *blueprint.Error
	Value   any
	Status  int // 0 = none: the call is only late, or cut off without an answer
	Header  http.Header
	Cut     bool // the connection breaks: half way through the answer, or without a Status before it
	Whole   bool // with Failure: all calls of the request get it, and none is made
	delay   time.Duration
}

// Wait lets the delay of the fault pass, in real time, or ctx end.
func (f *Fault) Wait(ctx context.Context) { _ = (&answer{delay: f.delay}).wait(ctx) }

// Procedure gives the fault of a call of a procedure; nil for none.
func (s *Sandbox) Procedure(name string) *Fault {
	return s.fault(&asked{procedure: name, request: blueprint.ExchangeRequest{Method: "CALL", URL: name}}, name)
}

// Route gives the fault of a request that came in by one of Routes.
func (s *Sandbox) Route(route string, request *http.Request) *Fault {
	return s.fault(&asked{route: route, path: request.URL.Path, request: blueprint.ExchangeRequest{Method: request.Method, URL: request.URL.Path}}, route)
}

func (s *Sandbox) fault(a *asked, name string) *Fault {
	s.expectations.saw(a)
	rule := s.rules.take(a)
	if rule == nil {
		return nil
	}
	f := &Fault{Status: rule.status, Header: rule.header, Cut: rule.cut, Whole: rule.whole, delay: rule.delay}
	if rule.status < 300 {
		f.Value = rule.body
		return f
	}
	code := blueprint.CodeWith(rule.status)
	f.Failure = &blueprint.Error{Code: code, Message: messageOf(rule.body)}
	if f.Failure.Message == "" {
		f.Failure.Message = "the sandbox answers " + strconv.Itoa(rule.status) + " to " + name
	}
	if seconds, err := strconv.ParseUint(rule.header.Get("Retry-After"), 10, 31); err == nil {
		f.Failure.RetryAfter = time.Duration(seconds) * time.Second
	}
	return f
}

// messageOf finds the words in the body of an answer.
func messageOf(body any) string {
	switch v := body.(type) {
	case string:
		return v
	case map[string]any:
		for _, name := range []string{"message", "error", "json"} {
			if inner := messageOf(v[name]); inner != "" {
				return inner
			}
		}
	case json.Number:
		return v.String()
	}
	return ""
}
