package deploy

import (
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// newTrigger returns the change that creates a trigger. If its secret is null in the file,
// a new one is generated, as the trigger would accept any request without one.
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
			notes = append(notes, "with a new "+name+", which is null in the file")
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

// changedTrigger returns the change that makes a trigger match its file. A trigger that a
// user or the breaker switched off is switched on only with force.
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
		if c.Note = "it is off on the server; --force switches it on"; len(c.config) == 0 {
			c.Action = Keep
		}
	case want.Active != have.IsActive:
		c.active = &want.Active
		c.Fields = append(c.Fields, Field{Path: "isActive", Before: have.IsActive, After: want.Active})
	}
	return c
}

func isSecret(name string) bool { return slices.Contains(blueprint.SecretTriggerConfig, name) }

// isKept reports whether a config key that is missing in a file keeps its value: secrets,
// and keys that the server sets.
func isKept(kind blueprint.TriggerType, name string) bool {
	return isSecret(name) || name == "previousSecretUntil" || name == "previousSigningSecretUntil" || blueprint.KindOf(kind).Mailbox && name == "address"
}

// configChange returns the update that makes a config match the file, empty if it does.
func configChange(want *project.DesiredTrigger, have *blueprint.Trigger) map[string]any {
	change := map[string]any{}
	for name, value := range want.Config {
		present, given := have.Config[name]
		switch {
		case value == nil && isSecret(name), value == "" && isSecret(name) && !given:
		case value == nil && !given:
		case isKept(want.Type, name) && !isSecret(name) && value == nil:
		case !blueprint.Equal(value, present):
			change[name] = value
		}
	}
	for name := range have.Config {
		if _, named := want.Config[name]; !named && !isKept(want.Type, name) {
			change[name] = nil
		}
	}
	return change
}
