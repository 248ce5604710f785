package triggers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

var keysOfEvery = []string{"concurrency", "breaker"}

// misspelt refuses keys that are not known and nearly one that is: a secret
// under a name with a slip would leave its webhook open to everybody. Other
// unknown keys are whoever wrote them's own.
func (c *checker) misspelt(kind blueprint.TriggerType) {
	known := slices.Concat(configKeys[kind], keysOfEvery)
	for _, key := range slices.Sorted(maps.Keys(c.config)) {
		if c.config[key] == nil || slices.Contains(known, key) {
			continue
		}
		if meant := nearest(key, known); meant != "" {
			c.refuse(fmt.Sprintf("unknown; did you mean %q?", meant), key)
		}
		if len(c.issues) == blueprint.MaxIssues {
			return
		}
	}
}

// nearest gives the known key that is meant by another one, "" when none is: in
// any letter case up to two slips away, one for a key of five letters or fewer.
func nearest(key string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		most := 2
		if len(one) <= 5 {
			most = 1
		}
		if slips := slipsBetween(strings.ToLower(key), strings.ToLower(one), most); slips <= most && slips < least {
			best, least = one, slips
		}
	}
	return best
}

// slipsBetween counts the letters that are changed, missing, too many or swapped
// with their neighbour between two words; what is more than most may be any such
// number.
func slipsBetween(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	var before, last []int // the rows above the present one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(changed, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
