package trpc

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestNewHandler(t *testing.T) {
	s := &testServer{}
	handler := NewHandler(s.procedures(), Options{Authenticator: testKeys{}})
	names := handler.Names()
	if !slices.IsSorted(names) || len(names) != len(s.procedures()) || names[0] != "test.abort" {
		t.Errorf("names: %q", names)
	}
	for i, procedure := range handler.Procedures() {
		if procedure.Name != names[i] || procedure.Input == nil || procedure.Output == nil {
			t.Errorf("listed as %+v, want Name %v, Input not nil and Output not nil", procedure, names[i])
		}
	}
	mustPanic(t, "two procedures named", func() {
		NewHandler(append(s.procedures(), s.procedures()[0]), Options{Authenticator: testKeys{}})
	})
	mustPanic(t, "Authenticator is missing", func() { NewHandler(nil, Options{}) })
}

func mustPanic(t *testing.T, with string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if value, _ := recover().(string); !strings.Contains(value, with) {
			t.Errorf("panicked with %q, want %q", value, with)
		}
	}()
	f()
}

func TestServes(t *testing.T) {
	handler := NewHandler(nil, Options{Authenticator: testKeys{}, Root: "/app/trpc"})
	for path, want := range map[string]bool{
		"/app/trpc": true, "/app/trpc/": true, "/app/trpc/a.b": true, "/app/trpc//x": true, "/app/trpc/%2e%2E": true,
		"/app/trpcx": false, "/app": false, "/": false, "/app%2Ftrpc/x": false,
	} {
		t.Run(path, func(t *testing.T) {
			if got := handler.Serves(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

func TestAnotherRootAndToken(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Root, o.Via = "/app/trpc", "dashboard"
		o.Token = func(r *http.Request) string {
			cookie, err := r.Cookie("session")
			if err != nil {
				return ""
			}
			return cookie.Value
		}
	})
	got := s.raw(t, "GET /app/trpc/test.whoami\nCookie: session=good", "")
	if want := wireData(`{"key":"key-1","user":"user-1","via":"dashboard"}`); got.body != want {
		t.Errorf("got %s, want %v", got.body, want)
	}
	if got := s.raw(t, "GET /app/trpc/test.whoami"+withKey, ""); got.status != 401 {
		t.Errorf("a key where a cookie is wanted: %d", got.status)
	}
}

// A panic outside of a procedure yields a response in the protocol too.
func TestPanicOutsideProcedures(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Token = func(*http.Request) string { panic("no token") } })
	got := s.raw(t, "GET /api/trpc/test.list", "")
	if got.status != 500 || got.body != wireError("internal error", blueprint.CodeInternal, "") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// A client that waits for 100 Continue is refused without it; one that sends the body
// anyway receives its response after part of the body has been read.
func TestRefusedBodies(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.MaxBody = 1 << 20 })
	got := s.raw(t, "POST /api/trpc/test.store\nExpect: 100-continue\nContent-Length: 9999999\nContent-Type: application/json", "")
	if got.status != 401 {
		t.Errorf("without a key: %d, want 401", got.status)
	}
	large := strings.Repeat(" ", 2<<20)
	for _, test := range []struct {
		key    string
		status int
	}{{"", 401}, {withKey, 413}} {
		t.Run(test.key, func(t *testing.T) {
			if got := s.raw(t, "POST /api/trpc/test.store"+test.key+withJSON, large); got.status != test.status {
				t.Errorf("%d, want %v", got.status, test.status)
			}
		})
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/trpc/test.store", io.MultiReader(strings.NewReader(large)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = keyHeader("Content-Type", "application/json")
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 413 {
		t.Errorf("of unknown length: %d, want 413", response.StatusCode)
	}
}

// brokenBody fails as a connection does.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }

func TestBodiesThatNeverArrive(t *testing.T) {
	s := newTestServer(t, nil)
	for _, test := range []struct {
		err  error
		want string
	}{
		{os.ErrDeadlineExceeded, wireError("the body took too long to arrive", blueprint.CodeTimeout, "test.store")},
		{io.ErrUnexpectedEOF, wireError("the body ended early", blueprint.CodeClientClosed, "test.store")},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/trpc/test.store", brokenBody{test.err})
			request.Header = keyHeader("Content-Type", "application/json")
			recorder := httptest.NewRecorder()
			s.handler.ServeHTTP(recorder, request)
			if recorder.Body.String() != test.want {
				t.Errorf("%v: got %s, want %v", test.err, recorder.Body, test.want)
			}
		})
	}
	if s.logs.String() != "" {
		t.Errorf("logged %s, want nothing", s.logs)
	}
}

// A disconnected caller is not logged as an error, whatever the procedure returns.
func TestCallersThatLeave(t *testing.T) {
	s := newTestServer(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/trpc/test.break", nil)
	request.Header = keyHeader()
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	if want := wireError("the client disconnected", blueprint.CodeClientClosed, "test.break"); recorder.Body.String() != want || strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("got %d %s, logged %s; want %v and no \"level=ERROR\"", recorder.Code, recorder.Body, s.logs, want)
	}
}
