package triggers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

type slackConfig struct {
	Secret     secretText  `key:"signingSecret" doc:"the signing secret of the Slack app; null in an exported file"`
	Previous   secretText  `key:"previousSigningSecret" doc:"the previous secret"`
	Until      secretEnd   `key:"previousSigningSecretUntil" doc:"when the previous secret expires; set by the server"`
	EventType  text        `key:"eventType" doc:"only events of this type, such as message or app_mention"`
	Connection uuid        `key:"connectionId" doc:"the Slack connection that looks up the names of channels"`
	Channel    channelName `key:"channel" doc:"only in this channel: its id, or its name if connectionId is set"`
}

func slackKind() *Kind {
	return define[slackConfig](blueprint.TriggerSlack, Kind{
		Title:       "Slack",
		Description: "Receives messages, mentions and reactions from the Events API of a Slack app.",
		Input:       `inputData is {"eventId", "eventType", "channel", "user", "text", "ts", "threadTs", "teamId", "raw"}.`,
		NeverFired:  "see that the Slack app's event subscription has the address of this trigger, and that the bot is in the channel",
		Endpoint:    slackEndpoint(),
		judge:       (*Service).judgeSlack,
		guard: func(key string) string {
			switch {
			case guards(key, proofWords...):
				return `"signingSecret"`
			case guards(key, "filter", "allow"):
				return `"channel" or "eventType"`
			}
			return ""
		},
	})
}

func slackEndpoint() *Endpoint {
	return &Endpoint{
		Title: "Slack",
		serve: deliveries(blueprint.TriggerSlack, http.StatusOK),
		Operation: Operation{
			ID: "deliverSlackEvent", Tag: "webhooks", Summary: "Deliver an event from Slack's Events API",
			Schema: map[string]any{"type": "object"}, Example: map[string]any{"type": "url_verification", "challenge": "abc"},
			Headers: []OperationHeader{
				{"X-Slack-Signature", "v0= and Slack's hex HMAC-SHA256 under the signing secret"},
				{"X-Slack-Request-Timestamp", "Unix time in seconds, at most five minutes off"},
			},
			Responses: []OperationResponse{{200, "received; for url_verification the challenge", ""}},
			Refusals:  []int{400, 401, 404, 405, 408, 413, 415, 429, 500, 503},
		},
	}
}

// channelName is the id of a channel, or a name that a connection resolves.
type channelName string

func (channelName) check(c *checker, f *field) {
	text, ok := c.text(f.key, maxText)
	switch name := strings.TrimPrefix(text, "#"); {
	case !ok:
	case name == "" || strings.ContainsAny(name, " \t\r\n,"):
		c.refuse("must be the id of a channel, such as C0123456789, or its name", f.key)
	case !isChannelID(text) && c.config["connectionId"] == nil:
		c.refuse("must be the id of a channel, such as C0123456789; a name needs connectionId, a connection of type slack", f.key)
	}
}

// judgeSlack checks content type, signature, body and filters, in that order.
func (t *Service) judgeSlack(a *activation, at time.Time) *refusal {
	d := a.firing.Delivery
	refused := checkContent(d)
	if refused != nil && isForm(d) {
		refused = blueprint.Errorf(blueprint.CodeUnsupportedMedia, "this address takes Slack's events, which are JSON; slash commands, buttons and other forms are not served here").WithReason(blueprint.ReasonBody)
	}
	if refused == nil {
		refused = signature.Check(&a.binding.Trigger, a.firing, at, t.Clock.Now())
	}
	var body any
	if refused == nil {
		body, refused = parseBody(d.Body)
	}
	if refused != nil {
		return &refusal{answer: refused}
	}
	envelope, _ := body.(map[string]any)
	switch kind, _ := envelope["type"].(string); kind {
	case "event_callback":
		return t.judgeSlackEvent(a, envelope)
	case "url_verification":
		return slackChallenge(body)
	case "":
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "the body is not from Slack: it must be an object with a type").WithReason(blueprint.ReasonBody)}
	case "app_rate_limited":
		return &refusal{why: blueprint.NewReason(blueprint.ReasonSlackLimited)}
	default:
		return &refusal{why: blueprint.NewReason(blueprint.ReasonSlackOther, "type", kind)}
	}
}

func (t *Service) judgeSlackEvent(a *activation, envelope map[string]any) *refusal {
	event, ok := envelope["event"].(map[string]any)
	if !ok {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "the body is not from Slack: event must be an object").WithReason(blueprint.ReasonBody)}
	}
	var refused *blueprint.Error
	if a.bodyID, refused = bodyID(envelope, "event_id"); refused != nil {
		return &refusal{answer: refused}
	}
	input := slackInput(envelope, event)
	a.input, a.headers = input, headersOf(a.firing.Delivery)
	return t.filterSlack(a, event, input)
}

// isForm reports whether a body is a form, as Slack sends for commands and buttons.
func isForm(d *blueprint.Delivery) bool {
	return strings.HasPrefix(strings.ToLower(strings.Join(d.Header["content-type"], "")), "application/x-www-form-urlencoded")
}

// slackChallenge returns the reply to Slack's verification; nil for any other body.
func slackChallenge(body any) *refusal {
	envelope, _ := body.(map[string]any)
	if envelope["type"] != "url_verification" {
		return nil
	}
	challenge, ok := envelope["challenge"].(string)
	if !ok {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "challenge must be a string").WithReason(blueprint.ReasonBody)}
	}
	return &refusal{why: blueprint.NewReason(blueprint.ReasonSlackCheck), reply: map[string]any{"challenge": challenge}}
}

// slackInput returns the input of a run.
func slackInput(envelope, event map[string]any) map[string]any {
	return map[string]any{
		"eventId":   textAt(envelope, "event_id"),
		"eventType": textAt(event, "type"),
		"channel":   firstNonNil(textAt(event, "channel"), textAt(event, "channel", "id"), textAt(event, "channel_id"), textAt(event, "item", "channel")),
		"user":      firstNonNil(textAt(event, "user"), textAt(event, "user", "id"), textAt(event, "user_id")),
		"text":      textAt(event, "text"),
		"ts":        textAt(event, "ts"),
		"threadTs":  textAt(event, "thread_ts"),
		"teamId":    textAt(envelope, "team_id"),
		"raw":       envelope,
	}
}

// textAt returns the text at a path of keys, nil if there is none.
func textAt(object map[string]any, keys ...string) any {
	var value any = object
	for _, key := range keys {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	if text, ok := value.(string); ok {
		return text
	}
	return nil
}

func firstNonNil(values ...any) any {
	for _, value := range values {
		if value != nil {
			return value
		}
	}
	return nil
}

const (
	// channelTimeout limits the lookup of a channel's name, in real time. Slack
	// expects a response within three seconds.
	channelTimeout = 2 * time.Second
	channelRetry   = time.Minute // after a failed lookup
)

func (t *Service) filterSlack(a *activation, event, input map[string]any) *refusal {
	wanted := string(read[slackConfig](a.binding.Trigger.Config).EventType)
	if wanted != "" && !isSlackEvent(event, wanted) {
		return &refusal{why: blueprint.NewReason(blueprint.ReasonEventType, "got", fmt.Sprint(firstNonNil(input["eventType"], "")), "wanted", wanted)}
	}
	return t.filterChannel(a, input)
}

// channelKinds maps the message events of subscriptions to channel_type of messages.
var channelKinds = map[string]string{"message.channels": "channel", "message.groups": "group", "message.im": "im", "message.mpim": "mpim", "message.app_home": "app_home"}

// isSlackEvent reports whether an event has a type, or the name of a message event.
func isSlackEvent(event map[string]any, wanted string) bool {
	if kind, ok := channelKinds[wanted]; ok {
		return event["type"] == "message" && event["channel_type"] == kind
	}
	return event["type"] == wanted
}

// isChannelID distinguishes the id of a channel from a name, which has no capitals.
func isChannelID(text string) bool {
	return text != "" && text[0] >= 'A' && text[0] <= 'Z' && strings.Trim(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// filterChannel applies config.channel. If the lookup of the channel's name fails,
// it refuses the event temporarily, and Slack sends it again.
func (t *Service) filterChannel(a *activation, input map[string]any) *refusal {
	wanted := string(read[slackConfig](a.binding.Trigger.Config).Channel)
	id, _ := input["channel"].(string)
	switch {
	case wanted == "" || id == wanted:
		return nil
	case id == "":
		return &refusal{why: blueprint.NewReason(blueprint.ReasonChannel, "got", "", "wanted", wanted)}
	case isChannelID(wanted):
		return &refusal{why: blueprint.NewReason(blueprint.ReasonChannel, "got", id, "wanted", wanted)}
	}
	name, err := t.channelName(a, id)
	if err != nil {
		return &refusal{
			answer: &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the name of the event's channel cannot be looked up now", RetryAfter: channelRetry},
			why:    t.channelUnknown(a, wanted, err),
		}
	}
	if name == "" || !strings.EqualFold(name, strings.TrimPrefix(wanted, "#")) {
		return &refusal{why: blueprint.NewReason(blueprint.ReasonChannel, "got", id, "name", name, "wanted", wanted)}
	}
	return nil
}

var errNoConnection = blueprint.Errorf(blueprint.CodeBadRequest, "connectionId is not set")

// channelName looks up the name of a channel with the trigger's connection and the
// permissions of its creator.
func (t *Service) channelName(a *activation, channel string) (string, error) {
	connection := string(read[slackConfig](a.binding.Trigger.Config).Connection)
	if connection == "" || t.Channels == nil {
		return "", errNoConnection
	}
	ctx, cancel := context.WithTimeout(context.Background(), channelTimeout)
	defer cancel()
	return t.Channels.ChannelName(ctx, a.binding.Principal.UserID, strings.ToLower(connection), channel)
}

// channelUnknown returns the reason for a failed lookup.
func (t *Service) channelUnknown(a *activation, wanted string, err error) blueprint.Reason {
	const hint = ": set config.connectionId, or use the channel's id"
	switch {
	case errors.Is(err, errNoConnection):
		return blueprint.MessageReason(blueprint.ReasonNoConnection, fmt.Sprintf("no connection looks up %q", wanted)+hint)
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return blueprint.MessageReason(blueprint.ReasonNoConnection, fmt.Sprintf("the connection that looks up %q is not found", wanted)+hint)
	}
	return blueprint.MessageReason(blueprint.ReasonMessage, fmt.Sprintf("the connection cannot look up %q: %s", wanted, t.lookupFailure(a, err)))
}

func (t *Service) lookupFailure(a *activation, err error) string {
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		return failure.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "Slack did not answer in time"
	}
	return t.failure(a.firing.TriggerID, err).Message
}
