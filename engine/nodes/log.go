package nodes

import (
	"cmp"
	"context"

	"blueprintd/blueprint"
)

type logConfig struct {
	Level   string   `key:"level" enum:"debug|info|warn|error" default:"\"info\"" doc:"The severity of the line."`
	Message text     `key:"message" required:"true" doc:"The message."`
	Data    anyValue `key:"data" doc:"A value to log with it."`
}

func log() *blueprint.NodeType {
	return define(definition[logConfig]{
		name:        "log",
		category:    "data",
		order:       5,
		passesInput: true,
		quick:       true,
		title:       "Log",
		description: "Writes a line to the log of the run. The output is the input.",
		example:     `{"level": "info", "message": "received order {{inputData.id ?? \"?\"}}", "data": "{{input}}"}`,
		run: func(_ context.Context, task *blueprint.Task, c *logConfig) (blueprint.Result, error) {
			task.Log(cmp.Or(c.Level, "info"), string(c.Message), c.Data.Value)
			return blueprint.Result{}, nil
		},
	})
}
