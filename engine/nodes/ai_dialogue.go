package nodes

import (
	"bytes"
	"encoding/json"
	"errors"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/llm"
)

// dialogue is a conversation and its usage. It is stored while the node is paused, so
// that no question is asked and no tool called again.
type dialogue struct {
	Messages  []llm.Message `json:"messages"`
	Steps     int           `json:"steps"` // requests to the model
	ToolCalls int           `json:"toolCalls"`
	Usage     llm.Usage     `json:"usage"`
	// Again says that the model was asked to correct its response.
	Again bool `json:"again,omitempty"`
}

// beginDialogue returns the conversation of a pause, or a new one.
func beginDialogue(state any, prompt string) (*dialogue, error) {
	if state == nil {
		return &dialogue{Messages: []llm.Message{{Role: llm.RoleUser, Text: prompt}}}, nil
	}
	c := &dialogue{}
	data, err := blueprint.Encode(state)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		err = decoder.Decode(c)
	}
	if err != nil || len(c.Messages) == 0 {
		return nil, &blueprint.Failure{Code: codeBadState, Message: "the conversation that was kept cannot be read", Permanent: true}
	}
	return c, nil
}

// codeBadState is the failure of a node that cannot restore its state.
const codeBadState = "bad_state"

// pending returns the calls without a result.
func (c *dialogue) pending() []llm.ToolCall {
	last := len(c.Messages) - 1
	done := 0
	if c.Messages[last].Role == llm.RoleTool {
		done = len(c.Messages[last].Results)
		last--
	}
	if last < 0 || c.Messages[last].Role != llm.RoleAssistant {
		return nil
	}
	return c.Messages[last].Calls[min(done, len(c.Messages[last].Calls)):]
}

// addResult adds the result of the first pending call.
func (c *dialogue) addResult(result llm.ToolResult) {
	c.ToolCalls++
	if last := &c.Messages[len(c.Messages)-1]; last.Role == llm.RoleTool {
		last.Results = append(last.Results, result)
		return
	}
	c.Messages = append(c.Messages, llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{result}})
}

// withState stores the conversation in a pause. A failure after the first request was
// sent in part.
func (c *dialogue) withState(err error) error {
	if c.Steps == 0 {
		return err
	}
	if pause, ok := errors.AsType[*blueprint.Pause](err); ok {
		kept := *pause
		if kept.State, err = blueprint.Plain(c); err != nil {
			return &blueprint.Failure{Code: codeBadState, Message: "the conversation cannot be kept", Permanent: true}
		}
		return &kept
	}
	if failure, ok := errors.AsType[*blueprint.Failure](err); ok && failure.NotSent {
		told := *failure
		told.NotSent = false
		return &told
	}
	return err
}

func (c *dialogue) output(text string, value any, hasValue bool) map[string]any {
	output := map[string]any{"text": text, "usage": map[string]any{
		"inputTokens": whole(c.Usage.InputTokens), "outputTokens": whole(c.Usage.OutputTokens),
	}}
	if hasValue {
		output["json"] = value
	}
	if c.ToolCalls > 0 {
		output["steps"], output["toolCalls"] = whole(int64(c.Steps)), whole(int64(c.ToolCalls))
	}
	return output
}
