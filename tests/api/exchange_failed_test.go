package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestFailedCallsKeepTheirEvidence fails a node of each type that calls services, in a run
// that is not recorded.
func TestFailedCallsKeepTheirEvidence(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	connection := func(kind string, config object) string {
		return s.Root.IDOf(t, "connection.create", object{"name": kind, "type": kind, "config": config})
	}
	const canary = "canary-of-the-evidence"
	crm := connection("http", object{"auth": object{"type": "bearer", "token": canary}, "hosts": []any{"api.example.com"}})
	model := connection("ai-provider", object{"provider": "openai", "apiKey": canary})
	tools := connection("mcp-server", object{"url": "https://mcp.example.com/mcp", "auth": object{"type": "bearer", "token": canary}})
	slack := connection("slack", object{"botToken": canary})
	post := connection("smtp", object{"host": "mail.example.com", "port": 587, "username": "u", "password": canary, "tls": "starttls", "from": "Shop <shop@example.com>"})
	for _, test := range []struct {
		kind            string
		config          object
		request, answer string
	}{
		{"http-request", object{"url": "https://api.example.com/{{inputData.path}}", "method": "POST", "body": object{"n": 7}, "connectionId": crm}, `"body":{"n":7}`, ""},
		{"ai-prompt", object{"connectionId": model, "model": "gpt", "prompt": "say hi"}, "say hi", ""},
		{"mcp-tool", object{"connectionId": tools, "tool": "any", "arguments": object{}}, `"method":"tools/call"`, ""},
		{"send-slack", object{"connectionId": slack, "channel": "#general", "text": "hi there"}, "hi there", ""},
		{"send-email", object{"connectionId": post, "to": "Ada <ada@example.org>, ben@example.org", "subject": "Grüße", "text": "Hello."},
			`{"from":"\"Shop\" <shop@example.com>","host":"mail.example.com","port":587,"subject":"Grüße","to":"\"Ada\" <ada@example.org>, ben@example.org"}`, `{"code":550,"message":"why-it-failed ***"}`},
	} {
		t.Run(test.kind, func(t *testing.T) {
			answer := `{"status": 500, "headers": {"content-type": "application/json", "set-cookie": "a=canary-cookie"}, "body": {"why":"why-it-failed ` + canary + `"}}`
			if test.kind == "send-email" {
				answer = `{"status": 550, "body": "why-it-failed ` + canary + `"}`
			}
			putRules(t, s.Root, fmt.Sprintf(`{"rules": [{"match": {"nodeType": %q}, "answer": %s}]}`, test.kind, answer))
			id := s.Root.Blueprint(t, "fails", node("it", test.kind, test.config))
			out := s.Root.Call(t, "blueprint.execute", object{"id": id, "inputData": object{"path": "resolved?token=typed-credential"}})
			run, _ := at(out.Payload(), "executionId").(string)
			if at(out.Payload(), "success") != false || strings.Contains(servertest.Encoded(t, at(out.Payload(), "result")), "exchange") {
				t.Fatalf("%v, want success false and no \"exchange\"", out.Text)
			}
			shown := s.Root.OK(t, "execution.getExecutionStatus", object{"executionId": run})
			x := at(shown, "steps").([]any)[0].(object)["error"].(object)["exchange"]
			if test.kind == "send-email" {
				if servertest.Encoded(t, at(x, "request")) != test.request || servertest.Encoded(t, at(x, "response")) != test.answer {
					t.Errorf("kept %s, want %v and %v", servertest.Encoded(t, x), test.request, test.answer)
				}
			} else {
				if at(x, "request.method") != "POST" || !strings.HasPrefix(fmt.Sprint(at(x, "request.url")), "https://") || len(at(x, "request.headers").(object)) == 0 || !strings.Contains(servertest.Encoded(t, x), test.request) {
					t.Errorf("the request %s, want request.method POST, \"https://\" at the start, some and %q in it", servertest.Encoded(t, at(x, "request")), test.request)
				}
				if servertest.Encoded(t, at(x, "response.body")) != `{"why":"why-it-failed ***"}` || servertest.Encoded(t, at(x, "response.status")) != "500" || at(x, "response.headers.set-cookie") != "***" {
					t.Errorf("the answer %s, want {\"why\":\"why-it-failed ***\"}, 500 and response.headers.set-cookie ***", servertest.Encoded(t, at(x, "response")))
				}
			}
			if test.kind == "http-request" && at(x, "request.url") != "https://api.example.com/resolved?token=***" {
				t.Errorf("the address %v", at(x, "request.url"))
			}
			for _, name := range []string{"execution.getExecutionStatus", "execution.getRecord", "execution.export", "execution.exportTest"} {
				text := servertest.Encoded(t, s.Root.OK(t, name, object{"executionId": run}))
				if strings.Contains(text, canary) || strings.Contains(text, "canary-cookie") {
					t.Errorf("a secret is in %s: %s, want no %q and no \"canary-cookie\"", name, text, canary)
				}
				if name != "execution.exportTest" && !strings.Contains(text, "why-it-failed ***") {
					t.Errorf("the evidence is not in %s: %s", name, text)
				}
			}
		})
	}
}

// TestEvidenceOfAFile runs a file without a server.
func TestEvidenceOfAFile(t *testing.T) {
	t.Parallel()
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "short and stout")
	}))
	defer world.Close()
	name := filepath.Join(t.TempDir(), "pot.blueprint.json")
	data, err := blueprint.Encode(object{"title": "Pot", "blueprint_map": object{"nodes": []any{node("a", "http-request", object{"url": world.URL + "/{{inputData.of}}", "headers": object{"Authorization": "Bearer typed-credential"}})}}})
	if err != nil || os.WriteFile(name, data, 0o600) != nil {
		t.Fatalf("%v, want nil", err)
	}
	var out, errors strings.Builder
	code := run([]string{"blueprintd", "run", name, "--allow-net", "127.0.0.0/8", "--input", `{"of": "tea"}`}, strings.NewReader(""), &out, &errors)
	status, err := blueprint.Decode([]byte(out.String()))
	if err != nil || code != 1 {
		t.Fatalf("%d %s %s, want 1", code, out.String(), errors.String())
	}
	x := at(status, "steps").([]any)[0].(object)["error"].(object)["exchange"]
	if at(x, "request.url") != world.URL+"/tea" || at(x, "request.headers.authorization") != "***" || at(x, "request.body") != "" || at(x, "response.body") != "short and stout" {
		t.Errorf("kept %s, want request.url %v, request.headers.authorization ***, request.body nothing and response.body short and stout", servertest.Encoded(t, x), world.URL+"/tea")
	}
	if strings.Contains(errors.String(), "msg=") {
		t.Errorf("a run without a server has no log: %s, want no \"msg=\"", errors.String())
	}
}
