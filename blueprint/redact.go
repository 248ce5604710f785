package blueprint

import (
	"cmp"
	"maps"
	"slices"
)

// RedactVariables returns environment_variables for a reader who may not manage
// the blueprint: of every secret variable the default is null, and so is each
// key of unknown meaning.
func RedactVariables(list []any) []any {
	return mapSecrets(list, func(element map[string]any) {
		for name := range element {
			if hiddenOfVariable(name) {
				element[name] = nil
			}
		}
	})
}

// HiddenOfVariable returns the keys, as they are spelled, that a definition hides
// because it is of a secret variable.
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

// KeepSecrets completes an update of environment_variables: of a secret variable
// whatever is sent as null stays as it was in the variable of that name, and an
// empty default is removed. Keys get their known spelling.
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

// HoldsSecretVariable reports whether environment_variables must not be stored in
// plain text: a secret variable has a default, or a key of unknown meaning.
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

// SpelledVariables returns environment_variables with every known key in its known
// spelling.
func SpelledVariables(list []any) []any {
	if list == nil {
		return nil
	}
	return mapSecrets(list, func(map[string]any) {})
}

// mapSecrets returns list with every key in its known spelling, and change applied
// to copies of the secret variables.
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

// RedactConfig returns a trigger's config to somebody who may not manage its
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
