package rpc

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// accountsOf is a database of accounts and their sessions that records what ends.
type accountsOf struct {
	sessionStore
	sessions  []blueprint.Session
	ended     []string
	endErr    error
	listErr   error
	signInErr error
	from      blueprint.SignInClient
}

func (a *accountsOf) User(_ context.Context, id string) (blueprint.User, error) {
	return blueprint.User{ID: id, Email: id + "@example.org", Name: "Ann"}, nil
}

func (a *accountsOf) Organizations(_ context.Context, p blueprint.Principal) ([]blueprint.Organization, error) {
	return []blueprint.Organization{{ID: "of " + p.UserID}}, nil
}

func (a *accountsOf) Sessions(context.Context, blueprint.Principal) ([]blueprint.Session, error) {
	return a.sessions, a.listErr
}

func (a *accountsOf) EndSession(_ context.Context, p blueprint.Principal, id string) error {
	a.ended = append(a.ended, p.UserID+"'s "+id)
	return a.endErr
}

func (a *accountsOf) EndSessions(_ context.Context, p blueprint.Principal) error {
	a.ended = append(a.ended, p.UserID+"'s")
	return a.endErr
}

func (a *accountsOf) EndSessionOf(_ context.Context, token string) error {
	a.ended = append(a.ended, "that of "+token)
	return a.endErr
}

func (a *accountsOf) SignIn(_ context.Context, _, _ string, from blueprint.SignInClient) (string, blueprint.Session, error) {
	a.from = from
	return "new-token", blueprint.Session{ID: "new", UserID: "ann", ExpiresAt: 7}, a.signInErr
}

func (a *accountsOf) Setup(_ context.Context, _, _, _, _ string, from blueprint.SignInClient) (string, blueprint.Session, error) {
	a.from = from
	return "new-token", blueprint.Session{ID: "new", UserID: "ann", ExpiresAt: 7}, a.signInErr
}

func (a *accountsOf) Link(_ context.Context, token string) (blueprint.SetupLink, error) {
	return blueprint.SetupLink{UserID: "ann", Email: token + "@example.org", Initial: true}, a.signInErr
}

func (a *accountsOf) Device(email, before string) string {
	if before == "known" {
		return ""
	}
	return "device of " + email
}

func (a *accountsOf) ChangePassword(context.Context, blueprint.Principal, string, string, blueprint.SignInClient) error {
	return a.signInErr
}

func newSessions(a *accountsOf) *Sessions {
	return NewSessions(a, a, SessionCookie{Name: "s", Root: "/app", Secure: func(r *http.Request) bool { return r.TLS != nil || r.Header.Get("Secure") != "" }})
}

// browser returns a caller with the cookies of a browser.
func browser(t *testing.T, sessionID string, cookies ...string) *trpc.Caller {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	return &trpc.Caller{Admission: blueprint.Admission{Principal: blueprint.Principal{UserID: "ann", SessionID: sessionID}}, Header: http.Header{}, Request: r}
}

const (
	sessionCookie = "s=new-token; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict"
	deviceCookie  = `s_device="device of ann@example.org"; Path=/app; Max-Age=31536000; HttpOnly; SameSite=Strict`
	clearedCookie = "s=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
)

// A sign-in ends and replaces the session of the browser, and makes it a known device.
func TestSignIn(t *testing.T) {
	refused := blueprint.Errorf(blueprint.CodeUnauthorized, "wrong email or password")
	broken := errors.New("disk I/O error")
	for name, test := range map[string]struct {
		cookies []string
		streams bool
		signIn  error
		end     error
		want    []string // cookies
		ended   []string
		err     error
	}{
		"first":                {nil, false, nil, nil, []string{sessionCookie, deviceCookie}, nil, nil},
		"again":                {[]string{"s=old", "s_device=known"}, false, nil, nil, []string{sessionCookie}, []string{"that of old"}, nil},
		"refused":              {[]string{"s=old"}, false, refused, nil, nil, nil, refused},
		"old one does not end": {[]string{"s=old"}, false, nil, broken, nil, []string{"that of old"}, broken},
	} {
		for _, setup := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				a := &accountsOf{signInErr: test.signIn, endErr: test.end}
				caller := browser(t, "", test.cookies...)
				var out session
				var err error
				if setup {
					out, err = newSessions(a).sessionSetup(t.Context(), caller, sessionSetup{})
				} else {
					out, err = newSessions(a).sessionCreate(t.Context(), caller, sessionCreate{})
					if device := newSessions(a).cookie.Device(caller.Request); a.from.Device != device {
						t.Errorf("the device of the attempt is %q, want %q", a.from.Device, device)
					}
				}
				if !errors.Is(err, test.err) {
					t.Errorf("got the error %v, want %v", err, test.err)
				}
				if diff := cmp.Diff(test.want, caller.Header["Set-Cookie"]); diff != "" {
					t.Errorf("cookies (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.ended, a.ended); diff != "" {
					t.Errorf("ended sessions (-want +got):\n%s", diff)
				}
				var want session
				if test.err == nil {
					want.User.ID, want.User.Email, want.User.Name = "ann", "ann@example.org", "Ann"
					want.Organizations, want.ExpiresAt = []blueprint.Organization{{ID: "of ann"}}, 7
				}
				if diff := cmp.Diff(want, out); diff != "" {
					t.Errorf("session (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A streamed batch cannot set a cookie: a session begun in it would be lost, but valid.
func TestSignInIsNotStreamed(t *testing.T) {
	a := &accountsOf{}
	caller := browser(t, "")
	caller.Request.Header.Set("Trpc-Accept", "application/jsonl")
	_, created := newSessions(a).sessionCreate(t.Context(), caller, sessionCreate{})
	_, setUp := newSessions(a).sessionSetup(t.Context(), caller, sessionSetup{})
	if one, other := blueprint.CodeOf(created), blueprint.CodeOf(setUp); one != blueprint.CodeBadRequest || other != blueprint.CodeBadRequest {
		t.Errorf("create and setup: got %q and %q, want %q", one, other, blueprint.CodeBadRequest)
	}
	if a.from != (blueprint.SignInClient{}) || len(caller.Header) > 0 {
		t.Errorf("there was an attempt from %+v, with the headers %v; want none", a.from, caller.Header)
	}
}

func TestSetupLink(t *testing.T) {
	got, err := newSessions(&accountsOf{}).sessionGetSetup(t.Context(), nil, setupToken{Token: "bob"})
	if diff := cmp.Diff(setupLink{Email: "bob@example.org", Fresh: true}, got); diff != "" || err != nil {
		t.Errorf("error %v; link (-want +got):\n%s", err, diff)
	}
}

// Only a valid session can list itself and the other sessions of its user.
func TestOwnSession(t *testing.T) {
	broken := errors.New("disk I/O error")
	sessions := []blueprint.Session{{ID: "one", UserID: "ann", Agent: "a", CreatedAt: 1, LastUsedAt: 2, ExpiresAt: 3}, {ID: "two", UserID: "ann", ExpiresAt: 4}}
	for name, test := range map[string]struct {
		id   string
		list error
		want blueprint.Code
	}{
		"first":  {"one", nil, ""},
		"last":   {"two", nil, ""},
		"ended":  {"three", nil, blueprint.CodeUnauthorized},
		"none":   {"", nil, blueprint.CodeUnauthorized},
		"broken": {"three", broken, blueprint.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(&accountsOf{sessions: sessions, listErr: test.list})
			got, err := s.sessionGet(t.Context(), browser(t, test.id), struct{}{})
			if code := blueprint.CodeOf(err); code != test.want || (got.User.ID == "ann") != (err == nil) {
				t.Errorf("get: got %q and %+v, want %q", code, got, test.want)
			}
			list, err := s.sessionList(t.Context(), browser(t, test.id), struct{}{})
			if code := blueprint.CodeOf(err); code != test.want {
				t.Errorf("list: got %q, want %q", code, test.want)
			}
			if err != nil {
				return
			}
			want := []sessionListed{{ID: "one", Agent: "a", CreatedAt: 1, LastUsedAt: 2, ExpiresAt: 3, Current: test.id == "one"}, {ID: "two", ExpiresAt: 4, Current: test.id == "two"}}
			if diff := cmp.Diff(want, list); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}

// Signing out ends the named sessions, and removes the cookie of the browser's own one.
func TestSignOut(t *testing.T) {
	missing, broken := blueprint.Errorf(blueprint.CodeNotFound, "no such session"), errors.New("disk I/O error")
	remove := func(everywhere bool) func(*Sessions, *trpc.Caller) (succeeded, error) {
		return func(s *Sessions, c *trpc.Caller) (succeeded, error) {
			return s.sessionDelete(t.Context(), c, sessionDelete{everywhere})
		}
	}
	revoke := func(id string) func(*Sessions, *trpc.Caller) (succeeded, error) {
		return func(s *Sessions, c *trpc.Caller) (succeeded, error) {
			return s.sessionRevoke(t.Context(), c, sessionID{id})
		}
	}
	for name, test := range map[string]struct {
		call   func(*Sessions, *trpc.Caller) (succeeded, error)
		err    error
		ended  string
		clears bool
		want   error
	}{
		"own":                {remove(false), nil, "ann's one", true, nil},
		"ended already":      {remove(false), missing, "ann's one", true, nil},
		"own, broken":        {remove(false), broken, "ann's one", false, broken},
		"all":                {remove(true), nil, "ann's", true, nil},
		"all, broken":        {remove(true), broken, "ann's", false, broken},
		"all, not found":     {remove(true), missing, "ann's", false, missing},
		"another by id":      {revoke("two"), nil, "ann's two", false, nil},
		"own by id":          {revoke("one"), nil, "ann's one", true, nil},
		"unknown id":         {revoke("two"), missing, "ann's two", false, missing},
		"own by id, unknown": {revoke("one"), missing, "ann's one", false, missing},
	} {
		t.Run(name, func(t *testing.T) {
			a := &accountsOf{endErr: test.err}
			caller := browser(t, "one")
			out, err := test.call(newSessions(a), caller)
			if !errors.Is(err, test.want) || out.Success != (test.want == nil) {
				t.Errorf("got %+v and %v, want %v", out, err, test.want)
			}
			if diff := cmp.Diff([]string{test.ended}, a.ended); diff != "" {
				t.Errorf("ended sessions (-want +got):\n%s", diff)
			}
			var cookies []string
			if test.clears {
				cookies = []string{clearedCookie}
			}
			if diff := cmp.Diff(cookies, caller.Header["Set-Cookie"]); diff != "" {
				t.Errorf("cookies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangePassword(t *testing.T) {
	refused := blueprint.Errorf(blueprint.CodeForbidden, "wrong password")
	for _, want := range []error{nil, refused} {
		out, err := newSessions(&accountsOf{signInErr: want}).sessionChangePassword(t.Context(), browser(t, "one"), passwordChange{})
		if !errors.Is(err, want) || out.Success != (want == nil) {
			t.Errorf("got %+v and %v, want %v", out, err, want)
		}
	}
}

// Over https the cookie is bound to the host and never sent without encryption.
func TestCookieOverHTTPS(t *testing.T) {
	cookie := newSessions(&accountsOf{}).cookie
	for name, test := range map[string]struct {
		secure, device string
		want           []string
	}{
		"http":           {"", "d", []string{sessionCookie, "s_device=d; Path=/app; Max-Age=31536000; HttpOnly; SameSite=Strict"}},
		"https":          {"yes", "d", []string{"__Host-" + sessionCookie[:strings.Index(sessionCookie, "; SameSite")] + "; Secure; SameSite=Strict", "s_device=d; Path=/app; Max-Age=31536000; HttpOnly; Secure; SameSite=Strict"}},
		"without device": {"", "", []string{sessionCookie}},
	} {
		t.Run(name, func(t *testing.T) {
			r := browser(t, "", "s=plain", "__Host-s=secure").Request
			want := "plain"
			if test.secure != "" {
				want = "secure"
				r.Header.Set("Secure", test.secure)
			}
			if got := cookie.Token(r); got != want {
				t.Errorf("the token is %q, want %q", got, want)
			}
			w := httptest.NewRecorder()
			cookie.Keep(w, r, "new-token", test.device)
			if diff := cmp.Diff(test.want, w.Header()["Set-Cookie"]); diff != "" {
				t.Errorf("cookies (-want +got):\n%s", diff)
			}
		})
	}
}
