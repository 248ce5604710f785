package local_test

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blueprintd/command"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/smtpsink"
	"blueprintd/server"
	"blueprintd/server/sandbox"
)

// fakeWorld answers on this machine as the fakes do, and keeps with what
// credentials it was asked.
type fakeWorld struct {
	url, mail string
	dir       string // where the files of the last run are

	mu    sync.Mutex
	proof []string
	mails int
}

func (w *fakeWorld) saw(proof string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proof = append(w.proof, proof)
}

func newFakeWorld(t *testing.T) *fakeWorld {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{Clock: clock.Real{}, IDs: ids.New(nil), Known: server.RuledNames()})
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeWorld{}
	onto := &httputil.ReverseProxy{Transport: box, Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host }}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.saw(r.Header.Get("X-Crm-Key") + r.Header.Get("Authorization"))
		onto.ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go smtpsink.Serve(conn, "mx.example.com", nil, func(string, []string, []byte) (int, string) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.mails++
				return 250, "taken"
			})
		}
	}()
	w.url, w.mail = server.URL, listener.Addr().String()
	return w
}

// runWith runs a blueprint with connections, both as texts of files, and gives the
// exit code and what was printed; %URL% and %PORT% are those of the fakes.
func (w *fakeWorld) runWith(t *testing.T, nodes, given string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	w.dir = dir
	_, port, _ := net.SplitHostPort(w.mail)
	fill := strings.NewReplacer("%URL%", w.url, "%HOST%", strings.TrimPrefix(w.url, "http://"), "%MAILPORT%", port)
	blueprint, file := filepath.Join(dir, "a.blueprint.yaml"), filepath.Join(dir, "a.seed.yaml")
	for name, text := range map[string]string{blueprint: "title: A\nblueprint_map:\n  nodes:\n" + nodes, file: given} {
		if err := os.WriteFile(name, []byte(fill.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{"blueprintd", "run", blueprint, "--allow-net", "127.0.0.0/8"}, args...)
	if given != "" {
		args = append(args, "--connections", file)
	}
	var out, errors bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errors)
	return code, out.String(), errors.String()
}

const everyConnection = `connections:
  - {name: crm, type: http, config: {auth: {type: header, name: X-Crm-Key, value: "canary-${CRM_KEY}"}, hosts: ["127.0.0.1"]}}
  - {name: model, type: ai-provider, config: {provider: openai, baseUrl: "%URL%/v1", apiKey: canary-of-the-model}}
  - {name: tools, type: mcp-server, config: {url: "%URL%/mcp", auth: {type: bearer, token: canary-of-the-tools}}}
  - {name: chat, type: slack, config: {botToken: canary-of-the-chat, baseUrl: "%URL%/api"}}
  - {name: post, type: smtp, config: {host: 127.0.0.1, port: %MAILPORT%, tls: none, from: a@example.com}}
  - {name: service, type: oauth2, config: {flow: client_credentials, tokenUrl: "%URL%/token", clientId: c, clientSecret: canary-of-the-service, hosts: ["127.0.0.1"]}}
  - {name: person, type: oauth2, config: {flow: authorization_code, authorizationUrl: "%URL%/authorize", tokenUrl: "%URL%/token", clientId: c, hosts: ["127.0.0.1"]}}
  - {name: through, type: http, config: {auth: {type: oauth2, connectionId: {$connection: person}}, hosts: ["127.0.0.1"]}}
  - {name: unset, type: http, config: {auth: {type: bearer, token: "${NOBODY_SET_THIS}"}, hosts: ["127.0.0.1"]}}
  - {name: 3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61, type: http, config: {auth: {type: bearer, token: canary-of-an-id}, hosts: ["127.0.0.1"]}}
`

// A file's connections open each type as a server does, and nothing shows a secret.
func TestRunWithConnections(t *testing.T) {
	t.Setenv("CRM_KEY", "of-the-crm")
	call := func(connection string) string {
		return `    - {id: call, type: http-request, title: C, config: {method: POST, url: "%URL%/x", body: {a: 1}, connectionId: ` + connection + "}}\n"
	}
	for _, test := range []struct {
		name, nodes, proof, want string
	}{
		{"header", call("{$connection: crm}"), "canary-of-the-crm", `"status": 200`},
		{"by id", call("3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61"), "Bearer canary-of-an-id", `"status": 200`},
		{"client credentials", call("{$connection: service}"), "Basic", `"status": 200`},
		{"ai-prompt", "    - {id: ask, type: ai-prompt, title: A, config: {connectionId: {$connection: model}, model: m, prompt: hello there}}\n", "Bearer canary-of-the-model", "hello there"},
		{"tools of a prompt", "    - {id: ask, type: ai-prompt, title: A, config: {connectionId: {$connection: model}, model: m, prompt: hello there, mcpConnectionIds: [{$connection: tools}]}}\n", "Bearer canary-of-the-tools", "hello there"},
		{"mcp-tool", "    - {id: tool, type: mcp-tool, title: T, config: {connectionId: {$connection: tools}, tool: echo, arguments: {a: 1}}}\n", "Bearer canary-of-the-tools", `"completed"`},
		{"slack", "    - {id: say, type: send-slack, title: S, config: {connectionId: {$connection: chat}, channel: '#a', text: hi}}\n", "Bearer canary-of-the-chat", `"ts"`},
		{"smtp", "    - {id: mail, type: send-email, title: M, config: {connectionId: {$connection: post}, to: b@example.com, subject: s, text: hi}}\n", "", `"completed"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			world := newFakeWorld(t)
			tape := filepath.Join(t.TempDir(), "a.cassette.json")
			code, stdout, stderr := world.runWith(t, test.nodes, everyConnection, "--record", tape)
			if code != 0 || !strings.Contains(stdout, test.want) {
				t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
			}
			if proof := strings.Join(world.proof, "\n"); !strings.Contains(proof, test.proof) || test.name == "smtp" && world.mails != 1 {
				t.Errorf("asked with %q, %d mails; want proof %v", proof, world.mails, test.proof)
			}
			data, err := os.ReadFile(tape)
			if err != nil {
				t.Fatal(err)
			}
			if all := stdout + stderr + string(data); strings.Contains(all, "canary") {
				t.Errorf("a secret is shown:\n%s", all)
			}
			if played, err := recording.ReadCassette(data); err != nil || len(played.Exchanges) == 0 || len(played.Connections) == 0 {
				t.Errorf("recorded %v: %s", err, data)
			}
			plays := "blueprint: a.blueprint.yaml\ntests: [{name: plays, cassette: a.cassette.json, expect: {status: completed}}]\n"
			for name, text := range map[string]string{"a.test.yaml": plays, "a.cassette.json": string(data)} {
				if err := os.WriteFile(filepath.Join(world.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			if code := run([]string{"blueprintd", "test", world.dir, "--replay"}, nil, &out, &out); code != 0 {
				t.Errorf("played with %d: %s, want 0", code, &out)
			}
		})
	}
}

// A secret that a service echoes is masked.
func TestRunHidesSecretsOfConnections(t *testing.T) {
	world := newFakeWorld(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.Header.Get("X-Crm-Key")))
	}))
	defer server.Close()
	t.Setenv("CRM_KEY", "of-the-crm")
	tape := filepath.Join(t.TempDir(), "a.cassette.json")
	code, stdout, stderr := world.runWith(t, `    - {id: call, type: http-request, title: C, config: {url: "`+server.URL+`", connectionId: {$connection: crm}}}
    - {id: tell, type: log, title: L, config: {message: "it is {{nodes.call.output.body}}"}}
    - {id: fail, type: stop, title: F, config: {failed: true, message: "it is {{nodes.call.output.body}}"}}
`, everyConnection, "--record", tape)
	data, err := os.ReadFile(tape)
	if err != nil || code != command.ExitFailed || !strings.Contains(stderr, "***") || strings.Contains(stdout+stderr+string(data), "canary") {
		t.Errorf("code %d, %v\n%s\n%s\n%s", code, err, stdout, stderr, data)
	}
}

// Connections that a run cannot have are reported with their place before any node runs.
func TestRunRefusesConnections(t *testing.T) {
	t.Setenv("CRM_KEY", "of-the-crm")
	call := func(connection string) string {
		return "    - {id: first, type: template, title: F, config: {text: ran}}\n" +
			`    - {id: call, type: http-request, title: C, config: {url: "https://example.com", connectionId: ` + connection + "}}\n"
	}
	const crm = "connections:\n  - {name: crm, type: http, config: {auth: {type: bearer, token: canary}, hosts: [127.0.0.1]}}\n"
	for _, test := range []struct {
		name, nodes, given string
		code               int
		want               string // parts of standard error, apart by " | "
	}{
		{"unknown", call("{$connection: cmr}"), everyConnection, command.ExitUsage, `a.blueprint.yaml:5:113: blueprint_map.nodes[1].config.connectionId.$connection: node "call": there is no connection "cmr" in  | did you mean "crm"? |^| hint: add it with --connections FILE`},
		{"unknown, no file", call("{$connection: crm}"), "", command.ExitFailed, `node "call": there is no connection "crm" | hint: add it with --connections FILE`},
		{"unknown id", call("3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e62"), everyConnection, command.ExitFailed, `node "call": there is no connection "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e62" | hint: add it with --connections FILE`},
		{"another type", call("{$connection: chat}"), everyConnection, command.ExitUsage, `node "call": the connection "chat" is of type slack; this needs one of type http or oauth2`},
		{"a sign-in", call("{$connection: person}"), everyConnection, command.ExitUsage, `node "call": the connection "person" requires a user to sign in, which needs a server`},
		{"a sign-in of another", call("{$connection: through}"), everyConnection, command.ExitUsage, `the connection "through" requires a user to sign in, through "person"`},
		{"an unset variable", call("{$connection: unset}"), everyConnection, command.ExitUsage, `a.seed.yaml:10:68: connections[8].config.auth.token: the environment variable NOBODY_SET_THIS is not set |^`},
		{"another host", call("{$connection: crm}"), everyConnection, command.ExitFailed, `the connection "crm" is not for example.com | hint: add the host`},
		{"no YAML", call("{$connection: crm}"), "connections: [canary", command.ExitUsage, "a.seed.yaml:1:"},
		{"no list", call("{$connection: crm}"), "connections: 5", command.ExitUsage, "a.seed.yaml:1:14: connections: must be an array |^"},
		{"a slip in a name", call("{$connection: crm}"), strings.Replace(crm, "token:", "tokn:", 1), command.ExitUsage, "a.seed.yaml:2:65: connections[0].config.auth.tokn: is unknown; known are type, token |^| tokn: ******"},
		{"a number", call("{$connection: crm}"), strings.Replace(crm, "canary", "1234567", 1), command.ExitUsage, "a.seed.yaml:2:66: connections[0].config.auth.token: must be |^"},
		{"twice", call("{$connection: crm}"), crm + strings.TrimPrefix(crm, "connections:\n"), command.ExitUsage, "a.seed.yaml:3:12: connections[1].name: is a duplicate |^"},
		{"an unknown part", call("{$connection: crm}"), "connection:\n  - {name: crm, type: http, config: {auth: {type: header, name: X, value: canary}, hosts: [127.0.0.1]}}\n", command.ExitUsage, "a.seed.yaml:2:3: connection: unknown field in a seed file; did you mean"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := newFakeWorld(t).runWith(t, test.nodes, test.given)
			if code != test.code || (stdout == "") != (code == command.ExitUsage) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stdout)
			}
			for part := range strings.SplitSeq(test.want, "|") {
				if !strings.Contains(stderr, strings.TrimSpace(part)) {
					t.Errorf("want %q in\n%s", part, stderr)
				}
			}
			if all := stdout + stderr; strings.Contains(all, "canary") || strings.Contains(all, "1234567") {
				t.Errorf("a secret is shown:\n%s", all)
			}
		})
	}
}
