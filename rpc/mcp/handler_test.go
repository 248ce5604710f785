package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	client "blueprintd/engine/nodes/mcp"
	"blueprintd/foundation/outbound"
	"blueprintd/rpc/agents"
)

// fakeTools are the tools of each user, and the outcome of a call.
type fakeTools struct {
	published map[string][]Published
	outcome   *Outcome
	err       error
	got       []string // user, trigger and input of each call
}

func (d *fakeTools) Published(_ context.Context, principal blueprint.Principal, most int) ([]Published, error) {
	if principal.UserID == "lost" {
		return nil, errors.New("the disk is gone")
	}
	list := d.published[principal.UserID]
	return list[:min(len(list), most)], nil
}

func (d *fakeTools) Call(_ context.Context, principal blueprint.Principal, tool *Published, arguments any, r *http.Request) (*Outcome, error) {
	input, _ := blueprint.Encode(arguments)
	d.got = append(d.got, fmt.Sprintf("%s %s %s %s", principal.UserID, tool.ID, input, r.Header.Get("X-Test")))
	return d.outcome, d.err
}

// serve serves requests as the user in the header X-User.
func serve(t *testing.T, d *fakeTools) string {
	t.Helper()
	h := NewHandler(Options{Tools: d, Version: "1", MaxBody: 10_000})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, runner(r.Header.Get("X-User"))); err != nil {
			w.WriteHeader(blueprint.CodeOf(err).HTTPStatus())
			io.WriteString(w, err.Error())
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// runner returns a caller whose key may run blueprints.
func runner(user string) Caller {
	return Caller{Principal: blueprint.Principal{UserID: user}, Caller: agents.Caller{Scopes: blueprint.KeyScopes{blueprint.ScopeRun}}}
}

func send(t *testing.T, url, user, method, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-User": user, "X-Test": "seen"} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(data)
}

// ask sends a request and returns its result or error as JSON.
func ask(t *testing.T, url, user, method, params string) string {
	t.Helper()
	status, answer := send(t, url, user, "POST", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	value, err := blueprint.Decode([]byte(answer))
	object, _ := value.(map[string]any)
	if err != nil || status != 200 || object["id"] == nil {
		t.Fatalf("%d %s, want 200 and id not nil", status, answer)
	}
	delete(object, "id")
	delete(object, "jsonrpc")
	out, _ := blueprint.Encode(object)
	return string(out)
}

func jsonValue(t *testing.T, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestListOfTools(t *testing.T) {
	d := &fakeTools{published: map[string][]Published{
		"ann": {
			{ID: "1", Name: "say-hello", Label: "Say  HELLO!", Title: "T", Description: "greets", InputSchema: jsonValue(t, `{"type":"object","properties":{"n":{"maximum":1.50}}}`)},
			{ID: "3", Name: "say-hello-3", Title: "say-hello", InputSchema: jsonValue(t, `{"type":["null","object"],"required":["a"]}`)},
			{ID: "4", Name: "takes-a-list", Title: "Takes a list", InputSchema: jsonValue(t, `{"type":"array"}`)},
			{ID: "5", Name: "blueprint", Title: "日本", InputSchema: true},
			{ID: "6", Name: "no", Title: "no", InputSchema: false},
			{ID: "7", Name: "any", Title: "any", InputSchema: jsonValue(t, `{"anyOf":[{"required":["a"]}]}`)},
		},
		"ben": {{ID: "9", Name: "his", Title: "His"}},
	}}
	url := serve(t, d)
	want := `{"result":{"cacheScope":"private","tools":[` + strings.Join([]string{
		`{"description":"greets","inputSchema":{"properties":{"n":{"maximum":1.50}},"type":"object"},"name":"say-hello","title":"Say  HELLO!"}`,
		`{"inputSchema":{"required":["a"],"type":"object"},"name":"say-hello-3","title":"say-hello"}`,
		`{"inputSchema":{"type":"object"},"name":"blueprint","title":"日本"}`,
		`{"inputSchema":{"anyOf":[{"required":["a"]}],"type":"object"},"name":"any","title":"any"}`,
	}, ",") + `],"ttlMs":0}}`
	if got := ask(t, url, "ann", "tools/list", `{}`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := ask(t, url, "cid", "tools/list", `{}`); !strings.Contains(got, `"tools":[]`) {
		t.Errorf("got %s, want \"tools\":[] in it", got)
	}
	if got := ask(t, url, "lost", "tools/list", `{}`); got != `{"error":{"code":-32603,"message":"internal error"}}` {
		t.Errorf("got %s, want {\"error\":{\"code\":-32603,\"message\":\"internal error\"}}", got)
	}
	for i := range 1200 {
		d.published["many"] = append(d.published["many"], Published{ID: "x", Name: fmt.Sprintf("t-%d", i+1), Title: "T"})
	}
	session, err := client.New(outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), "1").Open(t.Context(), &blueprint.OpenConnection{
		Type: blueprint.ConnectionMCPServer, Config: map[string]any{"url": url},
		Authorize: func(_ context.Context, r *http.Request) error { r.Header.Set("X-User", "many"); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	_, err = session.Tools(t.Context()) // in three pages; the client reads at most two
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || failure.Code != "too_large" || !strings.Contains(failure.Message, "1000") {
		t.Errorf("got %v, want too_large", err)
	}
	if got := ask(t, url, "many", "tools/list", `{"cursor":"1199"}`); !strings.Contains(got, `"name":"t-1200"`) || strings.Contains(got, "nextCursor") {
		t.Errorf("got %s, want \"name\":\"t-1200\" in it and no \"nextCursor\"", got)
	}
	for _, cursor := range []string{"x", "-1"} {
		if got := ask(t, url, "ann", "tools/list", `{"cursor":"`+cursor+`"}`); !strings.Contains(got, "-32602") {
			t.Errorf("cursor %s: %s, want \"-32602\" in it", cursor, got)
		}
	}
}

func TestCalls(t *testing.T) {
	d := &fakeTools{published: map[string][]Published{"ann": {{ID: "1", Name: "do-it", Title: "Do it"}}, "ben": {{ID: "2", Name: "other", Title: "Other"}}}}
	url := serve(t, d)
	run := func(status blueprint.Status, output string) *Outcome {
		return &Outcome{ExecutionID: "exec_1", Status: status, Output: jsonValue(t, output)}
	}
	failed := &Outcome{ExecutionID: "exec_1", Status: blueprint.StatusFailed, Failure: &blueprint.RunError{NodeID: "n", Message: "it broke", Code: "x"}}
	const fine = `{"name":"do-it","arguments":{"a":1.50}}`
	for _, test := range []struct {
		name, params string
		outcome      *Outcome
		err          error
		want         string
	}{
		{"an object", fine, run("completed", `{"b":12345678901234567890}`), nil, `{"result":{"content":[{"text":"{\"b\":12345678901234567890}","type":"text"}],"structuredContent":{"b":12345678901234567890}}}`},
		{"a string", fine, run("completed", `"<é>"`), nil, `{"result":{"content":[{"text":"<é>","type":"text"}],"structuredContent":{"output":"<é>"}}}`},
		{"a list", fine, run("completed", `[1]`), nil, `{"result":{"content":[{"text":"[1]","type":"text"}],"structuredContent":{"output":[1]}}}`},
		{"null", fine, run("completed", `null`), nil, `{"result":{"content":[{"text":"null","type":"text"}],"structuredContent":{"output":null}}}`},
		{"failed", fine, failed, nil, `{"result":{"content":[{"text":"the run failed at node n: it broke (execution exec_1)","type":"text"}],"isError":true,"structuredContent":{"error":{"code":"x","message":"it broke","nodeId":"n"},"executionId":"exec_1","status":"failed"}}}`},
		{"paused", fine, run("paused", `null`), nil, `{"result":{"content":[{"text":"execution exec_1 is paused: it waits for an answer","type":"text"}],"structuredContent":{"executionId":"exec_1","status":"paused"}}}`},
		{"running", fine, run("running", `null`), nil, `{"result":{"content":[{"text":"execution exec_1 is running and has no output yet","type":"text"}],"structuredContent":{"executionId":"exec_1","status":"running"}}}`},
		{"bad arguments", fine, nil, blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"inputData", "a"}, Message: "must be a string"}}),
			`{"result":{"content":[{"text":"arguments.a: must be a string","type":"text"}],"isError":true,"structuredContent":{"error":{"code":"BAD_REQUEST","issues":[{"message":"must be a string","path":["arguments","a"]}],"message":"arguments.a: must be a string"}}}}`},
		{"full", fine, nil, blueprint.Errorf(blueprint.CodeUnavailable, "the queue is full"), `{"result":{"content":[{"text":"the queue is full","type":"text"}],"isError":true,"structuredContent":{"error":{"code":"SERVICE_UNAVAILABLE","message":"the queue is full"}}}}`},
		{"deleted", fine, nil, blueprint.Errorf(blueprint.CodeNotFound, "gone"), `{"error":{"code":-32602,"message":"unknown tool \"do-it\"; list the tools with tools/list"}}`},
		{"internal error", fine, nil, errors.New("secret detail"), `{"error":{"code":-32603,"message":"internal error"}}`},
		{"of another user", `{"name":"other"}`, nil, nil, `{"error":{"code":-32602,"message":"unknown tool \"other\"; list the tools with tools/list"}}`},
		{"no object", `{"name":"do-it","arguments":[1]}`, nil, nil, `{"error":{"code":-32602,"message":"the arguments must be an object"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d.outcome, d.err, d.got = test.outcome, test.err, nil
			if got := ask(t, url, "ann", "tools/call", test.params); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			want := []string{`ann 1 {"a":1.50} seen`}
			if test.params != fine {
				want = nil
			}
			if !slices.Equal(d.got, want) {
				t.Errorf("called %q, want %v", d.got, want)
			}
		})
	}
	d.outcome, d.err, d.got = run("completed", `1`), nil, nil
	ask(t, url, "ann", "tools/call", `{"name":"do-it"}`)
	if !slices.Equal(d.got, []string{`ann 1 {} seen`}) {
		t.Errorf("called %q, want %v", d.got, []string{`ann 1 {} seen`})
	}
}

// The client of package clients decodes the results of the handler.
func TestOurselves(t *testing.T) {
	d := &fakeTools{published: map[string][]Published{"": {{ID: "1", Name: "do-it", Title: "Do it"}}}, outcome: &Outcome{Status: blueprint.StatusCompleted, Output: jsonValue(t, `{"n":1.10}`)}}
	session, err := client.New(outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), "1").Open(t.Context(), &blueprint.OpenConnection{Type: blueprint.ConnectionMCPServer, Config: map[string]any{"url": serve(t, d)}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.Call(t.Context(), "do-it", map[string]any{"a": true})
	if err != nil || session.Server() != "blueprintd" || !blueprint.Equal(result.Structured, jsonValue(t, `{"n":1.10}`)) || !slices.Equal(d.got, []string{` 1 {"a":true} `}) {
		t.Errorf("%+v, %v, %q", result, err, d.got)
	}
}

func TestRefusedRequests(t *testing.T) {
	url := serve(t, &fakeTools{})
	for _, test := range []struct {
		name, method, body string
		status             int
		part               string
	}{
		{"GET", "GET", "", 405, ""},
		{"DELETE", "DELETE", "", 405, ""},
		{"PUT", "PUT", "{}", 405, ""},
		{"nothing", "POST", "", 400, "JSON"},
		{"no JSON", "POST", "{", 400, "JSON"},
		{"a batch", "POST", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, "batch"},
		{"no message", "POST", `{}`, 400, ""},
		{"too deep", "POST", `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, 400, "deeper"},
		{"too large", "POST", `"` + strings.Repeat("x", 20_000) + `"`, 413, "10000"},
		{"no UTF-8", "POST", "\"\xff\"", 400, "UTF-8"},
		{"ping", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `"result":{}`},
		{"prompts", "POST", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, 200, "-32601"},
		{"an open ear", "POST", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`, 200, "-32601"},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"initialize", "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, 200, `"capabilities":{"tools":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, answer := send(t, url, "ann", test.method, test.body)
			if status != test.status || !strings.Contains(answer, test.part) {
				t.Errorf("%d %s, want %v and %q in it", status, answer, test.status, test.part)
			}
		})
	}
}

func FuzzHandler(f *testing.F) {
	d := &fakeTools{published: map[string][]Published{"": {{ID: "1", Name: "do-it", Title: "Do it"}}}, outcome: &Outcome{Status: blueprint.StatusCompleted}}
	h := NewHandler(Options{Tools: d, Version: "1", MaxBody: 10_000})
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do-it","arguments":{}}}`, "2025-11-25")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "2026-07-28")
	f.Add(`{"jsonrpc":"2.0","id":"x","result":{}}`, "")
	f.Fuzz(func(t *testing.T, body, version string) {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", version)
		w := httptest.NewRecorder()
		if err := h.Serve(w, r, runner("")); err == nil && w.Code == 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
