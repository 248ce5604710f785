package nodes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestPrompt(t *testing.T) {
	const wanted = `"responseSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`
	for _, test := range []struct {
		name, provider, config string
		answers                []string
		want                   string // the output, or the code of the failure
		asked                  string // the last request holds it
	}{
		{"text", "openai", `{MODEL,"prompt":"Hi {{name}}","system":"Be {{n}}."}`, []string{says("Hello")}, `{"text":"Hello","usage":{"inputTokens":10,"outputTokens":2}}`, `[{"content":"Be 3.","role":"system"},{"content":"Hi Ann","role":"user"}]`},
		{"the other name", "openai", `{MODEL,"userPrompt":"{{thing}}","maxTokens":5,"temperature":0.5}`, []string{says("")}, `{"text":"","usage":{"inputTokens":10,"outputTokens":2}}`, `"max_tokens":5,"messages":[{"content":"{\"a\":1.50}","role":"user"}],"model":"m","temperature":0.5`},
		{"messages", "anthropic", `{MODEL,"prompt":"Hi"}`, []string{`{"content":[{"type":"text","text":"Hello"}],"usage":{"input_tokens":1,"cache_read_input_tokens":5,"output_tokens":2}}`}, `{"text":"Hello","usage":{"inputTokens":6,"outputTokens":2}}`, `"max_tokens":16000`},
		{"json", "openai", `{MODEL,"prompt":"Hi",` + wanted + `}`, []string{says(`{"n":7}`)}, `{"json":{"n":7},"text":"{\"n\":7}","usage":{"inputTokens":10,"outputTokens":2}}`, `"response_format"`},
		{"json mended", "openai", `{MODEL,"prompt":"Hi",` + wanted + `}`, []string{says(`{"n":0}`), says("```json\n{\"n\":1}\n```")}, "{\"json\":{\"n\":1},\"text\":\"```json\\n{\\\"n\\\":1}\\n```\",\"usage\":{\"inputTokens\":20,\"outputTokens\":4}}", `Your answer does not fit the schema: n: must be at least 1.`},
		{"json broken twice", "openai", `{MODEL,"prompt":"Hi",` + wanted + `}`, []string{says(`never`), says(`{}`)}, "schema_mismatch", `Your answer is not JSON.`},
		{"json in words", "openai", `{MODEL,"prompt":"Hi",` + wanted + `}`, []string{`400 {"error":{"message":"no"}}`, says(`{"n":1}`)}, `{"json":{"n":1},"text":"{\"n\":1}","usage":{"inputTokens":10,"outputTokens":2}}`, `Your final answer must be`},
		{"any json", "openai", `{MODEL,"prompt":"Hi","responseSchema":{"type":"array"}}`, []string{says(`[1]`)}, `{"json":[1],"text":"[1]","usage":{"inputTokens":10,"outputTokens":2}}`, `Your final answer must be`},
		{"no schema", "openai", `{MODEL,"prompt":"Hi","responseSchema":null}`, []string{says(`x`)}, `{"text":"x","usage":{"inputTokens":10,"outputTokens":2}}`, ``},
		{"json cut off", "anthropic", `{MODEL,"prompt":"Hi",` + wanted + `}`, []string{`{"content":[{"type":"text","text":"{"}],"stop_reason":"max_tokens","usage":{"input_tokens":10,"output_tokens":2}}`}, "truncated", ``},
		{"call cut off", "anthropic", `{MODEL,"prompt":"Hi"}`, []string{`{"content":[{"type":"tool_use","id":"1","name":"x","input":{}}],"stop_reason":"max_tokens","usage":{"input_tokens":10,"output_tokens":2}}`}, "truncated", ``},
		{"refused", "anthropic", `{MODEL,"prompt":"Hi"}`, []string{`{"content":[],"stop_reason":"refusal","usage":{"input_tokens":10,"output_tokens":2}}`}, "model_refused", ``},
		{"bad request", "openai", `{MODEL,"prompt":"Hi"}`, []string{`404 {"error":{"message":"no model m"}}`}, "invalid_request", ``},
		{"unknown provider", "other", `{MODEL,"prompt":"Hi"}`, nil, "bad_config", ``},
		{"a call of no tool", "openai", `{MODEL,"prompt":"Hi"}`, []string{says("", "1|x|{}"), says("never mind")}, `{"steps":2,"text":"never mind","toolCalls":1,"usage":{"inputTokens":20,"outputTokens":4}}`, `{"content":"there is no tool of this name","role":"tool","tool_call_id":"1"}`},
		{"empty", "openai", `{MODEL,"prompt":"{{empty}}"}`, nil, "bad_config", ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.answers...)
			output, result, err := w.run(test.provider, strings.Replace(test.config, "{{empty}}", `{{missing ?? \" \"}}`, 1), nil)
			got := codeOf(err)
			if err == nil {
				got = asJSON(t, output)
			}
			if got != test.want {
				t.Errorf("got %s, %v; want %v", got, err, test.want)
			}
			if last := len(w.asked) - 1; test.asked != "" && (last < 0 || !strings.Contains(asJSON(t, w.asked[last]), test.asked)) {
				t.Errorf("asked %v, want asked %v", w.asked, test.asked)
			}
			var spent int64
			for _, tokens := range w.spent {
				spent += tokens
			}
			if answered := int64(len(w.spent)); result.Tokens != spent || test.provider == "openai" && spent != 12*answered || len(w.answers) > 0 {
				t.Errorf("tokens %d, spent %v", result.Tokens, w.spent)
			}
		})
	}
}

func TestCutOffText(t *testing.T) {
	w := newWorld(t, `{"choices":[{"message":{"content":"half"},"finish_reason":"length"}]}`)
	output, _, err := w.run("openai", `{MODEL,"prompt":"Hi"}`, nil)
	want := []string{`debug asked the model {"inputTokens":0,"model":"m","outputTokens":0,"step":1}`, `warn the provider does not report the number of tokens, so they are not counted`, `warn the model's answer is cut off; raise maxTokens to get all of it`}
	if err != nil || output["text"] != "half" || !slices.Equal(w.logged, want) {
		t.Errorf("%v, %v, %q; want text half and %v", output, err, w.logged, want)
	}
}

func TestPromptFailures(t *testing.T) {
	budget := &blueprint.Failure{Code: "budget_exceeded", NotSent: true}
	w := newWorld(t, says("", `1|x|{}`))
	n := 0
	w.budget = func() error {
		if n++; n == 2 {
			return budget
		}
		return nil
	}
	_, result, err := w.run("openai", `{MODEL,"prompt":"Hi"}`, nil)
	var f *blueprint.Failure
	if !errors.As(err, &f) || f.Code != budget.Code || f.NotSent || !budget.NotSent {
		t.Errorf("got %+v, want %s as sent, and as it was in the budget", err, budget.Code)
	}
	if result.Tokens != 12 {
		t.Errorf("%d tokens, want 12", result.Tokens)
	}
	w = newWorld(t)
	w.model.Close()
	if _, _, err := w.run("openai", `{MODEL,"prompt":"Hi"}`, nil); !errors.As(err, &f) || f.Code != "connect_failed" || !f.NotSent {
		t.Errorf("got %+v, want Code connect_failed and NotSent", err)
	}
	w.connect = func(string) error { return &blueprint.Failure{Code: "connection_unavailable", Permanent: true} }
	if _, _, err := w.run("openai", `{MODEL,"prompt":"Hi"}`, nil); codeOf(err) != "connection_unavailable" {
		t.Errorf("got %+v, want connection_unavailable", err)
	}
	w.connect = nil
	if _, _, err := w.run("openai", strings.Replace(`{MODEL,"prompt":"Hi"}`, "MODEL", `"model":"m","connectionId":"TOOLS"`, 1), nil); codeOf(err) != "connection_unavailable" || !strings.Contains(err.Error(), "ai-provider") {
		t.Errorf("got %+v, want connection_unavailable and \"ai-provider\" in it", err)
	}
}

func TestPromptChecks(t *testing.T) {
	const good = `"connectionId":"` + modelID + `","model":"m"`
	for config, want := range map[string]string{
		`{` + good + `,"prompt":"{{x}}","maxTokens":"{{x}}","temperature":"{{x}}","mcpConnectionIds":"{{x}}","maxSteps":"{{x}}"}`:                   ``,
		`{` + good + `,"userPrompt":"x","temperature":1,"mcpConnectionIds":["{{x}}","{{x}}","` + toolsID + `"],"responseSchema":true,"maxSteps":1}`: ``,
		`{}`: `connectionId: required; model: required; prompt: required`,
		`{"connectionId":"mine","model":"","prompt":" "}`:                                           `connectionId: must be the id of a connection, a UUID; model: must not be empty; prompt: must not be empty`,
		`{` + good + `,"prompt":"a","userPrompt":"b"}`:                                              `userPrompt: cannot be combined with prompt: they are the same`,
		`{` + good + `,"prompt":"a","temperature":"hot"}`:                                           `temperature: must be a number`,
		`{` + good + `,"prompt":"a","temperature":2.01}`:                                            `temperature: must be from 0 to 2`,
		`{` + good + `,"prompt":"a","maxTokens":0,"maxSteps":101}`:                                  `maxTokens: must be from 1 to 10000000; maxSteps: must be from 1 to 100`,
		`{` + good + `,"prompt":"a","mcpConnectionIds":"x"}`:                                        `mcpConnectionIds: must be an array`,
		`{` + good + `,"prompt":"a","mcpConnectionIds":["x",1]}`:                                    `mcpConnectionIds[1]: must be a string; mcpConnectionIds[0]: must be the id of a connection, a UUID; mcpConnectionIds[1]: must be the id of a connection, a UUID`,
		`{` + good + `,"prompt":"a","mcpConnectionIds":["` + toolsID + `","` + toolsID + `"]}`:      `mcpConnectionIds[1]: is given twice`,
		`{` + good + `,"prompt":"a","mcpConnectionIds":[` + strings.Repeat(`"{{x}}",`, 16) + `""]}`: `mcpConnectionIds: must be at most 16 connections; mcpConnectionIds[16]: must be the id of a connection, a UUID`,
		`{` + good + `,"prompt":"a","responseSchema":{"type":"text"}}`:                              `responseSchema.type: *`,
	} {
		t.Run(config, func(t *testing.T) {
			got := issueText(typeOf(t, "ai-prompt").Check(object(t, config)))
			if prefix, open := strings.CutSuffix(want, "*"); got != want && !(open && strings.HasPrefix(got, prefix)) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	if !typeOf(t, "ai-prompt").Verbatim([]any{"responseSchema", "properties"}) {
		t.Error("templates are resolved in a schema")
	}
}
