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

// next returns what to do about a firing, "" for nothing.
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

// notReceived reports whether a mail was refused before its sender had sent it:
// no mail is empty.
func notReceived(firing *blueprint.Firing) bool {
	d := firing.Delivery
	return d != nil && firing.Decision == blueprint.DecisionRefused && firing.Source == blueprint.SourceEmail && (d.Facts["received"] == false || d.Size == 0)
}

// filters has the config key of each filter that left something out.
var filters = map[blueprint.ReasonCode]string{
	blueprint.ReasonEventType: "eventType", blueprint.ReasonChannel: "channel", blueprint.ReasonOfBlueprint: "blueprintId",
	blueprint.ReasonAllowFrom: "allowFrom", blueprint.ReasonRequireAuth: "requireAuth",
}

// ofSkipped is about what a filter, the limit or the catch-up rule left out.
func (a *advice) ofSkipped() string {
	why := a.story.Firing.Why
	if key := filters[why.Code]; key != "" {
		return "nothing: config." + key + " leaves this out (" + a.again() + " judges it anew once that is changed)"
	}
	switch why.Code {
	case blueprint.ReasonLimit:
		busy := why.Text("executionId")
		if busy == "" {
			busy = "a run of the trigger"
		}
		return a.again() + " runs this one when " + busy + " has ended"
	case blueprint.ReasonMissed:
		return `config.catchUp "latest" or "all" runs missed ticks; ` + a.again() + " runs this one"
	case blueprint.ReasonSlackCheck:
		return "nothing: that was Slack's check of the address, and it was answered"
	case blueprint.ReasonSlackLimited:
		return "nothing brings those events back; have the app subscribe to fewer"
	case blueprint.ReasonSlackOther:
		return "nothing: it is no event"
	case blueprint.ReasonOwnRun:
		return "nothing: so that it does not start itself for ever"
	}
	return "once what left it out is changed, " + a.again() + " judges it anew"
}

// ofRefused is about what was not allowed or not valid.
func (a *advice) ofRefused() string {
	firing := &a.story.Firing
	why, d := firing.Why, firing.Delivery
	kept := firing.Source == blueprint.SourceSchedule && firing.DueAt != 0 || d != nil && d.IsComplete()
	inactive, lost := why.Code == blueprint.ReasonInactive || why.Code == blueprint.ReasonTripped, why.Code == blueprint.ReasonLostAccess
	const access = "give the trigger's creator access to the blueprint again, or have somebody who can manage it make the trigger anew"
	if notReceived(firing) {
		told, ask := "550", a.on()+"ask for it again"
		switch {
		case why.Code == blueprint.ReasonMailTooLarge:
			told, ask = "that it is too large", "ask for a smaller one"
		case lost:
			ask = access + ", then ask for it again"
		case !inactive:
			told = "so"
		}
		return "the sender was told " + told + " and its mail was not received; " + ask
	}
	switch why.Code {
	case blueprint.ReasonOtherAddress:
		if address := why.Address(); address != "" {
			return "have the sender post to " + address
		}
		return "have the sender post to the address of a trigger that has one: a trigger of this type has none"
	case blueprint.ReasonTooLarge:
		return "have the sender send less, or start the server with a larger --max-body; then have it sent again, for the body was not kept"
	}
	switch {
	case !kept && lost:
		return access + "; then have the sender send it again"
	case lost:
		return access + "; then " + a.again() + " runs this one"
	case !kept && inactive && (firing.Source == blueprint.SourceManual || firing.Source == blueprint.SourceAPI):
		return a.on() + "fire it again"
	case !kept && inactive:
		return a.on() + "have the sender send it again"
	case inactive && a.story.Trigger.IsActive:
		return "the trigger is active now: " + a.again() + " runs this one"
	case inactive:
		return a.again() + " runs this one"
	}
	switch why.Code {
	case blueprint.ReasonKeyReused:
		return "have the caller use a new Idempotency-Key for each call; " + a.again() + " runs this one all the same"
	case blueprint.ReasonSchemaUnusable:
		return "mend config.inputSchema; then " + a.again() + " runs this one"
	case blueprint.ReasonInput:
		return "have the caller send what config.inputSchema asks for; or change that, then " + a.again() + " judges this one anew"
	case blueprint.ReasonSecretUnusable:
		return "set config." + blueprint.KindOf(a.story.Trigger.Type).Secrets.Secret + "; then " + a.again() + " judges this one anew"
	case blueprint.ReasonPresetUnknown:
		return "set another config.preset; then " + a.again() + " judges this one anew"
	case blueprint.ReasonBody:
		return "mend that at the sender and have it sent again: as it is, it is refused each time (blueprintTriggers.fire runs any input)"
	case blueprint.ReasonEventDepth:
		return "find the blueprints that start each other and end the chain (config.blueprintId, or a condition); " + a.again() + " runs this one"
	case blueprint.ReasonEventRuns:
		return "find the blueprints that start each other and end the chain (config.blueprintId, or a condition)"
	case blueprint.ReasonMany:
		return "see the rows before it: they say why"
	case blueprint.ReasonNoConnection:
		return "set config.connectionId, or use the channel's id in config.channel; then " + a.again() + " judges this one anew"
	case blueprint.ReasonQueueFull:
		return a.again() + " runs this one when others have ended; a higher config.concurrency.limit lets more go on at once"
	}
	switch {
	case firing.Source == blueprint.SourceSchedule && firing.DueAt != 0:
		return "once the cause is mended, " + a.again() + " runs this tick"
	case !kept:
		return "have the sender send it again, or run any input with blueprintTriggers.fire"
	}
	return "once its cause is mended, " + a.again() + " judges it anew; blueprintTriggers.fire runs any input"
}
