package triggers

import (
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// configKeys are the keys of a config that mean something, besides those of every
// trigger.
var configKeys = map[blueprint.TriggerType][]string{
	blueprint.TriggerScheduled: {"cron", "timezone", "catchUp"},
	blueprint.TriggerWebhook:   {"secret", "previousSecret", "previousSecretUntil", "respond", "preset"},
	blueprint.TriggerSlack:     {"signingSecret", "previousSigningSecret", "previousSigningSecretUntil", "eventType", "connectionId", "channel"},
	blueprint.TriggerEmail:     {"allowFrom", "attachments", "requireAuth", "address"},
	blueprint.TriggerEvent:     {"event", "blueprintId"},
	blueprint.TriggerAPI:       {"label", "inputSchema"},
}

var keysOfEvery = []string{"concurrency", "breaker", "record"}

// misspelt refuses keys that are not known and nearly one that is: a secret
// under a name with a slip would leave its webhook open to everybody. Other
// unknown keys are whoever wrote them's own.
func (c *checker) misspelt(kind blueprint.TriggerType) {
	known := slices.Concat(configKeys[kind], keysOfEvery)
	for _, key := range slices.Sorted(maps.Keys(c.config)) {
		if c.config[key] == nil || slices.Contains(known, key) {
			continue
		}
		if meant := blueprint.Nearest(key, known); meant != "" {
			c.refuse(fmt.Sprintf("unknown; did you mean %q?", meant), key)
			c.issues[len(c.issues)-1].Spot.Name = true
		}
		if len(c.issues) == blueprint.MaxIssues {
			return
		}
	}
}
