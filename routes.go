package main

import (
	"net/http"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/rpc"
)

// routes is the table of everything that the server answers. The procedures
// come first: their paths are not those of files, and a ServeMux would tidy
// them up.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/webhooks/blueprint/{triggerId}", s.triggers.Webhook())
	mux.Handle("/webhooks/slack/{triggerId}", s.triggers.Slack())
	mux.Handle("/webhooks/", s.triggers.Webhook()) // a mistyped address is answered in the form that senders know
	mux.Handle("/v1/triggers/{triggerId}/fire", s.rpc.Authenticated(s.fireAPI))
	mux.Handle("/mcp", s.mcpRoute())
	mux.Handle("/clock/advance", s.rpc.AuthenticatedUnlimited(post(s.clockAdvance)))
	mux.Handle("/files/{id}", s.rpc.Authenticated(s.file))
	mux.HandleFunc("GET /oauth/start", s.connections.Start)
	mux.HandleFunc("GET /oauth/callback", s.connections.Callback)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("/", s.nothingHere)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.isOpen() && !(r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics") {
			s.notYet(w, r)
			return
		}
		if s.rpc.Serves(r) {
			s.rpc.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// index tells a browser or curl what is here.
func (s *server) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	host := s.apiHost()
	w.Write([]byte(strings.Join([]string{
		"blueprintd " + version, "",
		"procedures   " + host + "/api/trpc/{router}.{procedure}",
		"webhooks     " + host + "/webhooks/blueprint/{triggerId}",
		"Slack        " + host + "/webhooks/slack/{triggerId}",
		"API trigger  " + host + "/v1/triggers/{triggerId}/fire",
		"MCP server   " + host + "/mcp",
		"files        " + host + "/files/{id}",
		"mail         " + s.mailIndex(),
		"health       " + host + "/healthz  " + host + "/readyz", "",
	}, "\n")))
}

// fireAPI answers POST /v1/triggers/{triggerId}/fire.
func (s *server) fireAPI(w http.ResponseWriter, r *http.Request, caller *rpc.Caller) error {
	return s.triggers.ServeAPI(w, r, caller.Principal)
}

// post refuses every method but POST.
func post(next rpc.PlainFunc) rpc.PlainFunc {
	return func(w http.ResponseWriter, r *http.Request, caller *rpc.Caller) error {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			return blueprint.Errorf(blueprint.CodeMethodNotSupported, "%s takes POST", r.URL.Path)
		}
		return next(w, r, caller)
	}
}
