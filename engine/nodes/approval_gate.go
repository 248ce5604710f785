package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type approvalConfig struct {
	Prompt        text   `key:"prompt" form:"lines" required:"true" doc:"The question to decide."`
	ExpiresMs     *int64 `key:"expiresMs" title:"Expires after" form:"duration-ms" minimum:"1" maximum:"3153600000000" doc:"The time to wait for a decision, in milliseconds. Default: no limit."`
	OnExpire      string `key:"onExpire" title:"When it expires" enum:"fail|approve|reject" default:"\"fail\"" doc:"The outcome if there is no decision in time."`
	LinkExpiresMs *int64 `key:"linkExpiresMs" title:"Links expire after" form:"duration-ms" minimum:"1" maximum:"3153600000000" doc:"How long approval links are valid after the question was asked, in milliseconds. Default: until the question expires, or 7 days without expiresMs."`
}

func approvalGate() *blueprint.NodeType {
	return define(definition[approvalConfig]{
		name:        "approval-gate",
		category:    "people",
		order:       2,
		waits:       "person",
		output:      `{"type": "object", "properties": {"approved": {"type": "boolean"}, "comment": {"type": "string"}}}`,
		title:       "Approval",
		description: "Pauses the run until a user approves or rejects, and continues at \"approved\" or \"rejected\". Without edges, a rejection fails the run. The output is {\"approved\", \"comment\"?}.",
		handles:     []string{"approved", "rejected"},
		answeredBy:  blueprint.AnsweredByStub,
		example:     `{"prompt": "Send the offer to {{inputData.customer ?? \"the customer\"}}?", "expiresMs": 86400000, "onExpire": "reject"}`,
		run: func(_ context.Context, _ *blueprint.Task, c *approvalConfig) (blueprint.Result, error) {
			return blueprint.Result{Await: &blueprint.Await{
				Kind: blueprint.AwaitApproval, Prompt: string(c.Prompt), Expires: milliseconds(c.ExpiresMs), LinkExpires: milliseconds(c.LinkExpiresMs), OnExpire: orFail(c.OnExpire),
			}}, nil
		},
		answer: func(task *blueprint.Task, _ *approvalConfig, answer any) (blueprint.Result, error) {
			object, ok := answer.(map[string]any)
			if !ok {
				return blueprint.Result{}, badAnswer(blueprint.Issue{Message: `must be an object such as {"approved": true}`})
			}
			var issues []blueprint.Issue
			output := map[string]any{}
			if output["approved"], ok = object["approved"].(bool); !ok {
				message := "must be true or false"
				if _, given := object["approved"]; !given {
					message = "required"
				}
				issues = append(issues, blueprint.Issue{Path: []any{"approved"}, Message: message})
			}
			if comment, given := object["comment"]; given {
				if output["comment"], ok = comment.(string); !ok {
					issues = append(issues, blueprint.Issue{Path: []any{"comment"}, Message: "must be a string"})
				}
			}
			if issues != nil {
				return blueprint.Result{}, badAnswer(issues...)
			}
			return decision(task, output), nil
		},
		expired: func(task *blueprint.Task, c *approvalConfig) (blueprint.Result, error) {
			if orFail(c.OnExpire) == "fail" {
				return blueprint.Result{}, errExpired
			}
			return decision(task, map[string]any{"approved": c.OnExpire == "approve", "expired": true}), nil
		},
	})
}

// decision returns the result of a decision. Without edges a rejection stops the run
// whatever onError says, since continuing would be wrong.
func decision(task *blueprint.Task, output map[string]any) blueprint.Result {
	if output["approved"] == true {
		return blueprint.Result{Output: output, Handle: "approved"}
	}
	result := blueprint.Result{Output: output, Handle: "rejected"}
	if task.Sequential {
		message := "rejected"
		if comment, _ := output["comment"].(string); comment != "" {
			message += ": " + comment
		} else if output["expired"] == true {
			message += ": no decision in time"
		}
		result.Stop = &blueprint.Stop{Failed: true, Message: message, Code: "rejected", Item: true}
	}
	return result
}
