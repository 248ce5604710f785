package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server/certificate"
	"blueprintd/server/limits"
)

// Certificates are what the server shows of itself to who speaks TLS.
type Certificates interface {
	// Get returns one that fits, soon.
	Get(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Expiry is when the first of them expires; the zero time when one is missing.
	Expiry() time.Time
	// Names returns the names that they are for.
	Names() []string
	// About says in words for people what they are.
	About() string
}

// secure has TLS spoken on the address of the server, when that was chosen.
func (s *Server) secure() (err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch o := &s.Options; {
	case o.TLSFiles != nil:
		s.Certificates = o.TLSFiles
		o.TLSFiles.Warn()
	case o.ACME != nil:
		if s.ACME, err = certificate.NewAuthority(o.ACME, o.Version, o.Logger); err != nil {
			return err
		}
		s.Certificates = s.ACME
		config.NextProtos = []string{certificate.ProofProtocol}
		if err := s.listenForProofs(); err != nil {
			return err
		}
	default:
		return nil
	}
	if strings.HasPrefix(strings.ToLower(s.Options.PublicURL), "http://") {
		s.Options.Logger.Warn("the public address is an http one, and this server speaks https alone: links that it gives lead nowhere unless a proxy stands before it",
			"public_url", s.Options.PublicURL, "hint", "--public-url https://...")
	}
	config.GetCertificate = s.Certificates.Get
	s.SecureHost = s.chooseSecureHost()
	s.main.Secure(config)
	s.main.http.TLSConfig = config
	s.main.http.Handler = strict(s.main.http.Handler)
	// What one client can have under way, and what the server holds of it
	// unread, is less than what HTTP/2 allows by default.
	s.main.http.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 128 << 10, WriteByteTimeout: 30 * time.Second,
	}
	return nil
}

// serveMain answers on the address of the server.
func (s *Server) serveMain() error {
	if s.Certificates != nil {
		return s.main.http.ServeTLS(s.main.Connections, "", "")
	}
	return s.main.http.Serve(s.main.Connections)
}

// strict tells browsers for a year to come by https only. They remember it of
// the name, whatever its port, so it is only said when https has its usual port
// and the name is one that others do not share.
func strict(next http.Handler) http.Handler {
	const year = 365 * 24 * time.Hour
	value := "max-age=" + strconv.Itoa(int(year.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && isOwnName(r.Host) {
			w.Header().Set("Strict-Transport-Security", value)
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnName reports whether the host of a request is a full name without a port.
func isOwnName(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && blueprint.IsMailDomain(strings.ToLower(host)) && strings.Contains(host, ".") && !strings.HasSuffix(strings.ToLower(host), ".localhost")
}

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
	s.opened.add(listener.Close)
	proofs := s.ACME.Manager.HTTPHandler(http.HandlerFunc(s.sendToTLS))
	s.challengeListener = &httpListener{limits.NewConnections(listener, maxProofs), s.newHTTP(limits.NewAnswers(mostAnswers, s.Draining).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := *r
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			asked.Host = host // a port is no part of what is proved
		}
		proofs.ServeHTTP(w, &asked)
	})))}
	return nil
}

// sendToTLS sends who looks for something on to https. What somebody sends is
// refused: it came unencrypted, and clients that repeated it by themselves would
// hide that from who wrote the address.
func (s *Server) sendToTLS(w http.ResponseWriter, r *http.Request) {
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
