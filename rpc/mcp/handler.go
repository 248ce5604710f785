package mcp

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"blueprintd/blueprint"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// Handler serves /mcp. It is safe for concurrent use and starts nothing that
// outlives its request.
type Handler struct {
	tools   Tools
	logger  *slog.Logger
	maxBody int64
	http    http.Handler
}

// NewHandler returns a handler for request bodies of at most maxBody bytes. version is
// that of the server, for clients. A nil logger discards.
func NewHandler(tools Tools, version string, maxBody int64, logger *slog.Logger) *Handler {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	h := &Handler{tools: tools, logger: logger, maxBody: maxBody}
	server := sdk.NewServer(&sdk.Implementation{Name: "blueprintd", Version: version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		Instructions: "Each tool runs a blueprint and returns its output. If the run waits for a person or takes long, the result has its execution id instead.",
	})
	server.AddReceivingMiddleware(h.middleware)
	h.http = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // the server checks Origin
	})
	return h
}

type callerKey struct{}

type caller struct {
	principal blueprint.Principal
	request   *http.Request
}

// Serve answers a request of an authenticated principal. The caller must answer a returned
// error, which is about the body: CodePayloadTooLarge, CodeTimeout, CodeClientClosed or
// CodeBadRequest.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, principal blueprint.Principal) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	ctx := context.WithValue(r.Context(), callerKey{}, caller{principal, r})
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

// readBody reads a message, which must be a JSON object: a batch would bypass the rate
// limit.
func (h *Handler) readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, h.maxBody+1))
	switch {
	case err != nil:
		return nil, blueprint.BodyError(err)
	case int64(len(body)) > h.maxBody:
		return nil, blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", h.maxBody)
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

// middleware answers the methods about tools and passes those that begin a session to the
// SDK. It refuses all others, such as those that keep a request open.
func (h *Handler) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		who, _ := ctx.Value(callerKey{}).(caller)
		switch params := request.GetParams().(type) {
		case *sdk.ListToolsParams:
			return h.list(who, params)
		case *sdk.CallToolParamsRaw:
			return h.call(who, params)
		}
		switch method {
		case "initialize", "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "ping", "server/discover":
			return next(ctx, method, request)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the method " + shown(method) + " is not offered here"}
	}
}

// internal logs err and returns an internal error without details.
func (h *Handler) internal(step string, err error) error {
	h.logger.Error("MCP request failed", "step", step, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
}

// shown returns a name that the caller sent as one line of at most 200 bytes.
func shown(name string) string { return blueprint.OneLine(blueprint.Shorten(name, 200)) }
