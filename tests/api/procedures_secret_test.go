package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestSecretVariables checks who can read the secrets of a blueprint, and how an update
// treats them.
func TestSecretVariables(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "environment_variables": servertest.Decoded(t, `[
		{"name": "text", "secret": true, "default": "the text"}, {"name": "number", "type": "number", "secret": true, "default": 12.50}, {"name": "data", "type": "json", "secret": true, "default": {"a": "b"}},
		{"name": "empty", "secret": true}, {"name": "cleared", "secret": true, "default": ""}, {"name": "open", "default": "seen"}, {"name": "blank", "default": ""}]`)})
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	const first = `[{"name": "text", "secret": true, "default": "the text"}, {"name": "number", "type": "number", "secret": true, "default": 12.50}, {"name": "data", "type": "json", "secret": true, "default": {"a": "b"}},
		{"name": "empty", "secret": true}, {"name": "cleared", "secret": true}, {"name": "open", "default": "seen"}, {"name": "blank", "default": ""}]`
	get := func(p servertest.Caller) any {
		return at(p.OK(t, "blueprint.get", object{"id": id}), "environment_variables")
	}
	servertest.Shape(t, "to a manager", get(ada), first)
	hidden := strings.NewReplacer(`"the text"`, "null", "12.50", "null", `{"a": "b"}`, "null")
	servertest.Shape(t, "to a viewer", get(ben), hidden.Replace(first))
	list := at(ben.OK(t, "blueprint.list", object{"scope": "public"}), "data").([]any)
	servertest.Shape(t, "in a list", at(list[0], "environment_variables"), hidden.Replace(first))
	for _, step := range []struct{ update, want string }{
		{hidden.Replace(first), first}, // what a user who sees the masked value would send back
		{`[{"name": "text", "secret": true, "default": null}, {"name": "number", "type": "number", "secret": true, "default": 13}]`,
			`[{"name": "text", "secret": true, "default": "the text"}, {"name": "number", "type": "number", "secret": true, "default": 13}]`},
		{`[{"name": "text", "secret": true, "default": "changed"}, {"name": "number", "type": "number", "secret": true, "default": null}]`,
			`[{"name": "text", "secret": true, "default": "changed"}, {"name": "number", "type": "number", "secret": true, "default": 13}]`},
		{`[{"name": "renamed", "secret": true, "default": null}]`, `[{"name": "renamed", "secret": true, "default": null}]`},
		{`[{"name": "text", "secret": true, "default": "again"}]`, `[{"name": "text", "secret": true, "default": "again"}]`},
		{`[{"name": "text", "secret": true, "default": ""}]`, `[{"name": "text", "secret": true}]`},
		{`[{"name": "text", "secret": true, "default": null}]`, `[{"name": "text", "secret": true, "default": null}]`},
		{`[{"name": "text", "secret": true, "default": "once more"}]`, `[{"name": "text", "secret": true, "default": "once more"}]`},
		{`[{"name": "text", "default": null}]`, `[{"name": "text", "default": null}]`}, // no longer secret, and its value is removed
		{`[{"name": "text", "secret": true, "default": null}]`, `[{"name": "text", "secret": true, "default": null}]`},
	} {
		answer := ada.OK(t, "blueprint.update", object{"id": id, "environment_variables": servertest.Decoded(t, step.update)})
		servertest.Shape(t, "the answer to "+step.update, at(answer, "environment_variables"), step.want)
		servertest.Shape(t, "after "+step.update, get(ada), step.want)
	}
	oldest := ada.OK(t, "blueprint.versions", object{"id": id}).([]any)
	servertest.Shape(t, "the first version", at(oldest[len(oldest)-1], "environment_variables"), first)
}

func TestSecretConfig(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "t", node("a", "merge", object{}))
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	made := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "the hook secret", "note": "n", "respond": "wait"}})
	trigger := at(made, "id").(string)
	servertest.Shape(t, "created", at(made, "config"), `{"secret": "the hook secret", "note": "n", "respond": "wait"}`)
	config := func(p servertest.Caller) any {
		return at(p.OK(t, "blueprintTriggers.list", object{"blueprintId": id}).([]any)[0], "config")
	}
	ben.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.list", object{"blueprintId": id})
	for _, step := range []struct{ update, want string }{
		{`{}`, `{"secret": "the hook secret", "note": "n", "respond": "wait"}`},
		{`{"secret": null, "note": "m"}`, `{"secret": "the hook secret", "note": "m", "respond": "wait"}`},
		{`{"note": null, "more": {"a": null}}`, `{"secret": "the hook secret", "respond": "wait", "more": {"a": null}}`},
		{`{"secret": "another secret", "more": {"b": 1}}`, `{"secret": "another secret", "respond": "wait", "more": {"b": 1}}`},
		{`{"secret": "", "respond": null}`, `{"more": {"b": 1}}`},
		{`{"secret": null}`, `{"more": {"b": 1}}`},
		{`{"secret": "the third secret", "more": null}`, `{"secret": "the third secret"}`},
	} {
		answer := ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": servertest.Decoded(t, step.update)})
		servertest.Shape(t, "the answer to "+step.update, at(answer, "config"), step.want)
		servertest.Shape(t, "after "+step.update, config(ada), step.want)
		secret := at(servertest.Decoded(t, step.want), "secret")
		servertest.Shape(t, "its URL", ada.OK(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": trigger}), fmt.Sprintf(`{"url": %q, "secret": %s}`, s.Host+"/webhooks/blueprint/"+trigger, servertest.Encoded(t, secret)))
	}
	slack := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "slack", "config": object{"signingSecret": "the slack secret"}})
	servertest.Shape(t, "without a secret", at(ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(slack, "id"), "config": object{"signingSecret": ""}}), "config"), `{}`)
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(slack, "id"), "config": object{"signing_secret": "the slack secret"}})
	if text := ben.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.list", object{"blueprintId": id}); strings.Contains(text, "third secret") || strings.Contains(text, "slack secret") {
		t.Errorf("a viewer gets %s, want no \"third secret\" and no \"slack secret\"", text)
	}
}

// canary is the secret that must not be found anywhere, with characters that every encoding
// changes.
const canary = `pä$$/w0rd+&="x"~ <12>`

// echo is a server that echoes its input in every encoding.
type echo struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newEcho(t *testing.T) *echo {
	e := &echo{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.got = append(e.got, string(body), r.URL.Query().Get("token"))
		e.mu.Unlock()
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusTeapot)
		}
		answer := map[string]any{"whole": string(body), string(body): true}
		for name, form := range servertest.Forms(string(body)) {
			if !strings.HasPrefix(name, "base64") {
				answer[name] = "<<" + form + ">>"
			}
		}
		for lead := range 6 {
			part := []byte("before"[:lead] + string(body) + "after"[:lead/2])
			answer[fmt.Sprint("base64 ", lead)] = base64.StdEncoding.EncodeToString(part) + " " + base64.RawURLEncoding.EncodeToString(part)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", url.QueryEscape(string(body)))
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *echo) last() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got[max(0, len(e.got)-2):]
}

// TestSecretsAreNowhere sends a secret through every kind of node and response, and
// searches for it in everything that can be read, including the disk.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	outside := newEcho(t)
	path := filepath.Join(t.TempDir(), "secrets.db")
	run := []func(*server.Options){servertest.AtNoon, servertest.OnFile(path), func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }}
	s := servertest.New(t, run...)
	ada := s.NewUser(t, "ada")
	nodes := []any{
		node("set", "set", object{"values": object{"plain": "{{token}}", "inside": "<{{token}}>", "deep": []any{object{"k": "{{token}}"}}}}),
		node("base64", "transform", object{"expression": `{"a": toBase64(token), "b": toBase64("user:" + token)}`}),
		node("log", "log", object{"level": "info", "message": "it is {{token}}", "data": object{"token": "{{token}}"}}),
		node("echo", "http-request", object{"method": "POST", "url": outside.URL, "query": object{"token": "{{token}}"}, "body": "{{token}}", "headers": object{"X-Token": "{{nodes.base64.output.a}}"}}),
		node("bad", "http-request", object{"method": "POST", "url": outside.URL + "/bad?{{token}}", "body": "{{token}}"}, "onError", "continue"),
		node("number", "transform", object{"expression": "int(token)"}, "onError", "continue"),
		node("unknown", "template", object{"text": "{{nodes.set.output.plain.x}}"}, "onError", "continue"),
		node("respond", "respond", object{"status": 200, "body": object{"answer": "{{token}}"}, "headers": object{"X-Answer": "{{nodes.base64.output.b}}"}}),
		node("ask", "human", object{"prompt": "Is it {{token}}?", "schema": object{"type": "object", "title": "no template {{token}}"}}),
		node("again", "http-request", object{"method": "POST", "url": outside.URL + "/again", "query": object{"token": "{{token}}"}, "body": "{{inside}}"}),
		node("stop", "stop", object{"failed": true, "message": "stopped with {{token}}"}),
	}
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "t", "blueprint_map": object{"nodes": nodes},
		"environment_variables": []any{object{"name": "token", "secret": true, "default": canary}},
	})
	hook := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": "wait"}})
	const hookSecret = "whsec+of/the hook"
	ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": hookSecret}})
	key := at(ada.OK(t, "apiKey.create", object{"name": "n"}), "key").(string)
	const override = "0verr1de/+ of the caller"
	read := map[string]string{} // all responses
	note := func(name string, p servertest.Caller, procedure string, input any) any {
		t.Helper()
		answer := p.Call(t, procedure, input)
		if answer.Status != http.StatusOK {
			t.Errorf("%s: %d %s, want %v", procedure, answer.Status, answer.Text, http.StatusOK)
		}
		read[name] = answer.Text
		return answer.Payload()
	}
	views := func(name, run string) {
		t.Helper()
		note(name+" status", ada, "execution.getExecutionStatus", object{"executionId": run})
		note(name+" logs", ada, "execution.getExecutionLogs", object{"blueprintId": id})
		note(name+" recent", ada, "execution.listRecentExecutions", object{})
	}
	executed := at(note("execute", ada, "blueprint.execute", object{"id": id, "inputData": object{"t": canary}}), "executionId").(string)
	views("paused", executed)
	passed := at(note("execute with a value", ada, "blueprint.execute", object{"id": id, "variables": object{"token": override}}), "executionId").(string)
	views("paused with a value", passed)
	delivered := (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, servertest.Encoded(t, object{"t": canary}), "X-Copy", base64.StdEncoding.EncodeToString([]byte(canary)))
	if delivered.Status != http.StatusOK || at(servertest.Decoded(t, delivered.Text), "answer") != canary { // the sender of the delivery gets the data
		t.Errorf("the webhook answers %d %s, want %v and answer %v", delivered.Status, delivered.Text, http.StatusOK, canary)
	}
	disk(t, path, "while runs are paused", canary, override, hookSecret, key, testKey)

	s.Advance(t, "0s")
	s.Stop()
	read["log of the server"] = s.Logs.String()
	disk(t, path, "after the server has ended", canary, override, hookSecret, key, testKey)
	s = servertest.New(t, run...)
	ada.Server = s
	views("after a restart", executed)
	for _, step := range []struct{ run, secret string }{{executed, canary}, {passed, override}} {
		note("resume "+step.run, ada, "execution.resume", object{"executionId": step.run, "input": object{"said": step.secret}})
		s.Advance(t, "0s")
		record := note("ended "+step.run, ada, "execution.getExecutionStatus", object{"executionId": step.run})
		note("subscribe "+step.run, ada, "execution.subscribe", object{"executionId": step.run})
		if got := outside.last(); got[0] != "<"+step.secret+">" || got[1] != step.secret {
			t.Errorf("after the restart the outside was sent %q, want %v and %v", got, "<"+step.secret+">", step.secret)
		}
		if steps := at(record, "steps").([]any); at(record, "status") != "failed" || at(steps[10], "error.message") != "stopped with ***" || at(steps[8], "output.said") != "***" {
			t.Errorf("in the end: %s, want status failed, error.message stopped with *** and output.said ***", servertest.Encoded(t, record))
		}
	}
	views("ended", executed)
	third := at(note("execute to be cancelled", ada, "blueprint.execute", object{"id": id}), "executionId").(string)
	note("cancel", ada, "execution.cancel", object{"executionId": third, "reason": "because of " + canary})
	// A retry uses the true values too.
	for _, step := range []struct{ run, secret string }{{executed, canary}, {passed, override}} {
		retried := ada.IDOf(t, "execution.retry", object{"executionId": step.run, "fromNodeId": "again"})
		s.Advance(t, "0s")
		views("retried "+step.run, retried)
		if got := outside.last(); got[0] != "<"+step.secret+">" || got[1] != step.secret {
			t.Errorf("the retry sent %q, want %s in both", got, step.secret)
		}
	}
	s.Stop()
	read["log of the second server"] = s.Logs.String()
	disk(t, path, "in the end", canary, override, hookSecret, key, testKey)
	for name, text := range read {
		for _, secret := range []string{canary, override} {
			if in := servertest.Found(text, secret); len(in) > 0 {
				t.Errorf("%s holds %q in the forms %q\n%.1500s, want none", name, secret, in, text)
			}
		}
	}
	if text := read["paused status"]; strings.Count(text, "***") < 30 {
		t.Errorf("little is masked, so little was tried: %.1500s; want at least 30", text)
	}
}

// disk searches for secrets in the files of a database.
func disk(t *testing.T, path, when string, secrets ...string) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if in := servertest.Found(string(data), secret); len(in) > 0 {
				t.Errorf("%s, %s holds %q in the forms %q; want none", when, filepath.Base(file), secret, in)
			}
		}
	}
}

// TestSecretsOfOthers runs a public blueprint as a stranger: its secrets have no value, and
// the stranger's own do.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	outside := newEcho(t)
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	variables := []any{object{"name": "token", "secret": true, "default": canary}, object{"name": "open", "default": "seen"}}
	for _, test := range []struct {
		name string
		node object
	}{
		{"template", node("a", "template", object{"text": "{{token}}"})},
		{"expression in a template", node("a", "template", object{"text": "{{= upper(token) }}"})},
		{"expression", node("a", "transform", object{"expression": "[token]"})},
		{"condition", node("a", "conditional", object{"condition": `token startsWith "p"`})},
		{"case", node("a", "switch", object{"cases": []any{object{"when": `token startsWith "p"`, "handle": "x"}}})},
		{"request", node("a", "http-request", object{"method": "POST", "url": outside.URL + "/?token={{token}}", "body": "{{token}}"})},
		{"fallback", node("a", "template", object{"text": `{{token ?? "none"}}`})},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := ada.IDOf(t, "blueprint.create", object{"title": "t", "environment_variables": variables, "blueprint_map": object{"nodes": []any{node("before", "template", object{"text": "{{open}}"}), test.node}}})
			ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
			if answer := ada.OK(t, "blueprint.execute", object{"id": id}); at(answer, "success") != true {
				t.Errorf("the owner gets %s, want success true", servertest.Encoded(t, answer))
			}
			before := len(outside.last())
			answer := ben.OK(t, "blueprint.execute", object{"id": id})
			if at(answer, "success") != false || at(answer, "result.error.nodeId") != "a" || at(answer, "result.outputs.before.text") != "seen" {
				t.Errorf("a stranger gets %s, want success false, result.error.nodeId a and result.outputs.before.text seen", servertest.Encoded(t, answer))
			}
			record := servertest.Encoded(t, ben.Record(t, at(answer, "executionId").(string))) + servertest.Encoded(t, ben.Log(t, at(answer, "executionId").(string)))
			if in := servertest.Found(record+servertest.Encoded(t, answer), canary); len(in) > 0 {
				t.Errorf("a stranger reads the secret in the forms %q, want none", in)
			}
			if len(outside.last()) != before && strings.Contains(strings.Join(outside.last(), ""), "pä") {
				t.Errorf("a stranger had the secret sent")
			}
			own := ben.OK(t, "blueprint.execute", object{"id": id, "variables": object{"token": "pass of my own"}})
			if at(own, "success") != true {
				t.Errorf("with a value of their own: %s, want success true", servertest.Encoded(t, own))
			}
			if in := servertest.Found(servertest.Encoded(t, own)+servertest.Encoded(t, ben.Log(t, at(own, "executionId").(string))), "pass of my own"); len(in) > 0 {
				t.Errorf("their own value shows in the forms %q, want none", in)
			}
		})
	}
}
