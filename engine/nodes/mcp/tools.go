package mcp

import (
	"context"
	"errors"

	"blueprintd/blueprint"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// Limits of what is read from one server.
	maxTools = 1000
	maxPages = 100
)

// Tool is a tool of a server. Description and InputSchema are the server's, bounded in
// size; InputSchema is a plain JSON value and never nil.
type Tool struct {
	Name        string
	Description string
	InputSchema map[string]any
}

// Tools lists the server's tools, in its order. Errors are *blueprint.Failure with
// NotSent, *blueprint.Pause, or ctx's when it was cancelled; too many tools are
// too_large.
func (s *Session) Tools(ctx context.Context) ([]Tool, error) {
	tools := []Tool{}
	size, cursor := 0, ""
	for range maxPages {
		var page *sdk.ListToolsResult
		raw, err := s.recorded(ctx, func(ctx context.Context) (err error) {
			page, err = s.sdk.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			return err
		})
		if err == nil && raw == nil { // from the SDK's cache
			raw, err = blueprint.Encode(page)
		}
		if err != nil {
			return nil, markNotSent(err)
		}
		found, next, err := s.readTools(raw)
		if err != nil {
			return nil, err
		}
		tools, size, cursor = append(tools, found...), size+len(raw), next
		if len(tools) > maxTools || int64(size) > s.client.maxAnswer {
			return nil, s.tooManyTools()
		}
		if cursor == "" {
			return tools, nil
		}
	}
	return nil, s.tooManyTools()
}

func (s *Session) tooManyTools() *blueprint.Failure {
	return permanentFailure("too_large", "%s lists more than %d tools, or more than %d bytes of them", s.host, maxTools, s.client.maxAnswer)
}

// readTools decodes one page. Tools without a name are omitted.
func (s *Session) readTools(raw []byte) (tools []Tool, next string, err error) {
	value, err := blueprint.Decode(raw)
	page, ok := value.(map[string]any)
	list, isList := page["tools"].([]any)
	if err != nil || !ok || !isList {
		return nil, "", permanentFailure("mcp_error", "%s answered tools/list with something other than a list of tools", s.host)
	}
	for _, element := range list {
		object, _ := element.(map[string]any)
		tool := Tool{InputSchema: map[string]any{"type": "object"}}
		tool.Name, _ = object["name"].(string)
		tool.Description, _ = object["description"].(string)
		if schema, ok := object["inputSchema"].(map[string]any); ok {
			tool.InputSchema = schema
		}
		if tool.Name != "" {
			tools = append(tools, tool)
		}
	}
	next, _ = page["nextCursor"].(string)
	return tools, next, nil
}

// markNotSent marks a failure as one before any tool was called, so that even a node
// with the effect "once" may be retried.
func markNotSent(err error) error {
	if f, ok := errors.AsType[*blueprint.Failure](err); ok {
		f.NotSent = true
	}
	return err
}
