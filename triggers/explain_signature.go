package triggers

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// maxDiagnosed is how large a body may be, in bytes, for which causes are looked
// for: each is a digest of all of it.
const maxDiagnosed = 1 << 20

// maxMACs is how many signatures of one header are looked at.
const maxMACs = 8

// diagnose tries what usually makes a signature wrong and gives, in words, what
// would make it right with the present secrets. It is nil for what was not
// refused for its signature.
func (t *Service) diagnose(story *blueprint.FiringStory) []string {
	firing, trigger := &story.Firing, &story.Trigger
	d, keys := firing.Delivery, secretKeysOf[trigger.Type]
	if firing.Decision != blueprint.DecisionRefused || d == nil || keys.secret == "" || redeliveredFrom(firing) != "" {
		return nil
	}
	if _, noted := d.Facts[factExpected]; !noted {
		return nil
	}
	name, _ := d.Facts[factHeader].(string)
	values := header(d, name)
	secret, _ := trigger.Config[keys.secret].(string)
	causes := blanks(secret, keys.secret)
	switch {
	case name == "":
		return append(causes, lookalikes(d))
	case !d.Kept():
		return append(causes, "the body was not kept, so nothing more can be told")
	case len(d.Body) > maxDiagnosed:
		return append(causes, "the body is too large to try what may have happened to it")
	case len(values) != 1 || secret == "":
		return causes
	}
	s := schemeOf(name)
	p := &probe{body: d.Body, macs: macsOf(values[0])}
	if c, reason := s.read(values[0], d); reason == "" {
		p.before = c.before
		if stale := c.stale(firing.ReceivedAt.Time()); stale != "" {
			causes = append(causes, "the signed time "+strings.TrimPrefix(stale, "is of another time: ")+": set the clocks right, or do not send old deliveries again")
		}
	}
	p.keys = append(p.keys, keysOf(s, secret)...)
	if previous, _ := trigger.Config[keys.previous].(string); strings.TrimSpace(previous) != "" {
		p.keys = append(p.keys, trialKey{"the previous secret, whose time is over: the sender has not been given the new one", keysOf(s, previous)[0].key})
	}
	if found := p.find(s); found != "" {
		return append(causes, found)
	}
	if len(p.macs) == 0 {
		return append(causes, "what was sent is no signature of a known form")
	}
	return append(causes, "the sender signs with another secret, or the body was changed on its way: neither line breaks nor another layout of the JSON explain it")
}

// blanks tells of a secret that was pasted with too much.
func blanks(secret, key string) []string {
	if strings.TrimSpace(secret) == secret {
		return nil
	}
	return []string{"config." + key + " begins or ends with blanks: the sender's hardly does"}
}

// lookalikes names the headers that came and look like signatures.
func lookalikes(d *blueprint.Delivery) string {
	var names []string
	for _, headers := range []map[string][]string{d.Header, d.Proof} {
		for name := range headers {
			if strings.Contains(name, "signature") || strings.Contains(name, "hmac") {
				names = append(names, shorten(name))
			}
		}
	}
	if len(names) == 0 {
		return "the sender does not sign what it sends, or something took the header away"
	}
	slices.Sort(names)
	return "the sender signs under a name that is not looked at: " + strings.Join(names[:min(len(names), maxMACs)], ", ")
}

// schemeOf finds the scheme of a header.
func schemeOf(name string) *scheme {
	for _, s := range slices.Concat(anyScheme, []*scheme{stripeScheme, slackScheme}) {
		if strings.EqualFold(s.header, name) {
			return s
		}
	}
	return hexScheme(name)
}

// sentMAC is a digest that was sent, and how it was written.
type sentMAC struct {
	sum    []byte
	base64 bool
}

// macsOf takes everything out of a header that may be a digest.
func macsOf(value string) []sentMAC {
	var out []sentMAC
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' }) {
		if at := strings.IndexByte(part, '='); at >= 0 && at <= len("sha512") {
			part = part[at+1:]
		}
		if len(out) == maxMACs {
			break
		}
		if sum, err := hex.DecodeString(part); err == nil && hashOf(len(sum)) != nil {
			out = append(out, sentMAC{sum: sum})
		} else if sum, err := base64.RawStdEncoding.DecodeString(plainBase64(part)); err == nil && hashOf(len(sum)) != nil {
			out = append(out, sentMAC{sum: sum, base64: true})
		}
	}
	return out
}

// plainBase64 brings every kind of base64 into one.
func plainBase64(text string) string {
	return strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
}

// find gives in words the first change that makes a signature right, "" when
// none does.
func (p *probe) find(s *scheme) string {
	for _, m := range p.macs {
		name, usual := hashName(len(m.sum)), len(m.sum) == 32
		whole := append([]byte(p.before), p.body...)
		if p.keys[0].fits(m.sum, whole) {
			switch {
			case !usual:
				return "it is an " + name + " made with the right secret: sign with HMAC-SHA256"
			case m.base64 != (s == standardScheme):
				return "it is the right HMAC-SHA256, written in another way: send " + s.form
			}
			return "it is right by the present config: the secret was changed since, or the time of the signature was over"
		}
		for _, changed := range variantsOf(p.body) {
			for _, before := range []string{p.before, ""} {
				if p.keys[0].fits(m.sum, append([]byte(before), changed.body...)) {
					return "it fits " + changed.words + otherwise(usual, name)
				}
			}
		}
		if p.before != "" && p.keys[0].fits(m.sum, p.body) {
			return "it signs the body alone: " + s.header + " signs what stands before it, too" + otherwise(usual, name)
		}
		for _, key := range p.keys[1:] {
			if key.fits(m.sum, whole) {
				return "it fits " + key.words + otherwise(usual, name)
			}
		}
		if p.keyless(m.sum) {
			return "it is a digest without an HMAC: sign with HMAC-SHA256 and the secret as its key"
		}
	}
	return ""
}

// otherwise adds that another hash was used as well.
func otherwise(usual bool, name string) string {
	if usual {
		return ""
	}
	return "; and it is an " + name + ", where HMAC-SHA256 is expected"
}

// keyless tells whether a digest was made by hashing alone, of the body, or of
// the secret and the body in either order.
func (p *probe) keyless(sum []byte) bool {
	key := p.keys[0].key
	return slices.ContainsFunc([][]byte{p.body, slices.Concat(key, p.body), slices.Concat(p.body, key)}, func(text []byte) bool {
		plain := hashOf(len(sum))()
		plain.Write(text)
		return hmac.Equal(plain.Sum(nil), sum)
	})
}
