package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestARecordedFailureReplaysAsItWas records calls that fail in every way, and replays the
// run without a network: each failure is the same.
func TestARecordedFailureReplaysAsItWas(t *testing.T) {
	t.Parallel()
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `out of order`)
		case "/latin":
			w.Header().Set("Content-Type", "text/plain; charset=windows-1252")
			fmt.Fprint(w, "\x80")
		case "/late":
			<-r.Context().Done()
		case "/late-end":
			fmt.Fprint(w, "some")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/hang-up":
			panic(http.ErrAbortHandler)
		case "/half":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half of it")
		case "/around":
			http.Redirect(w, r, "/around", http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/closed-port":
			http.Redirect(w, r, "http://127.0.0.1:25/", http.StatusFound)
		case "/no-such-host":
			http.Redirect(w, r, "http://nowhere.invalid/", http.StatusFound)
		case "/large":
			for range 11 {
				fmt.Fprint(w, strings.Repeat("x", 1<<20))
			}
		case "/headers":
			for i := range 40 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 8<<10))
			}
		}
	}))
	defer world.Close()
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	connection := func(kind string, config object) string {
		return s.Root.IDOf(t, "connection.create", object{"name": kind, "type": kind, "config": config})
	}
	host, port, _ := net.SplitHostPort(closed.Addr().String())
	mail := connection("smtp", object{"host": host, "port": json.Number(port), "tls": "none", "from": "a@example.com"})
	tools := connection("mcp-server", object{"url": "http://" + closed.Addr().String() + "/mcp", "auth": object{"type": "none"}})
	model := connection("ai-provider", object{"provider": "openai", "apiKey": "canary-of-replay", "baseUrl": world.URL + "/500"})
	chat := connection("slack", object{"botToken": "canary-of-replay", "baseUrl": world.URL + "/half"})
	var nodes []any
	add := func(id, kind string, config object, more ...any) {
		n := node(id, kind, config)
		n["onError"] = "continue"
		for i := 0; i < len(more); i += 2 {
			n[more[i].(string)] = more[i+1]
		}
		nodes = append(nodes, n)
	}
	for _, path := range []string{"500", "latin", "hang-up", "half", "around", "metadata", "closed-port", "no-such-host", "large", "headers"} {
		add(path, "http-request", object{"url": world.URL + "/" + path})
	}
	add("late", "http-request", object{"url": world.URL + "/late"}, "timeoutMs", 200)
	add("late-end", "http-request", object{"url": world.URL + "/late-end"}, "timeoutMs", 200)
	add("refused", "http-request", object{"url": "http://" + closed.Addr().String() + "/", "method": "POST", "body": object{"n": 1}})
	add("again", "http-request", object{"url": "http://" + closed.Addr().String() + "/again"}, "retry", object{"maxAttempts": 2, "delayMs": 10})
	add("unknown", "http-request", object{"url": "http://nobody.invalid/"})
	add("private", "http-request", object{"url": "http://10.0.0.1/"})
	add("port", "http-request", object{"url": "http://127.0.0.1:25/"})
	add("spelling", "http-request", object{"url": "http://0x7f.1/"})
	add("untrusted", "http-request", object{"url": secure.URL})
	add("no-tls", "http-request", object{"url": strings.Replace(world.URL, "http:", "https:", 1)})
	add("mail", "send-email", object{"connectionId": mail, "to": "b@example.com", "subject": "s", "text": "t"})
	add("tool", "mcp-tool", object{"connectionId": tools, "tool": "any", "arguments": object{}})
	add("model", "ai-prompt", object{"connectionId": model, "model": "m", "prompt": "p"})
	add("chat", "send-slack", object{"connectionId": chat, "channel": "#c", "text": "t"})
	id := s.Root.IDOf(t, "blueprint.create", object{"title": "Fails", "blueprint_map": object{"nodes": nodes}})
	execution := s.Root.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}, "record": true})
	s.Root.Await(t, execution, blueprint.StatusCompleted)
	status := s.Root.OK(t, "execution.getExecutionStatus", object{"executionId": execution})
	for _, step := range at(status, "steps").([]any) {
		if (at(step, "status") == "failed") != (at(step, "nodeId") != "latin") {
			t.Errorf("%v is %v", at(step, "nodeId"), at(step, "status"))
		}
	}
	file, err := blueprint.Encode(s.Root.OK(t, "execution.export", object{"executionId": execution}))
	name := filepath.Join(t.TempDir(), "a.run.json")
	if err != nil || os.WriteFile(name, file, 0o600) != nil {
		t.Fatalf("%v, want nil", err)
	}
	var out, problems bytes.Buffer
	code := run([]string{"blueprintd", "replay", name}, strings.NewReader(""), &out, &problems)
	if code != 0 {
		t.Errorf("exit %d\n%s%s, want 0", code, out.String(), problems.String())
	}
}

// TestAFailureBesideOtherNodesReplaysAlike records runs in which a node fails while others
// are running, which a replay, one node at a time, does not start.
func TestAFailureBesideOtherNodesReplaysAlike(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		both.Done()
		both.Wait()
		if strings.HasPrefix(r.URL.Path, "/fails") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer world.Close()
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	call := func(id, path string) object { return node(id, "http-request", object{"url": world.URL + path}) }
	for _, test := range []struct {
		name  string
		nodes []any
		edges []any
		idle  string
	}{
		{"branches", []any{call("a", "/fails"), call("b", "/"), node("m", "merge", object{})}, []any{object{"source": "a", "target": "m"}, object{"source": "b", "target": "m"}}, "b"},
		{"items", []any{node("l", "for-each", object{"items": []any{1, 2}, "concurrency": 2, "nodes": []any{call("i", "/fails{{index}}")}})}, nil, "l[1]/i"},
	} {
		t.Run(test.name, func(t *testing.T) {
			both.Add(2)
			m := object{"nodes": test.nodes}
			input := object{"nodes": test.nodes, "record": true}
			if test.edges != nil {
				m["edges"], input["edges"] = test.edges, test.edges
			}
			input["options"] = object{"blueprintId": s.Root.IDOf(t, "blueprint.create", object{"title": test.name, "blueprint_map": m})}
			execution := s.Root.IDOf(t, "execution.executeBlueprintWithLogging", input)
			s.Root.Await(t, execution, blueprint.StatusFailed)
			file, err := blueprint.Encode(s.Root.OK(t, "execution.export", object{"executionId": execution}))
			name := filepath.Join(t.TempDir(), "a.run.json")
			if err != nil || os.WriteFile(name, file, 0o600) != nil {
				t.Fatalf("%v, want nil", err)
			}
			var out, problems bytes.Buffer
			if code := run([]string{"blueprintd", "replay", name}, strings.NewReader(""), &out, &problems); code != 0 {
				t.Errorf("exit %d\n%s%s, want 0", code, out.String(), problems.String())
			}
			if !strings.Contains(problems.String(), "not replayed") || !strings.HasSuffix(strings.TrimSpace(problems.String()), ": "+test.idle) {
				t.Errorf("standard error is %q, want that %s was not replayed", problems.String(), test.idle)
			}
		})
	}
}
