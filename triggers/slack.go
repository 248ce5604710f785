package triggers

import (
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// Slack serves POST /webhooks/slack/{triggerId}, whose path value triggerId it
// reads: Slack's Events API. The package comment says how.
func (t *Service) Slack() http.Handler {
	return t.counted(func(w http.ResponseWriter, r *http.Request) { t.serveDelivery(w, r, slackDoor) })
}

// judgeSlack looks at content type, signature, body and filters, in that order.
func (t *Service) judgeSlack(a *activation, at time.Time) *refusal {
	d := a.firing.Delivery
	refused := checkContent(d)
	if refused != nil && isForm(d) {
		refused = blueprint.Errorf(blueprint.CodeUnsupportedMedia, "this address takes Slack's events, which are JSON; slash commands, buttons and other forms are not served here").Named(blueprint.ReasonBody)
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
		return greeting(body)
	case "":
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "the body is none of Slack's: it must be an object with a type").Named(blueprint.ReasonBody)}
	case "app_rate_limited":
		return &refusal{why: blueprint.Because(blueprint.ReasonSlackLimited)}
	default:
		return &refusal{why: blueprint.Because(blueprint.ReasonSlackOther, "type", kind)}
	}
}

// judgeSlackEvent reads an event and holds it against the filters.
func (t *Service) judgeSlackEvent(a *activation, envelope map[string]any) *refusal {
	event, ok := envelope["event"].(map[string]any)
	if !ok {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "the body is none of Slack's: event must be an object").Named(blueprint.ReasonBody)}
	}
	var refused *blueprint.Error
	if a.bodyID, refused = bodyID(envelope, "event_id"); refused != nil {
		return &refusal{answer: refused}
	}
	input := slackInput(envelope, event)
	a.input, a.headers = input, headersOf(a.firing.Delivery)
	return t.filterSlack(a, event, input)
}

// isForm tells whether a body is a form, as Slack sends for what people press.
func isForm(d *blueprint.Delivery) bool {
	return strings.HasPrefix(strings.ToLower(strings.Join(d.Header["content-type"], "")), "application/x-www-form-urlencoded")
}

// greeting answers Slack when it asks whether somebody is here; nil for
// anything else.
func greeting(body any) *refusal {
	envelope, _ := body.(map[string]any)
	if envelope["type"] != "url_verification" {
		return nil
	}
	challenge, ok := envelope["challenge"].(string)
	if !ok {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "challenge must be a string").Named(blueprint.ReasonBody)}
	}
	return &refusal{why: blueprint.Because(blueprint.ReasonSlackCheck), reply: map[string]any{"challenge": challenge}}
}

// slackInput is what a run sees of an event.
func slackInput(envelope, event map[string]any) map[string]any {
	return map[string]any{
		"eventId":   textAt(envelope, "event_id"),
		"eventType": textAt(event, "type"),
		"channel":   first(textAt(event, "channel"), textAt(event, "channel", "id"), textAt(event, "channel_id"), textAt(event, "item", "channel")),
		"user":      first(textAt(event, "user"), textAt(event, "user", "id"), textAt(event, "user_id")),
		"text":      textAt(event, "text"),
		"ts":        textAt(event, "ts"),
		"threadTs":  textAt(event, "thread_ts"),
		"teamId":    textAt(envelope, "team_id"),
		"raw":       envelope,
	}
}

// textAt gives the text that keys lead to, nil when there is none.
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

// first gives the first value that is there.
func first(values ...any) any {
	for _, value := range values {
		if value != nil {
			return value
		}
	}
	return nil
}
