package sandbox

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// maxSaid bounds the part of a prompt that an answer repeats, in bytes.
const maxSaid = 2000

// chat answers by the protocol of a provider, what is scripted or else what
// follows from the request.
type chat func(s *Sandbox, a *asked, request map[string]any, script *script) *reply

// chatOf returns the protocol of a request; nil for one that is not for a model.
func chatOf(a *asked, request map[string]any) chat {
	switch {
	case a.request.Method != http.MethodPost || request["messages"] == nil:
		return nil
	case strings.HasSuffix(a.path, "/chat/completions"):
		return (*Sandbox).openAI
	case strings.HasSuffix(a.path, "/v1/messages"):
		return (*Sandbox).anthropic
	}
	return nil
}

// openAI answers a chat completion.
func (s *Sandbox) openAI(a *asked, request map[string]any, script *script) *reply {
	schema := at(request, "response_format", "json_schema", "schema")
	if schema == nil && at(request, "response_format", "type") == "json_object" {
		schema = map[string]any{"type": "object"}
	}
	said, in, out := s.say(request, nil, schema)
	text, in, out := script.say(said, in, out)
	message, reason := map[string]any{"role": "assistant", "content": text, "refusal": nil}, "stop"
	if calls := script.calls(); len(calls) > 0 {
		list := []any{}
		for _, call := range calls {
			arguments, _ := blueprint.Encode(call.arguments)
			list = append(list, map[string]any{
				"id": "call_" + s.stream("chat", &a.caller).Token(24), "type": "function", "function": map[string]any{"name": call.name, "arguments": string(arguments)},
			})
		}
		message["tool_calls"], reason = list, "tool_calls"
	}
	return ok(map[string]any{
		"id": "chatcmpl-" + s.stream("chat", &a.caller).Token(24), "object": "chat.completion", "created": s.Clock.Now().Unix(), "model": request["model"],
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": reason, "logprobs": nil, "message": message,
		}},
		"usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	})
}

// anthropic answers a message.
func (s *Sandbox) anthropic(a *asked, request map[string]any, script *script) *reply {
	said, in, out := s.say(request, request["system"], at(request, "output_config", "format", "schema"))
	text, in, out := script.say(said, in, out)
	parts, reason := []any{}, "end_turn"
	if text != "" {
		parts = append(parts, map[string]any{"type": "text", "text": text})
	}
	for _, call := range script.calls() {
		parts, reason = append(parts, map[string]any{"type": "tool_use", "id": "toolu_" + s.stream("chat", &a.caller).Token(24), "name": call.name, "input": call.arguments}), "tool_use"
	}
	return ok(map[string]any{
		"id": "msg_" + s.stream("chat", &a.caller).Token(24), "type": "message", "role": "assistant", "model": request["model"],
		"content": parts, "stop_reason": reason, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": in, "output_tokens": out},
	})
}

// say makes an answer that follows from the request alone: the least value that
// fits a schema, or else the last thing that was said.
func (s *Sandbox) say(request map[string]any, system, schema any) (text string, in, out int) {
	messages, _ := request["messages"].([]any)
	words := content(system)
	size, last := tokens(words), ""
	for _, element := range messages {
		said := content(at(element, "content"))
		size += tokens(said)
		switch at(element, "role") {
		case "system", "developer":
			words += said
		case "user", "tool":
			last = said
		}
	}
	if schema == nil {
		schema = inWords(words)
	}
	text = "The sandbox answers: " + blueprint.Shorten(last, maxSaid)
	if schema != nil {
		value, problem := instanceOf(schema)
		if encoded, err := blueprint.Encode(value); problem != "" {
			text = "The sandbox cannot make a value for this schema: " + problem + "; script the answer by a rule for this node."
		} else if err == nil {
			text = string(encoded)
		}
	}
	return text, max(1, size), tokens(text)
}

// inWords finds the schema in words that ask for an answer by one.
func inWords(words string) any {
	begin := strings.LastIndex(words, "\n\n{")
	if begin < 0 || !strings.Contains(words[:begin], "JSON Schema") {
		return nil
	}
	schema, err := blueprint.Decode([]byte(words[begin+2:]))
	if err != nil {
		return nil
	}
	return schema
}

// content returns the text of a message, be it one or a list of parts.
func content(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		var out strings.Builder
		for _, part := range v {
			for _, name := range []string{"text", "content"} {
				out.WriteString(content(at(part, name)))
			}
		}
		return out.String()
	}
	return ""
}

// tokens guesses how many there are in a text.
func tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// at returns what members lead to; nil when they do not.
func at(value any, members ...string) any {
	for _, name := range members {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// models lists what there is, in a form that both providers' clients read.
func models() *reply {
	model := map[string]any{"id": "sandbox", "object": "model", "type": "model", "display_name": "Sandbox", "created": 0, "owned_by": "sandbox"}
	return ok(map[string]any{"object": "list", "data": []any{model}, "has_more": false})
}
