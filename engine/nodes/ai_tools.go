package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/engine/nodes/llm"
	"blueprintd/engine/nodes/mcp"
)

const (
	// Limits of providers: tools, and characters of their names.
	maxTools    = 128
	maxToolName = 64
	// maxToolText bounds what the model sees of a result, in bytes.
	maxToolText = 100_000
)

// toolbox holds the tools that a model may call, and their servers.
type toolbox struct {
	sessions []*mcp.Session
	list     []llm.Tool
	byName   map[string]tool
}

type tool struct {
	session    *mcp.Session
	definition mcp.Tool
}

// open opens a session with every server and lists its tools.
func (b *toolbox) open(ctx context.Context, d Dependencies, task *blueprint.Task, ids []string) error {
	b.byName = map[string]tool{}
	for _, id := range ids {
		connection, err := connect(ctx, task, id, blueprint.ConnectionMCPServer)
		if err == nil {
			err = b.add(ctx, d.MCP, connection)
		}
		if err != nil {
			b.close()
			return err
		}
	}
	if len(b.list) > maxTools {
		b.close()
		return &blueprint.Failure{Code: codeTooLarge, Message: fmt.Sprintf("the servers offer %d tools, and models take at most %d", len(b.list), maxTools), Permanent: true, NotSent: true}
	}
	return nil
}

func (b *toolbox) add(ctx context.Context, client *mcp.Client, connection *blueprint.OpenConnection) error {
	session, err := client.Open(ctx, connection)
	if err != nil {
		return err
	}
	b.sessions = append(b.sessions, session)
	tools, err := session.Tools(ctx)
	if err != nil {
		return err
	}
	for _, own := range tools {
		name := b.freeName(own.Name, connection.Name)
		b.byName[name] = tool{session, own}
		b.list = append(b.list, llm.Tool{Name: name, Description: own.Description, InputSchema: inputSchema(own.InputSchema)})
	}
	return nil
}

// freeName returns the name by which a model knows a tool: its own as far as providers
// allow, prefixed with the connection's when it is taken.
func (b *toolbox) freeName(own, connection string) string {
	free := func(name string) bool { _, taken := b.byName[name]; return !taken }
	name := toolName(own)
	if free(name) {
		return name
	}
	base := toolName(connection + "_" + own)
	name = base
	for i := 2; !free(name); i++ {
		suffix := "_" + strconv.Itoa(i)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	return name
}

// toolName replaces characters that providers do not allow.
func toolName(source string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, source)
	name = cmp.Or(name, "tool")
	return name[:min(len(name), maxToolName)]
}

// inputSchema adds members that providers require.
func inputSchema(own map[string]any) map[string]any {
	out := maps.Clone(own)
	if out == nil {
		out = map[string]any{}
	}
	delete(out, "$schema")
	out["type"] = "object"
	if out["properties"] == nil {
		out["properties"] = map[string]any{}
	}
	return out
}

func (b *toolbox) servers() []blueprint.MCPServer {
	var list []blueprint.MCPServer
	for _, session := range b.sessions {
		list = append(list, blueprint.MCPServer{Name: session.Server(), Address: session.Address()})
	}
	return list
}

func (b *toolbox) close() {
	for _, session := range b.sessions {
		_ = session.Close()
	}
}

// callTools makes the pending calls one after the other. Invalid calls and errors of
// tools or servers are reported to the model.
func (p *promptRun) callTools(ctx context.Context) error {
	for _, call := range p.dialogue.pending() {
		result, err := p.callTool(ctx, call)
		if err != nil {
			return err
		}
		p.dialogue.addResult(result)
	}
	return nil
}

func (p *promptRun) callTool(ctx context.Context, call llm.ToolCall) (llm.ToolResult, error) {
	refuse := func(why string) (llm.ToolResult, error) {
		p.task.Log("debug", "refused a call of a tool", map[string]any{"tool": toolName(call.Name), "why": why})
		return llm.ToolResult{ID: call.ID, Text: why, IsError: true}, nil
	}
	target, known := p.tools.byName[call.Name]
	if !known {
		return refuse("there is no tool of this name")
	}
	if call.Problem != "" {
		return refuse(call.Problem)
	}
	if why := unfitArguments(target.definition.InputSchema, call.Arguments); why != "" {
		return refuse("the arguments do not fit: " + why)
	}
	begun := p.deps.Clock.Now()
	result, err := target.session.Call(ctx, target.definition.Name, call.Arguments)
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == codeMCP:
		result = &mcp.Result{Content: []any{map[string]any{"type": "text", "text": failure.Message}}, IsError: true}
	case err != nil:
		return llm.ToolResult{}, err
	}
	p.task.Log("debug", "called a tool", map[string]any{
		"server": target.session.Server(), "tool": target.definition.Name, "durationMs": whole(p.deps.Clock.Now().Sub(begun).Milliseconds()), "isError": result.IsError,
	})
	return llm.ToolResult{ID: call.ID, Text: resultText(result), IsError: result.IsError}, nil
}

// codeMCP is the failure of a call that the server refused.
const codeMCP = "mcp_error"

// unfitArguments returns what is wrong with arguments; "" when nothing is, or the
// schema cannot be compiled: then the server checks.
func unfitArguments(inputSchema map[string]any, arguments map[string]any) string {
	compiled, err := jsonschema.Compile(inputSchema)
	if err != nil {
		return ""
	}
	return issueText(compiled.Validate(arguments))
}

// resultText formats a result for the model.
func resultText(result *mcp.Result) string {
	text := ""
	if result.Structured != nil {
		text = render(result.Structured)
	} else {
		var out strings.Builder
		for i, item := range result.Content {
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(partText(item))
			if out.Len() > maxToolText {
				break
			}
		}
		text = out.String()
	}
	if text == "" {
		return "(no content)"
	}
	if len(text) > maxToolText {
		return strings.ToValidUTF8(text[:maxToolText], "") + "\n[the rest is omitted]"
	}
	return text
}

// maxPart bounds a part other than text, in bytes of JSON: enough for a link.
const maxPart = 2_000

func partText(item any) string {
	part, _ := item.(map[string]any)
	if content, ok := part["text"].(string); ok && part["type"] == "text" {
		return content
	}
	resource, _ := part["resource"].(map[string]any)
	if content, ok := resource["text"].(string); ok {
		return content
	}
	if written := render(item); len(written) <= maxPart {
		return written
	}
	return "[content that cannot be shown]"
}
