package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/approvals"
	"blueprintd/server/sandbox"
	"blueprintd/triggers/mail"
)

// newSandbox returns the sandbox; nil without --sandbox.
func newSandbox(o Options, source *ids.Source) (*sandbox.Sandbox, error) {
	if o.Sandbox == nil {
		return nil, nil
	}
	made, err := sandbox.New(sandbox.Options{Clock: o.Clock, IDs: source.Stream("fakes"), Parse: mail.Parse, Known: RuledNames(), ApprovalLinks: approvals.LinksIn})
	if err == nil && o.Sandbox.Expect != nil {
		err = made.SetExpectations(o.Sandbox.Expect)
	}
	return made, err
}

// RuledNames returns the names that rules and expectations may use.
func RuledNames() sandbox.Known {
	known := sandbox.Known{NodeTypes: slices.Sorted(maps.Keys(project.CatalogueOf(nodes.Dependencies{})))}
	for _, procedure := range append(rpc.Procedures(), rpc.DashboardProcedures()...) {
		known.Procedures = append(known.Procedures, procedure.Name)
		if procedure.Kind == trpc.KindSubscription {
			known.Subscriptions = append(known.Subscriptions, procedure.Name)
		}
	}
	return known
}

// withSandbox replaces the network by the sandbox, if there is one.
func (s *Server) withSandbox(o outbound.Options) outbound.Options {
	if s.sandbox != nil {
		o.Network, o.RootCAs = s.sandbox, s.sandbox.Authorities()
	}
	return o
}

// wrapCatalogue returns the node types for the engine.
func (s *Server) wrapCatalogue(catalogue blueprint.Catalogue) blueprint.Catalogue {
	if s.sandbox == nil {
		return catalogue
	}
	return s.sandbox.Catalogue(catalogue)
}

// fault returns the faults of procedures; nil without a sandbox.
func (s *Server) fault() func(procedure string) *trpc.Fault {
	if s.sandbox == nil {
		return nil
	}
	return func(procedure string) *trpc.Fault {
		f := s.sandbox.Procedure(procedure)
		if f == nil {
			return nil
		}
		return &trpc.Fault{Failure: f.Failure, Status: f.Status, Value: f.Value, Header: f.Header, Cut: f.Cut, Whole: f.Whole, Wait: f.Wait}
	}
}

// injectFault answers a request outside the procedures by a rule of the sandbox, and
// reports whether it did.
func (s *Server) injectFault(w http.ResponseWriter, r *http.Request) bool {
	if s.sandbox == nil {
		return false
	}
	route, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if route != "webhooks" && route != "v1" && route != "mcp" {
		return false
	}
	f := s.sandbox.Route(route, r)
	if f == nil {
		return false
	}
	f.Wait(r.Context())
	if f.Status == 0 && !f.Cut {
		return false
	}
	value := f.Value
	if f.Failure != nil {
		object := map[string]any{"error": map[string]any{"code": cmp.Or(f.Failure.Code, blueprint.CodeInternal), "message": f.Failure.Message}}
		if route == "webhooks" {
			object["success"] = false
		}
		value = object
	}
	maps.Copy(w.Header(), f.Header)
	body := blueprint.BodyBytes(value)
	if f.Status != 0 {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(f.Status)
		if f.Cut {
			body = body[:len(body)/2]
		}
		_, _ = w.Write(body)
	}
	if f.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	return true
}

// Unmet prints the unmet expectations, one to a line, and returns an error if there is any.
func (s *Server) Unmet() error { return unmetExpectations(s.Options, s.sandbox) }

func unmetExpectations(o Options, box *sandbox.Sandbox) error {
	if box == nil {
		return nil
	}
	list := box.Unmet()
	for _, one := range list {
		fmt.Fprintln(o.Sandbox.Report, blueprint.OneLine(one.Problem))
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return blueprint.Hinted(blueprint.SeeDocs("see the line above", "fake-backend"), "an expectation was not met")
	}
	return blueprint.Hinted(blueprint.SeeDocs("see the lines above", "fake-backend"), "%d expectations were not met", len(list))
}

// UnmetBefore is Unmet for a server that was stopped before it was ready.
func UnmetBefore(o Options) error {
	box, err := newSandbox(o, sourceOf(o.SeedIDs))
	if err != nil {
		return err
	}
	return unmetExpectations(o, box)
}

// maxSandbox bounds requests to the sandbox, in bytes.
const maxSandbox = 4 << 20

// sandboxOwnerOnly is sandboxOnly for the server's owner. PUT and DELETE write an audit entry with
// the action.
func (s *Server) sandboxOwnerOnly(action string, methods map[string]trpc.PlainFunc) trpc.PlainFunc {
	next := s.sandboxOnly(methods)
	return func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if s.sandbox != nil && methods[r.Method] != nil {
			if err := s.requireOwner(caller); err != nil {
				return err
			}
		}
		if err := next(w, r, caller); err != nil {
			return err
		}
		if r.Method == http.MethodPut || r.Method == http.MethodDelete {
			s.noteOwnerAction(r, caller, action, nil)
		}
		return nil
	}
}

// sandboxOnly answers by method where there is a sandbox, and 404 where there is none.
func (s *Server) sandboxOnly(methods map[string]trpc.PlainFunc) trpc.PlainFunc {
	allowed := slices.Sorted(maps.Keys(methods))
	return func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if s.sandbox == nil {
			return &blueprint.Error{Code: blueprint.CodeNotFound, Message: "this server has no sandbox; start it with --sandbox"}
		}
		next := methods[r.Method]
		if next == nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return blueprint.Errorf(blueprint.CodeMethodNotSupported, "%s accepts %s", r.URL.Path, strings.Join(allowed, " and "))
		}
		return next(w, r, caller)
	}
}

// sandboxClear answers DELETE /sandbox: it clears calls and rules.
func (s *Server) sandboxClear() trpc.PlainFunc {
	return s.sandboxOwnerOnly("sandbox.clear", map[string]trpc.PlainFunc{http.MethodDelete: func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		s.sandbox.Clear()
		return WriteJSON(w, http.StatusOK, map[string]any{"calls": []any{}, "rules": []any{}})
	}})
}

// sandboxCalls answers GET /sandbox/calls with the outbound calls, oldest first: all of
// them to the owner, those of visible runs to others. Approval links, with which anyone can
// answer, are for the owner with the scope that the other controls of the sandbox need.
func (s *Server) sandboxCalls() trpc.PlainFunc {
	return s.sandboxOnly(map[string]trpc.PlainFunc{http.MethodGet: func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		query := r.URL.Query()
		filter := sandbox.Filter{ExecutionID: query.Get("executionId"), NodeType: query.Get("nodeType"), Host: query.Get("host")}
		if limit := query.Get("limit"); limit != "" {
			var err error
			if filter.Limit, err = strconv.Atoi(limit); err != nil || filter.Limit < 1 {
				return blueprint.Errorf(blueprint.CodeBadRequest, "limit: must be a whole number from 1")
			}
		}
		if s.isOwner(caller) {
			filter.Links = caller.Scopes.Allow(blueprint.ScopeAdmin)
		} else {
			filter.May = s.maySee(r.Context(), caller)
		}
		list, dropped := s.sandbox.Calls(filter)
		return WriteJSON(w, http.StatusOK, map[string]any{"calls": list, "dropped": dropped})
	}})
}

// maySee returns a function that reports whether a caller may see a run.
func (s *Server) maySee(ctx context.Context, caller *trpc.Caller) func(executionID string) bool {
	known := map[string]bool{}
	return func(id string) bool {
		may, asked := known[id]
		if !asked && id != "" {
			_, _, err := s.Store.Execution(ctx, caller.Principal, id)
			may = err == nil
			known[id] = may
		}
		return may
	}
}

// sandboxState answers GET and PUT of the rules or the expectations of the sandbox.
func (s *Server) sandboxState(action, member string, get func() []any, set func(value any) error) trpc.PlainFunc {
	show := func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		return WriteJSON(w, http.StatusOK, map[string]any{member: get()})
	}
	return s.sandboxOwnerOnly(action, map[string]trpc.PlainFunc{http.MethodGet: show, http.MethodPut: func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		value, err := readJSON(w, r, maxSandbox)
		if err == nil {
			err = set(value)
		}
		if err != nil {
			return err
		}
		return show(w, r, caller)
	}})
}

// sandboxVerify answers POST /sandbox/verify with the unmet expectations.
func (s *Server) sandboxVerify() trpc.PlainFunc {
	return s.sandboxOwnerOnly("", map[string]trpc.PlainFunc{http.MethodPost: func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		unmet := s.sandbox.Unmet()
		return WriteJSON(w, http.StatusOK, map[string]any{"met": len(unmet) == 0, "unmet": unmet})
	}})
}

// readJSON decodes a JSON body of at most most bytes.
func readJSON(w http.ResponseWriter, r *http.Request, most int64) (any, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", large.Limit)
	case err != nil:
		return nil, blueprint.BodyError(err)
	case !utf8.Valid(data):
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8")
	}
	return blueprint.Decode(data)
}

// authorizePath is the sign-in page of every service in a sandbox.
const authorizePath = "/sandbox/authorize"

// signInPage returns a function that replaces the sign-in page of a service by that of the
// sandbox; nil without a sandbox.
func (s *Server) signInPage() func(page string) string {
	if s.sandbox == nil {
		return nil
	}
	return func(page string) string {
		query := ""
		if asked, err := url.Parse(page); err == nil {
			query = asked.RawQuery
		}
		return s.APIHost() + authorizePath + "?" + query
	}
}

// sandboxAuthorize answers GET /sandbox/authorize like a service at which the user is
// signed in and has consented: it redirects with a code, always to the server's own
// callback.
func (s *Server) sandboxAuthorize(w http.ResponseWriter, r *http.Request) {
	if s.sandbox == nil || s.checkHost(r) != nil {
		s.page(w, r)
		return
	}
	back := url.Values{"code": {"sandbox-code"}, "state": {r.URL.Query().Get("state")}}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", s.APIHost()+"/oauth/callback?"+back.Encode())
	w.WriteHeader(http.StatusSeeOther)
}

// sendWebhook answers POST /sandbox/send {"webhook": triggerId, "body"?, "preset"?,
// "headers"?}: it sends a delivery to a trigger of this server, signed with its secret as by
// the preset's service, and returns both messages. The caller must manage the trigger.
func (s *Server) sendWebhook(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
	value, err := readJSON(w, r, maxSandbox)
	if err != nil {
		return err
	}
	input, err := sendInput(value)
	if err != nil {
		return err
	}
	id, _ := input["webhook"].(string)
	if id = strings.ToLower(id); !blueprint.IsUUID(id) {
		return blueprint.Errorf(blueprint.CodeBadRequest, "webhook: must be the id of a trigger")
	}
	trigger, err := s.Store.GetTrigger(r.Context(), caller.Principal, id)
	if err != nil {
		return err
	}
	handler := s.Triggers.Handler(trigger.Type)
	if handler == nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "webhook: the trigger has type %s, which has no webhook", trigger.Type)
	}
	key := blueprint.KindOf(trigger.Type).Secrets.Secret
	sender, _ := trigger.Config["preset"].(string)
	if trigger.Type == blueprint.TriggerSlack {
		sender = "slack"
	}
	if preset, given := input["preset"]; given {
		if sender, _ = preset.(string); !slices.Contains(sandbox.Senders[1:], sender) {
			return blueprint.Errorf(blueprint.CodeBadRequest, "preset: must be one of %s", strings.Join(sandbox.Senders[1:], ", "))
		}
	}
	if input["body"] == nil {
		input["body"] = map[string]any{}
	}
	body := blueprint.BodyBytes(input["body"])
	secret, _ := trigger.Config[key].(string)
	header := s.sandbox.Sign(sender, secret, body)
	more, _ := input["headers"].(map[string]any)
	for name, value := range more {
		text, isText := value.(string)
		if !isText {
			return blueprint.Errorf(blueprint.CodeBadRequest, "headers.%s: must be a string", blueprint.OneLine(name))
		}
		header.Set(name, text)
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.APIHost()+blueprint.KindOf(blueprint.TriggerWebhook).PathTo(id), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header, request.RemoteAddr, request.RequestURI = header, r.RemoteAddr, request.URL.RequestURI()
	request.SetPathValue("triggerId", id)
	answer := newRecorder()
	if !s.injectFaultRecorded(answer, request) {
		handler.ServeHTTP(answer, request)
	}
	s.Store.NoteAction(r.Context(), &blueprint.AuditEntry{ActorID: caller.UserID, Action: "sandbox.send", TargetType: "trigger", TargetID: id, Via: caller.Via})
	return WriteJSON(w, http.StatusOK, map[string]any{
		"request":  map[string]any{"headers": flatHeader(header), "body": input["body"]},
		"response": map[string]any{"status": answer.status, "headers": flatHeader(answer.header), "body": blueprint.BodyValue(answer.header.Get("Content-Type"), answer.body.Bytes())},
	})
}

// sendInput checks the body of /sandbox/send.
func sendInput(value any) (map[string]any, error) {
	input, isObject := value.(map[string]any)
	if !isObject {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "must be an object")
	}
	known := []string{"webhook", "body", "preset", "headers"}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if !slices.Contains(known, name) {
			return nil, blueprint.Errorf(blueprint.CodeBadRequest, "%s: unknown key; the keys are %s", blueprint.OneLine(name), strings.Join(known, ", "))
		}
	}
	headers, given := input["headers"]
	if _, isObject := headers.(map[string]any); given && !isObject {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "headers: must be an object")
	}
	return input, nil
}

// injectFaultRecorded is injectFault for a recorded answer. If the fault closes the connection, the
// status is 0.
func (s *Server) injectFaultRecorded(answer *recorder, request *http.Request) (answered bool) {
	defer func() {
		if broke := recover(); broke == http.ErrAbortHandler {
			answered, answer.status = true, 0
			answer.body.Reset()
		} else if broke != nil {
			panic(broke)
		}
	}()
	return s.injectFault(answer, request)
}

func flatHeader(header http.Header) map[string]any {
	out := map[string]any{}
	for name, values := range header {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// recorder records the status of an answer that it forwards, or a complete answer.
type recorder struct {
	to     http.ResponseWriter // nil = the answer is recorded
	header http.Header
	status int // 0 = it has not begun
	body   bytes.Buffer
}

// newForwarder returns a recorder that forwards to w.
func newForwarder(w http.ResponseWriter) *recorder { return &recorder{to: w, header: w.Header()} }

// newRecorder returns a recorder of a complete answer.
func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	if r.to != nil {
		r.to.WriteHeader(status)
	}
}

func (r *recorder) Write(data []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	if r.to != nil {
		return r.to.Write(data)
	}
	return r.body.Write(data)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.to }
