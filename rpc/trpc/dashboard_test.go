package trpc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// asDashboard answers with a cookie's token what the API answers with a key.
func asDashboard(o *Options) {
	o.Root, o.Via, o.NoToken = "/app/trpc", "dashboard", "sign in"
	o.Token = func(r *http.Request) string {
		if cookie, err := r.Cookie("c"); err == nil {
			return cookie.Value
		}
		return ""
	}
}

// A handler that takes its token from elsewhere takes none from a header, nor
// from the parameters of a connection.
func TestTokenFromElsewhere(t *testing.T) {
	s := newTestServer(t, asDashboard)
	for name, test := range map[string]struct {
		head, want string
	}{
		"cookie":     {"GET /app/trpc/test.whoami\nCookie: c=good", wireData(`{"key":"key-1","user":"user-1","via":"dashboard"}`)},
		"header":     {"GET /app/trpc/test.whoami\nAuthorization: Bearer good", wireError("sign in", blueprint.CodeUnauthorized, "test.whoami")},
		"connection": {`GET /app/trpc/test.watch?connectionParams={"authorization":"Bearer%20good"}`, `"code":"UNAUTHORIZED"`},
		"other root": {"GET /api/trpc/test.whoami\nCookie: c=good", ""},
	} {
		answer := s.raw(t, test.head, "")
		if test.want == "" && answer.status == http.StatusOK || !strings.Contains(answer.body, test.want) {
			t.Errorf("%s: %d %s", name, answer.status, answer.body)
		}
	}
}

func TestAdmitComesFirst(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Admit = func(r *http.Request) error {
			if r.Header.Get("Origin") != "" {
				return blueprint.Errorf(blueprint.CodeForbidden, "not from there")
			}
			return nil
		}
	})
	for _, head := range []string{"GET /api/trpc/test.open", "POST /api/trpc/test.login\nContent-Type: application/json", "HEAD /api/trpc/test.open", "GET /api/trpc/test.watch", "GET /api/trpc/test.open,test.open?batch=1"} {
		answer := s.raw(t, head+"\nOrigin: http://evil\nAuthorization: Bearer good", "")
		if answer.status != http.StatusForbidden || !strings.HasPrefix(head, "HEAD") && answer.body != wireError("not from there", blueprint.CodeForbidden, "") {
			t.Errorf("%s: %d %s", head, answer.status, answer.body)
		}
		if answer := s.raw(t, head+"\nAuthorization: Bearer good", ""); answer.status >= 300 {
			t.Errorf("%s without an origin: %d %s", head, answer.status, answer.body)
		}
	}
	plain := s.handler.Authenticated(blueprint.ScopeRead, func(w http.ResponseWriter, _ *http.Request, _ *Caller) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	for origin, want := range map[string]int{"": http.StatusNoContent, "http://evil": http.StatusForbidden} {
		w := httptest.NewRecorder()
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer good")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if plain.ServeHTTP(w, r); w.Code != want {
			t.Errorf("plain route for %q: %d", origin, w.Code)
		}
	}
}

// Public procedures have a limit of their own for each address, which those
// with a key do not empty.
func TestPublicLimit(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.PublicLimiter, o.Proxies = NewLimiter(newYear(), 1, 3), Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for i, test := range []struct {
		head string
		want int
	}{
		{"GET /api/trpc/test.whoami\nAuthorization: Bearer good", 200},
		{"GET /api/trpc/test.open,test.open?batch=1", 200},
		{"GET /api/trpc/test.open,test.open?batch=1", 429},
		{"GET /api/trpc/test.open", 200},
		{"GET /api/trpc/test.open", 429},
		{"GET /api/trpc/test.open\nX-Forwarded-For: 198.51.100.1", 200}, // the tests come from this machine
		{"GET /api/trpc/test.open,test.whoami?batch=1\nAuthorization: Bearer good", 429},
		{"GET /api/trpc/test.whoami\nAuthorization: Bearer good", 200},
	} {
		answer := s.raw(t, test.head, "")
		if answer.status != test.want || (test.want == 429) != (answer.header.Get("Retry-After") != "") {
			t.Errorf("%d, %s: %d %s", i, test.head, answer.status, answer.body)
		}
	}
}
