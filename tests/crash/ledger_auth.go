package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// tokenLife is the life of an access token, and tokenGrace the extra time for requests in
// flight at its end.
const (
	tokenLife  = 2 * time.Second
	tokenGrace = 2 * time.Second
)

// credentials reads a request and returns its credentials, its body, and what is wrong with
// the credentials: they must be those of the connection, only in the Authorization header,
// or absent for "".
func (l *ledger) credentials(r *http.Request, connection string) (shown string, body []byte, wrong string) {
	body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(bytes.NewReader(body))
	shown = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	elsewhere := r.URL.String() + "\n" + string(body)
	for name, values := range r.Header {
		if name != "Authorization" {
			elsewhere += "\n" + strings.Join(values, "\n")
		}
	}
	switch {
	case connection == "" && shown != "":
		wrong = fmt.Sprintf("%s %s got credentials it must not get: %s", r.Host, r.URL.Path, shown)
	case connection != "" && !l.valid(connection, shown):
		wrong = fmt.Sprintf("%s %s, for the connection %s, got the credentials %q", r.Host, r.URL.Path, connection, shown)
	case strings.Contains(elsewhere, canary):
		wrong = fmt.Sprintf("%s %s got a secret outside of its Authorization header: %.300s", r.Host, r.URL.Path, findSecret(elsewhere))
	}
	return shown, body, wrong
}

// valid reports whether credentials are those of a connection.
func (l *ledger) valid(connection, shown string) bool {
	switch connection {
	case "guarded":
		return guardedTokens.MatchString(shown)
	case "identity":
		l.mu.Lock()
		defer l.mu.Unlock()
		until, known := l.tokens[shown]
		return known && now().Before(until.Add(tokenGrace))
	}
	return shown == secretOf(connection)
}

// token is an OAuth token endpoint: it issues access tokens for the client secret.
func (l *ledger) token(w http.ResponseWriter, r *http.Request) {
	id, secret, inHeader := r.BasicAuth()
	r.ParseForm()
	if !inHeader {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	} else if plain, err := url.QueryUnescape(secret); err == nil {
		secret = plain
	}
	if id != "torture" || secret != secretOf("identity") || r.PostForm.Get("grant_type") != "client_credentials" {
		l.recordUnkeyed("token", fmt.Sprintf("a token was asked for by %q with the secret %q", id, secret))
		reply(w, http.StatusUnauthorized, object{"error": "invalid_client"})
		return
	}
	l.mu.Lock()
	token := fmt.Sprintf("%saccess-%d-5fc1b2", canary, len(l.tokens)+1)
	l.tokens[token] = now().Add(tokenLife)
	l.mu.Unlock()
	l.recordUnkeyed("token", "")
	time.Sleep(time.Duration(hashOf(token)%80) * time.Millisecond)
	reply(w, http.StatusOK, object{"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLife / time.Second)})
}

// redirect receives a call with credentials and redirects it to the other host in a way that
// drops the body: a redirect that keeps it would not be followed.
func (l *ledger) redirect(w http.ResponseWriter, r *http.Request) {
	_, _, wrong := l.credentials(r, "guarded")
	e := entry{Kind: "away", Key: r.Header.Get("Idempotency-Key"), Node: r.URL.Query().Get("node"), Wrong: wrong}
	if _, ok := l.handle(r.Context(), &e, ""); ok {
		http.Redirect(w, r, l.at.otherHost+"/landed?"+url.Values{"node": {e.Node}, "key": {e.Key}}.Encode(), http.StatusSeeOther)
	}
}

// otherHost serves the other host, which must never receive credentials.
func (l *ledger) otherHost(w http.ResponseWriter, r *http.Request) {
	_, _, wrong := l.credentials(r, "")
	query := r.URL.Query()
	if r.URL.Path != "/landed" {
		l.recordUnkeyed("lost", fmt.Sprintf("the other host was asked for %s; %s", r.URL.Path, wrong))
		http.NotFound(w, r)
		return
	}
	e := entry{Kind: "landed", Key: query.Get("key"), Node: query.Get("node"), Wrong: wrong}
	if _, ok := l.handle(r.Context(), &e, ""); ok {
		reply(w, e.Status, object{"landed": true})
	}
}

// probe returns the handler for tests of a connection.
func (l *ledger) probe(connection string, answer any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _, wrong := l.credentials(r, connection)
		l.recordUnkeyed("probe", wrong)
		reply(w, http.StatusOK, answer)
	}
}

// root is requested by tests of connections to a host, with the credentials of one of two
// connections. Nothing else requests it.
func (l *ledger) root(w http.ResponseWriter, r *http.Request) {
	shown, _, wrong := l.credentials(r, "guarded")
	if l.valid("identity", shown) {
		wrong = ""
	}
	if r.URL.Path != "/" && wrong == "" {
		wrong = "credentials came to " + r.URL.Path
	}
	l.recordUnkeyed("probe", wrong)
	reply(w, http.StatusOK, object{})
}
