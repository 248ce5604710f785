package llm

import (
	"maps"
	"net/http"
	"strconv"

	"blueprintd/blueprint"
)

// anthropic is the messages protocol.
type anthropic struct{}

// The token limit is mandatory. It includes the reasoning of models that think; old
// models allow no more than the lower value.
const (
	defaultMaxTokens = 16_000
	lowMaxTokens     = 4_096
)

func (anthropic) header() http.Header { return http.Header{"Anthropic-Version": {"2023-06-01"}} }

func (anthropic) native(schema any) bool {
	_, ok := closeSchema(schema)
	return ok && isObject(schema)
}

func (anthropic) limited(r *Request) bool { return r.MaxTokens == 0 }

func (a anthropic) request(r *Request, q quirks) map[string]any {
	body := map[string]any{"model": r.Model, "max_tokens": r.MaxTokens}
	if r.MaxTokens == 0 {
		body["max_tokens"] = defaultMaxTokens
		if q.altLimit {
			body["max_tokens"] = lowMaxTokens
		}
	}
	system := r.System
	if r.Schema != nil {
		if !q.noSchema && a.native(r.Schema) {
			schema, _ := closeSchema(r.Schema)
			body["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
		} else {
			system = schemaPrompt(system, r.Schema)
		}
	}
	if system != "" {
		body["system"] = system
	}
	messages := []any{}
	for _, m := range r.Messages {
		role, content := "user", a.content(m)
		if m.Role == RoleAssistant {
			role = "assistant"
		}
		if len(content) > 0 { // empty messages are refused
			messages = append(messages, map[string]any{"role": role, "content": content})
		}
	}
	body["messages"] = messages
	if len(r.Tools) > 0 {
		tools := make([]any, len(r.Tools))
		for i, tool := range r.Tools {
			entry := map[string]any{"name": tool.Name, "input_schema": tool.InputSchema}
			if tool.Description != "" {
				entry["description"] = tool.Description
			}
			tools[i] = entry
		}
		body["tools"] = tools
	}
	if r.Temperature != "" {
		body["temperature"] = r.Temperature
	}
	return body
}

func (anthropic) content(m Message) []any {
	if raw := list(m.Raw); m.By == Anthropic && raw != nil {
		return raw
	}
	var blocks []any
	if m.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": m.Text})
	}
	for _, call := range m.Calls {
		input := call.Arguments
		if input == nil {
			input = map[string]any{}
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": input})
	}
	for _, result := range m.Results {
		block := map[string]any{"type": "tool_result", "tool_use_id": result.ID, "content": result.Text}
		if result.IsError {
			block["is_error"] = true
		}
		blocks = append(blocks, block)
	}
	return blocks
}

func (anthropic) answer(value map[string]any) (*Answer, *blueprint.Failure) {
	usage := object(value["usage"])
	a := &Answer{Usage: Usage{
		InputTokens:  count(usage["input_tokens"]) + count(usage["cache_creation_input_tokens"]) + count(usage["cache_read_input_tokens"]),
		OutputTokens: count(usage["output_tokens"]),
	}}
	reason := text(value["stop_reason"])
	if reason == "refusal" {
		why := text(object(value["stop_details"])["explanation"])
		if why != "" {
			why = ": " + why
		}
		return a, &blueprint.Failure{Code: CodeRefused, Message: "that the model refuses" + why}
	}
	content, ok := value["content"].([]any)
	if !ok {
		return a, &blueprint.Failure{Code: CodeBadAnswer, Message: "without a message"}
	}
	a.Truncated = reason == "max_tokens" || reason == "model_context_window_exceeded"
	a.Message = Message{Role: RoleAssistant, By: Anthropic}
	raw := []any{}
	for _, item := range content {
		block := object(item)
		switch text(block["type"]) {
		case "text":
			if text(block["text"]) == "" {
				continue // empty blocks are refused
			}
			a.Message.Text += text(block["text"])
		case "tool_use":
			call := ToolCall{ID: text(block["id"]), Name: text(block["name"]), Arguments: object(block["input"])}
			if call.ID == "" || len(a.Message.Calls) == maxCalls {
				return a, &blueprint.Failure{Code: CodeBadAnswer, Message: "with a call of a tool that has no id, or more than " + strconv.Itoa(maxCalls)}
			}
			if call.Arguments == nil {
				call.Problem = "the arguments are not a JSON object"
				block = maps.Clone(block) // send it back in a valid form
				block["input"] = map[string]any{}
			}
			a.Message.Calls = append(a.Message.Calls, call)
		}
		if block != nil {
			raw = append(raw, block)
		}
	}
	a.Message.Raw = raw
	return a, nil
}
