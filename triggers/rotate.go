package triggers

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

const (
	// keepPrevious is how long a secret that is replaced stays good, unless
	// somebody says otherwise, and maxKeepPrevious the longest.
	keepPrevious    = 24 * time.Hour
	maxKeepPrevious = 30 * 24 * time.Hour
)

// Rotate returns the config of a webhook or Slack trigger with another secret, ""
// for one that is made up, while the present one stays good for a Go duration or
// a number of days ("7d"), "" for a day. It returns that secret as well, and until
// when the one before it is good, zero when it is not. One that was replaced
// earlier is good no longer. It stores nothing and leaves its argument as it is.
// Errors are CodeBadRequest, with issues whose paths are "secret" and
// "keepPreviousFor".
func (t *Service) Rotate(trigger *blueprint.Trigger, secret, keepFor string) (config map[string]any, made string, until blueprint.Time, err error) {
	kind := blueprint.KindOf(trigger.Type)
	if !kind.IsSigned() {
		return nil, "", 0, blueprint.Errorf(blueprint.CodeBadRequest, "trigger %s is of type %s; only webhook and slack triggers have a secret", trigger.ID, trigger.Type)
	}
	keys := kind.Secrets
	keep, ok := readKeep(keepFor)
	if !ok {
		return nil, "", 0, wrongInput("keepPreviousFor", `must be a duration from 0s to 30d, such as "24h" or "7d"`)
	}
	if secret == "" {
		secret = t.madeUp(trigger)
	}
	present := trigger.Config[keys.Secret]
	if present == secret {
		return nil, "", 0, wrongInput("secret", "must be another than the present one")
	}
	change := map[string]any{keys.Secret: secret, keys.Previous: "", keys.Until: nil}
	if present != nil && keep > 0 {
		until = blueprint.TimeOf(t.Clock.Now().Add(keep))
		change[keys.Previous], change[keys.Until] = present, until.String()
	}
	config = blueprint.MergeConfig(trigger.Config, change)
	if issues := Check(trigger.Type, config); len(issues) > 0 {
		for i := range issues {
			if issues[i].Path[0] == keys.Secret {
				issues[i].Path = []any{"secret"}
			}
		}
		return nil, "", 0, blueprint.InvalidInput(issues)
	}
	return config, secret, until, nil
}

func wrongInput(field, message string) error {
	return blueprint.InvalidInput([]blueprint.Issue{{Path: []any{field}, Message: message}})
}

// madeUp makes a secret in the form that suits a trigger's senders.
func (t *Service) madeUp(trigger *blueprint.Trigger) string {
	if trigger.Config["preset"] == "standard" {
		return "whsec_" + base64.StdEncoding.EncodeToString(t.IDs.Bytes(24))
	}
	return base64.RawURLEncoding.EncodeToString(t.IDs.Bytes(32))
}

// readKeep reads how long the present secret stays good.
func readKeep(text string) (time.Duration, bool) {
	if text == "" {
		return keepPrevious, true
	}
	keep, err := time.ParseDuration(text)
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		var days uint64
		days, err = strconv.ParseUint(number, 10, 8)
		keep = time.Duration(days) * 24 * time.Hour
	}
	return keep, err == nil && keep >= 0 && keep <= maxKeepPrevious
}
