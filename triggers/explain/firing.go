// Package explain says why a trigger did or did not fire, in words.
//
// Firing is about one row of the ledger: what came, what became of it, and the
// first thing to do about it. For a signature that was refused it tries what
// usually makes one wrong. A Question is about a trigger: as it is now, or at an
// instant. Both read what a store has told and change nothing, and no secret, no
// signature and no digest from which one could be made is in what they say.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/triggers/signature"
)

// Firing tells what became of a firing and why. It holds no secret, no
// signature, and no digest from which one could be made.
func Firing(story *blueprint.FiringStory, now time.Time) *blueprint.Explanation {
	firing := &story.Firing
	words, redaction := phrase{zone: zoneOf(&story.Trigger)}, newRedaction(story)
	out := &blueprint.Explanation{
		Firing: *firing, Delivery: shownDelivery(firing.Delivery, redaction), Facts: map[string]any{}, Run: story.Run,
		Redeliveries: append([]blueprint.Redelivery{}, story.Redeliveries...),
	}
	out.Firing.Delivery = nil
	if out.Delivery != nil && notReceived(firing) {
		out.Delivery.Kept = false
	}
	add := func(label, text string) {
		if text != "" {
			out.Details = append(out.Details, blueprint.Detail{Label: label, Text: redaction.Text(text)})
		}
	}
	summary := words
	summary.waits = stands(story)
	out.Summary = redaction.Text(summary.row(&blueprint.LedgerRow{Firing: *firing, Run: story.Run}))
	causes := diagnose(story, now)
	out.Next = redaction.Text((&advice{story, causes, words}).next())
	if text, _ := words.standing(story); text != "" {
		add("limit", text)
	}
	add("received", words.time(firing.ReceivedAt))
	if firing.DueAt != 0 {
		add("due", words.time(firing.DueAt))
	}
	add("decision", string(firing.Decision)+": "+firing.Reason)
	if d := firing.Delivery; d != nil {
		for name, value := range d.Facts {
			out.Facts[name] = redaction.Value(value)
		}
		add("delivery", deliveryWords(firing))
		for _, fact := range []struct{ name, label string }{
			{signature.FactHeader, "signature header"}, {signature.FactForm, "its form"}, {signature.FactExpected, "expected form"}, {signature.FactTried, "secret tried"},
		} {
			value, noted := d.Facts[fact.name]
			if text := fmt.Sprint(value); noted && value != nil {
				add(fact.label, text)
			} else if noted {
				add(fact.label, "none was sent")
			}
		}
	}
	for _, cause := range causes {
		add("likely cause", cause.text)
	}
	if story.Tripped != nil {
		add("switched off", "the server did, because "+story.Tripped.String())
	}
	return out
}

// deliveryWords says how much came, from where, and what of it there is still.
func deliveryWords(firing *blueprint.Firing) string {
	d := firing.Delivery
	text := fmt.Sprintf("a body of %d bytes", d.Size)
	if notReceived(firing) {
		text = "a mail, of which nothing was received,"
	}
	if d.From != "" {
		text += " from " + d.From
	}
	switch first := firing.RedeliveryOf(); {
	case first != "":
		return text + "; it is stored with firing " + first
	case notReceived(firing):
		return strings.TrimSuffix(text, ",")
	case !d.IsComplete():
		return text + ", which was not kept"
	}
	return text
}

// leastRedacted is how long a secret must be, in bytes, to be looked for in what
// came: shorter ones are in any text by chance.
const leastRedacted = 6

// leastProof is how long the parts of a header are that prove anything.
const leastProof = 16

// newRedaction returns what masks the secrets of a trigger, what proved a sender, and
// the secrets that came with an event, wherever they turn up: a sender may well
// repeat them in a header or in the body.
func newRedaction(story *blueprint.FiringStory) *secret.Masker {
	var hidden []any
	add := func(texts ...string) {
		for _, text := range texts {
			if len(text) >= leastRedacted {
				hidden = append(hidden, text)
			}
		}
	}
	for _, name := range blueprint.SecretTriggerConfig {
		secret, _ := story.Trigger.Config[name].(string)
		add(secret, strings.TrimSpace(secret), strings.TrimPrefix(secret, "whsec_"))
	}
	if d := story.Firing.Delivery; d != nil {
		add(d.Hidden...)
		for _, values := range d.Proof {
			for _, value := range values {
				add(value)
				for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,=", r) }) {
					if len(part) >= leastProof { // a mark or a time is none
						add(part)
					}
				}
			}
		}
	}
	return secret.NewMasker(hidden)
}

// sensitiveNames are parts of the names of headers whose values let somebody in.
var sensitiveNames = []string{"auth", "token", "secret", "password", "api-key", "apikey", "signature", "cookie", "session", "credential"}

// maxShownBody is how many bytes of a body are shown.
const maxShownBody = 16 << 10

// shownDelivery returns what may be shown of a delivery.
func shownDelivery(d *blueprint.Delivery, v *secret.Masker) *blueprint.ShownDelivery {
	if d == nil {
		return nil
	}
	out := &blueprint.ShownDelivery{From: d.From, Size: d.Size, Kept: d.IsComplete(), Headers: make(map[string]string, len(d.Header))}
	for name, values := range d.Header {
		text := v.Text(strings.Join(values, ", "))
		if signature.IsProof(name) || signature.Confidential[name] || slices.ContainsFunc(sensitiveNames, func(part string) bool { return strings.Contains(name, part) }) {
			text = secret.Mask
		}
		out.Headers[name] = text
	}
	if d.Body == nil || !d.IsComplete() || !utf8.Valid(d.Body) {
		return out
	}
	// What is hidden is hidden before it is cut, so that no half of it is left.
	text := v.Text(string(d.Body))
	whole := len(text)
	text = blueprint.Prefix(text, maxShownBody)
	out.Body, out.BodyTruncated = &text, len(text) < whole
	return out
}
