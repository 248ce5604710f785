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

// maxNamed is how many tools the refusal of an unknown one names.
const maxNamed = 50

// call answers tools/call.
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
	outcome, err := h.desk.Call(who.request.Context(), who.principal, &offers[index].Published, arguments, who.request)
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused) && refused.Code == blueprint.CodeNotFound: // deleted a moment ago
		return nil, unknownTool(params.Name, slices.Delete(offers, index, index+1))
	case errors.As(err, &refused) && refused.Code != blueprint.CodeInternal:
		return refusedResult(refused), nil
	case err != nil:
		return nil, h.internal("calling a tool", err)
	}
	result, err := outcomeResult(outcome)
	if err != nil {
		return nil, h.internal("writing a result", err)
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

// refusedResult says why no run was started, in words that a model can act on.
func refusedResult(refused *blueprint.Error) *sdk.CallToolResult {
	told := map[string]any{"code": refused.Code, "message": refused.Message}
	if len(refused.Issues) > 0 {
		issues := slices.Clone(refused.Issues)
		for i, issue := range issues {
			if len(issue.Path) > 0 && issue.Path[0] == any("inputData") {
				issues[i].Path = append([]any{"arguments"}, issue.Path[1:]...)
			}
		}
		told = map[string]any{"code": refused.Code, "message": blueprint.InvalidInput(issues).Message, "issues": issues}
	}
	result := &sdk.CallToolResult{IsError: true, Content: text(told["message"].(string))}
	if data, err := blueprint.Encode(map[string]any{"error": told}); err == nil {
		result.StructuredContent = json.RawMessage(data)
	}
	return result
}

// outcomeResult tells what became of a run.
func outcomeResult(o *Outcome) (*sdk.CallToolResult, error) {
	told := map[string]any{"executionId": o.ExecutionID, "status": o.Status}
	result := &sdk.CallToolResult{}
	switch o.Status {
	case blueprint.StatusCompleted:
		return outputResult(o.Output)
	case blueprint.StatusFailed:
		message := "the run failed"
		if f := o.Failure; f != nil {
			told["error"] = f
			if f.NodeID != "" {
				message += " at node " + f.NodeID
			}
			message += ": " + f.Message
		}
		result.IsError, result.Content = true, text(message+" (execution "+o.ExecutionID+")")
	case blueprint.StatusPaused:
		result.Content = text("execution " + o.ExecutionID + " is paused: it waits for somebody's answer")
	default:
		result.Content = text("execution " + o.ExecutionID + " is " + string(o.Status) + ": it goes on by itself and has no output yet")
	}
	data, err := blueprint.Encode(told)
	result.StructuredContent = json.RawMessage(data)
	return result, err
}

// outputResult returns the output of a run. Older clients take nothing but an
// object as structured content, so that any other value stands in one.
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
