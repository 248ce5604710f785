package blueprint

import (
	"maps"
	"slices"
	"strings"
)

// keysOfEveryTrigger are the config keys of all types.
var keysOfEveryTrigger = []string{"concurrency", "breaker", "record"}

// triggerAliases are spellings of config keys beyond snake_case.
var triggerAliases = map[string]string{"tz": "timezone", "time_zone": "timezone", "timeZone": "timezone"}

// TriggerConfigKeys returns the config keys of a trigger type.
func TriggerConfigKeys(kind TriggerType) []string {
	return slices.Concat(KindOf(kind).Keys, keysOfEveryTrigger)
}

// triggerKey returns the known key for a spelling, "" for an unknown one.
func triggerKey(known []string, name string) string {
	for _, key := range []string{name, triggerAliases[name], camelCase(name)} {
		if slices.Contains(known, key) {
			return key
		}
	}
	return ""
}

// TriggerKeySpellings returns the accepted spellings of a key, itself first.
func TriggerKeySpellings(key string) []string {
	out := []string{key}
	for alias, of := range triggerAliases {
		if of == key {
			out = append(out, alias)
		}
	}
	snake := key
	for i := len(snake) - 1; i > 0; i-- {
		if c := snake[i]; c >= 'A' && c <= 'Z' {
			snake = snake[:i] + "_" + string(c+'a'-'A') + snake[i+1:]
		}
	}
	if snake != key {
		out = append(out, snake)
	}
	slices.Sort(out[1:])
	return out
}

func camelCase(name string) string {
	parts := strings.Split(name, "_")
	for i := range parts[1:] {
		if part := parts[i+1]; part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// TriggerConfigSpelling returns a config with keys in canonical spelling, and the
// original spellings of renamed keys. Two spellings of a key are an issue.
func TriggerConfigSpelling(kind TriggerType, config map[string]any) (out map[string]any, renamed map[string]string, issues []Issue) {
	known := TriggerConfigKeys(kind)
	for _, name := range slices.Sorted(maps.Keys(config)) {
		key := triggerKey(known, name)
		if key == "" || key == name {
			continue
		}
		if out == nil {
			out, renamed = maps.Clone(config), map[string]string{}
		}
		other, twice := renamed[key]
		if _, given := config[key]; given {
			other, twice = key, true
		}
		if twice {
			issues = append(issues, Issue{Path: []any{name}, Message: "is another spelling of " + other + ", which is also given; leave one out", Spot: Spot{OnKey: true}})
			continue
		}
		delete(out, name)
		out[key], renamed[key] = config[name], name
	}
	if out == nil {
		out = config
	}
	return out, renamed, issues
}

// UnknownTriggerKeys returns the unknown keys of a config that have a value, sorted.
func UnknownTriggerKeys(kind TriggerType, config map[string]any) (unknown []string) {
	known := TriggerConfigKeys(kind)
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if config[name] != nil && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// HoldsSecrets reports whether the config must be encrypted: it has a secret or an
// unknown key, which may be one.
func (t *Trigger) HoldsSecrets() bool {
	return len(UnknownTriggerKeys(t.Type, t.Config)) > 0 || slices.ContainsFunc(SecretTriggerConfig, func(name string) bool { return t.Config[name] != nil })
}
