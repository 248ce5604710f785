package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/server/limits"
	"blueprintd/web"
)

// forwarded are the headers of proxies.
var forwarded = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"}

// isLocalRequest reports whether a request comes from this machine and not through a
// proxy on it. Routes that require it need no key. A proxy without such headers is detected
// by the Host that it forwards, as is DNS rebinding. nginx without settings for either is
// detected before version 1.29.7, which forwards in HTTP/1.0.
func isLocalRequest(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return false
	}
	for _, name := range forwarded {
		if _, there := r.Header[name]; there {
			return false
		}
	}
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && address.Addr().Unmap().IsLoopback() && isLocalHost(r.Host)
}

// isLocalHost reports whether the host of a request, with or without a port, is localhost
// or a loopback address.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// serveNotFound answers an unknown path, or a host name that checkHost refuses.
func (s *site) serveNotFound(w http.ResponseWriter, r *http.Request) {
	if err := s.checkHost(r); err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	if web.IsPage(r.URL.Path) {
		s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "%s is a page of the dashboard: open it in a browser; the procedures are under %s/api/trpc", r.URL.Path, s.APIHost()))
		return
	}
	s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "no such path %s; the procedures are under %s/api/trpc", r.URL.Path, s.APIHost()))
}

// serveStarting answers requests before the end of recovery.
func (s *site) serveStarting(w http.ResponseWriter, r *http.Request) {
	s.RPC.WritePlainError(w, r, &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the server is starting: it recovers unfinished runs", RetryAfter: readyRetry})
}

// metrics answers GET /metrics on the main listener: to requests from this machine, unless
// metrics have a listener of their own.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if s.MetricsListener != nil || !isLocalRequest(r) {
		s.serveNotFound(w, r)
		return
	}
	s.writeMetrics(w, r)
}

// maxScrapers is the maximum number of connections of the metrics listener.
const maxScrapers = 64

// watch opens the listener for metrics and health, if there is one. It needs no key.
func (s *Server) watch() error {
	if s.Options.MetricsAddr == "" {
		return nil
	}
	listener, err := listen(s.Options.MetricsAddr)
	if err != nil {
		return cannotListen("--metrics-addr", s.Options.MetricsAddr, err)
	}
	s.opened.add(listener.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.writeMetrics)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		s.writeReadiness(r.Context(), w, r.URL.Query().Has("verbose"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "no such path %s; this address serves /metrics, /healthz and /readyz", r.URL.Path))
	})
	s.MetricsListener = &httpListener{limits.NewConnections(listener, maxScrapers), s.newHTTP(limits.NewAnswers(maxAnswers, s.Draining).Handler(mux))}
	return nil
}
