package triggers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

type apiConfig struct {
	InputSchema inputSchema `key:"inputSchema" doc:"the JSON Schema that the body must match"`
}

func apiKind() *Kind {
	return define[apiConfig](blueprint.TriggerAPI, Kind{
		Title:       "API call",
		Description: "Starts runs from your programs with an API key and JSON. Agents can call it as an MCP tool.",
		Input:       "inputData is the JSON body, checked against your schema.",
		NeverFired:  "call POST /v1/triggers/{triggerId}/fire with an API key",
		Endpoint:    apiEndpoint(),
		judge:       func(t *Service, a *activation, _ time.Time) *refusal { return t.judgeCall(a) },
		accepts: func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error {
			return t.schemas.check(binding, "inputSchema", input)
		},
	})
}

func apiEndpoint() *Endpoint {
	return &Endpoint{
		Title: "API trigger",
		Scope: blueprint.ScopeRun,
		serve: (*Service).serveAPI,
		Operation: Operation{
			ID: "fireTrigger", Tag: "api trigger", Summary: "Start a run through an api trigger",
			Description: "The body is inputData; it is checked against the trigger's inputSchema.",
			Example:     map[string]any{"name": "Ada"}, OptionalBody: true,
			Headers: []OperationHeader{{"Idempotency-Key", "a repeated request with the same key and body returns the ids of the first run"}},
			Responses: []OperationResponse{
				{200, "the run that an earlier request with this Idempotency-Key started", "Fired"},
				{202, "the run is stored", "Fired"},
			},
			Refusals: []int{400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 500, 503},
		},
	}
}

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

// serveAPI responds with 202, or with 200 and the first ids if an Idempotency-Key is
// repeated with the same JSON value. It sets the headers that belong to an error.
//
// Errors, in the order of the checks: CodeMethodNotSupported, CodeBadRequest for a
// malformed id, CodeNotFound, CodeForbidden, CodeNotFound for a trigger of another
// type, CodeBadRequest for an inactive one, CodeForbidden if its creator lost
// access, CodePayloadTooLarge, CodeUnsupportedMedia, CodeBadRequest for the body,
// CodeConflict for a key that was used with another body or if the trigger's limit
// is reached, CodeTooManyRequests, CodeUnavailable.
func (t *Service) serveAPI(w http.ResponseWriter, r *http.Request, principal blueprint.Principal) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "firing a trigger requires POST")
	}
	binding, err := t.apiTrigger(r.Context(), principal, strings.ToLower(r.PathValue("triggerId")))
	if err != nil {
		return err
	}
	a := &activation{binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceAPI), patience: soon}
	if refused := t.receiveCall(a, r); refused != nil {
		t.recordRefused(r.Context(), a.firing, refused.FiringReason())
		return refused
	}
	err = t.fire(r.Context(), a)
	if duplicate, ok := errors.AsType[*blueprint.DuplicateFiringError](err); ok {
		return t.answerAgain(w, r, a, duplicate)
	}
	if err != nil {
		return err
	}
	writeFired(w, http.StatusAccepted, *a.firing.ExecutionID, a.firing.ID)
	return nil
}

// apiTrigger returns an api trigger that the principal may fire.
func (t *Service) apiTrigger(ctx context.Context, principal blueprint.Principal, id string) (*blueprint.Binding, error) {
	if !blueprint.IsUUID(id) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the id of the trigger must be a UUID")
	}
	binding, err := t.manageable(ctx, principal, id)
	if err == nil && binding.Trigger.Type != blueprint.TriggerAPI {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "trigger %s is of type %s; only api triggers have this address", id, binding.Trigger.Type)
	}
	return binding, err
}

// receiveCall fills an activation from a request.
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

// hash returns the hash of a JSON value, independent of its formatting.
func hash(value any) string {
	text, _ := blueprint.Encode(value) // values from Decode can be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// answerAgain responds to a call whose Idempotency-Key has already started a run.
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

// inputSchemas caches the compiled schema of the input of each trigger that has one while its
// binding is unchanged.
type inputSchemas struct {
	mu       sync.Mutex
	compiled map[string]compiledSchema // by trigger
}

// maxSchemas is the size at which the whole cache is dropped.
const maxSchemas = 2000

type compiledSchema struct {
	binding *blueprint.Binding
	schema  *jsonschema.Schema
}

// check validates an input against the schema in a key of the trigger's config.
func (s *inputSchemas) check(binding *blueprint.Binding, key string, input any) *blueprint.Error {
	source := binding.Trigger.Config[key]
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
			return blueprint.Errorf(blueprint.CodeBadRequest, "the trigger's %s cannot be used: %s", key, err).WithReason(blueprint.ReasonSchemaUnusable)
		}
		known = compiledSchema{binding, compiled}
		s.mu.Lock()
		if len(s.compiled) >= maxSchemas {
			clear(s.compiled)
		}
		s.compiled[id] = known
		s.mu.Unlock()
	}
	return validateInput(known.schema, input)
}

// CheckInput validates an input against the inputSchema of an api trigger; nil
// accepts any. The error is CodeBadRequest with issues under "inputData".
func CheckInput(source, input any) error {
	if source == nil {
		return nil
	}
	compiled, err := jsonschema.Compile(source)
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the trigger's inputSchema cannot be used: %s", err).WithReason(blueprint.ReasonSchemaUnusable)
	}
	if refused := validateInput(compiled, input); refused != nil {
		return refused
	}
	return nil
}

func validateInput(compiled *jsonschema.Schema, input any) *blueprint.Error {
	issues := compiled.Validate(input)
	if len(issues) == 0 {
		return nil
	}
	for i := range issues {
		issues[i].Path = append([]any{"inputData"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues).WithReason(blueprint.ReasonInput)
}

// Outcome is the result of a Call. Ending is nil if the run is still going on: it
// paused, took longer than Options.SyncTimeout, or the server stopped.
type Outcome struct {
	ExecutionID string
	Ending      *blueprint.Ending
	Paused      bool
}

// Call fires an api trigger as its endpoint does and waits for the end of the run.
// The run sees the headers of request.
//
// Errors: CodeNotFound for an unknown trigger or one of another type,
// CodeForbidden, CodeBadRequest for an inactive trigger or for the input, with
// issues under "inputData", and CodeUnavailable.
func (t *Service) Call(ctx context.Context, principal blueprint.Principal, triggerID string, input any, request *http.Request) (*Outcome, error) {
	binding, err := t.apiTrigger(ctx, principal, strings.ToLower(triggerID))
	if err != nil {
		return nil, err
	}
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceAPI), input: input, patience: atEnd,
		headers: headersOf(newDelivery(request)),
	}
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonCalled))
	a.firing.Delivery = newDelivery(request)
	entered := inputDelivery(input)
	a.firing.Delivery.Body, a.firing.Delivery.Size = entered.Body, entered.Size
	if err := t.fire(ctx, a); err != nil {
		return nil, err
	}
	outcome := &Outcome{ExecutionID: *a.firing.ExecutionID}
	waiting, leave := context.WithTimeout(ctx, t.SyncTimeout)
	defer leave()
	ending, err := a.run.Ending(waiting)
	switch {
	case err != nil: // the run is durable all the same
	case ending.Status.Terminal():
		outcome.Ending = &ending
	default:
		outcome.Paused = ending.Status == blueprint.StatusPaused
	}
	return outcome, nil
}
