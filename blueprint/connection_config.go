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

// MergeConnection applies an update to the config of a connection by top-level keys
// and changes neither argument; before is nil for a new one. Null removes a key. A
// secret that is null or missing in the update stays, "" removes it; that of auth
// stays only while auth.type is unchanged.
//
// A user who may change a connection need not know its secrets, and must not be able
// to redirect them to another host. So if the update changes where they are sent
// (moved), each secret that would stay is an issue; the caller must then delete the
// connection's tokens too. See CheckConnection for all other checks.
func MergeConnection(kind ConnectionType, before, change map[string]any) (config map[string]any, moved bool, issues []Issue) {
	shape := connectionFields(kind)
	config = maps.Clone(before)
	if config == nil {
		config = map[string]any{}
	}
	for name, value := range change {
		f := fieldOf(shape, name)
		secret := f != nil && f.secret
		switch {
		case secret && value == nil:
		case value == nil, secret && value == "":
			delete(config, name)
		case f != nil && name == "auth":
			config[name] = mergeAuth(before[name], value)
		default:
			config[name] = value
		}
	}
	if before == nil {
		return config, false, nil
	}
	where := movedBy(kind, before, config)
	if len(where) == 0 {
		return config, false, nil
	}
	for _, path := range ConnectionSecretPaths(kind, config) {
		if valueAt(change, path) != nil {
			continue
		}
		siblings, remedy := shape, "must be given again"
		if path[0] == "auth" {
			siblings = authShape(config["auth"])
		}
		if !fieldOf(siblings, path[len(path)-1]).required {
			remedy += ", or removed with \"\""
		}
		issue := Issue{Message: remedy + ", because it would be sent elsewhere after a change of " + strings.Join(where, ", ")}
		for _, name := range path {
			issue.Path = append(issue.Path, name)
		}
		issues = append(issues, issue)
	}
	return config, true, issues
}

// mergeAuth completes an auth object with the secret of the previous one.
func mergeAuth(before, after any) any {
	object, ok := after.(map[string]any)
	if !ok {
		return after
	}
	known, _ := before.(map[string]any)
	out := maps.Clone(object)
	shape := authShape(after)
	maps.DeleteFunc(out, func(name string, value any) bool {
		f := fieldOf(shape, name)
		return value == nil || f != nil && f.secret && value == ""
	})
	for _, f := range shape {
		if _, sent := out[f.name]; f.secret && !sent && object[f.name] != "" && known["type"] == object["type"] && known[f.name] != nil {
			out[f.name] = known[f.name]
		}
	}
	return out
}

// movedBy returns the keys whose change redirects secrets.
func movedBy(kind ConnectionType, before, after map[string]any) (names []string) {
	for _, f := range connectionFields(kind) {
		if f.moves != nil && f.moves(before[f.name], after[f.name]) {
			names = append(names, f.name)
		}
	}
	if of := connectionKindOf(kind); of != nil && of.moved != nil {
		names = append(names, of.moved(before, after)...)
	}
	return append(names, movedByAuth(before["auth"], after["auth"])...)
}

// movedByAuth is movedBy for auth. Secrets do not survive a change of its type.
func movedByAuth(before, after any) (names []string) {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	if !Equal(was["type"], is["type"]) {
		return nil
	}
	for _, f := range authShape(after) {
		if f.moves != nil && f.moves(was[f.name], is[f.name]) {
			names = append(names, "auth."+f.name)
		}
	}
	return names
}

// WholeConnection reports whether an update replaced every key and secret of config.
func WholeConnection(kind ConnectionType, config, change map[string]any) bool {
	for name := range config {
		if _, sent := change[name]; !sent {
			return false
		}
	}
	return !slices.ContainsFunc(ConnectionSecretPaths(kind, config), func(path []string) bool { return valueAt(change, path) == nil })
}
