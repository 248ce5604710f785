package triggers

import (
	"strings"
	"time"

	"blueprintd/blueprint"
)

// secretKeys are the config keys of what proves to a trigger who its senders
// are.
type secretKeys struct {
	secret, previous, until string
}

// secretKeysOf has the types of triggers that have secrets.
var secretKeysOf = map[blueprint.TriggerType]secretKeys{
	blueprint.TriggerWebhook: {"secret", "previousSecret", "previousSecretUntil"},
	blueprint.TriggerSlack:   {"signingSecret", "previousSigningSecret", "previousSigningSecretUntil"},
}

// checkSecret verifies the signature when the trigger has a secret, and notes
// in the firing what it went by. Times that the sender signed are held against
// at; a previous secret proves nothing any more once its time is over, whenever
// the delivery came.
func (t *Service) checkSecret(trigger *blueprint.Trigger, firing *blueprint.Firing, at time.Time) *blueprint.Error {
	keys, d := secretKeysOf[trigger.Type], firing.Delivery
	value := trigger.Config[keys.secret]
	schemes := schemesOf(trigger)
	switch {
	case schemes == nil:
		return blueprint.Errorf(blueprint.CodeUnauthorized, "the trigger's preset is unknown: set another").Named(blueprint.ReasonPresetUnknown)
	case value == nil && trigger.Type == blueprint.TriggerWebhook && trigger.Config["preset"] == nil:
		firing.Because(blueprint.Because(blueprint.ReasonUnsigned))
		return nil
	}
	secret, _ := value.(string)
	if strings.TrimSpace(secret) == "" {
		refused := blueprint.Errorf(blueprint.CodeUnauthorized, "the trigger's secret cannot be used: set another")
		if value == nil {
			refused.Message = "the trigger has no " + keys.secret + ", so it refuses every delivery: set one"
		}
		return refused.Named(blueprint.ReasonSecretUnusable)
	}
	failed, reason := verify(schemes, secret, d, at)
	if reason == "" {
		firing.Because(blueprint.Because(blueprint.ReasonSigned))
		return nil
	}
	tried := keys.secret
	if previous := previousSecret(trigger.Config, keys, t.Clock.Now()); previous != "" {
		if _, reason := verify(schemes, previous, d, at); reason == "" {
			firing.Because(blueprint.Because(blueprint.ReasonSignedPrevious))
			return nil
		}
		tried += " and " + keys.previous
	}
	noteSignature(d, failed, tried)
	return blueprint.Errorf(blueprint.CodeUnauthorized, "%s", reason).Named(blueprint.ReasonSignature)
}

// schemesOf gives the schemes by which a sender may prove itself to a trigger:
// nil when its preset is unknown, which lets nobody in.
func schemesOf(trigger *blueprint.Trigger) []*scheme {
	preset, known := presetOf(trigger)
	switch {
	case trigger.Type == blueprint.TriggerSlack:
		return []*scheme{slackScheme}
	case !known:
		return nil
	case preset != nil:
		return []*scheme{preset.scheme}
	}
	return anyScheme
}

// wasForged tells whether a signature of a delivery was refused that nothing can
// prove right any more: without a secret anything would be.
func wasForged(trigger *blueprint.Trigger, d *blueprint.Delivery) bool {
	return d != nil && d.Facts[factExpected] != nil && trigger.Config[secretKeysOf[trigger.Type].secret] == nil
}

// previousSecret gives the secret that was replaced while it is still good, ""
// without one. One without an end is good no longer.
func previousSecret(config map[string]any, keys secretKeys, now time.Time) string {
	text, _ := config[keys.until].(string)
	until, err := time.Parse(time.RFC3339, text)
	secret, _ := config[keys.previous].(string)
	if err != nil || !now.Before(until) || strings.TrimSpace(secret) == "" {
		return ""
	}
	return secret
}
