package connections_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ann = "00000000-0000-4000-8000-00000000000a"
	bob = "00000000-0000-4000-8000-00000000000b"
)

// env is a Service with its own store, clock and web server.
type env struct {
	t       testing.TB
	clock   *clock.Virtual
	store   *memory
	service *connections.Service
	options connections.Options
	client  *outbound.Client
	web     *httptest.Server
	log     *strings.Builder

	mu      sync.Mutex
	resumed []string // "execution/address"
	refuse  error    // returned by Resume
	next    int
}

func newEnv(t testing.TB, change ...func(*connections.Options)) *env {
	w := &env{t: t, clock: clock.NewVirtual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), log: &strings.Builder{}}
	w.store = newMemory(w.clock)
	w.client = outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	options := connections.Options{
		Store: w.store, HTTP: w.client, Clock: w.clock, IDs: ids.New(nil), APIHost: func() string { return w.web.URL },
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
		Resume: func(_ context.Context, executionID, address string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.resumed = append(w.resumed, executionID+"/"+address)
			return w.refuse
		},
	}
	for _, f := range change {
		f(&options)
	}
	w.service, w.options = connections.New(options), options
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/start", w.service.Start)
	mux.HandleFunc("GET /oauth/callback", w.service.Callback)
	w.web = httptest.NewServer(mux)
	t.Cleanup(w.web.Close)
	return w
}

// process returns an env with the service of another process on the same store.
func (w *env) process() *env {
	return &env{t: w.t, clock: w.clock, store: w.store, service: connections.New(w.options), client: w.client, web: w.web, log: w.log}
}

// add stores a connection of a user, or of an organization ("org:user"), and returns its id.
func (w *env) add(owner string, kind blueprint.ConnectionType, config string) string {
	w.t.Helper()
	value, err := blueprint.Decode([]byte(config))
	if err != nil {
		w.t.Fatal(err)
	}
	if issues := blueprint.CheckConnection(kind, value.(map[string]any)); issues != nil {
		w.t.Fatalf("%s: %v", config, issues)
	}
	w.next++
	c := &blueprint.Connection{ID: fmt.Sprintf("10000000-0000-4000-8000-%012d", w.next), Name: "My " + string(kind) + " <b>", Type: kind, Config: value.(map[string]any), CreatedBy: owner}
	if organization, creator, ok := strings.Cut(owner, ":"); ok {
		c.OrganizationID, c.CreatedBy = &organization, creator
		w.store.members[organization] = []string{ann, bob}
	}
	c.ConfiguredBy = c.CreatedBy
	w.store.connections[c.ID] = c
	return c.ID
}

// login stores an oauth2 connection of ann for the provider.
func (w *env) login(p *provider, more string) string {
	return w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "authorization_code", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token",
		"clientId": "the-client", "clientSecret": "the-client-secret", "scopes": ["read", "write"]`+more+`}`)
}

func (w *env) open(userID, id string) (*blueprint.OpenConnection, error) {
	return w.service.Open(context.Background(), blueprint.ConnectionUse{ConnectionID: id, UserID: userID, ExecutionID: "exec_1", Address: "node"})
}

func (w *env) mustOpen(userID, id string) *blueprint.OpenConnection {
	w.t.Helper()
	open, err := w.open(userID, id)
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	return open
}

// get sends a request through a connection and returns the status and the body.
func (w *env) get(open *blueprint.OpenConnection, address string) (int, string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(outbound.Authorize(context.Background(), open.Authorize), http.MethodGet, address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		w.t.Fatalf("get %s: %v", address, err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

// paused opens a connection for a node and returns the sign-in URL of the pause.
func (w *env) paused(userID, id string) string {
	w.t.Helper()
	_, err := w.open(userID, id)
	var pause *blueprint.Pause
	if !errors.As(err, &pause) || pause.Await.Kind != blueprint.AwaitOAuth {
		w.t.Fatalf("open: %v, want a pause for a sign-in", err)
	}
	return pause.Await.URL
}

// person is a client with a cookie jar: a browser or a program.
type person struct {
	*http.Client
	agent string
}

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

func newPerson(agent string) *person {
	jar, _ := cookiejar.New(nil)
	transport := &http.Transport{DisableKeepAlives: true}
	return &person{&http.Client{Jar: jar, Transport: transport}, agent}
}

// visit returns the page at the end of all redirects.
func (p *person) visit(t testing.TB, address string) (status int, text string, header http.Header) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", p.agent)
	response, err := p.Do(request)
	if err != nil {
		t.Fatalf("visit %s: %v", address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header
}

// stop disables following redirects.
func (p *person) stop() *person {
	p.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p
}

// failure returns the code of a failure, "" for nil.
func failure(err error) string {
	var f *blueprint.Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Code
	default:
		return string(blueprint.CodeOf(err))
	}
}

// pass advances the clock.
func (w *env) pass(d time.Duration) {
	w.t.Helper()
	if err := w.clock.Advance(context.Background(), w.clock.Now().Add(d)); err != nil {
		w.t.Fatal(err)
	}
}
