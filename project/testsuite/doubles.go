package testsuite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
	"blueprintd/project"
)

// Doubles replace nodes and the network in the run of a test by stubs and a cassette. It
// is safe for concurrent use.
type Doubles struct {
	blueprintID string
	player      *recording.Player // nil without a cassette
	fakes       bool              // messages call the stubs fakes

	mu         sync.Mutex
	stubs      map[string]*activeStub
	incomplete string // the first failure caused by the test itself
}

type activeStub struct {
	*Stub
	at   int // the index of the current answer
	used int // the number of its uses
	ever bool
}

// NewDoubles returns the Doubles of a test of a blueprint. If recorded is set, only stubs of
// nodes are used, and the cassette answers requests.
func NewDoubles(t *Test, blueprintID string, player *recording.Player, recorded bool) *Doubles {
	s := &Doubles{blueprintID: blueprintID, player: player, stubs: map[string]*activeStub{}}
	for _, stub := range t.Stubs {
		if recorded && !slices.ContainsFunc(stub.Answers, func(a Answer) bool { return a.ofNode() }) {
			continue
		}
		active := &activeStub{Stub: stub}
		s.stubs[strings.ToLower(stub.Key)], s.stubs[stub.Key] = active, active
	}
	return s
}

// taskKey is the key of the *blueprint.Task of a node in the context of its run.
type taskKey struct{}

// errSpent means that a stub has no answers left.
var errSpent = errors.New("the stub has no answers left")

// take returns the next answer of the first stub with one of keys whose answer is
// accepted, nil if there is none.
func (s *Doubles) take(keys []string, accept func(*Answer) bool) (*Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		p := s.stubs[key]
		if p == nil {
			continue
		}
		for p.at < len(p.Answers) && p.Answers[p.at].Times > 0 && p.used >= p.Answers[p.at].Times {
			p.at, p.used = p.at+1, 0
		}
		if p.at == len(p.Answers) {
			return nil, errSpent
		}
		a := &p.Answers[p.at]
		if !accept(a) {
			continue
		}
		p.used++
		p.ever = true
		return a, nil
	}
	return nil, nil
}

// Instead returns a node type whose nodes use their stubs, or run normally without one.
func (s *Doubles) Instead(kind *blueprint.NodeType) *blueprint.NodeType {
	stubbed := *kind
	stubbed.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		ctx = context.WithValue(ctx, taskKey{}, task)
		if task.BlueprintID != s.blueprintID {
			return kind.Run(ctx, task)
		}
		a, err := s.take([]string{task.Address, everyItem(task.Address)}, func(a *Answer) bool { return a.ofNode() || a.Error != "" })
		switch {
		case errors.Is(err, errSpent):
			return blueprint.Result{}, s.noted(&blueprint.Failure{Code: codeStub, Permanent: true, Message: err.Error() + `; increase its "times" or add an answer`})
		case a == nil:
			return kind.Run(ctx, task)
		}
		if s.player != nil {
			s.player.SkipNode(task.Address)
		}
		if !a.wait(ctx) {
			return blueprint.Result{}, context.Cause(ctx)
		}
		switch {
		case a.Error != "":
			return blueprint.Result{}, &blueprint.Failure{Code: "stubbed", Message: a.Error, NotSent: true}
		case kind.Answer != nil && a.HasOutput:
			result, err := kind.Answer(task, a.Output)
			if refused, ok := errors.AsType[*blueprint.Error](err); ok && refused.Code == blueprint.CodeBadRequest {
				err = s.noted(&blueprint.Failure{Code: codeStub, Permanent: true, Message: "the stub's output is not a valid answer: " + refused.Message})
			}
			return result, err
		}
		result := blueprint.Result{Output: a.Output, PassInput: !a.HasOutput, Handle: a.Handle}
		if kind.Type == "set" {
			result.Variables, _ = a.Output.(map[string]any)
		}
		return result, nil
	}
	return &stubbed
}

// The codes of failures caused by the test itself.
const (
	codeStub     = "not_stubbed"
	codeRecorded = "not_recorded" // the cassette has no answer
)

// noted records the first failure caused by the test itself.
func (s *Doubles) noted(err error) error {
	if failure, ok := errors.AsType[*blueprint.Failure](err); ok && (failure.Code == codeStub || failure.Code == codeRecorded) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.incomplete = cmp.Or(s.incomplete, failure.Message)
	}
	return err
}

// unready returns the first failure caused by the test itself: a request without an
// answer, or a stub without answers left. "" means none.
func (s *Doubles) unready() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incomplete
}

// Unused returns the sorted keys of the stubs that were not used.
func (s *Doubles) Unused() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.stubs {
		if !p.ever && !slices.Contains(keys, p.Key) {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// RoundTrip answers an HTTP request by a stub of its node or host, or the cassette.
func (s *Doubles) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.roundTrip(request)
	return response, s.noted(err)
}

func (s *Doubles) roundTrip(request *http.Request) (*http.Response, error) {
	a, err := s.answer(request.Context(), request.URL.Scheme, request.URL.Host)
	switch {
	case err != nil:
		return nil, err
	case a != nil:
		if request.Body != nil {
			defer request.Body.Close()
		}
		asked, err := recording.RequestOf(request) // reads the body, which the recording includes
		if err != nil {
			return nil, err
		}
		if s.player != nil {
			s.player.Skip(outbound.CallerOf(request.Context()).Address, asked.Method, asked.URL)
		}
		if !a.wait(request.Context()) {
			return nil, context.Cause(request.Context())
		}
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		return recording.NewResponse(request, a.Status, a.Headers, a.Body), nil
	case s.player != nil:
		return s.player.RoundTrip(request)
	}
	return nil, s.unstubbed(request.Context(), request.Method+" "+redactedURL(request.URL), request.URL.Host)
}

func redactedURL(u *url.URL) string {
	bare := *u
	bare.User, bare.RawQuery = nil, ""
	return bare.String()
}

// answer returns the next answer of a stub for a request to a host, nil without one.
func (s *Doubles) answer(ctx context.Context, scheme, host string) (*Answer, error) {
	caller := outbound.CallerOf(ctx)
	var keys []string
	if caller.BlueprintID == s.blueprintID && caller.Address != "" {
		keys = append(keys, caller.Address, everyItem(caller.Address))
	}
	keys = append(keys, hostKeys(scheme, strings.ToLower(host))...)
	a, err := s.take(keys, func(a *Answer) bool { return !a.ofNode() })
	if errors.Is(err, errSpent) {
		return nil, &blueprint.Failure{Code: codeStub, Permanent: true, NotSent: true, Message: fmt.Sprintf(`%s for %s; increase its "times" or add an answer`, err, host)}
	}
	return a, err
}

// hostKeys returns the possible keys of stubs of a host, the most specific one first.
func hostKeys(scheme, host string) (keys []string) {
	name, port := host, ""
	if alone, after, err := net.SplitHostPort(host); err == nil {
		name, port = alone, after
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
	}
	port = cmp.Or(port, map[string]string{"http": "80", "https": "443"}[scheme])
	for pattern := name; ; {
		if port != "" {
			keys = append(keys, pattern+":"+port)
		}
		keys = append(keys, pattern)
		_, parent, more := strings.Cut(strings.TrimPrefix(pattern, "*."), ".")
		if !more {
			return keys
		}
		pattern = "*." + parent
	}
}

// DialContext answers mail like RoundTrip answers requests.
func (s *Doubles) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := s.dial(ctx, network, address)
	return connection, s.noted(err)
}

func (s *Doubles) dial(ctx context.Context, network, address string) (net.Conn, error) {
	a, err := s.answer(ctx, "smtp", address)
	switch {
	case err != nil:
		return nil, err
	case a != nil && a.Error != "":
		return nil, errors.New(a.Error)
	case a != nil:
		if !a.wait(ctx) {
			return nil, context.Cause(ctx)
		}
		if s.player != nil {
			s.player.Skip(outbound.CallerOf(ctx).Address, recording.Mail, "smtp://"+address)
		}
		text, _ := a.Body.(string)
		return recording.PipeMail(address, func(blueprint.ExchangeRequest) (int, string) { return max(200, a.Status), text }), nil
	case s.player != nil && s.player.Has(outbound.CallerOf(ctx).Address, recording.Mail, "smtp://"+address):
		return s.player.DialContext(ctx, network, address)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return nil, s.unstubbed(ctx, "mail to "+address, host)
}

// unstubbed returns the failure of a request without an answer, with the stub to write.
func (s *Doubles) unstubbed(ctx context.Context, what, host string) error {
	missing, add := "tests reach no real service, and there is no stub for ", "add to the test: stubs: "
	if s.fakes {
		missing, add = "a run in the sandbox reaches no real service, and there is no fake for ", "add fakes: "
	}
	caller := outbound.CallerOf(ctx)
	key, answer := host, `{"status": 200, "body": {}}`
	if kind := project.Catalogue()[caller.NodeType]; kind != nil {
		answer = cmp.Or(kind.Stub, answer)
		if task, ok := ctx.Value(taskKey{}).(*blueprint.Task); ok && kind.StubStatus != nil {
			// Other nodes may expect another status of the same host.
			if status := kind.StubStatus(task.Config); status != 0 && status != http.StatusOK {
				answer = fmt.Sprintf(`{"status": %d, "body": {}}`, status)
				if caller.BlueprintID == s.blueprintID {
					key = everyItem(caller.Address)
				}
			}
		}
	}
	if strings.HasPrefix(answer, `{"output"`) {
		key = everyItem(caller.Address)
	}
	hint := fmt.Sprintf("%s{%q: %s}", add, key, answer)
	if key != host && caller.BlueprintID != s.blueprintID { // stubs by node are those of the tested blueprint
		hint = "it is a call of another blueprint: give the output of the node that runs it"
	}
	return &blueprint.Failure{Code: codeStub, Permanent: true, NotSent: true, Message: missing + what + "; " + hint}
}
