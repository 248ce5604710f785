package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/docs"
	"blueprintd/project"
	"blueprintd/rpc/agents"
	"blueprintd/rpc/mcp"
	"blueprintd/rpc/trpc"
	"blueprintd/store"
	"blueprintd/triggers"
)

// mcpRoute answers /mcp. Requests with the Origin of another site are refused, which also
// prevents DNS rebinding.
func (s *Server) mcpRoute() http.Handler {
	handler := mcp.NewHandler(mcp.Options{
		Tools: mcpTools{s.Store, s.Triggers, Runner{s.Engine, s.Store, s.Options.SyncTimeout}}, Agents: agents.New(s.newAgentSandbox()), Resources: mcpResources,
		Version: s.Options.Version, MaxBody: s.Options.MaxBody, Logger: s.Options.Logger,
	})
	guarded := s.RPC.Authenticated(blueprint.ScopeRead, func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if refused := trpc.InScope(caller.Admission, blueprint.ScopeRun); refused != nil && !caller.Scopes.Allow(blueprint.ScopeWrite) {
			return refused
		}
		from := mcp.Caller{Principal: caller.Principal, Caller: agents.Caller{
			Scopes: caller.Scopes,
			Call: func(ctx context.Context, tool, procedure string, input map[string]any) (any, error) {
				return s.RPC.Call(ctx, caller, tool, procedure, input)
			},
		}}
		return handler.Serve(w, r, from)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !s.allowsOrigin(origin) {
			s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeForbidden, "pages of this origin may not call; allow it with --cors-origin"))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// allowsOrigin reports whether pages of an origin may call: ours and --cors-origin.
func (s *Server) allowsOrigin(origin string) bool {
	own, err := url.Parse(s.APIHost())
	return err == nil && strings.EqualFold(origin, own.Scheme+"://"+own.Host) || slices.Contains(s.Options.Origins, "*") || slices.Contains(s.Options.Origins, origin)
}

// mcpResources returns the pages of the documentation and the JSON Schemas.
func mcpResources() (list []mcp.Resource) {
	for _, chapter := range docs.Contents() {
		for _, page := range chapter.Pages {
			list = append(list, mcp.Resource{
				URI: "blueprintd://docs/" + page.Topic, Name: page.Topic, Title: page.Title, Description: page.Summary, MIMEType: "text/markdown",
				Read: func() (string, error) { return string(page.Markdown), nil },
			})
		}
	}
	for _, name := range project.SchemaNames {
		list = append(list, mcp.Resource{
			URI: "blueprintd://schemas/" + name + ".json", Name: name + ".json", Title: "JSON Schema of " + name + " files", MIMEType: "application/schema+json",
			Read: func() (string, error) {
				data, err := project.SchemaText(name)
				return string(data), err
			},
		})
	}
	return list
}

// mcpTools offers api triggers as tools.
type mcpTools struct {
	store    *store.Store
	triggers *triggers.Service
	runner   Runner
}

func (d mcpTools) Published(ctx context.Context, principal blueprint.Principal, most int) ([]mcp.Published, error) {
	callables, err := d.store.Callables(ctx, principal, most)
	if err != nil {
		return nil, err
	}
	list := make([]mcp.Published, len(callables))
	for i, c := range callables {
		label, _ := c.Trigger.Config["label"].(string)
		list[i] = mcp.Published{
			ID: c.Trigger.ID, BlueprintID: c.Trigger.BlueprintID, Name: c.Name, Fires: c.CanManage,
			Label: label, Title: c.Title, Description: c.Description, InputSchema: c.Trigger.Config["inputSchema"],
		}
	}
	return list, nil
}

// Call implements mcp.Tools. It fires the trigger if the caller can manage the blueprint;
// otherwise the caller runs the blueprint under their own authority, as with
// blueprint.execute.
func (d mcpTools) Call(ctx context.Context, principal blueprint.Principal, tool *mcp.Published, arguments any, request *http.Request) (*mcp.Outcome, error) {
	call := d.fire
	if !tool.Fires {
		call = d.execute
	}
	outcome, err := call(ctx, principal, tool, arguments, request)
	if err != nil {
		return nil, err
	}
	d.store.NoteAction(ctx, &blueprint.AuditEntry{
		ActorID: principal.UserID, Action: "mcp.call", TargetType: "trigger", TargetID: tool.ID, Via: blueprint.ViaAPI, Detail: map[string]any{"executionId": outcome.ExecutionID},
	})
	return outcome, nil
}

func (d mcpTools) fire(ctx context.Context, principal blueprint.Principal, tool *mcp.Published, arguments any, request *http.Request) (*mcp.Outcome, error) {
	called, err := d.triggers.Call(ctx, principal, tool.ID, arguments, request)
	if err != nil {
		return nil, err
	}
	if called.Paused {
		return &mcp.Outcome{ExecutionID: called.ExecutionID, Status: blueprint.StatusPaused}, nil
	}
	return outcomeOf(called.ExecutionID, called.Ending), nil
}

func (d mcpTools) execute(ctx context.Context, principal blueprint.Principal, tool *mcp.Published, arguments any, _ *http.Request) (*mcp.Outcome, error) {
	if err := triggers.CheckInput(tool.InputSchema, arguments); err != nil {
		return nil, err
	}
	definition, access, err := d.store.Definition(ctx, principal, tool.BlueprintID)
	if err != nil {
		return nil, err
	}
	id, ending, err := d.runner.executeToEnd(ctx, &blueprint.StartRequest{
		Definition: definition, Principal: principal, CanManage: access >= blueprint.AccessManage, InputData: arguments,
	})
	if err != nil {
		return nil, err
	}
	return outcomeOf(id, ending), nil
}

// outcomeOf returns the outcome of a run; a nil ending is one that is still running.
func outcomeOf(id string, ending *blueprint.Ending) *mcp.Outcome {
	outcome := &mcp.Outcome{ExecutionID: id, Status: blueprint.StatusRunning}
	if ending != nil {
		outcome.Status, outcome.Output, outcome.Failure = ending.Status, ending.Output, ending.Failure
	}
	return outcome
}
