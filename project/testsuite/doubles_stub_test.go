package testsuite

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blueprintd/project"
)

// sendingCase is a blueprint whose node calls another service.
type sendingCase struct {
	kind, special string // the node type, and what is special about the call
	node          string
	connection    string // the connection c of the test; "" = a placeholder
}

var sending = []sendingCase{
	{"http-request", "", `{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x'}}`, ""},
	{"http-request", "a token", `{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x', connectionId: {$connection: c}}}`,
		`{type: oauth2, config: {flow: client_credentials, tokenUrl: 'https://login.example.com/token', clientId: x, clientSecret: y}}`},
	{"http-request", "in a loop", `{id: loop, type: for-each, title: Loop, config: {items: '[1, 2]', nodes: [{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x'}}]}}`, ""},
	{"http-request", "another status", `{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x', expectStatus: [404, 410]}}`, ""},
	{"http-request", "statuses of a form", `{id: loop, type: for-each, title: Loop, config: {items: '[410]', nodes: [{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x', expectStatus: ['{{item}}', 5xx]}}]}}`, ""},
	{"http-request", "a token and another status", `{id: a, type: http-request, title: A, config: {url: 'https://api.example.com/x', expectStatus: 202, connectionId: {$connection: c}}}`,
		`{type: oauth2, config: {flow: client_credentials, tokenUrl: 'https://login.example.com/token', clientId: x, clientSecret: y}}`},
	{"send-slack", "", `{id: a, type: send-slack, title: A, config: {connectionId: {$connection: c}, channel: '#a', text: hi}}`, ""},
	{"send-slack", "another server", `{id: a, type: send-slack, title: A, config: {connectionId: {$connection: c}, channel: '#a', text: hi}}`,
		`{type: slack, config: {baseUrl: 'https://slack.example.com/api/', botToken: xoxb-1}}`},
	{"send-email", "", `{id: a, type: send-email, title: A, config: {connectionId: {$connection: c}, to: a@example.com, subject: hi, text: hi}}`, ""},
	{"ai-prompt", "", `{id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi}}`, ""},
	{"ai-prompt", "another provider", `{id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi}}`,
		`{type: ai-provider, config: {provider: anthropic, baseUrl: 'https://llm.example.com', apiKey: x}}`},
	{"ai-prompt", "a schema", `{id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi, responseSchema: {type: object, required: [a]}}}`, ""},
	{"ai-prompt", "tools", `{id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi, mcpConnectionIds: [{$connection: t}]}}`, ""},
	{"ai-prompt", "in a loop", `{id: loop, type: for-each, title: Loop, config: {items: '[1, 2]', nodes: [{id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi}}]}}`, ""},
	{"mcp-tool", "", `{id: a, type: mcp-tool, title: A, config: {connectionId: {$connection: c}, tool: search}}`, ""},
}

// pasted matches the stub in a failure.
var pasted = regexp.MustCompile(`add to the test: stubs: (\{.*\})`)

// TestPastedStubs runs a test without stubs, pastes the stub that each failure shows, and
// expects that the test passes then.
func TestPastedStubs(t *testing.T) {
	for _, kind := range project.Catalogue() {
		if kind.Category == "services" && !slices.ContainsFunc(sending, func(s sendingCase) bool { return s.kind == kind.Type }) {
			t.Errorf("no case for the node type %s", kind.Type)
		}
	}
	for _, c := range sending {
		t.Run(c.kind+" "+c.special, func(t *testing.T) {
			folder := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("a.blueprint.yaml", "title: A\nblueprint_map:\n  nodes:\n    - "+c.node+"\n")
			head := "blueprint: a.blueprint.yaml\n"
			if c.connection != "" {
				head += "connections:\n  c: " + c.connection + "\n"
			}
			run := func(stubs []string) (string, error) {
				var inner []string
				for _, stub := range stubs {
					inner = append(inner, strings.TrimSuffix(strings.TrimPrefix(stub, "{"), "}"))
				}
				write("a.test.yaml", head+"tests:\n  - name: sends\n    stubs: {"+strings.Join(inner, ", ")+"}\n    expect: {status: completed}\n")
				out := &heardBuffer{}
				err := testsIn(folder, out).Once(t.Context())
				return out.take(), err
			}
			var stubs []string
			for range 3 { // a token is a call of its own
				said, err := run(stubs)
				if err == nil {
					break
				}
				shown := pasted.FindStringSubmatch(said)
				if shown == nil {
					t.Fatalf("with the stubs %s it fails and shows none: %v\n%s", stubs, err, said)
				}
				stubs = append(stubs, shown[1])
			}
			if said, err := run(stubs); err != nil || len(stubs) == 0 {
				t.Errorf("with the stubs %s: %v\n%s", stubs, err, said)
			}
		})
	}
}

// TestStubOfAnotherBlueprint calls a model in a blueprint that a node of the tested one runs.
func TestStubOfAnotherBlueprint(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"child.blueprint.yaml":  "title: Child\nblueprint_map:\n  nodes:\n    - {id: a, type: ai-prompt, title: A, config: {connectionId: {$connection: c}, model: m, prompt: hi}}\n",
		"parent.blueprint.yaml": "title: Parent\nblueprint_map:\n  nodes:\n    - {id: call, type: blueprint, title: Call, config: {blueprintId: {$blueprint: child.blueprint.yaml}}}\n",
		"bare.test.yaml":        "blueprint: parent.blueprint.yaml\ntests: [{name: bare, expect: {status: completed}}]\n",
		"stub.test.yaml":        "blueprint: parent.blueprint.yaml\ntests: [{name: stub, stubs: {call: {output: {text: Hello}}}, expect: {status: completed}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := &heardBuffer{}
	err := testsIn(folder, out).Once(t.Context())
	const want = "; it is a call of another blueprint: give the output of the node that runs it"
	if said := out.take(); err == nil || !strings.Contains(said, want) || !strings.Contains(said, "1 passed, 1 failed") {
		t.Errorf("%v\n%s, want %q in it and one test that passes", err, said, want)
	}
}
