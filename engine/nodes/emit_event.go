package nodes

import (
	"context"
	"encoding/json"
	"strconv"

	"blueprintd/blueprint"
)

type emitConfig struct {
	Event string   `key:"event" form:"event" required:"true" doc:"The name of the event, such as custom.order-paid: custom. followed by letters, digits, _, . and -."`
	Data  anyValue `key:"data" doc:"The data of the event."`
}

// emitEvent publishes an event. A repetition after a crash is delivered once.
func emitEvent() *blueprint.NodeType {
	return define(definition[emitConfig]{
		name:        "emit-event",
		category:    "events",
		order:       1,
		output:      `{"type": "object", "properties": {"delivered": {"type": "number"}}}`,
		title:       "Emit event",
		description: "Publishes an event to the event triggers of the same organization, except those of this blueprint. The output is {\"delivered\"}, the number of runs that it started.",
		effect:      blueprint.EffectIdempotent,
		answeredBy:  blueprint.AnsweredByStub,
		example:     `{"event": "custom.order-paid", "data": {"id": "{{inputData.id ?? null}}"}}`,
		check: func(c *emitConfig, r *report) {
			if r.given("event") && !r.isTemplate(c.Event) && !blueprint.IsCustomEvent(c.Event) {
				r.issue("must be custom. and a name of letters, digits, _, . and -, such as custom.order-paid, of at most 200 characters", "event")
			}
		},
		run: func(ctx context.Context, task *blueprint.Task, c *emitConfig) (result blueprint.Result, err error) {
			delivered := 0
			if task.Emit == nil {
				task.Log("info", "the event "+c.Event+" has no listeners: there are no triggers here", nil)
			} else if delivered, err = task.Emit(ctx, c.Event, c.Data.Value); err != nil {
				return result, err
			}
			result.Output = map[string]any{"delivered": json.Number(strconv.Itoa(delivered))}
			return result, nil
		},
	})
}
