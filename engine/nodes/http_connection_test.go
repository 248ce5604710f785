package nodes

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

const connectionID = "00000000-0000-4000-8000-00000000000c"

// keyed is a connection to some hosts that proves itself by a header and a
// parameter.
func keyed(hosts ...string) *blueprint.OpenConnection {
	return &blueprint.OpenConnection{
		ID: connectionID, Name: "Orders", Type: blueprint.ConnectionHTTP, Hosts: hosts, Secrets: []string{"secret"},
		Authorize: func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer secret")
			query := r.URL.Query()
			query.Set("key", "secret")
			r.URL.RawQuery = query.Encode()
			return nil
		},
	}
}

// sendWith runs a node whose config has URL in place of the site's address.
func (s *site) sendWith(t *testing.T, conn *blueprint.OpenConnection, errConnect error, config string) (blueprint.Result, error) {
	t.Helper()
	s.clear()
	task := newTask(t, s.kind, strings.ReplaceAll(strings.ReplaceAll(config, "URL", s.URL), "CONN", connectionID), scope)
	task.Connect = func(_ context.Context, id string) (*blueprint.OpenConnection, error) {
		if id != connectionID {
			t.Errorf("connection %q was asked for, want %v", id, connectionID)
		}
		return conn, errConnect
	}
	return s.kind.Run(context.Background(), task)
}

func (s *site) host() string { return strings.TrimPrefix(s.URL, "http://") }

func TestConnectionCredentials(t *testing.T) {
	s := newSite(t, outbound.Options{})
	result, err := s.sendWith(t, keyed(s.host()), nil,
		`{"url":"URL/x?a=1","method":"POST","body":{"a":1},"query":{"key":"mine"},"headers":{"authorization":"Bearer mine","X-Own":"1"},"connectionId":"{{nothing ?? \"CONN\"}}"}`)
	if err != nil {
		t.Fatal(err)
	}
	got := s.requests()[0]
	if got.line != "POST /x?a=1&key=secret" || strings.Join(got.header["Authorization"], "|") != "Bearer secret" || got.header.Get("X-Own") != "1" || got.body != `{"a":1}` {
		t.Errorf("got %+v, want line POST /x?a=1&key=secret, Bearer secret, X-Own 1 and body {\"a\":1}", got)
	}
	if len(result.Calls) != 1 || result.Calls[0].Host != s.host() {
		t.Errorf("calls %+v", result.Calls)
	}
	// Null leaves out a header of the config, not one of the connection.
	if _, err := s.sendWith(t, keyed("127.0.0.1"), nil, `{"url":"URL","headers":{"Authorization":null},"connectionId":"CONN"}`); err != nil || s.requests()[0].header.Get("Authorization") != "Bearer secret" {
		t.Errorf("got %v, %+v; want Authorization Bearer secret", err, s.requests())
	}
	// A connection without credentials still says where a request may go.
	open := &blueprint.OpenConnection{Name: "Open", Type: blueprint.ConnectionOAuth2, Hosts: []string{"127.0.0.1"}}
	if _, err := s.sendWith(t, open, nil, `{"url":"URL","connectionId":"CONN"}`); err != nil || len(s.requests()) != 1 {
		t.Errorf("got %v, %+v; want length 1", err, s.requests())
	}
}

func TestConnectionFailures(t *testing.T) {
	s := newSite(t, outbound.Options{})
	refusing, pausing := keyed("127.0.0.1"), keyed("127.0.0.1")
	refusing.Authorize = func(context.Context, *http.Request) error {
		return &blueprint.Failure{Code: "token_failed", Message: "no token came"}
	}
	pause := &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, Prompt: "sign in"}}
	pausing.Authorize = func(context.Context, *http.Request) error { return pause }
	slack, nowhere, empty := keyed("127.0.0.1"), keyed(), keyed("other.example", "127.0.0.1:1", "*.0.0.1")
	slack.Type, nowhere.Authorize = blueprint.ConnectionSlack, nil
	for _, test := range []struct {
		name      string
		conn      *blueprint.OpenConnection
		err       error
		code      string
		permanent bool
		message   string
	}{
		{"there is none", nil, &blueprint.Failure{Code: codeConnection, Message: "no connection", Permanent: true}, codeConnection, true, "no connection"},
		{"of another type", slack, nil, codeConnection, true, `the connection "Orders" is of the type slack; HTTP requests take one of the type http or oauth2`},
		{"for other hosts", empty, nil, codeHost, true, `the connection "Orders" is not for ` + s.host() + "; hint: add the host"},
		{"for no host, without credentials", nowhere, nil, codeHost, true, `the connection "Orders" is not for ` + s.host()},
		{"without a token", refusing, nil, "token_failed", false, "no token came"},
		{"sign in to open it", nil, pause, "error: sign in", false, "sign in"},
		{"sign in to send", pausing, nil, "error: sign in", false, "sign in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := s.sendWith(t, test.conn, test.err, `{"url":"URL?secret","connectionId":"CONN"}`)
			if codeOf(err) != test.code || !strings.HasPrefix(err.Error(), test.message) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %s: %v, want %v, %q at the start and no \"secret\"", codeOf(err), err, test.code, test.message)
			}
			var failure *blueprint.Failure
			if errors.As(err, &failure) && (failure.Permanent != test.permanent || !failure.NotSent) {
				t.Errorf("got %+v, want permanent %v", failure, test.permanent)
			}
			if len(s.requests()) != 0 || result.Calls != nil {
				t.Errorf("sent %+v, calls %+v; want none and nil", s.requests(), result.Calls)
			}
		})
	}
	task := newTask(t, s.kind, `{"url":"`+s.URL+`","connectionId":"`+connectionID+`"}`, scope)
	if _, err := s.kind.Run(context.Background(), task); codeOf(err) != codeConnection || len(s.requests()) != 0 {
		t.Errorf("without connections: %v, want %v and none", err, codeConnection)
	}
	// A bad config is found before a sign-in is requested.
	for _, config := range []string{`{"url":"nowhere","connectionId":"CONN"}`, `{"url":"URL","connectionId":"{{name}}"}`, `{"url":"URL","connectionId":""}`} {
		if _, err := s.sendWith(t, nil, pause, config); codeOf(err) != codeBadConfig {
			t.Errorf("%s: %v, want %v", config, err, codeBadConfig)
		}
	}
}

// A redirect does not carry credentials to a host that the connection does not
// name, nor what the config sends to the first host; one that it names gets its
// own.
func TestConnectionRedirects(t *testing.T) {
	ours, theirs := newSite(t, outbound.Options{}), newSite(t, outbound.Options{})
	for _, hosts := range [][]string{{ours.host()}, {ours.host(), theirs.host()}} {
		theirs.clear()
		ours.answers(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/near" {
				return
			}
			to := map[string]string{"/": "/near", "/away": theirs.URL + "/landed"}[r.URL.Path]
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		})
		if _, err := ours.sendWith(t, keyed(hosts...), nil, `{"url":"URL/","connectionId":"CONN"}`); err != nil {
			t.Fatal(err)
		}
		for _, got := range ours.requests() {
			if got.header.Get("Authorization") != "Bearer secret" || !strings.HasSuffix(got.line, "?key=secret") {
				t.Errorf("%v: got %+v, want Authorization Bearer secret and \"?key=secret\" at the end", hosts, got)
			}
		}
		result, err := ours.sendWith(t, keyed(hosts...), nil, `{"url":"URL/away","headers":{"X-Own":"secret"},"connectionId":"CONN"}`)
		if err != nil || len(result.Calls) != 2 || len(theirs.requests()) != 1 {
			t.Fatalf("%v: %+v, %v; want length 2 and length 1", hosts, result.Calls, err)
		}
		got := theirs.requests()[0]
		if told := got.header.Get("Authorization") == "Bearer secret" && got.line == "GET /landed?key=secret"; told != (len(hosts) == 2) {
			t.Errorf("%v: got %+v", hosts, got)
		}
		if len(hosts) == 1 && (got.header.Get("Authorization") != "" || got.line != "GET /landed") || got.header.Get("X-Own") != "" || got.header.Get("Idempotency-Key") != "" {
			t.Errorf("%v: got %+v", hosts, got)
		}
	}
}

// The pages of an answer may lie with all hosts of the connection, and nowhere
// else; each is asked for with the credentials.
func TestConnectionPages(t *testing.T) {
	ours, theirs := newSite(t, outbound.Options{}), newSite(t, outbound.Options{})
	ours.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "<"+theirs.URL+"/2?a=1>; rel=next")
	})
	config := `{"url":"URL","headers":{"X-Own":"1"},"pagination":{"next":"link-header"},"connectionId":"CONN"}`
	if _, err := ours.sendWith(t, keyed(ours.host()), nil, config); codeOf(err) != codeHost || len(theirs.requests()) != 0 || strings.Contains(err.Error(), "a=1") {
		t.Errorf("got %v, %+v; want %v, none and no \"a=1\"", err, theirs.requests(), codeHost)
	}
	result, err := ours.sendWith(t, keyed("127.0.0.1"), nil, config)
	if err != nil || len(theirs.requests()) != 1 || len(result.Calls) != 2 {
		t.Fatalf("got %v, calls %+v; want length 1 and length 2", err, result.Calls)
	}
	if got := theirs.requests()[0]; got.line != "GET /2?a=1&key=secret" || got.header.Get("Authorization") != "Bearer secret" || got.header.Get("X-Own") != "1" {
		t.Errorf("got %+v, want line GET /2?a=1&key=secret, Authorization Bearer secret and X-Own 1", got)
	}
	// Where a redirect led, only the connection's hosts go on.
	theirs.answers(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Link", `</more>; rel="next"`) })
	ours.answers(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, theirs.URL, http.StatusFound) })
	theirs.clear()
	if _, err := ours.sendWith(t, keyed(ours.host()), nil, config); codeOf(err) != codeHost || len(theirs.requests()) != 1 {
		t.Errorf("got %v, %+v; want %v and length 1", err, theirs.requests(), codeHost)
	}
	// A sign-in that is asked for in between fails the node: after a pause the
	// first page would be sent again.
	asked := 0
	late := keyed("127.0.0.1")
	late.Authorize = func(context.Context, *http.Request) error {
		if asked++; asked > 1 {
			return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, Prompt: "sign in"}}
		}
		return nil
	}
	ours.answers(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Link", `</more>; rel="next"`) })
	_, err = ours.sendWith(t, late, nil, config)
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || failure.Code != codeConnection || failure.NotSent || failure.Permanent {
		t.Errorf("got %+v, want %s, sent and not permanent", err, codeConnection)
	}
	if got := ours.requests(); len(got) != 1 {
		t.Errorf("got %+v, want one request", got)
	}
}

// Behind a proxy, servers write http where they mean https; nothing is sent
// in the clear for it.
func TestPagesStayWithTLS(t *testing.T) {
	x := &httpExchange{conn: keyed("api.example")}
	for _, test := range []struct{ first, next, want string }{
		{"https://api.example/", "http://api.example/2", "https://api.example/2"},
		{"https://api.example/", "http://API.example/2", "https://API.example/2"},
		{"https://api.example/", "http://api.example:80/2", ""},
		{"https://api.example:8443/", "http://api.example/2", ""},
		{"https://api.example/", "https://api.example:8443/2", "https://api.example:8443/2"},
		{"https://other.example/", "https://api.example/2", "https://api.example/2"},
		{"https://other.example/", "http://api.example/2", ""},
		{"http://api.example/", "https://api.example/2", "https://api.example/2"},
		{"https://api.example/a/b?c", "?d#e", "https://api.example/a/b?d"},
		{"https://api.example/a/b?c", "../d e", "https://api.example/d%20e"},
		{"https://api.example/", "https://sub.api.example/", ""},
	} {
		t.Run(test.first+" "+test.next, func(t *testing.T) {
			first, err := http.NewRequest(http.MethodGet, test.first, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if target, err := x.address(first, &http.Response{Request: first}, test.next); err == nil {
				got = target.String()
			} else if codeOf(err) != codeHost {
				t.Errorf("%s: %v, want %v", test.next, err, codeHost)
			}
			if got != test.want {
				t.Errorf("%s, %s: got %s; want %v", test.first, test.next, got, test.want)
			}
		})
	}
}
