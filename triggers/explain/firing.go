package explain

import (
	"fmt"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// Firing tells what became of a firing and why. It holds no secret, no
// signature, and no digest from which one could be made.
func Firing(story *blueprint.FiringStory, now time.Time) *blueprint.Explanation {
	firing := &story.Firing
	words, veil := phrase{zone: zoneOf(&story.Trigger)}, newVeil(story)
	out := &blueprint.Explanation{
		Firing: *firing, Delivery: shownDelivery(firing.Delivery, veil), Facts: map[string]any{}, Run: story.Run,
		Redeliveries: append([]blueprint.Redelivery{}, story.Redeliveries...),
	}
	out.Firing.Delivery = nil
	if out.Delivery != nil && notReceived(firing) {
		out.Delivery.Kept = false
	}
	add := func(label, text string) {
		if text != "" {
			out.Details = append(out.Details, blueprint.Detail{Label: label, Text: veil.Text(text)})
		}
	}
	summary := words
	summary.waits = stands(story)
	out.Summary = veil.Text(summary.row(&blueprint.LedgerRow{Firing: *firing, Run: story.Run}))
	causes := diagnose(story, now)
	out.Next = veil.Text((&advice{story, causes, words}).next())
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
			out.Facts[name] = veil.Value(value)
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
	case !d.Kept():
		return text + ", which was not kept"
	}
	return text
}
