// Package signature verifies the signatures of deliveries. It has the schemes of
// services, which of them a trigger accepts, and the facts about a refused signature.
//
// Check verifies a delivery; the rest is for explaining a wrong signature. No text of
// this package contains a secret or a digest.
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

// Window is the maximum difference between a signed timestamp and the clock.
const Window = 5 * time.Minute

// Scheme is a way to authenticate a sender by a secret: a header with an HMAC-SHA256 of
// the body and of what is signed before it.
type Scheme struct {
	Header string // in canonical spelling
	Form   string // of the header, in words
	// Key derives the key from a secret; nil = its bytes.
	Key func(secret string) []byte
	// Read parses the header, or returns what is wrong with it, to follow its name.
	Read func(value string, d *blueprint.Delivery) (Claim, string)
	// write encodes a signature for the header.
	write func(mac []byte) string
}

// Claim is the content of a signature header.
type Claim struct {
	Before string   // signed before the body
	Stamp  string   // signed time, in seconds since 1970
	Timer  string   // name of the header or field with Stamp; "" = the scheme has none
	given  []string // signatures, one of which must match
	Lacks  bool     // whether something is missing that must be sent with them
}

const mismatch = "does not match: the body or the secret differs from what the sender signed"

// Verify verifies the signatures of a delivery. At least one of the schemes must be
// present, and all that are present must be valid. Otherwise it returns the failed
// scheme, nil if none of several is present, and the reason.
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

// Verify verifies one header. It returns the reason of a failure, to follow its name.
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

// Stale returns why the signed time is not accepted, "" if it is.
func (c *Claim) Stale(at time.Time) string {
	if c.Timer == "" {
		return ""
	}
	sent, err := strconv.ParseUint(c.Stamp, 10, 40)
	if err != nil || strings.HasPrefix(c.Stamp, "+") {
		return "has no valid time: " + c.Timer + " is not a number of seconds since 1970"
	}
	if away := at.Sub(time.Unix(int64(sent), 0)); away > Window || away < -Window {
		return fmt.Sprintf("is too old or too new: %s is %s from the server's clock; at most %s are allowed", c.Timer, blueprint.InWords(away), blueprint.InWords(Window))
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

// Check verifies the signature of a delivery if the trigger has a secret, and sets the
// reason of the firing. Signed times are compared with at, when the delivery was
// received; the previous secret must be valid now.
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
	addFacts(d, failed, tried)
	return blueprint.Errorf(blueprint.CodeUnauthorized, "%s", reason).WithReason(blueprint.ReasonSignature)
}

// SchemesOf returns the schemes that a trigger accepts, nil if its preset is unknown.
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

// WasForged reports whether the signature of a delivery was refused and cannot be
// verified again, because the trigger no longer has a secret.
func WasForged(trigger *blueprint.Trigger, d *blueprint.Delivery) bool {
	return d != nil && d.Facts[FactExpected] != nil && trigger.Config[blueprint.KindOf(trigger.Type).Secrets.Secret] == nil
}

// Previous returns the previous secret while it is valid, otherwise "". One without an
// end is invalid.
func Previous(config map[string]any, keys blueprint.TriggerSecrets, now time.Time) string {
	text, _ := config[keys.Until].(string)
	until, err := time.Parse(time.RFC3339, text)
	secret, _ := config[keys.Previous].(string)
	if err != nil || !now.Before(until) || strings.TrimSpace(secret) == "" {
		return ""
	}
	return secret
}
