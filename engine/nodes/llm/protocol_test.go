package llm

import (
	"context"
	"strings"
	"testing"
)

// talk is a conversation with everything in it.
func talk() *Request {
	return &Request{
		Model: "m", System: "Be kind.", MaxTokens: 9, Temperature: "0.50",
		Messages: []Message{
			{Role: RoleUser, Text: "Weather?"},
			{Role: RoleAssistant, Text: "Let me see.", Calls: []ToolCall{{ID: "1", Name: "weather", Arguments: map[string]any{"city": "Ulm"}}, {ID: "2", Name: "x", Problem: "bad"}}},
			{Role: RoleTool, Results: []ToolResult{{ID: "1", Text: "rain"}, {ID: "2", Text: "no", IsError: true}}},
		},
		Tools: []Tool{{Name: "weather", Description: "Tells it.", InputSchema: map[string]any{"type": "object"}}, {Name: "x", InputSchema: map[string]any{"type": "object"}}},
	}
}

func TestRequests(t *testing.T) {
	const chat = `{"model":"m","temperature":0.50,"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Weather?"},` +
		`{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Ulm\"}"}},{"id":"2","type":"function","function":{"name":"x","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"1","content":"rain"},{"role":"tool","tool_call_id":"2","content":"no"}],` +
		`"tools":[{"type":"function","function":{"name":"weather","description":"Tells it.","parameters":{"type":"object"}}},{"type":"function","function":{"name":"x","parameters":{"type":"object"}}}],`
	const messages = `{"model":"m","temperature":0.50,"system":"Be kind.","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Weather?"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"1","name":"weather","input":{"city":"Ulm"}},{"type":"tool_use","id":"2","name":"x","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"rain"},{"type":"tool_result","tool_use_id":"2","content":"no","is_error":true}]}],` +
		`"tools":[{"name":"weather","description":"Tells it.","input_schema":{"type":"object"}},{"name":"x","input_schema":{"type":"object"}}]}`
	empty := question("")
	empty.Messages = append(empty.Messages, Message{Role: RoleAssistant}, Message{Role: RoleUser, Text: "again"})
	for _, test := range []struct {
		name     string
		protocol protocol
		request  *Request
		want     string
	}{
		{"chat", openAI{}, talk(), chat + `"max_tokens":9}`},
		{"chat of OpenAI's own", openAI{official: true}, talk(), chat + `"max_completion_tokens":9}`},
		{"chat, shortest", openAI{}, question("Hi"), `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`},
		{"messages", anthropic{}, talk(), messages},
		{"messages, shortest", anthropic{}, question("Hi"), `{"model":"m","max_tokens":16000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`},
		{"messages without content", anthropic{}, empty, `{"model":"m","max_tokens":16000,"messages":[{"role":"user","content":[{"type":"text","text":"again"}]}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := asJSON(t, test.protocol.request(test.request, quirks{})); got != asJSON(t, plain(t, test.want)) {
				t.Errorf("got\n%s", got)
			}
		})
	}
	long := strings.Repeat("é", 1025)
	if got := (openAI{official: true}).described(long); got != strings.Repeat("é", 1021)+"..." || (openAI{}).described(long) != long || (openAI{official: true}).described("x") != "x" {
		t.Errorf("described %q, want it cut after 1021 letters, and only for the official service and a long text", got)
	}
	for host, own := range map[string]bool{"API.openai.com": true, "eu.api.openai.com": true, "x.openai.azure.com": true, "openai.com.example": false, "127.0.0.1": false} {
		t.Run(host, func(t *testing.T) {
			if isOpenAIHost(host) != own {
				t.Errorf("want %v", own)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	const noUsage = `,"usage":null}`
	for _, test := range []struct{ name, body, message, raw string }{
		{"text", hello, `{"role":"assistant","text":"Hello"}`, `{"role":"assistant","content":"Hello"}`},
		{"parts", `{"choices":[{"message":{"content":[{"type":"thinking","text":"hm"},{"type":"text","text":"a"},{"text":"b"}]}}]` + noUsage, `{"role":"assistant","text":"ab"}`, `{"role":"assistant","content":"ab"}`},
		{"calls", `{"choices":[{"message":{"content":null,"annotations":[],"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","extra_content":{"sign":1},"function":{"name":"f","arguments":"{\"a\":1.50}"}}]}}]` + noUsage,
			`{"role":"assistant","calls":[{"id":"1","name":"f","arguments":{"a":1.50}}]}`,
			`{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","extra_content":{"sign":1},"function":{"name":"f","arguments":"{\"a\":1.50}"}}]}`},
		{"bad arguments", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{"}},{"id":"x","function":{"name":"g","arguments":""}},{"id":"y","function":{"name":"h","arguments":{"b":2}}},{"id":"z","function":{"name":"i","arguments":"[1]"}},{}]}}]` + noUsage,
			`{"role":"assistant","calls":[{"id":"call_0","name":"f","problem":"the arguments are not a JSON object"},{"id":"x","name":"g"},{"id":"y","name":"h","arguments":{"b":2}},{"id":"z","name":"i","problem":"the arguments are not a JSON object"},{"id":"call_4","name":""}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"x","type":"function","function":{"name":"g","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"h","arguments":"{\"b\":2}"}},{"id":"z","type":"function","function":{"name":"i","arguments":"{}"}},{"id":"call_4","type":"function","function":{"name":"","arguments":"{}"}}]}`},
		{"messages", helloToo, `{"role":"assistant","text":"Hello"}`, `[{"type":"text","text":"Hello"}]`},
		{"messages with calls", `{"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":""},{"type":"text","text":"a","citations":null},7,{"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"tool_use","id":"2","name":"g","input":"x"}]}`,
			`{"role":"assistant","text":"a","calls":[{"id":"1","name":"f","arguments":{"a":1}},{"id":"2","name":"g","problem":"the arguments are not a JSON object"}]}`,
			`[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a","citations":null},{"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"tool_use","id":"2","name":"g","input":{}}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var spoken protocol = openAI{}
			by := OpenAI
			if object(plain(t, test.body))["content"] != nil {
				spoken, by = anthropic{}, Anthropic
			}
			a, failure := spoken.answer(object(plain(t, test.body)))
			if failure != nil || a.Message.By != by {
				t.Errorf("%v, want nil and By %v", failure, by)
				return
			}
			raw := a.Message.Raw
			a.Message.Raw, a.Message.By = nil, ""
			if got := asJSON(t, a.Message); !same(t, got, test.message) {
				t.Errorf("got\n%s", got)
			}
			if got := asJSON(t, raw); !same(t, got, test.raw) {
				t.Errorf("goes back as\n%s", got)
			}
		})
	}
}

func same(t *testing.T, a, b string) bool {
	return asJSON(t, plain(t, a)) == asJSON(t, plain(t, b))
}

// What a model said goes back as it came to the same provider, and rewritten to
// another.
func TestGoingBack(t *testing.T) {
	said := Message{Role: RoleAssistant, Text: "a", By: Anthropic, Raw: plain(t, `[{"type":"thinking","signature":"s"},{"type":"text","text":"a"}]`)}
	r := &Request{Model: "m", Messages: []Message{said}}
	if got := asJSON(t, anthropic{}.request(r, quirks{})["messages"]); got != `[{"content":[{"signature":"s","type":"thinking"},{"text":"a","type":"text"}],"role":"assistant"}]` {
		t.Error(got)
	}
	if got := asJSON(t, openAI{}.request(r, quirks{})["messages"]); got != `[{"content":"a","role":"assistant"}]` {
		t.Errorf("%v, want [{\"content\":\"a\",\"role\":\"assistant\"}]", got)
	}
	r.Messages[0] = Message{Role: RoleAssistant, By: Anthropic, Calls: []ToolCall{{ID: "1", Name: "f"}}}
	if got := asJSON(t, openAI{}.request(r, quirks{})["messages"]); got != `[{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"1","type":"function"}]}]` {
		t.Error(got)
	}
	r.Messages[0] = Message{Role: RoleAssistant, Text: "b", By: OpenAI, Raw: plain(t, `{"role":"assistant","content":"b","reasoning_content":"r"}`)}
	if got := asJSON(t, openAI{}.request(r, quirks{})["messages"]); got != `[{"content":"b","reasoning_content":"r","role":"assistant"}]` {
		t.Error(got)
	}
	if got := asJSON(t, anthropic{}.request(r, quirks{})["messages"]); got != `[{"content":[{"text":"b","type":"text"}],"role":"assistant"}]` {
		t.Error(got)
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		provider Provider
		usage    string
		want     Usage
	}{
		{OpenAI, `{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":90}}`, Usage{100, 20}},
		{OpenAI, `{"prompt_tokens":1.0,"completion_tokens":"7"}`, Usage{1, 0}},
		{OpenAI, `{"prompt_tokens":-5,"completion_tokens":1e999}`, Usage{0, 0}},
		{OpenAI, `{"prompt_tokens":1e300,"completion_tokens":-1e300}`, Usage{1 << 32, 0}},
		{OpenAI, `null`, Usage{}},
		{Anthropic, `{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":5}`, Usage{3210, 5}},
		{Anthropic, `{"input_tokens":10,"cache_creation_input_tokens":null,"output_tokens":5}`, Usage{10, 5}},
	} {
		t.Run(test.usage, func(t *testing.T) {
			body := `{"choices":[{"message":{"content":"x"}}],"usage":` + test.usage + `}`
			if test.provider == Anthropic {
				body = `{"content":[],"usage":` + test.usage + `}`
			}
			p := newProvider(t, says(200, body))
			a, err := client(t, test.provider, p.URL).Ask(context.Background(), question("Hi"))
			if err != nil || a.Usage != test.want {
				t.Errorf("%+v, %v; want Usage %v", a, err, test.want)
			}
		})
	}
	// A refusal is paid for as well.
	p := newProvider(t, says(200, `{"content":[],"stop_reason":"refusal","usage":{"input_tokens":4,"output_tokens":1}}`))
	if a, err := client(t, Anthropic, p.URL).Ask(context.Background(), question("Hi")); err == nil || a == nil || a.Usage.Plus(Usage{1, 1}).Total() != 7 {
		t.Errorf("got %+v, %v; want an error, not nil and Total 7", a, err)
	}
}

func TestTruncated(t *testing.T) {
	for body, want := range map[string]bool{
		`{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`:     true,
		`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`:       false,
		`{"choices":[{"message":{"content":"x"},"finish_reason":null}]}`:         false,
		`{"content":[],"stop_reason":"max_tokens"}`:                              true,
		`{"content":[],"stop_reason":"model_context_window_exceeded"}`:           true,
		`{"content":[],"stop_reason":"stop_sequence"}`:                           false,
		`{"content":[{"type":"text","text":"half a wo"}],"stop_reason":"other"}`: false,
	} {
		t.Run(body, func(t *testing.T) {
			value := object(plain(t, body))
			var spoken protocol = openAI{}
			if value["content"] != nil {
				spoken = anthropic{}
			}
			if a, failure := spoken.answer(value); failure != nil || a.Truncated != want {
				t.Errorf("%+v, %v; want nil and Truncated %v", a, failure, want)
			}
		})
	}
}
