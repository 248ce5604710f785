package connections_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// The credentials of each type, their hosts and their secrets.
func TestOpen(t *testing.T) {
	const hosts = `"hosts": ["api.example", "127.0.0.1", "*.cloud.example", "other.example:8443"]`
	for _, test := range []struct {
		kind    blueprint.ConnectionType
		config  string
		address string
		want    string // URI and headers, or the code of a failure
		auth    string
		secrets string
	}{
		{"http", `{"auth": {"type": "none"}, ` + hosts + `}`, "http://api.example/x", "/x", "", ""},
		{"http", `{"auth": {"type": "none"}, ` + hosts + `}`, "https://else.example/x", "host_not_allowed", "", ""},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://api.example/x", "/x Authorization=Bearer t0ken", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://API.example:8443/x", "/x Authorization=Bearer t0ken", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "http://api.example/x", "host_not_allowed", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "http://127.0.0.1:81/x", "/x Authorization=Bearer t0ken", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://api.example.evil.example/", "host_not_allowed", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://a.b.cloud.example/", "/ Authorization=Bearer t0ken", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://cloud.example/", "host_not_allowed", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://other.example/", "host_not_allowed", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "bearer", "token": "t0ken"}, ` + hosts + `}`, "https://other.example:8443/", "/ Authorization=Bearer t0ken", "bearer", "t0ken"},
		{"http", `{"auth": {"type": "basic", "username": "me", "password": "pass:word"}, ` + hosts + `}`, "https://api.example/", "/ Authorization=Basic bWU6cGFzczp3b3Jk", "basic", "pass:word bWU6cGFzczp3b3Jk"},
		{"http", `{"auth": {"type": "header", "name": "x-key", "value": "v1"}, ` + hosts + `}`, "https://api.example/", "/ X-Key=v1", "api_key", "v1"},
		{"http", `{"auth": {"type": "query", "name": "k y", "value": "a&b"}, ` + hosts + `}`, "https://api.example/?z=1&k+y=mine&%6b%20y=2&y=%zz", "/?z=1&y=%zz&k+y=a%26b", "api_key", "a&b"},
		{"http", `{"auth": {"type": "query", "name": "k", "value": "v"}, ` + hosts + `}`, "https://api.example/", "/?k=v", "api_key", "v"},
		{"ai-provider", `{"provider": "openai", "apiKey": "sk-1"}`, "https://api.openai.com/v1/models", "/v1/models Authorization=Bearer sk-1", "api_key", "sk-1"},
		{"ai-provider", `{"provider": "openai", "apiKey": "sk-1"}`, "https://api.anthropic.com/v1/models", "host_not_allowed", "api_key", "sk-1"},
		{"ai-provider", `{"provider": "anthropic", "apiKey": "sk-2"}`, "https://api.anthropic.com/v1/messages", "/v1/messages Anthropic-Version=2023-06-01 X-Api-Key=sk-2", "api_key", "sk-2"},
		{"ai-provider", `{"provider": "openai", "apiKey": "sk-3", "baseUrl": "http://models.example:11434/v1"}`, "http://models.example:11434/v1", "/v1 Authorization=Bearer sk-3", "api_key", "sk-3"},
		{"ai-provider", `{"provider": "openai", "apiKey": "sk-3", "baseUrl": "https://models.example/v1"}`, "http://models.example:443/v1", "host_not_allowed", "api_key", "sk-3"},
		{"ai-provider", `{"provider": "openai", "apiKey": "sk-3", "baseUrl": "https://models.example/v1"}`, "https://models.example:8443/v1", "host_not_allowed", "api_key", "sk-3"},
		{"slack", `{"botToken": "xoxb-1"}`, "https://slack.com/api/chat.postMessage", "/api/chat.postMessage Authorization=Bearer xoxb-1", "bearer", "xoxb-1"},
		{"mcp-server", `{"url": "https://mcp.example/mcp", "auth": {"type": "bearer", "token": "t2"}}`, "https://mcp.example/mcp", "/mcp Authorization=Bearer t2", "bearer", "t2"},
		{"mcp-server", `{"url": "https://[2001:db8::1]/mcp"}`, "https://[2001:db8:0::1]/mcp", "/mcp", "", ""},
		{"smtp", `{"host": "mail.example", "port": 587, "username": "me", "password": "pw", "tls": "starttls", "from": "me@mail.example"}`, "", "", "basic", "pw"},
	} {
		t.Run(test.config+" "+test.address, func(t *testing.T) {
			w := newEnv(t)
			open := w.mustOpen(ann, w.add(ann, test.kind, test.config))
			if open.Auth != test.auth || strings.Join(open.Secrets, " ") != test.secrets || open.SignIn || open.Renew != nil {
				t.Errorf("%s: auth %q, secrets %q; want %v, %v, not SignIn and Renew nil", test.config, open.Auth, open.Secrets, test.auth, test.secrets)
			}
			if test.address == "" {
				if open.Authorize != nil || len(open.Hosts) > 0 {
					t.Errorf("%s: it has credentials for HTTP, want Authorize nil and none", test.config)
				}
				return
			}
			request, err := http.NewRequest(http.MethodGet, test.address, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "from the config")
			request.Header.Del("Authorization")
			got := failure(open.Authorize(context.Background(), request))
			if got == "" {
				got = request.URL.RequestURI()
				var headers []string
				for name := range request.Header {
					headers = append(headers, " "+name+"="+request.Header.Get(name))
				}
				slices.Sort(headers)
				got += strings.Join(headers, "")
			}
			if got != test.want {
				t.Errorf("%s at %s: %s, want %s", test.config, test.address, got, test.want)
			}
		})
	}
}

// A request whose Host differs from its URL gets no credentials.
func TestMismatchedHostHeader(t *testing.T) {
	w := newEnv(t)
	open := w.mustOpen(ann, w.add(ann, blueprint.ConnectionHTTP, `{"auth": {"type": "bearer", "token": "t0ken"}, "hosts": ["api.example"]}`))
	request := &http.Request{URL: &url.URL{Scheme: "https", Host: "api.example"}, Host: "evil.example", Header: http.Header{}}
	if err := open.Authorize(context.Background(), request); failure(err) != "host_not_allowed" || len(request.Header) > 0 {
		t.Errorf("%v %v, want host_not_allowed and none", err, request.Header)
	}
}

func TestUnusableConnections(t *testing.T) {
	w := newEnv(t)
	p := newProvider(t)
	theirs := w.add(bob, blueprint.ConnectionHTTP, `{"auth": {"type": "none"}, "hosts": ["api.example"]}`)
	theirLogin := w.add(bob, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client"}`)
	naming := func(id string) string {
		return w.add(ann, blueprint.ConnectionHTTP, `{"auth": {"type": "oauth2", "connectionId": "`+id+`"}, "hosts": ["api.example"]}`)
	}
	broken := func(kind blueprint.ConnectionType, config map[string]any) string {
		id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "x"}`)
		w.store.connections[id].Type, w.store.connections[id].Config = kind, config
		return id
	}
	for name, test := range map[string]struct{ id, want string }{
		"not a UUID":            {"slack", "NOT_FOUND"},
		"unknown":               {"20000000-0000-4000-8000-000000000000", "NOT_FOUND"},
		"another user's":        {theirs, "NOT_FOUND"},
		"refers to another's":   {naming(theirLogin), "connection_unavailable"},
		"refers to no oauth2":   {naming(naming(theirs)), "connection_unavailable"},
		"of an unknown type":    {broken("carrier-pigeon", nil), "connection_unavailable"},
		"without an address":    {broken("mcp-server", nil), "connection_unavailable"},
		"an unknown auth":       {broken("http", map[string]any{"auth": map[string]any{"type": "trust"}}), "connection_unavailable"},
		"a plain token address": {broken("oauth2", map[string]any{"flow": "client_credentials", "tokenUrl": "http://login.example/"}), "connection_unavailable"},
		"an unknown flow":       {broken("oauth2", map[string]any{"flow": "implicit", "tokenUrl": "https://login.example/"}), "connection_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			open, err := w.open(ann, test.id)
			if got := failure(err); got != test.want || open != nil {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	if p.requests() != 0 {
		t.Error("a token was requested")
	}
	if _, err := w.open("", theirs); failure(err) != "NOT_FOUND" {
		t.Errorf("without a user: %v, want NOT_FOUND", err)
	}
}
