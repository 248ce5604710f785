package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type blueprintConfig struct {
	BlueprintID string         `key:"blueprintId" form:"blueprint-id" required:"true" doc:"The blueprint to run."`
	Variables   map[string]any `key:"variables" doc:"The variables of the run, by name."`
	InputData   anyValue       `key:"inputData" doc:"The input data of the run. Default: the input of this node."`
}

// subBlueprint runs a blueprint as a child run of the same principal and awaits its end.
func subBlueprint() *blueprint.NodeType {
	return define(definition[blueprintConfig]{
		name:        "blueprint",
		category:    "flow",
		order:       5,
		waits:       "runs",
		title:       "Run a blueprint",
		description: "Runs another blueprint and waits until it has ended. The output is that of its run. If the run fails, the node fails.",
		answeredBy:  blueprint.AnsweredByStub,
		example:     `{"blueprintId": "00000000-0000-4000-8000-000000000000", "variables": {"name": "{{inputData.name ?? null}}"}, "inputData": "{{input}}"}`,
		check: func(c *blueprintConfig, r *report) {
			if r.given("blueprintId") && !r.isTemplate(c.BlueprintID) && !blueprint.IsUUID(c.BlueprintID) {
				r.issue("must be the id of a blueprint", "blueprintId")
			}
		},
		run: func(_ context.Context, task *blueprint.Task, c *blueprintConfig) (blueprint.Result, error) {
			run := &blueprint.SubRun{BlueprintID: c.BlueprintID, Variables: c.Variables, InputData: task.Input}
			if c.InputData.Given {
				run.InputData = c.InputData.Value
			}
			return blueprint.Result{Run: run}, nil
		},
	})
}
