package blueprint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Secrets are found by their shape anywhere, and by the key they are under.
func TestValidateFindsSecrets(t *testing.T) {
	const key = "sk-abcdefghij0123456789"
	header := "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
	for name, test := range map[string]struct {
		key, text, want string
	}{
		"our own":                {"note", "use bpd_0123456789abcdef", "an API key of this service"},
		"too short":              {"note", "use bpd_0123456789abcde", ""},
		"API key":                {"note", key, "an API key"},
		"words of that shape":    {"note", "sk-abcdefghijklmnopqrstuvwxyz", ""},
		"Stripe":                 {"note", "sk_" + "live_0123456789abcdef", "an API key"},
		"Stripe, restricted":     {"note", "rk_" + "live_0123456789abcdef", "an API key"},
		"Slack":                  {"note", "xoxb-0123456789", "a Slack token"},
		"Slack app":              {"note", "xapp-0123456789", "a Slack token"},
		"GitHub":                 {"note", "ghp_abcdefghij0123456789", "a GitHub token"},
		"GitHub, fine-grained":   {"note", "github_pat_abcdefghij0123456789", "a GitHub token"},
		"GitLab":                 {"note", "glpat-abcdefgh01234567", "a GitLab token"},
		"webhook":                {"note", "whsec_abcdefgh01234567", "the secret of a webhook"},
		"AWS":                    {"note", "AKIAABCDEFGH01234567", "an AWS access key"},
		"AWS, temporary":         {"note", "ASIAABCDEFGH01234567", "an AWS access key"},
		"AWS, longer":            {"note", "AKIAABCDEFGH012345678", ""},
		"Google":                 {"note", "AIza" + strings.Repeat("a", 30), "a Google API key"},
		"private key":            {"note", "-----BEGIN RSA PRIVATE KEY-----\nMII", "a private key"},
		"public key":             {"note", "-----BEGIN PUBLIC KEY-----\nMII", ""},
		"token":                  {"note", header, "a JSON web token"},
		"password in an address": {"note", "postgres://ada:hush@db.example/x", "an address with a password"},
		"user in an address":     {"note", "https://ada@db.example/x", ""},
		"template in an address": {"note", "https://ada:{{password}}@db.example/x", ""},
		"key in an address":      {"note", "https://api.example/?a=1&api_key=abcdef", "a secret in an address"},
		"short key in it":        {"note", "https://api.example/?a=1&api_key=abcde", ""},
		"template as key in it":  {"note", "https://api.example/?api_key={{key}}", ""},
		"under password":         {"password", "hunter2", "a secret"},
		"under Api-Key":          {"Api-Key", "hunter2", "a secret"},
		"under client_secret":    {"client_secret", "hunter2", "a secret"},
		"six characters":         {"password", "äöüäöü", "a secret"},
		"five characters":        {"password", "äöüäö", ""},
		"a sentence":             {"password", "the usual one", ""},
		"several lines":          {"password", "hunter2\nhunter3", ""},
		"a template":             {"password", "{{secret}}", ""},
		"a secret and template":  {"note", "{{x}} " + key, "an API key"},
		"another key":            {"passport", "hunter2", ""},
		"a key of 64 bytes":      {strings.Repeat("-", 58) + "secret", "hunter2", "a secret"},
		"a key of 65 bytes":      {strings.Repeat("-", 59) + "secret", "hunter2", ""},
		"credentials":            {"Authorization", " Bearer abcd ", "credentials"},
		"proxy credentials":      {"proxy-authorization", "basic abcd", "credentials"},
		"short credentials":      {"authorization", "Bearer abc", ""},
		"other key for them":     {"authorisation", "Bearer abcd", ""},
		"a template for them":    {"authorization", "Bearer {{token}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := blueprint.Encode(map[string]any{test.key: test.text})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if test.want != "" {
				want = []string{"warning nodes[0].config." + test.key + ": looks like " + test.want + " in plain text: use {{name}} of a secret variable, or a connection"}
			}
			if diff := cmp.Diff(want, findings(t, `{"nodes":[{"id":"a","type":"note","title":"a","config":`+string(config)+`}]}`, "")); diff != "" {
				t.Errorf("issues (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateFindsNestedSecrets(t *testing.T) {
	const key = `"sk-abcdefghij0123456789"`
	checkFindings(t, map[string]validation{
		"in lists and objects": {nodes(node("a", "note", `"x":[1,{"token":"hunter2"},`+key+`],"secret":["hunter2"]`)), "", []string{
			"warning nodes[0].config.secret[0]: looks like a secret in plain text: use {{name}} of a secret variable, or a connection",
			"warning nodes[0].config.x[1].token: looks like a secret in plain text: use {{name}} of a secret variable, or a connection",
			"warning nodes[0].config.x[2]: looks like an API key in plain text: use {{name}} of a secret variable, or a connection",
		}},
		"in a script":          {nodes(node("a", "code", `"source":`+key+`,"other":`+key)), "", []string{"warning nodes[0].config.other: looks like an API key in plain text: use {{name}} of a secret variable, or a connection", "warning nodes[0].config.source: looks like an API key in plain text: use variables.name of a secret variable"}},
		"source of others":     {nodes(node("a", "note", `"source":`+key)), "", []string{"warning nodes[0].config.source: looks like an API key in plain text: use {{name}} of a secret variable, or a connection"}},
		"verbatim values":      {nodes(node("a", "code", `"source":{"x":`+key+`}`), node("b", "code", `"source":[`+key+`]`)), "", nil},
		"in a variable":        {nodes(node("a", "opaque", "")), `[{"name":"password","default":"hunter2"},{"name":"x","type":"json","default":{"token":"hunter2"}},{"name":"token","secret":true,"default":"hunter2"},{"name":"secret"}]`, []string{`warning environment_variables[0].default: looks like a secret in plain text: mark the variable with "secret": true and leave its default out of files`, `warning environment_variables[1].default.token: looks like a secret in plain text: mark the variable with "secret": true and leave its default out of files`}},
		"of a type of its own": {nodes(node("a", "lost", `"x":`+key, `"disabled":true`)), "", []string{`warning nodes[0].type: unknown node type "lost"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait`}},
	})
}

// An editor marks the place of a secret, in characters, and must not show it.
func TestSpotOfASecret(t *testing.T) {
	const key = "sk-abcdefghij0123456789"
	for name, test := range map[string]struct {
		config map[string]any
		want   blueprint.Spot
	}{
		"whole text":      {map[string]any{"x": key}, blueprint.Spot{Line: 1, Column: 1, Length: len(key), Secret: true}},
		"in a line":       {map[string]any{"x": "äö " + key + "."}, blueprint.Spot{Line: 1, Column: 4, Length: len(key), Secret: true}},
		"in a later line": {map[string]any{"x": "a\nb\nä" + " " + key + "\n"}, blueprint.Spot{Line: 3, Column: 3, Length: len(key), Secret: true}},
		"only the secret": {map[string]any{"x": "https://a.example?token=äbcdef&x=1"}, blueprint.Spot{Line: 1, Column: 25, Length: 6, Secret: true}},
		"two of a kind":   {map[string]any{"x": key + " " + key}, blueprint.Spot{Secret: true}},
		"two kinds":       {map[string]any{"x": "xoxb-0123456789 " + key}, blueprint.Spot{Secret: true}},
		"by its key":      {map[string]any{"password": "hunter2"}, blueprint.Spot{Secret: true}},
		"credentials":     {map[string]any{"authorization": "Bearer abcd"}, blueprint.Spot{Secret: true}},
	} {
		t.Run(name, func(t *testing.T) {
			m := map[string]any{"nodes": []any{map[string]any{"id": "a", "type": "note", "title": "a", "config": test.config}}}
			issues := blueprint.Validate(m, nil, validated, checkUses)
			if len(issues) != 1 {
				t.Fatalf("got %+v, want one issue", issues)
			}
			if diff := cmp.Diff(test.want, issues[0].Spot); diff != "" {
				t.Errorf("spot (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecretsOfVariables(t *testing.T) {
	for name, test := range map[string]struct {
		list   string
		hidden string // the hidden keys of the first one, sorted
		holds  bool
	}{
		"none":             {`[]`, "", false},
		"no object":        {`[5]`, "", false},
		"open":             {`[{"name":"a","default":"x","more":1}]`, "", false},
		"secret":           {`[{"name":"a","secret":true,"default":"x"}]`, "default", true},
		"without default":  {`[{"name":"a","secret":true}]`, "", false},
		"null default":     {`[{"name":"a","secret":true,"default":null}]`, "default", false},
		"unknown key":      {`[{"name":"a","secret":true,"more":1}]`, "more", true},
		"known keys":       {`[{"name":"a","secret":true,"type":"json","description":"d","required":true}]`, "", false},
		"no truth":         {`[{"name":"a","secret":"true","default":"x"}]`, "", false},
		"not secret":       {`[{"name":"a","secret":false,"default":"x"}]`, "", false},
		"another spelling": {`[{"name":"a","isSecret":true,"value":"x"}]`, "value", true},
		"later one":        {`[{"name":"a"},{"name":"b","secret":true,"default":"x"}]`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			list := blueprint.SpelledVariables(array(t, test.list))
			if got := blueprint.HoldsSecretVariable(list); got != test.holds {
				t.Errorf("it must be encrypted: got %v, want %v", got, test.holds)
			}
			first, _ := append(array(t, test.list), nil)[0].(map[string]any)
			if got := strings.Join(blueprint.HiddenOfVariable(first), " "); got != test.hidden {
				t.Errorf("hidden keys: got %q, want %q", got, test.hidden)
			}
		})
	}
	if got := blueprint.SpelledVariables(nil); got != nil {
		t.Errorf("no variables become %v, want nil", got)
	}
}

func TestTriggerHoldsSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		kind   blueprint.TriggerType
		config string
		want   bool
	}{
		"nothing":            {"webhook", `{}`, false},
		"secret":             {"webhook", `{"secret":"s"}`, true},
		"previous secret":    {"webhook", `{"previousSecret":"s"}`, true},
		"null":               {"webhook", `{"secret":null,"other":null}`, false},
		"known keys":         {"webhook", `{"respond":"x","record":true,"concurrency":{},"breaker":false}`, false},
		"unknown key":        {"webhook", `{"secrt":"s"}`, true},
		"key of another one": {"scheduled", `{"respond":"x"}`, true},
		"schedule":           {"scheduled", `{"cron":"* * * * *","timezone":"UTC"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			trigger := blueprint.Trigger{Type: test.kind, Config: object(t, test.config)}
			if got := trigger.HoldsSecrets(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A basic header that lacks a name or a password is never sent.
func TestSecretsOfBasicAuth(t *testing.T) {
	for config, want := range map[string][]string{
		`{"auth":{"type":"basic","username":"u","password":"p"}}`: {"p", "dTpw"},
		`{"auth":{"type":"basic","password":"p"}}`:                {"p"},
		`{"auth":{"type":"basic","username":"u"}}`:                nil,
		`{"auth":{"type":"header","value":"12345678"}}`:           {"12345678"},
		`{"auth":"basic"}`: nil,
	} {
		t.Run(config, func(t *testing.T) {
			if diff := cmp.Diff(want, blueprint.ConnectionSecrets("http", object(t, config))); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
		})
	}
	if got := blueprint.ConnectionSecrets("smtp", object(t, `{"auth":{"type":"basic","username":"u","password":"p"}}`)); got != nil {
		t.Errorf("a type without auth has the secrets %q, want none", got)
	}
}
