package blueprint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// VariableType is the declared type of an environment variable.
type VariableType string

// The types that a variable may have.
const (
	VariableString  VariableType = "string"
	VariableNumber  VariableType = "number"
	VariableBoolean VariableType = "boolean"
	VariableJSON    VariableType = "json"
)

// Variable is one element of a blueprint's environment_variables.
type Variable struct {
	Name        string
	Type        VariableType
	Default     any // valid if HasDefault
	HasDefault  bool
	Description string
	Required    bool
	Secret      bool
}

var variableName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// ReservedNames are names of the scope that no variable may have.
var ReservedNames = []string{"inputData", "input", "nodes", "item", "index", "execution", "blueprint", "trigger", "now"}

// KeyLink is the key of nodes.<id> with the approval link of a node that asks a person.
const KeyLink = "link"

// ScopeKeys are the possible keys of names of the scope; for nodes, those after the id.
var ScopeKeys = map[string][]string{
	"nodes": {"output", KeyLink}, "execution": {"id"}, "blueprint": {"id", "title"}, "trigger": {"id", "type", "headers"},
}

var variableKeys = []string{"name", "type", "default", "description", "required", "secret"}

// variableAliases are other spellings of variableKeys.
var variableAliases = map[string]string{"value": "default", "defaultValue": "default", "default_value": "default", "isSecret": "secret", "is_secret": "secret"}

// hiddenOfVariable reports whether a key of a secret variable is hidden: the default,
// and unknown keys.
func hiddenOfVariable(name string) bool {
	return name == "default" || !slices.Contains(variableKeys, name)
}

// VariableSpelling returns a variable with keys in canonical spelling, and the original
// spellings of renamed keys. Two spellings of a key are an issue.
func VariableSpelling(object map[string]any) (out map[string]any, renamed map[string]string, issues []Issue) {
	out = object
	for _, name := range slices.Sorted(maps.Keys(variableAliases)) {
		value, given := object[name]
		if !given {
			continue
		}
		if renamed == nil {
			out, renamed = maps.Clone(object), map[string]string{}
		}
		key := variableAliases[name]
		other, twice := renamed[key]
		if _, given := object[key]; given {
			other, twice = key, true
		}
		if twice {
			issues = append(issues, Issue{Path: []any{name}, Message: "is another spelling of " + other + ", which is also given; leave one out", Spot: Spot{OnKey: true}})
			continue
		}
		delete(out, name)
		out[key], renamed[key] = value, name
	}
	return out, renamed, issues
}

// ParseVariables parses decoded environment_variables. Paths start at the array. A
// secret whose default is null or "" has none.
func ParseVariables(list []any) ([]Variable, []Issue) {
	var variables []Variable
	var issues []Issue
	seen := map[string]bool{}
	for i, element := range list {
		if len(issues) >= MaxIssues {
			return variables, issues[:MaxIssues]
		}
		var renamed map[string]string
		wrong := func(message string, path ...any) {
			if len(path) > 0 {
				path[0] = cmp.Or(renamed[path[0].(string)], path[0].(string))
			}
			issues = append(issues, Issue{Path: append([]any{i}, path...), Message: message})
		}
		object, ok := element.(map[string]any)
		if !ok {
			wrong("must be an object")
			continue
		}
		var doubled []Issue
		object, renamed, doubled = VariableSpelling(object)
		issues = append(issues, below(doubled, i)...)
		variable := Variable{Type: VariableString}
		switch name, ok := object["name"].(string); {
		case object["name"] == nil:
			wrong("required", "name")
		case !ok:
			wrong("must be a string", "name")
		case !variableName.MatchString(name):
			wrong("must be letters, digits and _", "name")
		case slices.Contains(ReservedNames, name):
			wrong(fmt.Sprintf("%q is a name that the service sets itself", name), "name")
		case seen[name]:
			wrong(fmt.Sprintf("%q is declared already", name), "name")
		default:
			seen[name] = true
			variable.Name = name
		}
		if value := object["type"]; value != nil {
			text, _ := value.(string)
			switch variable.Type = VariableType(text); variable.Type {
			case VariableString, VariableNumber, VariableBoolean, VariableJSON:
			default:
				wrong(`must be "string", "number", "boolean" or "json"`, "type")
			}
		}
		flag := func(name string) (set bool) {
			if value := object[name]; value != nil {
				if set, ok = value.(bool); !ok {
					wrong("must be true or false", name)
				}
			}
			return set
		}
		variable.Required, variable.Secret = flag("required"), flag("secret")
		if value := object["description"]; value != nil {
			if variable.Description, ok = value.(string); !ok {
				wrong("must be a string", "description")
			}
		}
		if value, given := object["default"]; given && !(variable.Secret && value == "") && (value != nil || variable.Type == VariableJSON && !variable.Secret) {
			if message := variable.Type.check(value); message != "" {
				wrong(message, "default")
			}
			variable.Default, variable.HasDefault = value, true
		}
		variables = append(variables, variable)
	}
	return variables, issues
}

// check returns the problem of a value, "" for a valid one.
func (t VariableType) check(value any) string {
	ok := true
	switch t {
	case VariableString:
		_, ok = value.(string)
	case VariableNumber:
		_, ok = value.(json.Number)
	case VariableBoolean:
		_, ok = value.(bool)
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("must be a %s", t)
}

// BindVariables returns the variables of a run: the defaults overridden by the given
// values, and undeclared names. Null counts as absent except for type json. A missing
// required variable, a value of the wrong type and a reserved name are issues. A
// declared variable without default and value is null.
func BindVariables(declared []Variable, given map[string]any) (map[string]any, []Issue) {
	bound := make(map[string]any, len(declared)+len(given))
	var issues []Issue
	for _, variable := range declared {
		value, ok := given[variable.Name]
		switch {
		case ok && (value != nil || variable.Type == VariableJSON):
			if message := variable.Type.check(value); message != "" {
				issues = append(issues, Issue{Path: []any{variable.Name}, Message: message})
			}
			bound[variable.Name] = value
		case variable.HasDefault:
			bound[variable.Name] = variable.Default
		case variable.Required:
			issues = append(issues, Issue{Path: []any{variable.Name}, Message: "required"})
		default:
			bound[variable.Name] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := bound[name]; known {
			continue
		}
		if slices.Contains(ReservedNames, name) {
			issues = append(issues, Issue{Path: []any{name}, Message: "is a name that the service sets itself"})
			continue
		}
		bound[name] = given[name]
	}
	return bound, issues
}
