package triggers

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// guardWords are parts of the names of keys that are meant to keep senders out.
// Under a name that is not known such a key would guard nothing.
var guardWords = []string{"secret", "token", "hmac", "signature", "password", "sender", "from", "allow", "domain", "filter", "auth", "verify"}

func guards(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(key, word) })
}

// rightKey returns what a type of trigger has for a guarding key of another name,
// "" when it has none.
func rightKey(kind blueprint.TriggerType, key string) string {
	proof, origin := guards(key, "secret", "token", "hmac", "signature", "password", "auth", "verify"), guards(key, "sender", "from", "allow", "domain", "filter")
	switch {
	case kind == blueprint.TriggerWebhook && proof:
		return `"secret"`
	case kind == blueprint.TriggerSlack && proof:
		return `"signingSecret"`
	case kind == blueprint.TriggerSlack && guards(key, "filter", "allow"):
		return `"channel" or "eventType"`
	case kind == blueprint.TriggerEmail && guards(key, "auth", "verify", "signature"):
		return `"requireAuth", and "allowFrom" for the senders`
	case kind == blueprint.TriggerEmail && origin:
		return `"allowFrom"`
	case kind == blueprint.TriggerEvent && guards(key, "filter", "from"):
		return `"event" or "blueprintId"`
	}
	return ""
}

// refusedKey returns why an unknown key is refused: it is meant to guard the
// trigger, or is nearly a key that does. It returns "" for any other.
func refusedKey(kind blueprint.TriggerType, key string) string {
	meant := blueprint.Nearest(key, blueprint.TriggerConfigKeys(kind))
	switch right := rightKey(kind, key); {
	case meant != "" && (guards(key, guardWords...) || guards(meant, guardWords...)):
		return fmt.Sprintf("unknown; did you mean %q?", meant)
	case !guards(key, guardWords...):
		return ""
	case right != "":
		return "unknown; the key of " + blueprint.WithArticle(string(kind)) + " trigger is " + right
	}
	return "unknown; " + blueprint.WithArticle(string(kind)) + " trigger takes none"
}

func (c *checker) unknown(kind blueprint.TriggerType) {
	for _, key := range blueprint.UnknownTriggerKeys(kind, c.config) {
		if message := refusedKey(kind, key); message != "" && len(c.issues) < blueprint.MaxIssues {
			c.refuse(message, key)
			c.issues[len(c.issues)-1].Spot.Name = true
		}
	}
}

// Warnings names the unknown keys of a config that Check accepts: they are kept and
// have no effect. Paths start at the config.
func Warnings(kind blueprint.TriggerType, config map[string]any) (issues []blueprint.Issue) {
	known := blueprint.TriggerConfigKeys(kind)
	for _, key := range blueprint.UnknownTriggerKeys(kind, config) {
		if refusedKey(kind, key) != "" || len(issues) == blueprint.MaxIssues {
			continue
		}
		hint := blueprint.DidYouMean(key, known)
		switch {
		case kind == blueprint.TriggerEvent && strings.EqualFold(strings.ReplaceAll(key, "_", ""), "eventType"):
			hint = `; did you mean "event"?`
		case hint == "":
			hint = "; known keys: " + strings.Join(known, ", ")
		}
		issues = append(issues, blueprint.Issue{Path: []any{key}, Message: "unknown key, kept without effect" + hint, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{Name: true}})
	}
	return issues
}

// Settle returns the config of a trigger that change makes of the one before, nil
// for a new trigger, in the known spelling of its keys. Issues say what is wrong
// with it; their paths start at the config and name keys as change does. It
// changes neither argument.
func Settle(kind blueprint.TriggerType, before, change map[string]any) (config map[string]any, issues []blueprint.Issue) {
	change, renamed, issues := blueprint.TriggerConfigSpelling(kind, change)
	if len(issues) > 0 {
		return nil, issues
	}
	if config = change; before != nil {
		config = blueprint.MergeConfig(before, change)
	} else if config == nil {
		config = map[string]any{}
	}
	issues = Check(kind, config)
	for i := range issues {
		if len(issues[i].Path) == 0 {
			continue
		}
		if key, _ := issues[i].Path[0].(string); renamed[key] != "" {
			issues[i].Path[0] = renamed[key]
		}
	}
	return config, issues
}
