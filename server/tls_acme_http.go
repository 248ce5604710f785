package server

import (
	"context"
	"net"
	"net/http"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/server/limits"
)

// maxProofs is how many connections may be open on the address for proofs.
const maxProofs = 256

// listenForProofs takes the address on which an authority looks by plain http
// whether the domains lead here, when one was chosen.
func (s *Server) listenForProofs() error {
	address := s.Options.ACME.HTTPAddr
	if address == "" {
		return nil
	}
	listener, err := listen(address)
	if err != nil {
		return blueprint.Hinted("choose another one with --acme-http-addr, or stop what listens there", "cannot listen on %s: %s", address, listenCause(err))
	}
	s.provers = limits.NewConnections(listener, maxProofs)
	proofs := s.ACME.Manager.HTTPHandler(http.HandlerFunc(s.SendToTLS))
	s.proving = s.NewHTTP(limits.NewAnswers(mostAnswers, s.Draining).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := *r
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			asked.Host = host // a port is no part of what is proved
		}
		proofs.ServeHTTP(w, &asked)
	})))
	return nil
}

// SendToTLS sends who looks for something on to https. What somebody sends is
// refused: it came unencrypted, and clients that repeated it by themselves would
// hide that from who wrote the address.
func (s *Server) SendToTLS(w http.ResponseWriter, r *http.Request) {
	host := s.APIHost()
	if d := s.ACME.Domains[strings.ToLower(r.Host)]; d != nil {
		if _, port, err := net.SplitHostPort(s.LocalAddress()); err == nil && s.Options.PublicURL == "" {
			host = "https://" + withPort(d.Name, port)
		}
	}
	if r.URL.Opaque != "" {
		http.Error(w, "the address names no path", blueprint.CodeBadRequest.HTTPStatus())
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this port only leads to "+host+": write that in the address", blueprint.CodeBadRequest.HTTPStatus())
		return
	}
	to := r.URL.EscapedPath()
	if !strings.HasPrefix(to, "/") {
		to = "/" + to // or it would be read as more of the host
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, host+to, http.StatusPermanentRedirect)
}

// serveProofs answers there until the server stops.
func (s *Server) serveProofs(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.proving.Serve(s.provers) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return s.proving.Close()
	}
}
