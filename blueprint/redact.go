package blueprint

import (
	"maps"
	"slices"
)

// RedactVariables gives environment_variables to somebody who may not manage
// the blueprint: the default of every secret is null.
func RedactVariables(list []any) []any {
	return mapSecrets(list, func(element map[string]any) {
		if _, given := element["default"]; given {
			element["default"] = nil
		}
	})
}

// KeepSecrets completes an update of environment_variables: a secret sent with
// a null default keeps the one that the variable of that name had, and an
// empty string removes it.
func KeepSecrets(before, after []any) []any {
	kept := map[string]any{}
	for _, element := range before {
		if object, ok := element.(map[string]any); ok && object["secret"] == true && object["default"] != nil {
			name, _ := object["name"].(string)
			kept[name] = object["default"]
		}
	}
	return mapSecrets(after, func(element map[string]any) {
		value, given := element["default"]
		if value == "" {
			delete(element, "default")
		} else if given && value == nil {
			name, _ := element["name"].(string)
			if old, ok := kept[name]; ok {
				element["default"] = old
			}
		}
	})
}

func mapSecrets(list []any, change func(element map[string]any)) []any {
	out := make([]any, len(list))
	for i, element := range list {
		out[i] = element
		if object, ok := element.(map[string]any); ok && object["secret"] == true {
			copied := maps.Clone(object)
			change(copied)
			out[i] = copied
		}
	}
	return out
}

// RedactConfig gives a trigger's config to somebody who may not manage its
// blueprint: secrets are null.
func RedactConfig(config map[string]any) map[string]any {
	out := maps.Clone(config)
	for _, name := range SecretTriggerConfig {
		if _, given := out[name]; given {
			out[name] = nil
		}
	}
	return out
}

// MergeConfig applies an update to a config, top-level key by key: null removes
// one, but a secret sent as null stays; an empty secret is removed. A secret that
// changes takes the one before it along, unless the update says what becomes of
// that one.
func MergeConfig(before, change map[string]any) map[string]any {
	out := maps.Clone(before)
	if out == nil {
		out = map[string]any{}
	}
	for _, keys := range [][3]string{{"secret", "previousSecret", "previousSecretUntil"}, {"signingSecret", "previousSigningSecret", "previousSigningSecretUntil"}} {
		value := change[keys[0]]
		if _, named := change[keys[1]]; value != nil && !Equal(value, before[keys[0]]) && !named {
			delete(out, keys[1])
			delete(out, keys[2])
		}
	}
	for name, value := range change {
		secret := slices.Contains(SecretTriggerConfig, name)
		switch {
		case secret && value == nil:
		case value == nil, secret && value == "":
			delete(out, name)
		default:
			out[name] = value
		}
	}
	return out
}
