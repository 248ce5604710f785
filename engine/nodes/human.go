package nodes

import (
	"cmp"
	"context"
	"errors"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

type humanConfig struct {
	Prompt        text       `key:"prompt" form:"lines" required:"true" doc:"The question."`
	Schema        jsonSchema `key:"schema" title:"Schema of the answer" doc:"The JSON Schema of the answer. Without a schema, any answer is accepted."`
	ExpiresMs     *int64     `key:"expiresMs" title:"Expires after" form:"duration-ms" minimum:"1" maximum:"3153600000000" doc:"The time to wait for an answer, in milliseconds. Default: no limit."`
	OnExpire      string     `key:"onExpire" title:"When it expires" enum:"fail|continue" default:"\"fail\"" doc:"The outcome if there is no answer in time."`
	LinkExpiresMs *int64     `key:"linkExpiresMs" title:"Links expire after" form:"duration-ms" minimum:"1" maximum:"3153600000000" doc:"How long approval links are valid after the question was asked, in milliseconds. Default: until the question expires, or 7 days without expiresMs."`

	compiled *jsonschema.Schema // nil without a schema
}

func human() *blueprint.NodeType {
	return define(definition[humanConfig]{
		name:        "human",
		category:    "people",
		order:       1,
		waits:       "person",
		title:       "Human input",
		description: "Pauses the run until a user answers. The output is the answer.",
		answeredBy:  blueprint.AnsweredByStub,
		example:     `{"prompt": "How many copies of {{inputData.title ?? \"it\"}}?", "schema": {"type": "object", "properties": {"copies": {"type": "integer", "minimum": 1}}, "required": ["copies"]}, "expiresMs": 86400000}`,
		check:       (*humanConfig).compile,
		run: func(_ context.Context, _ *blueprint.Task, c *humanConfig) (blueprint.Result, error) {
			return blueprint.Result{Await: &blueprint.Await{
				Kind: blueprint.AwaitHuman, Prompt: string(c.Prompt), Schema: c.Schema.Value, Expires: milliseconds(c.ExpiresMs), LinkExpires: milliseconds(c.LinkExpiresMs), OnExpire: orFail(c.OnExpire),
			}}, nil
		},
		answer: func(_ *blueprint.Task, c *humanConfig, answer any) (blueprint.Result, error) {
			if c.compiled != nil {
				if issues := c.compiled.Validate(answer); issues != nil {
					return blueprint.Result{}, badAnswer(issues...)
				}
			}
			return blueprint.Result{Output: answer}, nil
		},
		expired: func(_ *blueprint.Task, c *humanConfig) (blueprint.Result, error) {
			if c.OnExpire == "continue" {
				return blueprint.Result{Output: map[string]any{"expired": true}}, nil
			}
			return blueprint.Result{}, errExpired
		},
	})
}

func (c *humanConfig) compile(r *report) {
	if c.Schema.Given {
		c.compiled = r.jsonSchema(c.Schema.Value, "schema")
	}
}

// jsonSchema compiles the JSON Schema of a key and reports what is wrong with it.
func (r *report) jsonSchema(value any, key string) *jsonschema.Schema {
	compiled, err := jsonschema.Compile(value)
	if bad, ok := errors.AsType[*blueprint.Error](err); ok {
		for _, issue := range bad.Issues {
			r.issue(issue.Message, append([]any{key}, issue.Path...)...)
		}
	}
	return compiled
}

var errExpired = &blueprint.Failure{Code: codeExpired, Message: "no answer in time"}

func orFail(onExpire string) string { return cmp.Or(onExpire, "fail") }
