package triggers

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// signatureWindow is how far a signed timestamp may lie from the clock, either
// way.
const signatureWindow = 5 * time.Minute

// scheme is a way to prove with a secret who the sender is: a header with an
// HMAC-SHA256 of the body and of what stands before it.
type scheme struct {
	header string // as its inventor writes it
	form   string // of the header, in words
	// key makes the key of a secret; nil takes its bytes.
	key func(secret string) []byte
	// read takes the header apart, or says in words that follow its name what
	// is wrong with it.
	read func(value string, d *blueprint.Delivery) (claim, string)
	// write gives a signature as the header has it.
	write func(mac []byte) string
}

// claim is what a signature header says.
type claim struct {
	before string   // what was signed before the body
	stamp  string   // when, in seconds since 1970
	timer  string   // what has the stamp, as one calls it; "" = the scheme has none
	given  []string // signatures, one of which must be right
	lacks  bool     // something that is signed or sent beside them
}

const mismatch = "does not match: the body or the secret differs from what the sender signed"

// verify tells why the signatures of a delivery do not prove that its sender
// knows the secret, and which scheme failed; "" and nil when they do. At least
// one of the schemes must be there, and every one that is there must be right.
// The scheme is nil when none of several is there.
func verify(schemes []*scheme, secret string, d *blueprint.Delivery, at time.Time) (failed *scheme, reason string) {
	seen := false
	for _, s := range schemes {
		values := header(d, s.header)
		if values == nil {
			continue
		}
		seen = true
		if reason := s.verify(values, secret, d, at); reason != "" {
			return s, s.header + " " + reason
		}
	}
	switch {
	case seen:
		return nil, ""
	case len(schemes) == 1:
		return schemes[0], "the signature is missing: " + schemes[0].header + " must be there, with " + schemes[0].form
	}
	return nil, "the signature is missing: send X-Webhook-Signature with the hexadecimal HMAC-SHA256 of the body, or the headers of Standard Webhooks"
}

// verify looks at one header. Its reason follows the header's name.
func (s *scheme) verify(values []string, secret string, d *blueprint.Delivery, at time.Time) string {
	if len(values) != 1 {
		return "was sent more than once"
	}
	c, reason := s.read(values[0], d)
	if reason == "" {
		reason = c.stale(at)
	}
	if reason != "" {
		return reason
	}
	key := []byte(secret)
	if s.key != nil {
		key = s.key(secret)
	}
	expected := []byte(s.write(digest(key, []byte(c.before), d.Body)))
	matches := 0
	for _, given := range c.given {
		matches |= subtle.ConstantTimeCompare([]byte(given), expected)
	}
	if matches == 0 {
		return mismatch
	}
	return ""
}

// stale tells why the time that was signed does not do.
func (c *claim) stale(at time.Time) string {
	if c.timer == "" {
		return ""
	}
	sent, err := strconv.ParseUint(c.stamp, 10, 40)
	if err != nil || strings.HasPrefix(c.stamp, "+") {
		return "has no time: " + c.timer + " is not a number of seconds since 1970"
	}
	if away := at.Sub(time.Unix(int64(sent), 0)); away > signatureWindow || away < -signatureWindow {
		return fmt.Sprintf("is of another time: %s is %s from the server's clock; at most %s are allowed", c.timer, blueprint.InWords(away), blueprint.InWords(signatureWindow))
	}
	return ""
}

func digest(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

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
// at, when the delivery came; a previous secret proves nothing any more once its
// time is over now.
func checkSecret(trigger *blueprint.Trigger, firing *blueprint.Firing, at, now time.Time) *blueprint.Error {
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
	if previous := previousSecret(trigger.Config, keys, now); previous != "" {
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
