package triggers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"time"
)

type apiConfig struct {
	Label       line        `key:"label" doc:"its name for people, and that of its MCP tool"`
	InputSchema inputSchema `key:"inputSchema" doc:"the JSON Schema that a body must fit"`
}

func apiKind() *Kind {
	return define(definition[apiConfig]{
		of:          blueprint.TriggerAPI,
		description: "Fires when its address is called with an API key.",
		neverFired:  "call POST /v1/triggers/{triggerId}/fire with an API key",
		judge:       func(t *Service, a *activation, _ time.Time) *refusal { return t.judgeCall(a) },
		accepts: func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error {
			return t.schemas.check(binding, input)
		},
	})
}

// inputSchema is a JSON Schema.
type inputSchema map[string]any

func (inputSchema) check(c *checker, f *field) {
	value := c.config[f.key]
	if value == nil {
		return
	}
	_, err := jsonschema.Compile(value)
	_, isObject := value.(map[string]any)
	var refused *blueprint.Error
	switch {
	case err == nil:
	case !isObject:
		c.refuse("must be a JSON Schema (an object)", f.key)
	case errors.As(err, &refused) && len(refused.Issues) > 0:
		for _, issue := range refused.Issues {
			c.refuse(issue.Message, append([]any{f.key}, issue.Path...)...)
		}
	default:
		c.refuse("must be a JSON Schema: "+err.Error(), f.key)
	}
}

func (inputSchema) schema(*field) map[string]any {
	return map[string]any{"type": []any{"object", "null"}}
}

// ServeAPI serves POST /v1/triggers/{triggerId}/fire, whose path value triggerId
// it reads, for somebody whose key has been checked. It answers 202, or 200 with
// the first ids when an Idempotency-Key comes again with the same JSON value. An
// error that it returns is still to be answered; headers that go with it are
// set.
//
// Errors, in the order of the checks: CodeMethodNotSupported, CodeBadRequest
// for a malformed id, CodeNotFound, CodeForbidden, CodeNotFound for a trigger
// of another type, CodeBadRequest when it is not active, CodeForbidden when its
// creator has lost access, CodePayloadTooLarge, CodeUnsupportedMedia,
// CodeBadRequest for the body, CodeConflict for a key that was used with
// another body, or when the trigger's limit leaves no room, CodeTooManyRequests,
// CodeUnavailable.
func (t *Service) ServeAPI(w http.ResponseWriter, r *http.Request, principal blueprint.Principal) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "firing a trigger takes POST")
	}
	binding, err := t.reachable(r.Context(), principal, strings.ToLower(r.PathValue("triggerId")))
	if err != nil {
		return err
	}
	a := &activation{binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceAPI), patience: soon}
	if refused := t.receiveCall(a, r); refused != nil {
		t.recordRefused(r.Context(), a.firing, refused.FiringReason())
		return refused
	}
	err = t.fire(r.Context(), a)
	var duplicate *blueprint.DuplicateFiringError
	if errors.As(err, &duplicate) {
		return t.answerAgain(w, r, a, duplicate)
	}
	if err != nil {
		return err
	}
	writeFired(w, http.StatusAccepted, *a.firing.ExecutionID, a.firing.ID)
	return nil
}

// reachable finds an api trigger that somebody may fire.
func (t *Service) reachable(ctx context.Context, principal blueprint.Principal, id string) (*blueprint.Binding, error) {
	if !blueprint.IsUUID(id) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the id of the trigger must be a UUID")
	}
	binding, err := t.manageable(ctx, principal, id)
	if err == nil && binding.Trigger.Type != blueprint.TriggerAPI {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "trigger %s is of type %s; only api triggers have this address", id, binding.Trigger.Type)
	}
	return binding, err
}

// receiveCall makes an activation of a call, or says why not.
func (t *Service) receiveCall(a *activation, r *http.Request) *blueprint.Error {
	d := newDelivery(r)
	a.firing.Delivery = d
	key, badKey := deliveryID(d, "Idempotency-Key")
	if key != "" {
		a.firing.Key, a.keyed, a.patience = key, true, atOnce
	}
	if refused := t.permit(a); refused != nil {
		return refused
	}
	body, refused := t.readBody(r)
	if refused != nil {
		return refused
	}
	d.Body, d.Size = body, int64(len(body))
	if refused := t.judgeCall(a); refused != nil {
		return refused.answer
	}
	if badKey != nil {
		return badKey
	}
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonCalled))
	if a.keyed {
		a.firing.BodyHash = hash(a.input)
	}
	return nil
}

// judgeCall looks at the content type and reads the body.
func (t *Service) judgeCall(a *activation) *refusal {
	refused := checkContent(a.firing.Delivery)
	if refused == nil {
		a.input, refused = parseBody(a.firing.Delivery.Body)
	}
	if refused != nil {
		return &refusal{answer: refused}
	}
	a.headers = headersOf(a.firing.Delivery)
	return nil
}

// hash tells JSON values apart, whatever their layout.
func hash(value any) string {
	text, _ := blueprint.Encode(value) // what Decode made can be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// answerAgain answers a call whose Idempotency-Key has started a run before.
func (t *Service) answerAgain(w http.ResponseWriter, r *http.Request, a *activation, duplicate *blueprint.DuplicateFiringError) error {
	if a.firing.BodyHash != "" {
		first, err := t.Store.StartedFiring(r.Context(), a.firing.TriggerID, a.firing.Key)
		if err != nil {
			return err
		}
		if first.BodyHash != a.firing.BodyHash {
			conflict := blueprint.Errorf(blueprint.CodeConflict, "this Idempotency-Key was used before with another body").WithReason(blueprint.ReasonKeyReused)
			t.recordRefused(r.Context(), a.firing, conflict.FiringReason())
			return conflict
		}
		t.recordDuplicate(r.Context(), a, duplicate)
	}
	writeFired(w, http.StatusOK, duplicate.ExecutionID, duplicate.FiringID)
	return nil
}

// inputSchemas keeps the compiled input schema of each api trigger for as long
// as its binding stays the same.
type inputSchemas struct {
	mu       sync.Mutex
	compiled map[string]compiledSchema // by trigger
}

// maxSchemas bounds the cache; the whole of it is dropped when it is full, which
// is rare enough not to deserve an order of use.
const maxSchemas = 2000

type compiledSchema struct {
	binding *blueprint.Binding
	schema  *jsonschema.Schema
}

// check refuses an input that breaks the trigger's schema.
func (s *inputSchemas) check(binding *blueprint.Binding, input any) *blueprint.Error {
	source := binding.Trigger.Config["inputSchema"]
	if source == nil {
		return nil
	}
	id := binding.Trigger.ID
	s.mu.Lock()
	known := s.compiled[id]
	s.mu.Unlock()
	if known.binding != binding {
		compiled, err := jsonschema.Compile(source)
		if err != nil {
			return blueprint.Errorf(blueprint.CodeBadRequest, "the trigger's inputSchema cannot be used: %s", err).WithReason(blueprint.ReasonSchemaUnusable)
		}
		known = compiledSchema{binding, compiled}
		s.mu.Lock()
		if len(s.compiled) >= maxSchemas {
			clear(s.compiled)
		}
		s.compiled[id] = known
		s.mu.Unlock()
	}
	return breaches(known.schema, input)
}

// CheckInput returns CodeBadRequest, with issues under "inputData", for an input
// that breaks the inputSchema of an api trigger; a nil schema takes any.
func CheckInput(source, input any) error {
	if source == nil {
		return nil
	}
	compiled, err := jsonschema.Compile(source)
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the trigger's inputSchema cannot be used: %s", err).WithReason(blueprint.ReasonSchemaUnusable)
	}
	if refused := breaches(compiled, input); refused != nil {
		return refused
	}
	return nil
}

// breaches lists what of an input breaks a schema; nil when nothing does.
func breaches(compiled *jsonschema.Schema, input any) *blueprint.Error {
	issues := compiled.Validate(input)
	if len(issues) == 0 {
		return nil
	}
	for i := range issues {
		issues[i].Path = append([]any{"inputData"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues).WithReason(blueprint.ReasonInput)
}

// Outcome is what became of a call: the run, and how it ended. Ending is nil when
// the run paused, takes longer than Options.SyncTimeout, or the server stops; it
// goes on then.
type Outcome struct {
	ExecutionID string
	Ending      *blueprint.Ending
	Paused      bool
}

// Call fires an api trigger as ServeAPI does, with an input that its caller has
// read, and waits for the end of the run. The run sees the headers of request.
//
// Errors: CodeNotFound for a trigger that is unknown or of another type,
// CodeForbidden, CodeBadRequest when it is not active or for the input, whose
// issues' paths begin with "inputData", and CodeUnavailable.
func (t *Service) Call(ctx context.Context, principal blueprint.Principal, triggerID string, input any, request *http.Request) (*Outcome, error) {
	binding, err := t.reachable(ctx, principal, strings.ToLower(triggerID))
	if err != nil {
		return nil, err
	}
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceAPI), input: input, patience: atEnd,
		headers: triggerHeaders(request),
	}
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonCalled))
	a.firing.Delivery = newDelivery(request)
	a.firing.Delivery.Body = said(input).Body
	a.firing.Delivery.Size = int64(len(a.firing.Delivery.Body))
	if err := t.fire(ctx, a); err != nil {
		return nil, err
	}
	outcome := &Outcome{ExecutionID: *a.firing.ExecutionID}
	waiting, leave := context.WithTimeout(ctx, t.SyncTimeout)
	defer leave()
	ending, err := a.run.Ending(waiting)
	switch {
	case err != nil: // the run is durable, whatever we know of its end
	case ending.Status.Terminal():
		outcome.Ending = &ending
	default:
		outcome.Paused = ending.Status == blueprint.StatusPaused
	}
	return outcome, nil
}
