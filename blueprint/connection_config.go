package blueprint

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CheckConnection returns the issues of a config; paths start at the config. Unknown
// keys are errors, because a secret under a misspelled key would not be protected.
func CheckConnection(kind ConnectionType, config map[string]any) []Issue {
	known := connectionKindOf(kind)
	if known == nil {
		return fault(fmt.Sprintf("unknown connection type %q", kind))
	}
	issues := checkFields(known.fields, config, "")
	if known.check != nil {
		issues = append(issues, known.check(config)...)
	}
	return issues
}

// checkFields checks an object against its shape. extra is another allowed key, or "".
func checkFields(shape []configField, object map[string]any, extra string) (issues []Issue) {
	for _, f := range shape {
		value := object[f.name]
		switch {
		case value != nil:
			issues = append(issues, below(f.check(value), f.name)...)
		case f.required:
			issues = append(issues, Issue{Path: []any{f.name}, Message: "required"})
		}
	}
	names := make([]string, len(shape))
	for i, f := range shape {
		names[i] = f.name
	}
	if extra != "" {
		names = append([]string{extra}, names...)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(names, name) {
			continue
		}
		if issues = append(issues, Issue{Path: []any{name}, Message: "is unknown; known are " + strings.Join(names, ", ")}); len(issues) >= MaxIssues {
			break
		}
	}
	return issues
}

func authObject(value any) []Issue {
	object, ok := value.(map[string]any)
	if !ok {
		return fault("must be an object")
	}
	kind, _ := object["type"].(string)
	known := authKindOf(kind)
	if known == nil {
		names := make([]string, len(authKinds))
		for i := range authKinds {
			names[i] = authKinds[i].name
		}
		return below(fault("must be one of "+strings.Join(names, ", ")), "type")
	}
	return checkFields(known.fields, object, "type")
}

// RedactConnection returns a copy of a config with its secrets null.
func RedactConnection(kind ConnectionType, config map[string]any) map[string]any {
	out := maps.Clone(config)
	if out == nil {
		return map[string]any{}
	}
	for _, path := range ConnectionSecretPaths(kind, config) {
		if len(path) == 1 {
			out[path[0]] = nil
			continue
		}
		inner := maps.Clone(out[path[0]].(map[string]any))
		inner[path[1]] = nil
		out[path[0]] = inner
	}
	return out
}

// minCredential is the minimum size of a credential in a header; less may be a word.
const minCredential = 8

// ConnectionSecrets returns the secret values of a config, their encodings in requests,
// and header values without the scheme.
func ConnectionSecrets(kind ConnectionType, config map[string]any) (values []string) {
	for _, path := range ConnectionSecretPaths(kind, config) {
		if text, ok := valueAt(config, path).(string); ok {
			values = append(values, text)
		}
	}
	shaped := slices.ContainsFunc(connectionFields(kind), func(f configField) bool { return f.name == "auth" })
	auth, _ := config["auth"].(map[string]any)
	if value, _ := auth["value"].(string); shaped && auth["type"] == "header" {
		_, rest, _ := strings.Cut(value, " ") // after Token, ApiKey and the like
		if rest = strings.TrimSpace(rest); len(rest) >= minCredential {
			values = append(values, rest)
		}
	}
	if shaped && auth["type"] == "basic" {
		name, _ := auth["username"].(string)
		password, _ := auth["password"].(string)
		if name != "" && password != "" { // as it is sent
			values = append(values, base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
		}
	}
	return values
}

// ConnectionSecretPaths returns the paths of the secrets in a config, which may be
// invalid: a key, or "auth" and a key.
func ConnectionSecretPaths(kind ConnectionType, config map[string]any) (paths [][]string) {
	for _, f := range connectionFields(kind) {
		switch {
		case f.secret && config[f.name] != nil:
			paths = append(paths, []string{f.name})
		case f.name == "auth":
			auth, _ := config["auth"].(map[string]any)
			for _, inner := range authShape(config["auth"]) {
				if inner.secret && auth[inner.name] != nil {
					paths = append(paths, []string{"auth", inner.name})
				}
			}
		}
	}
	return paths
}

func valueAt(config map[string]any, path []string) any {
	var value any = config
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}
