package triggers

import (
	"strings"
	"time"

	"blueprintd/blueprint"
)

// secrets checks what proves who the senders are: the secret, and the one
// before it, which is good for a while.
func (c *checker) secrets(kind blueprint.TriggerType) {
	keys := secretKeysOf[kind]
	c.secret(keys.secret, kind == blueprint.TriggerWebhook && c.config["preset"] != nil)
	c.secret(keys.previous, false)
	until, ok := c.text(keys.until, maxText)
	if _, err := time.Parse(time.RFC3339, until); ok && err != nil {
		c.refuse("must be a time such as 2030-01-31T12:00:00Z", keys.until)
	}
	if c.config[keys.previous] != nil {
		if c.config[keys.until] == nil {
			c.refuse("required beside "+keys.previous+": until when that is still good", keys.until)
		}
		if c.config[keys.secret] == nil {
			c.refuse("required beside "+keys.previous, keys.secret)
		}
	}
}

// preset checks the preset of a webhook, which without a secret would let
// everybody in who believes otherwise.
func (c *checker) preset() {
	c.choice("preset", presetNames()...)
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
