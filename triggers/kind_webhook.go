package triggers

import (
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/form"
	"blueprintd/triggers/signature"
)

type webhookConfig struct {
	Secret   webhookSecret `key:"secret" doc:"the secret with which senders sign; without it, unsigned requests are accepted"`
	Previous secretText    `key:"previousSecret" doc:"the previous secret"`
	Until    secretEnd     `key:"previousSecretUntil" doc:"when the previous secret expires; set by the server"`
	Respond  text          `key:"respond" enum:"accept|wait" doc:"accept (the default) responds immediately, wait responds with the result of the run"`
	Form     formSchema    `key:"form" doc:"the JSON Schema of the form that browsers get at the address; its properties are the fields"`
	Thanks   lines         `key:"thanks" doc:"what the page says after the form was sent"`
	Preset   presetName    `key:"preset" doc:"the service whose signatures and delivery ids are expected"`
}

func webhookKind() *Kind {
	return define[webhookConfig](blueprint.TriggerWebhook, Kind{
		Title:       "Webhook",
		Description: "Starts a run for each HTTP POST to its URL, from services such as GitHub or Stripe, or from a form.",
		Input:       "inputData is the JSON body. trigger.headers holds the headers.",
		NeverFired:  "see that the sender posts to the address that blueprintTriggers.getWebhookUrl gives, and that this server can be reached from there",
		Endpoint:    webhookEndpoint(),
		judge:       (*Service).judgeWebhook,
		accepts: func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error {
			return t.schemas.check(binding, "form", input)
		},
		guard: func(key string) string {
			if guards(key, proofWords...) {
				return `"secret"`
			}
			return ""
		},
	})
}

func webhookEndpoint() *Endpoint {
	return &Endpoint{
		Title: "webhooks",
		serve: deliveries(blueprint.TriggerWebhook, http.StatusAccepted),
		Operation: Operation{
			ID: "deliverWebhook", Tag: "webhooks", Summary: "Deliver to a webhook trigger",
			Description: "The body is any JSON value of at most `--max-body` bytes and becomes inputData. " +
				"If the trigger has a secret, at least one signature header is required, and all that are present must verify. With `respond: wait` the response is that of the run: " +
				"the one its respond node defines, or else its output.",
			Example: map[string]any{"order": 42, "email": "ada@example.org"},
			Headers: []OperationHeader{
				{"X-Webhook-Signature", "hex HMAC-SHA256 of the body under the secret, with or without the prefix sha256=; X-Signature and X-Hub-Signature-256 are equivalent"},
				{"webhook-id", "the delivery id: deliveries with the same id start one run; X-GitHub-Delivery and Idempotency-Key are equivalent"},
			},
			Responses: []OperationResponse{
				{200, "a duplicate or filtered delivery, or with respond: wait the response of the run", ""},
				{202, "the run is stored", "Fired"},
				{500, "the server failed, or with respond: wait the run failed", "WebhookError"},
			},
			Refusals: []int{400, 401, 404, 405, 408, 413, 415, 429, 503},
		},
	}
}

// webhookSecret is a secret, which a preset requires.
type webhookSecret string

func (webhookSecret) check(c *checker, f *field) {
	if value, isText := c.config[f.key].(string); isText && strings.TrimSpace(value) == "" && len(value) <= maxSecret && c.config["preset"] != nil {
		c.refuse("required; must not be empty", f.key)
		return
	}
	secretText("").check(c, f)
}

func (webhookSecret) schema(f *field) map[string]any { return secretText("").schema(f) }

// presetName is a signature.Preset. It requires a secret, without which the
// endpoint would accept unsigned deliveries.
type presetName string

func (presetName) check(c *checker, f *field) {
	c.choice(f.key, signature.PresetNames()...)
	if c.config[f.key] != nil && c.config["secret"] == nil {
		c.refuse("required with a preset: what the sender signs with", "secret")
	}
}

func (presetName) schema(*field) map[string]any { return choiceSchema(signature.PresetNames()) }

// judgeWebhook checks content type, signature and body, in that order.
func (t *Service) judgeWebhook(a *activation, at time.Time) *refusal {
	d := a.firing.Delivery
	media, boundary := form.Media(d.Header["content-type"])
	isForm := media != "" && a.binding.Trigger.Config["form"] != nil && (a.form || a.firing.Source == blueprint.SourceRedelivery)
	var refused *blueprint.Error
	if !isForm {
		refused = checkContent(d)
	}
	if refused == nil {
		refused = signature.Check(&a.binding.Trigger, a.firing, at, t.Clock.Now())
	}
	switch {
	case refused != nil:
	case isForm:
		refused = t.readForm(a, media, boundary)
	default:
		a.input, refused = parseBody(d.Body)
	}
	if refused == nil {
		refused = t.schemas.check(a.binding, "form", a.input)
	}
	preset, _ := signature.PresetOf(&a.binding.Trigger)
	if refused == nil && preset != nil && preset.ID != "" {
		a.bodyID, refused = bodyID(a.input, preset.ID)
	}
	if refused != nil {
		return &refusal{answer: refused}
	}
	a.headers = headersOf(d)
	if preset != nil && preset.Greets {
		return slackChallenge(a.input)
	}
	return nil
}
