package triggers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// deliveryHeaders name a webhook's delivery; the first that is there counts.
var deliveryHeaders = []string{"Webhook-Id", "X-Github-Delivery", "Idempotency-Key"}

// refusal is an answer that starts nothing, with the reason for the ledger.
type refusal struct {
	answer *blueprint.Error // nil = nothing is wrong with it: a filter left it out
	reason string           // "" = the answer's message
}

// noWebhook is the answer to whoever knocks where no webhook is open. It is
// the same for every cause, so that it tells a stranger nothing.
func noWebhook() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no webhook here: the trigger does not exist, was deleted, or is not active")
}

// Webhook serves POST /webhooks/blueprint/{triggerId}, whose path value
// triggerId it reads; the package comment says how.
func (t *Service) Webhook() http.Handler { return t.counted(t.serveWebhook) }

func (t *Service) serveWebhook(w http.ResponseWriter, r *http.Request) {
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
	binding, err := t.Store.Binding(r.Context(), id)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		writeError(w, noWebhook())
		return
	}
	if err != nil {
		writeError(w, t.failure(id, err))
		return
	}
	a := &activation{binding: binding, firing: t.newFiring(id, blueprint.SourceWebhook)}
	if refused := t.receive(a, r); refused != nil {
		t.refuseDelivery(r.Context(), a.firing, refused)
		writeError(w, refused.answer)
		return
	}
	waits := binding.Trigger.Config["respond"] == "wait"
	switch {
	case a.keyed:
		a.patience = atOnce
	case waits:
		a.patience = atEnd
	default:
		a.patience = soon
	}
	run, err := t.start(r.Context(), a)
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case errors.As(err, &duplicate):
		writeFired(w, http.StatusOK, duplicate.ExecutionID, duplicate.FiringID)
	case err != nil:
		answer := t.failure(id, err)
		if answer.Code == blueprint.CodeNotFound { // deleted a moment ago
			answer = noWebhook()
		}
		t.refuseDelivery(r.Context(), a.firing, &refusal{answer: answer})
		writeError(w, answer)
	case waits:
		t.answerRun(w, r, run, a.firing)
	default:
		writeFired(w, http.StatusAccepted, *a.firing.ExecutionID, a.firing.ID)
	}
}

// receive makes an activation of a delivery, or says why not. The order of the
// checks is part of the contract with senders.
func (t *Service) receive(a *activation, r *http.Request) *refusal {
	d := newDelivery(r)
	a.firing.Delivery = d
	trigger := &a.binding.Trigger
	if trigger.Type != blueprint.TriggerWebhook {
		// The id is noted, so that the row has it.
		a.noteID(d)
		return &refusal{noWebhook(), "the trigger is of type " + string(trigger.Type) + " and has no webhook"}
	}
	// The body of a delivery to a trigger that is off is read too: who turns it
	// on again can have it delivered then.
	body, refused := t.readBody(r)
	d.Body = body
	if refused == nil {
		d.Size = int64(len(body))
	}
	badKey := a.noteID(d)
	switch {
	case !trigger.IsActive:
		return &refusal{noWebhook(), inactiveReason}
	case !a.binding.CanManage:
		return &refusal{noWebhook(), lostAccessReason}
	case refused != nil:
		return &refusal{answer: refused}
	}
	if refused := t.judgeWebhook(a, t.Clock.Now()); refused != nil {
		return refused
	}
	if badKey != nil {
		return &refusal{answer: badKey}
	}
	return nil
}

// noteID takes the id of a delivery for the key of its firing.
func (a *activation) noteID(d *blueprint.Delivery) *blueprint.Error {
	key, bad := deliveryID(d, deliveryHeaders...)
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
		refused = t.checkSecret(&a.binding.Trigger, d, a.firing, at)
	}
	if refused == nil {
		a.input, refused = parseBody(d.Body)
	}
	if refused != nil {
		return &refusal{answer: refused}
	}
	a.headers = headersOf(d)
	return nil
}

// checkSecret verifies the signature when the trigger has a secret, and notes
// in the firing what it went by.
func (t *Service) checkSecret(trigger *blueprint.Trigger, d *blueprint.Delivery, firing *blueprint.Firing, at time.Time) *blueprint.Error {
	value := trigger.Config["secret"]
	if value == nil {
		firing.Reason = "the trigger has no secret, so no signature was looked at"
		return nil
	}
	secret, _ := value.(string)
	if strings.TrimSpace(secret) == "" {
		return blueprint.Errorf(blueprint.CodeUnauthorized, "the trigger's secret cannot be used: set another")
	}
	if reason := verify(secret, d, at); reason != "" {
		return blueprint.Errorf(blueprint.CodeUnauthorized, "%s", reason)
	}
	firing.Reason = "the signature is right"
	return nil
}

// The reasons why nothing fires a trigger.
const (
	inactiveReason   = "the trigger is not active"
	lostAccessReason = "the trigger's creator can no longer manage the blueprint"
)

// refuseDelivery records a delivery that anybody may have sent.
func (t *Service) refuseDelivery(ctx context.Context, firing *blueprint.Firing, refused *refusal) {
	reason := refused.reason
	if reason == "" {
		reason = refused.answer.Message
	}
	if t.mayRecord(firing.TriggerID, reason, firing.Delivery) {
		t.recordRefused(ctx, firing, reason)
	}
}
