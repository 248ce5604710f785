package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// inJSON has a server write its log as JSON, all of it.
func inJSON(o *server.Options, logs io.Writer) {
	o.Logger = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// TestLogsHaveNoSecrets keeps a server busy, with what is right and what is
// wrong, and reads its log: every line is JSON, and nothing that a user wrote is
// in it.
func TestLogsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	var logs lockedBuffer
	const canary, hookSecret, input, key = `pä$$/w0rd+&="x"~ <12>`, `hook/sec+ret="1" ü`, `input&of<somebody>="2" ö`, "key-that-is-secret-3"
	path := filepath.Join(t.TempDir(), "logs.db")
	change := []func(*server.Options){servertest.AtNoon, servertest.OnFile(path), func(o *server.Options) {
		inJSON(o, &logs)
		o.APIKey, o.AllowNet = key, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}}
	s := servertest.New(t, change...)
	s.Root.Authorization = "Bearer " + key
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.Copy(w, r.Body)
	}))
	t.Cleanup(outside.Close)
	id := s.Root.IDOf(t, "blueprint.create", object{
		"title": input, "environment_variables": []any{object{"name": "token", "secret": true, "default": canary}},
		"blueprint_map": object{"nodes": []any{
			node("log", "log", object{"level": "error", "message": "{{token}} {{inputData.x}}"}),
			node("bad", "http-request", object{"method": "POST", "url": outside.URL + "/bad?{{token}}", "body": "{{token}}"}, "onError", "continue"),
			node("gone", "http-request", object{"method": "POST", "url": "http://127.0.0.1:1/?{{token}}", "body": "{{inputData.x}}"}, "onError", "continue"),
			node("number", "transform", object{"expression": "int(token + inputData.x)"}),
		}},
	})
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": hookSecret, "respond": "wait"}})
	body := servertest.Encoded(t, object{"x": input})
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(body))
	for _, headers := range [][]string{
		{"X-Signature", hex.EncodeToString(mac.Sum(nil))},
		{"X-Signature", hex.EncodeToString([]byte(hookSecret))},
		{"X-Signature", hex.EncodeToString(mac.Sum(nil)), "Content-Encoding", canary},
		{},
	} {
		s.Root.Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, body, headers...)
	}
	s.Root.Call(t, "blueprint.execute", object{"id": id, "inputData": object{"x": input}})
	s.Root.Call(t, "blueprint.execute", object{"id": id, "inputData": object{"x": input}, "variables": object{"token": object{"not": canary}}})
	s.Root.Call(t, "blueprint.update", object{"id": id, "title": []any{input}})
	s.Root.Send(t, http.MethodPost, "/api/trpc/blueprint.create", `{"json":{"title":"`+input)
	s.Root.Send(t, http.MethodPost, "/clock/advance", body)
	servertest.Caller{Server: s, Authorization: "Bearer " + canary[7:]}.Send(t, http.MethodGet, "/readyz?verbose", "")
	servertest.Caller{Server: s, Authorization: "Bearer " + key + "x"}.Send(t, http.MethodGet, "/api/trpc/blueprint.list", "")
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "GET /"+key+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+key+"\r\nbad header "+hookSecret+"\r\n\r\n")
	io.ReadAll(conn)
	conn.Close()
	ask := node("ask", "human", object{"prompt": "{{token}}"})
	paused := s.Root.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": []any{ask}}, "environment_variables": []any{object{"name": "token", "secret": true, "default": canary}}})
	s.Root.Await(t, s.Root.Launch(t, paused, object{"x": input}, ask), blueprint.StatusPaused)
	s.Stop()
	s = servertest.New(t, change...) // with a run to take up
	s.Stop()

	text := logs.String()
	for _, message := range []string{`"msg":"serving"`, `"msg":"stopping"`, `"msg":"stopped"`, `"msg":"unfinished runs recovered"`, `"database":"` + path + `"`, `"version":"` + version + `"`, `"keep_executions":"all"`, `"keep_firings":"all"`, `"max_disk":0`} {
		if !strings.Contains(text, message) {
			t.Errorf("the log does not have %s", message)
		}
	}
	for line := range strings.Lines(text) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["msg"] == nil || one["level"] == nil || one["time"] == nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	for name, one := range map[string]string{"secret variable": canary, "secret of the webhook": hookSecret, "input": input, "key": key} {
		t.Run(name, func(t *testing.T) {
			if in := servertest.Found(text, one); in != nil {
				t.Errorf("the %s is in the log as %q:\n%s", name, in, text)
			}
		})
	}
}
