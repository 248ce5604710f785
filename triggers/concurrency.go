package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"blueprintd/blueprint"
)

// maxConcurrency is the highest limit that config.concurrency may set.
const maxConcurrency = 1000

// onLimits are the values of config.concurrency.onLimit; the first is the default.
var onLimits = []string{string(blueprint.LimitQueue), string(blueprint.LimitSkip), string(blueprint.LimitCancel)}

// limits is the concurrency limit of a trigger. Unknown keys are errors, because a
// misspelled limit would have no effect.
type limits map[string]any

func (limits) check(c *checker, f *field) {
	key, value := f.key, c.config[f.key]
	if value == nil {
		return
	}
	config, ok := value.(map[string]any)
	if !ok {
		c.refuse("must be an object with limit and onLimit", key)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if name != "limit" && name != "onLimit" {
			c.refuse("unknown key; want limit and onLimit", key, name)
		}
	}
	if limitOf(config) == 0 {
		c.refuse(fmt.Sprintf("must be a whole number from 1 to %d", maxConcurrency), key, "limit")
	}
	if text, isText := config["onLimit"].(string); config["onLimit"] != nil && !(isText && slices.Contains(onLimits, text)) {
		c.refuse("must be one of queue, skip, cancel-running", key, "onLimit")
	}
}

func (limits) schema(*field) map[string]any {
	onLimit := choiceSchema(onLimits)
	onLimit["description"] = "what becomes of one more: it waits, is left out, or ends one that runs"
	return map[string]any{
		"type": []any{"object", "null"}, "required": []any{"limit"}, "additionalProperties": false,
		"properties": map[string]any{
			"limit":   map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number(strconv.Itoa(maxConcurrency)), "description": "how many"},
			"onLimit": onLimit,
		},
	}
}

// limitOf returns the limit, 0 if it is invalid.
func limitOf(config map[string]any) int {
	number, _ := config["limit"].(json.Number)
	limit, err := strconv.Atoi(number.String())
	if err != nil || limit < 1 || limit > maxConcurrency {
		return 0
	}
	return limit
}

// ConcurrencyOf returns the group that limits the runs of a trigger, however they are
// started; nil for no limit.
func ConcurrencyOf(trigger *blueprint.Trigger) *blueprint.ConcurrencyGroup {
	config, _ := trigger.Config["concurrency"].(map[string]any)
	limit := limitOf(config)
	if limit == 0 {
		return nil
	}
	group := &blueprint.ConcurrencyGroup{Key: trigger.ID, Limit: limit, OnLimit: blueprint.LimitQueue}
	if rule, ok := config["onLimit"].(string); ok {
		group.OnLimit = blueprint.OnLimit(rule)
	}
	return group
}

// Concurrency returns the current ConcurrencyOf a trigger, nil for a deleted one.
func (t *Service) Concurrency(ctx context.Context, triggerID string) (*blueprint.ConcurrencyGroup, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return ConcurrencyOf(&binding.Trigger), nil
}

// limitError converts a *blueprint.ConcurrencyLimitError to a *blueprint.Error.
func limitError(err error) error {
	if full, ok := errors.AsType[*blueprint.ConcurrencyLimitError](err); ok {
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: full.Error(), Err: full, Reason: blueprint.NewReason(blueprint.ReasonLimit, "limit", full.Limit, "running", full.Running)}
	}
	return err
}

// isLimited reports whether the trigger's limit skipped a firing.
func isLimited(err error) bool {
	var full *blueprint.ConcurrencyLimitError
	return errors.As(err, &full)
}
