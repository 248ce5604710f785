package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blueprintd/blueprint"
	"blueprintd/rpc/agents"
)

// Tools are the tools that a Handler offers. It is safe for concurrent use.
type Tools interface {
	// Published returns up to most tools that a caller may call, oldest first.
	Published(ctx context.Context, principal blueprint.Principal, most int) ([]Published, error)
	// Call starts a run and waits for it up to the server's time limit. A *blueprint.Error
	// says why no run was started; the paths of its issues begin with "inputData". The
	// context is that of request.
	Call(ctx context.Context, principal blueprint.Principal, tool *Published, arguments any, request *http.Request) (*Outcome, error)
}

// Outcome is the state of a run at the end of a call.
type Outcome struct {
	ExecutionID string
	Status      blueprint.Status
	Output      any                 // of a completed run
	Failure     *blueprint.RunError // of a failed one, if it is known
}

// Options are what a Handler is made from. Only Tools is required.
type Options struct {
	Tools     Tools
	Agents    *agents.Tools     // nil offers no tools to build blueprints
	Resources func() []Resource // is called by requests about resources; nil offers none
	Version   string            // of the server, for clients
	MaxBody   int64             // bytes of a request
	Logger    *slog.Logger      // nil discards
}

// Handler serves /mcp. It is safe for concurrent use; nothing outlives its request.
type Handler struct {
	Options
	http http.Handler
}

// NewHandler returns a handler.
func NewHandler(o Options) *Handler {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	capabilities := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	if o.Resources == nil {
		o.Resources = func() []Resource { return nil }
	} else {
		capabilities.Resources = &sdk.ResourceCapabilities{}
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "blueprintd", Version: o.Version}, &sdk.ServerOptions{
		Capabilities: capabilities,
		Instructions: runInstructions,
	})
	h := &Handler{Options: o}
	server.AddReceivingMiddleware(h.middleware)
	h.http = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: o.MaxBody,
		DisableLocalhostProtection: true, // the server checks Origin
	})
	return h
}

// The instructions for a model. Those about building are only for callers who may.
const (
	runInstructions   = "Each tool runs a blueprint and returns its output. If the run waits for a person or takes long, the result has its execution id instead."
	buildInstructions = "Tools whose names begin with " + agents.Prefix + " build blueprints: read the types with " + agents.Prefix + "list_node_types, make a draft, run it with " + agents.Prefix + "run_sandbox, and propose it. Each other tool runs a blueprint and returns its output; if the run waits for a person or takes long, the result has its execution id instead."
)

type callerKey struct{}

// Caller is the authenticated caller of a request.
type Caller struct {
	Principal blueprint.Principal
	agents.Caller
}

type caller struct {
	Caller
	request *http.Request
}

// Serve handles a request of a caller. The caller of Serve must send a returned error
// about the body: CodePayloadTooLarge, CodeTimeout, CodeClientClosed, CodeBadRequest.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, from Caller) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	ctx := context.WithValue(r.Context(), callerKey{}, caller{from, r})
	if r.Method == http.MethodPost {
		body, err := h.readBody(r)
		if err != nil {
			return err
		}
		r = r.Clone(ctx)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	h.http.ServeHTTP(w, r.WithContext(ctx))
	return nil
}

// readBody reads a JSON object. A batch would bypass the rate limit.
func (h *Handler) readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, h.MaxBody+1))
	switch {
	case err != nil:
		return nil, blueprint.BodyError(err)
	case int64(len(body)) > h.MaxBody:
		return nil, blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", h.MaxBody)
	case !utf8.Valid(body):
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8")
	}
	message, err := blueprint.Decode(body)
	if err != nil {
		return nil, err
	}
	if _, ok := message.(map[string]any); !ok {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body must be one JSON-RPC message, not a batch of them")
	}
	return body, nil
}

// middleware handles the methods about tools and passes those that begin a session to the
// SDK. It refuses all others, such as those that keep a request open.
func (h *Handler) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		who, _ := ctx.Value(callerKey{}).(caller)
		switch params := request.GetParams().(type) {
		case *sdk.ListToolsParams:
			return h.list(who, params)
		case *sdk.CallToolParamsRaw:
			return h.call(who, params)
		case *sdk.ListResourcesParams:
			return h.listResources(params)
		case *sdk.ReadResourceParams:
			return h.readResource(params)
		case *sdk.ListResourceTemplatesParams:
			return &sdk.ListResourceTemplatesResult{ResourceTemplates: []*sdk.ResourceTemplate{}}, nil
		}
		switch method {
		case "initialize":
			result, err := next(ctx, method, request)
			if begun, ok := result.(*sdk.InitializeResult); ok && h.Agents != nil && who.May() {
				begun.Instructions = buildInstructions
			}
			return result, err
		case "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "ping", "server/discover":
			return next(ctx, method, request)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the method " + shown(method) + " is not offered here"}
	}
}

// internal logs err and returns an internal error without details.
func (h *Handler) internal(step string, err error) error {
	h.Logger.Error("MCP request failed", "step", step, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
}

// shown returns a name that the caller sent as one line of at most 200 bytes.
func shown(name string) string { return blueprint.OneLine(blueprint.Shorten(name, 200)) }

func (h *Handler) call(who caller, params *sdk.CallToolParamsRaw) (sdk.Result, error) {
	arguments := any(map[string]any{})
	if len(params.Arguments) > 0 && string(params.Arguments) != "null" {
		var err error
		arguments, err = blueprint.Decode(params.Arguments)
		if _, ok := arguments.(map[string]any); err != nil || !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the arguments must be an object"}
		}
	}
	if result, found, err := h.build(who, params.Name, arguments.(map[string]any)); found {
		return result, err
	}
	offers, err := h.offers(who)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(offers, func(o offer) bool { return o.Name == params.Name })
	if index < 0 {
		return nil, h.unknownTool(who, params.Name, offers)
	}
	outcome, err := h.Tools.Call(who.request.Context(), who.Principal, &offers[index].Published, arguments, who.request)
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused) && refused.Code == blueprint.CodeNotFound: // deleted meanwhile
		return nil, h.unknownTool(who, params.Name, slices.Delete(offers, index, index+1))
	case errors.As(err, &refused) && refused.Code != blueprint.CodeInternal:
		return refusedResult(refused), nil
	case err != nil:
		return nil, h.internal("call tool", err)
	}
	result, err := outcomeResult(outcome)
	if err != nil {
		return nil, h.internal("write result", err)
	}
	return result, nil
}

// build calls a tool that builds blueprints. found is false if there is none of the name.
func (h *Handler) build(who caller, name string, arguments map[string]any) (result sdk.Result, found bool, err error) {
	if h.Agents == nil {
		return nil, false, nil
	}
	value, found, err := h.Agents.Call(who.request.Context(), &who.Caller.Caller, name, arguments)
	var refused *blueprint.Error
	switch {
	case !found:
		return nil, false, nil
	case errors.As(err, &refused) && refused.Code != blueprint.CodeInternal:
		return refusedResult(refused), true, nil
	case err != nil:
		return nil, true, h.internal("call "+name, err)
	}
	written, err := outputResult(value)
	if err != nil {
		return nil, true, h.internal("write result", err)
	}
	return written, true, nil
}

// unknownTool returns the error about a name that no offered tool has.
func (h *Handler) unknownTool(who caller, name string, offers []offer) error {
	var names []string
	for _, o := range offers {
		names = append(names, o.Name)
	}
	if h.Agents != nil && who.May() {
		for _, tool := range h.Agents.List() {
			names = append(names, tool.Name)
		}
	}
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("unknown tool %q; list the tools with tools/list%s", shown(name), blueprint.DidYouMean(name, names)),
	}
}

// refusedResult returns the error that prevented a run as a result.
func refusedResult(refused *blueprint.Error) *sdk.CallToolResult {
	content := map[string]any{"code": refused.Code, "message": refused.Message}
	if len(refused.Issues) > 0 {
		issues := slices.Clone(refused.Issues)
		for i, issue := range issues {
			if len(issue.Path) > 0 && issue.Path[0] == any("inputData") {
				issues[i].Path = append([]any{"arguments"}, issue.Path[1:]...)
			}
		}
		content["issues"] = issues
		if refused.Code == blueprint.CodeBadRequest {
			content["message"] = blueprint.InvalidInput(issues).Message
		}
	}
	words := content["message"].(string)
	if refused.Hint != "" {
		content["hint"] = refused.Hint
		words += "; hint: " + refused.Hint
	}
	result := &sdk.CallToolResult{IsError: true, Content: text(words)}
	if data, err := blueprint.Encode(map[string]any{"error": content}); err == nil {
		result.StructuredContent = json.RawMessage(data)
	}
	return result
}

func outcomeResult(o *Outcome) (*sdk.CallToolResult, error) {
	content := map[string]any{"executionId": o.ExecutionID, "status": o.Status}
	result := &sdk.CallToolResult{}
	switch o.Status {
	case blueprint.StatusCompleted:
		return outputResult(o.Output)
	case blueprint.StatusFailed:
		message := "the run failed"
		if f := o.Failure; f != nil {
			content["error"] = f
			if f.NodeID != "" {
				message += " at node " + f.NodeID
			}
			message += ": " + f.Message
		}
		result.IsError, result.Content = true, text(message+" (execution "+o.ExecutionID+")")
	case blueprint.StatusPaused:
		result.Content = text("execution " + o.ExecutionID + " is paused: it waits for an answer")
	default:
		result.Content = text("execution " + o.ExecutionID + " is " + string(o.Status) + " and has no output yet")
	}
	data, err := blueprint.Encode(content)
	result.StructuredContent = json.RawMessage(data)
	return result, err
}

// outputResult returns the output of a run. Older clients accept only an object as
// structured content, so any other value is wrapped in one.
func outputResult(output any) (*sdk.CallToolResult, error) {
	structured := output
	if _, ok := output.(map[string]any); !ok {
		structured = map[string]any{"output": output}
	}
	data, err := blueprint.Encode(structured)
	if err != nil {
		return nil, err
	}
	words, ok := output.(string)
	if !ok {
		written, err := blueprint.Encode(output)
		if err != nil {
			return nil, err
		}
		words = string(written)
	}
	return &sdk.CallToolResult{Content: text(words), StructuredContent: json.RawMessage(data)}, nil
}

func text(words string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: words}} }

const (
	maxPublished = 10_000 // tools of a caller
	pageSize     = 500    // tools of a page of the list
)

// Published is an api trigger that a caller may call.
type Published struct {
	ID          string
	BlueprintID string
	Name        string // unique among those of the caller
	Fires       bool   // a call fires the trigger, as its creator; else it runs the blueprint as the caller
	Label       string // of the trigger; may be ""
	Title       string // of its blueprint
	Description string
	InputSchema any // JSON Schema of the input; nil accepts anything
}

type offer struct {
	Published
	schema map[string]any
}

// offers returns the blueprints that a caller may call; none if their key may not.
func (h *Handler) offers(who caller) ([]offer, error) {
	if !who.Scopes.Allow(blueprint.ScopeRun) {
		return nil, nil
	}
	published, err := h.Tools.Published(who.request.Context(), who.Principal, maxPublished)
	if err != nil {
		return nil, h.internal("list tools", err)
	}
	list := make([]offer, 0, len(published))
	for _, p := range published {
		if schema, ok := objectSchema(p.InputSchema); ok {
			list = append(list, offer{p, schema})
		}
	}
	return list, nil
}

// list handles tools/list. A cursor is the number of tools before the page.
func (h *Handler) list(who caller, params *sdk.ListToolsParams) (sdk.Result, error) {
	from := 0
	if params != nil && params.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(params.Cursor); err != nil || from < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor"}
		}
	}
	offers, err := h.offers(who)
	if err != nil {
		return nil, err
	}
	result := &sdk.ListToolsResult{Tools: []*sdk.Tool{}}
	result.CacheScope = "private" // each caller has tools of their own
	from = min(from, len(offers))
	end := min(from+pageSize, len(offers))
	for _, o := range offers[from:end] {
		result.Tools = append(result.Tools, &sdk.Tool{Name: o.Name, Title: cmp.Or(o.Label, o.Title), Description: o.Description, InputSchema: o.schema})
	}
	if end == len(offers) && h.Agents != nil && who.May() {
		result.Tools = append(result.Tools, builders(h.Agents.List())...)
	}
	if end < len(offers) {
		result.NextCursor = strconv.Itoa(end)
	}
	return result, nil
}

// objectSchema returns a schema of type object, as the protocol requires, or false if no
// object can satisfy it; the trigger is then not a tool.
func objectSchema(schema any) (map[string]any, bool) {
	switch source := schema.(type) {
	case nil:
		return map[string]any{"type": "object"}, true
	case bool:
		return map[string]any{"type": "object"}, source
	case map[string]any:
		kinds, several := source["type"].([]any)
		if source["type"] != nil && source["type"] != "object" && !(several && slices.Contains(kinds, any("object"))) {
			return nil, false
		}
		out := maps.Clone(source)
		out["type"] = "object"
		return out, true
	}
	return nil, false
}
