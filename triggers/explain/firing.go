// Package explain describes in words why a trigger did or did not fire.
//
// Firing is about one row of the ledger: the delivery, the decision, and what to do
// next. For a refused signature it tries common mistakes. A Question is about a trigger,
// now or at an instant. The results contain no secret, no signature and no digest from
// which a signature could be derived.
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

// Firing explains the decision about a firing.
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
	summary.waits = waits(story)
	out.Summary = redaction.Text(summary.row(&blueprint.LedgerRow{Firing: *firing, Run: story.Run}))
	causes := diagnose(story, now)
	out.Next = redaction.Text((&advice{story, causes, words}).next())
	if text, _ := words.blocked(story); text != "" {
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

// deliveryWords describes the size and origin of a delivery, and where it is stored.
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

// leastRedacted is the minimum length of a secret to redact, in bytes: shorter ones
// occur in any text by chance.
const leastRedacted = 6

// leastProof is the minimum length of a signature within a header.
const leastProof = 16

// newRedaction returns a masker for the secrets of a trigger, the signatures of a
// delivery and the secrets of an event, which senders may repeat in headers or body.
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
					if len(part) >= leastProof { // not a prefix or a time
						add(part)
					}
				}
			}
		}
	}
	return secret.NewMasker(hidden)
}

// sensitiveNames are parts of the names of headers with credentials.
var sensitiveNames = []string{"auth", "token", "secret", "password", "api-key", "apikey", "signature", "cookie", "session", "credential"}

// maxShownBody is the maximum length of a shown body, in bytes.
const maxShownBody = 16 << 10

// shownDelivery returns a redacted delivery.
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
	// Redact before truncating, so that no part of a secret remains.
	text := v.Text(string(d.Body))
	whole := len(text)
	text = blueprint.Prefix(text, maxShownBody)
	out.Body, out.BodyTruncated = &text, len(text) < whole
	return out
}
