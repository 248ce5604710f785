package blueprint

import (
	"maps"
	"slices"
	"strings"
)

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
		issue := Issue{Message: "must be given again, or removed with \"\", because it would be sent elsewhere after a change of " + strings.Join(where, ", ")}
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
