package testsuite

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
)

// RoundTrip answers an HTTP request by a stub of its node, a stub of its host, or the
// cassette.
func (s *Stage) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.roundTrip(request)
	return response, s.noted(err)
}

func (s *Stage) roundTrip(request *http.Request) (*http.Response, error) {
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
		if err := pause(request.Context(), a.DelayMs); err != nil {
			return nil, err
		}
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		return recording.NewResponse(request, a.Status, a.Headers, a.Body), nil
	case s.player != nil:
		return s.player.RoundTrip(request)
	}
	return nil, unstubbed(request.Method+" "+redactedURL(request.URL), request.URL.Host, `{status: 200, body: {}}`)
}

func redactedURL(u *url.URL) string {
	bare := *u
	bare.User, bare.RawQuery = nil, ""
	return bare.String()
}

// answer returns the next answer of a stub for a request to a host, nil if there is no
// stub.
func (s *Stage) answer(ctx context.Context, scheme, host string) (*Answer, error) {
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
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
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
func (s *Stage) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := s.dial(ctx, network, address)
	return connection, s.noted(err)
}

func (s *Stage) dial(ctx context.Context, network, address string) (net.Conn, error) {
	a, err := s.answer(ctx, "smtp", address)
	switch {
	case err != nil:
		return nil, err
	case a != nil && a.Error != "":
		return nil, errors.New(a.Error)
	case a != nil:
		if err := pause(ctx, a.DelayMs); err != nil {
			return nil, err
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
	return nil, unstubbed("mail to "+address, host, `{status: 250}`)
}

// unstubbed returns the failure of a request without an answer. Its message contains the
// stub to write.
func unstubbed(what, host, answer string) error {
	return &blueprint.Failure{
		Code: codeStub, Permanent: true, NotSent: true,
		Message: fmt.Sprintf("tests reach no real service, and there is no stub for %s; add to the test: stubs: {%q: %s}", what, host, answer),
	}
}
