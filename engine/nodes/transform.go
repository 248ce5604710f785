package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type transformConfig struct {
	Expression expression `key:"expression" required:"true" doc:"The expression to evaluate, without braces."`
}

func transform() *blueprint.NodeType {
	return define(definition[transformConfig]{
		name:        "transform",
		category:    "data",
		order:       3,
		quick:       true,
		title:       "Transform",
		description: "Computes a value with an expression. The output is that value.",
		example:     `{"expression": "filter(input.items ?? [], #.price > 10)"}`,
		run: func(_ context.Context, task *blueprint.Task, c *transformConfig) (blueprint.Result, error) {
			value, err := task.Evaluate(string(c.Expression))
			return blueprint.Result{Output: value}, err
		},
	})
}
