package triggers

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

const (
	keepPrevious    = 24 * time.Hour // how long a replaced secret stays valid by default
	maxKeepPrevious = 30 * 24 * time.Hour
)

// Rotate returns the config of a trigger with a new secret, and the secret, which is
// random if it is "". The current secret stays valid for keepFor, a Go duration or a
// number of days ("7d"), by default a day; until is the end of that time, zero if
// there is none. An older previous secret becomes invalid. Rotate stores nothing and
// does not modify its argument. Errors are CodeBadRequest, with issues under
// "secret" and "keepPreviousFor".
func (t *Service) Rotate(trigger *blueprint.Trigger, secret, keepFor string) (config map[string]any, newSecret string, until blueprint.Time, err error) {
	kind := blueprint.KindOf(trigger.Type)
	if !kind.IsSigned() {
		return nil, "", 0, blueprint.Errorf(blueprint.CodeBadRequest, "trigger %s is of type %s; only webhook and slack triggers have a secret", trigger.ID, trigger.Type)
	}
	keys := kind.Secrets
	keep, ok := parseKeep(keepFor)
	if !ok {
		return nil, "", 0, wrongInput("keepPreviousFor", `must be a duration from 0s to 30d, such as "24h" or "7d"`)
	}
	if secret == "" {
		secret = t.randomSecret(trigger)
	}
	current := trigger.Config[keys.Secret]
	if current == secret {
		return nil, "", 0, wrongInput("secret", "must differ from the current one")
	}
	change := map[string]any{keys.Secret: secret, keys.Previous: "", keys.Until: nil}
	if current != nil && keep > 0 {
		until = blueprint.TimeOf(t.Clock.Now().Add(keep))
		change[keys.Previous], change[keys.Until] = current, until.String()
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

// randomSecret returns a secret in the form that the trigger's preset requires.
func (t *Service) randomSecret(trigger *blueprint.Trigger) string {
	if trigger.Config["preset"] == "standard" {
		return "whsec_" + base64.StdEncoding.EncodeToString(t.IDs.Bytes(24))
	}
	return base64.RawURLEncoding.EncodeToString(t.IDs.Bytes(32))
}

// parseKeep parses how long the current secret stays valid.
func parseKeep(text string) (time.Duration, bool) {
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
