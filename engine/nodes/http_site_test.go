package nodes

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

// received is what a server saw of a request.
type received struct {
	line   string
	header http.Header
	body   string
}

// site is a server on this machine and the type that reaches it.
type site struct {
	*httptest.Server
	kind *blueprint.NodeType

	mu     sync.Mutex
	seen   []received
	answer http.HandlerFunc // nil answers {}
}

// answers says what the site does from now on.
func (s *site) answers(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// clear forgets what has arrived.
func (s *site) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
}

// requests returns what has arrived since the last send.
func (s *site) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func newSite(t *testing.T, options outbound.Options) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, received{r.Method + " " + r.RequestURI, r.Header, string(body)})
		answer := s.answer
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answer != nil {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{}")
	}))
	t.Cleanup(s.Close)
	s.kind = newHTTPType(t, options)
	return s
}

// newHTTPType returns the type with a client that reaches this machine.
func newHTTPType(t testing.TB, options outbound.Options) *blueprint.NodeType {
	options.Allow = append(options.Allow, netip.MustParsePrefix("127.0.0.1/32"))
	client := outbound.New(options)
	return httpRequest(Dependencies{HTTP: client, Clock: clock.NewVirtual(now), UserAgent: "blueprintd/test"})
}

// send runs a node whose config has URL in place of the site's address.
func (s *site) send(t *testing.T, config string) (blueprint.Result, error) {
	t.Helper()
	s.clear()
	task := newTask(t, s.kind, strings.ReplaceAll(config, "URL", s.URL), scope)
	return s.kind.Run(context.Background(), task)
}
