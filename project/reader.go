package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/engine/nodes"
	"blueprintd/triggers"
)

// issues collects the issues of a document.
type issues struct {
	Issues []blueprint.Issue
}

func (r *issues) wrong(message string, path ...any) {
	r.Issues = append(r.Issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
}

func (r *issues) warn(message string, path ...any) {
	r.Issues = append(r.Issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityWarning})
}

func (r *issues) last() *blueprint.Issue { return &r.Issues[len(r.Issues)-1] }

// text returns a member that is a string with a maximum length. Optional ones may be null.
func (r *issues) text(object map[string]any, path []any, name string, required bool, most int) string {
	value, isSet := object[name]
	text, ok := value.(string)
	switch {
	case required && (!isSet || ok && text == ""):
		r.wrong("required", below(path, name)...)
	case isSet && !ok && (value != nil || required):
		r.wrong("must be a string", below(path, name)...)
	case utf8.RuneCountInString(text) > most:
		r.wrong(fmt.Sprintf("must have at most %d characters", most), below(path, name)...)
	}
	return text
}

// Reader reads a blueprint from its document.
type Reader struct {
	issues
	Blueprint *Blueprint
}

// FileMembers are the members of a blueprint file.
var FileMembers = []string{"$schema", "title", "description", "tags", "environment_variables", "blueprint_map", "triggers", "status", "visibility", "budget", "owner", "organization"}

// mapMembers are the members of blueprint_map.
var mapMembers = []string{"nodes", "edges", "notes", "groups"}

// Read reads the document of r.Blueprint into it.
func (r *Reader) Read() {
	object, ok := r.Blueprint.Document.Value.(map[string]any)
	if !ok {
		r.wrong("a blueprint file is an object with title and blueprint_map")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(FileMembers, name) {
			hint := blueprint.DidYouMean(name, FileMembers)
			if slices.Contains(seedMembers, name) {
				hint = "; is this a seed file? Name it NAME.seed.yaml"
			} else if slices.Contains(mapMembers, name) {
				hint = "; it belongs in blueprint_map"
			}
			r.warn("unknown field in a blueprint file"+hint, name)
			r.last().Spot.OnKey = true
		}
	}
	for _, path := range r.Blueprint.Document.CutByComment(20) {
		r.warn("the text after \" #\" is a comment; quote the value to include it", path...)
	}
	object = r.refer(object)
	r.text(object, nil, "$schema", false, 4096) // for editors
	r.Blueprint.Title = r.text(object, nil, "title", true, 500)
	r.Blueprint.Description = r.text(object, nil, "description", false, 10_000)
	if value := object["tags"]; value != nil {
		list, ok := value.([]any)
		if !ok {
			r.wrong("must be an array", "tags")
		}
		for i, element := range list {
			tag, ok := element.(string)
			if !ok {
				r.wrong("must be a string", "tags", i)
			}
			r.Blueprint.Tags = append(r.Blueprint.Tags, tag)
		}
	}
	if value, given := object["environment_variables"]; given && value != nil {
		if r.Blueprint.Variables, ok = value.([]any); !ok {
			r.wrong("must be an array", "environment_variables")
		}
	}
	r.secretDefaults()
	if value, given := object["blueprint_map"]; !given {
		r.wrong("required", "blueprint_map")
	} else {
		r.Blueprint.Map = value
		r.Issues = append(r.Issues, blueprint.Validate(value, r.Blueprint.Variables, Catalogue(), CheckConfig)...)
	}
	r.Blueprint.Variables = blueprint.SpelledVariables(r.Blueprint.Variables)
	r.readSettings(object)
	r.readTriggers(object["triggers"])
}

func (r *Reader) readTriggers(value any) {
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		r.wrong("must be an array", "triggers")
	}
	for i, element := range list {
		object, ok := element.(map[string]any)
		if !ok {
			r.wrong("must be an object", "triggers", i)
			continue
		}
		t := Trigger{Active: true, Config: map[string]any{}}
		if t.Kind, ok = object["triggerType"].(string); !ok {
			r.wrong("required", "triggers", i, "triggerType")
			continue
		}
		if config, given := object["config"]; given && config != nil {
			if t.Config, ok = config.(map[string]any); !ok {
				r.wrong("must be an object", "triggers", i, "config")
				continue
			}
		}
		if active := object["isActive"]; active != nil {
			if t.Active, ok = active.(bool); !ok {
				r.wrong("must be true or false", "triggers", i, "isActive")
			}
		}
		r.checkTrigger(&t, i)
		r.misspeltTrigger(object, i)
		r.readSecrets(&t, i)
		r.Blueprint.Triggers = append(r.Blueprint.Triggers, t)
	}
}

// readSecrets removes secrets that are null, as export writes them. A trigger without
// its secret would accept any request, so it becomes inactive.
func (r *Reader) readSecrets(t *Trigger, i int) {
	for _, name := range blueprint.SecretTriggerConfig {
		if !isNullSecret(t, []any{name}) {
			continue
		}
		if blueprint.KindOf(blueprint.TriggerType(t.Kind)).Secrets.Secret == name {
			t.Active = false
			r.warn(fmt.Sprintf("the %s trigger needs its secret before it is activated; import leaves it paused", t.Kind), "triggers", i, "config", name)
		}
		t.Config = maps.Clone(t.Config)
		delete(t.Config, name)
	}
}

// isNullSecret reports whether a path of a trigger's config is a null secret.
func isNullSecret(t *Trigger, path []any) bool {
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

// CheckConfig is a blueprint.ConfigChecker for templates.
func CheckConfig(config map[string]any, untouched func([]any) bool) ([]blueprint.Reference, []blueprint.Issue) {
	compiled, issues := expression.CompileConfig(config, untouched)
	if compiled == nil {
		return nil, issues
	}
	return compiled.References(), issues
}

// Catalogue returns the node types without their dependencies; they cannot run.
func Catalogue() blueprint.Catalogue { return CatalogueOf(nodes.Dependencies{}) }

// ConnectionsOf returns the types of connection that nodes of a type may use, the most
// common one first; nil for none and for unknown node types.
func ConnectionsOf(nodeType string) []blueprint.ConnectionType {
	kind := nodeTypes()[nodeType]
	if kind == nil {
		return nil
	}
	return kind.Connections
}

var nodeTypes = sync.OnceValue(Catalogue)

// CatalogueOf returns the node types with their dependencies, by name.
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

func (r *Reader) readSettings(object map[string]any) {
	r.Blueprint.Status = r.choice(object, "status", blueprint.StatusDraft, blueprint.StatusPublished)
	r.Blueprint.Visibility = r.choice(object, "visibility", blueprint.VisibilityPrivate, blueprint.VisibilityPublic)
	value, given := object["budget"]
	if !given {
		return
	}
	budget, issues := blueprint.ParseBudget(value)
	for _, issue := range issues {
		r.wrong(issue.Message, append([]any{"budget"}, issue.Path...)...)
	}
	if r.Blueprint.Budget = budget; budget == nil {
		r.Blueprint.Budget = &blueprint.Budget{}
	}
}

// choice returns a member that is one of two strings.
func (r *Reader) choice(object map[string]any, name, one, other string) string {
	value, given := object[name]
	text, _ := value.(string)
	if given && !slices.Contains([]string{one, other}, text) {
		r.wrong(`must be "`+one+`" or "`+other+`"`, name)
	}
	return text
}

// secretDefaults warns about secrets in the file.
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
			r.warn("is a secret in the file: remove it and pass the variable to runs", "environment_variables", i, cmp.Or(renamed["default"], "default"))
			r.last().Spot.Secret = true
		}
	}
}

var triggerMembers = []string{"triggerType", "config", "isActive"}

// misspeltTrigger warns about unknown members of a trigger that resemble known ones.
func (r *Reader) misspeltTrigger(object map[string]any, i int) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(triggerMembers, name) {
			if hint := blueprint.DidYouMean(name, triggerMembers); hint != "" {
				r.warn("unknown field"+hint, "triggers", i, name)
				r.last().Spot.OnKey = true
			}
		}
	}
}

// checkTrigger checks the config of a trigger, and warns of unauthenticated deliveries.
func (r *Reader) checkTrigger(t *Trigger, i int) {
	kind := blueprint.TriggerType(t.Kind)
	if blueprint.KindOf(kind).Type == "" {
		names := blueprint.TriggerTypes()
		slices.Sort(names)
		r.wrong(fmt.Sprintf("unknown trigger type %q; known types: %s", t.Kind, strings.Join(names, ", "))+blueprint.DidYouMean(t.Kind, names), "triggers", i, "triggerType")
		return
	}
	at := func(path []any) []any { return append([]any{"triggers", i, "config"}, path...) }
	config, issues := triggers.Settle(kind, nil, t.Config)
	for _, issue := range issues {
		if !isNullSecret(t, issue.Path) {
			r.wrong(issue.Message, at(issue.Path)...)
			r.last().Spot = issue.Spot
		}
	}
	t.Config, _, _ = blueprint.TriggerConfigSpelling(kind, t.Config)
	for _, issue := range triggers.Warnings(kind, t.Config) {
		r.warn(issue.Message, at(issue.Path)...)
		r.last().Spot = issue.Spot
	}
	if key := blueprint.KindOf(kind).Secrets.Secret; key != "" && t.Active && len(issues) == 0 {
		_, has := config[key]
		switch {
		case has, config["form"] != nil: // a form cannot have one
		case (&blueprint.Trigger{Type: kind, Config: t.Config}).IsOpen():
			r.warn("has no secret: anyone who knows its address can start runs", "triggers", i)
		default:
			r.warn("has no "+key+", so it refuses every delivery", "triggers", i)
		}
	}
}
