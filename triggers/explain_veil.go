package triggers

import (
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// veiled stands for what nobody is shown.
const veiled = "***"

// leastVeiled is how long a secret must be, in bytes, to be looked for in what
// came: shorter ones are in any text by chance.
const leastVeiled = 6

// leastProof is how long the parts of a header are that prove anything.
const leastProof = 16

// veil hides the secrets of a trigger, and what proved a sender, wherever they
// turn up: a sender may well repeat them in a header or in the body.
type veil struct{ hidden []string }

func newVeil(story *blueprint.FiringStory) *veil {
	v := &veil{}
	for _, name := range blueprint.SecretTriggerConfig {
		secret, _ := story.Trigger.Config[name].(string)
		v.add(secret, strings.TrimSpace(secret), strings.TrimPrefix(secret, "whsec_"))
	}
	if d := story.Firing.Delivery; d != nil {
		for _, values := range d.Proof {
			for _, value := range values {
				v.add(value)
				for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,=", r) }) {
					if len(part) >= leastProof { // a mark or a time is none
						v.add(part)
					}
				}
			}
		}
	}
	// The longest first, so that no rest of one that holds another is left.
	slices.SortFunc(v.hidden, func(a, b string) int { return len(b) - len(a) })
	return v
}

func (v *veil) add(texts ...string) {
	for _, text := range texts {
		if len(text) >= leastVeiled && !slices.Contains(v.hidden, text) {
			v.hidden = append(v.hidden, text)
		}
	}
}

func (v *veil) text(text string) string {
	for _, hidden := range v.hidden {
		text = strings.ReplaceAll(text, hidden, veiled)
	}
	return text
}

// value hides in every string of a plain JSON value.
func (v *veil) value(value any) any {
	switch value := value.(type) {
	case string:
		return v.text(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = v.value(value[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, element := range value {
			out[v.text(name)] = v.value(element)
		}
		return out
	}
	return value
}

// tellingNames are parts of the names of headers whose values let somebody in.
var tellingNames = []string{"auth", "token", "secret", "password", "api-key", "apikey", "signature", "cookie", "session", "credential"}

// maxShownBody is how many bytes of a body are shown.
const maxShownBody = 16 << 10

// shownDelivery gives what may be shown of a delivery.
func shownDelivery(d *blueprint.Delivery, v *veil) *blueprint.ShownDelivery {
	if d == nil {
		return nil
	}
	out := &blueprint.ShownDelivery{From: d.From, Size: d.Size, Kept: d.Kept(), Headers: make(map[string]string, len(d.Header))}
	for name, values := range d.Header {
		text := v.text(strings.Join(values, ", "))
		if isProof(name) || confidential[name] || slices.ContainsFunc(tellingNames, func(part string) bool { return strings.Contains(name, part) }) {
			text = veiled
		}
		out.Headers[name] = text
	}
	if d.Body == nil || !d.Kept() || !utf8.Valid(d.Body) {
		return out
	}
	// What is hidden is hidden before it is cut, so that no half of it is left.
	text := v.text(string(d.Body))
	if len(text) > maxShownBody {
		end := maxShownBody
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text, out.BodyTruncated = text[:end], true
	}
	out.Body = &text
	return out
}
