package project

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/engine/nodes"
)

// Reader turns a document into a blueprint and gathers what is wrong.
type Reader struct {
	Blueprint *Blueprint
	Issues    []blueprint.Issue
}

func (r *Reader) wrong(severity, message string, path ...any) {
	r.Issues = append(r.Issues, blueprint.Issue{Path: path, Message: message, Severity: severity})
}

var FileMembers = []string{"$schema", "title", "description", "tags", "environment_variables", "blueprint_map", "triggers", "status", "visibility", "budget", "owner", "organization"}

func (r *Reader) Read() {
	object, ok := r.Blueprint.Document.Value.(map[string]any)
	if !ok {
		r.wrong(blueprint.SeverityError, "a blueprint file is an object with title and blueprint_map")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(FileMembers, name) {
			r.wrong(blueprint.SeverityWarning, "is no member of a blueprint file"+blueprint.DidYouMean(name, FileMembers), name)
			r.last().Spot.Name = true
		}
	}
	for _, path := range r.Blueprint.Document.CutByComment(20) {
		r.wrong(blueprint.SeverityWarning, "the text from \" #\" on is a comment; put the value in quotes if it is part of it", path...)
	}
	object = r.refer(object)
	r.text(object, "$schema", false, 4096) // for editors
	r.Blueprint.Title = r.text(object, "title", true, 500)
	r.Blueprint.Description = r.text(object, "description", false, 10_000)
	if value := object["tags"]; value != nil {
		list, ok := value.([]any)
		if !ok {
			r.wrong(blueprint.SeverityError, "must be an array", "tags")
		}
		for i, element := range list {
			tag, ok := element.(string)
			if !ok {
				r.wrong(blueprint.SeverityError, "must be a string", "tags", i)
			}
			r.Blueprint.Tags = append(r.Blueprint.Tags, tag)
		}
	}
	if value, given := object["environment_variables"]; given && value != nil {
		if r.Blueprint.Variables, ok = value.([]any); !ok {
			r.wrong(blueprint.SeverityError, "must be an array", "environment_variables")
		}
	}
	r.secretDefaults()
	if value, given := object["blueprint_map"]; !given {
		r.wrong(blueprint.SeverityError, "required", "blueprint_map")
	} else {
		r.Blueprint.Map = value
		r.Issues = append(r.Issues, blueprint.Validate(value, r.Blueprint.Variables, Catalogue(), CheckConfig)...)
	}
	r.Blueprint.Variables = blueprint.SpelledVariables(r.Blueprint.Variables)
	r.readSettings(object)
	r.readTriggers(object["triggers"])
}

// text reads a member of at most a number of characters, as the interface does.
func (r *Reader) text(object map[string]any, name string, required bool, most int) string {
	value, given := object[name]
	text, ok := value.(string)
	switch {
	case required && (!given || ok && text == ""):
		r.wrong(blueprint.SeverityError, "required", name)
	case given && !ok && (value != nil || required):
		r.wrong(blueprint.SeverityError, "must be a string", name)
	case utf8.RuneCountInString(text) > most:
		r.wrong(blueprint.SeverityError, fmt.Sprintf("must have at most %d characters", most), name)
	}
	return text
}

func (r *Reader) readTriggers(value any) {
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		r.wrong(blueprint.SeverityError, "must be an array", "triggers")
	}
	for i, element := range list {
		object, ok := element.(map[string]any)
		if !ok {
			r.wrong(blueprint.SeverityError, "must be an object", "triggers", i)
			continue
		}
		t := Trigger{Active: true, Config: map[string]any{}}
		if t.Kind, ok = object["triggerType"].(string); !ok {
			r.wrong(blueprint.SeverityError, "required", "triggers", i, "triggerType")
			continue
		}
		if config, given := object["config"]; given && config != nil {
			if t.Config, ok = config.(map[string]any); !ok {
				r.wrong(blueprint.SeverityError, "must be an object", "triggers", i, "config")
				continue
			}
		}
		if active := object["isActive"]; active != nil {
			if t.Active, ok = active.(bool); !ok {
				r.wrong(blueprint.SeverityError, "must be true or false", "triggers", i, "isActive")
			}
		}
		r.checkTrigger(&t, i)
		r.misspeltTrigger(object, i)
		r.readSecrets(&t, i)
		r.Blueprint.Triggers = append(r.Blueprint.Triggers, t)
	}
}

// readSecrets sees to the secrets that an export left out, which stand as null.
// Without its secret a webhook would let everybody in: the trigger is off until
// a user gives it one.
func (r *Reader) readSecrets(t *Trigger, i int) {
	for _, name := range blueprint.SecretTriggerConfig {
		if !leftOut(t, []any{name}) {
			continue
		}
		if secretOf[blueprint.TriggerType(t.Kind)] == name {
			t.Active = false
			r.wrong(blueprint.SeverityWarning, fmt.Sprintf("the %s trigger needs its secret before it is switched on; import leaves it inactive", t.Kind), "triggers", i, "config", name)
		}
		t.Config = maps.Clone(t.Config)
		delete(t.Config, name)
	}
}

// secretOf is the config key that guards a trigger.
var secretOf = map[blueprint.TriggerType]string{blueprint.TriggerWebhook: "secret", blueprint.TriggerSlack: "signingSecret"}

// leftOut reports whether a path of a trigger's config, in any spelling, is a secret
// that is null.
func leftOut(t *Trigger, path []any) bool {
	if len(path) != 1 {
		return false
	}
	name, _ := path[0].(string)
	value, given := t.Config[name]
	if !given || value != nil {
		return false
	}
	spelled, _, _ := blueprint.TriggerConfigSpelling(blueprint.TriggerType(t.Kind), map[string]any{name: nil})
	return slices.ContainsFunc(blueprint.SecretTriggerConfig, func(key string) bool { _, is := spelled[key]; return is })
}

// CheckConfig is the blueprint.ConfigChecker of the templates in use.
func CheckConfig(config map[string]any, untouched func([]any) bool) ([]blueprint.Reference, []blueprint.Issue) {
	compiled, issues := expression.CompileConfig(config, untouched)
	if compiled == nil {
		return nil, issues
	}
	return compiled.References(), issues
}

// Catalogue is the node types without what they need to run.
func Catalogue() blueprint.Catalogue { return CatalogueOf(nodes.Dependencies{}) }

func CatalogueOf(d nodes.Dependencies) blueprint.Catalogue {
	out := blueprint.Catalogue{}
	for _, kind := range nodes.All(d) {
		if _, twice := out[kind.Type]; twice {
			panic(fmt.Sprintf("two node types are named %q", kind.Type))
		}
		out[kind.Type] = kind
	}
	return out
}
