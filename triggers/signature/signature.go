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
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// Window is the maximum difference between a signed timestamp and the clock.
const Window = 5 * time.Minute

// Scheme is a way to authenticate a sender by a secret: a header with an HMAC-SHA256 of the
// body and of a text before it.
type Scheme struct {
	Header string // in canonical spelling
	Form   string // of the header, in words
	// Key derives the key from a secret; nil = its bytes.
	Key func(secret string) []byte
	// Read parses the header, or returns its problem as a text that follows its name.
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
	Lacks  bool     // whether another required header or field is missing
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
		return schemes[0], "the signature is missing: " + schemes[0].Header + " is required, with " + schemes[0].Form
	}
	return nil, "the signature is missing: send X-Webhook-Signature with the hexadecimal HMAC-SHA256 of the body, or the headers of Standard Webhooks"
}

// Verify verifies one header. It returns why that failed, as a text after its name.
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

// Stale returns the reason why the signed time is not accepted, "" if it is accepted.
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
		if trigger.Config["form"] == nil { // a form is never signed
			firing.SetReason(blueprint.NewReason(blueprint.ReasonUnsigned))
		}
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

// Headers of Standard Webhooks.
const (
	StandardSignature = "Webhook-Signature"
	StandardID        = "Webhook-Id"
	StandardTimestamp = "Webhook-Timestamp"
)

// The known schemes.
var (
	github   = Hex("X-Hub-Signature-256")
	Standard = &Scheme{
		Header: StandardSignature, Key: StandardKey, Read: readStandard,
		Form:  "v1, and 44 characters of base64, one or several with a blank between them, beside Webhook-Id and Webhook-Timestamp",
		write: func(mac []byte) string { return base64.StdEncoding.EncodeToString(mac) },
	}
	Stripe = &Scheme{
		Header: "Stripe-Signature", Read: readStripe, write: hex.EncodeToString,
		Form: "t= and the seconds since 1970, then v1= and 64 hexadecimal digits, one or several, with a comma between them",
	}
	Slack = &Scheme{
		Header: "X-Slack-Signature", Read: readSlack, Form: "v0= and 64 hexadecimal digits, beside X-Slack-Request-Timestamp",
		write: func(mac []byte) string { return "v0=" + hex.EncodeToString(mac) },
	}
	// Usual are the schemes of a trigger without a preset.
	Usual = []*Scheme{Hex("X-Webhook-Signature"), Hex("X-Signature"), github, Standard}
)

// Hex returns the scheme of a header with the hexadecimal HMAC-SHA256 of the body, in any
// letter case, with or without the prefix "sha256=".
func Hex(name string) *Scheme {
	return &Scheme{
		Header: name, Form: "64 hexadecimal digits, with or without sha256= before them", write: hex.EncodeToString,
		Read: func(value string, _ *blueprint.Delivery) (Claim, string) {
			if prefix := "sha256="; len(value) >= len(prefix) && strings.EqualFold(value[:len(prefix)], prefix) {
				value = value[len(prefix):]
			}
			if given, err := hex.DecodeString(value); err != nil || len(given) != sha256.Size {
				return Claim{}, "is not one HMAC-SHA256 of 64 hexadecimal digits"
			}
			return Claim{given: []string{strings.ToLower(value)}}, ""
		},
	}
}

// readStandard parses a list, separated by blanks, of "v1," and base64.
func readStandard(value string, d *blueprint.Delivery) (Claim, string) {
	id, stamp := Header(d, StandardID), Header(d, StandardTimestamp)
	if len(id) != 1 || id[0] == "" || len(stamp) != 1 {
		return Claim{Lacks: true}, "needs Webhook-Id and Webhook-Timestamp, once each"
	}
	c := Claim{Before: id[0] + "." + stamp[0] + ".", Stamp: stamp[0], Timer: StandardTimestamp}
	for entry := range strings.FieldsSeq(value) {
		if given, ok := strings.CutPrefix(entry, "v1,"); ok {
			c.given = append(c.given, given)
		}
	}
	return c, ""
}

// StandardKey returns the key of Standard Webhooks: the decoded bytes after whsec_, or
// else the secret itself.
func StandardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

// readStripe parses a list, separated by commas, with one t= and any number of v1=.
func readStripe(value string, _ *blueprint.Delivery) (Claim, string) {
	c, stamps := Claim{Timer: "t"}, 0
	for entry := range strings.SplitSeq(value, ",") {
		switch name, text, _ := strings.Cut(entry, "="); name {
		case "t":
			c.Stamp, c.Before = text, text+"."
			stamps++
		case "v1":
			c.given = append(c.given, text)
		}
	}
	if stamps != 1 {
		return Claim{Lacks: true}, "needs t= and the seconds since 1970, once"
	}
	return c, ""
}

func readSlack(value string, d *blueprint.Delivery) (Claim, string) {
	stamp := Header(d, "X-Slack-Request-Timestamp")
	if len(stamp) != 1 {
		return Claim{Lacks: true}, "needs X-Slack-Request-Timestamp, once"
	}
	return Claim{Before: "v0:" + stamp[0] + ":", Stamp: stamp[0], Timer: "X-Slack-Request-Timestamp", given: []string{value}}, ""
}

// Preset is a value of config.preset: how a service signs deliveries, and where it puts
// the delivery id. Other signatures are ignored.
type Preset struct {
	Scheme *Scheme
	IDIn   string // header with the id; "" = it is in the body
	ID     string // member of the body with the id
	Greets bool   // whether the service verifies the address with a challenge
}

// Presets are the presets by name.
var Presets = map[string]*Preset{
	"github":   {Scheme: github, IDIn: "X-GitHub-Delivery"},
	"stripe":   {Scheme: Stripe, ID: "id"},
	"slack":    {Scheme: Slack, ID: "event_id", Greets: true},
	"standard": {Scheme: Standard, IDIn: StandardID},
}

// PresetNames returns the names in order.
func PresetNames() []string { return slices.Sorted(maps.Keys(Presets)) }

// PresetOf returns the preset of a trigger, nil if it has none, and false if its preset
// is unknown, in which case every delivery must be refused.
func PresetOf(trigger *blueprint.Trigger) (*Preset, bool) {
	value := trigger.Config["preset"]
	if value == nil {
		return nil, true
	}
	name, _ := value.(string)
	p := Presets[name]
	return p, p != nil
}

// Names of the facts about a refused signature.
const (
	FactHeader   = "signatureHeader" // the wrong header; null = none was sent
	FactForm     = "signatureForm"   // its form, in words
	FactExpected = "expectedForm"    // the expected form, in words
	FactBytes    = "bodyBytes"       // length of the verified body
	FactTried    = "secretTried"     // the config keys of the secrets
)

// addFacts adds the facts about a refused signature, without its value.
func addFacts(d *blueprint.Delivery, failed *Scheme, tried string) {
	name, form := any(nil), "none"
	expected := "64 hexadecimal digits in X-Webhook-Signature or X-Signature, or the headers of Standard Webhooks"
	if failed != nil {
		expected = failed.Form
		if values := Header(d, failed.Header); values != nil {
			name, form = failed.Header, FormOf(values)
		}
	}
	d.AddFact(FactHeader, name)
	d.AddFact(FactForm, form)
	d.AddFact(FactExpected, expected)
	d.AddFact(FactBytes, len(d.Body))
	d.AddFact(FactTried, tried)
}

// marks are the prefixes of signatures in known schemes.
var marks = []string{"sha1=", "sha256=", "sha384=", "sha512=", "v0=", "v1=", "v1,", "v1a,", "v2,", "t="}

// maxEntries is the maximum number of described entries of a list.
const maxEntries = 4

// FormOf describes the form of a signature header, without its value except for marks.
func FormOf(values []string) string {
	if len(values) != 1 {
		return fmt.Sprintf("sent %d times", len(values))
	}
	if values[0] == "" {
		return "empty"
	}
	blanks := strings.Fields(values[0])
	if len(blanks) == 0 {
		return "blank"
	}
	entries := blanks
	if len(blanks) == 1 && !strings.HasPrefix(blanks[0], "v1,") {
		entries = strings.Split(blanks[0], ",")
	}
	var words []string
	for i, entry := range entries {
		if i == maxEntries {
			words = append(words, fmt.Sprintf("%d more", len(entries)-i))
			break
		}
		words = append(words, entryForm(entry))
	}
	return strings.Join(words, "; ")
}

func entryForm(entry string) string {
	prefix := ""
	for _, mark := range marks {
		if len(entry) >= len(mark) && strings.EqualFold(entry[:len(mark)], mark) {
			prefix, entry = mark+" and ", entry[len(mark):]
			break
		}
	}
	switch {
	case entry == "":
		return prefix + "nothing"
	case only(entry, "0123456789") && len(entry) <= 12:
		return fmt.Sprintf("%s%d digits", prefix, len(entry))
	case only(entry, "0123456789abcdefABCDEF"):
		return fmt.Sprintf("%s%d hexadecimal digits", prefix, len(entry))
	case only(entry, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/=-_"):
		return fmt.Sprintf("%s%d characters of base64", prefix, len(entry))
	}
	return fmt.Sprintf("%s%d characters", prefix, len(entry))
}

// only reports whether a text consists of the given characters.
func only(text, characters string) bool { return strings.Trim(text, characters) == "" }

// Confidential are the headers with credentials, which are not stored.
var Confidential = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// IsProof reports whether a header, its name in lower case, authenticates a sender here or
// elsewhere, such as X-Hub-Signature-256, X-Gitlab-Token or X-Shopify-Hmac-Sha256. It is
// stored for redelivery, but never shown, nor passed to runs, because more users can see
// runs than the trigger.
func IsProof(name string) bool {
	return slices.ContainsFunc(proofWords, func(word string) bool { return strings.Contains(name, word) })
}

var proofWords = []string{"signature", "hmac", "token", "secret", "password", "api-key", "apikey", "credential", "authorization"}

// Header returns the values of a header of a delivery. The name is case-insensitive.
func Header(d *blueprint.Delivery, name string) []string {
	name = strings.ToLower(name)
	if IsProof(name) {
		return d.Proof[name]
	}
	return d.Header[name]
}
