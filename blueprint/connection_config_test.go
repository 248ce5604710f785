package blueprint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// configOf decodes a config.
func configOf(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value.(map[string]any)
}

// connections are valid configs by type.
var connections = map[blueprint.ConnectionType][]string{
	"ai-provider": {
		`{"provider":"openai","apiKey":"k"}`,
		`{"provider":"anthropic","baseUrl":"http://127.0.0.1:9/v1?x=y","apiKey":"k k"}`,
	},
	"mcp-server": {
		`{"url":"https://mcp.example.com/mcp"}`,
		`{"url":"http://[::1]:8080/","timeoutMs":1000,"auth":{"type":"none"}}`,
		`{"url":"https://xn--bcher-kva.example","auth":{"type":"oauth2","connectionId":"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"}}`,
	},
	"oauth2": {
		`{"flow":"client_credentials","tokenUrl":"https://id.example.com/token","clientId":"c","clientSecret":" s"}`,
		`{"flow":"authorization_code","authorizationUrl":"http://localhost:1/a","tokenUrl":"http://127.9.9.9/t","clientId":"c","scopes":["a","b:c/d"],"hosts":["api.example.com"]}`,
		`{"flow":"client_credentials","tokenUrl":"http://LOCALHOST/t","clientId":"c","scopes":[],"hosts":[]}`,
	},
	"http": {
		`{"auth":{"type":"none"},"hosts":["example.com"]}`,
		`{"auth":{"type":"bearer","token":"t"},"hosts":["example.com:8443","*.example.com","*.localhost","[::1]:80","10.0.0.1","a_b.example"]}`,
		`{"auth":{"type":"basic","username":"u","password":" p "},"hosts":["EXAMPLE.com"]}`,
		`{"auth":{"type":"header","name":"X-Key","value":"v"},"hosts":["*.a.example:443"]}`,
		`{"auth":{"type":"query","name":"api key","value":"v"},"hosts":["localhost"]}`,
	},
	"smtp":  {`{"host":"mail.example.com","port":587,"tls":"starttls","from":"Ada <ada@example.com>"}`, `{"host":"::1","port":25,"username":"u","password":"p","tls":"none","from":"a@b"}`},
	"slack": {`{"botToken":"xoxb-1"}`, `{"botToken":"xoxb-1","baseUrl":"https://slack.example.com/api/"}`},
}

func TestCheckConnectionAccepts(t *testing.T) {
	for _, kind := range blueprint.ConnectionTypes {
		if len(connections[kind]) == 0 {
			t.Errorf("no valid config of %s", kind)
		}
		for _, text := range connections[kind] {
			if issues := blueprint.CheckConnection(kind, configOf(t, text)); issues != nil {
				t.Errorf("%s %s: %v, want nil", kind, text, issues)
			}
		}
	}
}

func TestCheckConnectionRefuses(t *testing.T) {
	http := func(hosts string) string { return `{"auth":{"type":"none"},"hosts":` + hosts + `}` }
	auth := func(auth string) string { return `{"hosts":["a.example"],"auth":` + auth + `}` }
	oauth := func(rest string) string { return `{"flow":"client_credentials","clientId":"c",` + rest + `}` }
	slack := func(url string) string { return `{"botToken":"t","baseUrl":"` + url + `"}` }
	smtp := func(rest string) string { return `{"host":"h","port":1,"tls":"tls","from":"a@b",` + rest + `}` }
	for _, test := range []struct {
		kind         blueprint.ConnectionType
		config, want string // "path: part of the message", separated by " | "
	}{
		{"telnet", `{}`, `: unknown connection type "telnet"`},
		{"ai-provider", `{}`, "provider: required | apiKey: required"},
		{"ai-provider", `{"provider":"other","apiKey":5}`, "provider: must be one of openai, anthropic | apiKey: must be a string"},
		{"ai-provider", `{"provider":"openai","apiKey":"k","api_key":"x","Provider":1}`, "Provider: is unknown | api_key: is unknown; known are provider, baseUrl, apiKey"},
		{"ai-provider", `{"provider":"openai","apiKey":"k\n"}`, "apiKey: must not contain control"},
		{"ai-provider", `{"provider":"openai","apiKey":"k "}`, "apiKey: must not begin or end with white space"},
		{"ai-provider", `{"provider":"openai","apiKey":""}`, "apiKey: must not be empty"},
		{"ai-provider", `{"provider":"openai","apiKey":"` + strings.Repeat("k", 16385) + `"}`, "apiKey: must have at most 16384 bytes"},
		{"slack", slack("ftp://a.example"), "baseUrl: must begin with https:// or http://"},
		{"slack", slack("//a.example"), "baseUrl: must begin with"},
		{"slack", slack("https:a.example"), "baseUrl: must name a host"},
		{"slack", slack("https://"), "baseUrl: must name a host"},
		{"slack", slack("https:///x"), "baseUrl: must name a host"},
		{"slack", slack("https://u:p@a.example"), "baseUrl: must not contain a user"},
		{"slack", slack("https://@a.example"), "baseUrl: must not contain a user"},
		{"slack", slack("https://a.example/#x"), "baseUrl: must not have a fragment"},
		{"slack", slack("https://a.example/#"), "baseUrl: must not have a fragment"},
		{"slack", slack("https://a.example:/"), "baseUrl: must have a port"},
		{"slack", slack("https://a.example:70000"), "baseUrl: must have a port"},
		{"slack", slack("https://a.example\\\\@b.example"), "baseUrl: must be a URL"},
		{"slack", slack("https://a b.example"), "baseUrl: must be a URL"},
		{"slack", slack("https://bücher.example"), "baseUrl: write a host with letters beyond ASCII"},
		{"slack", slack("http://0x7f.1"), "baseUrl: write an IPv4 address"},
		{"slack", slack("http://2130706433/"), "baseUrl: write an IPv4 address"},
		{"slack", slack("http://a..b"), "baseUrl: a host consists of"},
		{"slack", slack("https://{{host}}/"), "baseUrl: must be a URL"},
		{"slack", slack("https://a.example/" + strings.Repeat("x", 2048)), "baseUrl: must have at most 2048 characters"},
		{"mcp-server", `{"url":"https://a.example","timeoutMs":0}`, "timeoutMs: must be a whole number from 1"},
		{"mcp-server", `{"url":"https://a.example","timeoutMs":1.5}`, "timeoutMs: must be a whole number"},
		{"mcp-server", `{"url":"https://a.example","timeoutMs":"5"}`, "timeoutMs: must be a whole number"},
		{"oauth2", oauth(`"tokenUrl":"http://id.example.com"`), "tokenUrl: must begin with https://"},
		{"oauth2", oauth(`"tokenUrl":"http://localhost.example.com"`), "tokenUrl: must begin with https://"},
		{"oauth2", oauth(`"tokenUrl":"http://id.localhost/t"`), "tokenUrl: must begin with https://"}, // DNS may resolve it to any address
		{"oauth2", oauth(`"tokenUrl":"https://a.example","authorizationUrl":"http://a.example"`), "authorizationUrl: must begin with https://"},
		{"oauth2", `{"flow":"authorization_code","clientId":"c","tokenUrl":"https://a.example"}`, "authorizationUrl: required for authorization_code"},
		{"oauth2", oauth(`"tokenUrl":"https://a.example","scopes":"a b"`), "scopes: must be a list"},
		{"oauth2", oauth(`"tokenUrl":"https://a.example","scopes":["a b","c",5]`), "scopes.0: must be one scope | scopes.2: must be a string"},
		{"oauth2", oauth(`"tokenUrl":"https://a.example","hosts":["*"]`), "hosts.0: must be a host"},
		{"http", `{"auth":{"type":"none"}}`, "hosts: required"},
		{"http", http(`[]`), "hosts: must have at least 1 element"},
		{"http", http(`["` + strings.Repeat(`a","`, 100) + `a"]`), "hosts: must have at most 100 elements"},
		{"http", http(`["https://a.example"]`), "hosts.0: must be a host"},
		{"http", http(`["a.example/x"]`), "hosts.0: must be a host"},
		{"http", http(`["a.example:x"]`), "hosts.0: must have a port"},
		{"http", http(`["a.example:080"]`), "hosts.0: must have a port"},
		{"http", http(`["a.example:"]`), "hosts.0: must have a port"},
		{"http", http(`["::1"]`), "hosts.0: must"},
		{"http", http(`["[::1"]`), "hosts.0: must be a host"},
		{"http", http(`["[a.example]"]`), "hosts.0: must be a host"},
		{"http", http(`["*.com"]`), "hosts.0: must not cover so many hosts"},
		{"http", http(`["*.10.0.0.1"]`), "hosts.0: must not cover so many hosts"},
		{"http", http(`["*"]`), "hosts.0: must be a host"},
		{"http", http(`["a.*.example"]`), "hosts.0: must be a host"},
		{"http", http(`["a.example."]`), "hosts.0: must be a host"},
		{"http", http(`[" a.example"]`), "hosts.0: must be a host"},
		{"http", http(`[""]`), "hosts.0: must not be empty"},
		{"http", auth(`"bearer"`), "auth: must be an object"},
		{"http", auth(`{}`), "auth.type: must be one of none, bearer"},
		{"http", auth(`{"type":["none"]}`), "auth.type: must be one of"},
		{"http", auth(`{"type":"bearer"}`), "auth.token: required"},
		{"http", auth(`{"type":"bearer","token":"t","tokens":1}`), "auth.tokens: is unknown; known are type, token"},
		{"http", auth(`{"type":"basic","username":"a:b","password":"p"}`), "auth.username: must not contain a colon"},
		{"http", auth(`{"type":"header","name":"a b","value":"v"}`), "auth.name: must be a header name"},
		{"http", auth(`{"type":"header","name":"Host","value":"v"}`), "auth.name: must not be a header of the connection"},
		{"http", auth(`{"type":"oauth2","connectionId":"x"}`), "auth.connectionId: must be a UUID"},
		{"smtp", `{}`, "host: required | port: required | tls: required | from: required"},
		{"smtp", smtp(`"password":"p"`), "username: required beside password"},
		{"smtp", `{"host":"h:25","port":1,"tls":"tls","from":"a@b"}`, "host: a host consists"},
		{"smtp", `{"host":"h","port":65536,"tls":"ssl","from":"a"}`, "port: must be a whole number | tls: must be one of | from: must be an email address"},
	} {
		t.Run(fmt.Sprint(test.kind, " ", test.want), func(t *testing.T) {
			issues := blueprint.CheckConnection(test.kind, configOf(t, test.config))
			want := strings.Split(test.want, " | ")
			got := make([]string, len(issues))
			for i, issue := range issues {
				got[i] = strings.NewReplacer("[", ".", "]", "").Replace(blueprint.PathText(issue.Path)) + ": " + issue.Message
			}
			if len(got) != len(want) {
				t.Errorf("%s %.200s: %q, want %q", test.kind, test.config, got, want)
				return
			}
			for i := range want {
				if !strings.HasPrefix(got[i], want[i]) {
					t.Errorf("%s %.200s: %q, want %q", test.kind, test.config, got[i], want[i])
				}
			}
		})
	}
}

func TestRedactConnection(t *testing.T) {
	for _, test := range []struct {
		kind         blueprint.ConnectionType
		config, want string
		secrets      []string
	}{
		{"ai-provider", `{"provider":"openai","apiKey":"k"}`, `{"provider":"openai","apiKey":null}`, []string{"k"}},
		{"oauth2", `{"clientId":"c"}`, `{"clientId":"c"}`, nil},
		{"oauth2", `{"clientId":"c","clientSecret":"s"}`, `{"clientId":"c","clientSecret":null}`, []string{"s"}},
		{"http", `{"auth":{"type":"basic","username":"u","password":"p"},"hosts":[]}`, `{"auth":{"type":"basic","username":"u","password":null},"hosts":[]}`, []string{"p", "dTpw"}},
		{"http", `{"auth":{"type":"query","name":"n","value":"v"}}`, `{"auth":{"type":"query","name":"n","value":null}}`, []string{"v"}},
		{"http", `{"auth":{"type":"header","name":"n","value":"v"}}`, `{"auth":{"type":"header","name":"n","value":null}}`, []string{"v"}},
		{"http", `{"auth":{"type":"header","name":"n","value":"Token 12345678"}}`, `{"auth":{"type":"header","name":"n","value":null}}`, []string{"Token 12345678", "12345678"}},
		{"http", `{"auth":{"type":"header","name":"n","value":"Token 1234567"}}`, `{"auth":{"type":"header","name":"n","value":null}}`, []string{"Token 1234567"}},
		{"mcp-server", `{"auth":{"type":"bearer","token":"t"}}`, `{"auth":{"type":"bearer","token":null}}`, []string{"t"}},
		{"mcp-server", `{"auth":{"type":"none"}}`, `{"auth":{"type":"none"}}`, nil},
		{"smtp", `{"username":"u","password":"p"}`, `{"username":"u","password":null}`, []string{"p"}},
		{"slack", `{"botToken":"t"}`, `{"botToken":null}`, []string{"t"}},
	} {
		t.Run(test.config, func(t *testing.T) {
			config := configOf(t, test.config)
			if diff := cmp.Diff(configOf(t, test.want), blueprint.RedactConnection(test.kind, config)); diff != "" {
				t.Error(diff)
			}
			if got := blueprint.ConnectionSecrets(test.kind, config); !slices.Equal(got, test.secrets) {
				t.Errorf("secrets %q, want %v", got, test.secrets)
			}
			if diff := cmp.Diff(configOf(t, test.config), config); diff != "" {
				t.Errorf("%s was changed: %s", test.config, diff)
			}
		})
	}
}
