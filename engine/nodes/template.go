package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type templateConfig struct {
	Text text `key:"text" form:"lines" required:"true" doc:"The text, with {{placeholders}}."`
}

func template() *blueprint.NodeType {
	return define(definition[templateConfig]{
		name:        "template",
		category:    "data",
		order:       2,
		output:      `{"type": "object", "properties": {"text": {"type": "string"}}}`,
		quick:       true,
		title:       "Template",
		description: "Fills in the {{placeholders}} of a text. The output is {\"text\"}.",
		example:     `{"text": "Order {{inputData.id}} was received at {{now}}."}`,
		run: func(_ context.Context, _ *blueprint.Task, c *templateConfig) (blueprint.Result, error) {
			return blueprint.Result{Output: map[string]any{"text": string(c.Text)}}, nil
		},
	})
}
