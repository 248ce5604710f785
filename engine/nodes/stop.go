package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type stopConfig struct {
	Message text `key:"message" doc:"The reason for ending the run."`
	Failed  bool `key:"failed" default:"false" doc:"Whether the run ends as failed."`
}

func stop() *blueprint.NodeType {
	return define(definition[stopConfig]{
		name:        "stop",
		category:    "flow",
		order:       8,
		passesInput: true,
		quick:       true,
		title:       "Stop",
		description: "Ends the run; nodes that have not started are skipped. The output is the input.",
		example:     `{"message": "nothing to do", "failed": false}`,
		run: func(_ context.Context, _ *blueprint.Task, c *stopConfig) (blueprint.Result, error) {
			return blueprint.Result{Stop: &blueprint.Stop{Failed: c.Failed, Message: string(c.Message)}}, nil
		},
	})
}
