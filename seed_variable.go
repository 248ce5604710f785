package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

var (
	fromEnvironment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	withoutBraces   = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)
)

// environment is the lookup of the real environment.
func environment(name string) (string, bool) { return os.LookupEnv(name) }

// assumed takes an environment variable to be set, to another value than others.
func assumed(name string) (string, bool) { return "a-value-of-" + name, true }

// unfilled tells what is wrong with the value of an environment variable; "" is
// nothing.
func unfilled(name, value string, known bool) string {
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
func (r *seedReader) filled(value any, path []any) any {
	switch v := value.(type) {
	case string:
		empty := ""
		text := fromEnvironment.ReplaceAllStringFunc(v, func(match string) string {
			name := match[2 : len(match)-1]
			text, known := r.lookup(name)
			message := unfilled(name, text, known)
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
func (r *seedReader) checkVariables(kind string, config map[string]any, path []any) {
	for _, at := range secretsOf(kind, config, path) {
		text, _ := valueAt(config, at[len(path):]).(string)
		rest := fromEnvironment.ReplaceAllStringFunc(text, func(match string) string {
			name := match[2 : len(match)-1]
			value, known := r.lookup(name)
			if message := unfilled(name, value, known); known && message != "" && text != match {
				r.wrong(message, at...)
			}
			return "-"
		})
		if strings.Contains(rest, "${") {
			r.wrong("has ${ that begins no ${NAME}; hint: write ${NAME}, with the name of an environment variable alone (letters, digits and _); a value that has ${ in it can only come from one", at...)
		}
	}
}

// secretsOf gives the places of the secrets of the config at a path.
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

// variablesWithoutBraces warns of secrets of the connections of a seed file that
// look like variables, and are sent as they stand there.
func variablesWithoutBraces(value any) (issues []blueprint.Issue) {
	list, _ := valueAt(value, []any{"connections"}).([]any)
	for i := range list {
		kind, _ := valueAt(list[i], []any{"type"}).(string)
		config, _ := valueAt(list[i], []any{"config"}).(map[string]any)
		path := []any{"connections", i, "config"}
		for _, at := range secretsOf(kind, config, path) {
			if text, _ := valueAt(config, at[len(path):]).(string); withoutBraces.MatchString(text) {
				issues = append(issues, blueprint.Issue{
					Path: at, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{Secret: true},
					Message: "is sent as it stands here; write ${NAME} for an environment variable",
				})
			}
		}
	}
	return issues
}
