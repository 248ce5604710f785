package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// maxRepeated limits the part of a prompt that an answer repeats, in bytes.
const maxRepeated = 2000

// chat answers in the protocol of a provider, as scripted or derived from the request.
type chat func(s *Sandbox, a *received, request map[string]any, script *script) *reply

// chatOf returns the protocol of a request; nil for one that is not for a model.
func chatOf(a *received, request map[string]any) chat {
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

func (s *Sandbox) openAI(a *received, request map[string]any, script *script) *reply {
	schema := at(request, "response_format", "json_schema", "schema")
	if schema == nil && at(request, "response_format", "type") == "json_object" {
		schema = map[string]any{"type": "object"}
	}
	fallback, in, out := s.say(request, nil, schema)
	text, in, out := script.say(fallback, in, out)
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

func (s *Sandbox) anthropic(a *received, request map[string]any, script *script) *reply {
	fallback, in, out := s.say(request, request["system"], at(request, "output_config", "format", "schema"))
	text, in, out := script.say(fallback, in, out)
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

// say derives an answer from the request: a value for a schema, or the last message.
func (s *Sandbox) say(request map[string]any, system, schema any) (text string, in, out int) {
	messages, _ := request["messages"].([]any)
	words := content(system)
	size, last := tokens(words), ""
	for _, element := range messages {
		part := content(at(element, "content"))
		size += tokens(part)
		switch at(element, "role") {
		case "system", "developer":
			words += part
		case "user", "tool":
			last = part
		}
	}
	if schema == nil {
		schema = inWords(words)
	}
	text = "The sandbox answers: " + blueprint.Shorten(last, maxRepeated)
	if schema != nil {
		value, problem := instanceOf(schema)
		if encoded, err := blueprint.Encode(value); problem != "" {
			text = "The sandbox cannot generate a value for this schema: " + problem + "; add a rule with the answer for this node."
		} else if err == nil {
			text = string(encoded)
		}
	}
	return text, max(1, size), tokens(text)
}

// inWords returns the schema in a prompt that requests an answer by schema.
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

// content returns the text of a message, which is a string or a list of parts.
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

// tokens estimates the number of tokens of a text.
func tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// at returns the value at a path of members, nil if there is none.
func at(value any, members ...string) any {
	for _, name := range members {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// models lists the models in a form that the clients of both providers accept.
func models() *reply {
	model := map[string]any{"id": "sandbox", "object": "model", "type": "model", "display_name": "Sandbox", "created": 0, "owned_by": "sandbox"}
	return ok(map[string]any{"object": "list", "data": []any{model}, "has_more": false})
}

// kindModel is the node type that calls a model.
const kindModel = "ai-prompt"

// script is the answer of a model by a rule, for any provider.
type script struct {
	text    string
	tools   []toolUse
	in, out int // tokens; 0 = by the length of the texts
}

// toolUse is a request of a model to call a tool.
type toolUse struct {
	name      string
	arguments map[string]any
}

// say returns the text and numbers of tokens of a script, or the given ones without it.
func (s *script) say(otherwise string, in, out int) (string, int, int) {
	if s == nil {
		return otherwise, in, out
	}
	if out = max(1, tokens(s.text)); s.out > 0 {
		out = s.out
	}
	if s.in > 0 {
		in = s.in
	}
	return s.text, in, out
}

func (s *script) calls() []toolUse {
	if s == nil {
		return nil
	}
	return s.tools
}

// fits reports whether a script can answer a request: a chat, and, if the script calls tools,
// not the one with their results, which the next rule or the fake answers.
func (s *script) fits(a *received) bool {
	if s == nil {
		return true
	}
	request := a.object()
	messages, _ := request["messages"].([]any)
	if chatOf(a, request) == nil || len(messages) == 0 {
		return false
	}
	last := messages[len(messages)-1]
	parts, _ := at(last, "content").([]any)
	given := at(last, "role") == "tool" || slices.ContainsFunc(parts, func(part any) bool { return at(part, "type") == "tool_result" })
	return len(s.tools) == 0 || !given
}

// scripted are the members of an answer that form a script.
var scripted = []string{"text", "json", "toolCalls", "usage"}

// script reads the scripted members, nil if there are none.
func (r *reader) script(object map[string]any, m *match, path []any) *script {
	given := 0
	for _, name := range scripted {
		if _, is := object[name]; is {
			given++
		}
	}
	at := func(steps ...any) []any { return append(slices.Clone(path), steps...) }
	switch {
	case given == 0:
		return nil
	case m.nodeType != kindModel:
		r.wrong(`text, json, toolCalls and usage are for a match with the nodeType "ai-prompt"`, path...)
	case object["status"] != nil || object["body"] != nil:
		r.wrong("text, json, toolCalls and usage cannot be used together with status and body", path...)
	}
	s := &script{text: r.text(object, "text", path)}
	if value, is := object["json"]; is {
		data, err := blueprint.Encode(value)
		if object["text"] != nil || err != nil {
			r.wrong("cannot be used together with text", at("json")...)
		}
		s.text = string(data)
	}
	if object["toolCalls"] != nil {
		for i, element := range r.list(object["toolCalls"], 100, at("toolCalls")...) {
			where := at("toolCalls", i)
			one := r.object(element, where, "name", "arguments")
			use := toolUse{name: r.text(one, "name", where), arguments: map[string]any{}}
			if one["arguments"] != nil {
				use.arguments = r.object(one["arguments"], append(where, "arguments"), keysOf(one["arguments"])...)
			}
			s.tools = append(s.tools, use)
		}
	}
	if object["usage"] != nil {
		usage := r.object(object["usage"], at("usage"), "inputTokens", "outputTokens")
		const words = "must be a whole number from 1"
		s.in, s.out = r.whole(usage, "inputTokens", 1, maxTimes, words, at("usage")), r.whole(usage, "outputTokens", 1, maxTimes, words, at("usage"))
	}
	return s
}

func keysOf(value any) (names []string) {
	object, _ := value.(map[string]any)
	for name := range object {
		names = append(names, name)
	}
	return names
}
