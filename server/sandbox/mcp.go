package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// mcpVersion is the default protocol version.
const mcpVersion = "2025-06-18"

// The node type and the method that call a tool.
const (
	kindTool = "mcp-tool"
	toolCall = "tools/call"
)

// isMCP reports whether a request is for an MCP server.
func isMCP(a *received, object map[string]any) bool {
	if object["jsonrpc"] == "2.0" && object["method"] != nil {
		return true
	}
	return a.caller.NodeType == kindTool || a.header.Get("Mcp-Session-Id") != "" || a.header.Get("Mcp-Protocol-Version") != ""
}

// mcp answers one message of streamable HTTP, without a session. Every tool exists.
func (s *Sandbox) mcp(a *received, message map[string]any) *reply {
	switch {
	case a.request.Method == http.MethodDelete:
		return &reply{status: http.StatusNoContent}
	case a.request.Method != http.MethodPost:
		return &reply{status: http.StatusMethodNotAllowed, header: http.Header{"Allow": {"POST"}}}
	case message == nil:
		return &reply{status: http.StatusBadRequest, body: map[string]any{"error": "a JSON-RPC message is missing"}}
	case message["id"] == nil:
		return &reply{status: http.StatusAccepted}
	}
	result := func(value any) *reply {
		return ok(map[string]any{"jsonrpc": "2.0", "id": message["id"], "result": value})
	}
	switch method, _ := message["method"].(string); method {
	case "initialize":
		version, _ := at(message, "params", "protocolVersion").(string)
		version = cmp.Or(version, mcpVersion)
		return result(map[string]any{
			"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "sandbox", "version": "1.0.0"},
		})
	case "ping":
		return result(map[string]any{})
	case "tools/list":
		return result(map[string]any{"tools": tools(a)})
	case toolCall:
		name, arguments := at(message, "params", "name"), at(message, "params", "arguments")
		if arguments == nil {
			arguments = map[string]any{}
		}
		return result(map[string]any{
			"content":           []any{map[string]any{"type": "text", "text": "The sandbox called " + content(name) + "."}},
			"structuredContent": map[string]any{"name": name, "arguments": arguments},
		})
	default:
		return ok(map[string]any{"jsonrpc": "2.0", "id": message["id"], "error": map[string]any{"code": -32601, "message": "the sandbox does not know the method " + strings.ToValidUTF8(method, "")}})
	}
}

// result returns the body of a rule as the result of a message. A body that is a JSON-RPC
// message is sent unchanged, except that a missing id is added.
func (a *received) result(body any) any {
	object, isObject := body.(map[string]any)
	if isObject && object["jsonrpc"] != nil {
		if _, named := object["id"]; !named {
			object = maps.Clone(object)
			object["id"] = a.message["id"]
		}
		return object
	}
	if a.rpc == toolCall {
		body = toolResult(body)
	}
	return map[string]any{"jsonrpc": "2.0", "id": a.message["id"], "result": body}
}

// toolResult returns a value as the result of a tool, unless it is one already.
func toolResult(body any) any {
	object, isObject := body.(map[string]any)
	for _, name := range []string{"content", "structuredContent", "isError"} {
		if _, given := object[name]; given {
			if object["content"] == nil {
				object = maps.Clone(object)
				object["content"] = []any{}
			}
			return object
		}
	}
	out := map[string]any{"content": []any{map[string]any{"type": "text", "text": string(blueprint.BodyBytes(body))}}}
	if isObject {
		out["structuredContent"] = body
	}
	return out
}

// tools returns the tool echo and the one that the node calls.
func tools(a *received) []any {
	names := []string{"echo"}
	if a.tool != "" && !slices.Contains(names, a.tool) {
		names = append(names, a.tool)
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = map[string]any{
			"name": name, "description": "Answers its name and its arguments.",
			"inputSchema": map[string]any{"type": "object", "additionalProperties": true},
		}
	}
	return list
}
