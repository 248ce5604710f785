package triggers

import (
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

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
