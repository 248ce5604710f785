package triggers

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// Endpoint serves the path of a kind, TriggerKind.Path.
type Endpoint struct {
	Title string // in the index of addresses
	// Scope is the scope of the API key that a caller needs; "" = the endpoint takes
	// no key and authenticates senders itself.
	Scope     blueprint.KeyScope
	Operation Operation
	// serve handles a request, whose path value triggerId names the trigger. It
	// returns an error without having written a response. The principal is that of
	// the key.
	serve func(t *Service, w http.ResponseWriter, r *http.Request, principal blueprint.Principal) error
}

// Operation is the OpenAPI description of an endpoint, which accepts POST.
type Operation struct {
	ID, Tag, Summary, Description string

	Schema       map[string]any // of the JSON body
	Example      any
	OptionalBody bool
	Headers      []OperationHeader
	Responses    []OperationResponse
	Refusals     []int // statuses with the common error response
}

// OperationHeader is a header of a request.
type OperationHeader struct{ Name, Description string }

// OperationResponse is the response with a status. Schema names a schema of the
// document; "" = any JSON value.
type OperationResponse struct {
	Status              int
	Description, Schema string
}

// Serve handles a request to the endpoint of a kind, which must have one. It
// returns an error without having written a response, only if Endpoint.Scope is
// set.
func (t *Service) Serve(kind *Kind, w http.ResponseWriter, r *http.Request, principal blueprint.Principal) error {
	return kind.Endpoint.serve(t, w, r, principal)
}

// Handler returns the handler of an endpoint without a Scope, nil if the trigger
// type has none. The path value triggerId names the trigger.
func (t *Service) Handler(of blueprint.TriggerType) http.Handler {
	kind := KindOf(of)
	if kind.Endpoint == nil || kind.Endpoint.Scope != "" {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = kind.Endpoint.serve(t, w, r, blueprint.Principal{}) // always nil without a scope
	})
}

// deliveries returns the serve function of an endpoint that accepts deliveries
// for triggers of a type and answers them with status once the run is durable.
func deliveries(of blueprint.TriggerType, status int) func(*Service, http.ResponseWriter, *http.Request, blueprint.Principal) error {
	return func(t *Service, w http.ResponseWriter, r *http.Request, _ blueprint.Principal) error {
		t.serveDelivery(&countedResponse{w, &t.counts}, r, KindOf(of), status)
		return nil
	}
}

// deliveryHeaders name a delivery; the first that is present counts.
var deliveryHeaders = []string{"Webhook-Id", "X-Github-Delivery", "Idempotency-Key"}

// refusal is the outcome of a delivery that starts nothing.
type refusal struct {
	answer *blueprint.Error // nil = a filter skipped the delivery
	why    blueprint.Reason // for the ledger; without a code: that of answer
	reply  any              // JSON response to a skipped delivery; nil = skippedAnswer
}

// noWebhook is returned for unknown, deleted and inactive triggers alike, so that it
// reveals nothing about them.
func noWebhook() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no webhook here: the trigger does not exist, was deleted, or is not active")
}

func (t *Service) serveDelivery(w http.ResponseWriter, r *http.Request, kind *Kind, status int) {
	c := &inbound{Request: r, kind: kind, id: strings.ToLower(r.PathValue("triggerId"))}
	isID := blueprint.IsUUID(c.id)
	if isID && t.serveForm(w, c) {
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, blueprint.Errorf(blueprint.CodeMethodNotSupported, "a webhook accepts only POST"))
		return
	}
	if !isID {
		writeError(w, noWebhook())
		return
	}
	d := t.attempt(c)
	var duplicate *blueprint.DuplicateFiringError
	switch a := d.activation; {
	case d.unknown != nil:
		writeError(w, d.unknown)
	case d.rejected != nil:
		t.reject(w, r, a, d.rejected)
	case errors.As(d.err, &duplicate):
		writeFired(w, http.StatusOK, duplicate.ExecutionID, duplicate.FiringID)
	case isLimited(d.err):
		t.reject(w, r, a, &refusal{why: shown(d.err).FiringReason()})
	case d.err != nil:
		t.reject(w, r, a, t.notStarted(a, d.err))
	case a.waits():
		answerRun(w, d.run, a.firing, !a.binding.Trigger.IsOpen())
	default:
		writeFired(w, status, *a.firing.ExecutionID, a.firing.ID)
	}
}

// decided is what became of a delivery. One of unknown, rejected, err and run is set.
type decided struct {
	*activation
	run      Run
	unknown  *blueprint.Error // there is no such trigger
	rejected *refusal
	err      error
}

// attempt decides about a delivery, by a recent binding of the trigger if it starts a run.
func (t *Service) attempt(c *inbound) (d decided) {
	binding, generation, unknown := t.recentBinding(c)
	if unknown != nil {
		return decided{unknown: unknown}
	}
	d.activation, d.run, d.rejected, d.err = t.deliver(c, binding, generation)
	if generation == 0 || d.rejected == nil && d.err == nil {
		return d
	}
	// The binding may be out of date; a refusal must be based on the current one.
	var duplicate *blueprint.DuplicateFiringError
	current, unknown := t.currentBinding(c)
	switch {
	case unknown != nil:
		return decided{unknown: unknown}
	case current != binding || isStale(d.err):
		d.activation, d.run, d.rejected, d.err = t.deliver(c, current, 0)
	case errors.As(d.err, &duplicate):
		t.recordDuplicate(context.WithoutCancel(c.Context()), d.activation, duplicate)
	}
	return d
}

// notStarted returns the refusal of a delivery whose run cannot start. Only authenticated
// senders receive the reason, if it is the blueprint; the ledger always has it.
func (t *Service) notStarted(a *activation, err error) *refusal {
	trigger, answer := &a.binding.Trigger, t.failure(a.firing.TriggerID, err)
	switch answer.Code {
	case blueprint.CodeNotFound: // deleted concurrently
		answer = noWebhook()
	case blueprint.CodeBadRequest, blueprint.CodeForbidden, blueprint.CodeConflict:
		if trigger.IsOpen() {
			return &refusal{answer: blueprint.Errorf(answer.Code, "the run could not be started"), why: answer.FiringReason()}
		}
	}
	return &refusal{answer: answer}
}

// waits reports whether the response is that of the run.
func (a *activation) waits() bool {
	return a.binding.Trigger.Type == blueprint.TriggerWebhook && read[webhookConfig](a.binding.Trigger.Config).Respond == "wait"
}

// reject records and answers a delivery that starts nothing. A repeated delivery
// gets its first response even if a filter would skip it now.
func (t *Service) reject(w http.ResponseWriter, r *http.Request, a *activation, refused *refusal) {
	if refused.answer != nil {
		t.refuseDelivery(r.Context(), a.firing, refused)
		if a.firing.Source == blueprint.SourceSlack && isPermanent(refused.answer.Code) {
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
	decide(a.firing, blueprint.DecisionSkipped, refused.why)
	if !a.binding.Trigger.IsOpen() || t.mayRecord(a.firing, refused.why) {
		t.record(r.Context(), a.firing)
	}
	if refused.reply == nil {
		refused.reply = skippedAnswer{true, true, a.firing.Reason, a.firing.ID}
	}
	writeJSON(w, http.StatusOK, refused.reply)
}

// isPermanent reports whether a delivery would be refused whatever the trigger's config.
func isPermanent(code blueprint.Code) bool {
	return code == blueprint.CodeBadRequest || code == blueprint.CodePayloadTooLarge || code == blueprint.CodeUnsupportedMedia
}

// inbound is a request to an endpoint. It keeps the body, so that it can be judged twice.
type inbound struct {
	*http.Request
	kind *Kind
	id   string // of the trigger

	bodyRead bool
	body     []byte
	refused  *blueprint.Error // the body

	form bool // it was sent with the page of a form
}

func (t *Service) bodyOf(c *inbound) ([]byte, *blueprint.Error) {
	if !c.bodyRead {
		c.body, c.refused = t.readBody(c.Request)
		c.bodyRead = true
	}
	return c.body, c.refused
}

// recentBinding returns a binding that may be out of date, and its generation; 0 =
// it is current. The transaction that starts the run checks the generation, which
// avoids a read from disk for each delivery.
func (t *Service) recentBinding(c *inbound) (*blueprint.Binding, int64, *blueprint.Error) {
	if !t.IDs.IsSeeded() { // seeded ids must not depend on what is cached
		binding, generation, err := t.Store.RecentBinding(c.Context(), c.id)
		if err == nil && (binding.Trigger.IsActive || generation == 0) {
			return binding, generation, nil
		}
	}
	binding, refused := t.currentBinding(c)
	return binding, 0, refused
}

func (t *Service) currentBinding(c *inbound) (*blueprint.Binding, *blueprint.Error) {
	binding, err := t.Store.Binding(context.WithoutCancel(c.Context()), c.id)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, noWebhook()
	case err != nil:
		return nil, t.failure(c.id, err)
	}
	return binding, nil
}

// deliver judges a delivery and starts its run. It returns once the run is durable
// or, in "wait" mode, once there is a response or the timeout has passed.
func (t *Service) deliver(c *inbound, binding *blueprint.Binding, generation int64) (*activation, Run, *refusal, error) {
	a := &activation{binding: binding, firing: t.newFiring(c.id, c.kind.Source), generation: generation, form: c.form}
	if refused := t.receive(a, c); refused != nil {
		return a, nil, refused, nil
	}
	if a.resumed {
		a.firing.SetReason(a.firing.Why.With("letIn", true))
	}
	switch {
	case a.keyed, c.kind.Type == blueprint.TriggerSlack:
		a.patience = atOnce
	case a.waits():
		a.patience = atEnd
	default:
		a.patience = soon
	}
	run, err := t.begin(c.Context(), a)
	if err == nil && a.waits() {
		_ = c.Body.Close() // frees the memory of the body for requests that the run makes
		t.await(c.Context(), run)
	}
	run, err = t.finish(c.Context(), a, run, err)
	return a, run, nil, err
}

// receive fills an activation from a request, or refuses it. Senders depend on the
// order of the checks.
func (t *Service) receive(a *activation, c *inbound) *refusal {
	d := newDelivery(c.Request)
	a.firing.Delivery = d
	trigger := &a.binding.Trigger
	if trigger.Type != c.kind.Type {
		a.setKey(d) // for the ledger
		return &refusal{answer: noWebhook(), why: blueprint.NewReason(blueprint.ReasonOtherAddress, "type", string(trigger.Type), "triggerId", trigger.ID)}
	}
	// The body is read even if the trigger is inactive: the delivery can be repeated.
	body, refused := t.bodyOf(c)
	d.Body = body
	if refused == nil {
		d.Size = int64(len(body))
	}
	badKey := a.setKey(d)
	var paused *blueprint.Error
	a.binding, a.resumed, paused = t.resume(c.Context(), a.binding)
	trigger = &a.binding.Trigger
	switch {
	case paused != nil && paused.Code == blueprint.CodeNotFound: // deleted concurrently
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
	judged := t.judge(a, c.kind.Source, t.Clock.Now())
	if a.bodyID != "" {
		a.firing.Key, a.keyed = a.bodyID, true
	}
	if judged == nil && badKey != nil {
		return &refusal{answer: badKey}
	}
	if judged == nil && hasForm(trigger) {
		if refused := t.checkSender(a, c); refused != nil {
			return &refusal{answer: refused}
		}
	}
	return judged
}

// setKey sets the key of the firing to the id of a delivery.
func (a *activation) setKey(d *blueprint.Delivery) *blueprint.Error {
	key, bad := deliveryID(d, idHeaders(&a.binding.Trigger)...)
	if key != "" {
		a.firing.Key, a.keyed = key, true
	}
	return bad
}

// idHeaders returns the headers that may hold a delivery's id, in precedence.
func idHeaders(trigger *blueprint.Trigger) []string {
	switch p, _ := signature.PresetOf(trigger); {
	case trigger.Type == blueprint.TriggerSlack, p != nil && p.IDIn == "":
		return nil
	case p != nil:
		return []string{p.IDIn}
	}
	return deliveryHeaders
}

// bodyID returns the id of a delivery from its body, "" if there is none.
func bodyID(body any, member string) (string, *blueprint.Error) {
	object, _ := body.(map[string]any)
	id, _ := object[member].(string)
	if len(id) > maxKey {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s of the body is longer than %d bytes", member, maxKey)
	}
	return id, nil
}

var lostAccess = blueprint.NewReason(blueprint.ReasonLostAccess)

// refuseDelivery records a refused delivery, within the limits of the throttle.
func (t *Service) refuseDelivery(ctx context.Context, firing *blueprint.Firing, refused *refusal) {
	why := refused.why
	if why.Code == "" {
		why = refused.answer.FiringReason()
	}
	if t.mayRecord(firing, why) {
		t.recordRefused(ctx, firing, why)
	}
}

// isStale reports whether a run was not started because its binding was out of date.
func isStale(err error) bool {
	var stale *blueprint.StaleError
	return errors.As(err, &stale)
}

// firedAnswer is the response to a delivery that started a run, now or earlier.
type firedAnswer struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
	FiringID    string `json:"firingId"`
}

// skippedAnswer is the response to a delivery that a filter skipped.
type skippedAnswer struct {
	Success  bool   `json:"success"`
	Skipped  bool   `json:"skipped"`
	Reason   string `json:"reason"`
	FiringID string `json:"firingId"`
}

// errorAnswer is the response to a failed delivery, with ids if a run was started.
type errorAnswer struct {
	Success     bool       `json:"success"`
	ExecutionID string     `json:"executionId,omitempty"`
	FiringID    string     `json:"firingId,omitempty"`
	Error       shownError `json:"error"`
}

type shownError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	NodeID  string `json:"nodeId,omitempty"`
}

// await waits until a run has ended, paused or responded, for SyncTimeout at most.
func (t *Service) await(ctx context.Context, run Run) {
	select {
	case <-run.Ended(): // usually, because the caller has run it
		return
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, t.SyncTimeout)
	defer cancel()
	select {
	case <-run.Responded():
	case <-run.Ended():
	case <-ctx.Done():
	}
}

// answerRun writes the response of the first respond node or, without one, the outcome of
// the run. Only an authenticated sender receives the reason of a failure, because error
// messages may contain addresses and data.
func answerRun(w http.ResponseWriter, run Run, firing *blueprint.Firing, verified bool) {
	var ending blueprint.Ending
	select {
	case <-run.Ended():
		ending, _ = run.Ending(context.Background())
	default:
	}
	answer := errorAnswer{ExecutionID: *firing.ExecutionID, Error: shownError{Code: string(blueprint.CodeInternal), Message: "the run failed"}}
	response := run.Response() // is set before the end
	switch {
	case response != nil:
		writeResponse(w, response)
	case !ending.Status.Terminal():
		writeFired(w, http.StatusAccepted, *firing.ExecutionID, firing.ID)
	case ending.Status == blueprint.StatusCompleted:
		writeJSON(w, http.StatusOK, ending.Output)
	case !verified:
		writeJSON(w, http.StatusInternalServerError, answer)
	default:
		answer.FiringID = firing.ID
		if f := ending.Failure; f != nil {
			answer.Error = shownError{cmp.Or(f.Code, answer.Error.Code), f.Message, f.NodeID}
		}
		writeJSON(w, http.StatusInternalServerError, answer)
	}
}

func writeFired(w http.ResponseWriter, status int, executionID, firingID string) {
	writeJSON(w, status, firedAnswer{true, executionID, firingID})
}

func writeError(w http.ResponseWriter, err *blueprint.Error) {
	if err.Code == blueprint.CodeUnavailable || err.Code == blueprint.CodeTooManyRequests {
		seconds := max(1, int64((err.RetryAfter+time.Second-1)/time.Second))
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	writeJSON(w, err.Code.HTTPStatus(), errorAnswer{Error: shownError{Code: string(err.Code), Message: err.Message}})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := blueprint.Encode(value)
	if err != nil { // not a value from Decode
		status, body = http.StatusInternalServerError, []byte(`{"success":false,"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, status, body)
}

// writeResponse writes the response of a respond node.
func writeResponse(w http.ResponseWriter, response *blueprint.Response) {
	status := cmp.Or(response.Status, http.StatusOK)
	if status < 200 || status > 599 {
		writeError(w, blueprint.Errorf(blueprint.CodeInternal, "the respond node chose the status %d, which is not the status of an HTTP response", status))
		return
	}
	var body []byte
	kind := "application/json"
	text, isText := response.Body.(string)
	if isText {
		kind = "text/plain; charset=utf-8"
	} else if encoded, err := blueprint.Encode(response.Body); err == nil {
		body = encoded
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body, isText = nil, false
	} else {
		w.Header().Set("Content-Type", kind)
	}
	setHeaders(w.Header(), response.Headers)
	if isText { // written without a copy, as many callers may receive it at once
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		writeHead(w, status)
		_, _ = io.WriteString(w, text)
		return
	}
	write(w, status, body)
}

// write writes a response. Write errors mean that the caller disconnected.
func write(w http.ResponseWriter, status int, body []byte) {
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	writeHead(w, status)
	_, _ = w.Write(body)
}

// writeHead writes the headers. The response of a blueprint has the same origin as
// the dashboard, so browsers must not sniff its type or run scripts in it.
func writeHead(w http.ResponseWriter, status int) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.WriteHeader(status)
}
