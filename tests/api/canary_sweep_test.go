package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/store"
	"blueprintd/tests/servertest"
)

// Canaries of the sweep: secrets with characters that every encoding changes, and a word
// that is not secret and must only be sealed.
var sweptSecrets = map[string]string{
	"variable": `sw-v4r/Ünd+8&"zK<q7>~ m2pXc`, "http": `sw-h77p+Qm/4&T~u9"kW<e1>vB`, "model": `sw-m0d31/a+Z6&r~x"P<s5>nJ`, "mcp": `sw-mcp9/k+L2&w~f"H<d8>yC`, "slack": `sw-s14ck/o+V3&g~b"R<t6>iN`,
	"mail": `sw-m41l/u+E5&j~c"G<p0>hD`,
}

const sweptData = "sweep-of-data-that-is-no-secret"

// leastSwept is the length in bytes of the shortest part of a secret that must not be
// found. As many of its first or last bytes may be left next to base64 of a longer text.
const leastSwept = 10

// broken wraps a text at a length.
func broken(text string, length int, end string) string {
	var out strings.Builder
	for ; len(text) > length; text = text[length:] {
		out.WriteString(text[:length] + end)
	}
	return out.String() + text
}

// writings are the encodings in which a service may repeat a secret, one a line. The caller
// chooses the first, which messages often quote and cut.
func writings(secret string, first int) string {
	var lines []string
	all := servertest.Forms(secret)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "base64") { // search for parts of it
			lines = append(lines, all[name])
		}
	}
	for lead := range 3 {
		text := strings.Repeat("x", lead) + secret + "yz"
		for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			lines = append(lines, coding.EncodeToString([]byte(text)))
		}
		lines = append(lines, broken(base64.StdEncoding.EncodeToString([]byte(text)), 16, "\r\n"), broken(base64.StdEncoding.EncodeToString([]byte(text)), 20, "\n"))
	}
	lines = append(lines, html.EscapeString(secret), broken(hex.EncodeToString([]byte(secret)), 12, "\n"), "Bearer "+secret, url.QueryEscape(url.QueryEscape(secret)))
	quoted, _ := blueprint.Encode(secret)
	quoted, _ = blueprint.Encode(string(quoted))
	lines = append(lines, string(quoted))
	first %= len(lines)
	return strings.Join(append(lines[first:], lines[:first]...), "\n|")
}

// swept returns the parts of a secret that a text contains, in any of the encodings, also
// with line breaks within them.
func swept(text, secret string) (in []string) {
	for name, form := range servertest.Forms(secret) {
		if strings.Contains(text, form) {
			in = append(in, name)
		}
	}
	bare := strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "").Replace(text)
	for from := 0; from+leastSwept <= len(secret); from++ {
		part := secret[from : from+leastSwept]
		written := map[string]string{"hex": hex.EncodeToString([]byte(part)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(part)))}
		if strings.ToValidUTF8(part, "") == part {
			quoted, _ := blueprint.Encode(part)
			written["plain"], written["JSON"], written["page"], written["query"], written["path"] = part, string(quoted[1:len(quoted)-1]), html.EscapeString(part), url.QueryEscape(part), url.PathEscape(part)
		}
		for lead := range 3 {
			form := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", lead) + part))
			written[fmt.Sprint("base64 ", lead)] = form[4 : len(form)-4]
		}
		for name, form := range written {
			if len(form) >= leastSwept && (strings.Contains(text, form) || strings.Contains(bare, form)) {
				in = append(in, fmt.Sprintf("%s of %q", name, part))
			}
		}
	}
	return in
}

// TestSweep passes all secrets to every node type that calls other services, whole
// and in part, in every encoding, with responses that succeed, fail and are cut off,
// and searches for them in all output and all stored data.
func TestSweep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sweep.db")
	s := servertest.New(t, servertest.AtNoon, inABox, servertest.OnFile(path))
	ada := s.NewUser(t, "ada")
	connect := func(name, kind string, config object) string {
		return ada.IDOf(t, "connection.create", object{"name": name, "type": kind, "config": config})
	}
	nodes := map[string]object{
		"http-request": {"method": "POST", "url": "https://api.example.com/x?t={{token}}", "body": object{"t": "{{token}}", "all": "{{inputData.all}}"}, "headers": object{"X-T": "{{= toBase64(token) }}"},
			"connectionId": connect("crm", "http", object{"auth": object{"type": "bearer", "token": sweptSecrets["http"]}, "hosts": []any{"api.example.com"}})},
		"ai-prompt": {"model": "gpt", "prompt": "{{token}} {{inputData.all}}", "system": "{{token}}", "connectionId": connect("ai", "ai-provider", object{"provider": "openai", "apiKey": sweptSecrets["model"]})},
		"mcp-tool": {"tool": "any", "arguments": object{"q": "{{token}} {{inputData.all}}", "{{token}}": 1},
			"connectionId": connect("tools", "mcp-server", object{"url": "https://mcp.example.com/mcp", "auth": object{"type": "bearer", "token": sweptSecrets["mcp"]}})},
		"send-slack": {"channel": "#general", "text": "{{token}} {{inputData.all}}", "connectionId": connect("chat", "slack", object{"botToken": sweptSecrets["slack"]})},
		"send-email": {"to": "Ada <ada@example.org>", "subject": "about {{token}}", "text": "{{token}}\n{{inputData.all}}", "html": "<p>{{token}}</p>",
			"connectionId": connect("post", "smtp", object{"host": "mail.example.com", "port": 587, "username": "u", "password": sweptSecrets["mail"], "tls": "starttls", "from": "shop@example.com"})},
	}
	own := map[string]string{"http-request": "http", "ai-prompt": "model", "mcp-tool": "mcp", "send-slack": "slack", "send-email": "mail"}
	variables := []any{object{"name": "token", "secret": true, "default": sweptSecrets["variable"]}}
	shown := map[string]string{} // by the place of reading, with the secret that is searched for besides the variable
	kept := map[string]string{}
	masked, firstStep, cutStep, leastMasked := 0, 9, 13, 500
	if *thorough {
		firstStep, cutStep, leastMasked = 3, 6, 1000
	}
	for kind, config := range nodes {
		t.Run(kind, func(t *testing.T) {
			all := writings(sweptSecrets["variable"], 0) + "\n" + writings(sweptSecrets[own[kind]], 0) + "\n" + sweptData
			id := ada.IDOf(t, "blueprint.create", object{"title": kind, "environment_variables": variables, "blueprint_map": object{"nodes": []any{
				node("it", kind, config, "onError", "continue"),
				node("log", "log", object{"level": "warn", "message": "{{token}} " + sweptData, "data": "{{input}}"}),
				node("again", "transform", object{"expression": `{"a": input, "b": toBase64(token + "!"), "c": toJSON(input)}`}),
				node("stop", "stop", object{"failed": true, "message": "with {{token}} " + sweptData}),
			}}})
			answers := []string{"", servertest.Encoded(t, object{"status": 500, "headers": object{"content-type": "text/plain", "x-said": url.QueryEscape(sweptSecrets[own[kind]])}, "body": all}),
				servertest.Encoded(t, object{"status": 500, "body": object{"error": object{"message": all, sweptSecrets[own[kind]]: true}}})}
			for first := 0; first < 30; first += firstStep { // a message may quote the beginning of a response
				answers = append(answers, servertest.Encoded(t, object{"status": 500, "body": object{"error": object{"message": strings.Repeat("z", 7*first) + writings(sweptSecrets["variable"], first)}}}))
			}
			for cut := 1; cut < 40; cut += cutStep { // the secret is where the evidence, or the recording, ends
				answers = append(answers, servertest.Encoded(t, object{"status": 500, "headers": object{"content-type": "text/plain"}, "body": strings.Repeat("x", 16<<10-cut) + sweptSecrets[own[kind]] + sweptSecrets["variable"] + strings.Repeat("y", 100)}))
			}
			for i, answer := range answers {
				if kind == "send-email" && i > 0 {
					answer = servertest.Encoded(t, object{"status": 550, "body": "refused " + sweptSecrets["mail"] + " " + hex.EncodeToString([]byte(sweptSecrets["variable"]))})
				}
				rules := `{"rules": []}`
				if answer != "" {
					rules = fmt.Sprintf(`{"rules": [{"match": {"nodeType": %q}, "answer": %s}]}`, kind, answer)
				}
				putRules(t, s.Root, rules)
				out := ada.Call(t, "blueprint.execute", object{"id": id, "inputData": object{"all": all}, "record": true})
				run, _ := at(out.Payload(), "executionId").(string)
				if out.Status != http.StatusOK || run == "" {
					t.Fatalf("%d %s, want %v and not empty", out.Status, out.Text, http.StatusOK)
				}
				name := fmt.Sprint(kind, " ", i, " ")
				note := func(where, text string) {
					shown[name+where], kept[name+where] = text, own[kind]
					masked += strings.Count(text, "***")
				}
				note("result", out.Text)
				for _, procedure := range []string{"execution.getExecutionStatus", "execution.getRecord", "execution.getExchanges", "execution.export", "execution.exportTest", "execution.subscribe"} {
					note(procedure, ada.Call(t, procedure, object{"executionId": run}).Text)
				}
				note("execution.getExecutionLogs", ada.Call(t, "execution.getExecutionLogs", object{"blueprintId": id}).Text)
				note("execution.listRuns", ada.Call(t, "execution.listRuns", object{"blueprintId": id}).Text)
				note("/sandbox/calls", s.Root.Send(t, http.MethodGet, "/sandbox/calls", "").Text)
			}
		})
	}
	// Deliveries that start nothing, and events that other blueprints receive.
	ears := ada.IDOf(t, "blueprint.create", object{"title": "ears", "blueprint_map": object{"nodes": []any{node("it", "transform", object{"expression": "inputData"})}}})
	ear := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": ears, "triggerType": "event", "config": object{"event": "custom.swept"}})
	mouth := ada.IDOf(t, "blueprint.create", object{"title": "mouth", "environment_variables": variables, "blueprint_map": object{"nodes": []any{
		node("it", "emit-event", object{"event": "swept", "data": object{"t": "{{token}}", "data": sweptData}})}}})
	hook := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": mouth, "triggerType": "webhook", "config": object{}})
	api := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": mouth, "triggerType": "api", "config": object{"inputSchema": object{"type": "object", "additionalProperties": false}}})
	ada.Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, servertest.Encoded(t, object{"d": sweptData}), "X-D", sweptData)
	ada.Send(t, http.MethodPost, "/v1/triggers/"+api+"/fire", servertest.Encoded(t, object{sweptData: sweptData}))
	s.Advance(t, "0s")
	note := func(where, text string) { shown[where], kept[where] = text, "variable" }
	for _, trigger := range []string{ear, hook, api} {
		history := ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger})
		note("history of "+trigger, servertest.Encoded(t, history))
		for _, row := range at(history, "firings").([]any) {
			note("explain "+at(row, "id").(string), ada.Call(t, "blueprintTriggers.explain", object{"firingId": at(row, "id")}).Text)
			if at(row, "triggerId") == ear {
				status := ada.OK(t, "execution.getExecutionStatus", object{"executionId": at(row, "executionId")})
				note("run that heard", servertest.Encoded(t, status))
				if at(status, "status") != "completed" || at(at(status, "steps").([]any)[0], "output.data.t") != "***" {
					t.Errorf("the subscriber: %s, want status completed and output.data.t ***", servertest.Encoded(t, status))
				}
			}
		}
	}
	note("metrics", s.Root.Send(t, http.MethodGet, "/metrics", "").Text)
	note("ready", s.Root.Send(t, http.MethodGet, "/readyz?verbose", "").Text)
	note("audit", ada.Call(t, "auditLog.list", object{}).Text)
	copied := path + ".backup"
	if _, err := s.Store.Backup(t.Context(), copied, store.BackupOptions{Version: "test"}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	note("server log", s.Logs.String())
	for where, text := range shown {
		for _, of := range []string{"variable", kept[where]} {
			if in := swept(text, sweptSecrets[of]); len(in) > 0 {
				t.Errorf("%s holds the secret of %s: %.300q, want none", where, of, fmt.Sprint(in))
			}
		}
	}
	if strings.Contains(shown["server log"], "panic") || masked < leastMasked {
		t.Errorf("only %d places are masked, so little was tried; want no \"panic\" and at least %v", masked, leastMasked)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for of, secret := range sweptSecrets {
			t.Run(of, func(t *testing.T) {
				if in := swept(string(data), secret); len(in) > 0 {
					t.Errorf("%s holds the secret of %s: %.300q, want none", filepath.Base(file), of, fmt.Sprint(in))
				}
			})
		}
		for _, form := range []string{sweptData, base64.StdEncoding.EncodeToString([]byte(sweptData))[4:32], hex.EncodeToString([]byte(sweptData))} {
			for rest, found := data, 0; found < 3; found++ {
				i := bytes.Index(rest, []byte(form))
				if i < 0 {
					break
				}
				if near := rest[max(0, i-200):i]; !bytes.Contains(near, []byte(`"stop"`)) && !bytes.Contains(near, []byte(`"config"`)) { // the map contains it in plain text
					t.Errorf("%s holds data of runs: %q", filepath.Base(file), rest[max(0, i-150):min(len(rest), i+50)])
				}
				rest = rest[i+len(form):]
			}
		}
	}
}
