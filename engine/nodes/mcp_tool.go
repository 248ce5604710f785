package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/mcp"
)

type mcpConfig struct {
	ConnectionID string         `key:"connectionId" form:"connection:mcp-server" required:"true" doc:"The connection of type mcp-server that provides the tool."`
	Tool         string         `key:"tool" required:"true" doc:"The tool's name."`
	Arguments    map[string]any `key:"arguments" doc:"The tool's arguments by name."`
}

const (
	codeTool        = "tool_failed"
	codeUnknownTool = "unknown_tool"

	// maxToolError bounds the tool's message in a failure, in bytes.
	maxToolError = 2_000
	// maxToolNames bounds the tools named in a failure.
	maxToolNames = 50
)

// mcpTool calls one tool of an MCP server. It lists the tools first: servers refuse
// unknown names in different ways, some only after they have begun.
func mcpTool(d Dependencies) *blueprint.NodeType {
	return define(definition[mcpConfig]{
		name:        "mcp-tool",
		category:    "services",
		order:       3,
		title:       "MCP tool",
		description: "Calls a tool of an MCP server. The output is the tool's structured content, or {\"content\": [...]} if there is none. An error reported by the tool fails the node.",
		effect:      blueprint.EffectOnce,
		connections: []blueprint.ConnectionType{blueprint.ConnectionMCPServer},
		stub:        `{"output": {}}`,
		example:     `{"connectionId": "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", "tool": "search_issues", "arguments": {"query": "{{inputData.query ?? \"\"}}", "limit": 10}}`,
		check:       checkMCP,
		run: func(ctx context.Context, task *blueprint.Task, c *mcpConfig) (blueprint.Result, error) {
			connection, err := connect(ctx, task, c.ConnectionID, blueprint.ConnectionMCPServer)
			if err != nil {
				return blueprint.Result{}, err
			}
			session, err := d.MCP.Open(ctx, connection)
			if err != nil {
				return blueprint.Result{}, err
			}
			defer session.Close()
			result := blueprint.Result{MCPServers: []blueprint.MCPServer{{Name: session.Server(), Address: session.Address()}}}
			result.Output, err = callTool(ctx, session, c)
			return result, err
		},
	})
}

func checkMCP(c *mcpConfig, r *report) {
	checkConnectionID(c.ConnectionID, r)
	if r.given("tool") && strings.TrimSpace(c.Tool) == "" {
		r.issue("must name a tool", "tool")
	}
}

func callTool(ctx context.Context, session *mcp.Session, c *mcpConfig) (any, error) {
	tools, err := session.Tools(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(tools, func(t mcp.Tool) bool { return t.Name == c.Tool }) {
		return nil, unknownTool(session.Server(), c.Tool, tools)
	}
	result, err := session.Call(ctx, c.Tool, c.Arguments)
	switch {
	case err != nil:
		if failure, ok := errors.AsType[*blueprint.Failure](err); ok {
			failure.Message = "tool " + c.Tool + ": " + failure.Message
		}
		return nil, err
	case result.IsError:
		words := cmp.Or(result.Text(maxToolError), "no further details")
		return nil, &blueprint.Failure{Code: codeTool, Message: fmt.Sprintf("the tool %s of %s failed: %s", c.Tool, session.Server(), words)}
	case result.Structured != nil:
		return result.Structured, nil
	}
	return map[string]any{"content": result.Content}, nil
}

func unknownTool(server, name string, tools []mcp.Tool) *blueprint.Failure {
	message := fmt.Sprintf("%s has no tool %q; it has no tools", server, mcp.ShownName(name))
	if len(tools) > 0 {
		names := make([]string, 0, maxToolNames)
		for _, tool := range tools[:min(len(tools), maxToolNames)] {
			names = append(names, mcp.ShownName(tool.Name))
		}
		if more := len(tools) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		message = fmt.Sprintf("%s has no tool %q; it has %s", server, mcp.ShownName(name), strings.Join(names, ", "))
	}
	return &blueprint.Failure{Code: codeUnknownTool, Message: message, Permanent: true, NotSent: true}
}
