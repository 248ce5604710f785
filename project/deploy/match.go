package deploy

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// triggerChanges returns the changes that make the triggers of a blueprint match its
// file. Triggers keep their ids, and so their addresses, if they can be matched.
func triggerChanges(want []project.DesiredTrigger, have []blueprint.Trigger, o Options) (out []TriggerChange) {
	matched, left := matchTriggers(want, have)
	for i := range want {
		if matched[i] == nil {
			out = append(out, newTrigger(&want[i], o))
		} else if c := changedTrigger(&want[i], matched[i], o); len(c.Fields) > 0 || c.Note != "" {
			out = append(out, c)
		}
	}
	for _, t := range left {
		c := TriggerChange{Action: Delete, Type: t.Type, ID: t.ID}
		if !o.Prune {
			c.Action, c.Note = Keep, "not in the file; --prune deletes it"
		}
		out = append(out, c)
	}
	return out
}

// matchTriggers finds the trigger of the server for each trigger of a file, nil for none,
// and returns the unmatched ones of the server. Triggers match if they are of one type
// and, in this order of preference,
//   - have the same config,
//   - have the same mark,
//   - both have no mark, or are of a type without an address, so that they are
//     interchangeable,
//   - are the only unmatched ones, and one of them has no label.
func matchTriggers(want []project.DesiredTrigger, have []blueprint.Trigger) (matched []*blueprint.Trigger, left []*blueprint.Trigger) {
	matched = make([]*blueprint.Trigger, len(want))
	taken := map[string]bool{}
	rest := func(kind blueprint.TriggerType) (wanted, present int) {
		for i := range want {
			if matched[i] == nil && want[i].Type == kind {
				wanted++
			}
		}
		for j := range have {
			if !taken[have[j].ID] && have[j].Type == kind {
				present++
			}
		}
		return wanted, present
	}
	for _, same := range []func(w *project.DesiredTrigger, t *blueprint.Trigger) bool{
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool { return len(configChange(w, t)) == 0 },
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			return markOf(w.Config) != "" && markOf(w.Config) == markOf(t.Config)
		},
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			return !isAddressed(w.Type) || markOf(w.Config) == "" && markOf(t.Config) == ""
		},
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			wanted, present := rest(w.Type)
			return wanted == 1 && present == 1 && (textOf(w.Config, "label") == "" || textOf(t.Config, "label") == "")
		},
	} {
		for i := range want {
			for j := range have {
				if t := &have[j]; matched[i] == nil && !taken[t.ID] && t.Type == want[i].Type && same(&want[i], t) {
					matched[i], taken[t.ID] = t, true
				}
			}
		}
	}
	for j := range have {
		if !taken[have[j].ID] {
			left = append(left, &have[j])
		}
	}
	return matched, left
}

// isAddressed reports whether triggers of a type have an address, which must not pass to
// another trigger.
func isAddressed(of blueprint.TriggerType) bool {
	kind := blueprint.KindOf(of)
	return kind.Path != "" || kind.Mailbox
}

// marks are the config keys that distinguish triggers of one type.
var marks = []string{"label", "event", "cron", "preset", "channel"}

// markOf returns the first mark of a config with its value, "" for none.
func markOf(config map[string]any) string {
	for _, name := range marks {
		if text := textOf(config, name); text != "" {
			return name + "=" + text
		}
	}
	return ""
}

func textOf(config map[string]any, name string) string {
	text, _ := config[name].(string)
	return text
}

// editedTriggers describes the config that a plan overwrites although it was changed on
// the server since the last sync; "" for none.
func editedTriggers(changes []TriggerChange, have []blueprint.Trigger) string {
	var parts []string
	for _, c := range changes {
		for _, t := range have {
			if t.ID != c.ID || c.Action == Keep {
				continue
			}
			var keys []string
			for _, name := range t.Edited {
				if _, other := c.config[name]; other || c.Action == Delete {
					keys = append(keys, "config."+name)
				}
			}
			if len(keys) > 0 {
				parts = append(parts, fmt.Sprintf("%s of trigger %s %s", blueprint.OneLine(strings.Join(slices.Sorted(slices.Values(keys)), ", ")), t.Type, t.ID))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + " changed on the server; --force overwrites the change"
}
