package nodes

import (
	"context"
	"time"

	"blueprintd/blueprint"
)

type waitConfig struct {
	DurationMs *int64 `key:"durationMs" form:"duration-ms" minimum:"0" maximum:"3153600000000" doc:"The time to wait, in milliseconds."`
	Until      string `key:"until" form:"instant" doc:"The instant to wait for, in the format of {{now}}: 2026-01-31T12:00:00.000Z. An instant in the past does not wait."`
}

func wait() *blueprint.NodeType {
	return define(definition[waitConfig]{
		name:        "wait",
		category:    "flow",
		order:       6,
		passesInput: true,
		waits:       "time",
		starter:     `{"durationMs": 60000}`,
		title:       "Wait",
		description: "Waits for a duration or until an instant, also across restarts of the server. The output is the input.",
		example:     `{"durationMs": 60000}`,
		check: func(c *waitConfig, r *report) {
			switch {
			case r.given("durationMs") == r.given("until"):
				r.issue("must have either durationMs or until")
			case r.given("until") && !r.isTemplate(c.Until):
				if _, err := instant(c.Until); err != nil {
					r.issue("must be an instant such as 2026-01-31T12:00:00.000Z", "until")
				}
			}
		},
		run: func(_ context.Context, task *blueprint.Task, c *waitConfig) (blueprint.Result, error) {
			until, _ := instant(c.Until)
			if c.DurationMs != nil {
				until = task.Now.Add(milliseconds(c.DurationMs))
			}
			if !until.After(task.Now) {
				return blueprint.Result{}, nil
			}
			return blueprint.Result{Wait: &blueprint.Wait{Until: until}}, nil
		},
	})
}

func instant(source string) (time.Time, error) { return time.Parse(time.RFC3339Nano, source) }

// milliseconds returns a duration of a config, 0 for none.
func milliseconds(number *int64) time.Duration {
	return time.Duration(numberOr(number, 0)) * time.Millisecond
}
