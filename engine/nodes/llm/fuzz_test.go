package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// FuzzAnswer gives the readers any answer: nothing panics, tokens are never
// paid back, and what is kept of an answer can be stored, read again and put
// into the next request.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		hello, helloToo, objectOne, `{"choices":[{"message":{"tool_calls":[{"id":1,"function":{"arguments":"{}"}}]},"finish_reason":"length"}]}`,
		`{"content":[{"type":"tool_use","id":"1","name":"x","input":[]},{"type":"thinking"}],"stop_reason":"max_tokens","usage":{"input_tokens":-1}}`,
		`{"error":{"message":"x","code":429}}`, `[{"error":"x"}]`, `{"detail":[{"loc":[1,"a"],"msg":null}]}`, `{"choices":[{"message":{"refusal":"no"}}]}`,
	} {
		f.Add(seed, 200)
		f.Add(seed, 400)
	}
	c, err := Open(connection(OpenAI, ""), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string, status int) {
		value, _ := blueprint.Decode([]byte(body))
		if p := c.problemOf(status, http.Header{}, value); p != nil {
			failure := c.refused(p).(*blueprint.Failure)
			if failure.Code == "" || len(failure.Message) > 2000 || strings.Contains(failure.Message, key) {
				t.Fatalf("%+v, want Code not empty, length at most 2000 and no %q", failure, key)
			}
			r := question("Hi")
			r.Schema = value
			c.quirks = quirks{}
			c.adapt(r, p)
		}
		for _, spoken := range []protocol{openAI{}, anthropic{}} {
			r := question("Hi")
			r.Schema = value
			spoken.request(r, quirks{})
			if object(value) == nil {
				continue
			}
			a, failure := spoken.answer(object(value))
			if a == nil || a.Usage.InputTokens < 0 || a.Usage.OutputTokens < 0 {
				t.Fatalf("%+v, want not nil, InputTokens at least 0 and OutputTokens at least 0", a)
			}
			if failure != nil {
				continue
			}
			JSON(a.Message.Text)
			stored, err := blueprint.Encode(a.Message)
			if err != nil {
				t.Fatal(err)
			}
			var again Message
			decoder := json.NewDecoder(strings.NewReader(string(stored)))
			decoder.UseNumber()
			if err := decoder.Decode(&again); err != nil {
				t.Fatal(err)
			}
			for _, other := range []protocol{openAI{}, anthropic{}} {
				before, err := blueprint.Encode(other.request(&Request{Messages: []Message{a.Message}}, quirks{}))
				after, _ := blueprint.Encode(other.request(&Request{Messages: []Message{again}}, quirks{}))
				if err != nil || string(before) != string(after) {
					t.Fatalf("%v\n%s\n%s", err, before, after)
				}
			}
		}
	})
}
