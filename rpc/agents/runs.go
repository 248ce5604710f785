package agents

import (
	"slices"

	"blueprintd/blueprint"
)

func listRuns(t *task, in map[string]any) (any, error) {
	filter := pick(in, "blueprintId", "status", "cursor", "search", "limit")
	if in["limit"] == nil {
		filter["limit"] = number(10)
	}
	page, err := t.call("execution.listRuns", filter)
	if err != nil {
		return nil, err
	}
	runs := []any{}
	for _, element := range arr(page, "runs") {
		run, _ := element.(map[string]any)
		runs = append(runs, pick(run, "executionId", "blueprintId", "blueprintTitle", "blueprintVersion", "triggerType", "status", "startTime", "durationMs", "error", "awaiting"))
	}
	out := map[string]any{"runs": runs}
	if next := page["next"]; next != nil {
		out["next"] = next
	}
	return out, nil
}

func getRun(t *task, in map[string]any) (any, error) {
	record, err := t.call("execution.getRecord", pick(in, "executionId"))
	if err != nil {
		return nil, err
	}
	out := pick(record, "blueprintId", "status", "startTime", "endTime", "errorSummary")
	out["executionId"] = in["executionId"]
	if origin := pick(obj(record, "executionMetadata"), "blueprintVersion", "triggerId", "firingId", "retryOf"); len(origin) > 0 {
		out["origin"] = origin
	}
	if variables := obj(record, "inputVariables"); len(variables) > 0 {
		out["variables"] = bounded(variables, maxValue)
	}
	out["output"] = bounded(obj(record, "outputSummary")["output"], maxValue)
	addSteps(out, arr(obj(record, "executionData"), "steps"), textsOf(arr(in, "nodes")))
	return out, nil
}

// addSteps adds the steps of a run to a result, within the limits. With wanted, only those
// of the nodes with these addresses, with values of any size that the limit of all steps
// allows.
func addSteps(out map[string]any, steps []any, wanted []string) {
	shown, room, most := []any{}, maxSteps, maxValue
	if len(wanted) > 0 {
		most = maxSteps / 2
	}
	for i, element := range steps {
		step, _ := element.(map[string]any)
		if len(wanted) > 0 && !slices.Contains(wanted, str(step, "nodeId")) {
			continue
		}
		one := pick(step, "nodeId", "nodeType", "status", "durationMs")
		for _, name := range []string{"input", "output"} {
			if step[name] != nil {
				one[name] = bounded(step[name], most)
			}
		}
		if failed := obj(step, "error"); failed != nil {
			one["error"] = bounded(failed, most)
		}
		if room -= size(one); room < 0 {
			out["omittedSteps"] = number(len(steps) - i)
			break
		}
		shown = append(shown, one)
	}
	out["steps"] = shown
}

// maxFirings is how many rows of the ledger an explanation of a trigger has.
const maxFirings = 10

func explain(t *task, in map[string]any) (any, error) {
	given := pick(in, "executionId", "firingId", "triggerId")
	if len(given) != 1 {
		return nil, refuse("pass one of executionId, firingId and triggerId", "there must be exactly one subject")
	}
	switch {
	case given["firingId"] != nil:
		why, err := t.call("blueprintTriggers.explain", given)
		return briefly(why), err
	case given["triggerId"] != nil:
		return t.explainTrigger(given)
	}
	record, err := t.call("execution.getRecord", given)
	if err != nil {
		return nil, err
	}
	out := pick(record, "status", "errorSummary")
	failed := []any{}
	for _, element := range arr(obj(record, "executionData"), "steps") {
		step, _ := element.(map[string]any)
		if str(step, "status") == string(blueprint.StepFailed) && len(failed) < maxNamed {
			failed = append(failed, map[string]any{"nodeId": step["nodeId"], "nodeType": step["nodeType"], "input": bounded(step["input"], maxValue), "error": bounded(step["error"], maxValue)})
		}
	}
	out["failedSteps"] = failed
	if firing := str(obj(record, "executionMetadata"), "firingId"); firing != "" {
		why, err := t.call("blueprintTriggers.explain", map[string]any{"firingId": firing})
		if err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound { // pruned
			return nil, err
		}
		if err == nil {
			out["started"] = briefly(why)
		}
	}
	return out, nil
}

// briefly returns an explanation without the delivery, which may be large.
func briefly(why map[string]any) map[string]any {
	out := pick(why, "summary", "next", "details", "run")
	if firing := obj(why, "firing"); firing != nil {
		out["firing"] = pick(firing, "id", "triggerId", "source", "decision", "receivedAt", "dueAt")
	}
	return out
}

// explainTrigger explains the newest firings of a trigger.
func (t *task) explainTrigger(given map[string]any) (any, error) {
	given["limit"] = number(maxFirings)
	page, err := t.call("blueprintTriggers.history", given)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, element := range arr(page, "firings") {
		firing, _ := element.(map[string]any)
		row := pick(firing, "id", "source", "decision", "reason", "executionId", "receivedAt", "dueAt")
		why, err := t.call("blueprintTriggers.explain", map[string]any{"firingId": firing["id"]})
		if err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound {
			return nil, err
		}
		if err == nil {
			row["summary"], row["next"] = why["summary"], why["next"]
		}
		rows = append(rows, row)
	}
	return map[string]any{"firings": rows, "total": page["total"]}, nil
}
