package fakes

import (
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// maxSaid is how much of a prompt an answer repeats, in bytes.
const maxSaid = 2000

// openAI answers a chat completion.
func (s *Sandbox) openAI(a *asked, request map[string]any) *reply {
	schema := at(request, "response_format", "json_schema", "schema")
	if schema == nil && at(request, "response_format", "type") == "json_object" {
		schema = map[string]any{"type": "object"}
	}
	text, in, out := s.say(request, nil, schema)
	return ok(map[string]any{
		"id": "chatcmpl-" + s.stream("chat", &a.caller).Token(24), "object": "chat.completion", "created": s.Clock.Now().Unix(), "model": request["model"],
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": map[string]any{"role": "assistant", "content": text, "refusal": nil},
		}},
		"usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	})
}

// anthropic answers a message.
func (s *Sandbox) anthropic(a *asked, request map[string]any) *reply {
	text, in, out := s.say(request, request["system"], at(request, "output_config", "format", "schema"))
	return ok(map[string]any{
		"id": "msg_" + s.stream("chat", &a.caller).Token(24), "type": "message", "role": "assistant", "model": request["model"],
		"content": []any{map[string]any{"type": "text", "text": text}}, "stop_reason": "end_turn", "stop_sequence": nil,
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
	text = "The sandbox answers: " + shorten(last)
	if schema != nil {
		if encoded, err := blueprint.Encode(Instance(schema)); err == nil {
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

// content gives the text of a message, be it one or a list of parts.
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

func shorten(text string) string {
	if len(text) > maxSaid {
		return strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}

// at gives what members lead to; nil when they do not.
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
