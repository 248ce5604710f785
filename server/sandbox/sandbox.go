package sandbox

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
)

// Options configure a Sandbox. All but Known and ApprovalLinks are required.
type Options struct {
	Clock clock.Clock
	IDs   *ids.Source
	Parse func(raw []byte) (*blueprint.Mail, error) // parses a sent mail
	Known Known
	// ApprovalLinks returns the approval links in a text.
	ApprovalLinks func(text string) []string
}

// Sandbox is an outbound.Network that answers all requests. It is safe for concurrent use.
type Sandbox struct {
	Options
	authority    *authority
	calls        calls
	rules        rules
	expectations expectations
	messages     atomic.Int64 // to Slack

	mu      sync.Mutex
	streams map[string]*ids.Source
}

// New returns a sandbox without rules. It fails only if no certificate can be created.
func New(options Options) (*Sandbox, error) {
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{Options: options, authority: authority, streams: map[string]*ids.Source{}}
	s.calls.now, s.calls.maxWeight, s.calls.links = options.Clock.Now, MaxCallBytes, options.ApprovalLinks
	if s.calls.links == nil {
		s.calls.links = func(string) []string { return nil }
	}
	return s, nil
}

// Authorities returns the pool that verifies the certificates of the fakes.
func (s *Sandbox) Authorities() *x509.CertPool { return s.authority.pool }

const maxStreams = 10_000

func (s *Sandbox) stream(purpose string, caller *outbound.Caller) *ids.Source {
	key := purpose + "\x00" + caller.ExecutionID + "\x00" + caller.Address
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[key] == nil {
		if len(s.streams) >= maxStreams {
			clear(s.streams)
		}
		s.streams[key] = s.IDs.Stream("fakes", purpose, caller.ExecutionID, caller.Address)
	}
	return s.streams[key]
}

// Clear removes the calls and the rules, but not the expectations.
func (s *Sandbox) Clear() {
	s.calls.clear()
	s.setRules(nil)
}

func (s *Sandbox) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	a, err := parseRequest(request)
	if err != nil {
		return nil, err
	}
	note := s.calls.begin(&a.caller, a.whole(), len(a.body))
	s.expectations.observe(a)
	rule := s.rules.take(a)
	if err := s.unanswered(ctx, rule, a, note); err != nil {
		return nil, err
	}
	notifyGotConn(ctx)
	if !rule.wait(ctx) {
		note.failed(ctx.Err().Error())
		return nil, ctx.Err()
	}
	answer := s.fake
	if rule.answers() {
		answer = rule.reply
	}
	r := answer(a)
	if rule != nil && rule.script != nil {
		object := a.object()
		r = chatOf(a, object)(s, a, object, rule.script)
		r.header = rule.header
	}
	response, err := r.response(request, rule != nil && rule.cut)
	if err != nil {
		note.failed("the connection was closed by a rule")
		return nil, err
	}
	note.answered(r, rule != nil && rule.cut)
	return response, nil
}

func notifyGotConn(ctx context.Context) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

// unanswered returns the error of a rule that prevents the request.
func (s *Sandbox) unanswered(ctx context.Context, rule *answer, a *received, note *call) error {
	switch {
	case rule == nil:
		return nil
	case rule.pause != nil:
		note.failed("paused: " + rule.pause.Prompt)
		return pauseNode(ctx, rule.pause)
	case rule.refuse != "":
		note.failed(rule.refuse)
		return &blueprint.Failure{Code: "connect_failed", Message: "cannot connect to " + a.host + ": " + rule.refuse, NotSent: true}
	}
	return nil
}

func (a *answer) wait(ctx context.Context) bool {
	return a == nil || a.delay == 0 || clock.Sleep(ctx, a.delay)
}
