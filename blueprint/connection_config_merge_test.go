package blueprint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestMergeConnection(t *testing.T) {
	const (
		ai    = `{"provider":"openai","apiKey":"old"}`
		open  = `{"provider":"openai","baseUrl":"https://a.example","apiKey":"old"}`
		http  = `{"auth":{"type":"bearer","token":"old"},"hosts":["a.example","*.b.example:443"]}`
		basic = `{"auth":{"type":"basic","username":"u","password":"old"},"hosts":["a.example"]}`
		query = `{"auth":{"type":"query","name":"key","value":"old"},"hosts":["a.example"]}`
		mcp   = `{"url":"https://a.example","auth":{"type":"header","name":"N","value":"old"}}`
		oauth = `{"flow":"authorization_code","authorizationUrl":"https://id.example/a","tokenUrl":"https://id.example/t","clientId":"c","clientSecret":"old"}`
		// A public client has no secret except the tokens of users.
		public = `{"flow":"authorization_code","authorizationUrl":"https://id.example/a","tokenUrl":"https://id.example/t","clientId":"c"}`
		smtp   = `{"host":"h","port":465,"username":"u","password":"old","tls":"tls","from":"a@b"}`
	)
	for _, test := range []struct {
		kind                 blueprint.ConnectionType
		before, change, want string // "!path" instead of a config: the secret must be given again
		moved                bool
	}{
		{"ai-provider", "", ai, ai, false},
		{"ai-provider", "", `{"provider":"openai","apiKey":null,"baseUrl":null}`, `{"provider":"openai"}`, false},
		{"ai-provider", ai, `{}`, ai, false},
		{"ai-provider", ai, `{"apiKey":null}`, ai, false},
		{"ai-provider", ai, `{"apiKey":""}`, `{"provider":"openai"}`, false},
		{"ai-provider", ai, `{"apiKey":"new"}`, `{"provider":"openai","apiKey":"new"}`, false},
		{"ai-provider", ai, `{"provider":null,"other":1}`, "!apiKey", true},
		{"ai-provider", ai, `{"provider":"openai"}`, ai, false},
		{"ai-provider", ai, `{"provider":"anthropic"}`, "!apiKey", true},
		{"ai-provider", ai, `{"baseUrl":"https://evil.example"}`, "!apiKey", true},
		{"ai-provider", ai, `{"baseUrl":"https://evil.example","apiKey":null}`, "!apiKey", true},
		{"ai-provider", ai, `{"baseUrl":"https://evil.example","apiKey":""}`, `{"provider":"openai","baseUrl":"https://evil.example"}`, true},
		{"ai-provider", ai, `{"baseUrl":"https://a.example","apiKey":"mine"}`, `{"provider":"openai","baseUrl":"https://a.example","apiKey":"mine"}`, true},
		{"ai-provider", open, `{"baseUrl":null}`, "!apiKey", true},
		{"ai-provider", open, `{"baseUrl":"http://a.example"}`, "!apiKey", true},
		{"ai-provider", open, `{"baseUrl":"https://a.example/elsewhere"}`, "!apiKey", true},
		{"mcp-server", mcp, `{"url":"https://b.example"}`, "!auth.value", true},
		{"mcp-server", mcp, `{"url":"https://b.example","auth":{"type":"header","name":"N"}}`, "!auth.value", true},
		{"mcp-server", mcp, `{"url":"https://b.example","auth":null}`, `{"url":"https://b.example"}`, true},
		{"mcp-server", mcp, `{"url":"https://b.example","auth":{"type":"none"}}`, `{"url":"https://b.example","auth":{"type":"none"}}`, true},
		{"mcp-server", mcp, `{"timeoutMs":5}`, `{"url":"https://a.example","auth":{"type":"header","name":"N","value":"old"},"timeoutMs":5}`, false},
		{"mcp-server", mcp, `{"auth":{"type":"query","name":"N"}}`, `{"url":"https://a.example","auth":{"type":"query","name":"N"}}`, false},
		{"mcp-server", mcp, `{"auth":{"type":"header","name":"M","value":null}}`, "!auth.value", true},
		{"mcp-server", mcp, `{"auth":{"type":"header","name":"M"}}`, "!auth.value", true},
		{"mcp-server", mcp, `{"auth":{"type":"header","name":"M","value":"new"}}`, `{"url":"https://a.example","auth":{"type":"header","name":"M","value":"new"}}`, true},
		{"mcp-server", mcp, `{"auth":{"type":"header","name":"N","value":null}}`, mcp, false},
		{"mcp-server", mcp, `{"auth":{"type":"header","name":"M","value":""}}`, `{"url":"https://a.example","auth":{"type":"header","name":"M"}}`, true},
		{"http", http, `{"auth":{"type":"bearer"}}`, http, false},
		{"http", http, `{"hosts":["c.example"]}`, "!auth.token", true},
		{"http", http, `{"hosts":["a.example","*.b.example"]}`, "!auth.token", true},
		{"http", http, `{"hosts":["*.a.example"]}`, "!auth.token", true},
		{"http", http, `{"hosts":["b.example:443"]}`, "!auth.token", true},
		{"http", http, `{"hosts":["A.example:8080","x.y.b.example:443","*.c.b.example:443"]}`, `{"auth":{"type":"bearer","token":"old"},"hosts":["A.example:8080","x.y.b.example:443","*.c.b.example:443"]}`, false},
		{"http", http, `{"hosts":["c.example"],"auth":{"type":"bearer","token":"mine"}}`, `{"hosts":["c.example"],"auth":{"type":"bearer","token":"mine"}}`, true},
		{"http", basic, `{"hosts":["c.example"],"auth":{"type":"basic","username":"mine"}}`, "!auth.password", true},
		{"http", basic, `{"auth":{"type":"basic","username":"v"}}`, "!auth.password", true},
		{"http", basic, `{"auth":{"type":"basic"}}`, "!auth.password", true},
		{"http", query, `{"auth":{"type":"query","name":"utm"}}`, "!auth.value", true},
		{"http", basic, `{"auth":5}`, `{"auth":5,"hosts":["a.example"]}`, false},
		{"oauth2", oauth, `{"tokenUrl":"https://evil.example/t"}`, "!clientSecret", true},
		{"oauth2", oauth, `{"authorizationUrl":"https://evil.example/a"}`, "!clientSecret", true},
		{"oauth2", oauth, `{"hosts":["evil.example"]}`, "!clientSecret", true},
		{"oauth2", oauth, `{"clientId":"other"}`, "!clientSecret", true},
		{"oauth2", oauth, `{"clientId":"other","clientSecret":null}`, "!clientSecret", true},
		{"oauth2", oauth, `{"clientId":"c"}`, oauth, false},
		{"oauth2", oauth, `{"clientId":"other","clientSecret":""}`, strings.Replace(public, `"c"`, `"other"`, 1), true},
		{"oauth2", oauth, `{"clientId":"other","clientSecret":"new"}`, strings.NewReplacer(`"c"`, `"other"`, "old", "new").Replace(oauth), true},
		{"oauth2", oauth, `{"flow":"client_credentials"}`, "!clientSecret", true},
		{"oauth2", public, `{"clientId":"other"}`, strings.Replace(public, `"c"`, `"other"`, 1), true},
		{"oauth2", oauth, `{"hosts":["id.example:443"],"scopes":["x"]}`, strings.TrimSuffix(oauth, "}") + `,"hosts":["id.example:443"],"scopes":["x"]}`, false},
		{"oauth2", oauth, `{"hosts":["id.example:443"]}`, strings.TrimSuffix(oauth, "}") + `,"hosts":["id.example:443"]}`, false},
		{"oauth2", strings.TrimSuffix(oauth, "}") + `,"hosts":["id.example:443"]}`, `{"hosts":null}`, "!clientSecret", true},
		{"oauth2", strings.TrimSuffix(oauth, "}") + `,"hosts":["id.example"]}`, `{"hosts":[]}`, "!clientSecret", true},
		{"oauth2", strings.TrimSuffix(public, "}") + `,"hosts":["id.example"]}`, `{"hosts":null}`, public, true},
		{"oauth2", oauth, `{"hosts":[]}`, strings.TrimSuffix(oauth, "}") + `,"hosts":[]}`, false},
		{"oauth2", public, `{"hosts":["evil.example"]}`, strings.TrimSuffix(public, "}") + `,"hosts":["evil.example"]}`, true},
		{"smtp", smtp, `{"host":"evil.example"}`, "!password", true},
		{"smtp", smtp, `{"port":25}`, "!password", true},
		{"smtp", smtp, `{"tls":"none"}`, "!password", true},
		{"smtp", smtp, `{"username":"v"}`, "!password", true},
		{"smtp", smtp, `{"username":null}`, "!password", true},
		{"smtp", smtp, `{"username":"u"}`, smtp, false},
		{"smtp", smtp, `{"username":"v","password":"new"}`, `{"host":"h","port":465,"username":"v","password":"new","tls":"tls","from":"a@b"}`, true},
		{"smtp", smtp, `{"from":"c@d"}`, `{"host":"h","port":465,"username":"u","password":"old","tls":"tls","from":"c@d"}`, false},
		{"smtp", smtp, `{"tls":"starttls"}`, "!password", true},
		{"smtp", strings.Replace(smtp, `"tls":"tls"`, `"tls":"none"`, 1), `{"tls":"starttls"}`, "!password", true},
		{"smtp", strings.Replace(smtp, `"tls":"tls"`, `"tls":"starttls"`, 1), `{"tls":"none"}`, "!password", true},
		{"smtp", smtp, `{"host":"other"}`, "!password", true},
		{"slack", `{"botToken":"old"}`, `{"baseUrl":"https://evil.example"}`, "!botToken", true},
	} {
		t.Run(test.before+" "+test.change, func(t *testing.T) {
			before, change := configOf(t, test.before), configOf(t, test.change)
			got, moved, issues := blueprint.MergeConnection(test.kind, before, change)
			if moved != test.moved {
				t.Errorf("%s %s: moved %v, want %v", test.before, test.change, moved, test.moved)
			}
			if path, again := strings.CutPrefix(test.want, "!"); again {
				if len(issues) != 1 || blueprint.PathText(issues[0].Path) != path || !strings.HasPrefix(issues[0].Message, "must be given again") {
					t.Errorf("%s %s: issues %v, want one about %s", test.before, test.change, issues, path)
				}
			} else if diff := cmp.Diff(configOf(t, test.want), got); diff != "" || issues != nil {
				t.Errorf("%s %s: %s %v", test.before, test.change, diff, issues)
			}
			if diff := cmp.Diff(configOf(t, test.before), before) + cmp.Diff(configOf(t, test.change), change); diff != "" {
				t.Errorf("an argument was changed: %s", diff)
			}
		})
	}
}

// The way out that a refusal names must work: a required secret cannot be removed.
func TestMergeConnectionOffersRemoval(t *testing.T) {
	for _, test := range []struct {
		kind           blueprint.ConnectionType
		before, change string
		removable      bool
	}{
		{"slack", `{"botToken":"old"}`, `{"baseUrl":"https://a.example"}`, false},
		{"http", `{"auth":{"type":"bearer","token":"old"},"hosts":["a.example"]}`, `{"hosts":["b.example"]}`, false},
		{"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":"c","clientSecret":"old"}`, `{"tokenUrl":"https://b.example"}`, true},
	} {
		t.Run(test.before, func(t *testing.T) {
			_, _, issues := blueprint.MergeConnection(test.kind, configOf(t, test.before), configOf(t, test.change))
			if len(issues) != 1 || strings.Contains(issues[0].Message, "removed") != test.removable {
				t.Errorf("%v, want one issue that offers removal: %v", issues, test.removable)
			}
		})
	}
}

// The hosts that may receive tokens include the ports of URLs.
func TestOAuthHosts(t *testing.T) {
	for config, want := range map[string]string{
		`{"hosts":["a.example","*.b.example:8"],"tokenUrl":"https://id.example"}`:                       "a.example *.b.example:8",
		`{"hosts":[],"tokenUrl":"https://id.example:8443/t","authorizationUrl":"https://id.example/a"}`: "id.example id.example:8443",
		`{"tokenUrl":"http://127.0.0.1:1/t","authorizationUrl":"http://[::1]:2/a"}`:                     "[::1]:2 127.0.0.1:1",
		`{"tokenUrl":"https://id.example/t","authorizationUrl":"https://id.example/a"}`:                 "id.example",
		`{"tokenUrl":"https://[2001:db8::1]/t"}`:                                                        "[2001:db8::1]",
		`{"tokenUrl":5,"authorizationUrl":"mailto:x"}`:                                                  "",
	} {
		t.Run(config, func(t *testing.T) {
			if got := strings.Join(blueprint.OAuthHosts(configOf(t, config)), " "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Only an update of every key and secret counts as a whole config.
func TestWholeConnection(t *testing.T) {
	const named = `{"auth":{"type":"oauth2","connectionId":"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"},"hosts":["a.example"]}`
	const bearer = `{"auth":{"type":"bearer","token":"old"},"hosts":["a.example"]}`
	for _, test := range []struct {
		before, change string
		want           bool
	}{
		{named, named, true}, {named, `{}`, false}, {named, `{"hosts":["b.example"]}`, false},
		{named, `{"auth":{"type":"none"}}`, false}, {named, `{"auth":{"type":"none"},"hosts":["b.example"]}`, true},
		{bearer, bearer, true}, {bearer, `{"auth":{"type":"bearer"},"hosts":["a.example"]}`, false},
	} {
		t.Run(test.change, func(t *testing.T) {
			change := configOf(t, test.change)
			config, _, _ := blueprint.MergeConnection(blueprint.ConnectionHTTP, configOf(t, test.before), change)
			if got := blueprint.WholeConnection(blueprint.ConnectionHTTP, config, change); got != test.want {
				t.Errorf("%s %s: %v, want %v", test.before, test.change, got, test.want)
			}
		})
	}
}

func TestHostsCover(t *testing.T) {
	for _, test := range []struct {
		hosts, host string
		want        bool
	}{
		{"a.example", "a.example", true},
		{"A.EXAMPLE", "a.example:443", true},
		{"a.example:443", "a.example:443", true},
		{"a.example:443", "a.example", false},
		{"a.example:443", "a.example:80", false},
		{"a.example", "b.a.example", false},
		{"*.a.example", "b.a.example", true},
		{"*.a.example", "c.b.a.example:1", true},
		{"*.a.example", "a.example", false},
		{"*.a.example", "evila.example", false},
		{"*.a.example", "*.b.a.example", true},
		{"*.b.a.example", "*.a.example", false},
		{"a.example", "*.a.example", false},
		{"*.com b.example", "b.example", true},
		{"*.com *", "a.com", false},
		{"[::1]:80", "[0:0::1]:80", true},
		{"127.0.0.1", "[::ffff:127.0.0.1]", true},
		{"a.example", "", false},
		{"", "a.example", false},
	} {
		t.Run(test.hosts+" "+test.host, func(t *testing.T) {
			if got := blueprint.HostsCover(strings.Fields(test.hosts), test.host); got != test.want {
				t.Errorf("%q covers %q: %v, want %v", test.hosts, test.host, got, test.want)
			}
		})
	}
}

func FuzzMergeConnection(f *testing.F) {
	for kind, configs := range connections {
		for _, config := range configs {
			f.Add(string(kind), config, `{"auth":{"type":"bearer"},"hosts":null,"url":""}`)
		}
	}
	f.Fuzz(func(t *testing.T, kind, before, change string) {
		decode := func(text string) map[string]any {
			value, _ := blueprint.Decode([]byte(text))
			object, _ := value.(map[string]any)
			return object
		}
		old, sent := decode(before), decode(change)
		of := blueprint.ConnectionType(kind)
		merged, moved, issues := blueprint.MergeConnection(of, old, sent)
		blueprint.CheckConnection(of, merged)
		if !moved && issues != nil {
			t.Errorf("issues though nothing has moved: %v", issues)
		}
		if len(blueprint.ConnectionSecrets(of, blueprint.RedactConnection(of, merged))) > 0 {
			t.Errorf("secrets are left in %v, want none", merged)
		}
	})
}
