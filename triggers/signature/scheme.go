package signature

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

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
