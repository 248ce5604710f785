package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/foundation/outbound"
)

const toolboxID = "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61"

// newToolServer is a real MCP server with some tools; calls counts what they
// were called for.
func newToolServer(t *testing.T) (url string, calls *int) {
	t.Helper()
	calls = new(int)
	server := sdk.NewServer(&sdk.Implementation{Name: "Shed", Version: "1"}, nil)
	for name, result := range map[string]*sdk.CallToolResult{
		"structured": {StructuredContent: json.RawMessage(`{"n":1.50}`)},
		"plain":      {Content: []sdk.Content{&sdk.TextContent{Text: "words"}}},
		"failing":    {IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "it\nis broken " + strings.Repeat("x", 5000)}}},
		"mute":       {IsError: true},
	} {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			*calls++
			return result, nil
		})
	}
	server.AddTool(&sdk.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: r.Params.Arguments}, nil
	})
	serving := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(serving.Close)
	return serving.URL, calls
}

func TestMCPTool(t *testing.T) {
	url, calls := newToolServer(t)
	kind := mcpTool(Dependencies{MCP: mcp.New(outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), "1")})
	for _, test := range []struct {
		tool, arguments string
		open            *blueprint.OpenConnection
		want, code      string // the output, or the message's beginning
		notSent         bool
		calls           int
	}{
		{tool: "structured", want: `{"n":1.50}`, calls: 1},
		{tool: "plain", want: `{"content":[{"text":"words","type":"text"}]}`, calls: 1},
		{tool: "echo", arguments: `{"a":"{{x}}","b":12345678901234567890}`, want: `{"a":"resolved","b":12345678901234567890}`},
		{tool: "failing", code: "tool_failed", want: "the tool failing of Shed failed: it is broken xxx", calls: 1},
		{tool: "mute", code: "tool_failed", want: "the tool mute of Shed failed: no further details", calls: 1},
		{tool: "other", code: "unknown_tool", want: `Shed has no tool "other"; it has echo, failing, mute, plain, structured`, notSent: true},
		{tool: "echo", open: &blueprint.OpenConnection{Type: blueprint.ConnectionHTTP}, code: "connection_unavailable", want: "the connection ", notSent: true},
		{tool: "echo", open: &blueprint.OpenConnection{Type: blueprint.ConnectionMCPServer, Config: map[string]any{"command": "sh"}}, code: "bad_config", want: "the connection ", notSent: true},
	} {
		t.Run(test.tool+test.code, func(t *testing.T) {
			*calls = 0
			if test.open == nil {
				test.open = &blueprint.OpenConnection{Type: blueprint.ConnectionMCPServer, Name: "c", Config: map[string]any{"url": url}}
			}
			if test.arguments == "" {
				test.arguments = `null`
			}
			task := newTask(t, kind, fmt.Sprintf(`{"connectionId":%q,"tool":%q,"arguments":%s}`, toolboxID, test.tool, test.arguments), `{"x":"resolved"}`)
			task.Connect = func(_ context.Context, id string) (*blueprint.OpenConnection, error) {
				if id != toolboxID {
					t.Errorf("asked for %s, want %v", id, toolboxID)
				}
				return test.open, nil
			}
			result, err := kind.Run(t.Context(), task)
			failure, _ := err.(*blueprint.Failure)
			switch {
			case codeOf(err) != test.code || *calls != test.calls:
				t.Fatalf("%v, %d calls", err, *calls)
			case err == nil && asJSON(t, result.Output) != test.want:
				t.Errorf("output %s", asJSON(t, result.Output))
			case err != nil && (!strings.HasPrefix(failure.Message, test.want) || failure.NotSent != test.notSent || len(failure.Message) > 2500):
				t.Errorf("failure %+v", failure)
			}
			asked := test.open.Config["url"] != nil
			if asked != (len(result.MCPServers) == 1 && result.MCPServers[0].Name == "Shed") {
				t.Errorf("servers %v", result.MCPServers)
			}
		})
	}
}

func TestMCPToolChecks(t *testing.T) {
	for config, want := range map[string]string{
		`{}`:                              "connectionId: required; tool: required",
		`{"connectionId":"x","tool":" "}`: "connectionId: must be the id of a connection, a UUID; tool: must name a tool",
		`{"connectionId":"{{c}}","tool":"{{t}}","arguments":"{{a}}"}`:                  "",
		`{"connectionId":"` + toolboxID + `","tool":"t","arguments":[1]}`:              "arguments: must be an object",
		`{"connectionId":"` + toolboxID + `","tool":"t","arguments":{"a":"{{x}}"}}`:    "",
		`{"connectionId":"` + toolboxID + `","tool":"t","command":"sh","args":["-c"]}`: "args: is not a key of this node type; command: is not a key of this node type",
	} {
		t.Run(config, func(t *testing.T) {
			if got := issueText(typeOf(t, "mcp-tool").Check(object(t, config))); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
