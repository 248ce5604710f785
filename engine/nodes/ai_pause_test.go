package nodes

import (
	"errors"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// A pause keeps the conversation: nothing is asked and no tool called again.
func TestPauses(t *testing.T) {
	pause := &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitBudget, Prompt: "more?"}}
	const config = `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"]}`
	for provider, answers := range map[string][]string{
		"openai": {says("", `1|echo|{"n":1.0}`), says("Done.")},
		"anthropic": {`{"content":[{"type":"thinking","signature":"s"},{"type":"tool_use","id":"1","name":"echo","input":{"n":1.0}}],"usage":{"input_tokens":10,"output_tokens":2}}`,
			`{"content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":10,"output_tokens":2}}`},
	} {
		t.Run(provider, func(t *testing.T) {
			w := newWorld(t, answers...)
			calls := 0
			w.budget = func() error {
				if calls++; calls%2 == 0 {
					return pause
				}
				return nil
			}
			var kept *blueprint.Pause
			_, result, err := w.run(provider, config, nil)
			if !errors.As(err, &kept) || kept.State == nil || kept.Await.Prompt != "more?" {
				t.Fatalf("%v, want a pause with a state that asks more?", err)
			}
			if pause.State != nil || result.Tokens != 12 {
				t.Fatalf("state %v of the tool's pause, %d tokens; want none and 12", pause.State, result.Tokens)
			}
			if plain, err := blueprint.Plain(kept.State); err != nil || !blueprint.Equal(plain, kept.State) {
				t.Errorf("the state is no plain JSON value: %v, want %v", err, kept.State)
			}
			calls = 1 // still nothing to spend
			if _, _, err = w.run(provider, config, kept.State); !errors.As(err, &kept) || len(w.asked) != 1 {
				t.Fatalf("%v, want length 1", err)
			}
			// A sign-in that is needed on the way keeps it as well.
			w.connect = func(id string) error {
				if id == toolsID {
					return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth}}
				}
				return nil
			}
			state := kept.State
			if _, _, err = w.run(provider, config, state); !errors.As(err, &kept) || kept.Await.Kind != blueprint.AwaitOAuth || !blueprint.Equal(kept.State, state) {
				t.Fatalf("%v, want Kind %v and %v", err, blueprint.AwaitOAuth, state)
			}
			w.connect, calls = nil, 2
			output, result, err := w.run(provider, config, kept.State)
			if err != nil || output["text"] != "Done." || asJSON(t, output["usage"]) != `{"inputTokens":20,"outputTokens":4}` || result.Tokens != 12 {
				t.Errorf("%v, %v; want text Done., {\"inputTokens\":20,\"outputTokens\":4} and Tokens 12", output, err)
			}
			if len(w.called) != 1 || len(w.asked) != 2 || provider == "anthropic" && !strings.Contains(asJSON(t, w.asked[1]), `{"signature":"s","type":"thinking"}`) {
				t.Errorf("called %v, asked %v", w.called, w.asked)
			}
		})
	}
	w := newWorld(t)
	w.budget = func() error { return pause }
	if _, _, err := w.run("openai", config, nil); err != error(pause) {
		t.Errorf("nothing was said, and %v", err)
	}
	for _, state := range []any{"x", map[string]any{}, map[string]any{"messages": []any{1}}} {
		if _, _, err := w.run("openai", config, state); codeOf(err) != "bad_state" {
			t.Errorf("%v: %v, want bad_state", state, err)
		}
	}
}

// What cuts the calls of one answer in two: those that were made stay made.
func TestPauseBetweenCalls(t *testing.T) {
	talk, err := beginDialogue(nil, "Hi")
	if err != nil || talk.pending() != nil {
		t.Fatalf("%v, want pending nil", err)
	}
	w := newWorld(t, says("", `1|echo|{}`, `2|echo|{}`), says("Done."))
	n := 0
	w.budget = func() error {
		if n++; n == 2 {
			return &blueprint.Pause{}
		}
		return nil
	}
	var kept *blueprint.Pause
	if _, _, err := w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"]}`, nil); !errors.As(err, &kept) {
		t.Fatal(err)
	}
	messages := kept.State.(map[string]any)["messages"].([]any)
	last := messages[len(messages)-1].(map[string]any)
	last["results"] = last["results"].([]any)[:1]
	if _, _, err := w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"]}`, kept.State); err != nil || len(w.called) != 3 {
		t.Errorf("%v, called %v; want length 3", err, w.called)
	}
	if got := len(w.asked[1]["messages"].([]any)); got != 4 {
		t.Errorf("%d messages, want 4", got)
	}
}
