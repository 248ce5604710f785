package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/server/certificate"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

func develops(o *server.Options) { o.Dev = true }

// visit is what the address of a server answers, to a request with these headers.
func visit(ctx context.Context, s *servertest.Server, address string, headers ...string) *http.Response {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Routes().ServeHTTP(w, r)
	return w.Result()
}

// TestOpenLinkIsFor: only who develops in memory, on this machine alone and by its
// name, has the address.
func TestOpenLinkIsFor(t *testing.T) {
	t.Parallel()
	certified := func(own bool) func(*server.Options) {
		pair := process.NewKeyPair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
		return func(o *server.Options) {
			o.TLSFiles = &certificate.Files{CertPath: pair.Cert, KeyPath: pair.Key, Logger: o.Logger}
			if bad, err := o.TLSFiles.Load(); err != nil {
				t.Fatal(bad, err)
			}
			if !own {
				o.TLSFiles.Pair.Load().Leaf.IPAddresses = nil
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*server.Options)
		want   bool
	}{
		"dev":                          {func(*server.Options) {}, true},
		"serve":                        {func(o *server.Options) { o.Dev = false }, false},
		"a public name":                {func(o *server.Options) { o.PublicURL = "https://flows.example.org" }, false},
		"the network":                  {func(o *server.Options) { o.Addr = "0.0.0.0:0" }, false},
		"a database":                   {func(o *server.Options) { o.Ephemeral, o.DB = false, filepath.Join(t.TempDir(), "x.db") }, false},
		"a certificate of the machine": {certified(true), true},
		"a certificate of a name":      {certified(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			if s := servertest.New(t, develops, test.change); (s.Link != nil) != test.want {
				t.Errorf("there is one: %v, want %v", s.Link != nil, test.want)
			}
		})
	}
	s := servertest.New(t, develops)
	if answer := visit(t.Context(), s, strings.Replace(s.Link.URL(), "127.0.0.1", "flows.example.org", 1)); answer.StatusCode == http.StatusSeeOther {
		t.Errorf("it is there by any name: %v, want StatusCode other than %v", answer.StatusCode, http.StatusSeeOther)
	}
}

// TestOpenLinkIsNotWasted checks that a request that cannot sign in, or a browser with
// a session, does not use up the link.
func TestOpenLinkIsNotWasted(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, develops)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for name, answer := range map[string]*http.Response{
		"hung up":      visit(gone, s, s.Link.URL()),
		"fetched":      visit(t.Context(), s, s.Link.URL(), "Sec-Purpose", "prefetch;prerender"),
		"fetched once": visit(t.Context(), s, s.Link.URL(), "Purpose", "prefetch"),
	} {
		t.Run(name, func(t *testing.T) {
			if answer.StatusCode != http.StatusServiceUnavailable || len(answer.Cookies()) > 0 {
				t.Errorf("%v, want StatusCode %v and none", answer.Status, http.StatusServiceUnavailable)
			}
		})
	}
	first := s.Link.URL()
	answer := visit(t.Context(), s, first, "User-Agent", "a browser")
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || len(cookies) != 2 || cookies[0].Name != s.CookieName() || cookies[1].Name != s.CookieName()+"_device" {
		t.Fatalf("afterwards: %s %v", answer.Status, cookies)
	}
	mine := []string{"Cookie", cookies[0].Name + "=" + cookies[0].Value}
	for _, address := range []string{first, s.Link.URL()} {
		if answer := visit(t.Context(), s, address, mine...); answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) > 0 {
			t.Errorf("signed in: %s, want StatusCode %v and none", answer.Status, http.StatusSeeOther)
		}
	}
	if answer := visit(t.Context(), s, s.Link.URL()); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("another browser: %s, want StatusCode %v", answer.Status, http.StatusSeeOther)
	}
	if answer := visit(t.Context(), s, first); answer.StatusCode != http.StatusGone {
		t.Errorf("once more: %s, want StatusCode %v", answer.Status, http.StatusGone)
	}
	if some, err := s.Store.AnyPassword(t.Context()); some || err != nil {
		t.Errorf("there is a password: %v %v", some, err)
	}
	query := func(procedure string) any {
		return servertest.Caller{Server: s}.Send(t, http.MethodGet, server.DashboardRoot+"/"+procedure, "", mine...).Payload()
	}
	line := at(query("auditLog.list"), "entries").([]any)[1]
	if at(line, "action") != "session.create" || at(line, "via") != blueprint.ViaDashboard || at(line, "detail.outcome") != "signed in" || at(line, "actorId") != s.Bootstrap.Account.ID {
		t.Errorf("the audit log says %v, want action session.create, via %v, detail.outcome signed in and actorId %v", line, blueprint.ViaDashboard, s.Bootstrap.Account.ID)
	}
	if listed := query("session.list").([]any); len(listed) != 2 || at(listed[0], "agent") != "a browser" && at(listed[1], "agent") != "a browser" {
		t.Errorf("sessions %v", listed)
	}
}

// TestOpenLinkGivenBack checks that the link stays valid if the session cannot be
// created (unknown user, client disconnected), and that an expired link is replaced
// by a newly printed one.
func TestOpenLinkGivenBack(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, develops)
	l, printed := s.Link, ""
	l.Then(func(address string) { printed = address })
	first, user := l.URL(), l.UserID
	l.UserID = "nobody"
	if answer := visit(t.Context(), s, first); answer.StatusCode != http.StatusServiceUnavailable || l.URL() != first {
		t.Errorf("unknown user: %s, want StatusCode %v and URL %v", answer.Status, http.StatusServiceUnavailable, first)
	}
	l.UserID = user
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	r := httptest.NewRequestWithContext(gone, http.MethodGet, first, nil)
	if err := l.Use(l.Token, func() error { return l.SignIn(httptest.NewRecorder(), r, s.SessionCookie()) }); err == nil || l.URL() != first {
		t.Errorf("disconnected client: %v, want an error and URL %v", err, first)
	}
	if list, err := s.Store.Sessions(t.Context(), blueprint.Principal{UserID: user}); err != nil || len(list) > 0 {
		t.Errorf("sessions %v %v, want none", list, err)
	}
	l.Until = l.Until.Add(-2 * server.OpenLife)
	for range 2 { // the second time there is one to use
		if answer := visit(t.Context(), s, first); answer.StatusCode != http.StatusGone || printed == "" || printed != l.URL() || printed == first {
			t.Errorf("expired link: %s, printed %q", answer.Status, printed)
		}
	}
	if answer := visit(t.Context(), s, printed); answer.StatusCode != http.StatusSeeOther || printed != l.URL() {
		t.Errorf("valid link: %s", answer.Status)
	}
}
