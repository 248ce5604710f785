package folder

import (
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// guard is the config key that a trigger's address is worth nothing without.
var guard = map[blueprint.TriggerType]string{blueprint.TriggerWebhook: "secret", blueprint.TriggerSlack: "signingSecret"}

// triggerChanges says what makes the triggers of a blueprint be those of its
// file. They keep their ids, and so their addresses, as far as there are as many
// of a type: first those that are the same, then the others in their order.
func triggerChanges(want []DesiredTrigger, have []blueprint.Trigger, o Options) (out []TriggerChange) {
	matched := make([]*blueprint.Trigger, len(want))
	taken := map[string]bool{}
	for _, exactly := range []bool{true, false} {
		for i := range want {
			for j := range have {
				t := &have[j]
				if matched[i] == nil && !taken[t.ID] && t.Type == want[i].Type && (!exactly || len(configChange(&want[i], t)) == 0) {
					matched[i], taken[t.ID] = t, true
				}
			}
		}
	}
	for i := range want {
		if matched[i] == nil {
			out = append(out, newTrigger(&want[i], o))
		} else if c := changedTrigger(&want[i], matched[i]); len(c.Fields) > 0 {
			out = append(out, c)
		}
	}
	for _, t := range have {
		if taken[t.ID] {
			continue
		}
		c := TriggerChange{Action: Delete, Type: t.Type, ID: t.ID}
		if !o.Prune {
			c.Action, c.Note = Keep, "the file does not name it; --prune deletes it"
		}
		out = append(out, c)
	}
	return out
}

// newTrigger makes a trigger. Its guard, when the file leaves it out, is a secret
// that nobody knows until they look it up: without one it would be open.
func newTrigger(want *DesiredTrigger, o Options) TriggerChange {
	c := TriggerChange{Action: Create, Type: want.Type, config: map[string]any{}}
	for name, value := range want.Config {
		if value != nil && (value != "" || !isSecret(name)) {
			c.config[name] = value
		}
	}
	if name := guard[want.Type]; name != "" {
		if value, given := want.Config[name]; given && value == nil {
			c.config[name] = o.Secret()
			c.Note = "it gets a new " + name + ", which the file leaves out"
		}
	}
	if !want.Active {
		off := false
		c.active = &off
	}
	return c
}

func changedTrigger(want *DesiredTrigger, have *blueprint.Trigger) TriggerChange {
	c := TriggerChange{Action: Update, Type: want.Type, ID: have.ID, config: configChange(want, have)}
	for _, name := range slices.Sorted(maps.Keys(c.config)) {
		if isSecret(name) {
			c.Fields = append(c.Fields, Field{Path: "config." + name, Hidden: true})
			continue
		}
		c.Fields = differences("config."+name, have.Config[name], c.config[name], c.Fields)
	}
	if want.Active != have.IsActive {
		c.active = &want.Active
		c.Fields = append(c.Fields, Field{Path: "isActive", Before: have.IsActive, After: want.Active})
	}
	return c
}

func isSecret(name string) bool { return slices.Contains(blueprint.SecretTriggerConfig, name) }

// kept are config keys that the server made or that belong to secrets: a file
// that does not name them leaves them.
func kept(kind blueprint.TriggerType, name string) bool {
	return isSecret(name) || name == "previousSecretUntil" || name == "previousSigningSecretUntil" || kind == blueprint.TriggerEmail && name == "address"
}

// configChange gives the update that makes a config be as the file has it; empty
// when it is.
func configChange(want *DesiredTrigger, have *blueprint.Trigger) map[string]any {
	change := map[string]any{}
	for name, value := range want.Config {
		present, given := have.Config[name]
		switch {
		case value == nil && isSecret(name), value == "" && isSecret(name) && !given:
		case value == nil && !given:
		case kept(want.Type, name) && !isSecret(name) && value == nil:
		case !blueprint.Equal(value, present):
			change[name] = value
		}
	}
	for name := range have.Config {
		if _, named := want.Config[name]; !named && !kept(want.Type, name) {
			change[name] = nil
		}
	}
	return change
}
