package trpc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestOriginOf(t *testing.T) {
	prefix := netip.MustParsePrefix
	none, here := Proxies(nil), Proxies{prefix("127.0.0.0/8"), prefix("::1/128")}
	both := append(Proxies{prefix("10.1.0.0/16"), prefix("2001:db8:ffff::/48")}, here...)
	for _, test := range []struct {
		proxies   Proxies
		remote    string
		forwarded []string
		want      string
		silent    bool
	}{
		{none, "203.0.113.7:1234", nil, "203.0.113.7 203.0.113.0/24", false},
		{none, "127.0.0.1:1234", []string{"198.51.100.1"}, "127.0.0.1 127.0.0.0/24", false}, // no proxy is trusted
		{none, "10.0.0.2:1234", []string{"198.51.100.1"}, "10.0.0.2 10.0.0.0/24", false},
		{here, "10.0.0.2:1234", []string{"198.51.100.1"}, "10.0.0.2 10.0.0.0/24", false},
		{here, "203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7 203.0.113.0/24", false}, // the header of an untrusted client is ignored
		{here, "127.0.0.1:1234", nil, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"10.9.9.9, 198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"10.9.9.9", " 198.51.100.2 "}, "198.51.100.2 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"198.51.100.1:4711"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"[2001:db8:1:2::3]:4711"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "127.0.0.1:1234", []string{"[2001:db8:1:2::3]"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "127.0.0.1:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"unknown"}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{""}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"198.51.100.1, x"}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"127.0.0.9"}, "127.0.0.9 127.0.0.0/24", false}, // a client on the proxy's own machine
		{here, "[::1]:1234", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{both, "127.0.0.1:1234", []string{"192.0.2.1, 198.51.100.1, 10.1.2.3"}, "198.51.100.1 198.51.100.0/24", false},
		{both, "[2001:db8:ffff::1]:1234", []string{"198.51.100.1, 10.1.2.3"}, "198.51.100.1 198.51.100.0/24", false},
		{both, "127.0.0.1:1234", []string{"unknown, 10.1.2.3"}, "10.1.2.3 10.1.2.0/24", true},
		{both, "127.0.0.1:1234", []string{"10.2.2.3"}, "10.2.2.3 10.2.2.0/24", false},
		{here, "[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "[fe80::1%eth0]:1234", nil, "fe80::/64 fe80::/48", false},
		{here, "[::ffff:203.0.113.7]:1234", nil, "203.0.113.7 203.0.113.0/24", false},
		{here, "@", nil, "@ @", false},
	} {
		t.Run(fmt.Sprint(test.proxies, " ", test.remote, " ", test.forwarded), func(t *testing.T) {
			logs := &bytes.Buffer{}
			clients := &Clients{Proxies: test.proxies, Logger: slog.New(slog.NewTextHandler(logs, nil))}
			for range 2 {
				got := clients.originOf(&http.Request{RemoteAddr: test.remote, Header: http.Header{"X-Forwarded-For": test.forwarded}})
				if got.address+" "+got.network != test.want {
					t.Errorf("%s for %q: %s, want %s", test.remote, test.forwarded, got, test.want)
				}
			}
			if logged := strings.Count(logs.String(), "proxy sends no X-Forwarded-For"); logged != map[bool]int{true: 1}[test.silent] {
				t.Errorf("%s for %q is logged %d times, want %v", test.remote, test.forwarded, logged, map[bool]int{true: 1}[test.silent])
			}
		})
	}
}

// An untrusted address that sends X-Forwarded-For is logged once, with the flag that would trust it.
func TestUntrustedProxyIsLogged(t *testing.T) {
	here := Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, test := range []struct {
		proxies           Proxies
		remote, forwarded string
		hint              string // "" = nothing is logged
	}{
		{here, "10.0.0.2:1234", "198.51.100.1", "--trusted-proxy 10.0.0.2/32"},
		{here, "[::ffff:10.0.0.2]:1234", "198.51.100.1", "--trusted-proxy 10.0.0.2/32"},
		{here, "[fd00::2%eth0]:1234", "198.51.100.1", "--trusted-proxy fd00::2/128"},
		{nil, "127.0.0.1:1234", "198.51.100.1", "set --public-url"},
		{here, "10.0.0.2:1234", "", ""},
		{here, "127.0.0.1:1234", "127.0.0.1", ""},
		{here, "127.0.0.1:1234", "198.51.100.1", ""},
	} {
		t.Run(test.remote+" "+test.forwarded, func(t *testing.T) {
			logs := &bytes.Buffer{}
			clients := &Clients{Proxies: test.proxies, Logger: slog.New(slog.NewTextHandler(logs, nil))}
			for range 2 {
				r := &http.Request{RemoteAddr: test.remote, Header: http.Header{}}
				if test.forwarded != "" {
					r.Header.Set("X-Forwarded-For", test.forwarded)
				}
				clients.originOf(r)
			}
			if logged := strings.Count(logs.String(), "X-Forwarded-For ignored"); logged != min(len(test.hint), 1) || !strings.Contains(logs.String(), test.hint) {
				t.Errorf("logged %q, want once with %q", logs, test.hint)
			}
		})
	}
}

func TestVisitorsAgentIsShortText(t *testing.T) {
	caller := &Caller{Request: &http.Request{Header: http.Header{"User-Agent": {"a\x00b\xffc\n" + strings.Repeat("é", 400)}}}}
	if got := caller.SignInClient().Agent; got != "abc"+strings.Repeat("é", maxAgent-3) {
		t.Errorf("got %q, want %v", got, "abc"+strings.Repeat("é", maxAgent-3))
	}
}

// asDashboard serves the procedures with the token of a cookie.
func asDashboard(o *Options) {
	o.Root, o.Via, o.NoToken = "/app/trpc", "dashboard", "sign in"
	o.Token = func(r *http.Request) string {
		if cookie, err := r.Cookie("c"); err == nil {
			return cookie.Value
		}
		return ""
	}
}

// A handler with its own Token ignores the Authorization header and connection parameters.
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
		t.Run(name, func(t *testing.T) {
			answer := s.raw(t, test.head, "")
			if test.want == "" && answer.status == http.StatusOK || !strings.Contains(answer.body, test.want) {
				t.Errorf("%d %s, want %v", answer.status, answer.body, test.want)
			}
		})
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
			t.Errorf("%s without an origin: %d %s, want less than 300", head, answer.status, answer.body)
		}
	}
	plain := s.handler.Authenticated(blueprint.ScopeRead, func(w http.ResponseWriter, _ *http.Request, _ *Caller) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	for origin, want := range map[string]int{"": http.StatusNoContent, "http://evil": http.StatusForbidden} {
		t.Run(origin, func(t *testing.T) {
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
				t.Errorf("plain route for %q: %d, want %v", origin, w.Code, want)
			}
		})
	}
}

// Public procedures have their own rate limit by address, independent of calls with a key.
func TestPublicLimit(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.PublicLimiter, o.Clients = NewLimiter(newYear(), 1, 3), &Clients{Proxies: Proxies{netip.MustParsePrefix("127.0.0.0/8")}, Logger: slog.New(slog.DiscardHandler)}
	})
	for i, step := range []struct {
		head string
		want int
	}{
		{"GET /api/trpc/test.whoami\nAuthorization: Bearer good", 200},
		{"GET /api/trpc/test.open,test.open?batch=1", 200},
		{"GET /api/trpc/test.open,test.open?batch=1", 429},
		{"GET /api/trpc/test.open", 200},
		{"GET /api/trpc/test.open", 429},
		{"GET /api/trpc/test.open\nX-Forwarded-For: 198.51.100.1", 200}, // the address of the tests themselves
		{"GET /api/trpc/test.open,test.whoami?batch=1\nAuthorization: Bearer good", 429},
		{"GET /api/trpc/test.whoami\nAuthorization: Bearer good", 200},
	} {
		answer := s.raw(t, step.head, "")
		if answer.status != step.want || (step.want == 429) != (answer.header.Get("Retry-After") != "") {
			t.Errorf("%d, %s: %d %s; want %v", i, step.head, answer.status, answer.body, step.want)
		}
	}
}
