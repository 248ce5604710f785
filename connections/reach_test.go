package connections_test

import (
	"net/http"
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

// Without hosts a token may be sent only to the ports of the connection's URLs. A name below
// localhost is not this machine.
func TestLoopbackPortsAndNames(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	login := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
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
