package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

func (r *Reader) last() *blueprint.Issue { return &r.Issues[len(r.Issues)-1] }

// secretDefaults warns of secrets that are written in the file, for all to read
// who have it.
func (r *Reader) secretDefaults() {
	for i, element := range r.Blueprint.Variables {
		if len(r.Issues) >= blueprint.MaxIssues {
			return
		}
		object, ok := element.(map[string]any)
		if !ok {
			continue
		}
		object, renamed, _ := blueprint.VariableSpelling(object)
		if object["secret"] == true && object["default"] != nil && object["default"] != "" {
			r.wrong(blueprint.SeverityWarning, "is a secret that stands in the file: leave it out and pass the variable when the blueprint runs", "environment_variables", i, cmp.Or(renamed["default"], "default"))
			r.last().Spot.Secret = true
		}
	}
}

var triggerMembers = []string{"triggerType", "config", "isActive"}

// misspeltTrigger warns of a member of a trigger that is meant to be another.
func (r *Reader) misspeltTrigger(object map[string]any, i int) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(triggerMembers, name) {
			if hint := blueprint.DidYouMean(name, triggerMembers); hint != "" {
				r.wrong(blueprint.SeverityWarning, "means nothing here"+hint, "triggers", i, name)
				r.last().Spot.Name = true
			}
		}
	}
}

// checkTrigger looks at the config of a trigger, and warns when strangers could
// set off what costs or cannot be taken back.
func (r *Reader) checkTrigger(t *Trigger, i int) {
	kind := blueprint.TriggerType(t.Kind)
	if known := slices.Collect(maps.Keys(triggerTypes)); !triggerTypes[kind] {
		slices.Sort(known)
		names := make([]string, len(known))
		for i, name := range known {
			names[i] = string(name)
		}
		r.wrong(blueprint.SeverityError, fmt.Sprintf("unknown trigger type %q; known types: %s", t.Kind, strings.Join(names, ", "))+blueprint.DidYouMean(t.Kind, names), "triggers", i, "triggerType")
		return
	}
	at := func(path []any) []any { return append([]any{"triggers", i, "config"}, path...) }
	config, issues := triggers.Settle(kind, nil, t.Config)
	for _, issue := range issues {
		if !leftOut(t, issue.Path) {
			r.wrong(blueprint.SeverityError, issue.Message, at(issue.Path)...)
			r.last().Spot = issue.Spot
		}
	}
	t.Config, _, _ = blueprint.TriggerConfigSpelling(kind, t.Config)
	for _, issue := range triggers.Warnings(kind, t.Config) {
		r.wrong(blueprint.SeverityWarning, issue.Message, at(issue.Path)...)
		r.last().Spot = issue.Spot
	}
	if key := secretOf[kind]; key != "" && t.Active && len(issues) == 0 {
		_, has := config[key]
		switch {
		case has:
		case kind == blueprint.TriggerWebhook:
			r.wrong(blueprint.SeverityWarning, "has no secret: whoever knows its address can start runs", "triggers", i)
		default:
			r.wrong(blueprint.SeverityWarning, "has no "+key+", so it refuses every delivery", "triggers", i)
		}
	}
}

// triggerTypes are those that a file may have.
var triggerTypes = map[blueprint.TriggerType]bool{
	blueprint.TriggerManual: true, blueprint.TriggerScheduled: true, blueprint.TriggerWebhook: true, blueprint.TriggerEmail: true,
	blueprint.TriggerSlack: true, blueprint.TriggerEvent: true, blueprint.TriggerAPI: true,
}
