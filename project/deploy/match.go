package deploy

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// triggerChanges says what makes the triggers of a blueprint be those of its
// file. They keep their ids, and so their addresses, as far as they can be told
// apart.
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
			c.Action, c.Note = Keep, "the file does not name it; --prune deletes it"
		}
		out = append(out, c)
	}
	return out
}

// matchTriggers finds for each trigger of a file the one of the server that it
// is, nil for none, and gives those that are no file's. A trigger is one of the
// same type that is the same in everything; else the one with the same mark; else
// the next one when neither has a mark, or when it is of a type that nobody calls
// at an address, so that one is as good as another; else the only one that is
// left, unless both have labels.
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

// isAddressed reports whether others reach triggers of a type at an address, which
// must not come to stand for another trigger.
func isAddressed(of blueprint.TriggerType) bool {
	kind := blueprint.KindOf(of)
	return kind.Path != "" || kind.Mailbox
}

// marks are the config keys by which people tell triggers of one type apart.
var marks = []string{"label", "event", "cron", "preset", "channel"}

// markOf returns the first mark of a config, "" for none.
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

// editedTriggers says which config of triggers that a plan changes was changed on
// the server since the blueprint was made from its file; "" for none.
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
	return "somebody changed " + strings.Join(parts, " and ") + " on the server; --force overwrites that"
}
