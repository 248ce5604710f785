package explain

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// maxDiagnosed is the maximum size of a body to diagnose: each cause takes a digest.
const maxDiagnosed = 1 << 20

// maxMACs is how many signatures of a header are tried.
const maxMACs = 8

// diagnose tries common mistakes and returns those that would explain a refused
// signature with the current secrets. It returns nil for other refusals.
func diagnose(story *blueprint.FiringStory, now time.Time) []cause {
	firing, trigger := &story.Firing, &story.Trigger
	d, keys := firing.Delivery, blueprint.KindOf(trigger.Type).Secrets
	if firing.Decision != blueprint.DecisionRefused || d == nil || keys.Secret == "" || firing.RedeliveryOf() != "" {
		return nil
	}
	if _, noted := d.Facts[signature.FactExpected]; !noted {
		return nil
	}
	name, _ := d.Facts[signature.FactHeader].(string)
	values := signature.Header(d, name)
	secret, _ := trigger.Config[keys.Secret].(string)
	switch {
	case secret == "":
		return []cause{{"its signature was refused, and the trigger no longer has a secret to verify it", fixForm}}
	case name == "":
		return append([]cause{missing(trigger, d)}, blanks(secret, keys.Secret)...)
	case !d.IsComplete():
		return append(blanks(secret, keys.Secret), cause{"the body was not kept, so nothing more is known", fixSender})
	case len(d.Body) > maxDiagnosed:
		return append(blanks(secret, keys.Secret), cause{"the body is too large to diagnose", fixEither})
	case len(values) != 1 && len(values) != 0:
		return []cause{{name + " was sent " + numberOf(len(values)) + " times: it must be sent once", fixSender}}
	case len(values) == 0:
		return blanks(secret, keys.Secret)
	}
	if found := acceptance(trigger, firing, keys, now); found != nil {
		return []cause{*found}
	}
	s := schemeOf(name)
	c, unread := s.Read(values[0], d)
	if c.Lacks {
		return []cause{{incomplete(s, d, unread), fixSender}}
	}
	p := &probe{before: c.Before, body: d.Body, macs: macsOf(values[0]), keys: keysOf(s, secret)}
	if previous, _ := trigger.Config[keys.Previous].(string); strings.TrimSpace(previous) != "" {
		p.keys = append(p.keys, trialKey{"the sender signs with the previous secret, which has expired: give it the new one", keysOf(s, previous)[0].key, fixSender})
	}
	found := p.find(s)
	switch {
	case unread == "" && c.Stale(firing.ReceivedAt.Time()) != "" && found != nil && found.fix == fixForm:
		return []cause{{"the signature fits; " + aside(c, firing.ReceivedAt.Time()), fixTime}}
	case found != nil:
		return []cause{*found}
	case len(p.macs) == 0:
		return append(blanks(secret, keys.Secret), cause{"what was sent is not a signature of a known form: send " + s.Form, fixSender})
	}
	return append(blanks(secret, keys.Secret), cause{"the sender signs with another secret, or the body was changed in transit: neither line breaks nor another layout of the JSON explain it", fixEither})
}

// acceptance returns a cause if the signature would be accepted now, or if only one of
// several headers is wrong.
func acceptance(trigger *blueprint.Trigger, firing *blueprint.Firing, keys blueprint.TriggerSecrets, now time.Time) *cause {
	d, at := firing.Delivery, firing.ReceivedAt.Time()
	current, _ := trigger.Config[keys.Secret].(string)
	schemes := signature.SchemesOf(trigger)
	for _, secret := range []string{current, signature.Previous(trigger.Config, keys, now)} {
		if secret == "" || len(schemes) == 0 {
			continue
		}
		if _, reason := signature.Verify(schemes, secret, d, at); reason == "" {
			return &cause{"it is valid for the current config, which has changed since", fixNothing}
		}
		var right, wrong []string
		for _, s := range schemes {
			values := signature.Header(d, s.Header)
			switch {
			case values == nil:
			case s.Verify(values, secret, d, at) == "":
				right = append(right, s.Header)
			default:
				wrong = append(wrong, s.Header)
			}
		}
		if len(right) > 0 {
			does := " does not, and all that are sent must: stop sending it"
			if len(wrong) > 1 {
				does = " do not, and all that are sent must: stop sending them"
			}
			return &cause{strings.Join(right, " and ") + " fits; " + strings.Join(wrong, " and ") + does, fixSender}
		}
	}
	return nil
}

func schemeOf(name string) *signature.Scheme {
	for _, s := range slices.Concat(signature.Usual, []*signature.Scheme{signature.Stripe, signature.Slack}) {
		if strings.EqualFold(s.Header, name) {
			return s
		}
	}
	return signature.Hex(name)
}

// sentMAC is a digest from a header, and its encoding.
type sentMAC struct {
	sum    []byte
	mark   string // its prefix, such as "v1="
	base64 bool
}

// macsOf returns everything in a header that may be a digest.
func macsOf(value string) []sentMAC {
	var out []sentMAC
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' }) {
		mark := ""
		if at := strings.IndexByte(part, '='); at >= 0 && at <= len("sha512") {
			mark, part = part[:at+1], part[at+1:]
		}
		if len(out) == maxMACs {
			break
		}
		if sum, err := hex.DecodeString(part); err == nil && hashOf(len(sum)) != nil {
			out = append(out, sentMAC{sum: sum, mark: mark})
		} else if sum, err := base64.RawStdEncoding.DecodeString(plainBase64(part)); err == nil && hashOf(len(sum)) != nil {
			out = append(out, sentMAC{sum: sum, mark: mark, base64: true})
		}
	}
	return out
}

// plainBase64 converts any base64 variant to the standard one without padding.
func plainBase64(text string) string {
	return strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
}

// find returns the first cause that explains a signature, nil for none.
func (p *probe) find(s *signature.Scheme) *cause {
	for _, m := range p.macs {
		name, usual := hashName(len(m.sum)), len(m.sum) == 32
		whole := append([]byte(p.before), p.body...)
		if p.keys[0].fits(m.sum, whole) {
			if !usual {
				return &cause{"it is an " + name + " made with the right secret: sign with HMAC-SHA256", fixSender}
			}
			return &cause{formCause(s, m), fixForm}
		}
		for _, changed := range variantsOf(p.body) {
			for _, before := range []string{p.before, ""} {
				if p.keys[0].fits(m.sum, append([]byte(before), changed.body...)) {
					return &cause{"it fits " + changed.words + otherwise(usual, name), fixSender}
				}
			}
		}
		if p.before != "" && p.keys[0].fits(m.sum, p.body) {
			return &cause{"it signs only the body: " + s.Header + " also signs a text before it" + otherwise(usual, name), fixSender}
		}
		for _, key := range p.keys[1:] {
			if key.fits(m.sum, whole) {
				return &cause{key.words + otherwise(usual, name), key.fix}
			}
		}
		if p.keyless(m.sum) {
			return &cause{"it is a digest without an HMAC: sign with HMAC-SHA256 and the secret as its key", fixSender}
		}
	}
	return nil
}

// formCause describes what is wrong with the encoding of a correct digest.
func formCause(s *signature.Scheme, m sentMAC) string {
	switch wants := markOf(s); {
	case m.base64 || s == signature.Standard:
		return "it is the correct HMAC-SHA256 in another encoding: send " + s.Form
	case m.mark != wants && m.mark != "" && wants == "":
		return "the digits are correct; " + m.mark + " before them is not accepted: send them without a prefix or with sha256="
	case m.mark != wants && m.mark != "":
		return "the digits are correct; " + m.mark + " before them is not accepted: send " + wants + " before them"
	case m.mark != wants:
		return "the digits are correct; " + wants + " before them is missing"
	}
	return "the digits are correct in another notation: send " + s.Form + ", in lower case and nothing else"
}

// markOf returns the prefix of a scheme's signatures.
func markOf(s *signature.Scheme) string {
	switch s {
	case signature.Stripe:
		return "v1="
	case signature.Slack:
		return "v0="
	case signature.Standard:
		return "v1,"
	}
	return ""
}

// otherwise adds that another hash was used.
func otherwise(usual bool, name string) string {
	if usual {
		return ""
	}
	return "; and it is an " + name + ", where HMAC-SHA256 is expected"
}

// keyless reports whether a digest is a plain hash of the body, or of the secret and the
// body in either order.
func (p *probe) keyless(sum []byte) bool {
	key := p.keys[0].key
	return slices.ContainsFunc([][]byte{p.body, slices.Concat(key, p.body), slices.Concat(p.body, key)}, func(text []byte) bool {
		plain := hashOf(len(sum))()
		plain.Write(text)
		return hmac.Equal(plain.Sum(nil), sum)
	})
}

// cause is a probable cause of a wrong signature.
type cause struct {
	text string
	fix  fix
}

// fix is where to fix a cause, which determines whether a redelivery can succeed.
type fix int

const (
	fixSender  fix = iota
	fixForm        // at the sender: the digest is right or cannot be verified
	fixConfig      // in the trigger's config
	fixEither      // in one of the two
	fixTime        // the signed time differs from the time of receipt
	fixNothing     // already fixed
)

// next returns the advice about a cause.
func (c *cause) next(a *advice) string {
	switch c.fix {
	case fixConfig:
		return c.text + "; then " + a.again() + " evaluates this one again"
	case fixEither:
		return c.text + "; fix that at the sender, or set config." + blueprint.KindOf(a.story.Trigger.Type).Secrets.Secret + " to its secret: then " + a.again() + " evaluates this one again"
	case fixTime:
		return c.text + ". It cannot be redelivered; " + a.fire()
	case fixNothing:
		return c.text + ": " + a.again() + " runs it"
	}
	return c.text + "; then have it sent again, because this delivery stays refused: " + a.fire()
}

// blanks returns a cause if the secret has surrounding blanks.
func blanks(secret, key string) []cause {
	if strings.TrimSpace(secret) == secret {
		return nil
	}
	return []cause{{"config." + key + " begins or ends with spaces; the secret of the sender probably does not", fixEither}}
}

// incomplete describes what is missing besides a signature.
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

// aside describes how far the signed time is from the time of receipt.
func aside(c signature.Claim, at time.Time) string {
	sent, err := strconv.ParseInt(c.Stamp, 10, 64)
	switch away := at.Sub(time.Unix(sent, 0)); {
	case err != nil:
		return "only its time is invalid: " + c.Timer + " is not a number of seconds since 1970"
	case away < 0:
		return "only its time is too far ahead: " + blueprint.InWords(away) + " (set the clocks right)"
	default:
		return "only its time is too old: " + blueprint.InWords(away)
	}
}

// missing returns why none of the expected signatures is present.
func missing(trigger *blueprint.Trigger, d *blueprint.Delivery) cause {
	chosen, _ := trigger.Config["preset"].(string)
	only := ""
	if p := signature.Presets[chosen]; p != nil {
		only = "config.preset is " + strconv.Quote(chosen) + ", which checks only " + p.Scheme.Header + "; "
	}
	if trigger.Type == blueprint.TriggerWebhook {
		for _, name := range signature.PresetNames() {
			if s := signature.Presets[name].Scheme; signature.Header(d, s.Header) != nil {
				return cause{only + "the sender sends " + s.Header + ": set config.preset: " + strconv.Quote(name), fixConfig}
			}
		}
		if only != "" {
			for _, s := range signature.Usual {
				if signature.Header(d, s.Header) != nil {
					return cause{only + "the sender sends " + s.Header + ": set config.preset to null", fixConfig}
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
		return cause{only + "X-Hub-Signature is SHA-1, which is not accepted: have it send X-Hub-Signature-256", fixSender}
	}
	if len(names) == 0 {
		return cause{only + "the sender does not sign, or something removed the header", fixSender}
	}
	slices.Sort(names)
	return cause{only + "the sender signs in a header that is not checked: " + strings.Join(names[:min(len(names), maxMACs)], ", "), fixSender}
}
