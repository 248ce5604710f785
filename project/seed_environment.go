package project

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

var (
	FromEnvironment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	withoutBraces   = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)
)

// Environment is the lookup of the real environment.
func Environment(name string) (string, bool) { return os.LookupEnv(name) }

// Assumed takes an environment variable to be set, to another value than others.
func Assumed(name string) (string, bool) { return "a-value-of-" + name, true }

// Unfilled tells what is wrong with the value of an environment variable; "" is
// nothing.
func Unfilled(name, value string, known bool) string {
	switch {
	case !known:
		return "the environment variable " + name + " is not set"
	case value == "":
		return "the environment variable " + name + " is set, but empty"
	}
	return ""
}

// filled puts the values of environment variables in the place of ${NAME} in all
// texts of a value. One that is empty may be a part of a text, and not all of it.
func (r *SeedReader) filled(value any, path []any) any {
	switch v := value.(type) {
	case string:
		empty := ""
		text := FromEnvironment.ReplaceAllStringFunc(v, func(match string) string {
			name := match[2 : len(match)-1]
			text, known := r.Lookup(name)
			message := Unfilled(name, text, known)
			if known {
				empty = message
			} else {
				r.wrong(message, path...)
			}
			return text
		})
		if text == "" && empty != "" {
			r.wrong(empty, path...)
		}
		return text
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.filled(v[i], append(slices.Clone(path), i))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = r.filled(v[name], append(slices.Clone(path), name))
		}
		return out
	}
	return value
}

// checkVariables refuses, in the secrets of a config that is not filled yet, what
// would be sent as a credential although a variable was meant, and variables that
// are empty in them.
func (r *SeedReader) checkVariables(kind string, config map[string]any, path []any) {
	for _, at := range secretsOf(kind, config, path) {
		text, _ := ValueAt(config, at[len(path):]).(string)
		rest := FromEnvironment.ReplaceAllStringFunc(text, func(match string) string {
			name := match[2 : len(match)-1]
			value, known := r.Lookup(name)
			if message := Unfilled(name, value, known); known && message != "" && text != match {
				r.wrong(message, at...)
			}
			return "-"
		})
		if strings.Contains(rest, "${") {
			r.wrong("has ${ that begins no ${NAME}; hint: write ${NAME}, with the name of an environment variable alone (letters, digits and _); a value that has ${ in it can only come from one", at...)
		}
	}
}

// secretsOf returns the places of the secrets of the config at a path.
func secretsOf(kind string, config map[string]any, path []any) (places [][]any) {
	for _, names := range blueprint.ConnectionSecretPaths(blueprint.ConnectionType(kind), config) {
		at := slices.Clone(path)
		for _, name := range names {
			at = append(at, name)
		}
		places = append(places, at)
	}
	return places
}

// VariablesWithoutBraces warns of secrets of the connections of a seed file that
// look like variables, and are sent as they stand there.
func VariablesWithoutBraces(value any) (issues []blueprint.Issue) {
	list, _ := ValueAt(value, []any{"connections"}).([]any)
	for i := range list {
		kind, _ := ValueAt(list[i], []any{"type"}).(string)
		config, _ := ValueAt(list[i], []any{"config"}).(map[string]any)
		path := []any{"connections", i, "config"}
		for _, at := range secretsOf(kind, config, path) {
			if text, _ := ValueAt(config, at[len(path):]).(string); withoutBraces.MatchString(text) {
				issues = append(issues, blueprint.Issue{
					Path: at, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{Secret: true},
					Message: "is sent as it stands here; write ${NAME} for an environment variable",
				})
			}
		}
	}
	return issues
}
