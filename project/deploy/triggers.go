package deploy

import (
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// newTrigger makes a trigger. Its guard, when the file leaves it out, is a secret
// that nobody knows until they look it up: without one it would be open.
func newTrigger(want *project.DesiredTrigger, o Options) TriggerChange {
	c := TriggerChange{Action: Create, Type: want.Type, config: map[string]any{}}
	for name, value := range want.Config {
		if value != nil && (value != "" || !isSecret(name)) {
			c.config[name] = value
		}
	}
	var notes []string
	for _, name := range marks {
		if text := textOf(want.Config, name); text != "" {
			notes = append(notes, name+" "+shown(text))
		}
	}
	if name := blueprint.KindOf(want.Type).Secrets.Secret; name != "" {
		if value, given := want.Config[name]; given && value == nil {
			c.config[name] = o.Secret()
			notes = append(notes, "it gets a new "+name+", which the file leaves out")
		}
	}
	if !want.Active {
		off := false
		c.active = &off
		notes = append(notes, "inactive")
	}
	c.Note = strings.Join(notes, ", ")
	return c
}

// changedTrigger makes a trigger be as its file has it. What was switched off,
// by people or by the breaker, is switched on with force alone.
func changedTrigger(want *project.DesiredTrigger, have *blueprint.Trigger, o Options) TriggerChange {
	c := TriggerChange{Action: Update, Type: want.Type, ID: have.ID, config: configChange(want, have)}
	for _, name := range slices.Sorted(maps.Keys(c.config)) {
		if isSecret(name) {
			c.Fields = append(c.Fields, Field{Path: "config." + name, Hidden: true})
			continue
		}
		c.Fields = differences("config."+name, have.Config[name], c.config[name], c.Fields)
	}
	switch {
	case want.Active && !have.IsActive && !o.Force:
		if c.Note = "it is off on the server, and stays so; --force switches it on"; len(c.config) == 0 {
			c.Action = Keep
		}
	case want.Active != have.IsActive:
		c.active = &want.Active
		c.Fields = append(c.Fields, Field{Path: "isActive", Before: have.IsActive, After: want.Active})
	}
	return c
}

func isSecret(name string) bool { return slices.Contains(blueprint.SecretTriggerConfig, name) }

// kept are config keys that the server made or that belong to secrets: a file
// that does not name them leaves them.
func kept(kind blueprint.TriggerType, name string) bool {
	return isSecret(name) || name == "previousSecretUntil" || name == "previousSigningSecretUntil" || blueprint.KindOf(kind).Mailbox && name == "address"
}

// configChange returns the update that makes a config be as the file has it; empty
// when it is.
func configChange(want *project.DesiredTrigger, have *blueprint.Trigger) map[string]any {
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
