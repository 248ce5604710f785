package explain

import (
	"blueprintd/blueprint"
)

// advice says what somebody can do about a firing: its first line is what a
// tired reader obeys. The row's own reason comes before how the trigger is now.
type advice struct {
	story  *blueprint.FiringStory
	causes []cause
	words  phrase
}

// again is how to have what came judged by the trigger as it is then.
func (a *advice) again() string {
	return a.on() + `blueprintTriggers.redeliver {firingId: "` + a.story.Firing.ID + `"}`
}

// fire is how to run it whatever is wrong with how it came.
func (a *advice) fire() string { return a.on() + "blueprintTriggers.fire with its body runs it" }

// on comes before what only an active trigger does.
func (a *advice) on() string {
	if a.story.Trigger.IsActive {
		return ""
	}
	return "switch the trigger on (isActive: true), then "
}

// next gives what to do about a firing, "" for nothing.
func (a *advice) next() string {
	firing := &a.story.Firing
	if firing.Why.Code == blueprint.ReasonBreaker {
		return whenTripped(&a.story.Trigger, firing.Why.Text("executionId"))
	}
	if done := a.ranAgain(); done != "" {
		return done
	}
	first := firing.RedeliveryOf()
	switch {
	case firing.Decision == blueprint.DecisionStarted:
		return a.ofRun()
	case firing.Decision == blueprint.DecisionDuplicate:
		return "nothing: this is how a sender that tries again is answered; blueprintTriggers.redeliver runs it again all the same"
	case firing.Decision == blueprint.DecisionCoalesced:
		return `nothing: a later tick stands for it; config.catchUp "all" runs each missed tick`
	case first != "":
		return "blueprintTriggers.explain says more of firing " + first + ", whose delivery it is"
	case firing.Decision == blueprint.DecisionSkipped:
		return a.ofSkipped()
	case len(a.causes) > 0:
		return a.causes[0].next(a)
	}
	return a.ofRefused()
}

// ranAgain tells of a redelivery that did what the firing did not; "" when none
// did.
func (a *advice) ranAgain() string {
	if run := a.story.Run; a.story.Firing.Decision == blueprint.DecisionStarted && (run == nil || run.Status != blueprint.StatusFailed) {
		return ""
	}
	for _, again := range a.story.Redeliveries {
		if again.Decision != blueprint.DecisionStarted {
			continue
		}
		switch again.Status {
		case blueprint.StatusCompleted, blueprint.StatusNotFound:
			return "done: firing " + again.FiringID + " ran it again (completed)"
		case blueprint.StatusPaused:
			return "firing " + again.FiringID + " runs it again, and is paused: execution.resume answers that run"
		case blueprint.StatusRunning:
			return "nothing: firing " + again.FiringID + " runs it again (not ended yet)"
		}
	}
	return ""
}

// ofRun is about a run that was started.
func (a *advice) ofRun() string {
	run := a.story.Run
	switch {
	case run == nil:
		return ""
	case run.Displaced:
		return "nothing: a newer run took its place, as config.concurrency says"
	case run.Status == blueprint.StatusFailed:
		return "execution.retry goes on where the run failed; blueprintTriggers.redeliver runs the same input again from the beginning"
	}
	if _, next := a.words.standing(a.story); next != "" {
		return next
	}
	if run.Status == blueprint.StatusPaused {
		return "execution.resume answers the run"
	}
	return ""
}

// whenTripped is what to do about a trigger that the server switched off.
func whenTripped(trigger *blueprint.Trigger, last string) string {
	text := "mend the cause (last: " + last + ")"
	if last == "" {
		text = "mend the cause"
	}
	if !trigger.IsActive {
		text += ", switch it on with isActive: true"
	}
	return text + `, then blueprintTriggers.redeliver {triggerId: "` + trigger.ID + `", executionStatus: "failed", from: TIME} runs what failed since TIME`
}

// notReceived tells whether a mail was refused before its sender had sent it:
// no mail is empty.
func notReceived(firing *blueprint.Firing) bool {
	d := firing.Delivery
	return d != nil && firing.Decision == blueprint.DecisionRefused && firing.Source == blueprint.SourceEmail && (d.Facts["received"] == false || d.Size == 0)
}
