package triggers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// The headers of the Standard Webhooks scheme.
const (
	standardSignature = "Webhook-Signature"
	standardID        = "Webhook-Id"
	standardTimestamp = "Webhook-Timestamp"
)

// The schemes. What they sign and how is said by who invented them.
var (
	githubScheme   = hexScheme("X-Hub-Signature-256")
	standardScheme = &scheme{
		header: standardSignature, key: standardKey, read: readStandard,
		form:  "v1, and 44 characters of base64, one or several with a blank between them, beside Webhook-Id and Webhook-Timestamp",
		write: func(mac []byte) string { return base64.StdEncoding.EncodeToString(mac) },
	}
	stripeScheme = &scheme{
		header: "Stripe-Signature", read: readStripe, write: hex.EncodeToString,
		form: "t= and the seconds since 1970, then v1= and 64 hexadecimal digits, one or several, with a comma between them",
	}
	slackScheme = &scheme{
		header: "X-Slack-Signature", read: readSlack, form: "v0= and 64 hexadecimal digits, beside X-Slack-Request-Timestamp",
		write: func(mac []byte) string { return "v0=" + hex.EncodeToString(mac) },
	}
	// anyScheme are those of a trigger that asks for none by name.
	anyScheme = []*scheme{hexScheme("X-Webhook-Signature"), hexScheme("X-Signature"), githubScheme, standardScheme}
)

// hexScheme is a header with the hexadecimal HMAC-SHA256 of the body alone, in
// any letter case, with or without "sha256=" before it.
func hexScheme(name string) *scheme {
	return &scheme{
		header: name, form: "64 hexadecimal digits, with or without sha256= before them", write: hex.EncodeToString,
		read: func(value string, _ *blueprint.Delivery) (claim, string) {
			if prefix := "sha256="; len(value) >= len(prefix) && strings.EqualFold(value[:len(prefix)], prefix) {
				value = value[len(prefix):]
			}
			if given, err := hex.DecodeString(value); err != nil || len(given) != sha256.Size {
				return claim{}, "is not one HMAC-SHA256 of 64 hexadecimal digits"
			}
			return claim{given: []string{strings.ToLower(value)}}, ""
		},
	}
}

// readStandard reads a list with blanks between its entries: "v1," and base64.
func readStandard(value string, d *blueprint.Delivery) (claim, string) {
	id, stamp := header(d, standardID), header(d, standardTimestamp)
	if len(id) != 1 || id[0] == "" || len(stamp) != 1 {
		return claim{lacks: true}, "needs Webhook-Id and Webhook-Timestamp, once each"
	}
	c := claim{before: id[0] + "." + stamp[0] + ".", stamp: stamp[0], timer: standardTimestamp}
	for entry := range strings.FieldsSeq(value) {
		if given, ok := strings.CutPrefix(entry, "v1,"); ok {
			c.given = append(c.given, given)
		}
	}
	return c, ""
}

// standardKey gives the key of Standard Webhooks: the bytes that whsec_ and
// base64 stand for, or else the secret as it is.
func standardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

// readStripe reads a list with commas between its entries: t= once, and v1=.
func readStripe(value string, _ *blueprint.Delivery) (claim, string) {
	c, stamps := claim{timer: "t"}, 0
	for entry := range strings.SplitSeq(value, ",") {
		switch name, text, _ := strings.Cut(entry, "="); name {
		case "t":
			c.stamp, c.before = text, text+"."
			stamps++
		case "v1":
			c.given = append(c.given, text)
		}
	}
	if stamps != 1 {
		return claim{lacks: true}, "needs t= and the seconds since 1970, once"
	}
	return c, ""
}

// readSlack reads the one signature that Slack sends.
func readSlack(value string, d *blueprint.Delivery) (claim, string) {
	stamp := header(d, "X-Slack-Request-Timestamp")
	if len(stamp) != 1 {
		return claim{lacks: true}, "needs X-Slack-Request-Timestamp, once"
	}
	return claim{before: "v0:" + stamp[0] + ":", stamp: stamp[0], timer: "X-Slack-Request-Timestamp", given: []string{value}}, ""
}

// preset is what config.preset stands for: how a service signs what it sends,
// and where it says which delivery it is. Other signatures are not looked at.
type preset struct {
	scheme *scheme
	idIn   string // the header that has the id; "" = a member of the body
	id     string // that member
	// greets tells that a first delivery asks for a proof that somebody is here.
	greets bool
}

var presets = map[string]*preset{
	"github":   {scheme: githubScheme, idIn: "X-GitHub-Delivery"},
	"stripe":   {scheme: stripeScheme, id: "id"},
	"slack":    {scheme: slackScheme, id: "event_id", greets: true},
	"standard": {scheme: standardScheme, idIn: standardID},
}

// presetNames are the values of config.preset.
func presetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// presetOf gives the preset of a trigger: nil when it has none, and false when
// it has one that is unknown, which lets nobody in.
func presetOf(trigger *blueprint.Trigger) (*preset, bool) {
	value := trigger.Config["preset"]
	if value == nil {
		return nil, true
	}
	name, _ := value.(string)
	p := presets[name]
	return p, p != nil
}
