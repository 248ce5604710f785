package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/llm"
	"blueprintd/foundation/outbound"
)

// Failures of a prompt besides those of package llm.
const (
	codeSchemaMismatch = "schema_mismatch"
	codeTooManySteps   = "too_many_steps"
)

// askTimeout bounds one request.
const askTimeout = 10 * time.Minute

// promptRun is one run of a prompt, until its result or a pause.
type promptRun struct {
	deps   Dependencies
	task   *blueprint.Task
	config *aiConfig

	client   *llm.Client
	tools    toolbox
	dialogue *dialogue
	tokens   int64 // of this run
}

// run asks until the model responds without calling a tool.
func (p *promptRun) run(ctx context.Context) (any, error) {
	var err error
	if p.dialogue, err = beginDialogue(p.task.State, p.config.question()); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, p.dialogue.withState(err)
	}
	defer p.tools.close()
	for {
		if err := p.callTools(ctx); err != nil {
			return nil, p.dialogue.withState(err)
		}
		answer, err := p.ask(ctx)
		if err != nil {
			return nil, p.dialogue.withState(err)
		}
		if len(answer.Message.Calls) > 0 {
			if p.dialogue.Steps >= int(numberOr(p.config.MaxSteps, standardSteps)) {
				return nil, &blueprint.Failure{Code: codeTooManySteps, Message: fmt.Sprintf("the model still calls tools after %d steps; raise maxSteps if it needs more", p.dialogue.Steps)}
			}
			continue
		}
		output, again, err := p.finish(answer)
		if err != nil || !again {
			return output, err
		}
	}
}

// open connects to the model's server and those of the tools.
func (p *promptRun) open(ctx context.Context) error {
	connection, err := connect(ctx, p.task, p.config.ConnectionID, blueprint.ConnectionAIProvider)
	if err != nil {
		return err
	}
	p.client, err = llm.Open(connection, llm.Options{HTTP: p.deps.HTTP, Clock: p.deps.Clock, UserAgent: p.deps.UserAgent})
	if err != nil {
		return err
	}
	return p.tools.open(ctx, p.deps, p.task, p.config.MCPConnections)
}

func (p *promptRun) ask(ctx context.Context) (*llm.Answer, error) {
	request := p.request()
	if p.task.Budget != nil {
		if err := p.task.Budget(ctx, estimate(request)); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ctx, hops := outbound.RecordHops(ctx)
	begun := p.deps.Clock.Now()
	answer, err := p.client.Ask(ctx, request)
	if answer != nil {
		p.count(answer, begun)
	}
	switch {
	case err != nil:
		return nil, p.requestError(ctx, err, hops)
	case answer.Truncated && len(answer.Message.Calls) > 0:
		return nil, truncated("in the middle of a call of a tool")
	case answer.Truncated && p.config.compiled != nil:
		return nil, truncated("before the JSON was complete")
	case answer.Truncated:
		p.task.Log("warn", "the model's answer is cut off; raise maxTokens to get all of it", nil)
	}
	p.dialogue.Messages = append(p.dialogue.Messages, answer.Message)
	return answer, nil
}

func (p *promptRun) request() *llm.Request {
	c := p.config
	r := &llm.Request{Model: c.Model, System: string(c.System), Messages: p.dialogue.Messages, Tools: p.tools.list}
	if c.compiled != nil {
		r.Schema = c.ResponseSchema.Value
	}
	if c.MaxTokens != nil {
		r.MaxTokens = *c.MaxTokens
	}
	if c.Temperature != nil {
		r.Temperature = *c.Temperature
	}
	return r
}

// estimate returns the approximate tokens of a request, at four bytes each.
func estimate(r *llm.Request) int64 {
	size := len(r.System)
	for i := range r.Messages {
		size += len(r.Messages[i].Text)
	}
	return int64(size/4) + r.MaxTokens
}

// count records the usage of a request.
func (p *promptRun) count(answer *llm.Answer, begun time.Time) {
	used := answer.Usage
	p.dialogue.Steps++
	p.dialogue.Usage = p.dialogue.Usage.Plus(used)
	p.tokens += used.Total()
	if p.task.Spend != nil {
		p.task.Spend(used.Total())
	}
	p.task.Log("debug", "asked the model", map[string]any{
		"model": p.config.Model, "inputTokens": whole(used.InputTokens), "outputTokens": whole(used.OutputTokens),
		"durationMs": whole(p.deps.Clock.Now().Sub(begun).Milliseconds()), "step": whole(int64(p.dialogue.Steps)),
	})
	if used.Total() == 0 && p.dialogue.Steps == 1 {
		p.task.Log("warn", "the provider does not report the number of tokens, so they are not counted", nil)
	}
}

func (p *promptRun) requestError(ctx context.Context, err error, hops *outbound.Hops) error {
	var known *blueprint.Failure
	var pause *blueprint.Pause
	if errors.As(err, &known) || errors.As(err, &pause) {
		return err
	}
	return requestFailure(ctx, err, hops)
}

func truncated(where string) error {
	return &blueprint.Failure{Code: llm.CodeTruncated, Message: "the model's answer is cut off " + where + "; raise maxTokens"}
}

// finish returns the output, or again when the model has to correct its response.
func (p *promptRun) finish(answer *llm.Answer) (output any, again bool, err error) {
	text := answer.Message.Text
	if p.config.compiled == nil {
		return p.dialogue.output(text, nil, false), false, nil
	}
	value, isJSON := llm.JSON(text)
	problem := "is not JSON"
	if isJSON {
		issues := p.config.compiled.Validate(value)
		if issues == nil {
			return p.dialogue.output(text, value, true), false, nil
		}
		problem = "does not fit the schema: " + issueText(issues[:min(len(issues), 10)])
	}
	if p.dialogue.Again {
		return nil, false, &blueprint.Failure{Code: codeSchemaMismatch, Message: "the model's answer " + problem + " (it was asked twice)"}
	}
	p.dialogue.Again = true
	p.dialogue.Messages = append(p.dialogue.Messages, llm.Message{
		Role: llm.RoleUser, Text: "Your answer " + problem + ". Give the whole answer again, corrected: one JSON value that fits the schema, and nothing else.",
	})
	p.task.Log("debug", "the model's answer "+problem+"; it is asked once more", nil)
	return nil, true, nil
}

func whole(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

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
		err = blueprint.DecodeInto(data, c)
	}
	if err != nil || len(c.Messages) == 0 {
		return nil, &blueprint.Failure{Code: codeBadState, Message: "the stored conversation cannot be read", Permanent: true}
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
			return &blueprint.Failure{Code: codeBadState, Message: "the conversation cannot be stored", Permanent: true}
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
