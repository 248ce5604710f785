package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxNamed is the maximal number of tools in the error about an unknown one.
const maxNamed = 50

func (h *Handler) call(who caller, params *sdk.CallToolParamsRaw) (sdk.Result, error) {
	offers, err := h.offers(who)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(offers, func(o offer) bool { return o.Name == params.Name })
	if index < 0 {
		return nil, unknownTool(params.Name, offers)
	}
	arguments := any(map[string]any{})
	if len(params.Arguments) > 0 && string(params.Arguments) != "null" {
		arguments, err = blueprint.Decode(params.Arguments)
		if _, ok := arguments.(map[string]any); err != nil || !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the arguments must be an object"}
		}
	}
	outcome, err := h.tools.Call(who.request.Context(), who.principal, &offers[index].Published, arguments, who.request)
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused) && refused.Code == blueprint.CodeNotFound: // deleted meanwhile
		return nil, unknownTool(params.Name, slices.Delete(offers, index, index+1))
	case errors.As(err, &refused) && refused.Code != blueprint.CodeInternal:
		return refusedResult(refused), nil
	case err != nil:
		return nil, h.internal("call tool", err)
	}
	result, err := outcomeResult(outcome)
	if err != nil {
		return nil, h.internal("write result", err)
	}
	return result, nil
}

func unknownTool(name string, offers []offer) error {
	there := "there is none"
	if len(offers) > 0 {
		names := make([]string, 0, maxNamed)
		for _, o := range offers[:min(len(offers), maxNamed)] {
			names = append(names, o.Name)
		}
		there = "there is " + strings.Join(names, ", ")
		if len(offers) > maxNamed {
			there += ", ..."
		}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q; %s", shown(name), there)}
}

// refusedResult returns the error that prevented a run as a result.
func refusedResult(refused *blueprint.Error) *sdk.CallToolResult {
	content := map[string]any{"code": refused.Code, "message": refused.Message}
	if len(refused.Issues) > 0 {
		issues := slices.Clone(refused.Issues)
		for i, issue := range issues {
			if len(issue.Path) > 0 && issue.Path[0] == any("inputData") {
				issues[i].Path = append([]any{"arguments"}, issue.Path[1:]...)
			}
		}
		content = map[string]any{"code": refused.Code, "message": blueprint.InvalidInput(issues).Message, "issues": issues}
	}
	result := &sdk.CallToolResult{IsError: true, Content: text(content["message"].(string))}
	if data, err := blueprint.Encode(map[string]any{"error": content}); err == nil {
		result.StructuredContent = json.RawMessage(data)
	}
	return result
}

func outcomeResult(o *Outcome) (*sdk.CallToolResult, error) {
	content := map[string]any{"executionId": o.ExecutionID, "status": o.Status}
	result := &sdk.CallToolResult{}
	switch o.Status {
	case blueprint.StatusCompleted:
		return outputResult(o.Output)
	case blueprint.StatusFailed:
		message := "the run failed"
		if f := o.Failure; f != nil {
			content["error"] = f
			if f.NodeID != "" {
				message += " at node " + f.NodeID
			}
			message += ": " + f.Message
		}
		result.IsError, result.Content = true, text(message+" (execution "+o.ExecutionID+")")
	case blueprint.StatusPaused:
		result.Content = text("execution " + o.ExecutionID + " is paused: it waits for an answer")
	default:
		result.Content = text("execution " + o.ExecutionID + " is " + string(o.Status) + " and has no output yet")
	}
	data, err := blueprint.Encode(content)
	result.StructuredContent = json.RawMessage(data)
	return result, err
}

// outputResult returns the output of a run. Older clients accept only an object as
// structured content, so any other value is wrapped in one.
func outputResult(output any) (*sdk.CallToolResult, error) {
	structured := output
	if _, ok := output.(map[string]any); !ok {
		structured = map[string]any{"output": output}
	}
	data, err := blueprint.Encode(structured)
	if err != nil {
		return nil, err
	}
	words, ok := output.(string)
	if !ok {
		written, err := blueprint.Encode(output)
		if err != nil {
			return nil, err
		}
		words = string(written)
	}
	return &sdk.CallToolResult{Content: text(words), StructuredContent: json.RawMessage(data)}, nil
}

func text(words string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: words}} }
