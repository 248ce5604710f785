package trpc

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestPlainRoutes(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Limiter = NewLimiter(newYear(), 1, 2) })
	route := func(w http.ResponseWriter, r *http.Request, caller *Caller) error {
		switch r.URL.Path {
		case "/refuse":
			return &blueprint.Error{Code: blueprint.CodeForbidden, Message: "not yours"}
		case "/busy":
			return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "busy", RetryAfter: 1500 * time.Millisecond}
		case "/break":
			return errors.New("password is hunter2")
		case "/panic":
			panic("secret")
		}
		_, err := io.WriteString(w, caller.UserID)
		return err
	}
	limited, unlimited := s.handler.Authenticated(blueprint.ScopeRead, route), s.handler.AuthenticatedUnlimited(blueprint.ScopeRead, route)
	call := func(handler http.Handler, path, key string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}"))
		if key != "" {
			request.Header.Set("Authorization", "Bearer "+key)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	for _, test := range []struct {
		path, key string
		status    int
		want      string
	}{
		{"/", "good", 200, "user-1"},
		{"/", "", 401, `{"error":{"code":"UNAUTHORIZED","message":"API key missing: send the header Authorization: Bearer KEY"}}`},
		{"/", "bad", 401, `{"error":{"code":"UNAUTHORIZED","message":"API key unknown or revoked"}}`},
		{"/", "broken", 500, `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`},
		{"/refuse", "good", 403, `{"error":{"code":"FORBIDDEN","message":"not yours"}}`},
		{"/busy", "good", 503, `{"error":{"code":"SERVICE_UNAVAILABLE","message":"busy"}}`},
		{"/break", "good", 500, `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`},
		{"/panic", "good", 500, `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`},
	} {
		t.Run(test.path+" "+test.key, func(t *testing.T) {
			got := call(unlimited, test.path, test.key)
			if got.Code != test.status || got.Body.String() != test.want {
				t.Errorf("%s as %s: got %d %s, want %v and %v", test.path, test.key, got.Code, got.Body, test.status, test.want)
			}
		})
	}
	if got := call(unlimited, "/busy", "good").Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After is %q, want 2", got)
	}
	for i, want := range []int{200, 200, 429} {
		if got := call(limited, "/", "good"); got.Code != want || want == 429 && got.Header().Get("Retry-After") != "1" {
			t.Errorf("call %d: got %d %v, want %v", i, got.Code, got.Header(), want)
		}
	}
	if got := s.raw(t, "GET /api/trpc/test.list"+withKey, "").status; got != 429 {
		t.Errorf("procedures have a limit of their own: %d, want 429", got)
	}
}

func TestHalfAnAnswerIsCutOff(t *testing.T) {
	s := newTestServer(t, nil)
	for _, fault := range []func(){func() { panic("late") }, func() { panic(http.ErrAbortHandler) }} {
		handler := s.handler.Authenticated(blueprint.ScopeRead, func(w http.ResponseWriter, _ *http.Request, _ *Caller) error {
			_, _ = io.WriteString(w, "half")
			fault()
			return nil
		})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.Header.Set("Authorization", "Bearer good")
		var aborted any
		func() {
			defer func() { aborted = recover() }()
			handler.ServeHTTP(httptest.NewRecorder(), request)
		}()
		if aborted != http.ErrAbortHandler {
			t.Errorf("panicked with %v, want %v", aborted, http.ErrAbortHandler)
		}
	}
}

// A route behind the guard can still stream.
func TestPlainRoutesFlush(t *testing.T) {
	s := newTestServer(t, nil)
	handler := s.handler.Authenticated(blueprint.ScopeRead, func(w http.ResponseWriter, _ *http.Request, _ *Caller) error {
		_, err := io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		return err
	})
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.Header.Set("Authorization", "Bearer good")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if !recorder.Flushed || recorder.Body.String() != "half" {
		t.Errorf("got %+v, want Flushed and half", recorder)
	}
}

func TestWritePlainError(t *testing.T) {
	s := newTestServer(t, nil)
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/files/1", nil)
	s.handler.WritePlainError(recorder, request, errors.New("disk gone"))
	if recorder.Code != 500 || strings.Contains(recorder.Body.String(), "disk") || !strings.Contains(s.logs.String(), "disk gone") {
		t.Errorf("got %d %s, logged %s; want 500, no \"disk\" and \"disk gone\" in it", recorder.Code, recorder.Body, s.logs)
	}
}

func TestOrigins(t *testing.T) {
	off := newTestServer(t, nil)
	some := newTestServer(t, func(o *Options) { o.Origins = []string{"https://a.example"} })
	all := newTestServer(t, func(o *Options) { o.Origins = []string{"*"} })
	const ask = "OPTIONS /api/trpc/test.list\nOrigin: https://a.example\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization,content-type"
	const get = "GET /api/trpc/test.list\nOrigin: https://a.example" + withKey
	for _, test := range []struct {
		name          string
		server        *testServer
		head          string
		status        int
		allow, header string
	}{
		{"off, asked", off, ask, 415, "", ""},
		{"off", off, get, 200, "", ""},
		{"asked", some, ask, 204, "https://a.example", "authorization,content-type"},
		{"called", some, get, 200, "https://a.example", ""},
		{"called without a key", some, strings.Replace(get, "good", "bad", 1), 401, "https://a.example", ""},
		{"another origin asks", some, strings.Replace(ask, "a.example", "b.example", 1), 415, "", ""},
		{"another origin calls", some, strings.Replace(get, "a.example", "b.example", 1), 200, "", ""},
		{"all, asked", all, ask, 204, "*", "authorization,content-type"},
		{"no question", all, "OPTIONS /api/trpc/test.list\nOrigin: https://a.example", 415, "*", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.server.raw(t, test.head, "")
			header := got.header
			if got.status != test.status || header.Get("Access-Control-Allow-Origin") != test.allow || header.Get("Access-Control-Allow-Headers") != test.header {
				t.Errorf("got %d %v, want %v, Access-Control-Allow-Origin %v and Access-Control-Allow-Headers %v", got.status, header, test.status, test.allow, test.header)
			}
			if test.server != off && header.Get("Vary") != "Origin" {
				t.Errorf("Vary is %q", header.Values("Vary"))
			}
		})
	}
}
