package llm

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// openAI is the chat completions protocol.
type openAI struct{ official bool }

// isOpenAIHost reports whether a host runs OpenAI's own models, whose newer ones accept
// the token limit by its newer name only. Many other servers silently ignore that name.
func isOpenAIHost(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

func (openAI) header() http.Header { return http.Header{} }

func (openAI) native(schema any) bool { return isObject(schema) }

func (openAI) limited(r *Request) bool { return r.MaxTokens > 0 }

func (o openAI) request(r *Request, q quirks) map[string]any {
	body := map[string]any{"model": r.Model}
	system := r.System
	if r.Schema != nil {
		if !q.noSchema && o.native(r.Schema) {
			format := map[string]any{"name": "answer", "schema": r.Schema}
			if strict(r.Schema) {
				format["strict"] = true
			}
			body["response_format"] = map[string]any{"type": "json_schema", "json_schema": format}
		} else {
			system = schemaPrompt(system, r.Schema)
		}
	}
	messages := []any{}
	if system != "" {
		messages = append(messages, map[string]any{"role": "system", "content": system})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case RoleTool:
			for _, result := range m.Results {
				messages = append(messages, map[string]any{"role": "tool", "tool_call_id": result.ID, "content": result.Text})
			}
		case RoleAssistant:
			messages = append(messages, o.assistant(m))
		default:
			messages = append(messages, map[string]any{"role": "user", "content": m.Text})
		}
	}
	body["messages"] = messages
	if len(r.Tools) > 0 {
		tools := make([]any, len(r.Tools))
		for i, tool := range r.Tools {
			function := map[string]any{"name": tool.Name, "parameters": tool.InputSchema}
			if tool.Description != "" {
				function["description"] = o.described(tool.Description)
			}
			tools[i] = map[string]any{"type": "function", "function": function}
		}
		body["tools"] = tools
	}
	if r.MaxTokens > 0 {
		name := "max_tokens"
		if o.official != q.altLimit {
			name = "max_completion_tokens"
		}
		body[name] = r.MaxTokens
	}
	if r.Temperature != "" {
		body["temperature"] = r.Temperature
	}
	return body
}

// described truncates a description to OpenAI's limit; other servers have none.
func (o openAI) described(description string) string {
	const most = 1024
	if letters := []rune(description); o.official && len(letters) > most {
		return string(letters[:most-3]) + "..."
	}
	return description
}

func (openAI) assistant(m Message) any {
	if m.By == OpenAI && m.Raw != nil {
		return m.Raw
	}
	out := map[string]any{"role": "assistant", "content": m.Text}
	var calls []any
	for _, call := range m.Calls {
		arguments, err := blueprint.Encode(call.Arguments)
		if err != nil || call.Arguments == nil {
			arguments = []byte("{}")
		}
		calls = append(calls, map[string]any{"id": call.ID, "type": "function", "function": map[string]any{"name": call.Name, "arguments": string(arguments)}})
	}
	if calls != nil {
		out["tool_calls"], out["content"] = calls, orNull(m.Text)
	}
	return out
}

func (openAI) answer(value map[string]any) (*Answer, *blueprint.Failure) {
	usage := object(value["usage"])
	a := &Answer{Usage: Usage{count(usage["prompt_tokens"]), count(usage["completion_tokens"])}}
	choices := list(value["choices"])
	if len(choices) == 0 || object(object(choices[0])["message"]) == nil {
		return a, &blueprint.Failure{Code: CodeBadAnswer, Message: "without a message"}
	}
	choice := object(choices[0])
	message := object(choice["message"])
	reason := text(choice["finish_reason"])
	if refusal := text(message["refusal"]); refusal != "" {
		return a, &blueprint.Failure{Code: CodeRefused, Message: "that the model refuses: " + refusal}
	}
	if reason == "content_filter" {
		return a, &blueprint.Failure{Code: CodeRefused, Message: "that its content filter stopped the answer"}
	}
	a.Truncated = reason == "length"
	a.Message = Message{Role: RoleAssistant, By: OpenAI, Text: texts(message["content"])}
	raw := map[string]any{"role": "assistant", "content": a.Message.Text}
	calls := list(message["tool_calls"])
	if len(calls) > maxCalls {
		return a, &blueprint.Failure{Code: CodeBadAnswer, Message: "with more than " + strconv.Itoa(maxCalls) + " calls of tools"}
	}
	var kept []any
	for i, item := range calls {
		call, back := openAICall(object(item), i)
		a.Message.Calls, kept = append(a.Message.Calls, call), append(kept, back)
	}
	if kept != nil {
		raw["tool_calls"], raw["content"] = kept, orNull(a.Message.Text)
		// Models that think between calls require their reasoning.
		if thoughts := text(message["reasoning_content"]); thoughts != "" {
			raw["reasoning_content"] = thoughts
		}
	}
	a.Message.Raw = raw
	return a, nil
}

// orNull returns null for "": beside calls some servers refuse an empty text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// maxCalls bounds the tool calls in one message.
const maxCalls = 64

// openAICall decodes a call, and returns the form to send back: unchanged, but always
// with an id and with JSON arguments.
func openAICall(source map[string]any, i int) (ToolCall, map[string]any) {
	function := object(source["function"])
	call := ToolCall{ID: text(source["id"]), Name: text(function["name"])}
	if call.ID == "" {
		call.ID = "call_" + strconv.Itoa(i)
	}
	arguments := function["arguments"]
	written, isText := arguments.(string)
	if isText && strings.TrimSpace(written) != "" {
		arguments, _ = blueprint.Decode([]byte(written))
	} else if isText || arguments == nil {
		arguments = map[string]any{}
	}
	if call.Arguments = object(arguments); call.Arguments == nil {
		call.Problem = "the arguments are not a JSON object"
	}
	if call.Problem != "" || !isText || written == "" {
		encoded, err := blueprint.Encode(object(arguments))
		if written = string(encoded); err != nil || call.Problem != "" {
			written = "{}"
		}
	}
	back := map[string]any{}
	maps.Copy(back, source)
	back["id"], back["type"], back["function"] = call.ID, "function", map[string]any{"name": call.Name, "arguments": written}
	return call, back
}
