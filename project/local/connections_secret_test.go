package local_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/command"
	"blueprintd/project/local"
)

// A part of a credential in a response is masked as well.
func TestRunHidesPartsOfCredentials(t *testing.T) {
	world := newFakeWorld(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, key, _ := strings.Cut(r.Header.Get("X-Crm-Key"), " ")
		w.Write([]byte("key " + key + " at " + strings.TrimPrefix(key, "pre-")))
	}))
	defer server.Close()
	t.Setenv("CRM_KEY", "canary-of-the-crm")
	t.Setenv("CRM_HOST", "127.0.0.1")
	recording := filepath.Join(t.TempDir(), "a.cassette.json")
	nodes := `    - {id: call, type: http-request, title: C, config: {url: "` + server.URL + `/x", connectionId: {$connection: crm}}}
    - {id: tell, type: log, title: L, config: {message: "it is {{nodes.call.output.body}}"}}
`
	for _, value := range []string{"Token ${CRM_KEY}", "Token pre-${CRM_KEY}", "Token canary-of-the-crm"} {
		given := `connections:
  - {name: crm, type: http, config: {auth: {type: header, name: X-Crm-Key, value: "` + value + `"}, hosts: ["${CRM_HOST}"]}}
`
		code, stdout, stderr := world.runWith(t, nodes, given, "--record", recording)
		data, err := os.ReadFile(recording)
		if err != nil || code != 0 {
			t.Fatalf("%s: code %d, %v, want 0", value, code, err)
		}
		if all := stdout + stderr + string(data); !strings.Contains(stdout, "***") || strings.Contains(all, "canary") || !strings.Contains(all, server.URL) {
			t.Errorf("%s: want *** for the key and %s in\n%s", value, server.URL, all)
		}
	}
}

// A key in the address of a service is hidden, and the host is not.
func TestVariablesOfAddressesAreHidden(t *testing.T) {
	lookup := func(name string) (string, bool) { return "value-of-" + name, true }
	for _, c := range []struct{ url, want string }{
		{"https://${HOST}/${KEY}/mcp", "value-of-KEY"}, {"${BASE}/v1", ""}, {"${BASE}/${KEY}", "value-of-KEY"}, {"https://x.example?k=${KEY}", "value-of-KEY"},
	} {
		t.Run(c.url, func(t *testing.T) {
			if got := strings.Join(local.VariablesIn(nil, map[string]any{"url": c.url, "hosts": []any{"${HOST}"}}, lookup), " "); got != c.want {
				t.Errorf("%q, want %v", got, c.want)
			}
		})
	}
}

// What is not a variable, though it was meant to be one, is not sent.
func TestMistypedVariables(t *testing.T) {
	t.Setenv("CRM_KEY", "of-the-crm")
	t.Setenv("EMPTY", "")
	call := "    - {id: call, type: http-request, title: C, config: {url: '%URL%/x', connectionId: {$connection: crm}}}\n"
	const mistyped = "connections[0].config.auth.token: has ${ without a valid ${NAME}; hint: write ${NAME}"
	for _, c := range []struct{ token, want, warning string }{
		{"${CRM_KEY:-canary}", mistyped, ""},
		{"${CRM_KEY", mistyped, ""},
		{"${canary-44}", mistyped, ""},
		{"a${CRM_KEY}${", mistyped, ""},
		{"$${canary-44}", mistyped, ""},
		{"${EMPTY}", "connections[0].config.auth.token: the environment variable EMPTY is set, but empty", ""},
		{"x-${EMPTY}", "connections[0].config.auth.token: the environment variable EMPTY is set, but empty", ""},
		{"$CRM_KEY", "", "warning: connections[0].config.auth.token: is not replaced; write ${NAME}"},
		{"canary$44", "", ""},
		{"$canary", "", ""},
		{"$${CRM_KEY}", "", ""}, // no escape: a dollar, then the variable
	} {
		// The name is part of a path in messages, which must not contain a secret.
		t.Run(strings.ReplaceAll(c.token, "canary", "key"), func(t *testing.T) {
			given := "connections:\n  - {name: crm, type: http, config: {auth: {type: bearer, token: \"" + c.token + "\"}, hosts: [127.0.0.1]}}\n"
			world := newFakeWorld(t)
			code, stdout, stderr := world.runWith(t, call, given)
			if sent := len(world.proof) > 0; sent != (c.want == "") || (code == command.ExitUsage) != (c.want != "") || !strings.Contains(stderr, c.want) || strings.Contains(stdout+stderr, "canary") {
				t.Errorf("code %d, sent %v, want %v and %q\n%s%s", code, sent, c.want == "", c.want, stdout, stderr)
			}
			want := c.want + c.warning
			if strings.Contains(want, "EMPTY") { // it is taken to be set
				want = ""
			}
			told := validated(filepath.Join(world.dir, "a.seed.yaml"))
			if !strings.Contains(told, want) || (told == "") != (want == "") || strings.Contains(told, "canary") {
				t.Errorf("validate reports %q, want %q", told, want)
			}
		})
	}
}

// Errors about a wrong seed file contain none of its secrets.
func TestSeedsAreShownWithoutSecrets(t *testing.T) {
	const crm = "connections:\n  - {name: crm, type: http, config: {auth: {type: bearer, token: hunter22}, hosts: [127.0.0.1]}}\n"
	for _, c := range []struct{ from, to, want string }{
		{"token:", "tokn:", "tokn: ********"},
		{"token: hunter22", "token: *hunter22", "this alias (*name) has no anchor"},
		{"token: hunter22", "token: !hunter22 x", "this tag (!name) is not supported"},
		{"token: hunter22", "token: *hunter22 x", ""},
		{"token: hunter22", "token: [hunter22", ""},
		{"bearer, token: hunter22", "hunter22", "must be one of"},
		{"[127.0.0.1]", "['hunter22 hunter22']", "hosts[0]"},
		{"config: {auth: {type: bearer, token: hunter22}", "tokn: hunter22, config: {", "unknown field in a seed file"},
		{"connections:", "connection:", "unknown field in a seed file"},
		{"connections:\n", "", "must be an object"},
		{"connections:", "users: [{email: ada@example.org, pasword: hunter22}]\nconnections:", "unknown field in a seed file"},
	} {
		// The name is part of a path in messages, which must not contain a secret.
		t.Run(strings.ReplaceAll(c.to, "hunter22", "secret"), func(t *testing.T) {
			text := strings.Replace(crm, c.from, c.to, 1)
			name := filepath.Join(t.TempDir(), "a.seed.yaml")
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			told := validated(name)
			code, stdout, stderr := newFakeWorld(t).runWith(t, "    - {id: a, type: template, title: A, config: {text: hi}}\n", text)
			if told == "" || !strings.Contains(told, c.want) || !strings.Contains(stderr, c.want) || strings.Contains(told+stdout+stderr, "hunter") {
				t.Errorf("%s: code %d, want %q and no secret in\n%s\n%s%s", text, code, c.want, told, stdout, stderr)
			}
		})
	}
}

// Nor is such a key in what a recording says of the connection.
func TestRecordedConnectionsHideVariables(t *testing.T) {
	given, issues, err := local.ReadConnections("a.seed.yaml", []byte(`connections: [{name: tools, type: mcp-server, config: {url: "https://mcp.example/${KEY}/mcp"}}]`),
		func(string) (string, bool) { return "canary-of-the-tools", true })
	if err != nil || len(issues) > 0 {
		t.Fatal(err, issues)
	}
	store := &local.Store{Given: given}
	id := given.List[0].ID
	if url := store.Recorded([]blueprint.UsedConnection{{ID: id}})[id].Config["url"]; url != "https://mcp.example/***/mcp" {
		t.Errorf("%v, want https://mcp.example/***/mcp", url)
	}
}

// validated returns what validate says of a file, "" when it has nothing to say.
func validated(path string) string {
	var out bytes.Buffer
	run([]string{"blueprintd", "validate", "--caret", path}, nil, &out, &out)
	return out.String()
}
