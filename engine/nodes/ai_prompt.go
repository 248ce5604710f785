package nodes

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

type aiConfig struct {
	ConnectionID   string       `key:"connectionId" form:"connection:ai-provider" required:"true" doc:"The connection of type ai-provider."`
	Model          string       `key:"model" required:"true" doc:"The provider's name of the model."`
	Prompt         text         `key:"prompt" form:"lines" doc:"The prompt for the model."`
	UserPrompt     text         `key:"userPrompt" form:"lines" doc:"An alias of prompt."`
	System         text         `key:"system" form:"lines" doc:"Instructions for the model: its role and rules."`
	MaxTokens      *int64       `key:"maxTokens" minimum:"1" maximum:"10000000" doc:"The maximum number of tokens of one answer."`
	Temperature    *json.Number `key:"temperature" minimum:"0" maximum:"2" doc:"The randomness of the answer, from 0 to 2. Not every model accepts it."`
	ResponseSchema jsonSchema   `key:"responseSchema" title:"Schema of the answer" doc:"The JSON Schema of the answer. Without a schema, the answer is text."`
	MCPConnections []string     `key:"mcpConnectionIds" title:"MCP connections" form:"connection:mcp-server" doc:"Connections of type mcp-server whose tools the model may call."`
	MaxSteps       *int64       `key:"maxSteps" minimum:"1" maximum:"100" default:"8" doc:"The maximum number of requests to the model, including those after tool calls."`

	compiled *jsonschema.Schema // nil without a schema
}

const (
	standardSteps     = 8
	maxMCPConnections = 16
)

// aiPrompt asks a language model, which may call tools first.
func aiPrompt(d Dependencies) *blueprint.NodeType {
	return define(definition[aiConfig]{
		name:        "ai-prompt",
		category:    "services",
		order:       2,
		output:      `{"type": "object", "properties": {"text": {"type": "string"}, "usage": {"type": "object", "properties": {"inputTokens": {"type": "number"}, "outputTokens": {"type": "number"}}}}}`,
		title:       "AI prompt",
		description: "Asks a language model. The output is {\"text\", \"usage\"}, with \"json\" if responseSchema is set, and with \"steps\" and \"toolCalls\" if the model called tools.",
		effect:      blueprint.EffectOnce,
		connections: []blueprint.ConnectionType{blueprint.ConnectionAIProvider},
		stub:        `{"output": {"text": "Hello"}}`,
		example:     `{"connectionId": "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", "model": "gpt-5-mini", "system": "You sort letters.", "prompt": "What is this about? {{inputData.letter ?? \"\"}}", "maxTokens": 500, "responseSchema": {"type": "object", "properties": {"topic": {"type": "string"}, "urgent": {"type": "boolean"}}, "required": ["topic", "urgent"], "additionalProperties": false}}`,
		check:       (*aiConfig).check,
		run: func(ctx context.Context, task *blueprint.Task, c *aiConfig) (blueprint.Result, error) {
			p := &promptRun{deps: d, task: task, config: c}
			output, err := p.run(ctx)
			result := blueprint.Result{Output: output, Tokens: p.tokens, MCPServers: p.tools.servers()}
			return result, err
		},
	})
}

func (c *aiConfig) check(r *report) {
	checkConnectionID(c.ConnectionID, r)
	if c.Model == "" && r.given("model") {
		r.issue("must not be empty", "model")
	}
	switch {
	case r.given("prompt") && r.given("userPrompt"):
		r.issue("cannot be combined with prompt: they are the same", "userPrompt")
	case !r.given("prompt") && !r.given("userPrompt"):
		r.issue("required", "prompt")
	case strings.TrimSpace(c.question()) == "":
		r.issue("must not be empty", "prompt")
	}
	if len(c.MCPConnections) > maxMCPConnections {
		r.issue("must be at most "+strconv.Itoa(maxMCPConnections)+" connections", "mcpConnectionIds")
	}
	seen := map[string]bool{}
	for i, id := range c.MCPConnections {
		switch {
		case r.isTemplate(id):
		case !blueprint.IsUUID(id):
			r.issue("must be the id of a connection, a UUID", "mcpConnectionIds", i)
		case seen[strings.ToLower(id)]:
			r.issue("is given twice", "mcpConnectionIds", i)
		}
		seen[strings.ToLower(id)] = true
	}
	if c.ResponseSchema.Value != nil {
		c.compiled = r.jsonSchema(c.ResponseSchema.Value, "responseSchema")
	}
}

func (c *aiConfig) question() string { return string(c.Prompt) + string(c.UserPrompt) }
