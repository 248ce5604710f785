package triggers

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

const (
	maxText   = 200 // bytes
	maxSecret = 1000
)

// Check returns what is wrong with a trigger's config, whose keys have their known
// spelling; nil when nothing is. Paths start at the config. Null is the same as
// absent.
func Check(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	c := &checker{kind: KindOf(kind), config: config}
	if blueprint.KindOf(kind).Type == "" {
		c.refuse("is no config of a known trigger type")
	}
	for i := range c.kind.fields {
		f := &c.kind.fields[i]
		f.value.check(c, f)
	}
	c.unknown()
	return c.issues
}

// checker gathers what is wrong with a config.
type checker struct {
	kind   *Kind
	config map[string]any
	issues []blueprint.Issue
}

func (c *checker) refuse(message string, path ...any) {
	c.issues = append(c.issues, blueprint.Issue{Path: append([]any{}, path...), Message: message})
}

func (c *checker) required(key string) {
	if c.config[key] == nil {
		c.refuse("required", key)
	}
}

// text returns the value of a key that holds a string, and false when there is
// nothing to look at any more.
func (c *checker) text(key string, most int) (string, bool) {
	value := c.config[key]
	if value == nil {
		return "", false
	}
	text, ok := value.(string)
	switch {
	case !ok:
		c.refuse("must be a string", key)
	case len(text) > most:
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

// guardWords are parts of the names of keys that are meant to keep senders out.
// Under a name that is not known such a key would guard nothing.
var guardWords = []string{"secret", "token", "hmac", "signature", "password", "sender", "from", "allow", "domain", "filter", "auth", "verify"}

// proofWords are those of guardWords that stand for a proof of who the sender is.
var proofWords = []string{"secret", "token", "hmac", "signature", "password", "auth", "verify"}

func guards(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(key, word) })
}

// refusedKey returns why an unknown key is refused: it is meant to guard the
// trigger, or is nearly a key that does. It returns "" for any other.
func (k *Kind) refusedKey(key string) string {
	meant := blueprint.Nearest(key, blueprint.TriggerConfigKeys(k.Type))
	switch right := k.guard(key); {
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

// Warnings names the unknown keys of a config that Check accepts: they are kept and
// have no effect. Paths start at the config.
func Warnings(kind blueprint.TriggerType, config map[string]any) (issues []blueprint.Issue) {
	k, known := KindOf(kind), blueprint.TriggerConfigKeys(kind)
	for _, key := range blueprint.UnknownTriggerKeys(kind, config) {
		if k.refusedKey(key) != "" || len(issues) == blueprint.MaxIssues {
			continue
		}
		hint := blueprint.DidYouMean(key, known)
		switch meant := k.meant[strings.ToLower(strings.ReplaceAll(key, "_", ""))]; {
		case meant != "":
			hint = fmt.Sprintf("; did you mean %q?", meant)
		case hint == "":
			hint = "; known keys: " + strings.Join(known, ", ")
		}
		issues = append(issues, blueprint.Issue{Path: []any{key}, Message: "unknown key, kept without effect" + hint, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{OnKey: true}})
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
