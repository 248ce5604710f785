package nodes

import (
	"context"
	"strconv"

	"blueprintd/blueprint"
)

type conditionalConfig struct {
	Condition expression `key:"condition" form:"condition" required:"true" doc:"An expression without braces that returns true or false."`
}

// conditional continues at one of two handles. Without edges, false ends the run early.
func conditional() *blueprint.NodeType {
	return define(definition[conditionalConfig]{
		name:        "conditional",
		category:    "flow",
		order:       1,
		passesInput: true,
		starter:     `{"condition": ""}`,
		quick:       true,
		title:       "Condition",
		description: "Continues at \"true\" or \"false\". Without edges, \"false\" ends the run early. The output is the input.",
		handles:     []string{"true", "false"},
		example:     `{"condition": "input.total > 100"}`,
		check:       func(c *conditionalConfig, r *report) { r.condition(c.Condition, "condition") },
		run: func(_ context.Context, task *blueprint.Task, c *conditionalConfig) (blueprint.Result, error) {
			answer, err := condition(task, "condition", c.Condition)
			if err != nil {
				return blueprint.Result{}, err
			}
			result := blueprint.Result{Handle: strconv.FormatBool(answer)}
			if task.Sequential && !answer {
				result.Stop = &blueprint.Stop{Item: true}
			}
			return result, nil
		},
	})
}
