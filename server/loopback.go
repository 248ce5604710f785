package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/server/limits"
)

// forwarded are the headers by which a proxy tells that it speaks for others.
var forwarded = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"}

// isLocalRequest reports whether a request comes from this machine itself and not
// through a proxy on it. Who may look at the machine may look at the server:
// what answers only here asks for no key. A proxy that says nothing of itself
// still shows by the name that it was asked for, as long as it passes that on;
// so does a page in a browser here whose name was made to lead to this machine.
func isLocalRequest(r *http.Request) bool {
	for _, name := range forwarded {
		if _, there := r.Header[name]; there {
			return false
		}
	}
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && address.Addr().Unmap().IsLoopback() && isLocalHost(r.Host)
}

// isLocalHost reports whether the host of a request, with a port or without, can
// only be this machine.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// nothingHere is the answer to a path that leads nowhere, and to any that leads to
// the dashboard by a name that is not its own.
func (s *site) nothingHere(w http.ResponseWriter, r *http.Request) {
	if err := s.misnamed(r); err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "nothing is at %s; the procedures are under %s/api/trpc", r.URL.Path, s.APIHost()))
}

// notYet refuses what comes before the runs of the last process are taken up.
func (s *site) notYet(w http.ResponseWriter, r *http.Request) {
	s.RPC.WritePlainError(w, r, &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the server is starting: it takes up unfinished runs", RetryAfter: readyAgain})
}

// metrics answers GET /metrics on the address of everybody: to who asks on this
// machine, unless there is another address for it.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if s.MetricsListener != nil || !isLocalRequest(r) {
		s.nothingHere(w, r)
		return
	}
	s.writeMetrics(w, r)
}

// maxScrapers is how many connections may be open on the address for metrics.
const maxScrapers = 64

// watch takes the address that serves metrics and health alone, when one was
// chosen. Whoever can reach it sees everything that is there.
func (s *Server) watch() error {
	if s.Options.MetricsAddr == "" {
		return nil
	}
	listener, err := listen(s.Options.MetricsAddr)
	if err != nil {
		return blueprint.Hinted("choose another one with --metrics-addr, or stop what listens there", "cannot listen on %s: %s", s.Options.MetricsAddr, listenCause(err))
	}
	s.opened.add(listener.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.writeMetrics)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		s.writeReadiness(r.Context(), w, r.URL.Query().Has("verbose"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "nothing is at %s; here are /metrics, /healthz and /readyz", r.URL.Path))
	})
	s.MetricsListener = &httpListener{limits.NewConnections(listener, maxScrapers), s.newHTTP(limits.NewAnswers(mostAnswers, s.Draining).Handler(mux))}
	return nil
}
