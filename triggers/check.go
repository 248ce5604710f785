package triggers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/triggers/signature"
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

// secrets checks what proves who the senders are: the secret, and the one
// before it, which is good for a while.
func (c *checker) secrets(kind blueprint.TriggerType) {
	keys := signature.KeysOf[kind]
	c.secret(keys.Secret, kind == blueprint.TriggerWebhook && c.config["preset"] != nil)
	c.secret(keys.Previous, false)
	until, ok := c.text(keys.Until, maxText)
	if _, err := time.Parse(time.RFC3339, until); ok && err != nil {
		c.refuse("must be a time such as 2030-01-31T12:00:00Z", keys.Until)
	}
	if c.config[keys.Previous] != nil {
		if c.config[keys.Until] == nil {
			c.refuse("required beside "+keys.Previous+": until when that is still good", keys.Until)
		}
		if c.config[keys.Secret] == nil {
			c.refuse("required beside "+keys.Previous, keys.Secret)
		}
	}
}

// preset checks the preset of a webhook, which without a secret would let
// everybody in who believes otherwise.
func (c *checker) preset() {
	c.choice("preset", signature.PresetNames()...)
	if c.config["preset"] != nil && c.config["secret"] == nil {
		c.refuse("required with a preset: what the sender signs with", "secret")
	}
}

// channel checks the channel of a Slack trigger: an id, or the name of one that
// the bot of a connection can see.
func (c *checker) channel() {
	text, ok := c.text("channel", maxText)
	switch name := strings.TrimPrefix(text, "#"); {
	case !ok:
	case name == "" || strings.ContainsAny(name, " \t\r\n,"):
		c.refuse("must be the id of a channel, such as C0123456789, or its name", "channel")
	case !isChannelID(text) && c.config["connectionId"] == nil:
		c.refuse("must be the id of a channel, such as C0123456789; a name needs connectionId, a connection of type slack", "channel")
	}
}

// ConfigSchema describes the config of a trigger type.
type ConfigSchema struct {
	Type        blueprint.TriggerType
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value of its own
	// that the caller may change. It refuses nothing that Check takes.
	Schema map[string]any
}

// ConfigSchemas describes every trigger type, in the order in which people are
// told of them.
func ConfigSchemas() []ConfigSchema {
	text := func(doc string) map[string]any {
		return map[string]any{"type": []any{"string", "null"}, "description": doc}
	}
	secret := func(doc string) map[string]any {
		return map[string]any{"type": []any{"string", "null"}, "minLength": json.Number("1"), "description": doc}
	}
	flag := func(doc string) map[string]any {
		return map[string]any{"type": []any{"boolean", "null"}, "description": doc}
	}
	choice := func(doc string, choices ...string) map[string]any {
		list := make([]any, 0, len(choices)+1)
		for _, one := range choices {
			list = append(list, one)
		}
		return map[string]any{"enum": append(list, nil), "description": doc}
	}
	kept := "how long the secret before this one still holds; the server writes it"
	of := func(kind blueprint.TriggerType, doc string, properties map[string]any, required string) ConfigSchema {
		properties["concurrency"] = map[string]any{
			"type": []any{"object", "null"}, "description": "how many runs of it go on at once", "required": []any{"limit"}, "additionalProperties": false,
			"properties": map[string]any{
				"limit":   map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000"), "description": "how many"},
				"onLimit": choice("what becomes of one more: it waits, is left out, or ends one that runs", onLimits...),
			},
		}
		properties["record"] = flag("whether what its runs exchange with other services is kept")
		properties["breaker"] = flag("whether it is switched off when its runs keep failing")
		schema := map[string]any{"type": []any{"object", "null"}, "properties": properties, "description": doc}
		if required != "" {
			schema["type"] = "object"
			var spellings []any
			for _, name := range blueprint.TriggerKeySpellings(required) {
				spellings = append(spellings, map[string]any{"required": []any{name}})
			}
			schema["anyOf"] = spellings
		}
		return ConfigSchema{kind, doc, schema}
	}
	events := make([]any, 0, len(blueprint.ServiceEvents)+1)
	for _, event := range blueprint.ServiceEvents {
		events = append(events, map[string]any{"const": event})
	}
	events = append(events, map[string]any{"type": "null"}, map[string]any{"type": "string", "pattern": `^custom\.[A-Za-z0-9_.-]+$`})
	return []ConfigSchema{
		of(blueprint.TriggerManual, "Fired by hand.", map[string]any{}, ""),
		of(blueprint.TriggerScheduled, "Fires when a cron expression is due.", map[string]any{
			"cron":     map[string]any{"type": "string", "minLength": json.Number("1"), "description": "minute, hour, day of month, month, weekday: 0 9 * * 1-5; or @hourly, @daily, ...", "examples": []any{"0 9 * * 1-5"}},
			"timezone": text("the IANA name of the time zone, such as Europe/Zurich; UTC when left out"),
			"catchUp":  choice("what becomes of ticks that were missed while the server was down; latest when left out", catchUpLatest, catchUpAll, catchUpNone),
		}, "cron"),
		of(blueprint.TriggerWebhook, "Fires when something is posted to its address.", map[string]any{
			"secret": secret("what senders sign with; without one everybody may post"), "previousSecret": secret("the secret before this one"), "previousSecretUntil": text(kept),
			"respond": choice("accept answers at once, wait with what the run gives; accept when left out", "accept", "wait"),
			"preset":  choice("whose signatures and delivery ids are understood", signature.PresetNames()...),
		}, ""),
		of(blueprint.TriggerEmail, "Fires when mail comes to its address.", map[string]any{
			"allowFrom":   map[string]any{"type": []any{"array", "null"}, "items": map[string]any{"type": "string", "pattern": "@."}, "description": "who may send: addresses, and domains as @example.org"},
			"attachments": choice("what becomes of attached files; store when left out", "store", "ignore"),
			"requireAuth": flag("whether the sender's domain must vouch for the mail"), "address": text("the address; the server chooses it"),
		}, ""),
		of(blueprint.TriggerSlack, "Fires on an event in Slack.", map[string]any{
			"signingSecret": secret("the signing secret of the Slack app; null in a file that came without it"), "previousSigningSecret": secret("the secret before this one"), "previousSigningSecretUntil": text(kept),
			"eventType": text("only events of this type, such as message or app_mention"), "channel": text("only in this channel: its id, or its name when connectionId is given"),
			"connectionId": text("the Slack connection that knows the names of channels"),
		}, ""),
		of(blueprint.TriggerEvent, "Fires on an event of this server.", map[string]any{
			"event":       map[string]any{"anyOf": events, "description": "which one; custom.<name> is what an emit-event node raises; every event but custom ones when left out"},
			"blueprintId": text("only about this blueprint"),
		}, ""),
		of(blueprint.TriggerAPI, "Fires when its address is called with an API key.", map[string]any{
			"label":       text("its name for people, and that of its MCP tool"),
			"inputSchema": map[string]any{"type": []any{"object", "null"}, "description": "the JSON Schema that a body must fit"},
		}, ""),
	}
}
