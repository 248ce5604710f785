// Package signature tells who signed a delivery, and how: the schemes with which
// services prove by a secret that a delivery is theirs, which of them a trigger
// takes, and what of a signature that was refused may be told.
//
// Check is all of it for a delivery to a trigger; the rest is for who explains why a
// signature was wrong.
// Nothing here holds or shows a secret or a digest in words.
package signature

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

// Window is how far a signed timestamp may lie from the clock, either
// way.
const Window = 5 * time.Minute

// Scheme is a way to prove with a secret who the sender is: a header with an
// HMAC-SHA256 of the body and of what stands before it.
type Scheme struct {
	Header string // as its inventor writes it
	Form   string // of the header, in words
	// Key makes the key of a secret; nil takes its bytes.
	Key func(secret string) []byte
	// Read takes the header apart, or says in words that follow its name what
	// is wrong with it.
	Read func(value string, d *blueprint.Delivery) (Claim, string)
	// write returns a signature as the header has it.
	write func(mac []byte) string
}

// Claim is what a signature header says.
type Claim struct {
	Before string   // what was signed before the body
	Stamp  string   // when, in seconds since 1970
	Timer  string   // what has the stamp, as one calls it; "" = the scheme has none
	given  []string // signatures, one of which must be right
	Lacks  bool     // something that is signed or sent beside them
}

const mismatch = "does not match: the body or the secret differs from what the sender signed"

// Verify tells why the signatures of a delivery do not prove that its sender
// knows the secret, and which scheme failed; "" and nil when they do. At least
// one of the schemes must be there, and every one that is there must be right.
// The scheme is nil when none of several is there.
func Verify(schemes []*Scheme, secret string, d *blueprint.Delivery, at time.Time) (failed *Scheme, reason string) {
	seen := false
	for _, s := range schemes {
		values := Header(d, s.Header)
		if values == nil {
			continue
		}
		seen = true
		if reason := s.Verify(values, secret, d, at); reason != "" {
			return s, s.Header + " " + reason
		}
	}
	switch {
	case seen:
		return nil, ""
	case len(schemes) == 1:
		return schemes[0], "the signature is missing: " + schemes[0].Header + " must be there, with " + schemes[0].Form
	}
	return nil, "the signature is missing: send X-Webhook-Signature with the hexadecimal HMAC-SHA256 of the body, or the headers of Standard Webhooks"
}

// Verify looks at one header. Its reason follows the header's name.
func (s *Scheme) Verify(values []string, secret string, d *blueprint.Delivery, at time.Time) string {
	if len(values) != 1 {
		return "was sent more than once"
	}
	c, reason := s.Read(values[0], d)
	if reason == "" {
		reason = c.Stale(at)
	}
	if reason != "" {
		return reason
	}
	key := []byte(secret)
	if s.Key != nil {
		key = s.Key(secret)
	}
	expected := []byte(s.write(digest(key, []byte(c.Before), d.Body)))
	matches := 0
	for _, given := range c.given {
		matches |= subtle.ConstantTimeCompare([]byte(given), expected)
	}
	if matches == 0 {
		return mismatch
	}
	return ""
}

// Stale tells why the time that was signed does not do.
func (c *Claim) Stale(at time.Time) string {
	if c.Timer == "" {
		return ""
	}
	sent, err := strconv.ParseUint(c.Stamp, 10, 40)
	if err != nil || strings.HasPrefix(c.Stamp, "+") {
		return "has no time: " + c.Timer + " is not a number of seconds since 1970"
	}
	if away := at.Sub(time.Unix(int64(sent), 0)); away > Window || away < -Window {
		return fmt.Sprintf("is of another time: %s is %s from the server's clock; at most %s are allowed", c.Timer, blueprint.InWords(away), blueprint.InWords(Window))
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

// Check verifies the signature when the trigger has a secret, and notes
// in the firing what it went by. Times that the sender signed are held against
// at, when the delivery came; a previous secret proves nothing any more once its
// time is over now.
func Check(trigger *blueprint.Trigger, firing *blueprint.Firing, at, now time.Time) *blueprint.Error {
	keys, d := blueprint.KindOf(trigger.Type).Secrets, firing.Delivery
	value := trigger.Config[keys.Secret]
	schemes := SchemesOf(trigger)
	switch {
	case schemes == nil:
		return blueprint.Errorf(blueprint.CodeUnauthorized, "the trigger's preset is unknown: set another").WithReason(blueprint.ReasonPresetUnknown)
	case value == nil && trigger.Type == blueprint.TriggerWebhook && trigger.Config["preset"] == nil:
		firing.SetReason(blueprint.NewReason(blueprint.ReasonUnsigned))
		return nil
	}
	secret, _ := value.(string)
	if strings.TrimSpace(secret) == "" {
		refused := blueprint.Errorf(blueprint.CodeUnauthorized, "the trigger's secret cannot be used: set another")
		if value == nil {
			refused.Message = "the trigger has no " + keys.Secret + ", so it refuses every delivery: set one"
		}
		return refused.WithReason(blueprint.ReasonSecretUnusable)
	}
	failed, reason := Verify(schemes, secret, d, at)
	if reason == "" {
		firing.SetReason(blueprint.NewReason(blueprint.ReasonSigned))
		return nil
	}
	tried := keys.Secret
	if previous := Previous(trigger.Config, keys, now); previous != "" {
		if _, reason := Verify(schemes, previous, d, at); reason == "" {
			firing.SetReason(blueprint.NewReason(blueprint.ReasonSignedPrevious))
			return nil
		}
		tried += " and " + keys.Previous
	}
	noteSignature(d, failed, tried)
	return blueprint.Errorf(blueprint.CodeUnauthorized, "%s", reason).WithReason(blueprint.ReasonSignature)
}

// SchemesOf returns the schemes by which a sender may prove itself to a trigger:
// nil when its preset is unknown, which lets nobody in.
func SchemesOf(trigger *blueprint.Trigger) []*Scheme {
	preset, known := PresetOf(trigger)
	switch {
	case trigger.Type == blueprint.TriggerSlack:
		return []*Scheme{Slack}
	case !known:
		return nil
	case preset != nil:
		return []*Scheme{preset.Scheme}
	}
	return Usual
}

// WasForged reports whether a signature of a delivery was refused that nothing can
// prove right any more: without a secret anything would be.
func WasForged(trigger *blueprint.Trigger, d *blueprint.Delivery) bool {
	return d != nil && d.Facts[FactExpected] != nil && trigger.Config[blueprint.KindOf(trigger.Type).Secrets.Secret] == nil
}

// Previous returns the secret that was replaced while it is still good, ""
// without one. One without an end is good no longer.
func Previous(config map[string]any, keys blueprint.TriggerSecrets, now time.Time) string {
	text, _ := config[keys.Until].(string)
	until, err := time.Parse(time.RFC3339, text)
	secret, _ := config[keys.Previous].(string)
	if err != nil || !now.Before(until) || strings.TrimSpace(secret) == "" {
		return ""
	}
	return secret
}
