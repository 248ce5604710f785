package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/rpc/agents"
)

// serveBuilders serves the tools that build blueprints, and two resources, for a caller with
// the scopes in X-User. Procedures answer with a value, or fail.
func serveBuilders(t *testing.T, value any, failure error) string {
	t.Helper()
	var aboutResources atomic.Bool
	h := NewHandler(Options{
		Tools:  &fakeTools{published: map[string][]Published{"u": {{ID: "1", Name: "do-it", Title: "Do it"}}}, outcome: &Outcome{Status: blueprint.StatusCompleted}},
		Agents: agents.New(nil), Version: "1", MaxBody: 10_000,
		Resources: func() []Resource {
			if !aboutResources.Load() {
				t.Error("the resources are read for another request")
			}
			return []Resource{
				{URI: "x://a", Name: "a", Title: "A", MIMEType: "text/plain", Read: func() (string, error) { return "content", nil }},
				{URI: "x://b", Name: "b", Read: func() (string, error) { return "", errors.New("a secret detail") }},
			}
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		aboutResources.Store(bytes.Contains(body, []byte(`"resources/`)))
		r.Body = io.NopCloser(bytes.NewReader(body))
		scopes, _, _ := blueprint.ParseScopes(r.Header.Get("X-User"))
		from := Caller{Principal: blueprint.Principal{UserID: "u"}, Caller: agents.Caller{Scopes: scopes, Call: func(_ context.Context, tool, procedure string, _ map[string]any) (any, error) {
			if !strings.HasPrefix(tool, agents.Prefix) || procedure == "" {
				t.Errorf("%q calls %q", tool, procedure)
			}
			return value, failure
		}}}
		if err := h.Serve(w, r, from); err != nil {
			w.WriteHeader(blueprint.CodeOf(err).HTTPStatus())
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestBuilders(t *testing.T) {
	const types = `{"name":"build_list_node_types"}`
	hinted := blueprint.WithHint(blueprint.Errorf(blueprint.CodeConflict, "it changed"), "read it again")
	for name, test := range map[string]struct {
		scopes, method, params string
		failure                error
		want                   string
	}{
		"a result":             {"write", "tools/call", types, nil, `{"result":{"content":[{"text":"{\"nodeTypes\":[]}","type":"text"}],"structuredContent":{"nodeTypes":[]}}}`},
		"a refusal":            {"write", "tools/call", types, hinted, `{"result":{"content":[{"text":"it changed; hint: read it again","type":"text"}],"isError":true,"structuredContent":{"error":{"code":"CONFLICT","hint":"read it again","message":"it changed"}}}}`},
		"an internal error":    {"write", "tools/call", types, errors.New("a secret detail"), `{"error":{"code":-32603,"message":"internal error"}}`},
		"another argument":     {"write", "tools/call", `{"name":"build_list_node_types","arguments":{"q":"x"}}`, nil, `"code":"BAD_REQUEST"`},
		"without the scope":    {"run", "tools/call", types, nil, `"code":"FORBIDDEN"`},
		"a misspelled name":    {"run,write", "tools/call", `{"name":"build_list_node_type"}`, nil, `"unknown tool \"build_list_node_type\"; list the tools with tools/list; did you mean \"build_list_node_types\"?"`},
		"the same, unoffered":  {"run", "tools/call", `{"name":"build_list_node_type"}`, nil, `"unknown tool \"build_list_node_type\"; list the tools with tools/list"`},
		"a blueprint":          {"run", "tools/call", `{"name":"do-it"}`, nil, `"structuredContent":{"output":null}`},
		"one without run":      {"write", "tools/call", `{"name":"do-it"}`, nil, `"unknown tool \"do-it\"; list the tools with tools/list"`},
		"a misspelled one":     {"run,write", "tools/call", `{"name":"do_it"}`, nil, `"unknown tool \"do_it\"; list the tools with tools/list; did you mean \"do-it\"?"`},
		"capabilities":         {"run", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, nil, `"capabilities":{"resources":{},"tools":{}},"instructions":"Each tool`},
		"builder instructions": {"write", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, nil, `"instructions":"Tools whose names begin with build_`},
		"resources":            {"run", "resources/list", `{}`, nil, `"resources":[{"mimeType":"text/plain","name":"a","title":"A","uri":"x://a"},{"name":"b","uri":"x://b"}]`},
		"a resource":           {"run", "resources/read", `{"uri":"x://a"}`, nil, `"contents":[{"mimeType":"text/plain","text":"content","uri":"x://a"}]`},
		"a broken resource":    {"run", "resources/read", `{"uri":"x://b"}`, nil, `{"error":{"code":-32603,"message":"internal error"}}`},
		"no such resource":     {"run", "resources/read", `{"uri":"x://c"}`, nil, `"code":-32602`},
		"templates":            {"run", "resources/templates/list", `{}`, nil, `"resourceTemplates":[]`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(t, serveBuilders(t, []any{}, test.failure), test.scopes, test.method, test.params); !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestListOfBuilders(t *testing.T) {
	url := serveBuilders(t, nil, nil)
	for scopes, want := range map[string][2]bool{"run": {true, false}, "write": {false, true}, "admin": {true, true}} {
		t.Run(scopes, func(t *testing.T) {
			got := ask(t, url, scopes, "tools/list", `{}`)
			if strings.Contains(got, `"name":"do-it"`) != want[0] || strings.Contains(got, `"name":"build_propose"`) != want[1] {
				t.Errorf("got %s, want the blueprint and the builders: %v", got, want)
			}
		})
	}
	if got := ask(t, url, "write", "tools/list", `{}`); !strings.Contains(got, `"annotations":{"idempotentHint":false,"openWorldHint":false,"readOnlyHint":true}`) {
		t.Errorf("a tool that only reads does not say so: %s", got)
	}
}
