package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/mcp"
	"blueprintd/rpc"
	"blueprintd/store"
	"blueprintd/triggers"
)

// mcpRoute answers /mcp. A browser says in Origin which page it acts for; that
// of a stranger is refused, also when its name has been made to lead here.
func (s *server) mcpRoute() http.Handler {
	handler := mcp.NewHandler(mcpDesk{s.store, s.triggers}, version, s.options.maxBody, s.options.logger)
	guarded := s.rpc.Authenticated(func(w http.ResponseWriter, r *http.Request, caller *rpc.Caller) error {
		return handler.Serve(w, r, caller.Principal)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !s.allowsOrigin(origin) {
			s.rpc.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeForbidden, "pages of this origin may not call; the operator can let them with --cors-origin"))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// allowsOrigin tells whether pages of an origin may call: our own, and those
// that the operator named.
func (s *server) allowsOrigin(origin string) bool {
	own, err := url.Parse(s.apiHost())
	return err == nil && strings.EqualFold(origin, own.Scheme+"://"+own.Host) || slices.Contains(s.options.origins, "*") || slices.Contains(s.options.origins, origin)
}

// mcpDesk shows the api triggers as tools.
type mcpDesk struct {
	store    *store.Store
	triggers *triggers.Service
}

// Published lists the triggers that somebody may fire, of published blueprints.
func (d mcpDesk) Published(ctx context.Context, principal blueprint.Principal, most int) ([]mcp.Published, error) {
	callables, err := d.store.Callables(ctx, principal, most)
	if err != nil {
		return nil, err
	}
	list := make([]mcp.Published, len(callables))
	for i, c := range callables {
		label, _ := c.Trigger.Config["label"].(string)
		list[i] = mcp.Published{ID: c.Trigger.ID, Label: label, Title: c.Title, Description: c.Description, InputSchema: c.Trigger.Config["inputSchema"]}
	}
	return list, nil
}

// Call fires a trigger and waits for its run.
func (d mcpDesk) Call(ctx context.Context, principal blueprint.Principal, id string, arguments any, request *http.Request) (*mcp.Outcome, error) {
	called, err := d.triggers.Call(ctx, principal, id, arguments, request)
	if err != nil {
		return nil, err
	}
	d.store.NoteAction(ctx, &blueprint.AuditEntry{
		ActorID: principal.UserID, Action: "mcp.call", TargetType: "trigger", TargetID: id, Via: blueprint.ViaAPI, Detail: map[string]any{"executionId": called.ExecutionID},
	})
	outcome := &mcp.Outcome{ExecutionID: called.ExecutionID, Status: blueprint.StatusRunning}
	switch execution := called.Execution; {
	case called.Paused:
		outcome.Status = blueprint.StatusPaused
	case execution != nil:
		outcome.Status, outcome.Output, outcome.Failure = execution.Status, execution.Output, execution.Failure
	}
	return outcome, nil
}
