package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

func (r *fileReader) last() *blueprint.Issue { return &r.issues[len(r.issues)-1] }

// secretDefaults warns of secrets that are written in the file, for all to read
// who have it.
func (r *fileReader) secretDefaults() {
	for i, element := range r.b.variables {
		if len(r.issues) >= blueprint.MaxIssues {
			return
		}
		if object, ok := element.(map[string]any); ok && object["secret"] == true && object["default"] != nil && object["default"] != "" {
			r.wrong(blueprint.SeverityWarning, "is a secret that stands in the file: leave it out and pass the variable when the blueprint runs", "environment_variables", i, "default")
			r.last().Spot.Secret = true
		}
	}
}

var triggerMembers = []string{"triggerType", "config", "isActive"}

// misspeltTrigger warns of a member of a trigger that is meant to be another.
func (r *fileReader) misspeltTrigger(object map[string]any, i int) {
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
func (r *fileReader) checkTrigger(t *triggerEntry, i int) {
	kind := blueprint.TriggerType(t.kind)
	if known := slices.Collect(maps.Keys(triggerTypes)); !triggerTypes[kind] {
		slices.Sort(known)
		names := make([]string, len(known))
		for i, name := range known {
			names[i] = string(name)
		}
		r.wrong(blueprint.SeverityError, fmt.Sprintf("unknown trigger type %q; known types: %s", t.kind, strings.Join(names, ", "))+blueprint.DidYouMean(t.kind, names), "triggers", i, "triggerType")
		return
	}
	open, checked := openOnPurpose(t), t.config
	if open {
		checked = maps.Clone(checked)
		delete(checked, "secret")
	}
	refused := false
	for _, issue := range triggers.Check(kind, checked) {
		refused = true
		if !leftOut(t.config, issue.Path) {
			r.wrong(blueprint.SeverityError, issue.Message, append([]any{"triggers", i, "config"}, issue.Path...)...)
			r.last().Spot = issue.Spot
		}
	}
	if _, given := checked["secret"]; !open && kind == blueprint.TriggerWebhook && !given && t.active && !refused {
		r.wrong(blueprint.SeverityWarning, "has no secret: whoever knows its address can start runs; secret: \"\" says that this is meant", "triggers", i)
	}
}

// openOnPurpose tells whether a file says that a webhook is to have no secret.
func openOnPurpose(t *triggerEntry) bool {
	return blueprint.TriggerType(t.kind) == blueprint.TriggerWebhook && t.config["secret"] == ""
}

// triggerTypes are those that a file may have.
var triggerTypes = map[blueprint.TriggerType]bool{
	blueprint.TriggerManual: true, blueprint.TriggerScheduled: true, blueprint.TriggerWebhook: true, blueprint.TriggerEmail: true,
	blueprint.TriggerSlack: true, blueprint.TriggerEvent: true, blueprint.TriggerAPI: true,
}
