package connections_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// In a browser the user confirms the consent page, signs in at the service and is sent back,
// and the run resumes. A program follows the redirects without the page.
func TestSignIn(t *testing.T) {
	for name, change := range map[string]func(*provider){
		"default":            func(*provider) {},
		"secret in the body": func(p *provider) { p.inBody = true },
		"form responses":     func(p *provider) { p.form = true },
		"names the issuer":   func(p *provider) { p.iss = p.URL },
		"tokens for a bot":   func(p *provider) { p.kind = "bot" },
	} {
		t.Run(name, func(t *testing.T) {
			for _, agent := range []string{"node", browser} {
				w, p := newEnv(t), newProvider(t)
				change(p)
				id := w.login(p, "")
				person := newPerson(agent)
				address := w.paused(ann, id)
				status, text, _ := person.visit(t, address)
				if agent == browser {
					if status != 200 || !strings.Contains(text, "Sign in at 127.0.0.1") || !strings.Contains(text, "read, write") || strings.Contains(text, "<b>") {
						t.Fatalf("%d %s, want 200 with the address and the scopes read, write", status, text)
					}
					if p.serial > 0 {
						t.Fatalf("the provider was asked %d times, want none", p.serial)
					}
					status, text, _ = person.visit(t, w.web.URL+linkIn(t, text))
				}
				if status != 200 || !strings.Contains(text, "You are signed in") || strings.Contains(text, "<b>") {
					t.Fatalf("%s, %s: %d %s; want 200, \"You are signed in\" in it and no \"<b>\"", name, agent, status, text)
				}
				if !slices.Equal(w.resumed, []string{"exec_1/node"}) {
					t.Errorf("resumed %q, want %v", w.resumed, []string{"exec_1/node"})
				}
				open := w.mustOpen(ann, id)
				if status, body := w.get(open, p.URL+"/api"); status != 200 || body != "welcome" {
					t.Errorf("%d %s, want 200 and welcome", status, body)
				}
				if !open.SignIn || open.Auth != "oauth2" || len(open.Secrets) != 3 || !slices.Equal(open.Hosts, []string{strings.TrimPrefix(p.URL, "http://")}) {
					t.Errorf("%+v, want SignIn, Auth oauth2, length 3 and %v", open, []string{strings.TrimPrefix(p.URL, "http://")})
				}
				if status, text, _ := person.visit(t, address); status != 200 || !strings.Contains(text, "You are signed in") {
					t.Errorf("the address afterwards: %d %s, want 200 and \"You are signed in\" in it", status, text)
				}
				request := p.received[len(p.received)-1]
				if request.Get("code_verifier") == "" || request.Get("redirect_uri") != w.web.URL+"/oauth/callback" {
					t.Errorf("requested with %v, want code_verifier not empty and redirect_uri %v", request, w.web.URL+"/oauth/callback")
				}
				w.noSecrets(p)
			}
		})
	}
}

// noSecrets checks that the log contains no secrets.
func (w *env) noSecrets(p *provider) {
	w.t.Helper()
	for _, secret := range []string{"access-token", "refresh-token", "code-", p.secret} {
		if strings.Contains(w.log.String(), secret) {
			w.t.Errorf("the log contains %s: %s", secret, w.log)
		}
	}
}

// linkIn returns the only link of a page.
func linkIn(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, `<a href="`)
	link, _, _ := strings.Cut(rest, `"`)
	if !ok || strings.Count(text, "<a ") != 1 {
		t.Fatalf("no link in %s, want 1", text)
	}
	return strings.ReplaceAll(link, "&amp;", "&")
}

func TestPageHeaders(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	for _, address := range []string{w.paused(ann, w.login(p, "")), w.web.URL + "/oauth/start", w.web.URL + "/oauth/callback?state=<script>"} {
		_, text, header := newPerson(browser).visit(t, address)
		_, style, _ := strings.Cut(text, "<style>")
		style, _, _ = strings.Cut(style, "</style>")
		hash := sha256.Sum256([]byte(style))
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
			"Referrer-Policy":         "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8",
		} {
			t.Run(name, func(t *testing.T) {
				if header.Get(name) != want {
					t.Errorf("%s: %s is %q, want %v", address, name, header.Get(name), want)
				}
			})
		}
		if strings.Contains(text, "<script") || !strings.HasPrefix(text, "<!doctype html>") {
			t.Errorf("%s: %s, want no \"<script\" and \"<!doctype html>\" at the start", address, text)
		}
	}
	cookie, _, header := newPerson(browser).visit(t, w.paused(ann, w.login(p, "")))
	if got := header.Get("Set-Cookie"); cookie != 200 || !strings.Contains(got, "HttpOnly; SameSite=Lax") {
		t.Errorf("the cookie is %s, want 200 and \"HttpOnly; SameSite=Lax\" in it", got)
	}
}

// After an invalid callback nothing is stored, no run resumes, and the page states the
// problem.
func TestInvalidCallbacks(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(v *visit)
		status int
		want   string
	}{
		{"without a state", func(v *visit) { v.set("state", "") }, 400, "Unknown sign-in"},
		{"an invented state", func(v *visit) { v.set("state", strings.Repeat("A", 43)) }, 400, "Unknown sign-in"},
		{"a long state", func(v *visit) { v.set("state", strings.Repeat("A", 5000)) }, 400, "Unknown sign-in"},
		{"two states", func(v *visit) { v.back.RawQuery += "&state=x" }, 400, "Unknown sign-in"},
		{"two codes", func(v *visit) { v.back.RawQuery += "&code=x" }, 400, "Unknown sign-in"},
		{"an invalid query", func(v *visit) { v.back.RawQuery += "&%zz" }, 400, "Unknown sign-in"},
		{"a ticket as the state", func(v *visit) { v.set("state", v.p.URL) }, 400, "Unknown sign-in"},
		{"too late", func(v *visit) { v.w.pass(10 * time.Minute) }, 400, "Unknown sign-in"},
		{"denied", func(v *visit) { v.set("error", "access_denied") }, 200, "Access denied"},
		{"another error", func(v *visit) { v.set("error", "<b>x</b>") }, 502, "no known reason"},
		{"a known error", func(v *visit) { v.set("error", "invalid_scope") }, 502, "check scopes"},
		{"without a code", func(v *visit) { v.set("code", "") }, 502, "no known reason"},
		{"a code of 8 KiB", func(v *visit) { v.set("code", strings.Repeat("c", 8<<10)) }, 502, "rejected its own authorization code"},
		{"a code of more than 8 KiB", func(v *visit) { v.set("code", strings.Repeat("c", 8<<10+1)) }, 502, "no known reason"},
		{"a long code", func(v *visit) { v.set("code", strings.Repeat("c", 9000)) }, 502, "no known reason"},
		{"an invented code", func(v *visit) { v.set("code", "secret-code") }, 502, "rejected its own authorization code"},
		{"another issuer", func(v *visit) { v.set("iss", "https://evil.example") }, 400, "another service"},
		{"an invalid issuer", func(v *visit) { v.set("iss", ":") }, 400, "another service"},
		{"another browser", func(v *visit) { v.person = newPerson(browser) }, 400, "started elsewhere"},
		{"a program instead", func(v *visit) { v.person = newPerson("curl/8") }, 400, "started elsewhere"},
		{"changed client", func(v *visit) { v.w.store.connections[v.id].Config["clientId"] = "other" }, 409, "has changed"},
		{"changed token URL", func(v *visit) { v.w.store.connections[v.id].Config["tokenUrl"] = v.p.URL + "/evil" }, 409, "has changed"},
		{"changed hosts", func(v *visit) { v.w.store.connections[v.id].Config["hosts"] = []any{"evil.example"} }, 409, "has changed"},
		{"deleted", func(v *visit) { delete(v.w.store.connections, v.id) }, 400, "Unknown sign-in"},
		{"changed type", func(v *visit) { v.w.store.connections[v.id].Type = blueprint.ConnectionHTTP }, 409, "has changed"},
		{"the service is unreachable", func(v *visit) { v.p.Close() }, 502, "cannot reach 127.0.0.1"},
		{"the service fails", func(v *visit) { v.p.answer = status(500) }, 502, "status 500"},
		{"the service responds without a body", func(v *visit) { v.p.answer = status(200) }, 502, "did not answer a token request"},
		{"the service redirects", func(v *visit) { v.p.answer = redirect(v.p.URL + "/api") }, 502, "redirected"},
		{"the service responds with choices", func(v *visit) { v.p.answer = status(300) }, 502, "redirected"},
		{"the service redirects to a token", func(v *visit) {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"access_token": "a"}`)
			}))
			v.w.t.Cleanup(other.Close)
			v.p.answer = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, other.URL, http.StatusSeeOther)
				return true
			}
		}, 502, "redirected"},
		{"a token that is no header value", func(v *visit) { v.p.answer = answer(`{"access_token": "a\nb"}`) }, 502, "cannot be used"},
		{"a token of another kind", func(v *visit) { v.p.kind = "DPoP" }, 502, "other than bearer"},
		{"store fails on save", func(v *visit) { v.w.store.fail = only("save") }, 500, "Internal error"},
		{"store fails on the connection", func(v *visit) { v.w.store.fail = only("connection") }, 500, "Internal error"},
		{"store fails on the read of the token", func(v *visit) { v.w.store.fail = only("token") }, 500, "Internal error"},
		{"store fails on take", func(v *visit) { v.w.store.fail = only("take") }, 500, "Internal error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			v := &visit{w: w, p: p, person: newPerson(browser).stop(), id: w.login(p, "")}
			address := w.paused(ann, v.id)
			_, text, _ := v.person.visit(t, address)
			_, _, header := v.person.visit(t, w.web.URL+linkIn(t, text))
			_, _, header = v.person.visit(t, header.Get("Location"))
			back, err := url.Parse(header.Get("Location"))
			if err != nil || back.Query().Get("code") == "" {
				t.Fatalf("sent to %s", header.Get("Location"))
			}
			v.back = back
			test.change(v)
			status, text, _ := v.person.visit(t, v.back.String())
			if status != test.status || !strings.Contains(text, test.want) || strings.Contains(text, "<b>") {
				t.Errorf("%d %s, want %v, %q in it and no \"<b>\"", status, text, test.status, test.want)
			}
			for _, secret := range []string{"code-1", "secret-code", p.secret, v.back.Query().Get("state")} {
				if secret != "" && (strings.Contains(text, secret) || strings.Contains(w.log.String(), secret)) {
					t.Errorf("%s is shown or logged: %s %s", secret, text, w.log)
				}
			}
			if len(w.resumed) > 0 || len(w.store.tokens) > 0 {
				t.Errorf("resumed %q with %d tokens, want none and none", w.resumed, len(w.store.tokens))
			}
		})
	}
}

// visit is a sign-in whose browser is about to follow the redirect back from the service.
type visit struct {
	w      *env
	p      *provider
	person *person
	id     string
	back   *url.URL // the callback
}

// set changes a parameter; "" removes it.
func (v *visit) set(name, value string) {
	query := v.back.Query()
	query.Set(name, value)
	if value == "" {
		query.Del(name)
	}
	v.back.RawQuery = query.Encode()
}

// Responses of /token.
func status(code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		return true
	}
}

func redirect(to string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		return true
	}
}

func answer(body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
		return true
	}
}

// only fails one method of the store.
func only(call string) func(string) error {
	return func(made string) error {
		if made == call {
			return errors.New("the disk has failed")
		}
		return nil
	}
}

// nth fails the nth call of one method of the store.
func nth(call string, n int) func(string) error {
	return func(made string) error {
		if made == call {
			n--
		}
		if made == call && n == 0 {
			return errors.New("the disk has failed")
		}
		return nil
	}
}

// A failure of the store while a sign-in begins is logged and shown without its text, and
// nothing else happens.
func TestStartStoreFailures(t *testing.T) {
	for _, call := range []string{"find", "connection", "token", "user", "begin"} {
		t.Run(call, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			address := w.paused(ann, w.login(p, ""))
			w.store.fail = only(call)
			agent := "node"
			if call == "user" { // read for the consent page
				agent = browser
			}
			status, text, _ := newPerson(agent).stop().visit(t, address)
			if status != 500 || !strings.Contains(text, "Internal error") || strings.Contains(text, "disk") {
				t.Errorf("got %d %s, want 500 without the error", status, text)
			}
			if !strings.Contains(w.log.String(), "the disk has failed") {
				t.Errorf("the log lacks the error: %s, want \"the disk has failed\" in it", w.log)
			}
			if len(w.resumed) > 0 || p.requests() > 0 {
				t.Errorf("resumed %q with %d token requests, want none", w.resumed, p.requests())
			}
		})
	}
}

// A failure after the client has gone is not logged.
func TestStartAfterDisconnect(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.store.fail = func(string) error { return ctx.Err() }
	w.service.Start(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, address, nil))
	if w.log.Len() > 0 {
		t.Errorf("logged %s, want nothing", w.log)
	}
}

// A refresh may replace the token while a sign-in is completed. The new sign-in replaces
// that, unless the token keeps changing.
func TestTokenChangesDuringSignIn(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes int
		status  int
	}{{"once", 1, 200}, {"four times", 4, 200}, {"again and again", 100, 500}} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			id := w.login(p, "")
			address := w.paused(ann, id)
			w.store.fail = func(call string) error {
				if call == "save" && test.changes > 0 {
					test.changes--
					w.store.tokens[id+ann] = fmt.Append(nil, test.changes)
				}
				return nil
			}
			status, text, _ := newPerson("node").visit(t, address)
			if status != test.status {
				t.Errorf("got %d %s, want %d", status, text, test.status)
			}
			signedIn := test.status == 200
			if got := bytes.Contains(w.store.tokens[id+ann], []byte("access-token-2")); got != signedIn {
				t.Errorf("the new token is stored: got %v, want %v", got, signedIn)
			}
			if got := len(w.resumed) == 1; got != signedIn {
				t.Errorf("resumed %q, want %v", w.resumed, signedIn)
			}
		})
	}
}

// If the store fails after a sign-in, the link can be opened again; a ticket that another
// request has taken does not matter.
func TestResumeStoreFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		fail   func(call string) error
		status int
	}{
		{"waiting", only("waiting"), 500},
		{"take", only("take"), 500},
		{"taken", func(call string) error {
			if call == "take" {
				return blueprint.Errorf(blueprint.CodeNotFound, "there is no such sign-in")
			}
			return nil
		}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			address := w.twoTickets(p)
			w.pass(time.Minute)
			w.store.fail = test.fail
			if status, text, _ := newPerson("node").visit(t, address); status != test.status {
				t.Errorf("got %d %s, want %d", status, text, test.status)
			}
		})
	}
}

// twoTickets opens tickets of two runs, signs in with one and returns the URL of the other.
func (w *env) twoTickets(p *provider) string {
	w.t.Helper()
	id := w.login(p, "")
	address, other := w.paused(ann, id), w.pause(ann, id, "exec_2", "a").Await.URL
	if status, text, _ := newPerson("node").visit(w.t, address); status != 200 {
		w.t.Fatalf("got %d %s, want 200", status, text)
	}
	return other
}

// Tickets of the last minute stay valid after a sign-in, because their runs may not be
// paused yet.
func TestTicketsOfTheLastMinute(t *testing.T) {
	for age, want := range map[time.Duration]int{time.Minute - time.Millisecond: 2, time.Minute: 0} {
		t.Run(age.String(), func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			address := w.twoTickets(p)
			w.pass(age)
			if status, text, _ := newPerson("node").visit(t, address); status != 200 {
				t.Errorf("got %d %s, want 200", status, text)
			}
			if len(w.store.signIns) != want {
				t.Errorf("%d tickets are left, want %d", len(w.store.signIns), want)
			}
		})
	}
}

// A state is valid once, a ticket until the sign-in is completed.
func TestStateIsValidOnce(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	p.deny = "access_denied"
	id := w.login(p, "")
	address := w.paused(ann, id)
	person := newPerson("node").stop()
	back := func() string {
		_, _, header := person.visit(t, address)
		_, _, header = person.visit(t, header.Get("Location"))
		return header.Get("Location")
	}
	denied := back()
	if status, text, _ := person.visit(t, denied); status != 200 || !strings.Contains(text, "Access denied") {
		t.Errorf("denied: %d %s, want 200 and \"Access denied\" in it", status, text)
	}
	if status, _, _ := person.visit(t, denied); status != 400 || len(w.resumed) > 0 {
		t.Errorf("again: %d, resumed %q; want 400 and none", status, w.resumed)
	}
	p.deny = ""
	allowed := back()
	if status, text, _ := person.visit(t, allowed); status != 200 || !strings.Contains(text, "signed in") {
		t.Errorf("allowed: %d %s, want 200 and \"signed in\" in it", status, text)
	}
	if status, _, _ := person.visit(t, allowed); status != 400 || len(w.resumed) != 1 {
		t.Errorf("again: %d, resumed %q; want 400 and length 1", status, w.resumed)
	}
}

func TestInvalidTickets(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	address := w.paused(ann, id)
	_, ticket, _ := strings.Cut(address, "ticket=")
	for name, query := range map[string]string{
		"none":         "",
		"two":          "ticket=" + ticket + "&ticket=" + ticket,
		"truncated":    "ticket=" + ticket[:len(ticket)-1],
		"changed end":  "ticket=" + ticket[:len(ticket)-4] + "AAAA",
		"longer":       "ticket=" + ticket + "A",
		"not base64":   "ticket=" + strings.Repeat("!", len(ticket)),
		"far too long": "ticket=" + strings.Repeat("A", 20<<10),
		"not a query":  "%zz",
	} {
		t.Run(name, func(t *testing.T) {
			if status, text, _ := newPerson("node").visit(t, w.web.URL+"/oauth/start?"+query); status != 400 || !strings.Contains(text, "Invalid or expired link") {
				t.Errorf("%d %s, want 400 and \"Invalid or expired link\" in it", status, text)
			}
		})
	}
	w.pass(31 * 24 * time.Hour)
	if status, _, _ := newPerson("node").visit(t, address); status != 400 {
		t.Errorf("after a month: %d, want 400", status)
	}
	if p.serial > 0 || len(w.resumed) > 0 {
		t.Error("a client was redirected to the service")
	}
}

// All runs of the user that wait for the connection resume, no others.
func TestAllWaitingRunsResume(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.add("org:"+bob, blueprint.ConnectionOAuth2, `{"flow": "authorization_code", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
	other := w.login(p, "")
	ask := func(user, id, execution, address string) string {
		_, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: id, UserID: user, ExecutionID: execution, Address: address})
		var pause *blueprint.Pause
		if !errors.As(err, &pause) {
			t.Fatal(err)
		}
		return pause.Await.URL
	}
	address := ask(ann, id, "exec_1", "a")
	ask(ann, id, "exec_1", "loop[3]/b")
	ask(ann, id, "exec_2", "a")
	ask(ann, id, "exec_2", "a")
	ask(ann, id, "", "")
	ask(bob, id, "exec_3", "a")
	ask(ann, other, "exec_4", "a")
	w.pass(time.Hour)
	w.refuse = errors.New("the disk has failed")
	if status, text, _ := newPerson("node").visit(t, address); status != 200 || !strings.Contains(text, "could not be resumed") {
		t.Errorf("%d %s, want 200 and \"could not be resumed\" in it", status, text)
	}
	w.refuse, w.resumed = nil, nil
	if status, text, _ := newPerson("node").visit(t, address); status != 200 || !strings.Contains(text, "signed in") {
		t.Errorf("%d %s, want 200 and \"signed in\" in it", status, text)
	}
	slices.Sort(w.resumed)
	if got := strings.Join(w.resumed, " "); got != "exec_1/a exec_1/loop[3]/b exec_2/a" {
		t.Errorf("resumed %s, want exec_1/a exec_1/loop[3]/b exec_2/a", got)
	}
	if len(w.store.signIns) != 2 {
		t.Errorf("%d sign-ins are left, want 2", len(w.store.signIns))
	}
	w.paused(bob, id) // a token belongs to one user
	if status, _, _ := newPerson("node").visit(t, address); status != 400 {
		t.Errorf("the address afterwards: %d, want 400", status)
	}
	if bytes.Contains(w.store.tokens[id+ann], []byte(p.secret)) {
		t.Error("the client's secret is stored with the token")
	}
}

func TestTooManySignIns(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	person := newPerson("node").stop()
	for range 100 {
		if status, text, _ := person.visit(t, address); status != http.StatusSeeOther {
			t.Fatalf("%d %s, want %v", status, text, http.StatusSeeOther)
		}
	}
	if status, _, _ := person.visit(t, address); status != 429 {
		t.Errorf("one too many: %d, want 429", status)
	}
	w.pass(10 * time.Minute)
	if status, _, _ := person.visit(t, address); status != http.StatusSeeOther {
		t.Errorf("later: %d, want %v", status, http.StatusSeeOther)
	}
}

// A HEAD request changes nothing.
func TestHEADDoesNothing(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	person := newPerson("node").stop()
	_, _, header := person.visit(t, address)
	_, _, header = person.visit(t, header.Get("Location"))
	for _, visited := range []string{address, header.Get("Location")} {
		response, err := person.Head(visited)
		if err != nil || response.StatusCode != 400 {
			t.Errorf("%v %v, want StatusCode 400", response, err)
		}
	}
	if status, _, _ := person.visit(t, header.Get("Location")); status != 200 || len(w.store.tokens) != 1 {
		t.Errorf("%d, want 200 and length 1", status)
	}
}

// Two sign-ins in one browser do not interfere.
func TestTwoSignInsInOneBrowser(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	first, second := w.paused(ann, w.login(p, "")), w.paused(ann, w.login(p, ""))
	person := newPerson(browser)
	_, one, _ := person.visit(t, first)
	_, two, _ := person.visit(t, second)
	for _, page := range []string{one, two} {
		if status, text, _ := person.visit(t, w.web.URL+linkIn(t, page)); status != 200 || !strings.Contains(text, "You are signed in") {
			t.Errorf("%d %s, want 200 and \"You are signed in\" in it", status, text)
		}
	}
	if len(w.store.tokens) != 2 {
		t.Errorf("%d tokens, want 2", len(w.store.tokens))
	}
}

// If the user signs in while another run is about to ask for it, that run does not pause.
func TestSignInJustBeforeRunAsks(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	address := w.paused(ann, id)
	done := false
	w.store.fail = func(call string) error {
		if call == "ticket" && !done {
			done = true
			w.store.mu.Unlock()
			defer w.store.mu.Lock()
			if status, text, _ := newPerson("node").visit(t, address); status != 200 {
				t.Errorf("%d %s, want 200", status, text)
			}
		}
		return nil
	}
	if open := w.mustOpen(ann, id); !done || !open.SignIn {
		t.Errorf("%v %+v", done, open)
	}
}
