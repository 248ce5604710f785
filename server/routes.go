package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/clients"
	"blueprintd/docs"
	"blueprintd/project"
	"blueprintd/rpc/trpc"
	"blueprintd/triggers"
	"blueprintd/web"
)

// Routes returns the handler of all requests. Procedures are dispatched before the
// ServeMux, which would clean their paths.
func (s *Server) Routes() http.Handler {
	mux := http.NewServeMux()
	for _, kind := range triggers.Kinds() {
		if kind.Endpoint != nil {
			mux.Handle(kind.Path, s.triggerEndpoint(kind))
		}
	}
	mux.Handle("/webhooks/", s.Triggers.Handler(blueprint.TriggerWebhook)) // mistyped addresses get the errors of webhooks
	mux.Handle("/mcp", s.mcpRoute())
	mux.Handle("/clock/advance", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, post(s.ClockAdvance)))
	mux.Handle("/clock", s.RPC.AuthenticatedUnlimited(blueprint.ScopeRead, s.clockState))
	mux.Handle("/files/{id}", s.serveFile())
	mux.Handle("/sandbox", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, s.sandboxClear()))
	mux.Handle("/sandbox/calls", s.RPC.AuthenticatedUnlimited(blueprint.ScopeRead, s.sandboxCalls()))
	mux.Handle("/sandbox/rules", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, s.sandboxState("sandbox.rules", "rules", s.sandbox.Rules, s.sandbox.SetRules)))
	mux.Handle("/sandbox/expectations", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, s.sandboxState("sandbox.expectations", "expect", s.sandbox.Expectations, s.sandbox.SetExpectations)))
	mux.Handle("/sandbox/verify", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, s.sandboxVerify()))
	mux.Handle("/sandbox/send", s.RPC.AuthenticatedUnlimited(blueprint.ScopeAdmin, s.sandboxOnly(map[string]trpc.PlainFunc{http.MethodPost: s.sendWebhook})))
	mux.HandleFunc("GET /sandbox/authorize", s.sandboxAuthorize)
	mux.Handle("/answer/{token...}", s.approvals)
	mux.HandleFunc("GET /oauth/start", s.connections.Start)
	mux.HandleFunc("GET /oauth/callback", s.connections.Callback)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		serveDocument(w, r, "application/json", clients.OpenAPI())
	})
	mux.HandleFunc("GET /schemas/{file}", s.serveSchema)
	if s.Options.Dev {
		s.mountLink(mux)
	}
	mux.Handle("/docs", docs.Handler())
	mux.Handle("/docs/", docs.Handler())
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("/", s.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.IsOpen() && !(r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics") {
			s.serveStarting(w, r)
			return
		}
		switch {
		case s.RPC.Serves(r):
			s.RPC.ServeHTTP(w, r)
		case s.Dashboard.Serves(r):
			s.serveDashboard(w, r)
		case s.injectFault(w, r):
		default:
			s.serveRoute(mux, w, r)
		}
	})
}

// serveRoute answers a path outside the procedures. Endpoints of triggers accept one
// trailing slash, and report encoded bodies in their own error format.
func (s *Server) serveRoute(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !isTriggerPath(path) {
		if err := trpc.CheckEncoding(r); err != nil {
			s.RPC.WritePlainError(w, r, err)
			return
		}
	} else if strings.HasSuffix(path, "/") && strings.Count(path, "/") > 2 {
		trimmed, address := *r, *r.URL
		address.Path, address.RawPath = strings.TrimSuffix(path, "/"), strings.TrimSuffix(address.RawPath, "/")
		trimmed.URL, r = &address, &trimmed
	}
	mux.ServeHTTP(w, r)
}

// isTriggerPath reports whether a path belongs, or nearly, to an endpoint of triggers.
func isTriggerPath(path string) bool {
	return strings.HasPrefix(path, "/webhooks/") || strings.HasPrefix(path, "/v1/") || slices.ContainsFunc(triggers.Kinds(), func(kind *triggers.Kind) bool {
		prefix, _, found := strings.Cut(kind.Path, "{triggerId}")
		return found && strings.HasPrefix(path, prefix)
	})
}

// index answers / with the dashboard for browsers, and with a list of addresses otherwise.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	if s.checkHost(r) != nil {
		s.serveNotFound(w, r)
		return
	}
	if web.Serve(w, r, s.IDs) {
		return
	}
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	host := s.APIHost()
	lines := []string{
		"blueprintd " + s.Options.Version, "",
		"dashboard    " + host + "/",
		"procedures   " + host + "/api/trpc/{router}.{procedure}",
	}
	for _, kind := range triggers.Kinds() {
		if kind.Endpoint != nil {
			lines = append(lines, fmt.Sprintf("%-12s %s%s", kind.Endpoint.Title, host, kind.Path))
		}
	}
	w.Write([]byte(strings.Join(append(lines,
		"MCP server   "+host+"/mcp",
		"files        "+host+"/files/{id}",
		"description  "+host+"/openapi.json",
		"docs         "+host+"/docs",
		"mail         "+s.mailIndex(),
		"health       "+host+"/healthz  "+host+"/readyz", "",
	), "\n")))
}

// triggerEndpoint serves the address of a trigger kind. Runs by API key are audited.
func (s *Server) triggerEndpoint(kind *triggers.Kind) http.Handler {
	if kind.Endpoint.Scope == "" {
		return s.Triggers.Handler(kind.Type)
	}
	return s.RPC.Authenticated(kind.Endpoint.Scope, func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		answer := newForwarder(w)
		if err := s.Triggers.Serve(kind, answer, r, caller.Principal); err != nil || answer.status != http.StatusAccepted {
			return err
		}
		s.Store.NoteAction(r.Context(), &blueprint.AuditEntry{
			ActorID: caller.UserID, Action: "blueprintTriggers.fire", TargetType: "trigger", TargetID: strings.ToLower(r.PathValue("triggerId")), Via: blueprint.ViaAPI,
		})
		return nil
	})
}

// post refuses every method but POST.
func post(next trpc.PlainFunc) trpc.PlainFunc {
	return func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			return blueprint.Errorf(blueprint.CodeMethodNotSupported, "%s accepts only POST", r.URL.Path)
		}
		return next(w, r, caller)
	}
}

// serveSchema answers GET /schemas/{file}: NAME.json.
func (s *Server) serveSchema(w http.ResponseWriter, r *http.Request) {
	name, isJSON := strings.CutSuffix(r.PathValue("file"), ".json")
	if !isJSON || !slices.Contains(project.SchemaNames, name) {
		s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "the schemas are %s", strings.Join(project.SchemaNames, ".json, ")+".json"))
		return
	}
	data, err := project.SchemaText(name)
	if err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	serveDocument(w, r, "application/schema+json", data)
}

// serveDocument writes a JSON document that is constant for a version of the program.
func serveDocument(w http.ResponseWriter, r *http.Request, contentType string, data []byte) {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}
