package mcp

import (
	"context"
	"encoding/json"

	"blueprintd/blueprint"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Result is the result of a tool in plain JSON values.
type Result struct {
	Structured any   // nil for none
	Content    []any // as the protocol has it: [{"type":"text","text":...}, ...] // in the form of the protocol: [{"type":"text","text":...}, ...]
	IsError    bool
}

// Text joins the texts of the content, in at most most bytes.
func (r *Result) Text(most int) string {
	text := ""
	for _, element := range r.Content {
		object, _ := element.(map[string]any)
		if part, ok := object["text"].(string); ok && object["type"] == "text" {
			if text != "" {
				text += "\n"
			}
			text += displayText(part, most)
		}
		if len(text) > 4*most {
			break
		}
	}
	return displayText(text, most)
}

// Call calls a tool once. A failure of the tool itself is a Result with IsError. Errors
// are those of Tools, with NotSent only when the call did not leave this machine.
func (s *Session) Call(ctx context.Context, name string, arguments map[string]any) (*Result, error) {
	encoded, err := blueprint.Encode(arguments)
	if err != nil {
		return nil, permanentFailure("bad_config", "the arguments cannot be written as JSON")
	}
	if arguments == nil {
		encoded = []byte("{}")
	}
	raw, err := s.recorded(ctx, func(ctx context.Context) error {
		_, err := s.sdk.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(encoded)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.readResult(raw)
}

func (s *Session) readResult(raw []byte) (*Result, error) {
	broken := &blueprint.Failure{Code: "mcp_error", Message: s.host + " answered tools/call with something else than a result"}
	value, err := blueprint.Decode(raw)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, broken
	}
	if object["resultType"] == "input_required" {
		return nil, &blueprint.Failure{Code: "mcp_error", Message: "the tool asks for more input, which is not supported", Permanent: true}
	}
	result := &Result{Structured: object["structuredContent"], Content: []any{}}
	content, given := object["content"]
	if list, ok := content.([]any); ok {
		result.Content = list
	} else if given && content != nil || !given && result.Structured == nil {
		return nil, broken
	}
	result.IsError, _ = object["isError"].(bool)
	return result, nil
}
