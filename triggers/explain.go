package triggers

import (
	"fmt"

	"blueprintd/blueprint"
)

// Explain tells what became of a firing and why. It holds no secret, no
// signature, and no digest from which one could be made.
func (t *Service) Explain(story *blueprint.FiringStory) *blueprint.Explanation {
	firing := &story.Firing
	words, veil := teller{zone: zoneOf(&story.Trigger)}, newVeil(story)
	out := &blueprint.Explanation{
		Firing: *firing, Delivery: shownDelivery(firing.Delivery, veil), Facts: map[string]any{}, Run: story.Run,
		Redeliveries: append([]blueprint.Redelivery{}, story.Redeliveries...),
	}
	out.Firing.Delivery = nil
	add := func(label, text string) {
		if text != "" {
			out.Details = append(out.Details, blueprint.Detail{Label: label, Text: veil.text(text)})
		}
	}
	out.Summary = veil.text(words.row(&blueprint.LedgerRow{Firing: *firing, Run: story.Run}))
	out.Next = nextStep(story)
	add("received", words.time(firing.ReceivedAt))
	if firing.DueAt != 0 {
		add("due", words.time(firing.DueAt))
	}
	add("decision", string(firing.Decision)+": "+firing.Reason)
	if d := firing.Delivery; d != nil {
		for name, value := range d.Facts {
			out.Facts[name] = veil.value(value)
		}
		add("delivery", deliveryWords(d, redeliveredFrom(firing)))
		for _, fact := range []struct{ name, label string }{
			{factHeader, "signature header"}, {factForm, "its form"}, {factExpected, "expected form"}, {factTried, "secret tried"},
		} {
			value, noted := d.Facts[fact.name]
			if text := fmt.Sprint(value); noted && value != nil {
				add(fact.label, text)
			} else if noted {
				add(fact.label, "none was sent")
			}
		}
	}
	if causes := t.diagnose(story); len(causes) > 0 {
		for _, cause := range causes {
			add("likely cause", cause)
		}
		out.Next = "mend that at the sender or in the trigger's config; blueprintTriggers.redeliver then judges this delivery anew"
	}
	if story.Paused != "" {
		add("switched off", "the server did, because "+story.Paused)
	}
	return out
}

// deliveryWords says how much came, from where, and what of it there is still.
func deliveryWords(d *blueprint.Delivery, first string) string {
	text := fmt.Sprintf("a body of %d bytes", d.Size)
	if d.From != "" {
		text += " from " + d.From
	}
	switch {
	case first != "":
		return text + "; it is stored with firing " + first
	case !d.Kept():
		return text + ", which was not kept"
	}
	return text
}

// nextStep says what somebody can do about a firing.
func nextStep(story *blueprint.FiringStory) string {
	firing := &story.Firing
	switch firing.Decision {
	case blueprint.DecisionStarted:
		switch {
		case story.Run == nil:
			return ""
		case story.Run.Status == blueprint.StatusFailed:
			return "execution.retry goes on where the run failed; blueprintTriggers.redeliver runs the same input again from the beginning"
		case story.Run.Status == blueprint.StatusPaused:
			return "execution.resume answers the run"
		}
		return ""
	case blueprint.DecisionDuplicate:
		return "nothing: this is how a sender that tries again is answered; blueprintTriggers.redeliver runs it again all the same"
	case blueprint.DecisionCoalesced:
		return `nothing: a later tick stands for it; config.catchUp "all" runs each missed tick`
	}
	switch first := redeliveredFrom(firing); {
	case first != "":
		return "blueprintTriggers.explain says more of firing " + first + ", whose delivery it is"
	case !story.Trigger.IsActive:
		return "switch the trigger on with blueprintTriggers.update, then blueprintTriggers.redeliver runs this one"
	case firing.Reason == inactiveReason:
		return "the trigger is active now: blueprintTriggers.redeliver runs this one"
	case firing.Reason == lostAccessReason:
		return "give the trigger's creator access to the blueprint again, or have somebody who can manage it make the trigger anew"
	case firing.Source == blueprint.SourceSchedule && firing.Decision == blueprint.DecisionSkipped:
		return `config.catchUp "latest" or "all" runs missed ticks; blueprintTriggers.redeliver runs this one`
	case firing.Delivery == nil || !firing.Delivery.Kept():
		return "have the sender send it again, or run any input with blueprintTriggers.fire"
	}
	return "once its cause is mended, blueprintTriggers.redeliver judges it anew; blueprintTriggers.fire runs any input"
}
