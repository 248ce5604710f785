package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// stub answers initialize as a server of the days before server/discover, and
// anything else as the test says.
type stub func(w http.ResponseWriter, r *http.Request, method, id string)

func (s stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	value, _ := blueprint.Decode(body)
	message, _ := value.(map[string]any)
	method, _ := message["method"].(string)
	id := fmt.Sprint(message["id"])
	switch {
	case r.Method == http.MethodDelete || method == "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	case method == "server/discover":
		http.Error(w, "no such thing", http.StatusNotFound)
	case method == "initialize":
		w.Header().Set("Mcp-Session-Id", "session-1")
		result(w, id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"Stub\n","version":"1"}}`)
	default:
		s(w, r, method, id)
	}
}

func result(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func refuse(w http.ResponseWriter, id, message string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":%q}}`, id, message)
}

func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

const fine = `{"content":[{"type":"text","text":"ok"}]}`

func TestHostileServers(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request, text string) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
	for _, test := range []struct {
		name   string
		answer stub
		code   string // "" is success
		text   string
		wait   time.Duration
	}{
		{name: "fine", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) { result(w, id, fine) }},
		{name: "the answer, and a stream that never ends", answer: func(w http.ResponseWriter, r *http.Request, _, id string) {
			events(w, `data: {"jsonrpc":"2.0","id":`+id+`,"result":`+fine+"}\n\n")
			<-r.Context().Done()
		}},
		{name: "silence", answer: func(_ http.ResponseWriter, r *http.Request, _, _ string) { <-r.Context().Done() }, code: "timeout", text: "in time"},
		{name: "silence in a stream", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			events(w, ": hold on\n\n")
			<-r.Context().Done()
		}, code: "timeout", text: "in time"},
		{name: "an endless object", answer: func(w http.ResponseWriter, r *http.Request, _, id string) {
			w.Header().Set("Content-Type", "application/json")
			endless(w, r, strings.Repeat(" ", 1<<10))
		}, code: "too_large"},
		{name: "an endless event", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			events(w, "data: ")
			endless(w, r, strings.Repeat("x", 1<<10))
		}, code: "too_large"},
		{name: "endless events", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			events(w, "")
			endless(w, r, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`+"\n\n")
		}, code: "too_large"},
		{name: "an endless error", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			w.WriteHeader(http.StatusBadRequest)
			endless(w, r, strings.Repeat("x", 1<<10))
		}, code: "too_large"},
		{name: "deep", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			result(w, id, strings.Repeat("[", 30_000)+strings.Repeat("]", 30_000))
		}, code: "mcp_error"},
		{name: "deeper than we go", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			result(w, id, `{"content":[],"structuredContent":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`}`)
		}, code: "mcp_error"},
		{name: "questions", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			events(w, `data: {"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`+"\n\n"+
				`data: {"jsonrpc":"2.0","id":`+id+`,"result":`+fine+"}\n\n")
		}},
		{name: "a stream that is taken up again without end", answer: func(w http.ResponseWriter, r *http.Request, _, id string) {
			events(w, "retry: 1\nid: "+time.Now().Format(time.RFC3339Nano)+"\ndata:\n\n")
		}, code: "connect_failed", text: "repeatedly closed"},
		{name: "no JSON", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "<html>")
		}, code: "mcp_error", text: "does not follow the protocol"},
		{name: "a page", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) { io.WriteString(w, "<html>") }, code: "mcp_error", text: "does not follow the protocol"},
		{name: "an answer to somebody else", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) { result(w, "4711", fine) }, code: "mcp_error", text: "an unknown request id"},
		{name: "another answer", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) { result(w, id, `"x"`) }, code: "mcp_error", text: "something other"},
		{name: "content of another kind", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) { result(w, id, `{"content":"x"}`) }, code: "mcp_error", text: "something other"},
		{name: "a number that no float holds", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			result(w, id, `{"content":[],"structuredContent":{"n":1e99999}}`)
		}},
		{name: "an unknown kind of content", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			result(w, id, `{"content":[{"type":"hologram","x":1}]}`)
		}},
		{name: "more input", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			result(w, id, `{"resultType":"input_required","inputRequests":{}}`)
		}, code: "mcp_error", text: "more input"},
		{name: "refused at length", answer: func(w http.ResponseWriter, _ *http.Request, _, id string) {
			refuse(w, id, strings.Repeat("é\n", 5000))
		}, code: "mcp_error", text: "é é"},
		{name: "unauthorized", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) { w.WriteHeader(401) }, code: "http_status", text: "credentials"},
		{name: "busy", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
		}, code: "http_status", text: "503", wait: 7 * time.Second},
		{name: "busy until", answer: func(w http.ResponseWriter, _ *http.Request, _, _ string) {
			w.Header().Set("Date", "Fri, 01 Jan 2100 00:00:00 GMT")
			w.Header().Set("Retry-After", "Fri, 01 Jan 2100 00:00:09 GMT")
			w.WriteHeader(429)
		}, code: "http_status", text: "429", wait: 9 * time.Second},
		{name: "hung up", answer: func(http.ResponseWriter, *http.Request, string, string) { panic(http.ErrAbortHandler) }, code: "connect_failed", text: "closed the connection"},
		{name: "redirected for ever", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
		}, code: "too_many_redirects"},
		{name: "redirected to a closed address", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusSeeOther)
		}, code: "address_refused"},
		{name: "redirected elsewhere with all that was said", answer: func(w http.ResponseWriter, r *http.Request, _, _ string) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		}, code: "host_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			defer server.Close()
			client := New(loopback, "1")
			client.maxAnswer, client.closeTimeout = 100_000, 100*time.Millisecond
			timeout := "20000"
			if test.code == "timeout" {
				timeout = "100"
			}
			session, err := client.Open(t.Context(), connectionTo(server.URL, "timeoutMs", timeout))
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if session.Server() != "Stub" {
				t.Errorf("server %q, want Stub", session.Server())
			}
			got, err := session.Call(t.Context(), "x", map[string]any{})
			if test.code == "" {
				if err != nil {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			wantFailure(t, err, test.code, false, test.text)
			var f *blueprint.Failure
			if errors.As(err, &f) && (f.RetryAfter != test.wait || len(f.Message) > 2000) {
				t.Errorf("%+v, want wait %v", f, test.wait)
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	server := httptest.NewServer(stub(func(w http.ResponseWriter, _ *http.Request, _, id string) { result(w, id, fine) }))
	defer server.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	other := connectionTo(server.URL)
	other.Type = blueprint.ConnectionHTTP
	lost := connectionTo(server.URL)
	lost.Config["url"] = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	closed := New(outbound.New(outbound.Options{}), "1")
	for _, test := range []struct {
		name       string
		client     *Client
		connection *blueprint.OpenConnection
		code, text string
		permanent  bool
	}{
		{"another type", nil, other, "connection_unavailable", "type http", true},
		{"no url", nil, &blueprint.OpenConnection{Type: blueprint.ConnectionMCPServer}, "bad_config", "no url", true},
		{"stdio", nil, connectionTo(server.URL, "command", `"npx"`), "bad_config", "command", true},
		{"transport", nil, connectionTo(server.URL, "transport", `"stdio"`), "bad_config", "transport", true},
		{"file", nil, connectionTo("file:///bin/sh"), "bad_config", "http", true},
		{"password", nil, connectionTo("http://a:b@example.com"), "bad_config", "password", true},
		{"timeout", nil, connectionTo(server.URL, "timeoutMs", "0"), "bad_config", "timeoutMs", true},
		{"credentials for another host", nil, lost, "host_not_allowed", "not this one", true},
		{"no server", nil, connectionTo(gone.URL), "connect_failed", "refused", false},
		{"silence", nil, connectionTo(silent.URL, "timeoutMs", "100"), "timeout", "in time", false},
		{"private", closed, connectionTo(server.URL), "address_refused", "--allow-net", false},
		{"no TLS", nil, connectionTo(strings.Replace(server.URL, "http:", "https:", 1)), "tls_failed", "TLS", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := test.client
			if client == nil {
				client = New(loopback, "1")
			}
			_, err := client.Check(t.Context(), test.connection)
			wantFailure(t, err, test.code, true, test.text)
			var f *blueprint.Failure
			if errors.As(err, &f) && f.Permanent != test.permanent {
				t.Errorf("permanent: %v, want %v", f.Permanent, test.permanent)
			}
		})
	}
	if name, err := New(loopback, "1").Check(t.Context(), connectionTo(server.URL, "timeoutMs", "null")); err != nil || name != "Stub" {
		t.Errorf("%q, %v; want Stub", name, err)
	}
	asks := connectionTo(server.URL)
	asks.Authorize = func(context.Context, *http.Request) error {
		return &blueprint.Pause{Await: blueprint.Await{Prompt: "sign in"}}
	}
	var pause *blueprint.Pause
	if _, err := New(loopback, "1").Open(t.Context(), asks); !errors.As(err, &pause) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(loopback, "1").Open(ctx, connectionTo(server.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestTooManyTools(t *testing.T) {
	for name, page := range map[string]string{
		"pages": `{"tools":[],"nextCursor":"more"}`,
		"tools": `{"tools":[` + strings.Repeat(`{"name":"a"},`, 600) + `{"name":"b"}],"nextCursor":"more"}`,
		"bytes": `{"tools":[{"name":"a","description":"` + strings.Repeat("x", 90_000) + `"}],"nextCursor":"more"}`,
	} {
		server := httptest.NewServer(stub(func(w http.ResponseWriter, _ *http.Request, _, id string) { result(w, id, page) }))
		client := New(loopback, "1")
		client.maxAnswer = 100_000
		session, err := client.Open(t.Context(), connectionTo(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		_, err = session.Tools(t.Context())
		t.Run(name, func(t *testing.T) { wantFailure(t, err, "too_large", true, "tools") })
		session.Close()
		server.Close()
	}
}

// A server that asks and asks is not answered for ever.
func TestQuestionsWithoutEnd(t *testing.T) {
	var answers atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(`"method"`)) && r.Method == http.MethodPost {
			answers.Add(1)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		stub(func(w http.ResponseWriter, _ *http.Request, _, id string) {
			var questions strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&questions, `data: {"jsonrpc":"2.0","id":%d,"method":"roots/list"}`+"\n\n", i)
			}
			events(w, questions.String()+`data: {"jsonrpc":"2.0","id":`+id+`,"result":`+fine+"}\n\n")
		}).ServeHTTP(w, r)
	}))
	defer server.Close()
	session, err := New(loopback, "1").Open(t.Context(), connectionTo(server.URL, "timeoutMs", "5000"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Call(t.Context(), "x", nil)
	session.Close()
	if n := answers.Load(); n > maxRequests || n == 0 {
		t.Errorf("%d questions were answered; the call gave %v, want at most %v and other than 0", n, err, maxRequests)
	}
}

// A cancelled call leaves no goroutine, even if the server never responds.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(stub(func(w http.ResponseWriter, r *http.Request, method, _ string) {
		if method == "tools/call" {
			cancel()
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	session, err := New(loopback, "1").Open(ctx, connectionTo(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Call(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	session.Close()
}

func TestText(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{`[{"type":"text","text":"one"},{"type":"image","text":"no"},{"type":"text","text":"two\u0007"}]`, "one two\ufffd"},
		{`[{"type":"text","text":"123456789012"}]`, "1234567…"},
		{`["x",{"type":"text"}]`, ""},
	} {
		t.Run(test.content, func(t *testing.T) {
			content, _ := blueprint.Decode([]byte(test.content))
			if got := (&Result{Content: content.([]any)}).Text(10); got != test.want {
				t.Errorf("%q, want %v", got, test.want)
			}
		})
	}
}
