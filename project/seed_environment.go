package project

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// FromEnvironment matches the reference to an environment variable, ${NAME}.
var (
	FromEnvironment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	withoutBraces   = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)
)

// Environment looks up a variable in the environment of the process.
func Environment(name string) (string, bool) { return os.LookupEnv(name) }

// Assumed is a lookup in which every variable is set, each to its own value.
func Assumed(name string) (string, bool) { return "a-value-of-" + name, true }

// Unfilled returns an error message for an environment variable that is not set or empty,
// "" for none.
func Unfilled(name, value string, known bool) string {
	switch {
	case !known:
		return "the environment variable " + name + " is not set"
	case value == "":
		return "the environment variable " + name + " is set, but empty"
	}
	return ""
}

// filled replaces ${NAME} by environment variables in all strings of a value. A variable
// may be empty only if the resulting string is not.
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
			out[i] = r.filled(v[i], below(path, i))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = r.filled(v[name], below(path, name))
		}
		return out
	}
	return value
}

// checkVariables refuses empty variables in the secrets of an unfilled config, and text
// that was meant as a variable but would be sent as part of a credential.
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
			r.wrong("has ${ without a valid ${NAME}; hint: write ${NAME} with letters, digits and _; a value that contains ${ must come from an environment variable", at...)
		}
	}
}

// secretsOf returns the paths of the secrets of a config at a path.
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

// VariablesWithoutBraces warns about secrets of connections that look like variables
// without braces, which are not replaced.
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
					Message: "is not replaced; write ${NAME} for an environment variable",
				})
			}
		}
	}
	return issues
}
