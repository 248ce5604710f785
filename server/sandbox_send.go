package server

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/server/sandbox"
)

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
