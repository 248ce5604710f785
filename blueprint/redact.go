package blueprint

import (
	"cmp"
	"maps"
	"slices"
)

// RedactVariables returns environment_variables for readers who may not manage the
// blueprint: defaults and unknown keys of secret variables are null.
func RedactVariables(list []any) []any {
	return mapSecrets(list, func(element map[string]any) {
		for name := range element {
			if hiddenOfVariable(name) {
				element[name] = nil
			}
		}
	})
}

// HiddenOfVariable returns the keys of a secret variable, as spelled, with hidden values.
func HiddenOfVariable(object map[string]any) (hidden []string) {
	spelled, renamed, _ := VariableSpelling(object)
	if spelled["secret"] != true {
		return nil
	}
	for name := range spelled {
		if hiddenOfVariable(name) {
			hidden = append(hidden, cmp.Or(renamed[name], name))
		}
	}
	return hidden
}

// KeepSecrets completes an update of environment_variables: null values of a secret
// variable keep their value, and an empty default is removed. Keys become canonical.
func KeepSecrets(before, after []any) []any {
	kept := map[string]map[string]any{}
	for _, element := range before {
		if object, ok := element.(map[string]any); ok && object["secret"] == true {
			name, _ := object["name"].(string)
			kept[name] = object
		}
	}
	return mapSecrets(after, func(element map[string]any) {
		name, _ := element["name"].(string)
		for key, value := range element {
			if old := kept[name][key]; value == nil && old != nil && hiddenOfVariable(key) {
				element[key] = old
			}
		}
		if element["default"] == "" {
			delete(element, "default")
		}
	})
}

// HoldsSecretVariable reports whether environment_variables must be encrypted: a secret
// variable has a default or an unknown key.
func HoldsSecretVariable(list []any) bool {
	for _, element := range list {
		if object, ok := element.(map[string]any); ok && object["secret"] == true {
			for name, value := range object {
				if value != nil && hiddenOfVariable(name) {
					return true
				}
			}
		}
	}
	return false
}

// SpelledVariables returns environment_variables with keys in canonical spelling.
func SpelledVariables(list []any) []any {
	if list == nil {
		return nil
	}
	return mapSecrets(list, func(map[string]any) {})
}

// mapSecrets returns list with keys in canonical spelling, and change applied to copies
// of the secret variables.
func mapSecrets(list []any, change func(element map[string]any)) []any {
	out := make([]any, len(list))
	for i, element := range list {
		out[i] = element
		if object, ok := element.(map[string]any); ok {
			object, _, _ = VariableSpelling(object)
			out[i] = object
			if object["secret"] == true {
				copied := maps.Clone(object)
				change(copied)
				out[i] = copied
			}
		}
	}
	return out
}

// RedactConfig returns a trigger's config without secrets, for users who may not manage it.
func RedactConfig(config map[string]any) map[string]any {
	out := maps.Clone(config)
	for _, name := range SecretTriggerConfig {
		if _, given := out[name]; given {
			out[name] = nil
		}
	}
	return out
}

// MergeConfig applies an update to a trigger's config by top-level keys: null removes a
// key, but leaves a secret; an empty secret is removed. A change of a secret also
// removes the previous secret unless the update names it.
func MergeConfig(before, change map[string]any) map[string]any {
	out := maps.Clone(before)
	if out == nil {
		out = map[string]any{}
	}
	for _, kind := range triggerKinds {
		keys := kind.Secrets
		value := change[keys.Secret]
		if _, named := change[keys.Previous]; kind.IsSigned() && value != nil && !Equal(value, before[keys.Secret]) && !named {
			delete(out, keys.Previous)
			delete(out, keys.Until)
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
