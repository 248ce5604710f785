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
			r.last().Spot.OnKey = true
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
		if blueprint.KindOf(blueprint.TriggerType(t.Kind)).Secrets.Secret == name {
			t.Active = false
			r.wrong(blueprint.SeverityWarning, fmt.Sprintf("the %s trigger needs its secret before it is switched on; import leaves it inactive", t.Kind), "triggers", i, "config", name)
		}
		t.Config = maps.Clone(t.Config)
		delete(t.Config, name)
	}
}

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

// ConnectionsOf returns the types of connection that nodes of a type may name, the
// usual one first; nil for types that need none, or that nobody knows.
func ConnectionsOf(nodeType string) []blueprint.ConnectionType {
	kind := nodeTypes()[nodeType]
	if kind == nil {
		return nil
	}
	return kind.Connections
}

var nodeTypes = sync.OnceValue(Catalogue)

// CatalogueOf returns the node types as they run with what they need, by name.
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

// settings are what a file may say of its blueprint besides what it is. Export
// writes those that are not as for a new one. Import makes a private draft all the
// same, so that nothing is published unseen; sync heeds all, and leaves what is not
// said as it is there.
type settings struct {
	Status     string            // "" = not said
	Visibility string            // "" = not said
	Budget     *blueprint.Budget // nil = not said; without limits = none
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
		r.wrong(blueprint.SeverityError, issue.Message, append([]any{"budget"}, issue.Path...)...)
	}
	if r.Blueprint.Budget = budget; budget == nil {
		r.Blueprint.Budget = &blueprint.Budget{}
	}
}

// choice reads a member that is one of two texts.
func (r *Reader) choice(object map[string]any, name, one, other string) string {
	value, given := object[name]
	text, _ := value.(string)
	if given && !slices.Contains([]string{one, other}, text) {
		r.wrong(blueprint.SeverityError, `must be "`+one+`" or "`+other+`"`, name)
	}
	return text
}

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
				r.last().Spot.OnKey = true
			}
		}
	}
}

// checkTrigger looks at the config of a trigger, and warns when strangers could
// set off what costs or cannot be taken back.
func (r *Reader) checkTrigger(t *Trigger, i int) {
	kind := blueprint.TriggerType(t.Kind)
	if blueprint.KindOf(kind).Type == "" {
		names := blueprint.TriggerTypes()
		slices.Sort(names)
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
	if key := blueprint.KindOf(kind).Secrets.Secret; key != "" && t.Active && len(issues) == 0 {
		_, has := config[key]
		switch {
		case has:
		case (&blueprint.Trigger{Type: kind, Config: t.Config}).IsOpen():
			r.wrong(blueprint.SeverityWarning, "has no secret: whoever knows its address can start runs", "triggers", i)
		default:
			r.wrong(blueprint.SeverityWarning, "has no "+key+", so it refuses every delivery", "triggers", i)
		}
	}
}
