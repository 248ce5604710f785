package triggers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

const (
	maxText   = 200 // bytes
	maxSecret = 1000
)

// Check validates a trigger's config, whose keys must have their canonical spelling.
// Paths of the issues start at the config. Null is the same as absent.
func Check(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	c := &checker{kind: KindOf(kind), config: config}
	if blueprint.KindOf(kind).Type == "" {
		c.refuse("is not a config of a known trigger type")
	}
	for i := range c.kind.fields {
		f := &c.kind.fields[i]
		f.value.check(c, f)
	}
	c.unknown()
	return c.issues
}

// checker collects the issues of a config.
type checker struct {
	kind   *Kind
	config map[string]any
	issues []blueprint.Issue
}

func (c *checker) refuse(message string, path ...any) {
	c.issues = append(c.issues, blueprint.Issue{Path: slices.Clone(path), Message: message})
}

func (c *checker) required(key string) {
	if c.config[key] == nil {
		c.refuse("required", key)
	}
}

// text returns the value of a key. It returns false if there is nothing left to
// validate.
func (c *checker) text(key string, limit int) (string, bool) {
	value := c.config[key]
	if value == nil {
		return "", false
	}
	text, ok := value.(string)
	switch {
	case !ok:
		c.refuse("must be a string", key)
	case len(text) > limit:
		c.refuse("is too long", key)
		ok = false
	}
	return text, ok
}

func (c *checker) choice(key string, choices ...string) {
	if text, ok := c.text(key, maxText); ok && !slices.Contains(choices, text) {
		c.refuse("must be one of "+strings.Join(choices, ", "), key)
	}
}

// guardWords are parts of the names of keys that are meant to authenticate or filter
// senders. An unknown key with such a name is an error, because it would have no
// effect.
var guardWords = []string{"secret", "token", "hmac", "signature", "password", "sender", "from", "allow", "domain", "filter", "auth", "verify"}

// proofWords are the guardWords about authentication.
var proofWords = []string{"secret", "token", "hmac", "signature", "password", "auth", "verify"}

func guards(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(key, word) })
}

// refusedKey returns why an unknown key is an error: it is named like a guard, or
// nearly like a known one. It returns "" for any other.
func (k *Kind) refusedKey(key string) string {
	meant := blueprint.Nearest(key, blueprint.TriggerConfigKeys(k.Type))
	right := ""
	if k.guard != nil {
		right = k.guard(key)
	}
	switch {
	case meant != "" && (guards(key, guardWords...) || guards(meant, guardWords...)):
		return fmt.Sprintf("unknown; did you mean %q?", meant)
	case !guards(key, guardWords...):
		return ""
	case right != "":
		return "unknown; the key of " + blueprint.WithArticle(string(k.Type)) + " trigger is " + right
	}
	return "unknown; " + blueprint.WithArticle(string(k.Type)) + " trigger takes none"
}

func (c *checker) unknown() {
	for _, key := range blueprint.UnknownTriggerKeys(c.kind.Type, c.config) {
		if message := c.kind.refusedKey(key); message != "" && len(c.issues) < blueprint.MaxIssues {
			c.refuse(message, key)
			c.issues[len(c.issues)-1].Spot.OnKey = true
		}
	}
}

// Warnings returns the unknown keys of a config that Check accepts, which have no
// effect. Paths start at the config.
func Warnings(kind blueprint.TriggerType, config map[string]any) (issues []blueprint.Issue) {
	k, known := KindOf(kind), blueprint.TriggerConfigKeys(kind)
	for _, key := range blueprint.UnknownTriggerKeys(kind, config) {
		if k.refusedKey(key) != "" || len(issues) == blueprint.MaxIssues {
			continue
		}
		hint := blueprint.DidYouMean(key, known)
		switch meant := k.aliases[strings.ToLower(strings.ReplaceAll(key, "_", ""))]; {
		case meant != "":
			hint = fmt.Sprintf("; did you mean %q?", meant)
		case hint == "":
			hint = "; known keys: " + strings.Join(known, ", ")
		}
		issues = append(issues, blueprint.Issue{Path: []any{key}, Message: "unknown key, kept without effect" + hint, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{OnKey: true}})
	}
	return issues
}

// Settle applies change to the previous config, nil for a new trigger, and returns
// the result with canonical keys, and its issues. Paths start at the config and use
// the keys of change. It does not modify its arguments.
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
		if path := issues[i].Path; len(path) > 0 {
			key, _ := path[0].(string)
			path[0] = cmp.Or(renamed[key], key)
		}
	}
	return config, issues
}
