package connections_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// provider is an OAuth service with /authorize, /token and /api, which requires its tokens.
// Refresh tokens can be used once.
type provider struct {
	*httptest.Server
	secret string // "" for public clients
	inBody bool   // accept the secret only in the body
	expire int    // expires_in in seconds; 0 for none
	kind   string // token_type
	form   bool   // respond with forms, not JSON
	fixed  bool   // issue no refresh tokens
	deny   string // error of the authorization response
	iss    string // issuer of the authorization response

	mu       sync.Mutex
	answer   func(w http.ResponseWriter, r *http.Request) bool // replaces /token if it returns true
	codes    map[string]url.Values                             // authorization requests by code
	refresh  map[string]bool
	access   map[string]bool
	received []url.Values // bodies of /token
	serial   int
}

func newProvider(t testing.TB) *provider {
	p := &provider{secret: "the-client-secret", kind: "Bearer", expire: 3600, codes: map[string]url.Values{}, refresh: map[string]bool{}, access: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("/api", p.api)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	query := r.URL.Query()
	back := url.Values{"state": query["state"]}
	if p.iss != "" {
		back.Set("iss", p.iss)
	}
	if p.deny != "" {
		back.Set("error", p.deny)
		back.Set("error_description", "<script>alert(1)</script>")
	} else {
		p.serial++
		code := fmt.Sprintf("code-%d", p.serial)
		p.codes[code] = query
		back.Set("code", code)
	}
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.ParseForm()
	p.received = append(p.received, r.PostForm)
	if p.answer != nil && p.answer(w, r) {
		return
	}
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error": %q, "error_description": "you sent %s"}`, code, strings.ReplaceAll(r.PostForm.Encode(), `"`, ""))
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if id != "the-client" || secret != p.secret || basic && p.inBody {
		refuse("invalid_client")
		return
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked, ok := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		challenge := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || asked.Get("code_challenge_method") != "S256" ||
			asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if !p.refresh[r.PostForm.Get("refresh_token")] {
			refuse("invalid_grant")
			return
		}
		delete(p.refresh, r.PostForm.Get("refresh_token"))
	case "client_credentials":
	default:
		refuse("unsupported_grant_type")
		return
	}
	p.issue(w, r.PostForm.Get("grant_type") != "client_credentials" && !p.fixed)
}

// issue responds with new tokens.
func (p *provider) issue(w http.ResponseWriter, refreshable bool) {
	p.serial++
	answer := url.Values{"access_token": {fmt.Sprintf("access-token-%d", p.serial)}, "token_type": {p.kind}}
	p.access[answer.Get("access_token")] = true
	if refreshable {
		answer.Set("refresh_token", fmt.Sprintf("refresh-token-%d", p.serial))
		p.refresh[answer.Get("refresh_token")] = true
	}
	if p.expire > 0 {
		answer.Set("expires_in", fmt.Sprint(p.expire))
	}
	if p.form {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Fprint(w, answer.Encode())
		return
	}
	var parts []string
	for key := range answer {
		parts = append(parts, fmt.Sprintf("%q: %q", key, answer.Get(key)))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, "{"+strings.Join(parts, ", ")+"}")
}

func (p *provider) api(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok || !p.access[token] {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Fprint(w, "welcome")
}

// revoke revokes all tokens.
func (p *provider) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.access)
	clear(p.refresh)
}

// requests returns the number of token requests.
func (p *provider) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.received)
}
