package main

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/engine/nodes"
	"blueprintd/triggers"
)

// fileReader turns a document into a blueprint and gathers what is wrong.
type fileReader struct {
	b      *blueprintFile
	issues []blueprint.Issue
}

func (r *fileReader) wrong(severity, message string, path ...any) {
	r.issues = append(r.issues, blueprint.Issue{Path: path, Message: message, Severity: severity})
}

var fileMembers = []string{"title", "description", "tags", "environment_variables", "blueprint_map", "triggers", "status", "visibility", "owner", "organization"}

func (r *fileReader) read() {
	object, ok := r.b.document.Value.(map[string]any)
	if !ok {
		r.wrong(blueprint.SeverityError, "a blueprint file is an object with title and blueprint_map")
		return
	}
	for name := range object {
		if !slices.Contains(fileMembers, name) {
			r.wrong(blueprint.SeverityWarning, "is no member of a blueprint file", name)
		}
	}
	r.b.title = r.text(object, "title", true)
	r.b.description = r.text(object, "description", false)
	if value, given := object["tags"]; given {
		list, ok := value.([]any)
		if !ok {
			r.wrong(blueprint.SeverityError, "must be an array", "tags")
		}
		for i, element := range list {
			tag, ok := element.(string)
			if !ok {
				r.wrong(blueprint.SeverityError, "must be a string", "tags", i)
			}
			r.b.tags = append(r.b.tags, tag)
		}
	}
	if value, given := object["environment_variables"]; given && value != nil {
		if r.b.variables, ok = value.([]any); !ok {
			r.wrong(blueprint.SeverityError, "must be an array", "environment_variables")
		}
	}
	if value, given := object["blueprint_map"]; !given {
		r.wrong(blueprint.SeverityError, "required", "blueprint_map")
	} else {
		r.b.m = value
		r.issues = append(r.issues, blueprint.Validate(value, r.b.variables, catalogue(), checkConfig)...)
	}
	r.readTriggers(object["triggers"])
}

func (r *fileReader) text(object map[string]any, name string, required bool) string {
	value, given := object[name]
	text, ok := value.(string)
	switch {
	case required && (!given || ok && text == ""):
		r.wrong(blueprint.SeverityError, "required", name)
	case given && !ok:
		r.wrong(blueprint.SeverityError, "must be a string", name)
	}
	return text
}

func (r *fileReader) readTriggers(value any) {
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
		t := triggerEntry{active: true, config: map[string]any{}}
		if t.kind, ok = object["triggerType"].(string); !ok {
			r.wrong(blueprint.SeverityError, "required", "triggers", i, "triggerType")
			continue
		}
		if config, given := object["config"]; given && config != nil {
			if t.config, ok = config.(map[string]any); !ok {
				r.wrong(blueprint.SeverityError, "must be an object", "triggers", i, "config")
				continue
			}
		}
		if active, given := object["isActive"]; given {
			if t.active, ok = active.(bool); !ok {
				r.wrong(blueprint.SeverityError, "must be true or false", "triggers", i, "isActive")
			}
		}
		for _, issue := range triggers.Check(blueprint.TriggerType(t.kind), t.config) {
			severity := blueprint.SeverityError
			if exported(t.config, issue) {
				severity, t.active = blueprint.SeverityWarning, false
			}
			r.wrong(severity, issue.Message, append([]any{"triggers", i, "config"}, issue.Path...)...)
		}
		r.b.triggers = append(r.b.triggers, t)
	}
}

// exported tells whether an issue is about a secret that an export left out:
// the trigger can be stored, but not work until somebody fills it in.
func exported(config map[string]any, issue blueprint.Issue) bool {
	if len(issue.Path) != 1 {
		return false
	}
	name, _ := issue.Path[0].(string)
	value, given := config[name]
	return given && value == nil && slices.Contains(blueprint.SecretTriggerConfig, name)
}

// checkConfig is the blueprint.ConfigChecker of the templates in use.
func checkConfig(config map[string]any, untouched func([]any) bool) ([]blueprint.Reference, []blueprint.Issue) {
	compiled, issues := expression.CompileConfig(config, untouched)
	if compiled == nil {
		return nil, issues
	}
	return compiled.References(), issues
}

// catalogue is the node types without what they need to run.
func catalogue() blueprint.Catalogue { return catalogueOf(nodes.Dependencies{}) }

func catalogueOf(d nodes.Dependencies) blueprint.Catalogue {
	out := blueprint.Catalogue{}
	for _, kind := range nodes.All(d) {
		if _, twice := out[kind.Type]; twice {
			panic(fmt.Sprintf("two node types are named %q", kind.Type))
		}
		out[kind.Type] = kind
	}
	return out
}
