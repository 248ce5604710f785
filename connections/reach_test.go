package connections_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// An admin of an organization must not be able to send a colleague's tokens to other hosts
// by changing one of two connections.
func TestTokenHostsAfterConfigChange(t *testing.T) {
	for _, test := range []struct {
		name                        string
		naming, login               string // who configured them last
		namingCreator, loginCreator string
		want                        string
	}{
		{"as ann made them", ann, ann, ann, ann, ""},
		{"bob moved the naming one", bob, ann, ann, ann, "host_not_allowed"},
		{"bob changed a part of it", "", ann, ann, ann, "host_not_allowed"},
		{"bob changed a part of both", "", "", ann, ann, "host_not_allowed"},
		{"bob sent all of both", bob, bob, ann, ann, "host_not_allowed"},
		{"bob changed the oauth2 one", ann, bob, ann, ann, "host_not_allowed"},
		{"ann sent all of one that bob made", ann, ann, bob, ann, ""},
		{"bob's own, as ann sent it", ann, ann, ann, bob, "host_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, kind := range []blueprint.ConnectionType{blueprint.ConnectionHTTP, blueprint.ConnectionMCPServer} {
				w, p := newEnv(t), newProvider(t)
				login := w.add("org:"+test.loginCreator, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
				where := map[blueprint.ConnectionType]string{blueprint.ConnectionHTTP: `"hosts": ["localhost"]`, blueprint.ConnectionMCPServer: `"url": "http://localhost:1/"`}[kind]
				id := w.add("org:"+test.namingCreator, kind, `{"auth": {"type": "oauth2", "connectionId": "`+login+`"}, `+where+`}`)
				w.store.connections[id].ConfiguredBy, w.store.connections[login].ConfiguredBy = test.naming, test.login
				request, _ := http.NewRequest(http.MethodGet, "http://localhost:1/", nil)
				if got := failure(w.mustOpen(bob, id).Authorize(t.Context(), request)); got != test.want || (got == "") != (request.Header.Get("Authorization") != "") {
					t.Errorf("%s, %s: %q, want %q", test.name, kind, got, test.want)
				}
			}
		})
	}
}

// Hosts with ports limit a token to these ports. A name below localhost is not this machine.
func TestLoopbackPortsAndNames(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	login := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret", "hosts": ["`+strings.TrimPrefix(p.URL, "http://")+`"]}`)
	local := w.add(ann, blueprint.ConnectionHTTP, `{"auth": {"type": "bearer", "token": "t0ken"}, "hosts": ["*.localhost", "localhost", "a.localhost"]}`)
	for _, test := range []struct{ id, address, want string }{
		{login, p.URL + "/api", ""},
		{login, "http://127.0.0.1:1/", "host_not_allowed"},
		{login, strings.Replace(p.URL, "http:", "https:", 1), ""},
		{local, "http://localhost:1/", ""},
		{local, "http://a.localhost:1/", "host_not_allowed"},
		{local, "http://b.localhost/", "host_not_allowed"},
		{local, "https://b.localhost/", ""},
	} {
		t.Run(strings.Replace(test.address, strings.TrimPrefix(p.URL, "http:"), "//provider", 1), func(t *testing.T) {
			request, _ := http.NewRequest(http.MethodGet, test.address, nil)
			if got := failure(w.mustOpen(ann, test.id).Authorize(t.Context(), request)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Requests that name an oauth2 connection without hosts may send its token to any host, by
// https and not to a host that a response chooses.
func TestAnyHostWithoutHosts(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	const flow = `{"flow": "client_credentials", "clientId": "the-client", "clientSecret": "the-client-secret", "tokenUrl": "`
	free := w.add(ann, blueprint.ConnectionOAuth2, flow+p.URL+`/token"}`)
	empty := w.add(ann, blueprint.ConnectionOAuth2, flow+p.URL+`/token", "hosts": []}`)
	bound := w.add(ann, blueprint.ConnectionOAuth2, flow+p.URL+`/token", "hosts": ["api.example"]}`)
	shared := w.add("org:"+ann, blueprint.ConnectionOAuth2, flow+p.URL+`/token"}`)
	for name, test := range map[string]struct {
		id    string
		chain []string // the request and its redirects
		want  string   // for the last one
	}{
		"without hosts":                {free, []string{"https://api.example/"}, ""},
		"no hosts":                     {empty, []string{"https://api.example:8443/"}, ""},
		"plain http":                   {free, []string{"http://api.example/"}, "host_not_allowed"},
		"a redirect":                   {free, []string{"https://api.example/", "https://api.example/b"}, ""},
		"a redirect to another host":   {free, []string{"https://api.example/", "https://evil.example/"}, "host_not_allowed"},
		"a redirect to another port":   {free, []string{"https://api.example/", "https://api.example:8443/"}, "host_not_allowed"},
		"a redirect to plain http":     {free, []string{"https://api.example/", "http://api.example/"}, "host_not_allowed"},
		"redirects there and on":       {free, []string{"https://api.example/", "https://evil.example/", "https://evil.example/b"}, "host_not_allowed"},
		"a token of all members":       {shared, []string{"https://api.example/"}, "host_not_allowed"},
		"hosts":                        {bound, []string{"https://api.example/"}, ""},
		"hosts, another":               {bound, []string{"https://evil.example/"}, "host_not_allowed"},
		"hosts, a redirect to another": {bound, []string{"https://api.example/", "https://evil.example/"}, "host_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			var request *http.Request
			for _, address := range test.chain {
				next, err := http.NewRequest(http.MethodGet, address, nil)
				if err != nil {
					t.Fatal(err)
				}
				if request != nil {
					next.Response = &http.Response{Request: request}
				}
				request = next
			}
			if got := failure(w.mustOpen(ann, test.id).Authorize(t.Context(), request)); got != test.want || (got == "") != (request.Header.Get("Authorization") != "") {
				t.Errorf("%q with the header %q, want %q", got, request.Header.Get("Authorization"), test.want)
			}
		})
	}
}

// The client follows a redirect to another host without the token of a connection without
// hosts.
func TestAnyHostRedirect(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	shows := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "got %q", r.Header.Get("Authorization")) })
	elsewhere := httptest.NewServer(shows)
	defer elsewhere.Close()
	mux := http.NewServeMux()
	mux.Handle("/away", http.RedirectHandler(elsewhere.URL, http.StatusFound))
	mux.Handle("/here", http.RedirectHandler("/", http.StatusFound))
	mux.Handle("/", shows)
	api := httptest.NewServer(mux)
	defer api.Close()
	id := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
	for path, want := range map[string]string{"/": `got "Bearer access-token-`, "/here": `got "Bearer access-token-`, "/away": `got ""`} {
		t.Run(path, func(t *testing.T) {
			if status, body := w.get(w.mustOpen(ann, id), api.URL+path); status != http.StatusOK || !strings.HasPrefix(body, want) {
				t.Errorf("%d %s, want 200 and %s", status, body, want)
			}
		})
	}
}
