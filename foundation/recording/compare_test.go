package recording

import (
	"testing"

	"blueprintd/blueprint"
)

// A newer release begins a session with an MCP server under another version.
func TestAReleaseIsNoDifference(t *testing.T) {
	begin := func(version, protocol string) *blueprint.ExchangeRequest {
		return &blueprint.ExchangeRequest{Method: "POST", URL: "https://mcp.example/", Body: map[string]any{
			"method": "initialize", "params": map[string]any{"protocolVersion": protocol, "clientInfo": map[string]any{"name": "blueprintd", "version": version}},
		}}
	}
	if found := (Rules{}).request("a", begin("0.1.0", "1"), begin("9.9.9", "1")); len(found) > 0 {
		t.Errorf("%v, want none", found)
	}
	if found := (Rules{}).request("a", begin("0.1.0", "1"), begin("0.1.0", "2")); len(found) != 1 {
		t.Errorf("%v, want length 1", found)
	}
}
