package triggers

import (
	"regexp"
	"strings"

	"blueprintd/blueprint"
)

// otherAddress is the reason of what was posted to an address of another type
// of trigger.
func otherAddress(trigger *blueprint.Trigger) string {
	text := "the trigger is of type " + string(trigger.Type)
	switch trigger.Type {
	case blueprint.TriggerWebhook:
		return text + "; its address is /webhooks/blueprint/" + trigger.ID
	case blueprint.TriggerSlack:
		return text + "; its address is /webhooks/slack/" + trigger.ID
	}
	return text + " and has no such address"
}

// filters are the beginnings of the reasons why a filter left something out, and
// the config key of each.
var filters = []struct{ reason, key string }{
	{"the event is of type", "eventType"}, {"the event is of channel", "channel"}, {"the event is of no channel", "channel"},
	{"the event is of blueprint", "blueprintId"}, {"allowFrom:", "allowFrom"}, {"requireAuth:", "requireAuth"},
}

// isLimit tells whether a reason is that the trigger's limit left no room; rows
// of earlier versions have the second.
func isLimit(reason string) bool {
	return strings.HasPrefix(reason, blueprint.LimitReason) || strings.HasPrefix(reason, "as many runs of this trigger go on")
}

var runID = regexp.MustCompile(`exec_[0-9A-Za-z_]+`)

// ofSkipped is about what a filter, the limit or the catch-up rule left out.
func (a *advice) ofSkipped() string {
	reason := a.story.Firing.Reason
	has := func(beginning string) bool { return strings.HasPrefix(reason, beginning) }
	for _, filter := range filters {
		if has(filter.reason) {
			return "nothing: config." + filter.key + " leaves this out (" + a.again() + " judges it anew once that is changed)"
		}
	}
	switch {
	case isLimit(reason):
		busy := runID.FindString(reason)
		if busy == "" {
			busy = "a run of the trigger"
		}
		return a.again() + " runs this one when " + busy + " has ended"
	case strings.HasSuffix(reason, `catchUp is "none"`):
		return `config.catchUp "latest" or "all" runs missed ticks; ` + a.again() + " runs this one"
	case has("Slack asked whether"):
		return "nothing: that was Slack's check of the address, and it was answered"
	case has("Slack is rate-limiting"), has("Slack holds back"):
		return "nothing brings those events back; have the app subscribe to fewer"
	case has("a delivery of type"):
		return "nothing: it is no event"
	case has("a blueprint does not hear its own"):
		return "nothing: so that it does not start itself for ever"
	}
	return "once what left it out is changed, " + a.again() + " judges it anew"
}

// ofRefused is about what was not allowed or not valid.
func (a *advice) ofRefused() string {
	firing := &a.story.Firing
	reason, d := firing.Reason, firing.Delivery
	has := func(beginnings ...string) bool {
		for _, beginning := range beginnings {
			if strings.HasPrefix(reason, beginning) {
				return true
			}
		}
		return false
	}
	kept := firing.Source == blueprint.SourceSchedule && firing.DueAt != 0 || d != nil && d.Kept()
	inactive := has(inactiveReason, "the server switched the trigger off: ")
	const access = "give the trigger's creator access to the blueprint again, or have somebody who can manage it make the trigger anew"
	switch {
	case notReceived(firing):
		told, ask := "550", a.on()+"ask for it again"
		if strings.Contains(reason, "too large") {
			told, ask = "that it is too large", "ask for a smaller one"
		} else if has(lostAccessReason) {
			ask = access + ", then ask for it again"
		} else if !inactive {
			told = "so"
		}
		return "the sender was told " + told + " and its mail was not received; " + ask
	case has("the trigger is of type"):
		if _, address, ok := strings.Cut(reason, "its address is "); ok {
			return "have the sender post to " + address
		}
		return "have the sender post to the address of a trigger that has one: a trigger of this type has none"
	case has("the body is larger than"):
		return "have the sender send less, or start the server with a larger --max-body; then have it sent again, for the body was not kept"
	case !kept && has(lostAccessReason):
		return access + "; then have the sender send it again"
	case has(lostAccessReason):
		return access + "; then " + a.again() + " runs this one"
	case !kept && inactive && (firing.Source == blueprint.SourceManual || firing.Source == blueprint.SourceAPI):
		return a.on() + "fire it again"
	case !kept && inactive:
		return a.on() + "have the sender send it again"
	case inactive && a.story.Trigger.IsActive:
		return "the trigger is active now: " + a.again() + " runs this one"
	case inactive:
		return a.again() + " runs this one"
	case has("this Idempotency-Key was used before"):
		return "have the caller use a new Idempotency-Key for each call; " + a.again() + " runs this one all the same"
	case has("the trigger's inputSchema cannot be used"):
		return "mend config.inputSchema; then " + a.again() + " runs this one"
	case has("inputData"):
		return "have the caller send what config.inputSchema asks for; or change that, then " + a.again() + " judges this one anew"
	case has("the trigger's secret cannot be used"):
		return "set another config." + secretKeysOf[a.story.Trigger.Type].secret + "; then " + a.again() + " judges this one anew"
	case has("the trigger's preset is unknown"):
		return "set another config.preset; then " + a.again() + " judges this one anew"
	case has("the body is", "the body must be", "Content-Encoding", "this address takes Slack's", "challenge must"):
		return "mend that at the sender and have it sent again: as it is, it is refused each time (blueprintTriggers.fire runs any input)"
	case has("stopped: a chain of"):
		return "find the blueprints that start each other and end the chain (config.blueprintId, or a condition); " + a.again() + " runs this one"
	case has("the event ") && strings.Contains(reason, " led to "):
		return "find the blueprints that start each other and end the chain (config.blueprintId, or a condition)"
	case strings.Contains(reason, " more deliveries "):
		return "see the rows before it: they say why"
	case has("no connection looks up"), has("the connection that looks up"):
		return "set config.connectionId, or use the channel's id in config.channel; then " + a.again() + " judges this one anew"
	case has("the queue of this trigger is full"):
		return a.again() + " runs this one when others have ended; a higher config.concurrency.limit lets more go on at once"
	case firing.Source == blueprint.SourceSchedule && firing.DueAt != 0:
		return "once the cause is mended, " + a.again() + " runs this tick"
	case !kept:
		return "have the sender send it again, or run any input with blueprintTriggers.fire"
	}
	return "once its cause is mended, " + a.again() + " judges it anew; blueprintTriggers.fire runs any input"
}
