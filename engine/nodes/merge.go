package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type mergeConfig struct {
	Mode string `key:"mode" enum:"object|array|first" default:"\"object\"" doc:"object: the outputs by node id; array: in the order of the edges; first: that of the first edge taken."`
}

func merge() *blueprint.NodeType {
	return define(definition[mergeConfig]{
		name:        "merge",
		category:    "flow",
		order:       4,
		quick:       true,
		title:       "Merge",
		description: "Joins the outputs of the incoming branches, except those that were not taken.",
		example:     `{"mode": "object"}`,
		run: func(_ context.Context, task *blueprint.Task, c *mergeConfig) (blueprint.Result, error) {
			switch c.Mode {
			case "array":
				list := make([]any, len(task.Inputs))
				for i, input := range task.Inputs {
					list[i] = input.Output
				}
				return blueprint.Result{Output: list}, nil
			case "first":
				if len(task.Inputs) == 0 {
					return blueprint.Result{}, nil
				}
				return blueprint.Result{Output: task.Inputs[0].Output}, nil
			default:
				object := make(map[string]any, len(task.Inputs))
				for _, input := range task.Inputs {
					object[input.NodeID] = input.Output
				}
				return blueprint.Result{Output: object}, nil
			}
		},
	})
}
