package nodes

import (
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
	// maxTools is how many tools providers take.
	maxTools = 128
	// maxToolName is how long providers let a tool's name be.
	maxToolName = 64
	// maxToolText is how much of a result the model is shown, in bytes.
	maxToolText = 100_000
)

// toolbox holds the tools that a model may call, and the servers behind them.
type toolbox struct {
	sessions []*mcp.Session
	list     []llm.Tool
	byName   map[string]tool
}

// tool is where a call goes.
type tool struct {
	session *mcp.Session
	own     mcp.Tool
}

// open opens a session with every server and takes over its tools.
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

// freeName returns the name by which a model knows a tool: the tool's own as far
// as providers take it, behind the connection's when another server has it too.
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

// toolName replaces what providers do not take in the name of a tool.
func toolName(source string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, source)
	if name == "" {
		name = "tool"
	}
	return name[:min(len(name), maxToolName)]
}

// inputSchema returns a schema with the members without which providers refuse it.
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

// servers lists the servers, one for each session.
func (b *toolbox) servers() []blueprint.MCPServer {
	var list []blueprint.MCPServer
	for _, session := range b.sessions {
		list = append(list, blueprint.MCPServer{Name: session.Server(), Address: session.Address()})
	}
	return list
}

func (b *toolbox) close() {
	for _, session := range b.sessions {
		_ = session.Close() // there is nobody to tell
	}
}

// callTools makes the calls that the model waits for, one after the other. A
// call that makes no sense is told to the model, and so is what the tool or its
// server has to say against it.
func (p *prompting) callTools(ctx context.Context) error {
	for _, call := range p.talk.pending() {
		result, err := p.callTool(ctx, call)
		if err != nil {
			return err
		}
		p.talk.answered(result)
	}
	return nil
}

func (p *prompting) callTool(ctx context.Context, call llm.ToolCall) (llm.ToolResult, error) {
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
	if why := unfitArguments(target.own.InputSchema, call.Arguments); why != "" {
		return refuse("the arguments do not fit: " + why)
	}
	begun := p.deps.Clock.Now()
	result, err := target.session.Call(ctx, target.own.Name, call.Arguments)
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == codeMCP:
		result = &mcp.Result{Content: []any{map[string]any{"type": "text", "text": failure.Message}}, IsError: true}
	case err != nil:
		return llm.ToolResult{}, err
	}
	p.task.Log("debug", "called a tool", map[string]any{
		"server": target.session.Server(), "tool": target.own.Name, "durationMs": whole(p.deps.Clock.Now().Sub(begun).Milliseconds()), "isError": result.IsError,
	})
	return llm.ToolResult{ID: call.ID, Text: resultText(result), IsError: result.IsError}, nil
}

// codeMCP is the failure with which a server itself refused a call.
const codeMCP = "mcp_error"

// unfitArguments says what is wrong with arguments; "" when nothing is, or the
// server's schema is none that can be checked: then the server says it.
func unfitArguments(inputSchema map[string]any, arguments map[string]any) string {
	compiled, err := jsonschema.Compile(inputSchema)
	if err != nil {
		return ""
	}
	return issueText(compiled.Validate(arguments))
}

// resultText writes a result for the model.
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
		return strings.ToValidUTF8(text[:maxToolText], "") + "\n[the rest is left out]"
	}
	return text
}

// maxPart is how long a part that is no text may be to be shown, in bytes of
// JSON: long enough for a link, too short for an image.
const maxPart = 2_000

// partText writes one part of a result.
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
