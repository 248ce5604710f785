package sandbox

import (
	"slices"

	"blueprintd/blueprint"
)

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
