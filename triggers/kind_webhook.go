package triggers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

type webhookConfig struct {
	Secret   webhookSecret `key:"secret" doc:"what senders sign with; without one everybody may post"`
	Previous secretText    `key:"previousSecret" doc:"the secret before this one"`
	Until    secretEnd     `key:"previousSecretUntil" doc:"how long the secret before this one still holds; the server writes it"`
	Respond  text          `key:"respond" enum:"accept|wait" doc:"accept answers at once, wait with what the run gives; accept when left out"`
	Preset   presetName    `key:"preset" doc:"whose signatures and delivery ids are understood"`
}

func webhookKind() *Kind {
	return define(definition[webhookConfig]{
		of:          blueprint.TriggerWebhook,
		description: "Fires when something is posted to its address.",
		neverFired:  "see that the sender posts to the address that blueprintTriggers.getWebhookUrl gives, and that this server can be reached from there",
		judge:       (*Service).judgeWebhook,
		guard: func(key string) string {
			if guards(key, proofWords...) {
				return `"secret"`
			}
			return ""
		},
	})
}

// webhookSecret is a secret that a preset needs.
type webhookSecret string

func (webhookSecret) check(c *checker, f *field) {
	if value, isText := c.config[f.key].(string); isText && strings.TrimSpace(value) == "" && len(value) <= maxSecret && c.config["preset"] != nil {
		c.refuse("required; must not be empty", f.key)
		return
	}
	secretText("").check(c, f)
}

func (webhookSecret) schema(f *field) map[string]any { return secretText("").schema(f) }

// presetName names the service whose scheme is used. Without a secret it would let
// everybody in who believes otherwise.
type presetName string

func (presetName) check(c *checker, f *field) {
	c.choice(f.key, signature.PresetNames()...)
	if c.config[f.key] != nil && c.config["secret"] == nil {
		c.refuse("required with a preset: what the sender signs with", "secret")
	}
}

func (presetName) schema(*field) map[string]any { return choiceSchema(signature.PresetNames()) }

// deliveryHeaders name a webhook's delivery; the first that is there counts.
var deliveryHeaders = []string{"Webhook-Id", "X-Github-Delivery", "Idempotency-Key"}

// refusal is an answer that starts nothing, with the reason for the ledger.
type refusal struct {
	answer *blueprint.Error // nil = nothing is wrong with it: a filter left it out
	why    blueprint.Reason // without a code: that of the answer
	reply  any              // JSON for the sender of what was left out; nil = the usual
}

// endpoint is an address to which deliveries come from outside, for triggers of one
// type.
type endpoint struct {
	kind   blueprint.TriggerType
	source blueprint.Source
	status int // of the answer to what started a run
}

var (
	webhookEndpoint = endpoint{blueprint.TriggerWebhook, blueprint.SourceWebhook, http.StatusAccepted}
	slackEndpoint   = endpoint{blueprint.TriggerSlack, blueprint.SourceSlack, http.StatusOK}
)

// noWebhook is returned for unknown, deleted and inactive triggers alike, so that
// it reveals nothing.
func noWebhook() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no webhook here: the trigger does not exist, was deleted, or is not active")
}

// Webhook serves POST /webhooks/blueprint/{triggerId}, whose path value
// triggerId it reads; the package comment says how.
func (t *Service) Webhook() http.Handler {
	return t.counted(func(w http.ResponseWriter, r *http.Request) { t.serveDelivery(w, r, webhookEndpoint) })
}

func (t *Service) serveDelivery(w http.ResponseWriter, r *http.Request, to endpoint) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, blueprint.Errorf(blueprint.CodeMethodNotSupported, "a webhook takes POST only"))
		return
	}
	id := strings.ToLower(r.PathValue("triggerId"))
	if !blueprint.IsUUID(id) {
		writeError(w, noWebhook())
		return
	}
	c := &inbound{Request: r, endpoint: to, id: id}
	binding, generation, refused := t.known(c)
	if refused != nil {
		writeError(w, refused)
		return
	}
	var duplicate *blueprint.DuplicateFiringError
	a, run, turned, err := t.deliver(c, binding, generation)
	if generation != 0 && (turned != nil || err != nil) {
		// What was known may be out of date, and whoever is refused is refused for what holds now.
		present, refused := t.present(c)
		switch {
		case refused != nil:
			writeError(w, refused)
			return
		case present != binding || isStale(err):
			a, run, turned, err = t.deliver(c, present, 0)
		case errors.As(err, &duplicate):
			t.recordDuplicate(context.WithoutCancel(r.Context()), a, duplicate)
		}
	}
	switch {
	case turned != nil:
		t.reject(w, r, a, turned)
	case errors.As(err, &duplicate):
		writeFired(w, http.StatusOK, duplicate.ExecutionID, duplicate.FiringID)
	case isLeftOut(err):
		t.reject(w, r, a, &refusal{why: shown(err).FiringReason()})
	case err != nil:
		answer := t.failure(id, err)
		if answer.Code == blueprint.CodeNotFound { // deleted a moment ago
			answer = noWebhook()
		}
		t.reject(w, r, a, notStarted(&a.binding.Trigger, answer))
	case a.waits(to):
		answerRun(w, run, a.firing, !a.binding.Trigger.IsOpen())
	default:
		writeFired(w, to.status, *a.firing.ExecutionID, a.firing.ID)
	}
}

// notStarted refuses a delivery whose run cannot start. What is wrong with the
// blueprint is told to senders who proved that they know the secret; the ledger has
// it in any case.
func notStarted(trigger *blueprint.Trigger, answer *blueprint.Error) *refusal {
	switch answer.Code {
	case blueprint.CodeBadRequest, blueprint.CodeForbidden, blueprint.CodeConflict:
		if trigger.IsOpen() {
			return &refusal{answer: blueprint.Errorf(answer.Code, "the run could not be started"), why: answer.FiringReason()}
		}
	}
	return &refusal{answer: answer}
}

// waits reports whether the sender gets the answer of the run.
func (a *activation) waits(to endpoint) bool {
	return to == webhookEndpoint && read[webhookConfig](a.binding.Trigger.Config).Respond == "wait"
}

// reject records and answers a delivery that starts nothing. One that comes
// again is told of its run even when a filter would leave it out by now.
func (t *Service) reject(w http.ResponseWriter, r *http.Request, a *activation, refused *refusal) {
	if refused.answer != nil {
		t.refuseDelivery(r.Context(), a.firing, refused)
		if a.firing.Source == blueprint.SourceSlack && isHopeless(refused.answer.Code) {
			w.Header().Set("X-Slack-No-Retry", "1")
		}
		writeError(w, refused.answer)
		return
	}
	if first := t.earlier(r.Context(), a); first != nil {
		t.recordDuplicate(r.Context(), a, first)
		writeFired(w, http.StatusOK, first.ExecutionID, first.FiringID)
		return
	}
	if !a.binding.Trigger.IsOpen() || t.mayRecord(a.firing, refused.why) {
		t.recordSkipped(r.Context(), a.firing, refused.why)
	} else {
		decide(a.firing, blueprint.DecisionSkipped, refused.why)
	}
	if refused.reply == nil {
		refused.reply = skippedAnswer{true, true, a.firing.Reason, a.firing.ID}
	}
	writeJSON(w, http.StatusOK, refused.reply)
}

// isHopeless reports whether a delivery would be refused again however often it
// came, whatever somebody does about the trigger.
func isHopeless(code blueprint.Code) bool {
	return code == blueprint.CodeBadRequest || code == blueprint.CodePayloadTooLarge || code == blueprint.CodeUnsupportedMedia
}

// receive makes an activation of a delivery, or says why not. The order of the
// checks is part of the contract with senders.
func (t *Service) receive(a *activation, c *inbound) *refusal {
	d := newDelivery(c.Request)
	a.firing.Delivery = d
	trigger := &a.binding.Trigger
	if trigger.Type != c.endpoint.kind {
		// The id is noted, so that the row has it.
		a.noteID(d)
		return &refusal{answer: noWebhook(), why: otherAddress(trigger)}
	}
	// The body of a delivery to a trigger that is off is read too: who turns it
	// on again can have it delivered then.
	body, refused := t.bodyOf(c)
	d.Body = body
	if refused == nil {
		d.Size = int64(len(body))
	}
	badKey := a.noteID(d)
	var paused *blueprint.Error
	a.binding, a.resumed, paused = t.resume(c.Context(), a.binding)
	trigger = &a.binding.Trigger
	switch {
	case paused != nil && paused.Code == blueprint.CodeNotFound: // deleted a moment ago
		return &refusal{answer: noWebhook()}
	case paused != nil:
		return &refusal{answer: paused, why: offReason(a.binding)}
	case !trigger.IsActive:
		return &refusal{answer: noWebhook(), why: offReason(a.binding)}
	case !a.binding.CanManage:
		return &refusal{answer: noWebhook(), why: lostAccess}
	case refused != nil:
		return &refusal{answer: refused}
	}
	judged := t.judge(a, c.endpoint.source, t.Clock.Now())
	if a.bodyID != "" {
		a.firing.Key, a.keyed = a.bodyID, true
	}
	if judged == nil && badKey != nil {
		return &refusal{answer: badKey}
	}
	return judged
}

// noteID takes the id of a delivery for the key of its firing.
func (a *activation) noteID(d *blueprint.Delivery) *blueprint.Error {
	key, bad := deliveryID(d, idHeaders(&a.binding.Trigger)...)
	if key != "" {
		a.firing.Key, a.keyed = key, true
	}
	return bad
}

// judgeWebhook looks at content type, signature and body, in that order.
func (t *Service) judgeWebhook(a *activation, at time.Time) *refusal {
	d := a.firing.Delivery
	refused := checkContent(d)
	if refused == nil {
		refused = signature.Check(&a.binding.Trigger, a.firing, at, t.Clock.Now())
	}
	if refused == nil {
		a.input, refused = parseBody(d.Body)
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
		return greeting(a.input)
	}
	return nil
}

var lostAccess = blueprint.NewReason(blueprint.ReasonLostAccess)

// refuseDelivery records a delivery that anybody may have sent.
func (t *Service) refuseDelivery(ctx context.Context, firing *blueprint.Firing, refused *refusal) {
	why := refused.why
	if why.Code == "" {
		why = refused.answer.FiringReason()
	}
	if t.mayRecord(firing, why) {
		t.recordRefused(ctx, firing, why)
	}
}

// idHeaders names the headers that may have the id of a delivery; the first
// that is there counts.
func idHeaders(trigger *blueprint.Trigger) []string {
	switch p, _ := signature.PresetOf(trigger); {
	case trigger.Type == blueprint.TriggerSlack, p != nil && p.IDIn == "":
		return nil
	case p != nil:
		return []string{p.IDIn}
	}
	return deliveryHeaders
}

// bodyID returns the id of a delivery that its body has, "" without one.
func bodyID(body any, member string) (string, *blueprint.Error) {
	object, _ := body.(map[string]any)
	id, _ := object[member].(string)
	if len(id) > maxKey {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s of the body is longer than %d bytes", member, maxKey)
	}
	return id, nil
}

// otherAddress is the reason of what was posted to an address of another type
// of trigger.
func otherAddress(trigger *blueprint.Trigger) blueprint.Reason {
	return blueprint.NewReason(blueprint.ReasonOtherAddress, "type", string(trigger.Type), "triggerId", trigger.ID)
}

// inbound is a request to an endpoint, with its body once that was read: it can be
// judged more than once.
type inbound struct {
	*http.Request
	endpoint endpoint
	id       string // of the trigger

	read    bool
	body    []byte
	refused *blueprint.Error // the body
}

// bodyOf reads the body of a request.
func (t *Service) bodyOf(c *inbound) ([]byte, *blueprint.Error) {
	if !c.read {
		c.body, c.refused = t.readBody(c.Request)
		c.read = true
	}
	return c.body, c.refused
}

// known returns what is known of a trigger, and of which generation that is; 0 = it
// holds now. To look first whether something has changed would take a read of the
// disk for each delivery; the transaction that starts the run finds out as well.
func (t *Service) known(c *inbound) (*blueprint.Binding, int64, *blueprint.Error) {
	if !t.IDs.IsSeeded() { // no id may depend on what is known
		binding, generation, err := t.Store.RecentBinding(c.Context(), c.id)
		if err == nil && (binding.Trigger.IsActive || generation == 0) {
			return binding, generation, nil
		}
	}
	binding, refused := t.present(c)
	return binding, 0, refused
}

// present returns what holds now.
func (t *Service) present(c *inbound) (*blueprint.Binding, *blueprint.Error) {
	binding, err := t.Store.Binding(context.WithoutCancel(c.Context()), c.id)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, noWebhook()
	case err != nil:
		return nil, t.failure(c.id, err)
	}
	return binding, nil
}

// deliver judges a delivery and starts its run. It returns once the run is
// durable, or has said what its sender waits for, if that comes in time.
func (t *Service) deliver(c *inbound, binding *blueprint.Binding, generation int64) (*activation, Run, *refusal, error) {
	a := &activation{binding: binding, firing: t.newFiring(c.id, c.endpoint.source), generation: generation}
	if refused := t.receive(a, c); refused != nil {
		return a, nil, refused, nil
	}
	if a.resumed {
		a.firing.SetReason(a.firing.Why.With("letIn", true))
	}
	waits := a.waits(c.endpoint)
	switch {
	case a.keyed, c.endpoint == slackEndpoint:
		a.patience = atOnce
	case waits:
		a.patience = atEnd
	default:
		a.patience = soon
	}
	run, err := t.begin(c.Context(), a)
	if err == nil && waits {
		// The run has the input now: its own requests may need the room.
		_ = c.Body.Close()
		t.await(c.Context(), run)
	}
	run, err = t.finish(c.Context(), a, run, err)
	return a, run, nil, err
}

// isStale reports whether a run was made of what has changed meanwhile.
func isStale(err error) bool {
	var stale *blueprint.StaleError
	return errors.As(err, &stale)
}
