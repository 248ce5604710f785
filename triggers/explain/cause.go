package explain

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// cause is what probably made a signature wrong.
type cause struct {
	text string
	mend mend
}

// mend is where a cause is to be mended, and so what helps a delivery that has
// come already: what the sender did wrong stays in it.
type mend int

const (
	mendSender  mend = iota
	mendForm         // at the sender: the digest itself is right, or there is none to hold it against
	mendConfig       // in the trigger's config
	mendEither       // in one of the two
	mendTime         // it was signed at another time than it came
	mendNothing      // it is mended already
)

// next says what to do about a cause.
func (c *cause) next(a *advice) string {
	switch c.mend {
	case mendConfig:
		return c.text + "; then " + a.again() + " judges this one anew"
	case mendEither:
		return c.text + "; mend that at the sender, or set config." + signature.KeysOf[a.story.Trigger.Type].Secret + " to its secret: then " + a.again() + " judges this one anew"
	case mendTime:
		return c.text + ". It cannot be redelivered; " + a.fire()
	case mendNothing:
		return c.text + ": " + a.again() + " runs it"
	}
	return c.text + "; then have it sent again, for this one stays refused: " + a.fire()
}

// blanks tells of a secret that was pasted with too much.
func blanks(secret, key string) []cause {
	if strings.TrimSpace(secret) == secret {
		return nil
	}
	return []cause{{"config." + key + " begins or ends with blanks: the sender's hardly does", mendEither}}
}

// incomplete says what is missing beside a signature.
func incomplete(s *signature.Scheme, d *blueprint.Delivery, unread string) string {
	if s == signature.Standard {
		for _, name := range []string{signature.StandardID, signature.StandardTimestamp} {
			if values := signature.Header(d, name); len(values) == 0 || values[0] == "" {
				return name + " is missing: Standard Webhooks signs it, so it must be sent beside " + s.Header
			}
		}
	}
	return s.Header + " " + unread
}

// aside says how far the time that was signed lies from that at which it came.
func aside(c signature.Claim, at time.Time) string {
	sent, err := strconv.ParseInt(c.Stamp, 10, 64)
	switch away := at.Sub(time.Unix(sent, 0)); {
	case err != nil:
		return "only its time is none: " + c.Timer + " is not a number of seconds since 1970"
	case away < 0:
		return "only its time is too far ahead: " + blueprint.InWords(away) + " (set the clocks right)"
	default:
		return "only its time is too old: " + blueprint.InWords(away)
	}
}

// missing says why no signature was found that is looked at.
func missing(trigger *blueprint.Trigger, d *blueprint.Delivery) cause {
	chosen, _ := trigger.Config["preset"].(string)
	only := ""
	if p := signature.Presets[chosen]; p != nil {
		only = "config.preset is " + strconv.Quote(chosen) + ", which looks at " + p.Scheme.Header + " alone; "
	}
	if trigger.Type == blueprint.TriggerWebhook {
		for _, name := range signature.PresetNames() {
			if s := signature.Presets[name].Scheme; signature.Header(d, s.Header) != nil {
				return cause{only + "the sender sends " + s.Header + ": set config.preset: " + strconv.Quote(name), mendConfig}
			}
		}
		if only != "" {
			for _, s := range signature.Usual {
				if signature.Header(d, s.Header) != nil {
					return cause{only + "the sender sends " + s.Header + ": set config.preset to null", mendConfig}
				}
			}
		}
	}
	var names []string
	for _, headers := range []map[string][]string{d.Header, d.Proof} {
		for name := range headers {
			if strings.Contains(name, "signature") || strings.Contains(name, "hmac") {
				names = append(names, blueprint.Shorten(name, longest))
			}
		}
	}
	if signature.Header(d, "X-Hub-Signature") != nil && len(names) == 1 {
		return cause{only + "X-Hub-Signature is SHA-1, which is not accepted: have it send X-Hub-Signature-256", mendSender}
	}
	if len(names) == 0 {
		return cause{only + "the sender does not sign what it sends, or something took the header away", mendSender}
	}
	slices.Sort(names)
	return cause{only + "the sender signs under a name that is not looked at: " + strings.Join(names[:min(len(names), maxMACs)], ", "), mendSender}
}
