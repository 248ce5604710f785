package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

const (
	modelID = "11111111-1111-4111-8111-111111111111"
	toolsID = "22222222-2222-4222-8222-222222222222"
	otherID = "33333333-3333-4333-8333-333333333333"
)

// services are the services of a prompt: a model with scripted responses, MCP servers,
// and a run that records its calls.
type services struct {
	t       *testing.T
	kind    *blueprint.NodeType
	model   *httptest.Server
	tools   map[string]*httptest.Server
	answers []string
	asked   []map[string]any
	called  []string // by the tools
	logged  []string
	spent   []int64
	budget  func() error
	connect func(id string) error // nil error opens
}

func newWorld(t *testing.T, answers ...string) *services {
	w := &services{t: t, answers: answers, tools: map[string]*httptest.Server{}}
	w.kind = aiPromptOf(outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}))
	w.model = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		w.asked = append(w.asked, object(t, string(data)))
		if len(w.answers) == 0 {
			t.Error("asked once too often")
			return
		}
		answer := w.answers[0]
		w.answers = w.answers[1:]
		if status, body, found := strings.Cut(answer, " {"); found && len(status) == 3 {
			out.WriteHeader(int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0'))
			answer = "{" + body
		}
		io.WriteString(out, answer)
	}))
	t.Cleanup(w.model.Close)
	w.serve(toolsID, "Workshop", "echo", "fail", "refuse", "we ird")
	return w
}

func aiPromptOf(client *outbound.Client) *blueprint.NodeType {
	for _, kind := range All(Dependencies{HTTP: client, Clock: clock.NewVirtual(now), UserAgent: "blueprintd/test"}) {
		if kind.Type == "ai-prompt" {
			return kind
		}
	}
	return nil
}

// serve starts a real server with tools.
func (w *services) serve(id, name string, tools ...string) {
	server := sdk.NewServer(&sdk.Implementation{Name: name, Version: "1"}, nil)
	for _, tool := range tools {
		server.AddTool(&sdk.Tool{Name: tool, Description: "does " + tool, InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
			func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				w.called = append(w.called, name+"."+tool+string(r.Params.Arguments))
				text := []sdk.Content{&sdk.TextContent{Text: tool + " says " + string(r.Params.Arguments)}}
				switch tool {
				case "fail":
					return &sdk.CallToolResult{IsError: true, Content: text}, nil
				case "refuse":
					return nil, errors.New("never mind")
				}
				return &sdk.CallToolResult{Content: text}, nil
			})
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	w.tools[id] = httptest.NewServer(handler)
	w.t.Cleanup(w.tools[id].Close)
}

func (w *services) run(provider, config string, state any) (map[string]any, blueprint.Result, error) {
	w.t.Helper()
	config = strings.NewReplacer("MODEL", `"connectionId":"`+modelID+`","model":"m"`, "TOOLS", toolsID, "OTHER", otherID).Replace(config)
	task := newTask(w.t, w.kind, config, scope)
	task.Log = func(level, message string, data any) {
		values, _ := data.(map[string]any)
		delete(values, "durationMs")
		w.logged = append(w.logged, strings.TrimSuffix(level+" "+message+" "+asJSON(w.t, data), " null"))
	}
	if w.budget != nil {
		task.Budget = func(context.Context, int64) error { return w.budget() }
	}
	task.Spend = func(tokens int64) { w.spent = append(w.spent, tokens) }
	task.State = state
	task.Connect = func(_ context.Context, id string) (*blueprint.OpenConnection, error) {
		if w.connect != nil {
			if err := w.connect(id); err != nil {
				return nil, err
			}
		}
		if server, ok := w.tools[id]; ok {
			return &blueprint.OpenConnection{ID: id, Name: "second one", Type: blueprint.ConnectionMCPServer, Config: map[string]any{"url": server.URL}}, nil
		}
		return &blueprint.OpenConnection{ID: id, Type: blueprint.ConnectionAIProvider, Config: map[string]any{"provider": provider, "baseUrl": w.model.URL}}, nil
	}
	result, err := w.kind.Run(context.Background(), task)
	output, _ := result.Output.(map[string]any)
	return output, result, err
}

// says is an answer of a chat; calls are "id name arguments".
func says(text string, calls ...string) string {
	list := []any{}
	for _, call := range calls {
		parts := strings.SplitN(call, "|", 3)
		list = append(list, map[string]any{"id": parts[0], "type": "function", "function": map[string]any{"name": parts[1], "arguments": parts[2]}})
	}
	data, _ := blueprint.Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text, "tool_calls": list}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 2},
	})
	return string(data)
}
