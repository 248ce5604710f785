package connections_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// signedIn returns a connection of ann for which she has signed in.
func (w *env) signedIn(p *provider, more string) string {
	w.t.Helper()
	id := w.login(p, more)
	if status, text, _ := newPerson("node").visit(w.t, w.paused(ann, id)); status != 200 {
		w.t.Fatalf("%d %s", status, text)
	}
	return id
}

func grants(p *provider) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []string
	for _, request := range p.received {
		kinds = append(kinds, request.Get("grant_type"))
	}
	return strings.Join(kinds, " ")
}

func TestRefresh(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(p *provider)
		passes time.Duration
		later  func(w *env, p *provider)
		grants string // grant types requested after the sign-in
		want   string // status of the API, or the code of a failure
	}{
		{"still valid", nil, 58 * time.Minute, nil, "", "200"},
		{"about to expire", nil, 59 * time.Minute, nil, "refresh_token", "200"},
		{"expired", nil, 24 * time.Hour, nil, "refresh_token", "200"},
		{"short lifetime", func(p *provider) { p.expire = 8 }, 6 * time.Second, nil, "refresh_token", "200"},
		{"short lifetime, still valid", func(p *provider) { p.expire = 8 }, 5 * time.Second, nil, "", "200"},
		{"without an expiry", func(p *provider) { p.expire = 0 }, 24 * 365 * time.Hour, nil, "", "200"},
		{"expiry in a form-encoded response", func(p *provider) { p.form = true }, 59 * time.Minute, nil, "refresh_token", "200"},
		{"revoked", nil, time.Hour, func(_ *env, p *provider) { p.revoke() }, "refresh_token", "pause"},
		{"no refresh token", func(p *provider) { p.fixed = true }, time.Hour, nil, "", "pause"},
		{"no refresh token, in its last second", func(p *provider) { p.fixed = true }, time.Hour - time.Second, nil, "", "200"},
		{"unavailable, in its last minute", nil, time.Hour - time.Second, func(_ *env, p *provider) { p.answer = status(503) }, "refresh_token", "200"},
		{"unavailable", nil, time.Hour, func(_ *env, p *provider) { p.answer = status(503) }, "refresh_token", "token_refused"},
		{"another secret", nil, time.Hour, func(_ *env, p *provider) { p.secret = "new" }, "refresh_token", "token_refused"},
		{"empty response", nil, time.Hour, func(_ *env, p *provider) { p.answer = answer(`{}`) }, "refresh_token", "token_refused"},
		{"changed hosts", nil, 0, func(w *env, _ *provider) {
			for _, c := range w.store.connections {
				c.Config["hosts"] = []any{"evil.example"}
			}
		}, "", "pause"},
		{"store fails on save", nil, time.Hour, func(w *env, _ *provider) { w.store.fail = only("save") }, "refresh_token", "INTERNAL_SERVER_ERROR"},
		{"store fails on delete", nil, time.Hour, func(w *env, p *provider) { p.revoke(); w.store.fail = only("delete") }, "refresh_token", "INTERNAL_SERVER_ERROR"},
		{"store fails on the read before a refresh", nil, time.Hour, func(w *env, _ *provider) { w.store.fail = nth("token", 2) }, "", "INTERNAL_SERVER_ERROR"},
		{"store fails on the read before a delete", nil, time.Hour, func(w *env, p *provider) { p.revoke(); w.store.fail = nth("token", 3) }, "refresh_token", "INTERNAL_SERVER_ERROR"},
		{"store fails on read", nil, 0, func(w *env, _ *provider) { w.store.fail = only("token") }, "", "INTERNAL_SERVER_ERROR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			if test.change != nil {
				test.change(p)
			}
			id := w.signedIn(p, "")
			before := w.store.tokens[id+ann]
			w.pass(test.passes)
			if test.later != nil {
				test.later(w, p)
			}
			open, err := w.open(ann, id)
			got := failure(err)
			var pause *blueprint.Pause
			switch {
			case errors.As(err, &pause):
				got = "pause"
			case err == nil:
				status, _ := w.get(open, p.URL+"/api")
				got = map[int]string{200: "200", 401: "401"}[status]
			}
			if got != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
			if got := strings.TrimSpace(strings.TrimPrefix(grants(p), "authorization_code")); got != test.grants {
				t.Errorf("requested %q, want %q", got, test.grants)
			}
			if same := bytes.Equal(w.store.tokens[id+ann], before); same != (test.grants == "" || test.want != "200" && test.want != "pause" || strings.HasPrefix(test.name, "unavailable")) && test.name != "no refresh token" {
				t.Errorf("the token is unchanged: %v, want %v", same, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "token-") || strings.Contains(err.Error(), p.secret)) {
				t.Errorf("the error contains a secret: %v", err)
			}
			w.noSecrets(p)
		})
	}
}

// A service that issues a refresh token only once expects it in all refreshes.
func TestRefreshTokenIsKept(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	p.fixed = true
	for range 2 {
		p.refresh["refresh-token-2"] = true
		w.pass(time.Hour)
		w.mustOpen(ann, id)
	}
	for _, request := range p.received[1:] {
		if got := request.Get("refresh_token"); got != "refresh-token-2" {
			t.Errorf("refreshed with %q, want %q", got, "refresh-token-2")
		}
	}
}

// Concurrent opens with an expired token share one refresh, and the new token is stored
// before it is used.
func TestConcurrentRefreshes(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	w.pass(2 * time.Hour)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			open, err := w.open(ann, id)
			if err != nil {
				t.Error(err)
				return
			}
			w.store.mu.Lock()
			stored := bytes.Contains(w.store.tokens[id+ann], []byte(open.Secrets[len(open.Secrets)-1]))
			w.store.mu.Unlock()
			if status, _ := w.get(open, p.URL+"/api"); status != 200 || !stored {
				t.Errorf("%d, stored: %v", status, stored)
			}
		})
	}
	group.Wait()
	if got := grants(p); got != "authorization_code refresh_token" {
		t.Errorf("requested %s, want authorization_code refresh_token", got)
	}
}

// Of two processes that find a token expired, one refreshes it, and the other waits for the
// new token: a refresh token can be used once.
func TestRefreshByTwoProcesses(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	w.pass(time.Hour)
	waits := make(chan struct{})
	w.store.waits = func() { close(waits) }
	p.answer = func(http.ResponseWriter, *http.Request) bool { // until the second waits
		<-waits
		return false
	}
	var group sync.WaitGroup
	for _, process := range []*env{w, w.process()} {
		group.Go(func() {
			if open, err := process.open(ann, id); err != nil {
				t.Errorf("open: %v", err)
			} else if status, _ := process.get(open, p.URL+"/api"); status != http.StatusOK {
				t.Errorf("status %d, want %d", status, http.StatusOK)
			}
		})
	}
	group.Wait()
	if got := grants(p); got != "authorization_code refresh_token" {
		t.Errorf("requested %s, want one refresh", got)
	}
}

// A cancelled caller does not cancel the refresh for others, and the new token is stored.
func TestRefreshOutlivesItsCaller(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	w.pass(2 * time.Hour)
	arrived, release := make(chan bool), make(chan bool)
	p.answer = func(http.ResponseWriter, *http.Request) bool {
		arrived <- true
		<-release
		return false
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := w.service.Open(ctx, blueprint.ConnectionUse{ConnectionID: id, UserID: ann})
		first <- err
	}()
	<-arrived
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v, want %v", err, context.Canceled)
	}
	second := make(chan error)
	go func() {
		_, err := w.open(ann, id)
		second <- err
	}()
	close(release)
	if err := <-second; err != nil {
		t.Error(err)
	}
	if got := grants(p); got != "authorization_code refresh_token" {
		t.Errorf("requested %s, want authorization_code refresh_token", got)
	}
}

// Another process may refresh or replace the token at the same time.
func TestTokenChangedConcurrently(t *testing.T) {
	for name, invalid := range map[string]bool{"while it is saved": false, "while the service revokes the old one": true} {
		t.Run(name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			id := w.signedIn(p, "")
			old := w.store.tokens[id+ann]
			w.pass(2 * time.Hour)
			p.answer = func(w2 http.ResponseWriter, _ *http.Request) bool {
				p.answer = nil
				p.serial++
				fresh := strings.NewReplacer("access-token-2", "access-token-elsewhere", "2026-03-01T13", "2026-03-01T20", "refresh-token-2", "refresh-token-elsewhere").Replace(string(old))
				p.access["access-token-elsewhere"] = true
				w.store.mu.Lock()
				w.store.tokens[id+ann] = []byte(fresh)
				w.store.mu.Unlock()
				if invalid {
					clear(p.refresh)
				}
				return false
			}
			open, err := w.open(ann, id)
			if err != nil || !slices.Contains(open.Secrets, "access-token-elsewhere") || !bytes.Contains(w.store.tokens[id+ann], []byte("elsewhere")) {
				t.Errorf("%v %+v", err, open)
			}
		})
	}
}

// Renew gets a new token after a service revoked the current one early.
func TestRenew(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	var secrets []string
	open, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: id, UserID: ann, ExecutionID: "exec_1", Address: "node", OnSecret: func(secret string) { secrets = append(secrets, secret) }})
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	clear(p.access)
	p.mu.Unlock()
	if status, _ := w.get(open, p.URL+"/api"); status != 401 {
		t.Errorf("%d, want 401", status)
	}
	if err := open.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.get(open, p.URL+"/api"); status != 200 || len(secrets) != 1 || !bytes.Contains(w.store.tokens[id+ann], []byte(secrets[0])) {
		t.Errorf("%d, new secrets %q", status, secrets)
	}
	p.revoke()
	var pause *blueprint.Pause
	if err := open.Renew(t.Context()); !errors.As(err, &pause) || len(w.store.tokens) > 0 {
		t.Errorf("%v with %d tokens, want none", err, len(w.store.tokens))
	}
	p.fixed = true
	if status, text, _ := newPerson("node").visit(t, pause.Await.URL); status != 200 {
		t.Fatalf("%d %s, want 200", status, text)
	}
	if err := w.mustOpen(ann, id).Renew(t.Context()); !errors.As(err, &pause) || len(w.store.tokens) > 0 {
		t.Errorf("%v with %d tokens, want none", err, len(w.store.tokens))
	}
}

// A token that expires while a node runs is refreshed. If that needs a sign-in, the attempt
// fails and the next one asks for it.
func TestTokenExpiresDuringNode(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.signedIn(p, "")
	open := w.mustOpen(ann, id)
	w.pass(2 * time.Hour)
	if status, _ := w.get(open, p.URL+"/api"); status != 200 {
		t.Errorf("%d, want 200", status)
	}
	w.pass(2 * time.Hour)
	p.revoke()
	request, _ := http.NewRequest(http.MethodGet, p.URL+"/api", nil)
	if err := open.Authorize(t.Context(), request); failure(err) != "token_refused" || len(request.Header) > 0 {
		t.Errorf("%v %v, want token_refused and none", err, request.Header)
	}
	w.paused(ann, id)
}

func TestClientCredentials(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.add("org:"+ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret", "scopes": ["a", "b"]}`)
	for range 3 {
		for _, user := range []string{ann, bob} {
			open := w.mustOpen(user, id)
			if status, _ := w.get(open, p.URL+"/api"); status != 200 || open.SignIn || open.Auth != "oauth2" {
				t.Errorf("%d %+v, want 200, not SignIn and Auth oauth2", status, open)
			}
		}
	}
	if p.requests() != 1 || p.received[0].Get("scope") != "a b" || len(w.store.tokens) > 0 {
		t.Errorf("requested %v, stored %d; want requests 1, scope a b and none", p.received, len(w.store.tokens))
	}
	w.pass(59 * time.Minute)
	open := w.mustOpen(ann, id)
	p.revoke()
	if err := open.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	if status, _ := w.get(open, p.URL+"/api"); status != 200 || p.requests() != 3 {
		t.Errorf("%d after %d requests, want 200 and 3", status, p.requests())
	}
	w.store.connections[id].Config["clientSecret"] = "wrong" // another client: the cached token is not its own
	if _, err := w.open(ann, id); failure(err) != "token_refused" || !strings.Contains(err.Error(), "check clientId and clientSecret") {
		t.Errorf("%v, want token_refused and \"check clientId and clientSecret\" in it", err)
	}
	p.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		return true
	}
	var f *blueprint.Failure
	if _, err := w.open(ann, id); !errors.As(err, &f) || f.RetryAfter != 7*time.Second || f.Permanent || !f.NotSent {
		t.Errorf("%+v, want RetryAfter %v, not Permanent and NotSent", f, 7*time.Second)
	}
}

// A public client sends no secret. For other clients, the style that worked is used again.
func TestClientAuthentication(t *testing.T) {
	for _, test := range []struct {
		name, secret string
		inBody       bool
		requests     int // for two tokens
	}{{"in the header", "s3cret", false, 2}, {"in the body", "s3cret!", true, 3}, {"public", "", true, 2}} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			p.secret, p.inBody, p.expire = test.secret, test.inBody, 60
			config := `{"flow": "client_credentials", "tokenUrl": "` + p.URL + `/token", "clientId": "the-client"`
			if test.secret != "" {
				config += `, "clientSecret": "` + test.secret + `"`
			}
			id := w.add(ann, blueprint.ConnectionOAuth2, config+"}")
			w.mustOpen(ann, id)
			w.pass(time.Minute)
			w.mustOpen(ann, id)
			if p.requests() != test.requests {
				t.Errorf("%d requests, want %v", p.requests(), test.requests)
			}
		})
	}
}

// A public client that gets a secret is another client: the service may accept the secret in
// the header alone.
func TestPublicClientGetsSecret(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	p.secret = ""
	id := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client"}`)
	w.mustOpen(ann, id)
	p.secret = "the-client-secret"
	w.store.connections[id].Config["clientSecret"] = p.secret
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		_, _, basic := r.BasicAuth()
		if !basic {
			w.WriteHeader(http.StatusBadRequest)
		}
		return !basic
	}
	w.mustOpen(ann, id)
}

// The oauth2 connection decides where its tokens may go. A connection that refers to it may
// add hosts only if its creator could have added them to the oauth2 connection.
func TestTokenHosts(t *testing.T) {
	const elsewhere = "http://localhost:1/"
	for _, test := range []struct {
		name, owner, loginOwner, flow, hosts string
		want                                 string
	}{
		{"both ann's", ann, ann, "authorization_code", "", ""},
		{"both ann's, for the client", ann, ann, "client_credentials", "", ""},
		{"both created by ann for the organization", "org:" + ann, "org:" + ann, "client_credentials", "", ""},
		{"ann's own token", ann, "org:" + bob, "authorization_code", "", ""},
		{"the organization's token, used by ann's connection", ann, "org:" + bob, "client_credentials", "", "host_not_allowed"},
		{"the same, to an allowed host", ann, "org:" + bob, "client_credentials", `, "hosts": ["localhost"]`, ""},
		{"ann's own token, used by bob's connection", "org:" + bob, ann, "authorization_code", "", "host_not_allowed"},
		{"ann's token for the organization's, used by bob's", "org:" + bob, "org:" + ann, "authorization_code", "", "host_not_allowed"},
		{"ann's connection for another organization", "org2:" + ann, "org:" + ann, "client_credentials", "", "host_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			login := w.add(test.loginOwner, blueprint.ConnectionOAuth2, `{"flow": "`+test.flow+`", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"`+test.hosts+`}`)
			id := w.add(test.owner, blueprint.ConnectionHTTP, `{"auth": {"type": "oauth2", "connectionId": "`+login+`"}, "hosts": ["localhost", "127.0.0.1"]}`)
			if test.flow == "authorization_code" {
				if status, text, _ := newPerson("node").visit(t, w.paused(ann, id)); status != 200 {
					t.Fatalf("%d %s, want 200", status, text)
				}
			}
			open := w.mustOpen(ann, id)
			request, _ := http.NewRequest(http.MethodGet, elsewhere, nil)
			if got := failure(open.Authorize(t.Context(), request)); got != test.want || (got == "") != strings.HasPrefix(request.Header.Get("Authorization"), "Bearer access-token-") {
				t.Errorf("%q %v, want %q", got, request.Header, test.want)
			}
			if !slices.Contains(open.Secrets, "the-client-secret") || open.Type != blueprint.ConnectionHTTP {
				t.Errorf("%+v, want \"the-client-secret\" in it and Type %v", open, blueprint.ConnectionHTTP)
			}
			request, _ = http.NewRequest(http.MethodGet, "https://else.example/", nil)
			if got := failure(open.Authorize(t.Context(), request)); got != "host_not_allowed" {
				t.Errorf("elsewhere %q, want host_not_allowed", got)
			}
		})
	}
}
