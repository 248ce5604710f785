package triggers

import (
	"errors"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

const (
	maxText   = 200 // bytes
	maxSecret = 1000
)

// Check returns what is wrong with a trigger's config, whose keys have their known
// spelling; nil when nothing is. Paths start at the config. Null is the same as
// absent.
func Check(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	c := &checker{config: config}
	switch kind {
	case blueprint.TriggerScheduled:
		_, c.issues = ReadSchedule(config)
	case blueprint.TriggerWebhook:
		c.secrets(kind)
		c.choice("respond", "accept", "wait")
		c.preset()
	case blueprint.TriggerSlack:
		c.secrets(kind)
		c.text("eventType", maxText)
		c.uuid("connectionId")
		c.channel()
	case blueprint.TriggerEmail:
		c.senders("allowFrom")
		c.choice("attachments", "store", "ignore")
		c.flag("requireAuth")
	case blueprint.TriggerEvent:
		c.event("event")
		c.uuid("blueprintId")
	case blueprint.TriggerAPI:
		if text, ok := c.text("label", maxText); ok && strings.ContainsFunc(text, blueprint.Disturbs) {
			c.refuse("must be one line, without control characters and others that are not seen", "label")
		}
		c.schema("inputSchema")
	case blueprint.TriggerManual:
	default:
		c.refuse("is no config of a known trigger type")
	}
	c.concurrency()
	c.flag("breaker")
	c.flag("record")
	c.unknown(kind)
	return c.issues
}

// checker gathers what is wrong with a config.
type checker struct {
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

// text gives the value of a key that holds a string, and false when there is
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

// secret refuses what looks like a secret and is none.
func (c *checker) secret(key string, needed bool) {
	text, ok := c.text(key, maxSecret)
	switch {
	case !ok || strings.TrimSpace(text) != "":
	case needed:
		c.refuse("required; must not be empty", key)
	default:
		c.refuse("must not be empty; leave it out for none", key)
	}
}

func (c *checker) choice(key string, choices ...string) {
	if text, ok := c.text(key, maxText); ok && !slices.Contains(choices, text) {
		c.refuse("must be one of "+strings.Join(choices, ", "), key)
	}
}

func (c *checker) flag(key string) {
	if _, ok := c.config[key].(bool); !ok && c.config[key] != nil {
		c.refuse("must be true or false", key)
	}
}

func (c *checker) uuid(key string) {
	if text, ok := c.text(key, maxText); ok && !blueprint.IsUUID(text) {
		c.refuse("must be a UUID", key)
	}
}

func (c *checker) event(key string) {
	text, ok := c.text(key, blueprint.MaxEventName)
	switch {
	case !ok || blueprint.IsCustomEvent(text) || slices.Contains(blueprint.ServiceEvents, text):
	default:
		c.refuse("must be "+strings.Join(blueprint.ServiceEvents, ", ")+", or custom.<name>, with a name of letters, digits, _, . and -, as an emit-event node raises it", key)
	}
}

// senders checks a list of addresses and @domains.
func (c *checker) senders(key string) {
	value := c.config[key]
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		c.refuse("must be a list of addresses and @domains", key)
	}
	for i, element := range list {
		text, _ := element.(string)
		_, domain, found := strings.Cut(text, "@")
		if !found || domain == "" || len(text) > maxText || strings.ContainsAny(text, " \t\r\n<>,") {
			c.refuse("write @example.org for a domain, ada@example.org for an address", key, i)
		}
	}
}

func (c *checker) schema(key string) {
	value := c.config[key]
	if value == nil {
		return
	}
	_, err := jsonschema.Compile(value)
	_, isObject := value.(map[string]any)
	var refused *blueprint.Error
	switch {
	case err == nil:
	case !isObject:
		c.refuse("must be a JSON Schema (an object)", key)
	case errors.As(err, &refused) && len(refused.Issues) > 0:
		for _, issue := range refused.Issues {
			c.refuse(issue.Message, append([]any{key}, issue.Path...)...)
		}
	default:
		c.refuse("must be a JSON Schema: "+err.Error(), key)
	}
}
