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

// onLimits are the choices of config.concurrency.onLimit; the first counts when
// there is none.
var onLimits = []string{string(blueprint.LimitQueue), string(blueprint.LimitSkip), string(blueprint.LimitCancel)}

// limits is how many runs of the trigger may go on at once. Here a key that is not
// known is refused: a limit that is misspelt bounds nothing.
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
			c.refuse("is not known; there are limit and onLimit", key, name)
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
			"limit":   map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000"), "description": "how many"},
			"onLimit": onLimit,
		},
	}
}

// limitOf reads the limit, 0 for one that cannot be.
func limitOf(config map[string]any) int {
	number, _ := config["limit"].(json.Number)
	limit, err := strconv.Atoi(number.String())
	if err != nil || limit < 1 || limit > maxConcurrency {
		return 0
	}
	return limit
}

// ConcurrencyOf returns what bounds the runs of a trigger, however they are started; nil
// when nothing does.
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

// Concurrency returns what bounds the runs of a trigger now; nil when nothing does, or the
// trigger was deleted: what it has begun goes on.
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

// crowded makes an error that may be shown of one that says that the trigger's
// limit left a firing out.
func crowded(err error) error {
	var full *blueprint.ConcurrencyLimitError
	if errors.As(err, &full) {
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: full.Error(), Err: full, Reason: blueprint.NewReason(blueprint.ReasonLimit, "limit", full.Limit, "running", full.Running)}
	}
	return err
}

// isLeftOut reports whether an error says that the trigger's limit left a firing
// out: the ledger has it as skipped, with the error's message for the reason.
func isLeftOut(err error) bool {
	var full *blueprint.ConcurrencyLimitError
	return errors.As(err, &full)
}
