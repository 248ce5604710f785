package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"blueprintd/tests/process"
)

// TestDashboardUser has a dashboard user call a fake server with scripted responses,
// some of which accept ended sessions or refuse valid ones.
func TestDashboardUser(t *testing.T) {
	ctx := context.Background()
	look := func(state string) func(*dashboardUser) {
		return func(v *dashboardUser) { v.useSession(ctx, &browser{token: "t", state: state, created: &change{}}) }
	}
	link := func(dead bool) func(*dashboardUser) {
		return func(v *dashboardUser) { v.useLink(ctx, &setUpLink{token: "t", invalid: dead}) }
	}
	past := func(v *dashboardUser) { v.tryOldPassword(ctx, "old") }
	change := func(v *dashboardUser) {
		v.password, v.browsers = "p", []*browser{{state: signedIn}, {state: signedIn}, {state: ending}}
		v.changePassword(ctx, v.browsers[0])
	}
	learn := func(v *dashboardUser) {
		change(v)
		v.pendingPassword = &passwordChange{password: "new", keeps: v.browsers[0]}
		v.resolvePassword(ctx)
	}
	end := func(v *dashboardUser) {
		v.browsers = []*browser{{id: "1", state: signedIn}, {id: "2", state: signedIn}}
		v.endSession(ctx, v.browsers[0], v.browsers[1])
	}
	for _, c := range []struct {
		name   string
		do     func(*dashboardUser)
		status int
		want   string
		states string // of the browsers afterwards
	}{
		{"a session works", look(signedIn), 200, "", ""},
		{"a session is lost", look(signedIn), 401, "I19", ""},
		{"the server is busy", look(signedIn), 503, "", ""},
		{"an ended session works", look(signedOut), 200, "I19", ""},
		{"an ended session is refused", look(signedOut), 401, "", ""},
		{"a session with an unanswered sign-out works", look(ending), 200, "", ""},
		{"a session with an unanswered sign-out is refused", look(ending), 401, "", ""},
		{"a fresh link works", link(false), 200, "", "signed in"},
		{"a fresh link is refused", link(false), 404, "I19", ""},
		{"a used link works", link(true), 200, "I19", "signed in"},
		{"a used link is refused", link(true), 404, "", ""},
		{"an old password is good", past, 200, "I19", "signed in"},
		{"an old password is refused", past, 401, "", ""},
		{"a changed password", change, 200, "", "signed in, signed out, signed out"},
		{"one that was not answered", change, 503, "", "signed in, signed in, ending"},
		{"the present one is refused", change, 400, "I19", "signed in, signed in, ending"},
		{"it turns out to be changed", learn, 200, "", "signed in, signed out, signed out, signed in"},
		{"an ended session", end, 200, "", "signed in, signed out"},
		{"an end that was not answered", end, 503, "", "signed in, ending"},
		{"an end of what is not there", end, 404, "I19", "signed in, signed out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.SetCookie(w, &http.Cookie{Name: "blueprintd_1", Value: "token", Path: "/"})
				w.WriteHeader(c.status)
				fmt.Fprint(w, `{"result":{"data":{"json":[]}}}`)
			}))
			b := newHistory("test", io.Discard)
			d := &apiClient{process.NewClient(server.URL, "", server.Client()), &changeLog{}}
			v := &dashboardUser{client: &client{api: d, history: b}}
			c.do(v)
			server.Close()
			states := ""
			for i, one := range v.browsers {
				if i > 0 {
					states += ", "
				}
				states += one.state
			}
			if first(b) != c.want || states != c.states {
				t.Errorf("violations %v, browsers %q; want %q and %q", b.violations, states, c.want, c.states)
			}
		})
	}
}

// TestDashboardUserRefused checks refused changes: the state stays as before.
func TestDashboardUserRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	b, before := newHistory("test", io.Discard), &browser{state: signedIn}
	v := &dashboardUser{client: &client{api: &apiClient{process.NewClient(server.URL, "", server.Client()), &changeLog{}}, history: b}, password: "p", browsers: []*browser{before}, links: []*setUpLink{{}}}
	v.pendingPassword = &passwordChange{password: "new"}
	v.resolvePassword(context.Background())
	if v.pendingPassword != nil || v.password != "p" || before.state != signedIn || v.links[0].invalid {
		t.Errorf("%+v, want the old password, its session and its link", v)
	}
	if got := first(b); got != "" {
		t.Errorf("violation %s, want none", got)
	}
}
